"""Paths of C, whose models with few free rows jump to their solutions."""

from collections import deque

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import objectives
from sklearn.datasets import load_digits

from sparsemaps import ConsistentWeightedSampling
from sparsemaps._loops import codes as kernel
from sparsemaps.linear import _losses, _solver

N, N_FOLDS, TOL = 300, 3, 1e-3
CS = [1.0, 1e2, 1e4]
LOSSES = "squared_hinge", "squared_epsilon_insensitive"


def rows_of(loss, bits, start=SEED):
    """Weights are 0.5 and 1, and each model leaves out a third of the rows."""
    X, y = load_digits(return_X_y=True)
    X, y = sp.csr_array(X[:N]), y[:N]
    map = ConsistentWeightedSampling(n_hashes=19, bits=bits, random_state=0)
    packed = map.fit(X).encode(X, packed=True)
    rng = np.random.default_rng(start)
    folds, weights = rng.integers(0, N_FOLDS, N), rng.integers(1, 3, N) * 0.5
    members = [folds != fold for fold in range(N_FOLDS)]
    if loss == "squared_hinge":
        labels = np.where(y % 2, 0, -1).astype(np.int32)
        return _solver.TrainingRows(packed, labels, None, weights, members=members)
    return _solver.TrainingRows(packed, None, y / 3.0, weights, members=members)


def solved(rows, loss, are_solved, largest_cost=None, tol=TOL, Cs=CS):
    """The group of all folds at each C."""
    objective = _losses.Objective(_losses.LOSSES[loss], Cs[0], 0.1, 0.5)
    matrices = deque() if are_solved else None
    path = _solver.Path(
        rows, objective, N_FOLDS, tol=tol, seed=0, largest_cost=largest_cost, matrices=matrices
    )
    for C in Cs:
        _solver.run_in_turns(path.jobs(C, 20_000), 1)
        (group,) = path._groups
        yield C, group


@pytest.mark.parametrize("bits", [3, 8, 11])
@pytest.mark.parametrize(
    ("loss", "largest_cost"),
    [("squared_hinge", None), ("squared_hinge", 1.0), ("squared_epsilon_insensitive", None)],
)
def test_few_passes_lead_to_the_optimum(loss, bits, largest_cost):
    """The duality gap is at most the sum of the variables times the violations, plus the sum of the
    squares of violations times the costs."""
    rows = rows_of(loss, bits)
    Z = objectives.features(rows.codes, 0.5)
    both = zip(solved(rows, loss, True, largest_cost), solved(rows, loss, False), strict=True)
    for (C, group), (_, other) in both:
        n_passes = np.array([0, 0])
        for m in range(N_FOLDS):
            y, costs, variables = rows.y(m), rows.costs(m), group._dual[:, m]
            found = group.solution(m), other.solution(m)
            w, by_passes = (np.append(one.weights, one.last_weight) for one in found)
            beta = variables * (y if loss == "squared_hinge" else 1)
            np.testing.assert_allclose(w, beta @ Z, atol=1e-5 * max(1, abs(w).max()))
            assert (variables[costs == 0] == 0).all()
            values = [
                objectives.objective(loss, C, Z, y, some, 0.0, weights=costs)
                for some in (w, by_passes)
            ]
            # Each is within the tolerance where it is met in the last pass, before later steps.
            violation, size = 4 * TOL, abs(variables).sum()
            if loss != "squared_hinge":  # violations are summed up, and relative to the first
                violation, size = 4 * TOL * abs(y).sum(), abs(variables).max()
            assert abs(values[0] - values[1]) < violation * size + C * N * (4 * TOL) ** 2
            if max(CS) / 2 < C:
                assert found[0].n_passes < found[1].n_passes
            n_passes += [one.n_passes for one in found]
        if max(CS) / 2 < C:
            assert n_passes[0] < n_passes[1] / 2


@pytest.mark.parametrize(
    ("most", "start", "most_passes"),
    [(2**11, SEED, 100), (2**11, 11 << 20, 100), (215, SEED, 20_000), (215, 1 << 20, 100)],
)
@pytest.mark.parametrize("loss", LOSSES)
def test_solutions_are_exact(loss, most, start, most_passes, monkeypatch):
    """Passes alone need up to 1,700 passes for classes, and more than 20,000 for numbers. From the
    second start of random numbers, blocks of rows go round in circles. If there is no space for
    more equations, models begin anew with their free rows, or wait for passes if these are too
    many."""
    monkeypatch.setattr(_solver, "_MOST_EQUATIONS", most)
    rows = rows_of(loss, 8, start)
    Z = objectives.features(rows.codes, 0.5)
    for C, group in solved(rows, loss, True, tol=1e-9, Cs=[1.0, 1e1, 1e2, 1e3, 1e4, 1e5]):
        for m in range(N_FOLDS):
            y, costs, variables = rows.y(m), rows.costs(m), group._dual[:, m]
            there, free = costs > 0, variables != 0
            found = group.solution(m)
            scores = Z @ np.append(found.weights, found.last_weight)
            slack = np.zeros(N)
            slack[there] = variables[there] / (2 * C * costs[there])
            if loss == "squared_hinge":
                gradient = y * scores + slack - 1
            else:
                side = np.where(free, np.sign(variables), np.sign(y - scores))
                gradient = side * (scores + slack - y) + 0.1
            assert abs(gradient[free]).max() < 1e-7
            assert gradient[there & ~free].min() > -1e-7
            assert found.n_passes <= most_passes


@pytest.mark.parametrize("loss", LOSSES)
def test_many_free_rows_are_left_to_passes(loss, monkeypatch):
    monkeypatch.setattr(_solver, "_MOST_EQUATIONS", 20)
    rows = rows_of(loss, 8)
    both = zip(solved(rows, loss, True), solved(rows, loss, False), strict=True)
    for (_, group), (_, other) in both:
        assert (group._weights == other._weights).all()


def test_a_matrix_that_does_not_fit_is_refused():
    packed = rows_of("squared_hinge", 8).codes
    n, v = len(packed), _solver.aligned_zeros(packed.n_hashes << packed.bits, 1)
    descent = kernel.Descent(
        packed.n_hashes, packed.bits, "squared_hinge", 0, 0.0, 1.0, 0.1, 1.0, 0, np.ones((1, 2)), v
    )
    matrix = np.empty(kernel.shape_of_matrix(n))
    for wrong, of_jumps in ((matrix, None), (matrix[:, 1:].copy(), np.zeros((2, *v.shape)))):
        with pytest.raises(ValueError, match="the arrays do not fit"):
            descent.turn(
                packed.array, packed.sampled.view(np.uint8), np.zeros(n, np.uint8), None, None,
                np.zeros((n, 1)), np.empty(n, np.uint32), np.empty(n, np.uint8),
                np.zeros((3, n, 1)), of_jumps, 1, 1, True, 1, None, wrong,
            )  # fmt: skip
