"""Tests of statistical statements: by standard errors, never by an arbitrary tolerance."""

import numpy as np
import pytest
from _data.chance import SEED

N_STANDARD_ERRORS = 5
"""A true statement fails with probability 6e-7."""

KS_LEVEL = 1e-6
"""Significance level of goodness-of-fit tests, likewise."""


def assert_mean(estimates, expected):
    """Assert that the mean over axis 0 is `expected`, within the standard errors of the
    estimates."""
    estimates = np.asarray(estimates, float)
    error = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    distance = np.abs(estimates.mean(axis=0) - expected)
    assert (distance <= N_STANDARD_ERRORS * error + 1e-12).all(), (
        f"{np.max(distance / np.maximum(error, 1e-300)):.1f} standard errors off"
    )


def assert_variance(estimates, expected, *, at_most=False, heavy=False):
    """Assert that the variance over axis 0 is `expected` (or at most that), within its standard
    error.

    With heavy tails, a sample that lacks its largest values has a variance and a standard error
    that are both too small: with `heavy`, the error is at least that of the expected variance with
    the kurtosis of the sample.
    """
    estimates = np.asarray(estimates, float)
    centred = estimates - estimates.mean(axis=0)
    variance = (centred**2).mean(axis=0)
    error = np.sqrt(((centred**4).mean(axis=0) - variance**2) / len(estimates))
    if heavy:
        error = error * np.maximum(1, expected / np.maximum(variance, 1e-300))
    excess = variance - expected
    distance = excess if at_most else np.abs(excess)
    assert (distance <= N_STANDARD_ERRORS * error + 1e-12).all(), (
        f"variance {variance} where {expected} is expected, standard error {error}"
    )


def assert_mean_of_variance(estimates, expected, variance):
    """Assert that the mean over axis 0 is `expected`, for estimates with at most the given
    variance.

    The test uses Catoni's bound ("Challenging the empirical mean and empirical variance", 2012),
    which holds for any law. With heavy tails, sample standard errors are too small exactly when the
    mean is, too. The test detects means that are 5.5 standard errors off.
    """
    from scipy import stats

    estimates, expected = np.asarray(estimates, float), np.asarray(expected, float)
    level = -stats.norm.logsf(N_STANDARD_ERRORS)
    rounding = 1e-24 * (1 + expected**2)
    scaled = estimates - expected
    scaled *= np.sqrt(2 * level / (len(estimates) * (variance + rounding)))
    sums = (np.sign(scaled) * np.log1p(np.abs(scaled) + scaled**2 / 2)).sum(axis=0)
    assert (np.abs(sums) <= 2 * level).all(), (
        f"sums {sums} beyond {2 * level:.1f}: mean {estimates.mean(axis=0)} where {expected} is "
        "expected"
    )


def assert_rate(agree, expected):
    """Assert that a rate of independent agreements (last axis) is `expected`, within its standard
    error."""
    n = agree.shape[-1]
    error = np.sqrt(expected * (1 - expected) / n)
    distance = np.abs(agree.mean(axis=-1) - expected)
    assert (distance <= N_STANDARD_ERRORS * error).all(), (
        f"{np.max(distance / np.maximum(error, 1e-300)):.1f} standard errors off"
    )


def assert_chance(happened, expected):
    """Assert that independent events (axis 0) have the expected probability, by the binomial
    distribution. Events that are so rare that none occur have no observable standard error."""
    from scipy import stats

    n, counts = len(happened), np.sum(happened, axis=0)
    fewer = stats.binom.cdf(counts, n, expected)
    more = stats.binom.sf(counts - 1, n, expected)
    least = np.minimum(fewer, more).min()
    assert least >= stats.norm.sf(N_STANDARD_ERRORS), f"a tail of {least:.1e}"


def assert_uniform(samples):
    """Assert that samples in [0, 1) are uniform, by a Kolmogorov-Smirnov test at the level
    above."""
    from scipy import stats

    p_value = stats.kstest(np.ravel(samples), "uniform").pvalue
    assert p_value >= KS_LEVEL, f"p-value {p_value:.1e}"


def structured_columns(n):
    """Return sets of n <= 60 columns below 2^62 by name, in ascending order, as encodings and grids
    make them."""
    i = np.arange(n)
    return {
        "random": np.sort(np.random.default_rng(SEED + 1).choice(10**6, n, replace=False)),
        "consecutive": i,
        "block after 2^40": 2**40 + i,
        "pairs of neighbours": 2000 * (i // 2) + i % 2,
        "multiples of 3": 3 * i,
        "multiples of 256": 256 * i,
        "multiples of 2^20": 2**20 * i,
        "multiples of 2^32": 2**32 * i,
        "powers of two": 2**i,
        "up to 2^62": 2**62 - n + i,
    }


def each_structure(n):
    """Run a test for each set of n columns."""
    sets = structured_columns(n)
    return pytest.mark.parametrize("columns", sets.values(), ids=sets.keys())
