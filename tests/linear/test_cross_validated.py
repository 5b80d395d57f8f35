"""C by cross-validation: folds, scores, and the model of each C along the path."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import objectives
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsemaps import ConsistentWeightedSampling, MinHash, RandomBinning, SignProjection
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    KernelRegressorCV,
    _losses,
    _solver,
)

CLASSIFICATION, REGRESSION = KernelClassifier._LOSSES, KernelRegressor._LOSSES
CS = np.logspace(-2, 2, 5)


@parametrize_with_checks(
    [
        KernelClassifierCV(
            SignProjection(random_state=0), Cs=[0.01], cv=3, tol=1e-10, random_state=0
        ),
        KernelRegressorCV(
            RandomBinning(gamma=0.1, random_state=0), Cs=[1], cv=3, tol=1e-10, random_state=0
        ),
    ],
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return sp.csr_array(X[:240]), y[:240]


def min_max():
    return ConsistentWeightedSampling(n_hashes=32, random_state=0)


def path_of(rows, loss, n_models, tol):
    """The models of each C along a path."""
    objective = _losses.Objective(_losses.LOSSES[loss], CS[0], 0.1, 1.0)
    path = _solver.Path(rows, objective, n_models, tol=tol, seed=0)
    for C in CS[:4] if objectives.is_bounded(loss) and loss != "log_loss" else CS:
        _solver.run_in_turns(path.jobs(C, 10_000), 1)
        yield C, dict(path.solutions())


def objective_of(w, Z, y, loss, C, costs):
    """Half the square of the weights, and C times the losses."""
    return objectives.objective(loss, C, Z, y, w, 0.0, weights=costs)


@pytest.mark.parametrize("has_costs", [False, True])
@pytest.mark.parametrize("loss", [*CLASSIFICATION, *REGRESSION])
def test_the_models_of_a_path_are_those_of_single_fits(loss, has_costs, digits):
    """Both are optimal, so that their objectives are equal; the square of their difference is at
    most twice the sum of what these are above the optimum, as the objective is strongly convex."""
    X, y = digits
    packed = min_max().fit(X).encode(X, packed=True)
    rng = np.random.default_rng(SEED)
    costs = rng.integers(0, 4, len(y)) * 0.5 if has_costs else None
    labels = None if loss in REGRESSION else (y % 3).astype(np.int32)
    targets = y / 3.0 if loss in REGRESSION else None
    rows = _solver.TrainingRows(packed, labels, targets, costs)
    n_models, tol = 1 if labels is None else 3, 1e-7
    Z, factors = objectives.features(packed), np.ones(len(y)) if costs is None else costs
    for C, models in path_of(rows, loss, n_models, tol):
        single = dict(
            _solver.solve(
                rows, _losses.Objective(_losses.LOSSES[loss], C, 0.1, 1.0), n_models, tol=tol,
                max_iter=10_000, seed=1, n_jobs=1,
            )
        )  # fmt: skip
        assert models.keys() == single.keys() == set(range(n_models))
        for number in range(n_models):
            of_row = targets if labels is None else np.where(labels == number, 1, -1)
            w, other = (
                np.append(model.weights, model.last_weight)
                for model in (models[number], single[number])
            )
            value, expected = (objective_of(one, Z, of_row, loss, C, factors) for one in (w, other))
            assert value == pytest.approx(expected, rel=1e-6)
            assert models[number].dual is None
            bound = np.sqrt(4 * 1e-6 * expected)  # of the differences of scores: rows have length 2
            assert abs(Z @ (w - other)).max() <= np.sqrt(2) * bound


@pytest.mark.parametrize("has_costs", [False, True])
@pytest.mark.parametrize("ratio", [1.5, 4.64, 1000])
@pytest.mark.parametrize("loss", [*CLASSIFICATION, *REGRESSION])
def test_the_multiple_with_the_highest_dual_objective(loss, ratio, has_costs):
    """It is feasible, and no multiple nearby, or the solution as it was, is better."""
    rng = np.random.default_rng(SEED)
    n, C, bounded = 30, 0.7, objectives.is_bounded(loss)
    costs = rng.integers(0, 3, n) * 0.5 if has_costs else np.ones(n)
    K = rng.normal(size=(n, 4)) * (0.05 if ratio == 1.5 else 1.0)  # small: C is the bound
    y = rng.normal(size=n) if loss in REGRESSION else rng.choice([-1.0, 1.0], n)
    sizes = rng.random(n) * C * costs
    if loss == "log_loss":
        sizes = np.clip(sizes, 1e-9, None) * (costs > 0)
    if loss in CLASSIFICATION and loss != "log_loss":
        sizes[:5] = 0
        sizes[5:9] = (C * costs)[5:9]
    beta = sizes * np.sign(y)

    def kept(alpha, C):
        """As the solver keeps the variables."""
        if loss in REGRESSION:
            return alpha * np.sign(y)
        if loss == "log_loss":
            return np.where(alpha <= C * costs / 2, alpha, alpha - C * costs)
        return alpha

    def value(factor, C):
        some = costs > 0
        return objectives.dual_objective(
            loss, C * costs[some], K[some], y[some], factor * beta[some], y[some]
        )

    variables = kept(sizes, C).copy()
    square = float((beta @ K) @ (beta @ K))
    objective = _losses.Objective(_losses.LOSSES[loss], C, 0.1, 0.0)
    factor = objective.scale(ratio * C, y, variables, costs if has_costs else None, square)
    np.testing.assert_allclose(variables, kept(factor * sizes, ratio * C), rtol=1e-12, atol=1e-12)
    assert factor > 0
    if bounded:
        assert (factor * sizes <= ratio * C * costs * (1 + 1e-12)).all()
    best = value(factor, ratio * C)
    top = (ratio * C * costs / np.where(sizes > 0, sizes, np.inf))[sizes > 0].min()
    if loss == "log_loss":
        top, bounded = ratio, True  # of the multiples up to the ratio, which are all feasible
    others = [f for f in factor * np.array([0.9, 0.99, 1.01, 1.1]) if f < top or not bounded]
    for other in (*others, min(1.0, factor)):
        assert value(other, ratio * C) <= best + 1e-4 * abs(best)


@pytest.mark.parametrize("loss", CLASSIFICATION)
def test_a_search_over_C_finds_the_same(loss, digits):
    X, y = digits
    Cs = CS[:4] if loss == "hinge" else CS  # which takes many passes
    single = KernelClassifier(min_max(), loss=loss, tol=1e-6, random_state=0)
    search = GridSearchCV(single, {"C": Cs}, cv=3).fit(X, y)
    model = KernelClassifierCV(min_max(), Cs=Cs[::-1], cv=3, loss=loss, tol=1e-6, random_state=0)
    model.fit(X, y)
    assert (model.Cs_ == Cs).all()
    expected = [search.cv_results_[f"split{fold}_test_score"] for fold in range(3)]
    np.testing.assert_allclose(model.scores_, expected, atol=0.02)  # a row or two at a bound
    assert np.mean(model.scores_ == expected) > 0.7
    assert CS[model.scores_.mean(axis=0).argmax()] == model.C_
    refitted = clone(single).set_params(C=model.C_).fit(X, y)
    assert (model.coef_ == refitted.coef_).all()
    assert (model.intercept_ == refitted.intercept_).all()
    assert (model.predict(X) == refitted.predict(X)).all()


def test_a_search_over_C_of_regressors(digits):
    X, y = digits
    single = KernelRegressor(min_max(), tol=1e-8, max_iter=10_000, random_state=0)
    search = GridSearchCV(single, {"C": CS[:3]}, cv=KFold(3)).fit(X, y)
    model = KernelRegressorCV(
        min_max(), Cs=CS[:3], cv=KFold(3), tol=1e-8, max_iter=10_000, random_state=0
    ).fit(X, y)
    expected = [search.cv_results_[f"split{fold}_test_score"] for fold in range(3)]
    np.testing.assert_allclose(model.scores_, np.array(expected), atol=1e-4)
    refitted = clone(single).set_params(C=model.C_).fit(X, y)
    assert (model.coef_ == refitted.coef_).all()


def test_rows_codes_texts_threads_and_files_give_one_result(digits, tmp_path, monkeypatch):
    X, y = digits
    packed = min_max().fit(X).encode(X, packed=True)
    packed.save(tmp_path / "codes.npy")
    mapped = PackedCodes.load(tmp_path / "codes.npy")
    model = KernelClassifierCV(min_max(), Cs=CS, cv=3, random_state=0)
    of_rows = clone(model).fit(X, y)
    for rows, n_jobs in ((packed, None), (mapped, None), (X, 2), (packed, 5)):
        other = clone(model).set_params(n_jobs=n_jobs).fit(rows, y)
        assert (other.scores_ == of_rows.scores_).all()
        assert (other.coef_ == of_rows.coef_).all()
    of_rows.save(tmp_path / "model")
    loaded = KernelClassifier.load(tmp_path / "model")
    assert loaded.C == of_rows.C_
    for again in (loaded, pickle.loads(pickle.dumps(of_rows))):
        assert (again.decision_function(X) == of_rows.decision_function(X)).all()
    monkeypatch.setattr(_solver, "BLOCK_BYTES", 70 * 32)  # blocks of 70 rows
    by_blocks = clone(model).set_params(tol=1e-4).fit(mapped, y)
    np.testing.assert_allclose(by_blocks.scores_, of_rows.scores_, atol=0.02)
    number = KernelRegressorCV(min_max(), Cs=CS[:3], cv=3, random_state=0)
    blocks, whole = (clone(number).fit(rows, y / 3.0).scores_ for rows in (mapped, packed))
    np.testing.assert_allclose(blocks, whole, atol=0.01)


def test_texts():
    texts = ["a cat sat", "the dog ran", "prices rose", "the bank lent"] * 6
    labels = ["pets", "pets", "money", "money"] * 6
    model = KernelClassifierCV(MinHash(random_state=0), vectorizer="word:1", cv=2, random_state=0)
    assert model.fit(texts, labels).predict(["a dog sat"]).tolist() == ["pets"]
    assert model.scores_.shape == (2, 10)
    assert model.explain("a dog")[0][1] > 0
    np.testing.assert_allclose(model.Cs_, 10.0 ** np.linspace(-3, 3, 10))
    assert model.calibrate(texts, labels).predict_proba(texts[:1]).shape == (1, 2)


def test_weights_of_rows_are_those_of_training_and_of_the_score(digits):
    """A row of weight 2 counts as the row twice, one of weight 0 as absent."""
    X, y = digits
    rng = np.random.default_rng(SEED)
    weights, fold = rng.integers(0, 3, len(y)), rng.integers(0, 3, len(y))
    whole = np.repeat(np.arange(len(y)), weights)

    def folds(of_rows):
        return [(np.flatnonzero(of_rows != f), np.flatnonzero(of_rows == f)) for f in range(3)]

    how = {"Cs": CS[:4], "class_weight": "balanced", "tol": 1e-5, "random_state": 0}
    one = KernelClassifierCV(min_max(), cv=folds(fold), **how).fit(X, y, sample_weight=weights)
    other = KernelClassifierCV(min_max(), cv=folds(fold[whole]), **how).fit(X[whole], y[whole])
    np.testing.assert_allclose(one.scores_, other.scores_, atol=0.02)
    assert np.mean(one.scores_ == other.scores_) > 0.7
    train, test = folds(fold)[0]
    single = KernelClassifier(min_max(), C=CS[1], class_weight="balanced", tol=1e-8, random_state=0)
    single.fit(X[train], y[train], sample_weight=weights[train])
    expected = single.score(X[test], y[test], sample_weight=weights[test])
    assert one.scores_[0, 1] == pytest.approx(expected, abs=0.02)
    assert abs(one.scores_ - clone(one).fit(X, y).scores_).max() > 0.02


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("model", [KernelClassifierCV, KernelRegressorCV, KernelClassifier])
def test_a_number_of_folds_is_one_of_the_rows_that_count(digits, model, cv):
    """A row of weight 0 is as if absent, also where a class has few others, or none."""
    X, y = digits
    y = np.append(77, y[1:])
    weights = np.random.default_rng(SEED).integers(0, 3, len(y))
    weights[:50] = 0
    weights[y == 7] = 0
    weights[np.flatnonzero(y == 7)[-5:]] = 1
    map = ConsistentWeightedSampling(n_hashes=8, random_state=0)
    found = []
    for rows in (np.arange(len(y)), np.flatnonzero(weights)):
        given = X[rows], y[rows], weights[rows]
        if model is KernelClassifier:
            one = model(map, random_state=0).fit(*given).calibrate(*given, cv=cv or 5)
            found.append(one.predict_proba(X))
        else:
            found.append(model(map, Cs=[0.1, 1], cv=cv, random_state=0).fit(*given).scores_)
    np.testing.assert_allclose(*found, rtol=1e-9)


def test_a_fold_of_weights_0_has_no_rows(digits):
    X, y = digits
    weights = np.arange(len(y)) >= 20
    folds = [(np.arange(20, 240), np.arange(20)), (np.arange(40, 240), np.arange(40))]
    model = KernelClassifierCV(min_max(), Cs=[1], cv=folds, random_state=0)
    with pytest.raises(ValueError, match=r"fold 0 of cv has no rows$"):
        model.fit(X, y, sample_weight=weights)
    assert model.set_params(cv=folds[1:]).fit(X, y, sample_weight=weights).scores_[0, 0] > 0


def test_scores_of_ones_own(digits):
    X, y = digits
    seen = []

    def score(model, rows, labels):
        assert isinstance(model, KernelClassifier)
        seen.append((model.C, len(rows)))
        return -log_loss(labels, model.predict_proba(rows), labels=model.classes_)

    model = KernelClassifierCV(min_max(), Cs=CS, cv=2, loss="log_loss", scoring=score)
    model.fit(X, y)
    assert sorted(seen) == sorted((C, 120) for C in CS for _ in range(2))
    assert (model.scores_ < 0).all()
    assert model.set_params(scoring="f1_macro", refit=False).fit(X, y).scores_.max() <= 1
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": 0}, "Cs must be"),
        ({"Cs": [1, 0]}, r"Cs must be a number of values of C, or values above 0, got \[1, 0\]"),
        ({"Cs": []}, "Cs must be"),
        ({"Cs": "a"}, "Cs must be"),
        ({"Cs": [np.inf]}, "Cs must be"),
        ({"Cs": True}, "Cs must be"),
        ({"refit": 1}, "refit must be"),
        ({"cv": []}, "cv must be folds"),
        ({"cv": [([0, 1, 2], [])]}, "fold 0 of cv has no rows"),
        ({"cv": [([], [1, 2])]}, "fold 0 of cv has no rows to train on"),
        ({"cv": [([0, 1], [999])]}, "cv must be folds of numbers of the 240 rows"),
        ({"cv": [([0, 10, 20, 30], [1])]}, "fold 0 of cv have one class only: 0"),
        ({"scoring": "nonsense"}, "nonsense"),
        ({"tol": 0}, "tol must be"),
    ],
    ids=str,
)
def test_what_is_not_allowed(parameters, message, digits):
    X, y = digits
    y = np.where(np.isin(np.arange(len(y)), [0, 10, 20, 30]), 0, y)
    with pytest.raises(ValueError, match=message):
        KernelClassifierCV(min_max(), **{"Cs": 2, **parameters}).fit(X, y)


def test_several_labels_a_row_are_refused(digits):
    X, y = digits
    with pytest.raises(ValueError, match="takes one label for each row, got an indicator matrix"):
        KernelClassifierCV(min_max()).fit(X, np.eye(10)[y])


def test_marks_of_rows_are_folds(digits):
    X, y = digits
    marks = np.arange(len(y)) % 2 == 0
    model = KernelClassifierCV(min_max(), Cs=CS, random_state=0)
    one = clone(model).set_params(cv=[(marks, ~marks)]).fit(X, y)
    numbers = [(np.flatnonzero(marks), np.flatnonzero(~marks))]
    assert (one.scores_ == clone(model).set_params(cv=numbers).fit(X, y).scores_).all()


def test_a_warning_names_the_C_that_did_not_converge(digits):
    X, y = digits
    model = KernelClassifierCV(min_max(), Cs=[1e-4, 1e4], cv=2, max_iter=3, refit=False)
    with pytest.warns(ConvergenceWarning, match="with max_iter=3 for C of 10000 in some folds"):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(max_iter=1000, Cs=[1e-4, 1]).fit(X, y)


def test_a_class_that_a_fold_does_not_train_on(digits):
    X, y = digits
    y = np.where(np.arange(len(y)) < 3, 77, y % 2)
    folds = [(np.arange(3, 240), np.arange(40)), (np.arange(200), np.arange(200, 240))]
    how = {"cv": folds, "class_weight": "balanced", "random_state": 0}
    model = KernelClassifierCV(min_max(), Cs=CS, **how).fit(X, y)
    assert np.isfinite(model.scores_).all()
    single = KernelClassifier(min_max(), C=CS[2], class_weight="balanced", random_state=0)
    single.fit(X[3:], y[3:])
    assert model.scores_[0, 2] == pytest.approx(single.score(X[:40], y[:40]), abs=0.03)


def test_folds_are_those_of_scikit_learn(digits):
    X, y = digits
    model = KernelClassifierCV(min_max(), Cs=CS, random_state=0)
    expected = clone(model).set_params(cv=StratifiedKFold(5)).fit(X, y).scores_
    assert (clone(model).fit(X, y).scores_ == expected).all()
