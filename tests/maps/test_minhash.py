"""Samples of two sets agree at the rate of their Jaccard similarity."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import reference, theorems
from _oracles.equal import assert_same
from scipy import stats

from sparsemaps import MinHash, codes
from sparsemaps._tools import _seeding

N_TRIALS = 1_500


def make_sets(n_a, n_b, n_common):
    """Two sets of so many members."""
    return np.arange(n_a), np.arange(n_a - n_common, n_a + n_b - n_common)


def exact_kernel(a, b):
    X = csr(a, b)
    return MinHash().fit(X).exact_kernel(X)[0, 1]


def csr(*sets, width=2**40):
    indptr = np.cumsum([0] + [len(s) for s in sets])
    return sp.csr_array(
        (np.ones(indptr[-1]), np.concatenate(sets).astype(np.int64), indptr),
        shape=(len(sets), width),
    )


def real_map(a, b, n_hashes, n_trials):
    """Samples of both sets in so many trials: of four seeds, and of columns renamed at random, so
    that those of one seed are independent."""
    rng = np.random.default_rng(SEED)
    n_columns = max(a.max(), b.max()) + 1
    step = 2**40 // n_columns
    for seed, stop in enumerate(np.linspace(0, n_trials, 5).astype(int)[1:]):
        start = n_trials * seed // 4
        sets = []
        for _ in range(start, stop):
            names = rng.permutation(np.arange(n_columns) * step + rng.integers(0, step, n_columns))
            sets += [np.sort(names[a]), np.sort(names[b])]
        X = csr(*sets)
        samples = MinHash(n_hashes=n_hashes, random_state=SEED + seed).fit(X).sample(X)
        yield from zip(samples[::2], samples[1::2], strict=True)


def real_map_as_named(a, b, n_hashes, n_trials):
    X = csr(a, b)
    for seed in range(n_trials):
        yield MinHash(n_hashes=n_hashes, random_state=SEED + seed).fit(X).sample(X)


def assert_theorem(sampler, a, b, n_hashes, n_trials=N_TRIALS):
    """Each sample by itself, and all together, agree at the rate of the similarity; the mean has at
    most the variance of independent ones."""
    exact = exact_kernel(a, b)
    agree = np.array([s == t for s, t in sampler(a, b, n_hashes, n_trials)])
    assert len(agree) == n_trials
    if n_trials * min(exact, 1 - exact) >= 30 or exact == 1:  # else it is far from normal
        theorems.assert_rate(agree.T, exact)
    theorems.assert_mean(agree.mean(axis=1), exact)
    theorems.assert_variance(agree.mean(axis=1), exact * (1 - exact) / n_hashes, at_most=True)


# (members of each set, members in common): J from 0.02 to 0.98, sizes alike and unlike.
SIZES = [
    (1, 1, 1), (1, 2, 1), (1, 50, 1), (2, 3, 1), (51, 51, 2), (30, 20, 15), (60, 60, 40),
    (200, 198, 197), (1_000, 30, 20), (1_000, 1_000, 500),
]  # fmt: skip


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("n_hashes", [1, 5, 64])
def test_theorem(sizes, n_hashes):
    assert_theorem(real_map, *make_sets(*sizes), n_hashes)


@pytest.mark.parametrize("sizes", [(10_000, 10_000, 9_000), (10_000, 300, 250), (5_000, 9_000, 9)])
def test_theorem_of_many_members(sizes):
    assert_theorem(real_map, *make_sets(*sizes), 512, n_trials=60)


def test_variance_is_lower_where_sets_are_small():
    """The bins of few members repeat less than independent draws would: the figures of the paper's
    theorem, as simulated."""
    for n, expected in ((30, 0.51), (200, 0.68), (1_000, 0.91)):
        a, b = make_sets(n, n, 2 * n // 3)
        exact = exact_kernel(a, b)
        means = np.array([(s == t).mean() for s, t in real_map(a, b, 128, 2_000)])
        found = means.var() / (exact * (1 - exact) / 128)
        assert found < 1.1
        assert abs(found - expected) < 0.1


def test_structured_columns():
    for a, b in (
        (np.arange(40), np.arange(20, 60)),
        (2**30 * np.arange(40), 2**30 * np.arange(60)),
    ):
        assert_theorem(real_map_as_named, a, b, 32, n_trials=800)


@pytest.mark.parametrize("bits", [1, 8])
@theorems.each_structure(60)
def test_codes_of_structured_columns(columns, bits):
    """Sets that have 20 columns in common, and disjoint ones: of alternate columns, and of one
    column each. Samples that differ agree in 2^-bits of all cases."""
    sets = columns[:40], columns[20:], columns[::2], columns[1::2], columns[:1], columns[1:2]
    X, n_hashes = csr(*sets, width=2**62), 4_000
    A = MinHash(n_hashes=n_hashes, bits=bits, random_state=SEED).fit(X).encode(X)
    numbers = codes.unpack(A, bits)
    agree = numbers[::2] == numbers[1::2]
    chance = 2.0**-bits
    theorems.assert_rate(agree[0], 1 / 3 + 2 / 3 * chance)
    theorems.assert_rate(agree[1:], chance)


def test_each_member_is_sampled_alike():
    for n_members, n_hashes in ((7, 64), (1_000, 16)):
        a = 3 * np.arange(n_members)
        X = csr(a)
        counts = np.zeros(n_members)
        for seed in range(400):
            found = MinHash(n_hashes=n_hashes, random_state=SEED + seed).fit(X).sample(X)
            counts += np.bincount(found[0] // 3, minlength=n_members)
        few = counts.reshape(7, -1).sum(axis=1) if n_members == 7 else counts.reshape(10, -1).sum(1)
        # Members are not drawn independently: their counts vary less than that, never more.
        assert stats.chisquare(few).pvalue > theorems.KS_LEVEL


# ---- the definition in NumPy, and wrong ones -----------------------------------------------------


def plain(change):
    """The definition on NumPy's random numbers, which all sets share, spoiled by `change`."""

    def sampler(a, b, n_hashes, n_trials):
        n_members = max(a.max(), b.max()) + 1
        for seed in range(n_trials):
            rng = np.random.default_rng(SEED + seed)
            bins = rng.integers(0, n_hashes, (2 * n_hashes, n_members))
            bins[n_hashes:] = np.arange(n_hashes)[:, None]
            values = rng.random((2 * n_hashes, n_members))
            yield [change(members, bins, values, n_hashes) for members in (a, b)]

    return sampler


def rounds(
    members, bins, values, n_hashes, *, stop_within=False, in_order=False, ignore_round=False
):
    kept = np.full(n_hashes, -1)
    best = np.full(n_hashes, np.inf)
    for t in range(len(bins)):
        open_bins = (kept < 0) | ignore_round
        for number, member in enumerate(members):
            j = bins[t, member]
            value = number if in_order else values[t, member]
            if open_bins[j] and value < best[j]:
                best[j], kept[j] = value, member
            if stop_within and (kept >= 0).all():
                break
        if (kept >= 0).all():
            return kept
    raise AssertionError


MUTANTS = {
    "bins filled in the order of members": lambda m, b, v, k: rounds(m, b, v, k, in_order=True),
    "one hash for all rounds": lambda m, b, v, k: rounds(
        m, np.concatenate([np.repeat(b[:1], k, axis=0), b[k:]]), np.repeat(v[:1], 2 * k, axis=0), k
    ),
    "a value that ignores the round": lambda m, b, v, k: rounds(m, b, v, k, ignore_round=True),
    "ending within a round": lambda m, b, v, k: rounds(m, b, v, k, stop_within=True),
    "all zeros": lambda m, b, v, k: np.zeros(k),
}

PLAIN = [(1, 2, 1, 5), (12, 12, 6, 4), (8, 30, 6, 6), (3, 4, 2, 12)]


def assert_plain(sampler):
    for n_a, n_b, n_common, n_hashes in PLAIN:
        assert_theorem(sampler, *make_sets(n_a, n_b, n_common), n_hashes)


def test_the_definition_passes():
    assert_plain(plain(rounds))


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    with pytest.raises(AssertionError):
        assert_plain(plain(change))


# ---- bit by bit ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_hashes", [1, 2, 3, 16, 100, 300])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 63, 64, 65, 127, 128, 129, 511, 513, 1_100])
def test_against_the_definition(n, n_hashes):
    rng = np.random.default_rng(SEED + n)
    members = np.unique(rng.integers(0, 2**62, n))
    X = csr(members, width=2**62)
    minhash = MinHash(n_hashes=n_hashes, bits=11, random_state=SEED + n).fit(X)
    key, code_key = _seeding.keys(SEED + n, "minhash", 2)
    samples = reference.minhash(key, members, n_hashes)
    np.testing.assert_array_equal(minhash.sample(X)[0], samples)
    numbers = codes.unpack(minhash.encode(X), 11, n_hashes=n_hashes)
    np.testing.assert_array_equal(numbers[0], reference.minhash_codes(code_key, samples, 11))


def test_more_members_than_starts_are_kept():
    members = np.unique(np.random.default_rng(SEED).integers(0, 2**40, 20_000))
    X = csr(members)
    for n_hashes in (3, 100, 5_000):  # one round, and several
        found = MinHash(n_hashes=n_hashes, random_state=SEED + 5).fit(X).sample(X)[0]
        key = _seeding.keys(SEED + 5, "minhash", 2)[0]
        np.testing.assert_array_equal(found, reference.minhash(key, members, n_hashes))


def test_values_have_all_their_bits():
    """The upper half of a word has 15 bits of the value, of which members of a bin share all."""
    members = np.unique(np.random.default_rng(SEED).integers(0, 2**40, 2**19)).astype(np.uint64)
    n_hashes, half = 2**17, np.uint64(32)
    word = reference.mix64(_seeding.keys(SEED, "minhash", 2)[0] ^ reference.mix64(members))
    bins = (word >> half) * np.uint64(n_hashes) >> half
    order = np.lexsort((word, bins))  # as n_hashes is a power of two, values are ordered as words
    filled, first = np.unique(bins[order], return_index=True)
    X = csr(members)
    found = MinHash(n_hashes=n_hashes, random_state=SEED).fit(X).sample(X)[0]
    np.testing.assert_array_equal(found[filled.astype(int)], members[order][first])


def test_rounds_for_single_bins():
    """A set of one member fills bins one by one, the last of them in rounds k + j."""
    X = csr([2**39])
    assert (MinHash(n_hashes=5_000, random_state=SEED).fit(X).sample(X) == 2**39).all()


def test_members_are_columns_that_are_not_zero():
    X = random_csr()
    minhash = MinHash(n_hashes=20, random_state=SEED).fit(X)
    expected = minhash.sample(X)
    other = X.copy()
    other.data[:] = -np.arange(1.0, X.nnz + 1)  # any value, of either sign
    np.testing.assert_array_equal(minhash.sample(other), expected)
    rng = np.random.default_rng(SEED)
    dense = X.toarray()
    filled = dense != 0
    dense[~filled & (rng.random(dense.shape) < 0.1)] = 7  # then stored as zeros
    other = sp.csr_array(dense)
    other.data[other.data == 7] = rng.choice([0.0, -0.0], (other.data == 7).sum())
    assert (np.diff(other.indptr) > np.diff(X.indptr)).any()
    np.testing.assert_array_equal(minhash.sample(other), expected)
    assert_same(minhash.transform(other), minhash.transform(X))


def test_outputs_follow_from_the_samples():
    X = random_csr()
    minhash = MinHash(n_hashes=30, bits=5, random_state=SEED).fit(X)
    members = minhash.sample(X)
    filled = np.diff(X.indptr) > 0
    assert members.dtype == np.int64
    assert (members[~filled] == -1).all()
    for row in np.flatnonzero(filled):
        assert np.isin(members[row], X.indices[X.indptr[row] : X.indptr[row + 1]]).all()
    Z = minhash.transform(X)
    assert (np.diff(Z.indptr) == np.where(filled, 30, 0)).all()
    key = _seeding.keys(SEED, "minhash", 2)[1]
    expected = [reference.minhash_codes(key, row, 5) for row in members[filled]]
    np.testing.assert_array_equal(Z.indices.reshape(-1, 30) - 32 * np.arange(30), expected)
    assert (minhash.encode(X)[~filled] == 0).all()


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_estimate_from_codes(bits):
    """Unbiased for each width, whatever the structure of the columns, with the error stated."""
    a, b = np.arange(0, 80, 2), np.arange(20, 100, 2)
    X, exact, n_hashes = csr(a, b), exact_kernel(a, b), 64
    counts = []
    for seed in range(N_TRIALS):
        A = MinHash(n_hashes=n_hashes, bits=bits, random_state=SEED + seed).fit(X).encode(X)
        counts.append(codes.collisions(A[:1], A[1:], bits)[0, 0])
    kernel, std = codes.kernel_from_collisions(counts, n_hashes, bits, return_std=True)
    theorems.assert_mean(kernel, exact)
    theorems.assert_variance(kernel, (std**2).mean() * 1.05, at_most=True)


def test_one_member_each_agrees_by_chance_alone():
    """In each sample by itself: not in all of them, or in none."""
    X = csr([5], [6])
    A = MinHash(n_hashes=40_000, bits=2, random_state=SEED).fit(X).encode(X)
    one, other = codes.unpack(A, 2)
    theorems.assert_rate(one == other, 1 / 4)
