"""Paths of C whose weights are float32 while C is small."""

import itertools
from collections import deque

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import objectives
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold

from sparsemaps import ConsistentWeightedSampling
from sparsemaps._loops import codes as kernel
from sparsemaps.linear import KernelClassifier, KernelClassifierCV, _losses, _path_of_C, _solver

N, N_FOLDS, TOL = 160, 5, 1e-3
CS = [0.1, 1.0, 10.0, 20.0, 60.0, 180.0]
LOSSES = KernelClassifier._LOSSES


def coded(bits=8, n_hashes=32, n=N):
    X, y = load_digits(return_X_y=True)
    map = ConsistentWeightedSampling(n_hashes=n_hashes, bits=bits, random_state=0)
    return map.fit(X[:n]).encode(sp.csr_array(X[:n]), packed=True), y[:n]


def rows_of(packed, y, n_classes):
    number = np.random.default_rng(SEED).integers(0, N_FOLDS, len(y))
    weights = np.random.default_rng(SEED).integers(0, 3, len(y)) * 0.5
    y = np.where(np.random.default_rng(SEED).random(len(y)) < 0.2, y[::-1], y)  # some are wrong
    labels = np.where(y % 2, 0, -1) if n_classes == 2 else y % n_classes
    members = [number != fold for fold in range(N_FOLDS)]
    return _solver.TrainingRows(packed, labels.astype(np.int32), None, weights, members=members)


def path_of(rows, loss, n_models, n_jobs=1, largest_cost=1.0):
    objective = _losses.Objective(_losses.LOSSES[loss], CS[0], 0.1, 1.0)
    return _solver.Path(
        rows, objective, n_models, tol=TOL, seed=0, n_jobs=n_jobs, largest_cost=largest_cost,
        matrices=deque(),
    )  # fmt: skip


def steps(path):
    """The groups after each C."""
    for C in CS:
        _solver.run_in_turns(path.jobs(C, 10_000, path._n_jobs), path._n_jobs)
        yield C, path._groups


def variables(loss, C, rows, group, m):
    """The dual variables of a model."""
    alpha, costs = group._dual[:, m], rows.costs(group.numbers[m])
    if loss == "log_loss":
        alpha = np.where(alpha < 0, C * costs + alpha, alpha)
    return alpha


def violations(loss, C, costs, alpha, margins):
    """The slopes of the dual problem, by its definition, that a step within the bounds follows."""
    is_there = costs > 0
    c, alpha, margins = C * costs[is_there], alpha[is_there], margins[is_there]
    if loss == "log_loss":
        return margins + np.log(alpha / (c - alpha))
    value = _losses.LOSSES[loss]
    slopes = margins - 1 + value.curvature * alpha / c
    slopes[(alpha == 0) & (slopes > 0)] = 0.0
    if value.is_bounded:
        slopes[(alpha == c) & (slopes < 0)] = 0.0
    return slopes


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_each_is_the_optimum_of_its_rows(loss, n_classes):
    """Its weights are the sums of its dual variables, also after the change to float64, which
    follows from its own variables."""
    packed, y = coded()
    rows, Z = rows_of(packed, y, n_classes), objectives.features(packed)
    n_models = N_FOLDS * (1 if n_classes == 2 else n_classes)
    is_float32, largest, last_C = dict.fromkeys(range(n_models), True), {}, 1.0
    for C, groups in steps(path_of(rows, loss, n_models)):
        for number in range(n_models):
            grown = largest.get(number, 0) * C / last_C
            is_float32[number] &= C <= 10 or (loss != "log_loss" and grown <= 20)
        last_C = C
        numbers = {n: group.is_float32 for group in groups for n in group.numbers}
        assert numbers == is_float32
        assert len(numbers) == sum(len(group.numbers) for group in groups)
        for group in groups:
            assert group._weights.dtype == (np.float32 if group.is_float32 else np.float64)
            assert group.going == 0
            for m, number in enumerate(group.numbers):
                solution, y, costs = group.solution(m), rows.y(number), rows.costs(number)
                w = np.append(solution.weights, solution.last_weight)
                alpha = variables(loss, C, rows, group, m)
                largest[number] = alpha.max()
                atol = (1e-5 if group.is_float32 else 1e-12) * max(1, abs(w).max())
                np.testing.assert_allclose(w, (y * alpha) @ Z, atol=atol)
                assert (alpha >= 0).all()
                assert (alpha[costs == 0] == 0).all()
                if getattr(_losses.LOSSES[loss], "is_bounded", True):
                    assert (alpha <= C * costs).all()
                slopes = violations(loss, C, costs, alpha, y * (Z @ w))
                # Each is within the tolerance where it is met in the last pass, before later steps.
                assert np.ptp(np.append(slopes, 0)) < 4 * TOL


@pytest.mark.parametrize("loss", LOSSES)
def test_no_bit_depends_on_threads_or_other_models(loss):
    packed, y = coded()
    rows = rows_of(packed, y, 2)
    found = []
    for n_jobs in (1, 2, 3, 5):
        found.append([])
        for _, groups in steps(path_of(rows, loss, N_FOLDS, n_jobs)):
            models = {n: (group, m) for group in groups for m, n in enumerate(group.numbers)}
            solutions = [models[n][0].solution(models[n][1]) for n in range(N_FOLDS)]
            found[-1] += [(*one.weights, one.last_weight, one.n_passes) for one in solutions]
    for other in found[1:]:
        assert other == found[0]
    for fold, members in enumerate(rows.members):
        alone = path_of(rows._replace(members=[members]), loss, 1)
        for place, (_, (group,)) in enumerate(steps(alone)):
            one = group.solution(0)
            expected = found[0][place * N_FOLDS + fold]
            assert (*one.weights, one.last_weight, one.n_passes) == expected


def trained(packed, loss, C, sides, n_models, max_visits=10**9, max_passes=10**5):
    """The weights, the intercepts and the variables of some models with weights of float32."""
    n, half = len(packed), kernel.most_of_float32 // 2
    v = _solver.aligned_zeros(packed.n_hashes << packed.bits, half)
    dual = np.zeros((n, n_models))
    descent = kernel.Descent(
        packed.n_hashes, packed.bits, loss, _losses.LOSSES[loss].end, 0.1, 0.5, TOL, C, 7,
        np.ones((n_models, 2)), v, True,
    )  # fmt: skip
    order, active = np.empty(n, np.uint32), np.empty(n, np.uint8)
    of_jumps = np.zeros((3, n, n_models)), np.zeros((2, *v.shape))
    goes_on, going, is_first = True, 2**n_models - 1, True
    while goes_on:
        goes_on, _ = descent.turn(
            packed.array, packed.sampled.view(np.uint8), sides, None, None, dual, order, active,
            *of_jumps, max_passes, max_visits, is_first, going,
        )  # fmt: skip
        is_first, going = False, 0
    weights = v.view(np.float32)
    assert (weights[:, n_models:] == 0).all()
    last = [descent.model(m)["intercept"] for m in range(n_models)]
    return weights[:, :n_models], np.array(last), dual


@pytest.mark.parametrize("bits", [3, 8, 11])
@pytest.mark.parametrize("loss", LOSSES)
def test_models_do_not_depend_on_those_they_are_trained_with(loss, bits):
    """Each alone, and in turns that end anywhere; in numbers of codes that fill no vector."""
    packed, _ = coded(bits, n_hashes=21, n=90)
    most = kernel.most_of_float32
    shares = np.arange(1, most + 1) / (2 * most)
    has_label = np.random.default_rng(SEED).random((len(packed), most)) < shares
    sides = np.packbits(has_label, axis=1, bitorder="little")[:, 0]
    alone = [trained(packed, loss, 8.0, sides >> m & 1, 1) for m in range(most)]
    for n_models in (2, 5, most):
        found = trained(packed, loss, 8.0, sides, n_models, max_visits=17)
        for m in range(n_models):
            for array, of_one in zip(found, alone[m], strict=True):
                assert (array[..., m] == of_one[..., 0]).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_passes_are_those_of_float64(loss):
    """Three passes, but for errors of rounding."""
    packed, y = coded(n_hashes=37, n=90)
    v = _solver.aligned_zeros(packed.n_hashes << packed.bits, 1)
    dual, order = np.zeros((len(packed), 1)), np.empty(len(packed), np.uint32)
    descent = kernel.Descent(
        packed.n_hashes, packed.bits, loss, _losses.LOSSES[loss].end, 0.1, 0.5, TOL, 1.0, 7,
        np.ones((1, 2)), v,
    )  # fmt: skip
    sides = (y % 2).astype(np.uint8)
    descent.turn(
        packed.array, packed.sampled.view(np.uint8), sides, None, None, dual, order,
        np.empty(len(packed), np.uint8), np.zeros((3, len(packed), 1)), None, 3, 10**9, True, 1,
    )  # fmt: skip
    weights, _, variables = trained(packed, loss, 1.0, sides, 1, max_passes=3)
    np.testing.assert_allclose(weights, v, atol=1e-5)
    np.testing.assert_allclose(variables, dual, atol=1e-5)


@pytest.fixture
def are_float32(monkeypatch):
    """Of each group of a path that is begun, whether its weights are float32."""
    found, original = [], _solver.Path._new_groups

    def spied(path, numbers, are_float32):
        found.append(are_float32)
        return original(path, numbers, are_float32)

    monkeypatch.setattr(_solver.Path, "_new_groups", spied)
    return found


@pytest.mark.parametrize(
    ("parameters", "weight", "expected"),
    [
        ({}, 1.0, [False]),
        ({"Cs": [1, 10]}, 1.0, [True]),
        ({"Cs": [1, 11]}, 1.0, [True, False]),
        ({"Cs": [1, 11], "loss": "log_loss"}, 1.0, [True, False]),
        ({"Cs": [11, 12]}, 1.0, [False]),
        ({"Cs": [1e-21, 1]}, 1.0, [False]),
        ({"Cs": [1e-19, 1]}, 1.0, [True]),
        ({"Cs": [1, 2], "tol": 1e-5}, 1.0, [False]),
        ({"Cs": [1, 2]}, 11.0, [False]),
        ({"Cs": [1, 2], "class_weight": {False: 1, True: 11}}, 1.0, [False]),
        ({"Cs": [1, 2], "cv": [(range(100), range(100, N))]}, 1.0, [False]),
    ],
)
def test_which_are_float32(parameters, weight, expected, are_float32):
    """Those of a C that is small beside the tolerance, unless there is one model or one C alone."""
    packed, y = coded()
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    model = KernelClassifierCV(map, random_state=0, refit=False, **{"Cs": [1], **parameters})
    model.fit(packed, y % 2 == 1, sample_weight=np.full(N, weight))
    assert are_float32 == expected


def test_the_change_to_float64_starts_from_the_solution():
    packed, y = coded()
    rows = rows_of(packed, y, 2)
    objective = _losses.Objective(_losses.LOSSES["log_loss"], 10.0, 0.1, 1.0)
    path = _solver.Path(rows, objective, N_FOLDS, tol=TOL, seed=0, largest_cost=1.0)
    n_passes = []
    for C in (10.0, 10.1):
        _solver.run_in_turns(path.jobs(C, 10_000), 1)
        n_passes.append(max(group.n_passes() for group in path._groups))
    assert not any(group.is_float32 for group in path._groups)
    assert n_passes[1] < 0.75 * n_passes[0]


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_models_of_few_errors_stay_in_float32(loss):
    """The labels of two of three classes are random, so that their variables grow with C. The third
    model is the same, bit for bit, as if it were trained with the others in float32."""
    packed, y = coded()
    labels = np.where(y == 0, 0, np.random.default_rng(SEED).integers(1, 3, len(y)))
    members = [np.random.default_rng(SEED).random(len(y)) < 0.8]
    rows = _solver.TrainingRows(packed, labels.astype(np.int32), None, None, members=members)
    are_float32, firsts = [], []
    for _, groups in steps(path_of(rows, loss, 3)):
        models = {n: (group, m) for group in groups for m, n in enumerate(group.numbers)}
        are_float32.append([models[n][0].is_float32 for n in range(3)])
        firsts.append(models[0][0].solution(models[0][1]).weights)
    assert are_float32[:3] == [[True] * 3] * 3
    assert are_float32[-1] == [True, False, False]
    alone = rows._replace(labels=np.where(labels == 0, 0, -1).astype(np.int32))
    for (_, (group,)), weights in zip(steps(path_of(alone, loss, 1)), firsts, strict=True):
        assert (group.solution(0).weights == weights).all()


def test_memory_decides_no_bit(are_float32, monkeypatch):
    """Folds whose balanced classes differ have float32 together or not at all."""
    packed, y = coded()
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    model = KernelClassifierCV(
        map, Cs=[1.9, 2.0], class_weight="balanced", cv=KFold(5), random_state=0, refit=False
    )
    expected = model.fit(packed, y == 1).scores_
    whole, are_float32[:] = are_float32[:], []
    monkeypatch.setattr(_path_of_C, "MOST_BYTES", 1)
    assert (model.fit(packed, y == 1).scores_ == expected).all()
    assert are_float32 == [each for _, each in itertools.product(range(5), whole)]


def test_what_does_not_fit_is_refused():
    packed, _ = coded(n=20)
    most = kernel.most_of_float32

    def descent(n_models, n_columns, is_float32=True):
        v = _solver.aligned_zeros(packed.n_hashes << packed.bits, n_columns)
        return kernel.Descent(
            packed.n_hashes, packed.bits, "hinge", 0, 0.0, 1.0, 0.1, 1.0, 0,
            np.ones((n_models, 2)), v, is_float32,
        )  # fmt: skip

    with pytest.raises(ValueError, match="the arrays do not fit"):
        descent(2, most)
    for n_models in (most + 1, 0):
        with pytest.raises(ValueError, match="models are trained together"):
            descent(n_models, most // 2)
    some, others = descent(2, most // 2), descent(3, most // 2, False)
    for m, of_other in ((2, 0), (-1, 0), (0, 3), (0, -1)):
        with pytest.raises(IndexError):
            some.take(m, others, of_other)
