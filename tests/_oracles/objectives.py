"""Objectives of linear models, by definition."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sparsemaps.codes import unpack

EPSILON = 0.1


def features(packed, intercept=1.0):
    """One-hot features of codes, and the feature of the intercept."""
    columns = unpack(packed) + (np.arange(packed.n_hashes) << packed.bits)
    Z = np.zeros((len(packed), packed.n_hashes << packed.bits))
    np.put_along_axis(Z, columns, 1 / np.sqrt(packed.n_hashes), axis=1)
    Z *= packed.sampled[:, None]
    return np.hstack([Z, np.full((len(packed), 1), intercept)])


def _beyond(y, scores):
    return np.maximum(np.abs(scores - y) - EPSILON, 0)


class Loss(NamedTuple):
    """A loss as a function of y, which is -1, 1 or a target, and of the score, with its slope in
    the score. At a kink, the slope is one of the subgradients."""

    value: Callable
    slope: Callable
    is_regression: bool = False


LOSSES = {
    "squared_hinge": Loss(
        lambda y, scores: np.maximum(1 - y * scores, 0) ** 2,
        lambda y, scores: -2 * y * np.maximum(1 - y * scores, 0),
    ),
    "hinge": Loss(
        lambda y, scores: np.maximum(1 - y * scores, 0),
        lambda y, scores: np.where(y * scores < 1, -y, 0.0),
    ),
    "log_loss": Loss(
        lambda y, scores: np.logaddexp(0, -y * scores),
        lambda y, scores: -y / (1 + np.exp(y * scores)),
    ),
    "squared_epsilon_insensitive": Loss(
        lambda y, scores: _beyond(y, scores) ** 2,
        lambda y, scores: 2 * np.sign(scores - y) * _beyond(y, scores),
        is_regression=True,
    ),
    "epsilon_insensitive": Loss(
        _beyond,
        lambda y, scores: np.sign(scores - y) * (_beyond(y, scores) > 0),
        is_regression=True,
    ),
}


def losses(loss, y, scores):
    """Return the loss of each row."""
    return LOSSES[loss].value(y, scores)


def objective(loss, C, Z, y, coef, intercept, scaling=1.0, weights=1.0):
    """Return the objective that a model minimises."""
    square = coef @ coef + (intercept / scaling) ** 2
    return square / 2 + C * (weights * losses(loss, y, Z @ coef + intercept)).sum()


def dual_objective(loss, costs, Z, y, betas, near, reach=100.0):
    """Return a lower bound of the least objective, for any betas: minus the conjugates of the
    losses and half the squared norm of the weights ``betas @ Z``.

    A conjugate is the maximum of ``slope * score - loss`` over all scores. It is searched within
    `reach` of the scores `near`: with good betas and rows of length 1, no model has it elsewhere.
    """
    slopes = -betas / costs

    def height(scores):
        return slopes * scores - losses(loss, y, scores)

    low, high = near - reach, near + reach
    for _ in range(150):  # concave, so a third of the range can be excluded
        one, other = low + (high - low) / 3, high - (high - low) / 3
        rises = height(one) < height(other)
        low, high = np.where(rises, one, low), np.where(rises, high, other)
    w = betas @ Z
    return -(costs * height((low + high) / 2)).sum() - w @ w / 2


def is_bounded(loss):
    """Return whether the loss grows at most linearly far away."""
    return abs(LOSSES[loss].slope(np.ones(1), np.array([-1e9]))[0]) < 2
