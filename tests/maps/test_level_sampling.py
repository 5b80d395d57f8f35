"""Samples of whole levels agree at the rate of the min-max kernel of the rounded rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import reference, theorems
from _oracles.equal import assert_same

from sparsemaps import ConsistentWeightedSampling, KernelProduct, MinHash, RandomProjection, codes
from sparsemaps._tools import _seeding
from sparsemaps.approximation import kernel_error, min_components
from sparsemaps.codes import ByChance
from sparsemaps.laws._moments import Pairs
from sparsemaps.laws._sampled import MinMaxLaw

N_SEEDS = 400


def levels_map(n_hashes=64, seed=0, **parameters):
    return ConsistentWeightedSampling(
        n_hashes=n_hashes, method="levels", random_state=SEED + seed, **parameters
    )


def keys(seed):
    return _seeding.keys(SEED + seed, "weighted_sampling", 2, "levels")


def csr(*rows, width=2**40, columns=None):
    """Rows of dense values, at these columns."""
    dense = np.array(rows, float)
    columns = np.arange(dense.shape[1]) if columns is None else columns
    row, column = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(dense)))])
    return sp.csr_array((dense[row, column], columns[column], indptr), (len(dense), width))


def pairs_of_counts():
    """Pairs of rows of whole numbers, by name."""
    rng = np.random.default_rng(SEED + 0)
    ones = np.ones(30)
    pairs = {
        "one entry": ([3], [2]),
        "one entry of many levels": ([40], [30]),
        "levels in and beyond blocks": ([17], [5]),
        "one heavy entry": ([10**6], [7 * 10**5]),
        "10^6 beside 1": (np.append(ones, 10**6), np.append(ones, 9 * 10**5)),
        "heavy in one row": (np.append(np.ones(300), 200), np.append(np.ones(300), 1)),
        "1000 beside many": (np.append(np.ones(300), 1000), np.append(np.ones(300), 400)),
        "equal": ([5, 100, 1], [5, 100, 1]),
        "disjoint": ([5, 100, 0, 0], [0, 0, 20, 1]),
        "binary": (np.arange(90) < 60, np.arange(90) >= 30),
        "a quarter of a block": (np.full(200, 20), np.where(np.arange(200) < 100, 20, 17)),
    }
    for mean, n in ((2, 20), (3, 85), (20, 85), (1000, 85), (8, 1000)):
        rows = rng.geometric(1 / mean, size=(2, n)) * (rng.random((2, n)) < 0.8)
        pairs[f"{n} counts of mean {mean}"] = tuple(rows)
    wide = rng.lognormal(2, 2.5, 60).round()
    pairs["orders of magnitude"] = wide, np.where(rng.random(60) < 0.7, wide, wide // 2)
    return {name: tuple(np.array(row, float) for row in pair) for name, pair in pairs.items()}


PAIRS = pairs_of_counts()
each_pair = pytest.mark.parametrize(("u", "v"), PAIRS.values(), ids=PAIRS.keys())


def agreements(u, v, n_hashes, n_seeds=N_SEEDS, **parameters):
    """Which samples of two rows agree, for each seed."""
    X = csr(u, v)
    agree = []
    for seed in range(n_seeds):
        (i, j), (t, s) = levels_map(n_hashes, seed, **parameters).fit(X).sample(X)
        agree.append((i == j) & (t == s))
    return np.array(agree)


# ---- the law -------------------------------------------------------------------------------------


@each_pair
@pytest.mark.parametrize("n_hashes", [1, 64, 300])
def test_theorem_of_counts(u, v, n_hashes):
    """Each sample by itself, and all together, agree at the rate of the kernel; the mean has at
    most the variance of independent ones."""
    exact = reference.min_max(u, v)
    agree = agreements(u, v, n_hashes)
    if exact in (0, 1):
        assert (agree == exact).all()
        return
    if N_SEEDS * min(exact, 1 - exact) >= 30:  # else it is far from normal
        theorems.assert_rate(agree.T, exact)
    theorems.assert_mean(agree.mean(axis=1), exact)
    if n_hashes > 1:  # the variance of a single sample is that of its rate
        theorems.assert_variance(agree.mean(axis=1), exact * (1 - exact) / n_hashes, at_most=True)


@theorems.each_structure(40)
def test_theorem_for_structured_columns(columns):
    rng = np.random.default_rng(SEED + 7)
    u, v = rng.geometric(0.1, size=(2, 40)).astype(float)
    X = csr(u, v, width=2**62, columns=columns)
    rates = []
    for seed in range(N_SEEDS):
        (i, j), (t, s) = levels_map(64, seed).fit(X).sample(X)
        rates.append(((i == j) & (t == s)).mean())
    theorems.assert_mean(rates, reference.min_max(u, v))


@pytest.mark.parametrize("resolution", [0.1, 1.0, 4.0, 1e5, 4e8])
def test_theorem_of_rounded_rows(resolution):
    """For real values, of both signs too, the kernel of each seed's levels."""
    rng = np.random.default_rng(SEED + 3)
    values = np.minimum(rng.gamma(0.7, size=(2, 50)), 5)  # as entries have fewer than 2^31 levels
    u, v = (row * min(1, 40 / row.sum()) for row in values)  # and rows at most 2^34
    X = csr(u, v)
    differences = []
    for seed in range(N_SEEDS):
        cws = levels_map(64, seed, resolution=resolution).fit(X)
        levels = reference.level_counts(keys(seed)[0], np.arange(50), [u, v], resolution)
        (i, j), (t, s) = cws.sample(X)
        if levels.sum(axis=1).min() > 0:
            differences.append(((i == j) & (t == s)).mean() - reference.min_max(*levels))
    assert len(differences) > N_SEEDS / 2
    theorems.assert_mean(differences, 0)


def test_binary_rows_have_the_law_of_minhash():
    """Estimates from codes vary as little."""
    u, v = PAIRS["binary"]
    X = csr(u, v)
    found = {}
    for make in (lambda **p: levels_map(**p), lambda n_hashes, seed: MinHash(
        n_hashes=n_hashes, random_state=SEED + seed
    )):  # fmt: skip
        maps = [make(n_hashes=128, seed=seed).fit(X) for seed in range(1_000)]
        assert maps[0].exact_kernel(X)[0, 1] == 1 / 3
        counts = [codes.collisions(*m.encode(X)[:, None], 8)[0, 0] for m in maps]
        found[type(maps[0])] = codes.kernel_from_collisions(counts, 128, 8)
    for kernel in found.values():
        theorems.assert_mean(kernel, 1 / 3)
    ratio = found[ConsistentWeightedSampling].var() / found[MinHash].var()
    assert abs(np.log(ratio)) < 5 * np.sqrt(4 / 1_000)


@pytest.mark.parametrize("bits", [1, 8])
@theorems.each_structure(40)
def test_codes_of_samples_that_differ(columns, bits):
    """Samples of other columns, or other levels of one column, agree in 2^-bits of all cases."""
    n, half = 4_000, np.arange(40) % 2 == 0
    X = csr(3.0 * half, 3.0 * ~half, width=2**62, columns=columns)
    one, other = codes.unpack(levels_map(n, bits=bits).fit(X).encode(X), bits)
    theorems.assert_rate(one == other, 2.0**-bits)
    Y = csr([1000.0], [400.0], width=2**62, columns=columns[1:2])
    cws = levels_map(n, bits=bits).fit(Y)
    (_, _), (t, s) = cws.sample(Y)
    one, other = codes.unpack(cws.encode(Y), bits)
    theorems.assert_rate((one == other)[t != s], 2.0**-bits)
    assert (one == other)[t == s].all()


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_estimate_from_codes(bits):
    """Without the bias of codes of i* alone, which is large for rows of few heavy entries."""
    u, v = np.array([30.0, 5, 1]), np.array([10.0, 5, 2])
    X = csr(u, v)
    counts = []
    for seed in range(1_000):
        A = levels_map(64, seed, bits=bits).fit(X).encode(X)
        counts.append(codes.collisions(A[:1], A[1:], bits)[0, 0])
    kernel, std = codes.kernel_from_collisions(counts, 64, bits, return_std=True)
    theorems.assert_mean(kernel, reference.min_max(u, v))
    theorems.assert_variance(kernel, (std**2).mean() * 1.05, at_most=True)


# ---- rounding ------------------------------------------------------------------------------------


def rounded(u, v, resolution, n_seeds=2_000):
    """Kernels of the levels of two rows, as each seed rounds them."""
    columns = np.arange(len(u))
    return np.array([
        reference.min_max(*reference.level_counts(keys(seed)[0], columns, [u, v], resolution))
        for seed in range(n_seeds)
    ])  # fmt: skip


@pytest.mark.parametrize("resolution", [2.0, 4.0, 16.0])
@pytest.mark.parametrize("n_entries", [20, 80, 400])
def test_rounding(n_entries, resolution):
    """Bias and variance are at most what the law states, and the variance is not far below it."""
    rng = np.random.default_rng(SEED + 0)
    u, v = rng.gamma(0.7, size=(2, n_entries))
    X = csr(u, v, width=n_entries)
    law = levels_map(resolution=resolution).law
    bound = law.rounding(X, law.exact_kernel(X, None, None)[0, 1:]).item()
    fractions = np.array([u, v]) * resolution % 1
    variance = (fractions * (1 - fractions)).sum()
    assert np.isclose(bound, variance / (np.maximum(u, v).sum() * resolution) ** 2)
    kernels = rounded(u, v, resolution)
    theorems.assert_variance(kernels, bound, at_most=True)
    assert kernels.var() > bound / 4
    error = kernels.std() / np.sqrt(len(kernels))
    assert abs(kernels.mean() - reference.min_max(u, v)) < bound + 5 * error


def test_values_are_raised_to_the_power_before_they_are_rounded():
    u, v = np.random.default_rng(SEED).gamma(0.7, size=(2, 80))
    kernel = np.array([0.5])
    given = levels_map(power=0.5).law.rounding(csr(u, v, width=80), kernel)
    raised = levels_map().law.rounding(csr(u**0.5, v**0.5, width=80), kernel)
    np.testing.assert_allclose(given, raised)


def test_levels_are_right_on_average_and_nested():
    """Of rows of any values, whichever is larger has at least as many levels; the mean is the
    value."""
    values = np.sort(np.random.default_rng(SEED + 0).gamma(1.0, size=60)) * 3
    counts = np.array([
        reference.level_counts(keys(seed)[0], np.zeros(60, int), values) for seed in range(2_000)
    ])  # fmt: skip
    assert (np.diff(counts, axis=1) >= 0).all()
    whole = np.floor(values)
    assert ((counts == whole) | (counts == whole + 1)).all()
    theorems.assert_chance(counts > whole, values - whole)


def test_whole_numbers_are_not_rounded():
    X = csr([3.0, 100], [7.0, 2.0])
    law = levels_map().law
    assert law.rounding(X, np.array([0.5])) == 0
    assert law.moments(_pairs(0.5)).distribution == "binomial"


def _pairs(kernel, rounding=0.0):
    return Pairs(np.array([kernel]), rounding=np.array([rounding]))


def test_moments_have_the_variance_of_rounding():
    """All samples share it, so that it stays whatever the size."""
    law = levels_map(bits=16).law
    moments = law.moments(_pairs(0.5, 0.01))
    assert moments.distribution == "normal"
    np.testing.assert_allclose(moments.variance(2.0**40), 0.01, rtol=1e-6)
    np.testing.assert_allclose(moments.variance(1), moments.unit, rtol=1e-12)


def test_kernel_error_counts_rounding():
    X = abs(random_csr(20, 40, density=0.5))
    fine, coarse = (kernel_error(levels_map(1024, resolution=r), X, n_seeds=40) for r in (1e4, 0.5))
    assert fine.zero_bit_bias == coarse.zero_bit_bias == 0
    assert coarse.std > 2 * fine.std
    for error in (fine, coarse):
        assert error.std < error.theory_std + 5 * error.std_std_error


def test_min_components_counts_rounding():
    X = abs(random_csr(20, 40, density=0.5))
    sizes = [min_components(levels_map(bits=16, resolution=r), 0.1, X=X) for r in (4.0, 16.0, 1e4)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2]
    with pytest.raises(ValueError, match="use a larger resolution, or allow a larger error"):
        min_components(levels_map(bits=16, resolution=0.5), 0.1, X=X)
    with pytest.raises(ValueError, match="depends on the rows: give X"):
        min_components(levels_map(), 0.1)


def test_products_share_the_variance_of_rounding():
    X = abs(random_csr(20, 40, density=0.5))
    for other in (MinHash(n_hashes=64), RandomProjection(n_components=64)):
        errors = [
            kernel_error(KernelProduct(maps=(levels_map(64, resolution=r), other)), X, n_seeds=20)
            for r in (0.5, 1e5)
        ]
        assert errors[0].theory_std > errors[1].theory_std


# ---- bit by bit ----------------------------------------------------------------------------------


@each_pair
@pytest.mark.parametrize("n_hashes", [1, 130, 512])
def test_against_the_definition(u, v, n_hashes):
    X = csr(u, v)
    i, t = levels_map(n_hashes, 5).fit(X).sample(X)
    for row, values in enumerate((u, v)):
        columns = np.flatnonzero(values)
        counts = values[columns].astype(np.int64)
        expected = reference.level_samples(keys(5)[0], columns, counts, n_hashes)
        np.testing.assert_array_equal(i[row], expected[0])
        np.testing.assert_array_equal(t[row], expected[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rounded_rows_against_the_definition(dtype):
    """Rows of real values, of all lengths, with entries that have no level."""
    rng = np.random.default_rng(SEED + 0)
    for n in (1, 2, 30, 511, 512, 513, 1_100):
        columns = np.sort(rng.choice(2**40, n, replace=False))
        values = rng.lognormal(-1, 1.5, n).astype(dtype)
        X = sp.csr_array((values, columns, [0, n]), (1, 2**40))
        for resolution in (1.0, 7.0, 60.0):
            i, t = levels_map(100, 2, resolution=resolution).fit(X).sample(X)
            counts = reference.level_counts(keys(2)[0], columns, values, resolution)
            if counts.sum() == 0:
                assert (i == -1).all()
                assert (t == -1).all()
                continue
            expected = reference.level_samples(keys(2)[0], columns, counts, 100)
            np.testing.assert_array_equal(i[0], expected[0])
            np.testing.assert_array_equal(t[0], expected[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("resolution", [1.0, 2.0])
def test_rows_of_ones_against_the_definition(dtype, resolution):
    """Binary rows, and such as are binary but for one value of a tile."""
    rng = np.random.default_rng(SEED + 4)
    columns = np.sort(rng.choice(2**40, 1_100, replace=False))
    for other in (None, 0, 511, 512, 700, 1_099):
        values = np.ones(1_100, dtype)
        if other is not None:
            values[other] = 40
        X = sp.csr_array((values, columns, [0, 1_100]), (1, 2**40))
        i, t = levels_map(300, 2, resolution=resolution).fit(X).sample(X)
        counts = (values * resolution).astype(np.int64)
        expected = reference.level_samples(keys(2)[0], columns, counts, 300)
        np.testing.assert_array_equal(i[0], expected[0])
        np.testing.assert_array_equal(t[0], expected[1])


@pytest.mark.parametrize("n_hashes", [3, 512, 3_000])
def test_more_members_than_are_kept(n_hashes):
    """One round, and several: many low levels, many high ones, and both."""
    rng = np.random.default_rng(SEED + 1)
    for n, counts in (
        (9_000, np.ones(9_000)),
        (4_000, rng.integers(1, 16, 4_000)),
        (600, rng.integers(1, 60, 600)),
        (9, rng.integers(900, 1_100, 9)),
    ):
        columns = np.sort(rng.choice(2**40, n, replace=False))
        X = sp.csr_array((counts.astype(float), columns, [0, n]), (1, 2**40))
        i, t = levels_map(n_hashes, 3).fit(X).sample(X)
        expected = reference.level_samples(keys(3)[0], columns, counts.astype(int), n_hashes)
        np.testing.assert_array_equal(i[0], expected[0])
        np.testing.assert_array_equal(t[0], expected[1])


def test_limits_that_leave_bins_empty_are_raised():
    """In some of these rows the first limit of time is too low."""
    rng = np.random.default_rng(SEED + 2)
    columns = np.arange(3)
    for seed in range(200):
        counts = rng.integers(400, 900, 3)
        X = csr(counts.astype(float))
        i, t = levels_map(64, seed).fit(X).sample(X)
        expected = reference.level_samples(keys(seed)[0], columns, counts, 64)
        np.testing.assert_array_equal(i[0], expected[0])
        np.testing.assert_array_equal(t[0], expected[1])


# ---- what the outputs have in common -------------------------------------------------------------


def test_outputs_follow_from_the_samples():
    X = random_csr()
    cws = levels_map(30, bits=3, resolution=2.0).fit(X)
    i, t = cws.sample(X)
    filled = i[:, 0] >= 0
    assert (np.diff(X.indptr)[filled] > 0).all()
    Z = cws.transform(X)
    assert (np.diff(Z.indptr) == np.where(filled, 30, 0)).all()
    expected = reference.pair_codes(keys(0)[1], i[filled], t[filled], 3)
    np.testing.assert_array_equal(Z.indices.reshape(-1, 30), expected + 8 * np.arange(30))
    packed = cws.encode(X, packed=True)
    np.testing.assert_array_equal(packed.sampled, filled)
    assert packed.law == ByChance(3)


def test_order_of_entries_does_not_matter():
    rng = np.random.default_rng(SEED + 0)
    X = csr(rng.geometric(0.05, 200), rng.geometric(0.5, 200)).astype(np.float32)
    order = rng.permutation(200)
    shuffled = X.copy()
    for row in range(2):
        shuffled.indices[200 * row : 200 * (row + 1)] = X.indices[200 * row + order]
        shuffled.data[200 * row : 200 * (row + 1)] = X.data[200 * row + order]
    shuffled.has_sorted_indices = False
    cws = levels_map(300).fit(X)
    assert_same(cws.transform(shuffled), cws.transform(X))


def test_rows_without_levels_have_no_sample():
    X = csr([1e-300, 0], [0, 0], [1e-12, 3.0])
    cws = levels_map().fit(X)
    i, t = cws.sample(X)
    assert (i[:2] == -1).all()
    assert (t[:2] == -1).all()
    assert (i[2] == 1).all()
    assert cws.encode(X, packed=True).sampled.tolist() == [False, False, True]
    assert np.diff(cws.transform(X).indptr).tolist() == [0, 0, 64]


def test_too_many_levels():
    most = 2.0**31 - 1
    X = csr([1.0] * 9, [most] * 8 + [8], [8] + [most + 1] + [0] * 7, [most] * 8 + [9])
    levels_map().fit(X[:2]).encode(X[:2])
    cws = levels_map().fit(X)
    message = (
        r"2.14748e\+09 in row 2, column {}; with resolution=1.0 the entry has 2\^31 levels or "
        r"more, or the row more than 2\^34: resolution must be smaller"
    )
    for call in (cws.transform, cws.encode, cws.sample):
        for bad, column in ((X, 1), (X[[0, 1, 3]], 0)):
            with pytest.raises(ValueError, match=message.format(column)):
                call(bad)
    levels_map(resolution=0.4).fit(X).encode(X)
    for value, parameters in (
        (1e300, {"resolution": 1e300}),
        (1e300, {"power": 2.0}),
        (2.0**33, {}),
    ):
        with pytest.raises(ValueError, match="resolution must be smaller"):
            levels_map(**parameters).fit([[value]]).encode([[value]])


def test_rows_of_later_blocks_are_named(monkeypatch):
    from sparsemaps._tools import _blocks

    monkeypatch.setattr(_blocks, "cut_rows", lambda n, work, jobs: [(i, i + 1) for i in range(n)])
    X = csr([1.0], [1.0], [1.0], [1e15])
    with pytest.raises(ValueError, match=r"row 3, column 0; with resolution=1\.0 "):
        levels_map().fit(X).encode(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "levels", "t_bits": 3}, "t_bits must be 0 with method='levels', .*, got 3"),
        ({"resolution": 2.0}, "resolution=2.0 is for method='levels' only"),
        ({"method": "icws", "resolution": 2.0}, "resolution=2.0 is for method='levels' only"),
        ({"method": "levels", "resolution": 0}, "resolution must be .*above 0, got 0"),
        ({"method": "levels", "resolution": np.inf}, "resolution must be .*finite.*, got inf"),
        ({"method": "levels", "resolution": "1"}, "resolution must be a .*number"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        ConsistentWeightedSampling(**parameters).fit([[1.0]])


def test_resolution_is_that_of_fit():
    X = random_csr()
    cws = levels_map(resolution=4.0).fit(X)
    before = cws.encode(X)
    np.testing.assert_array_equal(cws.set_params(resolution=1.0).encode(X), before)
    assert cws.to_config()["parameters"]["resolution"] == 4.0
    assert (cws.fit(X).encode(X) != before).any()


def test_the_exact_kernel_is_of_the_values():
    X = abs(random_csr(10, 30))
    exact = ConsistentWeightedSampling().fit(X).exact_kernel(X)
    np.testing.assert_array_equal(levels_map(resolution=0.3).fit(X).exact_kernel(X), exact)
    assert isinstance(levels_map().law, MinMaxLaw)
