"""Similar pairs among packed codes are those of all pairs."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.code_pairs import banded, banded_pairs, random_codes, sorted_pairs
from _data.rows import families
from _oracles import theorems
from scipy import stats
from scipy.sparse.csgraph import connected_components

from sparsemaps import (
    ConsistentWeightedSampling,
    MinHash,
    RandomFourier,
    SignProjection,
    codes,
    neighbors,
)
from sparsemaps._loops import codes as _loops
from sparsemaps.codes import PackedCodes
from sparsemaps.neighbors import _bands, _brute, _hashing, _search
from sparsemaps.neighbors._hashing import SearchRun

# ---- pairs ---------------------------------------------------------------------------------------


PAIR_MAPS = [
    MinHash(n_hashes=128, random_state=SEED),
    MinHash(n_hashes=256, bits=1, random_state=SEED),
    MinHash(n_hashes=100, bits=12, random_state=SEED),
    SignProjection(n_hashes=256, random_state=SEED),
    RandomFourier(n_components=256, gamma=0.01, random_state=SEED),
    ConsistentWeightedSampling(n_hashes=100, t_bits=3, random_state=SEED),
]


@pytest.mark.parametrize("new_map", PAIR_MAPS, ids=str)
@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_similar_pairs_of_recall_1_are_all_pairs(new_map, threshold):
    X = families()
    A = new_map.fit(X).encode(X, packed=True)
    expected = sorted_pairs(A, threshold)
    assert len(expected[0]) > 20
    for n_jobs in (None, 2):
        found = neighbors.similar_pairs(A, threshold, recall=1, n_jobs=n_jobs)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other)
    expected = sorted_pairs(A[:100], threshold, A[50:])
    found = neighbors.similar_pairs(A[:100], threshold, recall=1, other=A[50:])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("recall", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("new_map", PAIR_MAPS[:4], ids=str)
def test_recall_of_hashing(new_map, recall):
    """Over seeds, each pair is found with at least the recall; nothing below the threshold is, nor
    twice; similarities are those of all codes."""
    X = families(300)
    shares = []
    for seed in range(25):
        A = new_map.set_params(random_state=SEED + seed).fit(X).encode(X, packed=True)
        i, j, similarity = sorted_pairs(A, 0.6)
        expected = dict(zip(zip(i.tolist(), j.tolist(), strict=True), similarity, strict=True))
        i, j, similarity = banded(A, 0.6, recall)
        found = dict(zip(zip(i.tolist(), j.tolist(), strict=True), similarity, strict=True))
        assert len(found) == len(i)
        assert found.items() <= expected.items()
        shares.append(len(found) / len(expected))
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert np.mean(shares) >= recall - theorems.N_STANDARD_ERRORS * error


@pytest.mark.parametrize("n_agreeing", [5, 30, 51, 63, 64])
@pytest.mark.parametrize(("length", "n_bands"), [(1, 3), (4, 16), (7, 9), (20, 2)])
def test_recall_is_the_share_of_ways_to_agree(n_agreeing, length, n_bands):
    rng = np.random.default_rng(SEED)
    agree = np.argsort(rng.random((20_000, 64)), axis=1) < n_agreeing
    found = agree[:, : n_bands * length].reshape(-1, n_bands, length).all(axis=2).any(axis=1)
    expected = _bands.recall_of(_bands.Bands(length, n_bands), 64, n_agreeing)
    error = np.sqrt(max(expected * (1 - expected), 1e-9) / len(found))
    assert abs(found.mean() - expected) <= 5 * error + 1e-9


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16, 24])
def test_pairs_that_hashing_finds_are_compared_by_all_codes(bits):
    A = random_codes(50, 96)[np.random.default_rng(SEED + 1).integers(0, 50, 300)]
    A[:, ::7] = random_codes(300, 14, seed=2)
    n_codes = 8 * A.shape[1] // bits
    agreeing = codes.collisions(A, A, bits)
    a = PackedCodes(A, bits, {})
    i, j, differing = banded_pairs(a, None, n_codes, _bands.Bands(2, 16))
    assert len(i) > 100
    np.testing.assert_array_equal(differing, n_codes - agreeing[i, j])


def test_hashing_by_parts_by_threads_and_of_two_sets():
    X = families()
    A = MinHash(n_hashes=128, random_state=SEED).fit(X).encode(X, packed=True)
    B = A[::2]
    expected = banded(A, 0.6, 0.9), banded(A, 0.6, 0.9, B)
    all_of_two = dict.fromkeys(zip(*sorted_pairs(A, 0.6, B)[:2], strict=True))
    assert set(zip(*expected[1][:2], strict=True)) <= set(all_of_two)
    assert len(expected[1][0]) > 0.9 * len(all_of_two)
    sizes = _hashing.Sizes(keys=100, pairs=7)
    for n_jobs in (1, 3):
        for other, before in zip((None, B), expected, strict=True):
            found = banded(A, 0.6, 0.9, other, n_jobs=n_jobs, sizes=sizes)
            for one, two in zip(found, before, strict=True):
                np.testing.assert_array_equal(one, two)


def test_a_text_that_stands_thousands_of_times():
    """The answer is bounded, and its connected components are those of the copies."""
    X = families(500)
    A = MinHash(n_hashes=64, random_state=SEED).fit(X).encode(X, packed=True)
    alone = np.setdiff1d(np.flatnonzero(A.sampled), np.concatenate(sorted_pairs(A, 0.2)[:2]))[0]
    A = A[np.concatenate([np.arange(500), np.full(20_000, alone)])]
    i, j, similarity = neighbors.similar_pairs(A, 0.8)
    assert len(i) < 1000 * len(A)
    graph = sp.coo_array((similarity, (i, j)), shape=(len(A), len(A)))
    _, labels = connected_components(graph, directed=False)
    assert (labels[500:] == labels[alone]).all()
    others = np.flatnonzero(labels[:500] != labels[alone])
    expected = set(zip(*sorted_pairs(A[others], 0.8)[:2], strict=True))
    kept = np.isin(i, others) & np.isin(j, others)
    found = np.searchsorted(others, i[kept]), np.searchsorted(others, j[kept])
    assert set(zip(*found, strict=True)) <= expected
    assert kept.sum() >= 0.9 * len(expected)


def test_copies_are_counted_by_their_codes():
    """Also where rows with other codes have the same hash."""
    A = random_codes(3, 16)[np.random.default_rng(SEED).integers(0, 3, 60)]
    keys = np.arange(60, dtype=np.uint64)
    _loops.number_buckets(keys, A, A[:0], 0, 128, 5, 5, 2**20, np.zeros(2, np.int64))
    pairs = _hashing.pairs_of_copies(keys, 5)
    first_of = {int(pair) & 2**32 - 1: int(pair) >> 32 for pair in pairs}
    assert len(first_of) == len(pairs) > 20
    for row in range(60):
        same = np.flatnonzero((A[row] == A).all(axis=1))
        assert first_of.get(row) == (same[0] if row in same[5:] else None)


def test_rows_are_numbered_by_their_bits():
    """Not by the hashes of these alone."""
    array = np.random.default_rng(SEED).integers(1, 51, (300, 2)).astype(np.uint8)
    array[:100, 0] = np.tile(np.arange(1, 51), 2)  # a row that is alone is in no bucket
    keys = _hashing._Hashed(PackedCodes(array, 8, {}), None, 0, SearchRun(1)).buckets(0, 8, 0)
    numbers, rows = keys >> np.uint64(32), (keys & np.uint64(2**32 - 1)).astype(int)
    assert np.array_equal(np.unique(numbers), np.arange(len(np.unique(array[:, 0]))))
    assert len(np.unique(np.stack([numbers, array[rows, 0]]), axis=1).T) == len(np.unique(numbers))


def test_large_buckets_are_of_equal_bits(monkeypatch):
    """Also where a hash has one bit, so that many rows share it by chance."""
    band_keys = _loops.band_keys

    def weak(*arguments):
        row_bits, keys = arguments[6], arguments[9]
        n = band_keys(*arguments)
        keys[:n] &= np.uint64(2 ** (row_bits + 1) - 1)
        return n

    monkeypatch.setattr(_loops, "band_keys", weak)
    array = np.random.default_rng(SEED).integers(1, 51, (300, 2)).astype(np.uint8)
    array[:100, 0] = np.tile(np.arange(1, 51), 2)  # a row that is alone is in no bucket
    keys = _hashing._Hashed(PackedCodes(array, 8, {}), None, 0, SearchRun(1)).buckets(0, 8, 0)
    assert len(keys) == 300
    numbers, rows = keys >> np.uint64(32), (keys & np.uint64(2**32 - 1)).astype(int)
    by_number = np.unique(np.stack([numbers, array[rows, 0]]), axis=1).T
    assert len(by_number) == len(np.unique(numbers)) == len(np.unique(array[:, 0]))


def test_pairs_have_the_bits_of_the_band():
    """Rows that share a bucket by chance are not found there, so that the key does not matter."""
    A = np.array([[1, 2, 3, 4], [1, 2, 3, 5]], np.uint8)
    keys, pairs = np.arange(2, dtype=np.uint64), np.empty(1, np.uint64)
    for band, n_found in (0, 1), (1, 0):
        state = np.array([0, 0])
        _loops.number_buckets(keys, A, A[:0], 16 * band, 16, 7, 2, 100, state)
        assert state[0] == 2
        buckets = _loops.Buckets(keys, True, A, A[:0], 8, 4, 16 * band, 16, 1, 100)
        assert buckets.verify(0, 2, pairs) == n_found


@pytest.mark.parametrize("recall", [0.5, 0.9, 1.0])
def test_what_may_be_missing(recall):
    """Half of the share that may be missed is that of rows of which too few codes agree."""
    A = PackedCodes(np.ones((1, 64), np.uint8), 8, {})
    counts = np.arange(65)
    below = stats.binom.cdf(counts, 64, 0.5 + 0.5 / 256)
    found = _search.may_be_missing(A, counts, np.full(65, 0.5), recall)
    np.testing.assert_array_equal(found, below >= max((1 - recall) / 2, 1e-9))


@pytest.mark.parametrize("max_rows", [1, 10, 10**6])
def test_buckets_are_of_equal_bits(max_rows):
    """Whatever the hashes are, in two sets of rows, and however often a call ends."""
    rng = np.random.default_rng(SEED)
    A, B = rng.integers(0, 3, (2, 200, 4)).astype(np.uint8)
    rows = np.arange(400, dtype=np.uint64)
    hashes = np.concatenate([A, B])[:, 1].astype(np.uint64) % 2  # a function of the bits
    keys = np.sort(hashes << np.uint64(32) | rows)
    state = np.zeros(2, np.int64)
    n_calls = 0
    while state[0] < 400:
        _loops.number_buckets(keys, A, B, 8, 16, 7, 1, max_rows, state)
        n_calls += 1
    assert n_calls == (2 if max_rows < 100 else 1)
    numbers, rows = keys >> np.uint64(32), (keys & np.uint64(2**32 - 1)).astype(int)
    assert (np.diff(numbers.astype(int)) >= 0).all()
    band = np.concatenate([A, B])[rows, 1:3]
    by_number = {}
    for number, row, bits in zip(numbers.tolist(), rows.tolist(), band.tolist(), strict=True):
        by_number.setdefault(number, []).append((row, tuple(bits)))
    for bucket in by_number.values():
        assert len({bits for _, bits in bucket}) == 1
        assert [row for row, _ in bucket] == sorted(row for row, _ in bucket)
    assert len(by_number) == len({tuple(bits) for bits in band.tolist()})


def test_the_answer_does_not_depend_on_the_key():
    """Which each call draws."""
    A = MinHash(n_hashes=64, random_state=SEED).fit_any_width().encode(families(400), packed=True)
    A = A[np.random.default_rng(SEED).integers(0, 400, 3000)]
    expected = banded(A, 0.7, 0.9, max_bucket=4), banded(A, 0.7, 0.9, A[::3], max_bucket=4)
    for _ in range(10):
        found = banded(A, 0.7, 0.9, max_bucket=4), banded(A, 0.7, 0.9, A[::3], max_bucket=4)
        for one, other in zip(found, expected, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)
    assert len({SearchRun().hash_keys()[0] for _ in range(20)}) == 20


def n_compared(codes, other, bands, max_bucket):
    """How many pairs are compared in all bands."""
    hashed = _hashing._Hashed(codes, other, 0, SearchRun(max_bucket))
    n_bits = bands.length * codes.bits
    places = [(band * n_bits, n_bits) for band in range(bands.n_bands)]
    space, n = np.empty(2**17, np.uint64), 0
    for place in places:
        for run in hashed._runs(hashed.buckets(*place, 0), *place):
            while not run.done:
                run.verify(hashed._first_other, max_bucket, space)
                n += run.n_compared
    return n


@pytest.mark.parametrize("max_bucket", [1, 10])
def test_equal_rows_cost_no_more_than_max_bucket_each(max_bucket):
    """Within a set, and between two, where the second has many rows in one bucket."""
    A = PackedCodes(np.ones((3000, 8), np.uint8), 8, {})
    bands = _bands.Bands(2, 4)
    assert n_compared(A, None, bands, max_bucket) <= 4 * 3000 * max_bucket
    assert n_compared(A[:1000], A[1000:], bands, max_bucket) == 4 * 2000 * max_bucket
    i, j, _ = banded_pairs(A[:1000], A[1000:], 0, bands, SearchRun(max_bucket))
    assert len(i) == len(j) == 2000 * max_bucket
    assert i.min() == 1000 - max_bucket  # the last rows of the first set


def test_a_call_compares_few_pairs(short_calls):
    """And goes on where it ended, with the same answer."""
    A = MinHash(n_hashes=64, random_state=SEED).fit_any_width().encode(families(400), packed=True)
    A = A[np.random.default_rng(SEED).integers(0, 400, 1000)]

    def answers(n_jobs, sizes=_hashing.SIZES):
        for other in (None, A[::2]):
            yield from banded(A, 0.7, 0.9, other, n_jobs=n_jobs, sizes=sizes)
            yield from neighbors.similar_pairs(A, 0.7, recall=1, other=other, n_jobs=n_jobs)
        yield from neighbors.top_k(A[:300], A, 5, n_jobs=n_jobs)

    expected = list(answers(None))
    sizes = _hashing.Sizes(call_bytes=1000)
    short_calls(10**6)
    for n_jobs in (None, 2, 3):
        for one, two in zip(answers(n_jobs, sizes), expected, strict=True):
            np.testing.assert_array_equal(one, two)


def test_pairs_do_not_depend_on_how_many_keys_are_held():
    A = MinHash(n_hashes=64, random_state=SEED).fit_any_width().encode(families(400), packed=True)
    A = A[np.random.default_rng(SEED).integers(0, 400, 3000)]
    expected = banded(A, 0.7, 0.9, max_bucket=4)
    for n_keys in (100, 999):
        found = banded(A, 0.7, 0.9, max_bucket=4, sizes=_hashing.Sizes(keys=n_keys))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_estimate_is_that_of_the_codes_that_know_their_map():
    A = (
        SignProjection(n_hashes=256, random_state=SEED)
        .fit_any_width()
        .encode(families(), packed=True)
    )
    expected = neighbors.similar_pairs(A, 0.8, recall=1, other=A)
    for one, other in ((A.array, A), (A, A.array)):
        found = neighbors.similar_pairs(one, 0.8, recall=1, other=other)
        np.testing.assert_array_equal(np.unique(found[2]), np.unique(expected[2]))


def test_nearly_equal_texts_in_one_bucket_are_bounded():
    """Thousands of rows that differ in one code each: a bucket that is not of copies."""
    codes_ = np.tile(random_codes(1, 64), (5_000, 1))
    codes_[np.arange(5_000), np.arange(5_000) % 64] += 1 + np.arange(5_000, dtype=np.uint8) // 64
    A = PackedCodes(codes_, 8, {})
    i, j, _ = banded(A, 0.9, 0.95, max_bucket=50)
    assert len(i) < 50 * 30 * 5_000
    n_components, _ = connected_components(
        sp.coo_array((np.ones(len(i)), (i, j)), shape=(5_000, 5_000)), directed=False
    )
    assert n_components == 1


def test_no_rows():
    A = PackedCodes(np.empty((0, 8), np.uint8), 8, {})
    assert [len(part) for part in neighbors.similar_pairs(A, 0.5)] == [0, 0, 0]
    B = PackedCodes(random_codes(5, 8), 8, {})
    assert neighbors.top_k(A, B, 3)[0].shape == (0, 3)
    assert len(neighbors.similar_pairs(B, 0.5, other=A)[0]) == 0


# ---- recall --------------------------------------------------------------------------------------


def exact_recall(bands, n_hashes, n_agreeing):
    """In whole numbers."""
    length, n_bands = bands
    ways = sum(
        (-1) ** j
        * math.comb(n_bands, j)
        * math.comb(n_hashes - j * length, n_agreeing - j * length)
        for j in range(min(n_bands, n_agreeing // length) + 1)
    )
    return float(1 - Fraction(ways, math.comb(n_hashes, n_agreeing)))


@pytest.mark.parametrize("n_hashes", [1024, 1025, 2048])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("length", [1, 4, 16])
def test_recall_of_many_codes_is_never_above_the_exact_one(n_hashes, share, length):
    """And little below it."""
    n_agreeing = round(share * n_hashes)
    for n_bands in (1, 5, 30, 64):
        bands = _bands.Bands(length, n_bands)
        exact = exact_recall(bands, n_hashes, n_agreeing)
        found = _bands.recall_of(bands, n_hashes, n_agreeing)
        assert exact - 0.01 <= found <= exact + 1e-12
        if n_hashes <= 1024:
            assert abs(found - exact) <= 1e-12


@pytest.mark.parametrize(
    ("n_hashes", "n_agreeing", "length", "n_bands"),
    [(64, 48, 8, 5), (64, 40, 4, 9), (128, 115, 12, 6), (256, 205, 10, 14)],
)
def test_bands_find_pairs_that_are_just_at_the_threshold(n_hashes, n_agreeing, length, n_bands):
    """The least number of bands reaches the recall, and one less does not."""
    bands = _bands.Bands(length, n_bands)
    recall = exact_recall(bands, n_hashes, n_agreeing)
    assert _bands._least_bands(length, n_hashes, n_agreeing, recall - 1e-9) == n_bands
    assert _bands._least_bands(length, n_hashes, n_agreeing, recall + 1e-9) == n_bands + 1
    n_pairs = 20_000
    rng = np.random.default_rng(SEED)
    one = rng.integers(0, 256, (n_pairs, n_hashes), dtype=np.uint8)
    agree = np.argsort(rng.random(one.shape), axis=1) < n_agreeing
    A = PackedCodes(one, 8, {})
    B = PackedCodes(np.where(agree, one, one + 1), 8, {})
    max_differing = n_hashes - n_agreeing
    shares = []
    for number in (n_bands, n_bands - 1):
        bands = _bands.Bands(length, number)
        i, j, differing = banded_pairs(A, B, max_differing, bands)
        np.testing.assert_array_equal(i, j)
        assert (differing == max_differing).all()
        shares.append(len(i) / n_pairs)
    error = np.sqrt(recall * (1 - recall) / n_pairs)
    assert abs(shares[0] - recall) <= theorems.N_STANDARD_ERRORS * error
    assert shares[1] < recall - theorems.N_STANDARD_ERRORS * error


@pytest.mark.parametrize("n_rows", [0, 1, 256, 257, 20_000, 1_000_000])
def test_steps_of_all_rows_take_as_long(n_rows):
    """They hold each row once, and about as many pairs, up to a block of 256 rows at each end."""
    for is_one_set in (False, True):
        steps = _brute.steps_of(n_rows, is_one_set)
        rows = np.concatenate([np.empty(0, int), *(np.arange(*step) for step in steps)])
        np.testing.assert_array_equal(rows, np.arange(n_rows))
        after = n_rows - np.arange(n_rows) if is_one_set else np.full(n_rows, n_rows)
        n_pairs = np.array([after[start:stop].sum() for start, stop in steps])
        assert len(steps) <= 64
        assert (np.abs(n_pairs - n_pairs.sum() / 64) <= 2 * 256 * n_rows).all() or n_rows < 2**14
