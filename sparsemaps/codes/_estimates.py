"""Estimates of the kernel from the number of codes that agree, and their standard errors.

There are four formulas. `CHANCE` is for samples that agree at the rate of the kernel; codes of
samples that differ agree with one probability. `SIGNS` is for bits of Fourier features. `PRODUCT`
is for codes of several maps side by side, each with its own probability. `NONE` is for codes whose
rate of agreement is no function of the kernel.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import special

from sparsemaps._tools._typing import Array

CHANCE = "chance"
PRODUCT = "product"
NONE = ""
SIGNS = {"signs:rbf": "rbf", "signs:laplacian": "laplacian"}

ESTIMATORS = (CHANCE, PRODUCT, NONE, *SIGNS)

_ADDED = 2
"""The number of agreements, and of differences, that are added for standard errors. Without them
the error would be 0 where no code agrees or all agree (Agresti & Coull 1998)."""


def of_counts(counts: Any, n_hashes: int, chance: float) -> tuple[Array, Array]:
    """The kernel where codes of samples that differ agree with probability `chance`."""
    rate = checked(counts, n_hashes) / n_hashes
    std = _error_of_rate(rate, n_hashes)[1]
    return (rate - chance) / (1 - chance), std / (1 - chance)


def of_signs(counts: Any, n_hashes: int, kernel: str) -> tuple[Array, Array]:
    """The kernel from bits of Fourier features."""
    rate = checked(counts, n_hashes) / n_hashes
    rates, values = signs_table(kernel)
    near, std = _error_of_rate(rate, n_hashes)
    slope = np.interp(near, rates, np.gradient(values, rates))
    return np.interp(rate, rates, values), std * slope


def of_products(
    both: Any, first: Any, second: Any, n_hashes: int, chances: tuple[float, float]
) -> tuple[Array, Array]:
    """The product of two kernels, from the numbers of joint codes, and of codes of each part, that
    agree.

    It is the mean over samples of a number that depends on which of the two codes agree.
    """
    p, q = chances
    both = checked(both, n_hashes)
    first, second = checked(first, n_hashes, "first"), checked(second, n_hashes, "second")
    if (both > np.minimum(first, second)).any() or (first + second - both > n_hashes).any():
        raise ValueError("counts, first and second must be counts of the same codes")
    counts = np.stack([both, first - both, second - both, n_hashes - first - second + both])
    numbers = np.array([1.0, -q / (1 - q), -p / (1 - p), p * q / ((1 - p) * (1 - q))])
    numbers = numbers.reshape(4, *[1] * both.ndim)
    kernel = (counts * numbers).sum(axis=0) / n_hashes
    added = np.array([_ADDED, 0, 0, _ADDED]).reshape(numbers.shape)
    shares = (counts + added) / (n_hashes + 2 * _ADDED)
    mean = (shares * numbers).sum(axis=0)
    variance = (shares * numbers**2).sum(axis=0) - mean**2
    return kernel, np.sqrt(np.maximum(variance, 0) / n_hashes)


def checked(counts: Any, n_hashes: int, name: str = "counts") -> Array:
    """`counts` as float64; each must be a number of codes from 0 to `n_hashes`."""
    if sp.issparse(counts):
        raise ValueError(f"{name} must be an array of numbers, got a sparse {counts.format} matrix")
    counts = np.asarray(counts)
    if counts.dtype.kind not in "biuf" and counts.size:
        raise ValueError(f"{name} must be an array of numbers, got one of {counts.dtype}")
    if counts.size and not (counts.min() >= 0 and counts.max() <= n_hashes):
        raise ValueError(
            f"{name} must be from 0 to n_hashes = {n_hashes}, got {counts.min()} to {counts.max()}"
        )
    return counts.astype(np.float64)  # integers of few bits would overflow in the formulas


def _error_of_rate(rate: Array, n_hashes: int) -> tuple[Array, Array]:
    """The rate after `_ADDED` agreements and differences, and the standard error at this rate."""
    near = (rate * n_hashes + _ADDED) / (n_hashes + 2 * _ADDED)
    return near, np.sqrt(near * (1 - near) / n_hashes)


@lru_cache
def signs_table(kernel: str) -> tuple[Array, Array]:
    """Rates at which bits agree, in ascending order, and the kernel's value at each rate."""
    if kernel == "rbf":  # K(c delta) = K**(c * c)
        roots = np.linspace(5, 0, 5001)
        total = np.zeros(len(roots))
        for odd in range(1, 8001, 2):
            total += np.exp(-((odd * roots) ** 2)) / odd**2
        total[-1] = np.pi**2 / 8
        values = np.exp(-(roots**2))
    else:  # of the Laplacian kernel, K(c delta) = K**c
        values = np.concatenate([np.linspace(0, 0.99, 2000), 1 - np.geomspace(0.0099, 1e-9, 2000)])
        values = np.append(values, 1.0)
        total = (special.spence(1 - values) - special.spence(1 + values)) / 2
    return 0.5 + 4 / np.pi**2 * total, values
