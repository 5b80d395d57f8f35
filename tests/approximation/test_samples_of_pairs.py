"""The pairs of rows that errors are measured on, and what formulas ask of them, one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from scipy import stats
from sklearn.base import clone

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    Fastfood,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
)
from sparsemaps.approximation import _error, kernel_error, min_components
from sparsemaps.approximation._coverage import coverage
from sparsemaps.laws._moments import Moments, Pairs


def test_rows_of_a_sample_are_as_few_as_have_the_pairs():
    """And none stands twice."""
    X = np.arange(1.0, 41.0)[:, None]
    for n_pairs in range(1, 40):
        _, sample = _error.sample_rows(CountSketch(), X, n_pairs, np.random.default_rng(SEED))
        n = sample.shape[0]
        assert n * (n - 1) // 2 >= n_pairs > (n - 1) * (n - 2) // 2
        assert len(np.unique(sample.toarray())) == n


def test_each_row_may_be_in_a_sample():
    X = np.arange(1.0, 7.0)[:, None]
    rng, drawn = np.random.default_rng(SEED), set()
    for _ in range(50):  # each row is in a third of the samples: all are missing one in 10^7 times
        drawn.update(_error.sample_rows(CountSketch(), X, 1, rng)[1].toarray().ravel())
    assert drawn == {*range(1, 7)}


def test_what_is_learnt_from_the_rows_is_that_of_all_rows():
    X = np.random.default_rng(SEED).normal(size=(40, 3)) * np.arange(1, 41)[:, None]
    by_name = RandomFourier(gamma="scale", n_components=8)
    by_value = RandomFourier(gamma=clone(by_name).fit(X).gamma_, n_components=8)
    found = (kernel_error(one, X, n_pairs=10, random_state=0) for one in (by_name, by_value))
    assert next(found) == next(found)


def test_entries_that_stand_twice_count_as_their_sum():
    once = np.array([[3.0, 0, 1], [0, 2, -1], [1, 1, 1]])
    columns, ends = [0, 0, 2, 1, 2, 1, 2, 0, 1], [0, 3, 6, 9]
    twice = sp.csr_array(([1.0, 2, 1, 1, -1, 1, 1, 1, 1], columns, ends), shape=(3, 3))
    assert (twice.toarray() == once).all()
    found = (kernel_error(CountSketch(n_components=16), X, random_state=0) for X in (twice, once))
    assert next(found) == next(found)


def test_what_formulas_ask_of_pairs():
    """One pair after the other, of rows of several lengths and of both signs."""
    X = np.random.default_rng(SEED).normal(size=(5, 4)) * np.array([[1], [2], [0.5], [3], [-1]])
    X[1, 2] = X[3, 0] = 0
    X[4] = -abs(X[4]).max() * np.array([1, 0.1, 0.2, 0])
    fourier = RandomFourier(gamma=0.1, random_state=0).fit(X)
    pairs = _error.exact_pairs(fourier, sp.csr_array(X))
    fastfood = Fastfood(gamma=0.1, random_state=0).fit(X)
    peaks = _error.exact_pairs(fastfood, sp.csr_array(X)).peak
    for n, (one, other) in enumerate(zip(*np.triu_indices(5, 1), strict=True)):
        x, y = X[one], X[other]
        v = x - y
        expected = {
            "kernel": np.exp(-0.1 * v @ v),
            "doubled": np.exp(-0.1 * 4 * v @ v),
            "inner": x @ y,
            "square_x": x @ x,
            "square_y": y @ y,
            "overlap": (x**2) @ (y**2),
            "longest": abs(x).max() * abs(y).max(),
        }
        found = {name: getattr(pairs, name)[n] for name in expected}
        assert found == pytest.approx(expected, rel=1e-9)
        assert peaks[n] == pytest.approx((v**4).sum() / (v @ v) ** 2, rel=1e-12)


def test_measured_rates_are_means_over_seeds():
    X = sp.csr_array(np.random.default_rng(SEED).gamma(1.0, size=(8, 4)))
    for random_map in (ConsistentWeightedSampling(n_hashes=64),
                       SignProjection(n_hashes=64, distribution="rademacher")):  # fmt: skip
        fitted = random_map.fit(X)
        pairs = _error.exact_pairs(fitted, X)
        of_each = [
            _error.measured(fitted, X, pairs, [seed], signs=True).measured for seed in (3, 4)
        ]
        assert (of_each[0] != of_each[1]).any()
        found = _error.measured(fitted, X, pairs, [3, 4], signs=True)
        np.testing.assert_allclose(found.measured, np.mean(of_each, axis=0), rtol=1e-12)


def test_measured_rates_of_signs_are_what_they_have_beyond_the_kernel():
    X = sp.csr_array(np.random.default_rng(SEED).normal(size=(6, 4)))
    signs = SignProjection(n_hashes=64, distribution="rademacher")
    pairs = _error.exact_pairs(signs.fit(X), X)
    found = _error.measured(signs, X, pairs, [3], signs=True).measured
    bits = np.unpackbits(clone(signs).set_params(random_state=3).fit(X).encode(X), axis=1)
    one, other = np.triu_indices(6, 1)
    angles = np.arccos([a @ b / np.sqrt((a @ a) * (b @ b)) for a, b in
                        zip(X.toarray()[one], X.toarray()[other], strict=True)])  # fmt: skip
    agree = (bits[one] == bits[other]).mean(axis=1)
    np.testing.assert_allclose(found, agree - (1 - angles / np.pi), atol=1e-6)


def test_rates_of_more_samples_than_are_compared_at_once():
    rng = np.random.default_rng(SEED)
    n = _error._N_COMPARED // 3 + 5
    i, t = (rng.integers(3, size=(3, n), dtype=np.int8) for _ in range(2))
    found = _error._rates_of_zero_bits(i, t)
    for rate, (one, other) in zip(found, ((0, 1), (0, 2), (1, 2)), strict=True):
        assert rate == np.mean((i[one] == i[other]) & (t[one] != t[other]))


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("random_map", "error", "options", "message"),
    [
        (MinHash(bits=1), 0.5, {}, "error must be above 0.5, the largest bias"),
        (CountSketch(), np.inf, {}, "error must be a finite number above 0"),
        (CountSketch(), 0.1, {"relative": True, "angle": np.pi / 2}, "angle must be below pi / 2"),
        (
            CountSketch(),
            0.1,
            {"relative": True, "X": [[1.0, 0], [1, 1], [0, 1]]},
            "1 pair with 0",
        ),
        (CountSketch(), 0.1, {"X": np.eye(3), "n_pairs": True}, "n_pairs must be an int of at"),
        (ConsistentWeightedSampling(bits=16), 2 / 2**8, {}, "keep t_bits=8, or allow"),
    ],
)
def test_what_cannot_be_promised(random_map, error, options, message):
    with pytest.raises(ValueError, match=message):
        min_components(random_map, error, **options)


def test_more_bits_than_codes_keep_are_not_advised():
    with pytest.raises(ValueError, match="largest bias") as caught:
        min_components(ConsistentWeightedSampling(bits=16), 1.9 / 2**8)
    assert "t_bits=" not in str(caught.value)


# ---- how likely an error is ----------------------------------------------------------------------


def test_coverage_of_dense_signs_is_binomial():
    """An estimate is 2 k / n - 1 where k of n signs agree, with a probability of (1 + K) / 2."""
    signs = SignProjection(dense_output=True)
    kernel = np.array([-0.5, 0.0, 0.3, 0.9])
    moments = signs.law.moments(Pairs(kernel))
    for n in (7, 64):
        k = np.arange(n + 1)
        off = abs(2 * k / n - 1 - kernel[:, None])
        likely = stats.binom.pmf(k, n, (1 + kernel[:, None]) / 2)
        for error in (0.11, 0.37):
            expected = (likely * (off <= error)).sum(axis=1)
            np.testing.assert_allclose(coverage(moments, n, error), expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", [0.3, 0.7])
def test_an_error_that_is_just_allowed_counts_as_allowed(kernel):
    """8 of 10 are off by 0.1 from 0.7, of which floats know nothing: 0.7 + 0.1 is below 0.8."""
    moments = MinHash(bits=24).law.moments(Pairs(np.array([kernel])))
    likely = stats.binom.pmf(np.arange(11), 10, kernel)
    most = round(10 * kernel) + 1
    expected = likely[most - 2 : most + 1].sum()
    assert coverage(moments, 10, 0.1)[0] == pytest.approx(expected, rel=1e-6)


def test_coverage_of_many_jumps_is_that_of_their_sum():
    """64 jumps of 1 or -1, halved, are binomial. Up to an error just below e of them, as many are
    within it as within e - 1; without the correction it would be 0.02 more at 2 deviations."""
    n = 64
    moments = Moments(np.zeros(1), np.full(1, n / 4), "jumps", jump=np.ones(1))
    for error in range(6, 12):
        exact = stats.binom.cdf(n // 2 + error - 1, n, 0.5) * 2 - 1
        found = coverage(moments, 1, error - 1e-9)[0]
        chebyshev = 1 - n / 4 / error**2
        assert found == pytest.approx(max(exact, chebyshev), abs=2e-3)


def test_jumps_above_the_error_have_the_bound_alone():
    moments = Moments(np.zeros(1), np.full(1, 0.0009), "jumps", jump=np.full(1, 0.6))
    assert coverage(moments, 1, 0.5)[0] == pytest.approx(1 - 0.0009 / 0.25)


def test_coverage_counts_the_covariances_of_a_block():
    """Of blocks of four cosines. A size of 4 has two cosines, so that each has one other."""
    alone = Moments(np.zeros(1), np.ones(1), "gamma", paired=True)
    block = {"paired": True, "block": np.full(1, 4.0)}
    together = Moments(np.zeros(1), np.ones(1), "gamma", common=np.full(1, 0.25), **block)
    apart = Moments(np.zeros(1), np.ones(1), "gamma", common=np.full(1, -0.25), **block)
    for size, n_others in ((4, 1), (8, 3), (64, 3)):
        unit = 1 + 2 * 0.25 * n_others
        expected = coverage(Moments(np.zeros(1), np.full(1, unit), "gamma", paired=True), size, 0.3)
        np.testing.assert_allclose(coverage(together, size, 0.3), expected, rtol=1e-12)
        assert expected < coverage(alone, size, 0.3)
        np.testing.assert_array_equal(coverage(apart, size, 0.3), coverage(alone, size, 0.3))


SHIFTED = {
    "fastfood": Fastfood(gamma=0.5, n_components=64),
    "orthogonal": Fastfood(gamma=0.5, n_components=64, transform_type="orthogonal"),
    "binning": RandomBinning(gamma=0.5, n_grids=64),
    **{
        kernel: RandomFourier(kernel=kernel, gamma=0.5, n_components=64)
        for kernel in ("rbf", "laplacian", "cauchy", "matern")
    },
}


@pytest.mark.parametrize("name", SHIFTED)
def test_variances_of_rows_far_from_0(name):
    """A kernel of differences has the same variance, however far the rows are."""
    X = np.random.default_rng(SEED).integers(0, 4, (12, 8)) / 4
    X[-1] = X[0]  # rows that are equal have no differences
    found = [
        kernel_error(SHIFTED[name], X + offset, n_seeds=2, random_state=0).theory_std
        for offset in (0, 1e3, 1e8)
    ]
    np.testing.assert_allclose(found[1:], found[0], rtol=1e-12)
