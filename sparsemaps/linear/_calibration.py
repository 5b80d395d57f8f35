"""Probabilities of classes from their scores, and the calibration that makes them so."""

from typing import Any, NamedTuple

import numpy as np
import scipy

from sparsemaps._tools._typing import Array, Floats

RIDGE = 1e-3
"""The factor of the squares of the offsets in the objective of a calibration."""

_LARGEST = np.finfo(float).max / 8
"""Scores times a slope are cut here, so that differences of two are finite."""


class Calibration(NamedTuple):
    """The probabilities of the classes are the softmax of ``slope * scores + offsets``.

    If a row may have several labels, the probability of each is the logistic function of this.
    """

    slope: Any
    """At least 0: one over the temperature. An array of one for each label, if a row may have
    several."""
    offsets: Floats
    """One for each class, whose sum is 0; or one for each label."""


def fit(scores: Floats, labels: Array, weights: Array | None) -> Calibration:
    """Return the calibration of the least log loss on some rows.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, 1 or n_classes)
        As a model gives them.
    labels : ndarray of shape (n_rows,)
        The number of the class of each row.
    weights : ndarray of shape (n_rows,) or None
        Weights of the rows; None is 1 for all.

    Notes
    -----
    The objective is the sum over rows, by their weights, of the log loss for targets with Platt's
    prior counts, and RIDGE times the sum of the squares of the offsets. Of K classes, a row of a
    class of N rows has a target of (N + 2 / K) / (N + 4 / K) for this class, and the rest is shared
    by the others: two rows in all, as Platt has it for two classes. It is convex in slope and
    offsets, and its minimum is finite.
    """
    if weights is None:
        weights = np.ones(len(labels))
    counts = weights > 0
    scores, labels, weights = _of_classes(scores[counts]), labels[counts], weights[counts]
    n_classes, own = scores.shape[1], (np.arange(len(labels)), labels)
    sums = np.bincount(labels, weights, n_classes)
    # Scores between -1 and 0, whatever their size; the slope is divided by theirs at the end.
    with np.errstate(over="ignore"):
        scores = scores / 2 - scores.max(axis=1, keepdims=True) / 2
    exponent = int(np.frexp(np.abs(scores).max())[1])
    scores = np.ldexp(scores, -exponent)
    prior = 2 / n_classes
    shares = prior / ((sums + 2 * prior) * (n_classes - 1))
    targets = np.repeat(shares[labels, None], n_classes, axis=1)
    targets[own] = ((sums + prior) / (sums + 2 * prior))[labels]
    # Offsets are measured in units of their curvature, which is that of the rows of their class.
    units = 1 / np.sqrt(sums + 1)

    def objective(variables: Floats) -> tuple[float, Floats]:
        slope, offsets = variables[0], variables[1:] * units
        logs = log_softmax(slope * scores + offsets)
        value = -float(weights @ (targets * logs).sum(axis=1)) + RIDGE * float(offsets @ offsets)
        excess = weights[:, None] * (np.exp(logs) - targets)
        of_offsets = excess.sum(axis=0) + 2 * RIDGE * offsets
        return value, np.append((excess * scores).sum(), of_offsets * units)

    found = scipy.optimize.minimize(
        objective, np.append(1.0, np.zeros(n_classes)), jac=True, method="L-BFGS-B",
        bounds=[(0, None)] + [(None, None)] * n_classes,
        options={"maxiter": 10**4, "maxfun": 10**5, "ftol": 0, "gtol": 1e-9 * weights.sum()},
    )  # fmt: skip
    offsets = found.x[1:] * units
    return Calibration(float(np.ldexp(found.x[0], -exponent - 1)), offsets - offsets.mean())


def fit_labels(scores: Floats, labels: Any, weights: Array | None) -> Calibration:
    """Return the calibrations of the labels, each by itself as of two classes.

    `labels` is an indicator matrix, as CSC.
    """
    slopes, offsets = np.empty((2, scores.shape[1]))
    for number in range(scores.shape[1]):
        own = np.zeros(len(scores), np.intp)
        own[labels.indices[labels.indptr[number] : labels.indptr[number + 1]]] = 1
        slope, (first, second) = fit(scores[:, number : number + 1], own, weights)
        slopes[number], offsets[number] = slope, second - first
    return Calibration(slopes, offsets)


def logits_of_labels(scores: Floats, calibration: Calibration | None) -> Floats:
    """Return the numbers whose logistic function is the probability of each label."""
    if calibration is None:
        return np.clip(scores, -_LARGEST, _LARGEST)
    with np.errstate(over="ignore"):
        logits = np.clip(scores * calibration.slope, -_LARGEST, _LARGEST)
    return logits + calibration.offsets


def _of_classes(scores: Floats) -> Floats:
    """Return a column for each class: of two classes, half the score for and against each."""
    return np.hstack([-scores / 2, scores / 2]) if scores.shape[1] == 1 else scores


def _parts(logits: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the differences from the largest logit of a row, their exponentials, and the sum of
    these without that of the largest, which is 1."""
    best = logits.argmax(axis=1)[:, None]
    differences = logits - np.take_along_axis(logits, best, axis=1)
    powers = np.exp(differences)
    others = powers.copy()
    np.put_along_axis(others, best, 0.0, axis=1)
    return differences, powers, others.sum(axis=1, keepdims=True)


def log_softmax(logits: Floats) -> Floats:
    """Return the logarithms of `softmax`: finite, and without cancellation also for shares near
    1."""
    differences, _, rest = _parts(logits)
    return differences - np.log1p(rest)


def softmax(logits: Floats) -> Floats:
    """Return the exponentials divided by their sum."""
    _, powers, rest = _parts(logits)
    return powers / (1 + rest)


def logits_of(scores: Floats, calibration: Calibration | None) -> Floats:
    """Return the numbers whose softmax is the probabilities, a column for each class.

    Without a calibration they are logarithms of the logistic function of the scores: of several
    classes, the shares of which are divided by their sum.
    """
    if calibration is not None:
        scores = _of_classes(scores)
        with np.errstate(over="ignore"):  # offsets count beside scores that are large and equal
            differences = np.maximum(scores - scores.max(axis=1, keepdims=True), -_LARGEST)
            logits = np.maximum(differences * calibration.slope, -_LARGEST)
        return logits + calibration.offsets
    if scores.shape[1] == 1:
        return np.clip(_of_classes(scores), -_LARGEST, _LARGEST)
    return np.clip(scipy.special.log_expit(scores), -_LARGEST, 0)
