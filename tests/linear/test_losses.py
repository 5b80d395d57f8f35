"""The losses: each is listed once, and what needs to know of it takes it from there."""

import typing

import numpy as np
import pytest
from _data.chance import SEED
from _oracles import objectives

from sparsemaps import MinHash
from sparsemaps._loops import codes as _loops
from sparsemaps._tools._allowed import words_of_type
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    KernelRegressorCV,
    _losses,
)

CLASSES = {
    False: (KernelClassifier, KernelClassifierCV),
    True: (KernelRegressor, KernelRegressorCV),
}


@pytest.mark.parametrize("is_regression", [False, True])
def test_the_losses_are_those_of_all_who_list_them(is_regression):
    """The values, the types, the loops, the estimators, the command, the definitions of tests."""
    name = "OfNumbers" if is_regression else "OfClasses"
    listed = _losses.names(of_regression=is_regression)
    assert listed == typing.get_args(getattr(_losses, name))
    assert listed == words_of_type("linear/_losses.py", name)
    definitions = objectives.LOSSES.items()
    assert listed == tuple(key for key, one in definitions if one.is_regression == is_regression)
    for cls in CLASSES[is_regression]:
        assert listed == cls._LOSSES
        assert cls(MinHash()).loss == listed[0]
        said = ", ".join(f'"{loss}"' for loss in listed)
        assert f'loss : {{{said}}}, default="{listed[0]}"' in cls.__doc__


def test_the_loops_have_a_function_for_each_loss():
    assert tuple(_losses.LOSSES) == _loops.LOSSES


@pytest.mark.parametrize(("loss", "score"), [("squared_hinge", 0.2), ("hinge", 1.0)])
@pytest.mark.parametrize("n_each", [1, 20])
def test_passes_go_on_while_all_gradients_are_equal(loss, score, n_each):
    """Equal rows, of weights 1 and 1.5. LIBLINEAR's stopping rule ends after a few passes."""
    y, weights = np.tile([[0, 1], [1, 1.5]], n_each)
    model = KernelClassifier(
        MinHash(n_hashes=8), loss=loss, C=1e4, fit_intercept=False, max_iter=10**6, random_state=0
    )
    model.fit(np.ones((2 * n_each, 1)), y, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function([[1.0]]), score, atol=1e-3)


@pytest.mark.parametrize("loss", _losses.LOSSES)
def test_losses_are_convex_functions_with_these_slopes(loss):
    """The values, and the definitions of tests: slopes are those of tangents below the loss."""
    rng = np.random.default_rng(SEED)
    is_regression = objectives.LOSSES[loss].is_regression
    scores = rng.normal(scale=2, size=200)
    y = rng.normal(scale=2, size=200) if is_regression else rng.choice([-1.0, 1.0], 200)
    value = objectives.losses(loss, y, scores)
    found = _losses.LOSSES[loss].primal(y, scores, objectives.EPSILON)
    np.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-15)
    assert (value >= 0).all()
    slope = objectives.LOSSES[loss].slope(y, scores)
    for other in rng.normal(scale=2, size=(50, 1)):
        tangent = value + slope * (other - scores)
        assert (objectives.losses(loss, y, other) >= tangent - 1e-12).all()


def test_probabilities_are_of_losses_that_have_them():
    X = np.eye(6)
    for loss in _losses.names(of_regression=False):
        model = KernelClassifier(MinHash(n_hashes=8, random_state=0), loss=loss, random_state=0)
        assert hasattr(model, "predict_proba") == (loss in _losses.WITH_PROBABILITIES)
        if loss in _losses.WITH_PROBABILITIES:
            shares = model.fit(X, np.arange(6) % 2).predict_proba(X)
            np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_the_values_of_a_loss_between_hinge_and_square():
    """The smoothed hinge of Shalev-Shwartz and Zhang (2013), whose curvature is that of its dual:
    no loss of today is bounded and curved."""
    loss = _losses.QuadraticLoss("smoothed", False, "", curvature=0.5, is_bounded=True)
    margins = np.array([-3.0, 0.5, 0.75, 1.0, 2.0])
    expected = [3.75, 0.25, 0.0625, 0.0, 0.0]
    np.testing.assert_array_equal(loss.primal(np.ones(5), margins, 0.0), expected)
    np.testing.assert_array_equal(loss.primal(-np.ones(5), -margins, 0.0), expected)
    # At the variables of the slopes, the primal less y times the score times them is the dual.
    alphas = np.array([1.0, 1.0, 0.5, 0.0, 0.0])
    dual = loss.dual(np.ones(5), 2 * alphas, np.full(5, 2.0), 0.0)
    assert dual == pytest.approx(2 * (np.array(expected) + alphas * margins).sum(), rel=1e-12)


@pytest.mark.parametrize("loss", _losses.LOSSES)
def test_rows_of_weight_0_are_in_no_objective(loss):
    y, scores, variables = np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.2, -1.0]), np.full(3, 0.3)
    variables[1] = 0.0
    weights = np.array([1.0, 0.0, 2.0])
    objective = _losses.Objective(_losses.LOSSES[loss], 1.0, 0.1, 0.0)
    some = weights > 0
    given = y[some], variables[some], weights[some]
    assert objective.dual(y, variables, weights) == pytest.approx(objective.dual(*given), rel=1e-12)
    primal = objective.primal(y[some], scores[some], weights[some])
    assert objective.primal(y, scores, weights) == pytest.approx(primal, rel=1e-12)
