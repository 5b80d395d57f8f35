"""Functions that return the same bits on every platform (docs/promise.md).

NumPy and SciPy run different code on different processors, so the last bits of results differ. The
last bits of NumPy's complex products also depend on the shapes and addresses of arrays, and those
of inner products on the threads of BLAS.
"""

import math

import numpy as np
import numpy.typing as npt

from sparsemaps._loops import rows as _loops
from sparsemaps._tools._typing import Array


def _each(function: int, x: npt.ArrayLike, parameter: float = 0) -> Array:
    out = np.array(x, dtype=float, order="C")
    _loops.each(function, out.reshape(-1), parameter)
    return out


def weighted_sum(weights: Array, values: Array) -> float:
    """Return the sum of values, times their weights. On busy processors, it is also faster than the
    threads of BLAS, which wait for one another."""
    return float((weights * values).sum())


def length(x: Array) -> float:
    """Return the Euclidean length of a vector."""
    return math.sqrt(weighted_sum(x, x))


def exp(x: npt.ArrayLike) -> Array:
    """Return e^x."""
    return _each(_loops.EXP, x)


def acos(x: npt.ArrayLike) -> Array:
    """Return arccos(x) for -1 <= x <= 1."""
    return _each(_loops.ACOS, x)


def log_one_plus_square(x: npt.ArrayLike) -> Array:
    """Return ln(1 + x^2)."""
    return _each(_loops.LOG_ONE_PLUS_SQUARE, x)


def root(x: npt.ArrayLike, n: int) -> Array:
    """Return the n-th root of x > 0."""
    return _each(_loops.ROOT, x, n)


def real_power(x: Array, p: float) -> Array:
    """Return |x|^p with the sign of x, for nonzero x, within p |ln x| units in the last place.

    Raises ValueError if a result is infinite or 0.
    """
    if p == 1:
        return np.array(x, dtype=float)
    out = _each(_loops.POWER, abs(x), p)
    beyond = ~np.isfinite(out) | (out == 0)
    if beyond.any():
        raise ValueError(f"the value {x[beyond][0]} to the power of {p} is beyond float64")
    return np.copysign(out, x)


def gamma_quantile(shape: float, p: npt.ArrayLike) -> Array:
    """Return quantiles of the gamma distribution with scale 1, for probabilities 0 < p < 1."""
    return _each(_loops.GAMMA_QUANTILE, p, shape)


def cosine_quantile(dimension: int, p: npt.ArrayLike) -> Array:
    """Return quantiles of the cosine of the angle between a fixed and a uniform random
    direction."""
    return _each(_loops.COSINE_QUANTILE, p, dimension)


def multiply_complex(x: Array, y: Array) -> None:
    """Multiply complex `x`, of two dimensions, by `y` in place. `y` has the same shape or one
    row."""
    numbers = x.real.dtype
    _loops.multiply_complex(x.view(numbers), np.atleast_2d(y).view(numbers))


def power(x: Array, n: int) -> Array:
    """Return x^n for n >= 1, by repeated squaring. `x` may be changed in place."""
    while n % 2 == 0:
        np.multiply(x, x, out=x)
        n //= 2
    out = x.copy() if n > 1 else x
    while n > 1:
        np.multiply(x, x, out=x)
        n //= 2
        if n % 2:
            np.multiply(out, x, out=out)
    return out


def powers(x: float, count: int) -> Array:
    """Return x^n for n < count and x >= 0, correctly rounded. Powers are computed as ratios of
    exact integers."""
    numerator, denominator = float(x).as_integer_ratio()
    out = np.ones(count)
    above = below = 1
    for n in range(1, count):
        above *= numerator
        below *= denominator
        try:
            out[n] = above / below
        except OverflowError:
            out[n:] = math.inf
            break
        if out[n] == 0:
            out[n:] = 0
            break
    return out
