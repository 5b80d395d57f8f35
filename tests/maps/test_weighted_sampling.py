"""Samples of two rows agree at the rate of their min-max kernel."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.min_max_pairs import METHODS, assert_theorem, collisions, make_pairs
from _data.rows import random_csr
from _oracles import reference, theorems
from scipy import stats

from sparsemaps import ConsistentWeightedSampling
from sparsemaps._tools import _seeding

N_HASHES = 40_000


def real_map(columns, weights, seed):
    X = sp.csr_array((weights, columns, [0, len(columns)]), shape=(1, 100))
    cws = ConsistentWeightedSampling(n_hashes=N_HASHES, random_state=SEED + seed).fit(X)
    i, t = cws.sample(X)
    return i[0], t[0]


def test_theorem():
    kernels = [reference.min_max(u, v) for u, v in make_pairs()]
    assert min(kernels) < 0.03
    assert max(kernels) > 0.97
    assert_theorem(real_map)


@theorems.each_structure(40)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_theorem_for_structured_columns(columns, method):
    u, v = np.random.default_rng(SEED + 7).gamma(1.0, size=(2, 40))
    X = sp.csr_array((np.concatenate([u, v]), np.tile(columns, 2), [0, 40, 80]), (2, 2**62))
    cws = ConsistentWeightedSampling(n_hashes=N_HASHES, random_state=SEED + 3, **method).fit(X)
    i, t = cws.sample(X)
    theorems.assert_rate((i[0] == i[1]) & (t[0] == t[1]), reference.min_max(u, v))


def test_scaling_a_pair_keeps_its_kernel():
    for factor in (1e-300, 1e-30, 1e-3, 1e5, 1e290):
        scaled = [(factor * u, factor * v) for u, v in make_pairs()[:6]]
        for exact, (i, t), (i2, t2) in collisions(real_map, scaled):
            theorems.assert_rate((i == i2) & (t == t2), exact)


def test_zero_bit_bias_is_small():
    """i* alone agrees a little more often: the more the rows differ, the more. Of 40 such pairs at
    each scale, the largest bias was half of these."""
    rng = np.random.default_rng(SEED + 3)
    for scale, largest in ((0.1, 0.01), (0.5, 0.025), (1.0, 0.05)):
        u = rng.gamma(1.0, size=90)
        v = u * rng.lognormal(0, scale, size=90)
        for exact, (i, t), (i2, t2) in collisions(real_map, [(u, v)]):
            both, first = ((i == i2) & (t == t2)).mean(), (i == i2).mean()
            error = np.sqrt(exact * (1 - exact) / N_HASHES)
            assert both <= first <= exact + largest + theorems.N_STANDARD_ERRORS * error


MIDDLE_PAIRS = make_pairs()[9:15]
"""Pairs whose kernels are neither small nor large."""

SMALL_PAIR = np.array([1.0, 0.1]), np.array([1.0, 3.0])
"""A pair in which variables of another law, or shared ones, are 20 standard errors off."""


@functools.lru_cache(maxsize=1)  # for the two rows of a pair
def draw(seed):
    """Variables for the columns of a pair."""
    rng = np.random.default_rng(SEED + seed)
    shape, f32 = (max(len(u) for u, _ in MIDDLE_PAIRS), N_HASHES), np.float32
    # A variable of shape 2 is the sum of two of shape 1.
    r, c = (sum(rng.standard_exponential((2, *shape), dtype=f32)) for _ in range(2))
    return r, c, rng.random(shape, dtype=f32)


def mutant(change):
    """The algorithm on NumPy's random numbers, after `change` has had its way with them."""

    def sampler(columns, weights, seed):
        rng = np.random.default_rng([SEED + seed, 1])
        r, c, beta, weights = change(rng, *draw(seed), weights)
        chosen = [a.astype(np.float32)[columns] for a in (r, c, beta)]
        return reference.icws(columns, weights, *chosen)

    return sampler


MUTANTS = {
    "c of shape 1": lambda rng, r, c, b, w: (r, rng.exponential(size=r.shape), b, w),
    "r of shape 1": lambda rng, r, c, b, w: (rng.exponential(size=r.shape), c, b, w),
    "no beta": lambda rng, r, c, b, w: (r, c, 0 * b, w),
    "weights ignored": lambda rng, r, c, b, w: (r, c, b, w * 0 + 1),
    "one hash for all columns": lambda rng, r, c, b, w: (r, c[:1] + 0 * c, b, w),
    "one sample repeated": lambda rng, r, c, b, w: (
        r[:, :1] + 0 * r, c[:, :1] + 0 * c, b[:, :1] + 0 * b, w
    ),
}  # fmt: skip


def test_reference_passes():
    assert_theorem(mutant(lambda rng, r, c, b, w: (r, c, b, w)), [SMALL_PAIR, *MIDDLE_PAIRS])


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    with pytest.raises(AssertionError):
        assert_theorem(mutant(change), [SMALL_PAIR, *MIDDLE_PAIRS])


@pytest.mark.parametrize("drop", ["t", "i"])
def test_half_a_sample_is_rejected(drop):
    def sampler(columns, weights, seed):
        i, t = real_map(columns, weights, seed)
        return (i, 0 * t) if drop == "t" else (0 * i, t)

    with pytest.raises(AssertionError):
        assert_theorem(sampler)


# ---- the random numbers ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def uniforms():
    """r, c, beta of structured columns, each through its distribution function."""
    columns = np.concatenate([np.arange(100), 2 ** np.arange(7, 62), 1000 * np.arange(1, 100)])
    key = _seeding.keys(SEED, "weighted_sampling", 1, "icws")[0]
    r, c, beta = reference.icws_parameters(key, columns, 512)
    gamma = stats.gamma(2.0)
    return gamma.cdf(r), gamma.cdf(c), beta.astype(float)


def test_distributions(uniforms):
    for u in uniforms:
        theorems.assert_uniform(u)


@pytest.mark.parametrize("lag", [1, 2, 64, 256])
def test_independent_across_samples(uniforms, lag):
    """If two uniforms are independent their sum modulo 1 is uniform too."""
    for one in uniforms:
        for other in uniforms:
            theorems.assert_uniform((one[:, lag:] + other[:, :-lag]) % 1)


@pytest.mark.parametrize("lag", [1, 50])
def test_independent_across_columns(uniforms, lag):
    for one in uniforms:
        for other in uniforms:
            theorems.assert_uniform((one[lag:] + other[:-lag]) % 1)


def test_independent_within_a_sample(uniforms):
    r, c, beta = uniforms
    for one, other in ((r, c), (r, beta), (c, beta)):
        theorems.assert_uniform((one + other) % 1)
        theorems.assert_uniform((one - other) % 1)


def test_i_is_drawn_by_weight_and_independently():
    weights = np.arange(1.0, 21.0)
    i, _ = real_map(np.arange(20), weights, 5)
    expected = N_HASHES * weights / weights.sum()
    assert stats.chisquare(np.bincount(i, minlength=20), expected).pvalue >= theorems.KS_LEVEL
    joint = np.zeros((20, 20))
    np.add.at(joint, (i[1::2], i[::2]), 1)
    together = np.outer(expected, expected) / N_HASHES**2 * (N_HASHES // 2)
    often = together >= 5
    z = (joint[often] - together[often]) ** 2 / together[often]
    assert stats.chi2.sf(z.sum(), often.sum() - 1) >= theorems.KS_LEVEL


# ---- the kernel against the reference ----------------------------------------------------------


def test_against_reference():
    """The compiled loops make the same decisions as float32 NumPy, sample by sample."""
    rng = np.random.default_rng(SEED)
    lengths = [1, 3, 0, 200, 40]
    columns = [np.sort(rng.choice(2**40, n, replace=False)) for n in lengths]
    weights = [rng.lognormal(0, 4, size=n) for n in lengths]
    indptr = np.cumsum([0, *lengths])
    X = sp.csr_array(
        (np.concatenate(weights), np.concatenate(columns), indptr), shape=(len(lengths), 2**40)
    )
    i, t = ConsistentWeightedSampling(n_hashes=150, random_state=SEED + 9).fit(X).sample(X)
    key = _seeding.keys(SEED + 9, "weighted_sampling", 1, "icws")[0]
    for row, (c, w) in enumerate(zip(columns, weights, strict=True)):
        if len(c) == 0:
            assert (i[row] == -1).all()
            assert (t[row] == -1).all()
            continue
        expected_i, expected_t = reference.icws(c, w, *reference.icws_parameters(key, c, 150))
        np.testing.assert_array_equal(i[row], expected_i)
        np.testing.assert_array_equal(t[row], expected_t)


@pytest.mark.parametrize("first", [2**40, 2**61])
def test_wide_columns_side_by_side(first):
    """Their numbers differ in the last bits alone; the widest rows are gathered one by one."""
    columns = first + np.arange(100)
    weights = np.random.default_rng(SEED).lognormal(size=(2, 100))
    X = sp.csr_array((weights.ravel(), np.tile(columns, 2), [0, 100, 200]), (2, 2**62))
    i, t = ConsistentWeightedSampling(n_hashes=600, random_state=SEED + 9).fit(X).sample(X)
    key = _seeding.keys(SEED + 9, "weighted_sampling", 1, "icws")[0]
    parameters = reference.icws_parameters(key, columns, 600)
    for row in range(2):
        expected_i, expected_t = reference.icws(columns, weights[row], *parameters)
        np.testing.assert_array_equal(i[row], expected_i)
        np.testing.assert_array_equal(t[row], expected_t)


def test_beta_has_all_its_bits():
    """Without the last 8 of its 24 bits, t* of a row of one column is another one in 1 of 2^17."""
    weights, n = np.random.default_rng(SEED).lognormal(size=100), 20_000
    X = weights[:, None]
    _, t = ConsistentWeightedSampling(n_hashes=n, random_state=SEED + 9).fit(X).sample(X)
    key = _seeding.keys(SEED + 9, "weighted_sampling", 1, "icws")[0]
    parameters = reference.icws_parameters(key, np.array([0]), n)
    for weight, found in zip(weights, t, strict=True):
        np.testing.assert_array_equal(found, reference.icws([0], weight[None], *parameters)[1])


def test_rows_longer_than_the_scratch():
    """A row of more entries than are sampled at once, alone and among others."""
    rng = np.random.default_rng(SEED)
    row = sp.csr_array(rng.gamma(1.0, size=(1, 300_000)))
    others = random_csr(5, 300_000, density=0.001)
    both = sp.vstack([others, row, others], format="csr")
    cws = ConsistentWeightedSampling(n_hashes=20, random_state=SEED).fit(both)
    i, t = cws.sample(both)
    alone_i, alone_t = cws.sample(row)
    np.testing.assert_array_equal(i[5], alone_i[0])
    np.testing.assert_array_equal(t[5], alone_t[0])
    np.testing.assert_array_equal(i[:5], i[6:])
    key = _seeding.keys(SEED, "weighted_sampling", 1, "icws")[0]
    columns = np.arange(300_000)
    expected, _ = reference.icws(columns, row.data, *reference.icws_parameters(key, columns, 20))
    np.testing.assert_array_equal(i[5], expected)


# ---- outputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "t_bits"), [(1, 0), (3, 0), (8, 0), (16, 0), (4, 3), (16, 8)])
def test_outputs_follow_from_the_samples(X, bits, t_bits):
    cws = ConsistentWeightedSampling(
        n_hashes=13, bits=bits, t_bits=t_bits, random_state=SEED + 2
    ).fit(X)
    width = bits + t_bits
    key = _seeding.keys(SEED + 2, "weighted_sampling", 2, "icws")[1]
    codes = reference.sample_codes(key, *cws.sample(X), bits, t_bits)
    filled = np.diff(X.indptr) > 0

    Z = cws.transform(X)
    assert Z.shape == (X.shape[0], 13 * 2**width)
    np.testing.assert_array_equal(np.diff(Z.indptr), np.where(filled, 13, 0))
    expected = (codes + 2**width * np.arange(13))[filled]
    np.testing.assert_array_equal(Z.indices, expected.ravel())
    np.testing.assert_array_equal(Z.data, np.full(Z.nnz, 1 / np.sqrt(13)))

    as_bits = (codes[:, :, None] >> np.arange(width)) & 1
    as_bits[~filled] = 0
    packed = np.packbits(
        as_bits.reshape(len(codes), -1).astype(np.uint8), axis=1, bitorder="little"
    )
    np.testing.assert_array_equal(cws.encode(X), packed, strict=True)


def test_codes_of_many_samples(X):
    """Also of samples beyond those that are made at once."""
    cws = ConsistentWeightedSampling(n_hashes=600, random_state=SEED + 2).fit(X)
    key = _seeding.keys(SEED + 2, "weighted_sampling", 2, "icws")[1]
    expected = reference.sample_codes(key, *cws.sample(X), 8, 0)
    expected[np.diff(X.indptr) == 0] = 0
    np.testing.assert_array_equal(cws.encode(X), expected)


def test_wide_output_has_wide_indices(X):
    Z = ConsistentWeightedSampling(
        n_hashes=2**9, bits=16, t_bits=8, random_state=SEED
    ).fit_transform(X)
    assert Z.shape[1] == 2**33
    assert Z.indices.dtype == np.int64
    assert Z.indices.max() > 2**32


# ---- what codes agree by chance ------------------------------------------------------------------

each_code = pytest.mark.parametrize(("bits", "t_bits"), [(1, 0), (3, 3), (16, 8)])


N_CODES = 4_000


def codes_agree(X, **parameters):
    """Whether the codes of rows 0 and 1, 2 and 3, and so on agree; each sample by itself."""
    cws = ConsistentWeightedSampling(n_hashes=N_CODES, random_state=SEED + 1, **parameters).fit(X)
    columns = cws.transform(X).indices.reshape(-1, N_CODES)
    return columns[::2] == columns[1::2]


def assert_chance(agree, expected):
    """A rate of independent agreements in each row; rates may be too small for a normal law."""
    for found in np.atleast_2d(agree):
        test = stats.binomtest(int(found.sum()), len(found), expected)
        assert test.pvalue >= theorems.KS_LEVEL, f"{found.mean()} for {expected}"


@each_code
@theorems.each_structure(16)
def test_disjoint_rows_agree_by_chance(columns, bits, t_bits):
    """At a rate of 2^-(bits + t_bits), whatever their columns. The rows are binary, so that t* is
    often the same. One pair has alternate columns, one a block each, one a column each."""
    pairs = columns[::2], columns[1::2], columns[:8], columns[8:], columns[:1], columns[1:2]
    indptr = np.cumsum([0, *map(len, pairs)])
    X = sp.csr_array((np.ones(indptr[-1]), np.concatenate(pairs), indptr), (6, 2**62))
    agree = codes_agree(X, bits=bits, t_bits=t_bits)
    assert_chance(agree, 2.0 ** -(bits + t_bits))


@each_code
@theorems.each_structure(8)
def test_values_of_other_signs_agree_by_chance(columns, bits, t_bits):
    values = np.concatenate([np.ones(8), -np.ones(8)])
    X = sp.csr_array((values, np.tile(columns, 2), [0, 8, 16]), (2, 2**62))
    agree = codes_agree(X, bits=bits, t_bits=t_bits, signed=True)
    assert_chance(agree, 2.0 ** -(bits + t_bits))


@pytest.mark.parametrize("t_bits", [0, 1, 4, 8])
def test_other_weights_of_one_column_agree_by_chance(t_bits):
    """At a rate of 2^-t_bits, beside the rate of the kernel."""
    agree = codes_agree(np.array([[0.3], [0.8]]), t_bits=t_bits)
    assert_chance(agree, 3 / 8 + 5 / 8 * 2.0**-t_bits)


@pytest.mark.parametrize(("bits", "t_bits"), [(1, 0), (2, 2)])
@theorems.each_structure(60)
def test_what_codes_agree(columns, bits, t_bits):
    """Equal samples: all; of one i*, a share of 2^-t_bits; others, 2^-(bits + t_bits)."""
    rng = np.random.default_rng(SEED)
    u, v = rng.gamma(1.0, size=(2, 40))
    X = sp.csr_array(
        (np.concatenate([u, v]), np.concatenate([columns[:40], columns[20:]]), [0, 40, 80]),
        (2, 2**62),
    )
    agree = codes_agree(X, bits=bits, t_bits=t_bits)[0]
    cws = ConsistentWeightedSampling(n_hashes=N_CODES, random_state=SEED + 1).fit(X)
    i, t = cws.sample(X)
    same_i, same_t = i[0] == i[1], t[0] == t[1]
    assert agree[same_i & same_t].all()
    assert_chance(agree[same_i & ~same_t], 2.0**-t_bits)
    assert_chance(agree[~same_i], 2.0 ** -(bits + t_bits))


def test_codes_do_not_depend_on_the_width():
    """Also where all columns are below 2^bits."""
    X = random_csr(n_columns=200)
    wide = sp.csr_array((X.data, X.indices, X.indptr), (X.shape[0], 2**40))
    maps = [ConsistentWeightedSampling(random_state=SEED).fit(rows) for rows in (X, wide)]
    assert [cws.law.codes.chance for cws in maps] == [2.0**-8, 2.0**-8]
    np.testing.assert_array_equal(maps[0].encode(X), maps[1].encode(wide))


def test_signed_is_the_generalized_min_max_kernel():
    rng = np.random.default_rng(SEED)
    u = rng.normal(size=50)
    v = u + 0.5 * rng.normal(size=50)
    X = np.stack([u, v])
    doubled = np.stack([np.maximum(X, 0), np.maximum(-X, 0)], axis=2).reshape(2, -1)
    signed = ConsistentWeightedSampling(n_hashes=N_HASHES, signed=True, random_state=SEED).fit(X)
    plain = ConsistentWeightedSampling(n_hashes=N_HASHES, random_state=SEED).fit(doubled)
    i, t = signed.sample(X)
    for one, other in zip((i, t), plain.sample(doubled), strict=True):
        np.testing.assert_array_equal(one, other)
    theorems.assert_rate((i[0] == i[1]) & (t[0] == t[1]), reference.min_max(*doubled))


def test_signed_changes_nothing_else():
    """Non-negative rows: the columns are doubled, and the kernel is the same."""
    u, v = make_pairs()[0]
    X = np.stack([u, v])
    cws = ConsistentWeightedSampling(n_hashes=N_HASHES, signed=True, random_state=SEED).fit(X)
    i, t = cws.sample(X)
    assert (i % 2 == 0).all()
    theorems.assert_rate((i[0] == i[1]) & (t[0] == t[1]), reference.min_max(u, v))


def test_signed_samples_of_the_widest_rows():
    X = sp.csr_array((np.array([-1.0]), [2**62 - 1], [0, 1]), shape=(1, 2**62))
    i, _ = ConsistentWeightedSampling(n_hashes=2, signed=True, random_state=SEED).fit(X).sample(X)
    assert i.tolist() == [[2**63 - 1] * 2]
    X.resize(1, 2**62 + 1)
    cws = ConsistentWeightedSampling(n_hashes=2, signed=True, random_state=SEED).fit(X)
    with pytest.raises(ValueError, match=r"at most 2\*\*62"):
        cws.sample(X)
    assert cws.transform(X).nnz == 2


def test_extreme_weights_have_samples():
    X = np.array([[5e-324, 0, 0], [1.7e308, 0, 0], [5e-324, 1.0, 1.7e308], [2.3e-308, 0, 0]])
    i, t = ConsistentWeightedSampling(n_hashes=2000, random_state=SEED).fit(X).sample(X)
    assert (i[[0, 1, 3]] == 0).all()
    assert (i[2] == 2).all()
    assert (np.abs(t) < 2**31).all()


def test_float32_and_float64_agree():
    X = np.random.default_rng(SEED).lognormal(0, 10, size=(20, 50)).astype(np.float32)
    cws = ConsistentWeightedSampling(n_hashes=200, random_state=SEED).fit(X)
    for one, other in zip(cws.sample(X), cws.sample(X.astype(np.float64)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_samples_extend_the_first(X):
    few = ConsistentWeightedSampling(n_hashes=10, random_state=SEED).fit(X).sample(X)
    many = ConsistentWeightedSampling(n_hashes=100, random_state=SEED).fit(X).sample(X)
    for one, other in zip(few, many, strict=True):
        np.testing.assert_array_equal(one, other[:, :10])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_hashes": 0}, "n_hashes must be from 1 to 16777216, got 0"),
        ({"n_hashes": 2.0}, "n_hashes must be an integer"),
        ({"bits": 17}, "bits must be from 1 to 16, got 17"),
        ({"bits": 0}, "bits must be from 1 to 16, got 0"),
        ({"t_bits": 9}, "t_bits must be from 0 to 8, got 9"),
        ({"method": "minhash"}, "method must be 'icws' or 'levels', got 'minhash'"),
        ({"signed": 1}, "signed must be True or False, got 1"),
    ],
)
def test_bad_parameters(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        ConsistentWeightedSampling(**parameters).fit(X)


def test_negative_values():
    X = sp.csr_array([[1.0, 0, 2], [0, 0, 0], [0, -3, 0]])
    message = r"-3.0 in row 2, column 1; .*signed=True"
    with pytest.raises(ValueError, match=message):
        ConsistentWeightedSampling().fit(X)
    with pytest.raises(ValueError, match=message):
        ConsistentWeightedSampling().fit(abs(X)).transform(X)
    ConsistentWeightedSampling(signed=True).fit(X).transform(X)


def test_duplicates_are_judged_by_their_sum():
    X = sp.csr_array(([3.0, -1, 2], [2, 2, 1], [0, 2, 2, 3]), (3, 4))
    assert ConsistentWeightedSampling(random_state=SEED).fit_transform(X).nnz == 2 * 256
    cancelled = sp.csr_array(([1.0, -1, 2], [2, 2, 1], [0, 2, 2, 3]), (3, 4))
    Z = ConsistentWeightedSampling(random_state=SEED).fit_transform(cancelled)
    assert np.diff(Z.indptr).tolist() == [0, 0, 256]
