"""The losses: what is minimised, its dual, and what ends the solver's passes."""

from typing import NamedTuple

import numpy as np
import scipy

from sparsemaps._tools._typing import Array

CLASSIFICATION = ("squared_hinge", "hinge", "log_loss")
REGRESSION = ("squared_epsilon_insensitive", "epsilon_insensitive")


class Objective(NamedTuple):
    """The objective of a model: half its weights' square, and C times the sum of the losses."""

    loss: str
    C: float
    epsilon: float
    """The width of the zone without a loss, in regression."""
    bias: float
    """The value of the feature whose weight makes the intercept."""


def primal(objective: Objective, y: Array, scores: Array, costs: Array | None) -> float:
    """C times the sum of the losses. `y` is -1 and 1, or the targets; `costs` are weights of the
    rows, or None."""
    loss = objective.loss
    if loss in REGRESSION:
        losses = np.maximum(np.abs(scores - y) - objective.epsilon, 0)
    elif loss == "log_loss":
        losses = np.logaddexp(0, -y * scores)
    else:
        losses = np.maximum(1 - y * scores, 0)
    if loss.startswith("squared"):
        losses = losses**2
    return objective.C * float(losses.sum() if costs is None else losses @ costs)


def dual(objective: Objective, y: Array, variables: Array, costs: Array | None) -> float:
    """Return the dual objective without the square of the weights; `variables` are those of the
    solver."""
    costs = np.ones(len(y)) if costs is None else costs
    some = costs > 0  # the others have no variable
    y, variables, C = y[some], variables[some], objective.C * costs[some]
    if objective.loss in REGRESSION:
        value = y @ variables - objective.epsilon * np.abs(variables).sum()
    elif objective.loss == "log_loss":
        near = np.abs(variables)
        shares = near / C
        far = scipy.special.xlog1py(C - near, -shares)
        value = -(scipy.special.xlogy(near, shares) + far).sum()
    else:
        value = variables.sum()
    if objective.loss.startswith("squared"):
        value -= (variables**2 / (4 * C)).sum()
    return float(value)


def scaled(
    objective: Objective, C: float, y: Array, variables: Array, costs: Array | None, square: float
) -> float:
    """Multiply the variables of a solution in place, to begin with a larger C there, and return the
    factor.

    Of the multiples of the solution that this C allows, it is the one with the highest dual
    objective. `square` is that of the weights of the solution.
    """
    costs = np.ones(len(y)) if costs is None else costs
    some = costs > 0  # the others have no variable
    ratio, tops = C / objective.C, C * costs
    if objective.loss == "log_loss":
        return _scaled_within(ratio, tops, some, variables, square)
    sizes = np.abs(variables)
    linear = float(sizes.sum())
    if objective.loss in REGRESSION:
        linear = float((y * variables).sum()) - objective.epsilon * linear
    is_squared = objective.loss.startswith("squared")
    if is_squared:
        square += float((variables[some] ** 2 / (2 * tops[some])).sum())
    factor = linear / square if linear > 0 and square > 0 else 1.0
    if not is_squared:
        used = sizes > 0
        factor = min(factor, float((tops[used] / sizes[used]).min(initial=np.inf)))
    variables *= factor
    if not is_squared:
        np.clip(variables, -tops, tops, out=variables)
    return factor


def _scaled_within(
    ratio: float, tops: Array, some: Array, variables: Array, square: float
) -> float:
    """Do what ``scaled`` does for variables that stay between 0 and C, of which the nearer distance
    is known."""
    near, far = np.abs(variables), tops / ratio - np.abs(variables)
    alpha, rest = np.where(variables < 0, [far, near], [near, far])
    used = alpha[some]

    def falls(factor: float) -> float:
        """Return by how much the dual objective falls."""
        slopes = np.log((tops[some] - factor * used) / (factor * used))
        return factor * square - float((used * slopes).sum())

    low, high = 1e-9 * ratio, (1 - 1e-9) * ratio
    if falls(low) >= 0:
        factor = low
    elif falls(high) <= 0:
        factor = high
    else:
        factor = float(scipy.optimize.brentq(falls, low, high, xtol=1e-12 * ratio, rtol=1e-3))
    alpha, rest = factor * alpha, factor * rest + (1 - factor / ratio) * tops
    variables[:] = np.where(alpha <= rest, alpha, -rest)
    return factor


class Rounds:
    """The rule that ends the rounds over all blocks, for a model, by the violations as they are met
    first in each round. The solver has the same rule for its passes over one block."""

    def __init__(self, loss: str, tol: float) -> None:
        self._loss, self._tol = loss, tol
        self._first: float | None = None
        self._begin()

    def _begin(self) -> None:
        self._total, self._highest, self._lowest = 0.0, -np.inf, np.inf

    def add(self, model: dict[str, float]) -> None:
        """The sum of the violations of a block, the highest and the lowest of them."""
        self._total += model["turn_violation"]
        self._highest = max(self._highest, model["turn_highest"])
        self._lowest = min(self._lowest, model["turn_lowest"])

    def end(self) -> bool:
        """End a round; returns whether it was the last."""
        total, highest, lowest = self._total, self._highest, self._lowest
        self._first = total if self._first is None else self._first
        self._begin()
        if self._loss in REGRESSION:
            return total <= self._tol * self._first
        return (highest if self._loss == "log_loss" else highest - lowest) <= self._tol
