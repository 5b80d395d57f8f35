"""Models of one problem on several parts of the rows, which are trained together."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import objectives
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold, ShuffleSplit

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    KernelRegressorCV,
    _losses,
    _path_of_C,
    _solver,
)

MAP = ConsistentWeightedSampling(n_hashes=32, random_state=0)
LOSSES = [*KernelClassifier._LOSSES, *KernelRegressor._LOSSES]
CS = np.logspace(-2, 1, 4)
N, N_FOLDS = 240, 5


@pytest.fixture(scope="module")
def packed():
    X, _ = load_digits(return_X_y=True)
    return MAP.fit(X[:N]).encode(sp.csr_array(X[:N]), packed=True)


def rows_of(packed, loss, members=None, weights=None):
    """Two classes, or numbers; each part of the rows leaves out a fold."""
    y = load_digits(return_X_y=True)[1][:N]
    is_regression = loss in KernelRegressor._LOSSES
    labels = None if is_regression else np.where(y % 2, 0, -1).astype(np.int32)
    targets = y / 3.0 if is_regression else None
    return _solver.TrainingRows(packed, labels, targets, weights, members=members)


def folds_of(kind):
    """The rows of each model: random ones, consecutive ones, few, and all."""
    if kind == "random":
        number = np.random.default_rng(SEED).integers(0, N_FOLDS, N)
    else:
        number = np.arange(N) * N_FOLDS // N
    folds = [number != fold for fold in range(N_FOLDS)]
    if kind == "uneven":
        folds[0], folds[1] = number == 0, number < N_FOLDS
    return folds


def solved(rows, loss, n_models, n_jobs=1, tol=1e-8, C=0.5):
    objective = _losses.Objective(_losses.LOSSES[loss], C, 0.1, 1.0)
    found = dict(
        _solver.solve(rows, objective, n_models, tol=tol, max_iter=20_000, seed=0, n_jobs=n_jobs)
    )
    assert all(one.dual is None for one in found.values())
    return found


@pytest.mark.parametrize("kind", ["random", "consecutive", "uneven"])
@pytest.mark.parametrize("loss", LOSSES)
def test_each_is_the_optimum_of_its_rows(loss, kind, packed):
    """And does not depend, bit for bit, on which others are trained with it."""
    folds = folds_of(kind)
    weights = np.random.default_rng(SEED).integers(0, 3, N) * 0.5
    rows = rows_of(packed, loss, folds, weights)
    found = solved(rows, loss, N_FOLDS)
    for n_jobs in (2, 3, 5):
        others = solved(rows, loss, N_FOLDS, n_jobs)
        for number, one in found.items():
            assert (one.weights == others[number].weights).all()
            assert one.last_weight == others[number].last_weight
    Z = objectives.features(packed)
    for number, fold in enumerate(folds):
        (alone,) = solved(rows_of(packed, loss, None, weights * fold), loss, 1).values()
        y = rows.y(number)
        ws = [np.append(one.weights, one.last_weight) for one in (found[number], alone)]
        value, best = (
            objectives.objective(loss, 0.5, Z, y, w, 0.0, weights=weights * fold) for w in ws
        )
        assert value == pytest.approx(best, rel=1e-7)
        assert abs(Z @ (ws[0] - ws[1])).max() < 1e-3
        is_there = Z[fold & (weights > 0)].any(axis=0)
        assert (ws[0][~is_there] == 0).all()


@pytest.mark.parametrize("has_lists", [False, True])
def test_each_problem_has_a_model_for_each_part(has_lists, packed):
    """Three classes; or labels, of which the first and the last have the same rows, with factors of
    C for each model."""
    y = load_digits(return_X_y=True)[1][:N] % 3
    folds = folds_of("random")
    weights = np.random.default_rng(SEED).integers(0, 3, N) * 0.5
    labels, factors, n = y.astype(np.int32), None, 3
    if has_lists:
        labels, n = sp.csc_array(np.stack([y == 0, y == 1, y > 0, y == 0], axis=1)), 4
        own = np.random.default_rng(SEED).uniform(0.5, 2, (N_FOLDS, 3, 2))
        factors = own[:, [0, 1, 2, 0]].transpose(1, 0, 2).reshape(-1, 2)
    rows = _solver.TrainingRows(packed, labels, None, weights, factors, folds)
    found = solved(rows, "squared_hinge", n * N_FOLDS)
    others = solved(rows, "squared_hinge", n * N_FOLDS, n_jobs=3)
    assert found.keys() == others.keys() == set(range(n * N_FOLDS))
    for number, one in found.items():
        assert (one.weights == others[number].weights).all()
        problem, fold = divmod(number, N_FOLDS)
        is_there = labels[:, [problem]].toarray()[:, 0] if has_lists else y == problem
        costs = weights * folds[fold]
        if has_lists:
            costs = costs * factors[number][is_there.astype(int)]
        np.testing.assert_array_equal(rows.costs(number), costs)
        sides = np.where(is_there, 0, -1).astype(np.int32)
        (alone,) = solved(
            _solver.TrainingRows(packed, sides, None, costs), "squared_hinge", 1
        ).values()
        np.testing.assert_allclose(one.weights, alone.weights, atol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_variables_of_other_rows_stay_0(loss, packed):
    """Also when the next C begins."""
    folds = folds_of("random")[:4]
    objective = _losses.Objective(_losses.LOSSES[loss], CS[0], 0.1, 1.0)
    path = _solver.Path(rows_of(packed, loss, folds), objective, 4, tol=1e-6, seed=0)
    for C in CS:
        _solver.run_in_turns(path.jobs(C, 1000), 1)
        (group,) = path._groups
        assert (group._dual[~np.array(folds).T] == 0).all()
        assert (group._dual != 0).any(axis=0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_blocks_of_rows(loss, packed, tmp_path, monkeypatch):
    """Codes that are mapped from a file; a block may have no row of a model."""
    packed.save(tmp_path / "codes.npy")
    mapped = PackedCodes.load(tmp_path / "codes.npy")
    rows = rows_of(mapped, loss, folds_of("consecutive"))
    whole = solved(rows, loss, N_FOLDS)
    monkeypatch.setattr(_solver, "BLOCK_BYTES", 48 * 32)
    found = solved(rows, loss, N_FOLDS, tol=1e-6)
    for number, one in found.items():
        np.testing.assert_allclose(one.weights, whole[number].weights, atol=1e-3)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_are_begun_one_for_each_thread(n_jobs, monkeypatch):
    """As each takes memory; those that are left after some time are gone on with first."""
    monkeypatch.setattr(_solver, "_SECONDS", 0)
    going, most, ended = set(), [], []

    def steps(number):
        going.add(number)
        for _ in range(5):
            most.append(len(going))
            yield
        going.remove(number)
        ended.append(number)

    _solver.run_in_turns(map(steps, range(6)), n_jobs)
    assert sorted(ended) == list(range(6))
    assert max(most) <= n_jobs
    with pytest.raises(ZeroDivisionError):
        _solver.run_in_turns(((1 / 0 for _ in [1]) for _ in range(3)), n_jobs)


@pytest.fixture
def together(monkeypatch):
    """Whether folds are trained together, of each search."""
    found, original = [], _path_of_C._together

    def spied(*given):
        made = original(*given)
        found.append(made is not None)
        return made

    monkeypatch.setattr(_path_of_C, "_together", spied)
    return found


def kinds():
    y = load_digits(return_X_y=True)[1][:N]
    yield KernelClassifierCV(MAP, Cs=CS, tol=1e-6, random_state=0), KernelClassifier, y % 2
    yield KernelRegressorCV(MAP, Cs=CS, tol=1e-6, random_state=0), KernelRegressor, y / 3.0
    for class_weight in ("balanced", {False: 3.0, True: 0.5}):
        weighted = KernelClassifierCV(
            MAP, Cs=CS, class_weight=class_weight, tol=1e-6, random_state=0
        )
        yield weighted, KernelClassifier, y > 6
    yield KernelClassifierCV(MAP, Cs=CS, tol=1e-6, random_state=0), KernelClassifier, y % 3
    balanced = KernelClassifierCV(MAP, Cs=CS, class_weight="balanced", tol=1e-6, random_state=0)
    yield balanced, KernelClassifier, np.minimum(y, 3)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize(
    "cv", [KFold(5), KFold(2), ShuffleSplit(3, train_size=0.3, random_state=0)]
)
def test_scores_are_those_of_single_fits(number, cv, packed, together):
    model, kind, y = list(kinds())[number]
    weights = np.random.default_rng(SEED).integers(1, 3, N).astype(float)
    found = clone(model).set_params(cv=cv, n_jobs=2).fit(packed, y, sample_weight=weights)
    # Balanced weights of rows of several classes are those of a fold: two folds share no row.
    assert together == [number < 5 or cv.get_n_splits() == 2]
    for fold, (train, test) in enumerate(cv.split(np.empty((N, 0)))):
        for place, C in enumerate(CS):
            single = kind(MAP, C=C, tol=1e-6, random_state=0)
            if kind is KernelClassifier:
                single.set_params(class_weight=model.class_weight)
            single.fit(packed[train], y[train], sample_weight=weights[train])
            expected = single.score(packed[test], y[test], sample_weight=weights[test])
            assert found.scores_[fold, place] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("number", [0, 4])
def test_folds_that_memory_has_no_room_for_are_trained_later(number, packed, monkeypatch):
    """And no bit of the scores depends on it."""
    model, _, y = list(kinds())[number]
    expected = clone(model).fit(packed, y).scores_
    most, original = [], _solver.Path

    def spied(rows, *given, **names):
        most.append(rows.n_parts)
        return original(rows, *given, **names)

    monkeypatch.setattr(_solver, "Path", spied)
    n_models = 1 if number == 0 else 3
    for n_folds, parts in ((0.5, [1] * 5), (3, [2, 3]), (5, [5])):
        most.clear()
        of_a_fold = 8 * n_models * ((packed.n_hashes << packed.bits) + N)
        monkeypatch.setattr(_path_of_C, "MOST_BYTES", int(n_folds * of_a_fold))
        assert (clone(model).fit(packed, y).scores_ == expected).all()
        assert most == parts


def test_folds_of_other_weights_are_trained_apart(packed, together):
    """As those of rows that a fold has twice."""
    model, _, y = next(kinds())
    folds = list(KFold(5).split(y))
    expected = clone(model).set_params(cv=folds).fit(packed, y).scores_
    twice = [(np.append(train, train), test) for train, test in folds]
    doubled = clone(model).set_params(cv=twice, Cs=CS / 2).fit(packed, y).scores_
    np.testing.assert_allclose(doubled, expected, atol=0.03)
    some = [(np.append(train, train[:20]), test) for train, test in folds]
    clone(model).set_params(cv=some).fit(packed, y)
    assert together == [True, True, False]


@pytest.mark.parametrize("weights", [None, "random"])
def test_balanced_weights_are_those_of_each_fold(weights, packed):
    """Also where folds have other shares of the classes, and rows have weights."""
    model = list(kinds())[2][0]
    y = np.arange(N) % 7 < np.where(np.arange(N) < N // 2, 1, 5)
    if weights is not None:
        weights = np.random.default_rng(SEED).integers(0, 3, N).astype(float)
    problem = clone(model)
    codes, labels, costs = problem._begin(packed, y, weights)
    rows, _ = problem._problems(codes, labels, costs)
    folds = []
    for train, _ in KFold(3).split(y):
        own = np.bincount(train, minlength=N) * (1.0 if weights is None else weights)
        folds.append(_path_of_C.Fold(lambda own=own: own, None, "a fold"))
    some = _path_of_C._together(problem, rows, folds).of_folds(range(1, 3))
    for number, fold in enumerate(folds[1:]):
        own = fold.costs()
        shares = own.sum() / 2 / np.array([own[~y].sum(), own[y].sum()])
        np.testing.assert_allclose(some.costs(number), own * shares[y.astype(int)], rtol=1e-12)
        (alone,) = solved(some._replace(
            members=None, factors=None, weights=some.costs(number)
        ), "squared_hinge", 1).values()  # fmt: skip
        found = solved(some, "squared_hinge", 2)[number]
        np.testing.assert_allclose(found.weights, alone.weights, atol=1e-5)
