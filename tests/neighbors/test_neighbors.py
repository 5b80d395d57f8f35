"""Search among packed codes is what a full sort and all pairs give."""

import functools
import math
import pickle
import tracemalloc
import zipfile
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import theorems
from conftest import families, random_csr
from scipy import stats
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import DBSCAN
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomFourier,
    SignProjection,
    codes,
    libsvm,
    neighbors,
)
from sparsemaps._loops import neighbors as _kernel
from sparsemaps.cli import main
from sparsemaps.codes import PackedCodes, _packed
from sparsemaps.kernels import min_max_kernel
from sparsemaps.libsvm import _pipeline
from sparsemaps.neighbors import KernelNeighbors, _row_index, _search


def random_codes(n_rows, n_bytes, seed=0, n_values=256):
    return np.random.default_rng(seed).integers(0, n_values, (n_rows, n_bytes), dtype=np.uint8)


def sorted_pairs(A, threshold, B=None):
    """All pairs, from the matrix of all."""
    other = A if B is None else B
    similarity = codes.kernel_from_collisions(codes.collisions(A, other), A)
    alike = (similarity >= threshold - 1e-12) & A.sampled[:, None] & other.sampled
    i, j = np.nonzero(np.triu(alike, 1) if B is None else alike)
    return i, j, similarity[i, j]


# ---- nearest rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8, 12, 16, 24])
@pytest.mark.parametrize("n_bytes", [2, 8, 33, 64, 200, 600])
def test_top_k_is_a_full_sort(bits, n_bytes):
    """Ties included, of which there are many where codes have few values."""
    if 8 * n_bytes < bits:
        return
    A = random_codes(700, n_bytes, n_values=3)
    Q = random_codes(37, n_bytes, seed=1, n_values=3)
    Q[:5] = A[300:305]
    counts = codes.collisions(Q, A, bits)
    for k in (1, 10, 700):
        indices, agreements = neighbors.top_k(Q, A, k, bits=bits)
        assert indices.dtype == np.int64
        assert agreements.dtype == np.int32
        sampled = A.any(axis=1) if 8 * n_bytes // bits * bits >= 64 else np.ones(700, bool)
        assert sampled.all()
        expected = np.argsort(-counts, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(agreements, np.take_along_axis(counts, expected, 1))


@pytest.mark.parametrize("n_queries", [1, 3, 600])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_top_k_by_threads(n_queries, n_jobs):
    A = random_codes(40_000, 4, n_values=5)
    expected = neighbors.top_k(A[:n_queries], A, 20, bits=8)
    found = neighbors.top_k(A[:n_queries], A, 20, bits=8, n_jobs=n_jobs)
    np.testing.assert_array_equal(found, expected)


def test_rows_without_samples_are_nobodys_neighbours():
    X = random_csr()
    empty = np.diff(X.indptr) == 0
    A = MinHash(n_hashes=40, random_state=0).fit(X).encode(X, packed=True)
    for one in (A, A.array):
        more = {} if one is A else {"bits": 8}
        indices, agreements = neighbors.top_k(one, one, 40, **more)
        assert (indices[empty] == -1).all()
        assert not np.isin(indices, np.flatnonzero(empty)).any()
        assert (indices[~empty][:, -empty.sum() :] == -1).all()
        assert (agreements[indices == -1] == 0).all()
        i, j, _ = neighbors.similar_pairs(one, 1e-3, **more)
        assert not empty[i].any()
        assert not empty[j].any()


# ---- pairs ---------------------------------------------------------------------------------------

PAIR_MAPS = [
    MinHash(n_hashes=128, random_state=0),
    MinHash(n_hashes=256, bits=1, random_state=0),
    MinHash(n_hashes=100, bits=12, random_state=0),
    SignProjection(n_hashes=256, random_state=0),
    RandomFourier(n_components=256, gamma=0.01, random_state=0),
    ConsistentWeightedSampling(n_hashes=100, t_bits=3, random_state=0),
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


def some_bands(codes, n_agreeing, recall):
    """Bands of up to 12 codes, also where comparing all pairs would cost less."""
    for length in range(12, 0, -1):
        n_bands = _search._least_bands(length, codes.n_hashes, n_agreeing, recall)
        if n_bands is not None:
            return _search.Bands(length, n_bands)
    raise AssertionError("no bands reach the recall")


def banded(A, threshold, recall, B=None, max_bucket=1000, n_jobs=None):
    """By hashing, also where comparing all pairs would cost less."""
    n_agreeing = _search.least_agreeing(A, threshold)
    bands = some_bands(A, n_agreeing, recall)
    pairs = _search.banded_pairs(A, B, A.n_hashes - n_agreeing, bands, max_bucket, n_jobs)
    return _search.estimated(A, B, threshold, *pairs)


@pytest.mark.parametrize("recall", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("new_map", PAIR_MAPS[:4], ids=str)
def test_recall_of_hashing(new_map, recall):
    """Over seeds, each pair is found with at least the recall; nothing below the threshold is, nor
    twice; similarities are those of all codes."""
    X = families(300)
    shares = []
    for seed in range(25):
        A = new_map.set_params(random_state=seed).fit(X).encode(X, packed=True)
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
    rng = np.random.default_rng(0)
    agree = np.argsort(rng.random((20_000, 64)), axis=1) < n_agreeing
    found = agree[:, : n_bands * length].reshape(-1, n_bands, length).all(axis=2).any(axis=1)
    expected = _search.recall_of(_search.Bands(length, n_bands), 64, n_agreeing)
    error = np.sqrt(max(expected * (1 - expected), 1e-9) / len(found))
    assert abs(found.mean() - expected) <= 5 * error + 1e-9


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16, 24])
def test_pairs_that_hashing_finds_are_compared_by_all_codes(bits):
    A = random_codes(50, 96)[np.random.default_rng(1).integers(0, 50, 300)]
    A[:, ::7] = random_codes(300, 14, seed=2)
    n_codes = 8 * A.shape[1] // bits
    agreeing = codes.collisions(A, A, bits)
    a = PackedCodes(A, bits, {})
    i, j, differing = _search.banded_pairs(a, None, n_codes, _search.Bands(2, 16), 1000, None)
    assert len(i) > 100
    np.testing.assert_array_equal(differing, n_codes - agreeing[i, j])


def test_hashing_by_parts_by_threads_and_of_two_sets(monkeypatch):
    X = families()
    A = MinHash(n_hashes=128, random_state=0).fit(X).encode(X, packed=True)
    B = A[::2]
    expected = banded(A, 0.6, 0.9), banded(A, 0.6, 0.9, B)
    all_of_two = dict.fromkeys(zip(*sorted_pairs(A, 0.6, B)[:2], strict=True))
    assert set(zip(*expected[1][:2], strict=True)) <= set(all_of_two)
    assert len(expected[1][0]) > 0.9 * len(all_of_two)
    monkeypatch.setattr(_search, "_KEYS", 100)
    monkeypatch.setattr(_search, "_PAIRS", 7)
    for n_jobs in (1, 3):
        for found, before in zip(
            (banded(A, 0.6, 0.9, n_jobs=n_jobs), banded(A, 0.6, 0.9, B, n_jobs=n_jobs)),
            expected,
            strict=True,
        ):
            for one, other in zip(found, before, strict=True):
                np.testing.assert_array_equal(one, other)


def test_a_text_that_stands_thousands_of_times():
    """The answer is bounded, and its connected components are those of the copies."""
    X = families(500)
    rows = np.concatenate([np.arange(500), np.full(20_000, 3)])
    A = MinHash(n_hashes=64, random_state=0).fit(X).encode(X, packed=True)[rows]
    i, j, similarity = neighbors.similar_pairs(A, 0.8)
    assert len(i) < 1000 * len(A)
    graph = sp.coo_array((similarity, (i, j)), shape=(len(A), len(A)))
    _, labels = connected_components(graph, directed=False)
    assert (labels[500:] == labels[3]).all()
    others = np.flatnonzero(labels[:500] != labels[3])
    expected = set(zip(*sorted_pairs(A[others], 0.8)[:2], strict=True))
    kept = np.isin(i, others) & np.isin(j, others)
    found = np.searchsorted(others, i[kept]), np.searchsorted(others, j[kept])
    assert set(zip(*found, strict=True)) <= expected
    assert kept.sum() >= 0.9 * len(expected)


def test_copies_are_counted_by_their_codes():
    """Also where rows with other codes have the same hash."""
    A = random_codes(3, 16)[np.random.default_rng(0).integers(0, 3, 60)]
    keys, first_of = np.arange(60, dtype=np.uint64), np.full(60, -1)
    kept = np.ones(60, np.uint8)
    _kernel.number_buckets(keys, A, A[:0], 0, 128, 5, 2**20, np.zeros(2, np.int64))
    _kernel.find_copies(keys, 5, kept, first_of)
    for row in range(60):
        same = np.flatnonzero((A[row] == A).all(axis=1))
        is_copy = row in same[5:]
        assert kept[row] == (not is_copy)
        assert first_of[row] == (same[0] if is_copy else -1)


def test_rows_are_numbered_by_their_bits():
    """Not by the hashes of these alone."""
    array = np.random.default_rng(0).integers(0, 50, (300, 2)).astype(np.uint8)
    keys = _search._Hashed(PackedCodes(array, 8, {}), None).buckets(0, 8, 0)
    numbers, rows = keys >> np.uint64(32), (keys & np.uint64(2**32 - 1)).astype(int)
    assert np.array_equal(np.unique(numbers), np.arange(len(np.unique(array[:, 0]))))
    assert len(np.unique(np.stack([numbers, array[rows, 0]]), axis=1).T) == len(np.unique(numbers))


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
    rng = np.random.default_rng(0)
    A, B = rng.integers(0, 3, (2, 200, 4)).astype(np.uint8)
    rows = np.arange(400, dtype=np.uint64)
    hashes = np.concatenate([A, B])[:, 1].astype(np.uint64) % 2  # a function of the bits
    keys = np.sort(hashes << np.uint64(32) | rows)
    state = np.zeros(2, np.int64)
    n_calls = 0
    while state[0] < 400:
        _kernel.number_buckets(keys, A, B, 8, 16, 7, max_rows, state)
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


def test_the_answer_does_not_depend_on_the_key(monkeypatch):
    """Which each call draws."""
    A = MinHash(n_hashes=64, random_state=0).fit_any_width().encode(families(400), packed=True)
    A = A[np.random.default_rng(0).integers(0, 400, 3000)]
    expected = banded(A, 0.7, 0.9, max_bucket=4), banded(A, 0.7, 0.9, A[::3], max_bucket=4)
    drawn = []
    for number in range(10):
        monkeypatch.setattr(_search, "draw_hash_key", lambda n=number: drawn.append(n) or n)
        found = banded(A, 0.7, 0.9, max_bucket=4), banded(A, 0.7, 0.9, A[::3], max_bucket=4)
        for one, other in zip(found, expected, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)
    assert len(set(drawn)) == 10
    monkeypatch.undo()
    assert len({_search.draw_hash_key() for _ in range(20)}) == 20


def n_compared(codes, other, bands, max_bucket):
    """How many pairs are compared in all bands."""
    hashed = _search._Hashed(codes, other)
    n_bits = bands.length * codes.bits
    return sum(
        hashed.verified(hashed.buckets(band * n_bits, n_bits, 0), 0, max_bucket)[1]
        for band in range(bands.n_bands)
    )


@pytest.mark.parametrize("max_bucket", [1, 10])
def test_equal_rows_cost_no_more_than_max_bucket_each(max_bucket):
    """Within a set, and between two, where the second has many rows in one bucket."""
    A = PackedCodes(np.ones((3000, 8), np.uint8), 8, {})
    bands = _search.Bands(2, 4)
    assert n_compared(A, None, bands, max_bucket) <= 4 * 3000 * max_bucket
    assert n_compared(A[:1000], A[1000:], bands, max_bucket) == 4 * 2000 * max_bucket
    i, j, _ = _search.banded_pairs(A[:1000], A[1000:], 0, bands, max_bucket, None)
    assert len(i) == len(j) == 2000 * max_bucket
    assert i.min() == 1000 - max_bucket  # the last rows of the first set


def test_a_call_compares_few_pairs(monkeypatch):
    """And goes on where it ended, with the same answer."""
    A = MinHash(n_hashes=64, random_state=0).fit_any_width().encode(families(400), packed=True)
    A = A[np.random.default_rng(0).integers(0, 400, 1000)]

    def answers(n_jobs):
        for other in (None, A[::2]):
            yield from banded(A, 0.7, 0.9, other, n_jobs=n_jobs)
            yield from neighbors.similar_pairs(A, 0.7, recall=1, other=other, n_jobs=n_jobs)
        yield from neighbors.top_k(A[:300], A, 5, n_jobs=n_jobs)

    expected = list(answers(None))
    monkeypatch.setattr(_search, "_CALL_BYTES", 1000)
    monkeypatch.setattr(_packed, "_CALL_BITS", 10**6)
    for n_jobs in (None, 2, 3):
        for one, two in zip(answers(n_jobs), expected, strict=True):
            np.testing.assert_array_equal(one, two)


def test_pairs_do_not_depend_on_how_many_keys_are_held(monkeypatch):
    A = MinHash(n_hashes=64, random_state=0).fit_any_width().encode(families(400), packed=True)
    A = A[np.random.default_rng(0).integers(0, 400, 3000)]
    expected = banded(A, 0.7, 0.9, max_bucket=4)
    for n_keys in (100, 999):
        monkeypatch.setattr(_search, "_KEYS", n_keys)
        for one, other in zip(banded(A, 0.7, 0.9, max_bucket=4), expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_estimate_is_that_of_the_codes_that_know_their_map():
    A = SignProjection(n_hashes=256, random_state=0).fit_any_width().encode(families(), packed=True)
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


# ---- the index -----------------------------------------------------------------------------------


def index_of(X, **more):
    return KernelNeighbors(MinHash(n_hashes=256, random_state=0), **more).fit(X)


@pytest.mark.parametrize("algorithm", ["auto", "brute", "lsh"])
def test_kneighbors(algorithm):
    X = families()
    index = index_of(X, algorithm=algorithm, recall=0.999)
    A = index.codes_
    similarity = codes.kernel_from_collisions(codes.collisions(A, A), A)
    similarity[:, ~A.sampled] = -np.inf
    distances, indices = index.kneighbors(X, 4)
    expected = np.argsort(-similarity, axis=1, kind="stable")[:, :4]
    sampled = A.sampled
    same = (indices == expected)[sampled]
    assert same.all() if algorithm != "lsh" else same.mean() > 0.99
    np.testing.assert_allclose(
        distances[sampled][same],
        1 - np.take_along_axis(similarity, expected, 1)[sampled][same],
        atol=1e-12,
    )
    assert (indices[~sampled] == -1).all()
    assert np.isinf(distances[~sampled]).all()
    np.fill_diagonal(similarity, -np.inf)
    distances, indices = index.kneighbors(n_neighbors=4)
    expected = np.argsort(-similarity, axis=1, kind="stable")[:, :4]
    assert ((indices == expected)[sampled]).mean() > 0.99
    assert (indices != np.arange(len(indices))[:, None]).all()
    np.testing.assert_array_equal(index.kneighbors(X, 4, return_distance=False)[:, 0] >= 0, sampled)


def test_rerank_orders_by_the_exact_kernel():
    X = families()
    index = index_of(X, rerank=True)
    K = index.map_.exact_kernel(X)
    sampled = index.codes_.sampled
    distances, indices = index.kneighbors(X, 3)
    best = -np.sort(-K, axis=1)[:, :3]
    np.testing.assert_allclose(distances[sampled], 1 - np.take_along_axis(K, indices, 1)[sampled])
    assert (abs(1 - distances - best)[sampled] < 0.05).mean() > 0.99
    i, j, similarity = index.similar_pairs(0.8)
    np.testing.assert_allclose(similarity, K[i, j])
    assert similarity.min() >= 0.8
    graph = index.radius_neighbors_graph(X[:50], 0.3, mode="distance").tocoo()
    np.testing.assert_allclose(graph.data, 1 - K[graph.row, graph.col])


@pytest.mark.parametrize("algorithm", ["auto", "brute", "lsh"])
def test_radius_neighbors(algorithm):
    X = families(200)
    index = index_of(X, algorithm=algorithm, radius=0.4, recall=0.999)
    A = index.codes_
    i, j, similarity = sorted_pairs(A, 0.6, A)
    expected = sp.csr_array((1 - similarity, (i, j)), shape=(200, 200))
    found = index.radius_neighbors_graph(X, mode="distance")
    assert abs(found - expected).max() < 1e-12
    distances, indices = index.radius_neighbors(X, sort_results=True)
    for row in range(200):
        assert set(indices[row]) == set(j[i == row])
        assert (np.diff(distances[row]) >= 0).all()
    without = index.radius_neighbors_graph(mode="connectivity")
    assert without.diagonal().sum() == 0
    assert without.nnz == expected.nnz - A.sampled.sum()
    assert (without != without.T).nnz == 0


def pairs_of_similarity(shared, n_pairs=300, n_members=40, seed=0):
    """Rows 2 i and 2 i + 1 are sets with `n_members` members together, of which both have
    `shared`; no others have one in common."""
    rng = np.random.default_rng(seed)
    columns = rng.permutation(n_pairs * n_members).reshape(n_pairs, n_members)
    half = (n_members - shared) // 2
    first, second = (
        columns[:, : shared + half],
        columns[:, list(range(shared)) + list(range(-half, 0))],
    )
    rows = np.stack([first, second], axis=1).reshape(2 * n_pairs, -1)
    indptr = np.arange(2 * n_pairs + 1) * rows.shape[1]
    shape = 2 * n_pairs, columns.size
    return sp.csr_array(
        (np.ones(rows.size), np.sort(rows, axis=1).reshape(-1), indptr), shape=shape
    )


RERANKED = [
    MinHash(n_hashes=64, random_state=0),
    MinHash(n_hashes=64, bits=1, random_state=0),
    SignProjection(n_hashes=128, random_state=0),
    RandomFourier(n_components=128, gamma=0.01, random_state=0),
    KernelProduct(maps=(MinHash(n_hashes=128, bits=3), SignProjection(n_hashes=128))),
]


@pytest.mark.parametrize("new_map", RERANKED, ids=str)
@pytest.mark.parametrize(("algorithm", "recall"), [("auto", 0.8), ("lsh", 0.95), ("brute", 0.5)])
def test_recall_of_rerank_at_the_threshold(new_map, algorithm, recall):
    """Pairs whose exact kernel is the threshold: half of their estimates are below it."""
    X = pairs_of_similarity(28, n_pairs=100)
    threshold = new_map.fit(X).exact_kernel(X[:1], X[1:2])[0, 0]
    radius = 1 - threshold
    shares = []
    for seed in range(3):
        index = KernelNeighbors(
            new_map.set_params(random_state=seed), algorithm=algorithm, recall=recall, rerank=True
        ).fit(X)
        i, j, similarity = index.similar_pairs(threshold)
        assert (i // 2 == j // 2).all()
        np.testing.assert_allclose(similarity, threshold)
        graph = index.radius_neighbors_graph(X[::2], radius, mode="distance")
        n_found = graph.nnz - (graph.data < 1e-9).sum()
        nearest = index.kneighbors(X[::2], 2, return_distance=False)
        near = (nearest == np.arange(1, 200, 2)[:, None]).any(axis=1).sum()
        shares.append(np.array([len(i), n_found, near]) / 100)
    wanted = 1 if algorithm == "brute" else recall
    error = np.sqrt(recall * (1 - recall) / (100 * 3)) * (algorithm != "brute")
    assert (np.mean(shares, axis=0) >= wanted - theorems.N_STANDARD_ERRORS * error).all()


@pytest.mark.parametrize("shared", [20, 28, 32])
def test_pairs_at_the_radius_are_within_it(shared):
    X = pairs_of_similarity(shared, n_pairs=20)
    index = KernelNeighbors(MinHash(random_state=0), rerank=True, recall=1.0).fit(X)
    threshold = shared / 40
    assert len(index.similar_pairs(threshold)[0]) == 20
    assert len(index.similar_pairs(threshold + 1e-6)[0]) == 0
    for rows in (X, None):
        own = 40 if rows is X else 0
        assert index.radius_neighbors_graph(rows, 1 - threshold).nnz == own + 40
        assert index.radius_neighbors_graph(rows, 1 - threshold - 1e-6).nnz == own


@pytest.mark.parametrize("recall", [0.5, 0.9, 1.0])
def test_recall_of_rerank_among_nearest_rows(recall):
    """Of the k nearest rows by the exact kernel, at least this share is found."""
    X = families(300)
    X = X[np.diff(X.indptr) > 0]
    shares = []
    for seed in range(5):
        new_map = MinHash(n_hashes=32, random_state=seed)
        index = KernelNeighbors(new_map, rerank=True, recall=recall).fit(X)
        K = index.map_.exact_kernel(X)
        distances, _ = index.kneighbors(X, 3)
        last = np.sort(1 - K, axis=1)[:, 2:3]
        shares.append((distances <= last + 1e-12).mean())
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert np.mean(shares) >= recall - theorems.N_STANDARD_ERRORS * error


@pytest.mark.parametrize("new_map", RERANKED, ids=str)
def test_the_exact_kernel_of_pairs_takes_no_memory_for_columns(new_map):
    X = pairs_of_similarity(20, n_pairs=20).tocoo()
    wide = 2**40
    X = sp.csr_array((X.data, (X.row, X.col.astype(np.int64) * (wide // 800))), shape=(40, wide))
    index = KernelNeighbors(new_map, rerank=True, recall=1.0).fit(X)
    tracemalloc.start()
    assert len(index.similar_pairs(0.3)[0]) >= 0
    index.kneighbors(X[:3], 2)
    index.radius_neighbors_graph(X[:3], 0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


def test_candidates_of_many_rows_are_compared_some_at_a_time(monkeypatch):
    X = families(60)
    index = index_of(X, rerank=True)
    expected = index.kneighbors(X, 5), index.similar_pairs(0.5)
    for name in ("_PAIRS", "_CANDIDATES", "_RERANKED_QUERIES"):
        monkeypatch.setattr(_row_index, name, 7)
    for one, two in zip((index.kneighbors(X, 5), index.similar_pairs(0.5)), expected, strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)


def test_rows_are_added_and_removed():
    X = families()
    index = KernelNeighbors(MinHash(n_hashes=64, random_state=0), rerank=True)
    for start in range(0, 600, 200):
        index.partial_fit(X[start : start + 200])
    whole = KernelNeighbors(MinHash(n_hashes=64, random_state=0), rerank=True).fit(X)
    np.testing.assert_array_equal(index.codes_.array, whole.codes_.array)
    for one, other in zip(index.kneighbors(X), whole.kneighbors(X), strict=True):
        np.testing.assert_array_equal(one, other)
    removed = np.arange(0, 600, 3)
    index.remove(removed).remove(0)
    found = index.kneighbors(X, return_distance=False)
    assert not np.isin(found, removed).any()
    kept = whole.kneighbors(X, 100, return_distance=False)
    assert found.max() > 590  # the others keep their numbers
    for row in (1, 2, 4):
        left = kept[row][~np.isin(kept[row], removed)]
        assert found[row][0] == left[0]
    i, j, _ = index.similar_pairs(0.7)
    assert not np.isin(np.concatenate([i, j]), removed).any()


def with_about(path, change):
    """Write the codes of an index again, with another description."""
    packed, about = PackedCodes._open(path, None)
    change(about, packed)
    packed.save(path, {"index": about["index"]})


def with_rows(path, **arrays):
    """Replace arrays of the rows that a reranking index keeps."""
    name = f"{path}.rows.npz"
    with np.load(name) as file:
        arrays = {**file, **arrays}
    np.savez(name, **arrays)


def with_header(path, text):
    """Replace the header of an array of the rows, and drop its values."""
    name = f"{path}.rows.npz"
    with zipfile.ZipFile(name) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    members["data.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with zipfile.ZipFile(name, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: with_about(path, lambda a, _: a.update(index=3)), "parameters cannot be"),
        (lambda path: with_about(path, lambda a, _: a["index"].pop("recall")), "parameters cannot"),
        (lambda path: with_about(path, lambda a, _: a["index"].update(x=1)), "parameters cannot"),
        (lambda path: with_about(path, lambda a, _: a["index"].update(recall="x")), "recall must"),
        (
            lambda path: with_about(path, lambda _, c: c.config.update({"class": []})),
            "damaged: its description",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config["parameters"].update(bits=2)),
            "not those of its map",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config["parameters"].update(n_hashes=9)),
            "not those of its map",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config["parameters"].update(bits=10**11)),
            "index.npy is damaged: bits must be",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config.update({"class": "PCA"})),
            "index.npy is damaged: class of config must be",
        ),
        (
            lambda path: with_about(
                path,
                lambda _, c: c.config["parameters"].update(
                    bits=functools.reduce(lambda nested, _: [nested], range(400), 1)
                ),
            ),
            "index.npy is damaged",
        ),
        (lambda path: with_rows(path, indptr=np.arange(601) * 10**6), "no sound sparse matrix"),
        (lambda path: with_rows(path, shape=np.array([600, 1])), "no sound sparse matrix"),
        (lambda path: with_rows(path, format=np.array(b"xyz")), "no sound sparse matrix"),
        (
            lambda path: with_rows(path, shape=np.array([1, 5]), indptr=np.array([0, 0])),
            "must have the 600 rows of the index, got 1",
        ),
        (lambda path: Path(f"{path}.rows.npz").write_bytes(b"PK"), "no sound sparse matrix"),
        (lambda path: with_header(path, b"(" * 60_000), "no sound sparse matrix"),
        (lambda path: with_header(path, b"{'descr': " + b"[" * 3000), "no sound sparse matrix"),
        (
            lambda path: with_header(
                path, b"{'descr': '<f8', 'fortran_order': False, 'shape': (2**43,), }\n"
            ),
            "no sound sparse matrix",
        ),
        (
            lambda path: with_header(
                path, b"{'descr': '<f8', 'fortran_order': False, 'shape': (8796093022208,), }\n"
            ),
            "no sound sparse matrix",
        ),
    ],
)
def test_files_that_are_damaged(tmp_path, damage, message):
    path = tmp_path / "index.npy"
    index_of(families(), rerank=True).save(path)
    damage(path)
    with pytest.raises(ValueError, match=message):
        KernelNeighbors.load(path)


def test_rows_appear_with_their_codes(tmp_path, monkeypatch):
    """Where the codes cannot be written, the rows of the file before stay."""
    path = tmp_path / "index.npy"
    X = families()
    index_of(X, rerank=True).save(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(PackedCodes, "save", fail)
    with pytest.raises(OSError, match="full"):
        index_of(X[:9], rerank=True).save(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("rerank", [False, True])
def test_files_and_pickles(rerank, tmp_path):
    X = families()
    index = index_of(X, rerank=rerank, n_neighbors=3).remove([1, 2])
    index.save(tmp_path / "index.npy")
    for other in (
        KernelNeighbors.load(tmp_path / "index.npy"),
        KernelNeighbors.load(tmp_path / "index.npy", mmap_mode=None),
        pickle.loads(pickle.dumps(index)),
    ):
        for one, two in zip(index.kneighbors(X), other.kneighbors(X), strict=True):
            np.testing.assert_array_equal(one, two)
        assert other.rerank == rerank
        other.partial_fit(X[:5]).remove(7)
    whole = (tmp_path / "index.npy").read_bytes()
    (tmp_path / "index.npy").write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="cut short"):
        KernelNeighbors.load(tmp_path / "index.npy")
    index.codes_.save(tmp_path / "codes.npy")
    with pytest.raises(ValueError, match="holds packed codes and no index"):
        KernelNeighbors.load(tmp_path / "codes.npy")


def test_neighbours_of_graph_based_estimators():
    X = families()
    X = X[np.diff(X.indptr) > 0]
    y = np.arange(X.shape[0]) // 30
    new_map = MinHash(n_hashes=256, random_state=0)
    clusters = make_pipeline(
        KernelNeighbors(new_map, radius=0.5), DBSCAN(eps=0.5, min_samples=2, metric="precomputed")
    ).fit_predict(X)
    assert 10 < clusters.max() < 300
    model = make_pipeline(KernelNeighbors(new_map), KNeighborsClassifier(2, metric="precomputed"))
    assert model.fit(X, y).score(X, y) > 0.5
    embedded = make_pipeline(
        KernelNeighbors(new_map, n_neighbors=20), Isomap(n_neighbors=20, metric="precomputed")
    ).fit_transform(X)
    assert np.isfinite(embedded).all()
    graph = index_of(X).kneighbors_graph(X, 2)
    assert (graph.data == 1).all()
    assert (np.diff(graph.indptr) == 2).all()


# ---- bad input -----------------------------------------------------------------------------------

A = PackedCodes(random_codes(6, 8), 8, {"class": "MinHash", "seed": 0})
B = PackedCodes(random_codes(6, 8), 8, {"class": "MinHash", "seed": 1})
SMALL = families(60)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: neighbors.top_k(A, A, 7), "k must be from 1 to 6, got 7"),
        (lambda: neighbors.top_k(A, A, 0), "k must be from 1 to 6, got 0"),
        (lambda: neighbors.top_k(A, A[:0], 1), "codes must have at least one row"),
        (lambda: neighbors.top_k(A, B, 1), "codes and queries must be codes of the same map"),
        (lambda: neighbors.top_k(A.array, A.array, 1), "bits must be given"),
        (
            lambda: neighbors.top_k(A.array[:, :7], A.array, 1, bits=8),
            "codes and queries must have rows of one length, got 8 and 7 bytes",
        ),
        (lambda: neighbors.similar_pairs(A, 0), "threshold must be .* above 0, got 0"),
        (lambda: neighbors.similar_pairs(A, 1.1), "threshold must be above 0 and at most 1"),
        (lambda: neighbors.similar_pairs(A, np.nan), "threshold must be a finite number"),
        (lambda: neighbors.similar_pairs(A, 0.5, recall=0), "recall must be"),
        (lambda: neighbors.similar_pairs(A, 0.5, recall=2), "recall must be above 0 and at most 1"),
        (lambda: neighbors.similar_pairs(A, 0.5, other=B), "codes and other must be codes of the"),
        (lambda: neighbors.similar_pairs(A, 0.5, max_bucket=0), "max_bucket must be from 1"),
        (lambda: neighbors.similar_pairs(A, 0.5, n_jobs=0), "n_jobs must be"),
        (lambda: KernelNeighbors(3).fit(SMALL), "map must be a map with encode"),
        (lambda: index_of(SMALL, n_neighbors=0), "n_neighbors must be from 1"),
        (lambda: index_of(SMALL, radius=1.5), "radius must be at least 0 and below 1"),
        (lambda: index_of(SMALL, algorithm="tree"), "algorithm must be 'auto' or 'brute' or 'lsh'"),
        (lambda: index_of(SMALL, rerank="yes"), "rerank must be True or False"),
        (lambda: index_of(SMALL).kneighbors(SMALL, 61), "n_neighbors must be from 1 to 60, got 61"),
        (lambda: index_of(SMALL).kneighbors(None, 60), "n_neighbors must be from 1 to 59, got 60"),
        (lambda: index_of(SMALL).radius_neighbors(SMALL), "radius must be"),
        (lambda: index_of(SMALL).remove([60]), "ids must be from 0 to 59, got 60"),
        (lambda: index_of(SMALL).remove([0.5]), "ids must be integers"),
        (lambda: index_of(SMALL).similar_pairs(2), "threshold must be above 0"),
        (lambda: index_of(SMALL).kneighbors_graph(mode="x"), "mode must be"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def texts(tmp_path):
    """A LIBSVM file with comments, and its rows."""
    X = families(200)
    plain = BytesIO()
    libsvm.dump_svmlight_file(X, np.zeros(200), plain, zero_based=False)
    lines = plain.getvalue().splitlines()
    lines = [
        line + (b" # text  %d\t" % row if row % 3 else b"") for row, line in enumerate(lines, 1)
    ]
    (tmp_path / "texts.svm").write_bytes(b"# a comment\n\n" + b"\n".join(lines) + b"\n")
    return X, tmp_path


def read_pairs(path):
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {(int(row[0]), int(row[1])): (float(row[2]), row[3:]) for row in rows}


def test_the_command(texts, monkeypatch):
    X, folder = texts
    arguments = ["pairs", "minhash", str(folder / "texts.svm"), "-o", str(folder / "pairs.tsv")]
    assert main([*arguments, "--threshold", "0.6", "--recall", "1", "--n-jobs", "2"]) == 0
    A = MinHash(random_state=0).fit(X).encode(X, packed=True)
    i, j, similarity = sorted_pairs(A, 0.6)
    found = read_pairs(folder / "pairs.tsv")
    assert list(found) == list(zip((i + 1).tolist(), (j + 1).tolist(), strict=True))
    np.testing.assert_allclose([s for s, _ in found.values()], similarity, atol=1e-6)
    for pair, (_, comments) in found.items():
        assert comments == [f"text {row}" if row % 3 else "" for row in pair]
    text = (folder / "pairs.tsv").read_bytes()
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", 1000)  # the same in many blocks
    assert main([*arguments, "--threshold", "0.6", "--recall", "1"]) == 0
    assert (folder / "pairs.tsv").read_bytes() == text


def test_the_command_verifies(texts):
    X, folder = texts
    arguments = ["pairs", "minhash", str(folder / "texts.svm"), "-o", str(folder / "pairs.tsv")]
    assert main([*arguments, "--threshold", "0.7", "--recall", "1", "--exact"]) == 0
    K = np.triu(min_max_kernel(X), 1)
    found = read_pairs(folder / "pairs.tsv")
    expected = set(zip(*(np.argwhere(K >= 0.7) + 1).T.tolist(), strict=True))
    assert found.keys() == expected
    for (i, j), (similarity, _) in found.items():
        assert abs(K[i - 1, j - 1] - similarity) < 1e-6


def test_the_command_takes_no_memory_for_columns(tmp_path):
    (tmp_path / "in.svm").write_text("0 1:1 100000000:1\n1 1:1 100000000:1\n0 7:1\n")
    for name in ("minhash", "minmax-signs"):
        arguments = ["pairs", name, str(tmp_path / "in.svm"), "-o", str(tmp_path / "out.tsv")]
        tracemalloc.start()
        assert main([*arguments, "--exact"]) == 0
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 2**26
        assert (tmp_path / "out.tsv").read_text().startswith("1\t2\t1.000000\n")


@pytest.mark.parametrize("name", ["minmax", "signs", "fourier", "binning", "minmax-signs"])
def test_the_command_with_other_maps(texts, name):
    _, folder = texts
    output = folder / "pairs.tsv"
    for more in ([], ["--exact"]):
        assert main(["pairs", name, str(folder / "texts.svm"), "-o", str(output), *more]) == 0
        assert len(read_pairs(output)) > 5


def test_the_command_without_comments_and_rows(tmp_path, capsys):
    (tmp_path / "in.svm").write_text("0 1:1 2:1\n1 1:1 2:1\n0 7:1\n")
    arguments = ["pairs", "minhash", str(tmp_path / "in.svm"), "-o", str(tmp_path / "out.tsv")]
    assert main(arguments) == 0
    assert (tmp_path / "out.tsv").read_text() == "1\t2\t1.000000\n"
    (tmp_path / "in.svm").write_text("# nothing\n")
    assert main(arguments) == 0
    assert (tmp_path / "out.tsv").read_text() == ""
    assert "there are no rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("0 1:1\n0 2:x\n", [], "line 2"),
        ("0 1:1\n", ["--threshold", "1.5"], "--threshold must be above 0 and at most 1, got 1.5"),
        ("0 1:1\n", ["--recall", "0"], "--recall must be a finite number above 0, got 0"),
        ("0 1:1\n", ["--bits", "30"], "--bits must be from 1 to 16, got 30"),
    ],
)
def test_the_command_writes_nothing_where_it_fails(tmp_path, capsys, text, more, message):
    (tmp_path / "in.svm").write_text(text)
    output = tmp_path / "out.tsv"
    assert main(["pairs", "minhash", str(tmp_path / "in.svm"), "-o", str(output), *more]) == 2
    assert message in capsys.readouterr().err
    assert not output.exists()


def test_rows_too_long_to_search():
    row = np.zeros((1, _search.LARGEST_N_CODES // 8 + 1), np.uint8)
    with pytest.raises(
        ValueError, match=r"rows of at most 16777216 codes are searched, got 16777224"
    ):
        neighbors.top_k(row, row, 1, bits=1)


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
        bands = _search.Bands(length, n_bands)
        exact = exact_recall(bands, n_hashes, n_agreeing)
        found = _search.recall_of(bands, n_hashes, n_agreeing)
        assert exact - 0.01 <= found <= exact + 1e-12
        if n_hashes <= 1024:
            assert abs(found - exact) <= 1e-12


@pytest.mark.parametrize(
    ("n_hashes", "n_agreeing", "length", "n_bands"),
    [(64, 48, 8, 5), (64, 40, 4, 9), (128, 115, 12, 6), (256, 205, 10, 14)],
)
def test_bands_find_pairs_that_are_just_at_the_threshold(n_hashes, n_agreeing, length, n_bands):
    """The least number of bands reaches the recall, and one less does not."""
    bands = _search.Bands(length, n_bands)
    recall = exact_recall(bands, n_hashes, n_agreeing)
    assert _search._least_bands(length, n_hashes, n_agreeing, recall - 1e-9) == n_bands
    assert _search._least_bands(length, n_hashes, n_agreeing, recall + 1e-9) == n_bands + 1
    n_pairs = 20_000
    rng = np.random.default_rng(0)
    one = rng.integers(0, 256, (n_pairs, n_hashes), dtype=np.uint8)
    agree = np.argsort(rng.random(one.shape), axis=1) < n_agreeing
    A = PackedCodes(one, 8, {})
    B = PackedCodes(np.where(agree, one, one + 1), 8, {})
    max_differing = n_hashes - n_agreeing
    shares = []
    for number in (n_bands, n_bands - 1):
        bands = _search.Bands(length, number)
        i, j, differing = _search.banded_pairs(A, B, max_differing, bands, 1000, None)
        np.testing.assert_array_equal(i, j)
        assert (differing == max_differing).all()
        shares.append(len(i) / n_pairs)
    error = np.sqrt(recall * (1 - recall) / n_pairs)
    assert abs(shares[0] - recall) <= theorems.N_STANDARD_ERRORS * error
    assert shares[1] < recall - theorems.N_STANDARD_ERRORS * error
