"""The probability that an estimate is within an error of the kernel, at a size of the map."""

import numpy as np
import scipy

from sparsemaps._tools._typing import Array
from sparsemaps.laws._moments import Moments


@np.errstate(over="ignore")  # an error of infinitely many deviations is never exceeded
def coverage(moments: Moments, size: int, error: float | Array) -> Array:
    """Return the probability that the error of the estimate is at most `error`, which must exceed
    the bias."""
    if moments.distribution == "binomial":
        return _binomial_coverage(moments, size, error / moments.span)
    # A float, because NumPy 1 converts integers beyond 64 bits to objects.
    variance = _largest_variance(moments, float(size))
    if moments.distribution == "normal":
        return _normal_coverage(variance, error - np.abs(moments.bias))
    if moments.distribution == "jumps":
        # A sum of jumps of equal size is normal after a continuity correction. If jumps are larger
        # than the error, only Chebyshev's inequality holds.
        slack = error - np.abs(moments.bias)
        by_chebyshev = 1 - np.minimum(np.sqrt(variance) / slack, 1) ** 2
        corrected = slack - moments.jump / 2
        by_jumps = _normal_coverage(variance, np.maximum(corrected, 0))
        return np.where(moments.jump <= slack, np.maximum(by_chebyshev, by_jumps), by_chebyshev)
    # For close rows, the cosine is nearly 1 - z^2 / 2 with z normal for "rbf", so the mean of
    # several z^2 / 2 is gamma distributed. For rows that are far apart, the gamma distribution is
    # close to the normal distribution except at the smallest sizes.
    mean = np.maximum(1 - moments.kernel, 1e-300)
    scale = np.maximum(variance, 1e-300) / mean
    above = scipy.special.gammainc(mean / scale, (mean + error) / scale)
    below = scipy.special.gammainc(mean / scale, np.maximum(mean - error, 0) / scale)
    return np.asarray(above - below)


def _largest_variance(moments: Moments, size: float) -> Array:
    """Return an upper bound of the variance that falls with the size: all blocks count as full, and
    components with negative covariance as independent."""
    if not moments.paired:
        return moments.variance(size)
    others = np.minimum(size / 2, moments.block) - 1
    return (moments.unit + 2 * others * np.maximum(moments.common, 0)) / size


def _binomial_coverage(moments: Moments, size: int, error: float | Array) -> Array:
    kernel = (moments.kernel - (1 - moments.span)) / moments.span
    rate = np.clip(kernel + moments.bias / moments.span, 0, 1)
    slack = 1e-9 * size  # errors of exactly the allowed size are accepted
    most = np.minimum(np.floor(size * (kernel + error) + slack), size)
    least = np.ceil(size * (kernel - error) - slack)
    below = np.where(least > 0, scipy.special.bdtr(np.maximum(least - 1, 0), size, rate), 0.0)
    return np.asarray(scipy.special.bdtr(np.maximum(most, 0), size, rate) - below)


def _normal_coverage(variance: Array, error: float | Array) -> Array:
    return np.asarray(scipy.special.erf(error / np.sqrt(2 * np.maximum(variance, 1e-300))))
