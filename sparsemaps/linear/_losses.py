"""The losses. Each one defines the objective, its dual, and the stopping rule of the solver.

The compiled solver has a function for each loss (``_loops/c/linear/losses.h``). Everything else
about a loss is defined here: types, checks, docstrings, the command's option ``--loss``, and the
documentation.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import scipy

from sparsemaps._tools._portable_math import weighted_sum
from sparsemaps._tools._typing import Array

OfClasses = Literal["squared_hinge", "hinge", "log_loss"]
OfNumbers = Literal["squared_epsilon_insensitive", "epsilon_insensitive"]


class End(IntEnum):
    """Stopping rules of the solver. The numbers are the same as in ``c/linear/dual_descent.h``."""

    BY_RANGE = 0
    """The range of the projected gradients of the dual problem is within the tolerance."""
    BY_LARGEST = 1
    """The largest gradient of the dual problem is below the tolerance."""
    BY_SUM = 2
    """The sum of the violations is at most the tolerance times the sum of the first pass."""


@dataclass(frozen=True)
class Loss(ABC):
    """A convex function of the score of a row, and its dual.

    The dual problem has one variable per row. Each row has a cost: C times its weights.
    """

    name: str
    """Value of the parameter `loss`."""

    is_regression: bool
    """Whether y is a number rather than -1 or 1."""

    formula: str
    """The loss as a function of y and the score, for the documentation."""

    has_probabilities: ClassVar[bool] = False
    """Whether the logistic function of a score is a probability."""

    @property
    @abstractmethod
    def end(self) -> End:
        """Stopping rule of the solver."""

    @abstractmethod
    def primal(self, y: Array, scores: Array, epsilon: float) -> Array:
        """Return the loss of each row."""

    @abstractmethod
    def dual(self, y: Array, variables: Array, costs: Array, epsilon: float) -> float:
        """Return the dual objective without the squared-weights term, given the solver's variables
        of rows with positive costs."""

    @abstractmethod
    def scale(
        self, ratio: float, y: Array, variables: Array, costs: Array, square: float, epsilon: float
    ) -> float:
        """Multiply the variables in place, as the starting point for `ratio` times the previous C,
        and return the factor.

        Among the multiples that the new `costs` allow, this one has the highest dual objective.
        `square` is the squared norm of the weights of the solution.
        """


@dataclass(frozen=True)
class QuadraticLoss(Loss):
    """A loss of the distance d by which a score misses its goal, with a quadratic dual: the maximum
    of ``a d - curvature a^2 / 2`` over a >= 0, or over a from 0 to 1.

    The distance is ``1 - y score`` for classes, and ``|score - y| - epsilon`` for numbers. The
    variable of a row is a times its cost; for numbers, it has the sign of ``y - score``.
    """

    curvature: float
    is_bounded: bool
    """Whether a is at most 1, so that the loss grows linearly for large d."""

    @property
    def end(self) -> End:
        return End.BY_SUM if self.is_regression else End.BY_RANGE

    def primal(self, y: Array, scores: Array, epsilon: float) -> Array:
        beyond = np.abs(scores - y) - epsilon if self.is_regression else 1 - y * scores
        distances = np.maximum(beyond, 0)
        if not self.is_bounded:
            return distances**2 / (2 * self.curvature)
        if self.curvature == 0:
            return distances
        slopes = np.minimum(distances / self.curvature, 1)
        return slopes * distances - self.curvature / 2 * slopes**2

    def dual(self, y: Array, variables: Array, costs: Array, epsilon: float) -> float:
        return float(
            self._linear(y, variables, epsilon) - self.curvature / 2 * (variables**2 / costs).sum()
        )

    def _linear(self, y: Array, variables: Array, epsilon: float) -> float:
        if not self.is_regression:
            return float(variables.sum())
        return float((y * variables).sum() - epsilon * np.abs(variables).sum())

    def scale(
        self, ratio: float, y: Array, variables: Array, costs: Array, square: float, epsilon: float
    ) -> float:
        some = costs > 0
        linear = self._linear(y, variables, epsilon)
        square += self.curvature * float((variables[some] ** 2 / costs[some]).sum())
        factor = linear / square if linear > 0 and square > 0 else 1.0
        if self.is_bounded:
            sizes = np.abs(variables)
            used = sizes > 0
            with np.errstate(over="ignore"):
                factor = min(factor, float((costs[used] / sizes[used]).min(initial=np.inf)))
        variables *= factor
        if self.is_bounded:
            np.clip(variables, -costs, costs, out=variables)
        return factor


@dataclass(frozen=True)
class LogLoss(Loss):
    """The loss of logistic regression: ``log(1 + exp(-y score))``.

    A variable is above 0 and below the cost of its row. To lose no digits, the solver stores the
    smaller of its distances to these two bounds: the distance to 0, or minus the distance to the
    cost.
    """

    has_probabilities = True

    @property
    def end(self) -> End:
        return End.BY_LARGEST

    def primal(self, y: Array, scores: Array, epsilon: float) -> Array:
        return np.logaddexp(0, -y * scores)

    def dual(self, y: Array, variables: Array, costs: Array, epsilon: float) -> float:
        near = np.abs(variables)
        shares = near / costs
        far = scipy.special.xlog1py(costs - near, -shares)
        return float(-(scipy.special.xlogy(near, shares) + far).sum())

    def scale(
        self, ratio: float, y: Array, variables: Array, costs: Array, square: float, epsilon: float
    ) -> float:
        near, far = np.abs(variables), costs / ratio - np.abs(variables)
        alpha, rest = np.where(variables < 0, [far, near], [near, far])
        some = costs > 0  # the others have no variable
        used, tops = alpha[some], costs[some]

        def falls(factor: float) -> float:
            """Return the negative derivative of the dual objective with respect to the factor."""
            own, others = factor * used, tops - factor * used
            of_rows = scipy.special.xlogy(used, others) - scipy.special.xlogy(used, own)
            return factor * square - float(of_rows.sum())

        low, high = 1e-9 * ratio, (1 - 1e-9) * ratio
        if falls(low) >= 0:
            factor = low
        elif falls(high) <= 0:
            factor = high
        else:
            factor = float(scipy.optimize.brentq(falls, low, high, xtol=1e-12 * ratio, rtol=1e-3))
        alpha, rest = factor * alpha, factor * rest + (1 - factor / ratio) * costs
        variables[:] = np.where(alpha <= rest, alpha, -rest)
        return factor


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        QuadraticLoss(
            name="squared_hinge", is_regression=False, formula="max(0, 1 - y score)^2",
            curvature=0.5, is_bounded=False,
        ),
        QuadraticLoss(
            name="hinge", is_regression=False, formula="max(0, 1 - y score)",
            curvature=0.0, is_bounded=True,
        ),
        LogLoss(name="log_loss", is_regression=False, formula="log(1 + exp(-y score))"),
        QuadraticLoss(
            name="squared_epsilon_insensitive", is_regression=True,
            formula="max(0, abs(score - y) - epsilon)^2", curvature=0.5, is_bounded=False,
        ),
        QuadraticLoss(
            name="epsilon_insensitive", is_regression=True,
            formula="max(0, abs(score - y) - epsilon)", curvature=0.0, is_bounded=True,
        ),
    )
}  # fmt: skip
"""The losses by name. The first one of classes and the first one of numbers are the defaults."""

WITH_PROBABILITIES = tuple(name for name, loss in LOSSES.items() if loss.has_probabilities)
"""Names of the losses that have probabilities without a calibration."""


def names(*, of_regression: bool) -> tuple[str, ...]:
    """Return the names of the losses for numbers or for classes."""
    return tuple(name for name, loss in LOSSES.items() if loss.is_regression == of_regression)


_LARGEST_RATIO = 1e300
"""Largest ratio of two values of C; larger ratios are treated as this one."""


class Objective(NamedTuple):
    """The objective of a model: half its squared weights plus C times the sum of the losses."""

    loss: Loss
    C: float
    epsilon: float
    """In regression, the size of errors that are ignored."""
    bias: float
    """Value of the constant feature, whose weight determines the intercept."""

    def primal(self, y: Array, scores: Array, weights: Array | None) -> float:
        """Return C times the sum of the losses. `y` is -1 or 1 per row, or the targets; `weights`
        are weights of rows, or None if all are 1."""
        losses = self.loss.primal(y, scores, self.epsilon)
        return self.C * (float(losses.sum()) if weights is None else weighted_sum(weights, losses))

    def dual(self, y: Array, variables: Array, weights: Array | None) -> float:
        """Return the dual objective without the squared-weights term, given the solver's
        variables."""
        costs = self._costs(y, weights)
        some = costs > 0  # the others have no variable
        return self.loss.dual(y[some], variables[some], costs[some], self.epsilon)

    def scale(
        self, C: float, y: Array, variables: Array, weights: Array | None, square: float
    ) -> float:
        """Multiply the variables of a solution in place, as the starting point for a larger C, and
        return the factor (see ``Loss.scale``)."""
        costs = self._replace(C=C)._costs(y, weights)
        ratio = min(C / self.C, _LARGEST_RATIO)
        return self.loss.scale(ratio, y, variables, costs, square, self.epsilon)

    def _costs(self, y: Array, weights: Array | None) -> Array:
        return self.C * (np.ones(len(y)) if weights is None else weights)


class Rounds:
    """The stopping rule of a model for rounds over all blocks, from the violations first met in
    each round. The solver has the same rule for its passes over one block."""

    def __init__(self, end: End, tol: float) -> None:
        self._end, self._tol = end, tol
        self._of_first_round = math.nan
        self._begin()

    def _begin(self) -> None:
        self._total = self._highest = self._lowest = 0.0

    def add(self, model: dict[str, float]) -> None:
        """Add a block: the sum of its violations, and the highest and the lowest of them."""
        self._total += model["turn_violation"]
        self._highest = max(self._highest, model["turn_highest"])
        self._lowest = min(self._lowest, model["turn_lowest"])

    def is_last(self) -> bool:
        """End the round, begin the next one, and return whether the next one is unnecessary."""
        total, highest, lowest = self._total, self._highest, self._lowest
        if math.isnan(self._of_first_round):
            self._of_first_round = total
        self._begin()
        if self._end == End.BY_SUM:
            return total <= self._tol * self._of_first_round
        return (highest if self._end == End.BY_LARGEST else highest - lowest) <= self._tol
