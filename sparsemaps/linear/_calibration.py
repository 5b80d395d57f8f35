"""Probabilities of classes from their scores, and their calibration."""

from typing import Any, NamedTuple

import numpy as np
import scipy

from sparsemaps._tools._portable_math import weighted_sum
from sparsemaps._tools._typing import Array, Floats

RIDGE = 1e-3
"""Factor of the squared offsets in the objective of a calibration."""

_MOST_STEPS, _MOST_HALVES = 200, 60
"""Limits of Newton's method: steps, and halvings of a step."""

_LEAST_DECREASE = 1e-10
"""A step that promises a smaller relative decrease is the last one: the next decrease would be
about its square."""

_TOGETHER = 2**17
"""Scores of labels that are calibrated together, so that they stay in the cache."""

_LARGEST = np.finfo(float).max / 8
"""Parts of logits are clipped to this size, so that their sums and differences are finite."""


class Calibration(NamedTuple):
    """A calibration. The probabilities of the classes are the softmax of ``slope * s + (bend * s) *
    |bend * s| + offsets``, for scores s.

    If rows may have several labels, the probability of each label is the logistic function of this.
    """

    slope: Any
    """At least 0: the inverse temperature. An array with one value per label if rows may have
    several labels."""
    bend: Any
    """At least 0, in the same form as `slope`. 0 means the same temperature for all scores. It has
    the unit of a slope, so that it is representable for scores of any size."""
    offsets: Floats
    """One per class, with sum 0; or one per label."""


def fit(scores: Floats, labels: Array, weights: Array | None) -> Calibration:
    """Return the calibration with the least log loss on some rows.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, 1 or n_classes)
        Scores, as returned by a model.
    labels : ndarray of shape (n_rows,)
        Class number of each row.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows; None means 1 for all.

    Notes
    -----
    The objective is the weighted sum over rows of the log loss for targets with Platt's prior
    counts, plus RIDGE times the sum of the squared offsets. With K classes, a row in a class of N
    rows has the target (N + 2 / K) / (N + 4 / K) for this class, and the other classes share the
    rest: this adds two rows in total, as Platt does for two classes. The objective is convex in the
    slope, the square of the bend, and the offsets, and its minimum is finite.
    """
    if weights is None:
        weights = np.ones(len(labels))
    counts = weights > 0
    scores, labels, weights = scores[counts], labels[counts], weights[counts]
    if scores.shape[1] == 1:
        [slope], [bend], [offset] = _of_two_classes(scores.T, labels[None] == 1, weights)
        # Each class gets half of the score, and a quarter of its square, so twice that is a half.
        return Calibration(slope, 2**0.5 * bend, np.array([-offset / 2, offset / 2]))
    n_classes, own = scores.shape[1], (np.arange(len(labels)), labels)
    sums = np.bincount(labels, weights, n_classes)
    # Scale to numbers of size 1, whatever the scores; slope and bend are scaled back at the end.
    scores, exponent = _of_size_one(scores)
    best = scores.max(axis=1, keepdims=True)
    gaps, of_gaps = _of_size_one(scores - best)
    bends, of_bends = _of_size_one(_signed_squares(scores, best, scores - best))
    prior = 2 / n_classes
    shares = prior / ((sums + 2 * prior) * (n_classes - 1))
    targets = np.repeat(shares[labels, None], n_classes, axis=1)
    targets[own] = ((sums + prior) / (sums + 2 * prior))[labels]
    # Offsets are measured in units of their curvature, which the rows of their class determine.
    units = 1 / np.sqrt(sums + 1)

    def objective(variables: Floats) -> tuple[float, Floats]:
        (slope, square), offsets = variables[:2], variables[2:] * units
        logs = log_softmax(slope * gaps + square * bends + offsets)
        likelihood = weighted_sum(weights, (targets * logs).sum(axis=1))
        value = RIDGE * weighted_sum(offsets, offsets) - likelihood
        excess = weights[:, None] * (np.exp(logs) - targets)
        of_offsets = excess.sum(axis=0) + 2 * RIDGE * offsets
        of_slopes = weighted_sum(excess, gaps), weighted_sum(excess, bends)
        return value, np.append(of_slopes, of_offsets * units)

    found = scipy.optimize.minimize(
        objective, np.append([1.0, 0.0], np.zeros(n_classes)), jac=True, method="L-BFGS-B",
        bounds=[(0, None)] * 2 + [(None, None)] * n_classes,
        options={"maxiter": 10**4, "maxfun": 10**5, "ftol": 0, "gtol": 1e-9 * weights.sum()},
    )  # fmt: skip
    slope = float(np.ldexp(found.x[0], -exponent - of_gaps))
    bend = float(np.ldexp(np.sqrt(np.ldexp(found.x[1], -of_bends)), -exponent))
    offsets = found.x[2:] * units
    return Calibration(slope, bend, offsets - offsets.mean())


def _of_size_one(numbers: Floats) -> tuple[Floats, int]:
    """Return numbers divided by a power of two so that they are at most 1, and its exponent."""
    exponent = int(np.frexp(np.abs(numbers).max())[1])
    return np.ldexp(numbers, -exponent), exponent


def _signed_squares(numbers: Floats, best: Floats, gaps: Floats) -> Floats:
    """Return the differences of ``x * |x|`` between numbers and the best ones, to the last digits.
    `gaps` are the differences between the numbers themselves, which are at most 0."""
    sums = np.abs(numbers) + np.abs(best)
    return np.where((numbers < 0) & (best > 0), -(numbers**2) - best**2, gaps * sums)


def fit_labels(scores: Floats, labels: Any, weights: Array | None) -> Calibration:
    """Return the calibrations of the labels, each computed separately as for two classes.

    `labels` is an indicator matrix in CSC format.
    """
    if weights is None:
        weights = np.ones(len(scores))
    n_labels, counts = scores.shape[1], weights > 0
    found, step = np.empty((3, n_labels)), max(1, _TOGETHER // max(len(scores), 1))
    for first in range(0, n_labels, step):
        some = slice(first, min(first + step, n_labels))
        is_own = labels[:, some].toarray().T != 0
        found[:, some] = _of_two_classes(
            np.ascontiguousarray(scores[counts, some].T), is_own[:, counts], weights[counts]
        )
    return Calibration(*found)


def _of_two_classes(scores: Floats, is_second: Array, weights: Array) -> Floats:
    """Return the calibrations with the least log loss for several problems of two classes: slopes,
    bends and offsets of ``slope * s + (bend * s) * |bend * s| + offset``, whose logistic function
    is the probability of the second class.

    `scores` and `is_second` have one row per problem. The objective is the same as in `fit`, whose
    two offsets are plus and minus half of the offset here.

    Notes
    -----
    Newton's method, for all problems at once. Since the slope and the square of the bend are at
    least 0, a step goes to the minimum of the quadratic model within these bounds, which is the
    best of the minima on its four faces. A step that does not decrease the objective enough is
    halved.
    """
    exponents = np.frexp(np.abs(scores).max(axis=1))[1]
    scores = np.ldexp(scores, -exponents[:, None])
    parts = np.stack([scores, scores * np.abs(scores), np.ones_like(scores)])
    seconds = (is_second * weights).sum(axis=1)
    firsts = weights.sum() - seconds
    of_seconds, of_firsts = (seconds + 1) / (seconds + 2), 1 / (firsts + 2)
    targets = np.where(is_second, of_seconds[:, None], of_firsts[:, None])

    def values(x: Floats, some: Array) -> Floats:
        """Return the objectives of some problems."""
        logits = np.einsum("vpn,pv->pn", parts[:, some], x)
        losses = np.maximum(logits, 0) - targets[some] * logits
        losses += np.log1p(np.exp(-np.abs(logits)))
        return (losses * weights).sum(axis=1) + RIDGE / 2 * x[:, 2] ** 2

    x = np.tile([1.0, 0.0, 0.0], (len(scores), 1))
    going = np.arange(len(scores))
    value = values(x, going)
    for _ in range(_MOST_STEPS):
        here, own = x[going], parts[:, going]
        logits = np.einsum("vpn,pv->pn", own, here)
        shares = scipy.special.expit(logits)
        excess = weights * (shares - targets[going])
        curvature = weights * shares * scipy.special.expit(-logits)
        gradient = np.stack([(excess * part).sum(axis=1) for part in own], axis=1)
        hessian = np.empty((len(going), 3, 3))
        for row, column in zip(*np.tril_indices(3), strict=True):
            sums = (curvature * own[row] * own[column]).sum(axis=1)
            hessian[:, row, column] = hessian[:, column, row] = sums
        gradient[:, 2] += RIDGE * here[:, 2]
        hessian[:, 2, 2] += RIDGE
        step = _newton_step(here, gradient, hessian)
        slope = (gradient * step).sum(axis=1)
        length = np.ones(len(going))
        tried = values(here + step, going)
        is_last = -slope <= _LEAST_DECREASE * value[going]
        for _ in range(_MOST_HALVES):
            worse = np.flatnonzero(~is_last & (tried > value[going] + 1e-4 * length * slope))
            if not len(worse):
                break
            length[worse] /= 2
            tried[worse] = values(here[worse] + length[worse, None] * step[worse], going[worse])
        x[going] = np.maximum(here + length[:, None] * step, [0, 0, -np.inf])
        value[going] = tried
        going = going[~is_last]
        if not len(going):
            break
    return np.stack(
        [np.ldexp(x[:, 0], -exponents), np.ldexp(np.sqrt(x[:, 1]), -exponents), x[:, 2]]
    )


def _newton_step(x: Floats, gradient: Floats, hessian: Floats) -> Floats:
    """Return the steps to the minima of quadratic models, subject to the first two variables
    staying at least 0."""
    hessian = hessian.copy()
    for number in range(3):  # regularise unused or equal variables, so that a minimum exists
        own = hessian[:, number, number]
        hessian[:, number, number] = np.where(own > 0, own * (1 + 1e-12), 1.0)
    best, least = np.zeros_like(x), np.full(len(x), np.inf)
    for at_zero in ([], [0], [1], [0, 1]):
        matrix, right = hessian.copy(), -gradient
        matrix[:, at_zero] = np.eye(3)[at_zero]
        right[:, at_zero] = -x[:, at_zero]
        step = np.linalg.solve(matrix, right[:, :, None])[:, :, 0]
        step[:, at_zero] = -x[:, at_zero]
        value = (step * gradient).sum(axis=1) + np.einsum("pi,pij,pj->p", step, hessian, step) / 2
        is_better = (value < least) & (x + step >= [0, 0, -np.inf]).all(axis=1)
        best[is_better], least[is_better] = step[is_better], value[is_better]
    return best


def logits_of_labels(scores: Floats, calibration: Calibration | None) -> Floats:
    """Return the logits of the labels. Their logistic function is the probability of each label."""
    if calibration is None:
        return np.clip(scores, -_LARGEST, _LARGEST)
    with np.errstate(over="ignore"):
        logits = np.clip(scores * calibration.slope, -_LARGEST, _LARGEST)
        bent = scores * calibration.bend
        logits += np.clip(bent * np.abs(bent), -_LARGEST, _LARGEST)
    return logits + calibration.offsets


def _of_classes(scores: Floats) -> Floats:
    """Return one column per class: for two classes, half the score for and against each."""
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[1] == 1 else scores


def _parts(logits: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the differences from the largest logit of each row, their exponentials, and the sum of
    the exponentials without the one of the largest logit, which is 1."""
    best = logits.argmax(axis=1)[:, None]
    differences = logits - np.take_along_axis(logits, best, axis=1)
    powers = np.exp(differences)
    others = powers.copy()
    np.put_along_axis(others, best, 0.0, axis=1)
    return differences, powers, others.sum(axis=1, keepdims=True)


def log_softmax(logits: Floats) -> Floats:
    """Return the logarithms of `softmax`. They are finite, and precise even for probabilities near
    1."""
    differences, _, rest = _parts(logits)
    return differences - np.log1p(rest)


def softmax(logits: Floats) -> Floats:
    """Return the exponentials, divided by their sum."""
    _, powers, rest = _parts(logits)
    return powers / (1 + rest)


def logits_of(scores: Floats, calibration: Calibration | None) -> Floats:
    """Return logits, one column per class, whose softmax is the probabilities.

    Without a calibration, they are logarithms of the logistic function of the scores; with several
    classes, the values of this function are thus divided by their sum.
    """
    if calibration is not None:
        slope, bend, offsets = calibration
        scores = _of_classes(scores)
        best = scores.max(axis=1, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore"):
            # Offsets matter even if scores are large and equal.
            gaps = np.maximum(scores - best, -_LARGEST)
            logits = np.maximum(gaps * slope, -_LARGEST)
            if bend:
                squares = _signed_squares(scores * bend, best * bend, gaps * bend)
                logits += np.where(gaps < 0, np.maximum(squares, -_LARGEST), 0)
        return logits + offsets
    if scores.shape[1] == 1:
        return np.clip(_of_classes(scores), -_LARGEST, _LARGEST)
    return np.clip(scipy.special.log_expit(scores), -_LARGEST, 0)
