"""The spectrum of a product kernel, as a table of quantiles."""

from collections.abc import Callable

import numpy as np

from sparsemaps._loops import maps as _loops
from sparsemaps._loops import rows as _functions
from sparsemaps._tools._typing import Array

Quantile = Callable[[Array], Array]

_LARGEST = 1e38
"""Largest quantile, so that differences of two quantiles are finite in float32."""


def table(quantile: Quantile) -> Array:
    """Return the quantiles at the midpoints of equal parts of (0, 1), with the first and the last
    one repeated.

    The loops draw numbers by linear interpolation between two quantiles (``projection.h``).
    """
    n = _loops.N_PARTS
    middles = (np.arange(n) + 0.5) / n
    values = np.asarray(quantile(middles.copy()), float)
    if values.shape != middles.shape or not (np.abs(values) <= _LARGEST).all():
        raise ValueError(
            "spectrum must return a number for each probability, none above 1e38 in absolute value"
        )
    falls = np.flatnonzero(np.diff(values) < 0)
    if len(falls):
        at = falls[0]
        raise ValueError(
            "spectrum must be a quantile function, which never falls, got "
            f"{values[at]:.6g} at {middles[at]:.6g} and {values[at + 1]:.6g} at "
            f"{middles[at + 1]:.6g}"
        )
    mirrored = -values[::-1]
    uneven = np.abs(values - mirrored) > 1e-6 * np.abs(values) + 1e-9 * np.abs(values).max()
    if uneven.any():
        at = np.flatnonzero(uneven)[0]
        raise ValueError(
            "spectrum must be symmetric about 0, with spectrum(1 - u) = -spectrum(u), got "
            f"{values[at]:.6g} at {middles[at]:.6g} and {-mirrored[at]:.6g} at "
            f"{1 - middles[at]:.6g}"
        )
    upper = ((values + mirrored) / 2)[n // 2 :].astype(np.float32)
    whole = np.concatenate([-upper[::-1], upper])
    return np.concatenate([whole[:1], whole, whole[-1:]])


def factor(quantiles: Array, gamma: float) -> Callable[[Array], Array]:
    """Return one column's factor of the kernel, as a function of the difference: the mean of
    cos(gamma * difference * w) over the numbers w that the loops draw."""
    # By symmetry, only the segments from 0 up are used; the first and the last one have half the
    # weight. The loop needs a multiple of 8 segments, so segments of weight 0 are added.
    upper = quantiles[len(quantiles) // 2 :].astype(float)
    knots = np.concatenate([[0.0], upper, np.repeat(upper[-1], 7)]) / (2 * np.pi)
    weights = np.full(len(upper) + 7, 2 / _loops.N_PARTS)
    weights[[0, len(upper) - 1]] /= 2
    weights[len(upper) :] = 0

    def of_differences(differences: Array) -> Array:
        unique, places = np.unique(gamma * differences, return_inverse=True)
        _functions.mean_cosines(unique, weights, knots)
        return unique[places]

    return of_differences
