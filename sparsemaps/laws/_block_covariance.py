"""The covariance of two components of a block: cosines of Fastfood, and signs."""

import numpy as np
import scipy

from sparsemaps._tools._typing import Array

_N_TERMS = 200
"""Terms of a series in x of at most `_LARGEST_EXPONENT`; later terms are below 1e-30."""

_LARGEST_EXPONENT = 50.0
"""Largest -log of the kernel. Kernels of rows farther apart are 0 up to 1e-21."""

_N_ORDERS = 12

_N_ANGLES = 20_001


def covariance_in_block(kernel: Array, peak: Array, width: int) -> Array:
    r"""Return the covariance of two cosines in a block of Fastfood, for the Gaussian kernel.

    Let v be the difference of the rows, times the root of 2 gamma, d the width, h = d / 2, and
    x = |v|^2 / 2, so that the kernel is exp(-x). Two projections are the products of independent
    lengths, chi distributed, with the inner products of a vector g, uniform on the sphere, and two
    vectors of length |v| whose cosine r depends on the signs B and the permutation. Averaged over g
    and the lengths, the product of their cosines is

        sum over m = 0, 1, ... of (2 x r)^(2 m) (h)_m^2 / ((2 m)! (h)_2m)
                                  * 1F1(2 h + 2 m, h + 2 m, -x),

    with (h)_m the rising factorial. The mean of r^2 is s = (2 - 2 peak) / (d - 1). The higher
    moments of r are approximated by moments of a normal variable, but by at most s, as \|r\| <= 1.
    The covariance is exact if the rows differ in one column, or if d is 2 and the columns differ
    equally; otherwise it is too large by terms of order s^2.
    """
    x = -np.log(np.maximum(kernel, np.exp(-_LARGEST_EXPONENT)))
    half = width / 2
    square = (2 - 2 * np.maximum(peak, 1 / width)) / (width - 1)
    covariance = _kummer(x, half, 0, less_kernel=True)
    factor, normal_moment = np.ones_like(x), np.ones_like(x)
    for m in range(1, _N_ORDERS + 1):
        # Update (h)_m^2 / (h)_2m, (2 x)^2m / (2 m)! and the moment of r of order 2 m.
        of_lengths = (half + m - 1) ** 2 / ((half + 2 * m - 2) * (half + 2 * m - 1))
        factor = factor * of_lengths * (2 * x) ** 2 / ((2 * m - 1) * (2 * m))
        normal_moment = normal_moment * (2 * m - 1) * square
        term = factor * _kummer(x, half, m)
        if m > 1:
            term = np.maximum(term, 0)
        covariance = covariance + term * np.minimum(normal_moment, square)
    return covariance


def _kummer(x: Array, half: float, m: int, less_kernel: bool = False) -> Array:
    """Return 1F1(2 h + 2 m, h + 2 m, -x), or with `less_kernel` this minus exp(-2 x), to full
    relative precision.

    By Kummer's transformation, it is exp(-x) 1F1(-h, h + 2 m, x).
    """
    term, factor, total = np.exp(-x), 0.0 if less_kernel else 1.0, np.zeros_like(x)
    for n in range(_N_TERMS):
        total += term * factor
        factor *= (half - n) / (half + 2 * m + n)
        if less_kernel:  # `factor` is a ratio minus 1, here and for the next term
            factor -= (2 * m + 2 * n) / (half + 2 * m + n)
        term = term * (-x) / (n + 1)
    return total


def covariance_of_signs(kernel: Array, width: int) -> Array:
    r"""Return the covariance of two bits of one block. A bit says whether signs of two rows agree.

    `kernel` is the probability that they agree. For directions that are uniform on the sphere, two
    orthogonal directions are projected on the plane of the rows. In d dimensions, their 2 x 2
    matrix W has a density proportional to det(I - W W^T)^((d - 5) / 2), so their angle x in the
    plane has a density proportional to 2F1(1, 1; (d + 1) / 2; sin(x)^2). The signs of one vector
    differ if its direction lies in a double wedge of angle t = pi (1 - kernel). The probability
    that both differ is therefore 2 / pi times the integral of (t - x) over the density of x in (0,
    t), for t up to pi / 2; larger t behave like pi - t.
    """
    x = np.linspace(0, np.pi / 2, _N_ANGLES)
    density = scipy.special.hyp2f1(1, 1, (width + 1) / 2, np.sin(x[:-1]) ** 2)
    density = np.append(density, (width - 1) / (width - 3))  # SciPy returns NaN here for many d
    below = _integral(density)
    both = _integral(below / (2 * below[-1])) * 2 / np.pi
    # The covariance is t**2 times a factor, which is interpolated. The integral of the density is
    # pi / 2 * (d - 1) / (d - 2), which determines the factor at 0.
    factors = both[1:] / x[1:] ** 2 - 1 / np.pi**2
    factors = np.append(-1 / (np.pi**2 * (width - 1)), factors)
    t = np.pi * np.minimum(1 - kernel, kernel)
    return np.asarray(t**2 * np.interp(t, x, factors))


def _integral(values: Array) -> Array:
    """Return the integral of a function from 0 to each grid point in (0, pi / 2)."""
    steps = (values[1:] + values[:-1]) / 2 * (np.pi / 2) / (len(values) - 1)
    return np.concatenate([[0.0], np.cumsum(steps)])
