"""Clusters are the connected components of pairs, numbered by their first rows."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from _data.code_pairs import banded_pairs, sorted_pairs
from _data.rows import families
from scipy.sparse import csgraph

from sparsemaps import KernelProduct, MinHash, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.neighbors import _bands, _clusters, _hashing, _search
from sparsemaps.neighbors._hashing import Limits


def by_merging(i, j, n):
    """The same by the definition: the rows of each pair get the lower of their numbers."""
    lowest = np.arange(n)
    for one, other in [*zip(i, j, strict=True)] * n:
        lowest[[one, other]] = min(lowest[one], lowest[other])
    return np.unique(lowest, return_inverse=True)[1]


def first_equal(labels):
    """For each label, where the same label comes first."""
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    return first[places]


@pytest.mark.parametrize("n_pairs", [0, 1, 5, 15, 40])
@pytest.mark.parametrize("seed", range(5))
def test_against_the_definition(n_pairs, seed):
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, 30, (2, n_pairs))
    found = neighbors.clusters(i, j, 30)
    assert found.dtype == np.int64
    assert found.tolist() == by_merging(i, j, 30).tolist()


@pytest.mark.parametrize("n_pairs", [20_000, 50_000, 200_000])
def test_against_scipy(n_pairs):
    n = 100_000
    i, j = np.random.default_rng(n_pairs).integers(0, n, (2, n_pairs))
    graph = sp.coo_array((np.ones(n_pairs), (i, j)), shape=(n, n))
    n_expected, expected = csgraph.connected_components(graph, directed=False)
    numbers, first = np.unique(neighbors.clusters(i, j, n), return_index=True)
    np.testing.assert_array_equal(numbers, np.arange(n_expected))
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(first[neighbors.clusters(i, j, n)], first_equal(expected))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_only_the_set_of_pairs_matters(size):
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, 200, (2, 130))
    expected = by_merging(i, j, 200)
    order = rng.permutation(130)
    swapped = rng.random(130) < 0.5
    for pairs in (
        (i, j),
        (i[order], j[order]),
        (np.where(swapped, i, j), np.where(swapped, j, i)),
        (np.concatenate([i, j, i]), np.concatenate([j, i, j])),
    ):
        np.testing.assert_array_equal(_clusters.numbered_components(*pairs, 200, size), expected)


@pytest.mark.parametrize("step", [1, 7, 50, 1000])
def test_steps_of_numbers(step):
    i, j = np.random.default_rng(0).integers(0, 200, (2, 130))
    components = _clusters.Components(200, step=step)
    components.join(_hashing.pairs_of_rows(i, j))
    np.testing.assert_array_equal(components.numbers(), by_merging(i, j, 200))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.uint64, list])
def test_types_of_integers(dtype):
    i, j = ([5, 0], [1, 3]) if dtype is list else np.array([[5, 0], [1, 3]], dtype)
    assert neighbors.clusters(i, j, 6).tolist() == [0, 1, 2, 0, 3, 1]


def test_a_long_chain():
    n = 200_000
    order = np.random.default_rng(0).permutation(n)
    assert not neighbors.clusters(order[1:], order[:-1], n).any()


def test_no_rows_and_no_pairs():
    assert neighbors.clusters([], [], 0).tolist() == []
    assert neighbors.clusters([], [], 3).tolist() == [0, 1, 2]


def test_of_similar_pairs():
    X = sp.random_array((50, 40), density=0.2, format="csr", random_state=0)
    copies = sp.vstack([X, X[::-1], X]).tocsr()
    A = MinHash(random_state=0).fit(copies).encode(copies, packed=True)
    i, j, _ = neighbors.similar_pairs(A, 0.99)
    expected = np.concatenate([np.arange(50), np.arange(50)[::-1], np.arange(50)])
    np.testing.assert_array_equal(neighbors.clusters(i, j, 150), expected)


@pytest.mark.parametrize(
    ("i", "j", "n", "message"),
    [
        ([0], [1], -1, "n must be"),
        ([0], [1], 2.5, "n must be"),
        ([0], [1], 2**31, "n must be"),
        ([0], [1], True, "n must be"),
        ([[0]], [1], 2, r"i must be one-dimensional, got shape \(1, 1\)"),
        (0, [1], 2, r"i must be one-dimensional, got shape \(\)"),
        ([0], [1.0], 2, "j must be an array of integers, got one of float64"),
        ([True], [1], 2, "i must be an array of integers, got one of bool"),
        (sp.eye_array(2), [1], 2, "i must be an array of row numbers, got a sparse matrix"),
        ([0], [1, 0], 2, "i and j must have one length, got 1 and 2"),
        ([0, 2], [1, 0], 2, "i must be from 0 to n - 1 = 1, got 2"),
        ([0, 1], [1, -1], 2, "j must be from 0 to n - 1 = 1, got -1"),
        ([0], [2**63], 2, "j must be from 0 to n - 1 = 1, got 9223372036854775808"),
        ([0], [0], 0, "i must be empty as n is 0, got 0"),
    ],
)
def test_bad_input(i, j, n, message):
    with pytest.raises(ValueError, match=message):
        neighbors.clusters(i, j, n)


@pytest.mark.parametrize("max_bucket", [5, 1000])
def test_pairs_that_join_the_same_rows(max_bucket):
    """They have the components of all pairs, and are fewer than the rows."""
    minhash = MinHash(n_hashes=128, random_state=0)
    product = KernelProduct(random_state=0)
    for map, n_rows, threshold, recall in (
        (minhash, 8000, 0.9, 0.95), (minhash, 8000, 0.6, 0.9), (minhash, 1500, 0.6, 1),
        (product, 1500, 0.9, 0.95),
    ):  # fmt: skip
        X = families(600)[np.random.default_rng(0).integers(0, 600, n_rows)]
        A = map.fit(X).encode(X, packed=True)
        least = _search.least_agreeing(A, threshold)
        bands = _bands.usual_bands(A, least, recall)
        if bands is None:
            pairs = sorted_pairs(A, threshold)
        else:
            pairs = banded_pairs(A, None, A.n_hashes - least, bands, Limits(max_bucket))
            similarity = _search.estimates(A, A, *pairs)
            pairs = [rows[_search.reaches(similarity, threshold)] for rows in pairs]
        i, j, _ = pairs
        assert len(i) > n_rows
        one, two = _search.spanning_pairs(A, threshold, recall, Limits(max_bucket, 2))
        assert len(one) < n_rows
        expected = neighbors.clusters(i, j, n_rows)
        np.testing.assert_array_equal(neighbors.clusters(one, two, n_rows), expected)
        assert (bands is None) == (recall == 1)


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_pairs_that_join_two_components(step):
    """Each of them is one of the given pairs; together they have the components of all."""
    i, j = np.random.default_rng(0).integers(0, 100, (2, 150)).astype(np.uint64)
    pairs = i << np.uint64(32) | j
    components = _clusters.Components(100, step=step)
    kept = np.concatenate([components.join(some.copy()) for some in np.split(pairs, [70])])
    assert set(kept) <= set(pairs)
    first = components.first_rows()
    assert len(kept) == 100 - len(np.unique(first))
    expected = neighbors.clusters(i, j, 100)
    np.testing.assert_array_equal(first, np.unique(expected, return_index=True)[1][expected])
    one, other = kept >> np.uint64(32), kept & np.uint64(2**32 - 1)
    np.testing.assert_array_equal(neighbors.clusters(one, other, 100), expected)


def test_components_that_begin_in_others():
    """The others stay as they are."""
    first = _clusters.Components(4)
    first.join(np.array([0 << 32 | 1], np.uint64))
    more = _clusters.Components(4, first.parents)
    more.join(np.array([1 << 32 | 3], np.uint64))
    assert more.numbers().tolist() == [0, 0, 1, 0]
    assert first.numbers().tolist() == [0, 0, 1, 2]


def test_memory_does_not_grow_with_the_pairs():
    """100 rows near one another have 4,950 pairs, and are joined by 99."""
    n_families, n_rows = 400, 100
    rng = np.random.default_rng(0)
    array = np.repeat(rng.integers(0, 256, (n_families, 64), np.uint8), n_rows, axis=0)
    place = np.arange(len(array))
    array[place, rng.integers(0, 64, len(array))] += 1
    codes = PackedCodes(array, 8, {})
    least = _search.least_agreeing(codes, 0.8)
    assert _bands.choose_bands(codes, None, least, 0.95) is not None
    tracemalloc.start()
    i, j = _search.spanning_pairs(codes, 0.8, 0.95)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(neighbors.clusters(i, j, len(array)), place // n_rows)
    all_pairs = n_families * (n_rows * (n_rows - 1) // 2)
    assert peak < 8 * all_pairs / 3  # 8 bytes a pair, of all bands together


@pytest.mark.parametrize("rows", [(2, 3), (3, 2), (0, 2**32 - 1), (2**32 - 1, 0)])
def test_rows_that_are_not_there(rows):
    """Pairs that come from a file, which may be damaged."""
    components = _clusters.Components(3)
    pairs = np.array([1, rows[0] << 32 | rows[1]], np.uint64)
    with pytest.raises(ValueError, match=f"a pair has rows {rows[0]} and {rows[1]} of 3"):
        components.join(pairs)
    assert components.numbers().tolist() == [0, 0, 1]
