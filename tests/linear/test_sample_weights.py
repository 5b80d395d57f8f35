"""A row of weight 2 counts as the row twice, and a row of weight 0 as none, in any order.

The optimum w* of an objective P is unique, as P(w) - P(w*) >= |w - w*|^2 / 2. So the distance of
two models of equal problems is at most the sum of sqrt(2 * gap) of both, with their duality gaps.
Gaps are computed here from their definition: the dual variables of a smooth loss are C_i times its
derivative; of the others, those at a kink are the least-squares solution within their bounds.
"""

import warnings

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import objectives

from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
    codes,
)
from sparsemaps.linear import KernelClassifier, KernelRegressor, _solver
from sparsemaps.text import HashingVectorizer

RNG = np.random.default_rng(SEED)
N = 45
X = RNG.gamma(1.0, size=(N, 6)) * (RNG.random((N, 6)) < 0.8)
X[7] = 0  # without samples
NAMES = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
TARGETS = X[:, 0] - X[:, 1] + RNG.normal(scale=0.1, size=N)
WORDS = np.array([f"w{n}" for n in range(12)])
TEXTS = [" ".join(WORDS[RNG.integers(12, size=RNG.integers(1, 9))]) for _ in range(N)]
WEIGHTS = RNG.integers(0, 3, N).astype(float)
WEIGHTS[NAMES == "b"] *= RNG.random((NAMES == "b").sum()) < 0.6
MAP = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=0)
EPSILON, C = objectives.EPSILON, 2.0


def best_dual_value(loss, Z, y, costs, w):
    """The dual objective at variables that are optimal if w is. The variable of a row at a kink of
    the loss is between those of the slopes beside it."""
    scores, slope = Z @ w, objectives.LOSSES[loss].slope
    betas = -costs * slope(y, scores)
    low, high = -costs * slope(y, scores + 1e-3), -costs * slope(y, scores - 1e-3)
    at_kink = high - low > 0.1 * costs
    if at_kink.any():
        target = w - Z[~at_kink].T @ betas[~at_kink]
        bounds = low[at_kink], high[at_kink]
        betas[at_kink] = scipy.optimize.lsq_linear(
            Z[at_kink].T, target, bounds, method="bvls", tol=1e-14
        ).x
    return objectives.dual_objective(loss, costs, Z, y, betas, scores)


def primal_value(loss, Z, y, costs, w):
    return w @ w / 2 + costs @ objectives.losses(loss, y, Z @ w)


def features(model, rows):
    """The one-hot features of rows by definition, and the feature of the intercept."""
    packed = rows if isinstance(rows, codes.PackedCodes) else model._codes(rows)
    return objectives.features(packed, model.intercept_scaling if model.fit_intercept else 0.0)


def vectors(model):
    """The weights of each problem, with that of the intercept's feature."""
    coef = np.atleast_2d(model.coef_)
    scaling = model.intercept_scaling if model.fit_intercept else 1.0
    return np.hstack([coef, model.intercept_[:, None] / scaling])


def distances_allowed(model, rows, y, weights):
    """For each problem, how far the model may be from the optimum of the weighted problem."""
    seen = weights > 0
    Z, found = features(model, rows)[seen], []
    y, weights = y[seen], weights[seen]
    for number, w in enumerate(vectors(model)):
        costs = model.C * weights
        if isinstance(model, KernelRegressor):
            targets = y
        else:
            classes = model.classes_
            of_classes = np.ones(len(classes))
            if model.class_weight == "balanced":
                sums = np.array([weights[y == label].sum() for label in classes])
                of_classes = weights.sum() / (len(classes) * sums)
            elif model.class_weight:
                of_classes = np.array(
                    [model.class_weight.get(one, 1.0) for one in classes.tolist()]
                )
            costs = costs * of_classes[np.searchsorted(classes, y)]
            targets = np.where(y == classes[1 if len(classes) == 2 else number], 1.0, -1.0)
        arguments = model.loss, Z, targets, costs, w
        gap = primal_value(*arguments) - best_dual_value(*arguments)
        assert gap > -1e-9 * (1 + costs.sum())
        found.append(np.sqrt(2 * max(gap, 0) + 1e-12 * (1 + costs.sum())))
    return np.array(found)


def taken(rows, numbers):
    if isinstance(rows, list):
        return [rows[number] for number in numbers]
    return rows[numbers]


def assert_weights_count_rows(model, rows, y, weights):
    """The weighted model is that of repeated rows, of weighted rows in another order, and of
    repeated rows in another order."""
    rng = np.random.default_rng(SEED + 1)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    order = rng.permutation(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = model().fit(rows, y, sample_weight=weights)
        others = [
            model().fit(taken(rows, order), y[order], sample_weight=weights[order]),
            model().fit(taken(rows, repeated), y[repeated]),
        ]
        shuffled = rng.permutation(repeated)
        others.append(model().fit(taken(rows, shuffled), y[shuffled]))
    allowed = distances_allowed(first, rows, y, weights)
    assert (allowed < 1e-2 * (1 + np.linalg.norm(vectors(first), axis=1))).all()
    for other in others:
        if hasattr(first, "classes_"):
            assert other.classes_.tolist() == first.classes_.tolist()
        if hasattr(first.map_, "gamma_"):
            assert other.map_.gamma_ == pytest.approx(first.map_.gamma_, rel=1e-13)
        distance = np.linalg.norm(vectors(other) - vectors(first), axis=1)
        assert (distance <= allowed + distances_allowed(other, rows, y, weights)).all()


CLASS_WEIGHTS = [None, "balanced", {"a": 3.0, "c": 0.5}]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS, ids=str)
@pytest.mark.parametrize("loss", KernelClassifier._LOSSES)
def test_classifiers(loss, class_weight, fit_intercept, n_classes):
    some = np.arange(N) if n_classes == 3 else np.flatnonzero(NAMES != "b")

    def model():
        return KernelClassifier(
            MAP, loss=loss, class_weight=class_weight, fit_intercept=fit_intercept, C=C, tol=1e-7,
            max_iter=10**5, intercept_scaling=2.0, random_state=0,
        )  # fmt: skip

    assert_weights_count_rows(model, X[some], NAMES[some], WEIGHTS[some])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("loss", KernelRegressor._LOSSES)
def test_regressors(loss, fit_intercept):
    def model():
        return KernelRegressor(
            MAP, loss=loss, fit_intercept=fit_intercept, C=C, epsilon=EPSILON, tol=1e-7,
            max_iter=10**5, random_state=0,
        )  # fmt: skip

    assert_weights_count_rows(model, X, TARGETS, WEIGHTS)


INPUTS = {
    "sparse": (MAP, None, sp.csr_array(X)),
    "texts": (MinHash(n_hashes=16, bits=4, random_state=0), "words", TEXTS),
    "codes": (MAP, None, MAP.fit(X).encode(X, packed=True)),
    "signs": (SignProjection(n_hashes=20, random_state=0), None, X),
    "gamma=scale": (RandomBinning(n_grids=16, n_bins=16, gamma="scale", random_state=0), None, X),
    "gamma=median": (RandomFourier(n_components=16, gamma="median", random_state=0), None, X),
    "product": (
        KernelProduct(
            maps=(MinHash(n_hashes=16, bits=2), RandomBinning(n_grids=16, n_bins=4, gamma="scale")),
            random_state=0,
        ),
        None,
        X,
    ),
}


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("cls", [KernelClassifier, KernelRegressor])
def test_inputs(cls, name):
    map, words, rows = INPUTS[name]
    vectorizer = HashingVectorizer(norm=None, alternate_sign=False) if words else None
    more = {"class_weight": "balanced"} if cls is KernelClassifier else {"epsilon": EPSILON}

    def model():
        return cls(map, vectorizer=vectorizer, tol=1e-8, max_iter=10**5, random_state=0, **more)

    y = NAMES if cls is KernelClassifier else TARGETS
    assert_weights_count_rows(model, rows, y, WEIGHTS)


def test_blocks_of_mapped_codes(tmp_path, set_limits):
    """Blocks whose rows all have weight 0 are not read."""
    weights = WEIGHTS.copy()
    weights[8:16] = 0
    packed = MAP.fit(X).encode(X, packed=True)
    packed.save(tmp_path / "codes.npy")
    set_limits(_solver, BLOCK_BYTES=8 * packed.shape[1])
    mapped = codes.PackedCodes.load(tmp_path / "codes.npy")
    for loss in KernelClassifier._LOSSES:
        model = KernelClassifier(
            MAP, loss=loss, class_weight="balanced", tol=1e-6, max_iter=10**4, random_state=0
        )
        model.fit(mapped, NAMES, sample_weight=weights)
        seen = weights > 0
        alone = KernelClassifier(**{**model.get_params(deep=False)})
        alone.fit(packed[seen], NAMES[seen], sample_weight=weights[seen])
        allowed = sum(distances_allowed(one, packed, NAMES, weights) for one in (model, alone))
        assert (np.linalg.norm(vectors(model) - vectors(alone), axis=1) <= allowed).all()
        assert (allowed < 0.1).all()


def test_the_median_of_many_rows():
    """Whole weights draw the sample that the repeated rows would give."""
    many = np.random.default_rng(SEED + 2).gamma(1.0, size=(500, 4))
    weights = np.random.default_rng(SEED + 3).integers(0, 4, 500)
    for gamma in ("scale", "median"):
        map = RandomFourier(gamma=gamma, random_state=0)
        repeated = RandomFourier(gamma=gamma, random_state=0).fit(np.repeat(many, weights, axis=0))
        for given in (weights, weights * 1.0):
            found = map._fit_weighed(many, given).gamma_
            assert found == pytest.approx(repeated.gamma_, rel=1e-13)
    halves = RandomFourier(gamma="median", random_state=0)._fit_weighed(many, weights / 2 + 0.25)
    assert halves.gamma_ == pytest.approx(repeated.gamma_, rel=0.15)


def test_balanced_weights_of_any_scale():
    """Sums of weights do not overflow; only their ratios count."""
    model = KernelClassifier(MAP, class_weight="balanced", C=1e-72, tol=1e-8, random_state=0)
    large = model.fit(X, NAMES, sample_weight=WEIGHTS * 2.0**240).coef_
    model.set_params(C=1e-72 * 2.0**240)
    np.testing.assert_array_equal(model.fit(X, NAMES, sample_weight=WEIGHTS).coef_, large)
