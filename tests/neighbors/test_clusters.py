"""Clusters are the connected components of pairs, numbered by their first rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from scipy.sparse import csgraph

from sparsemaps import MinHash, neighbors
from sparsemaps._loops import codes as _loops
from sparsemaps.neighbors import _clusters


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
    rng = np.random.default_rng(SEED + seed)
    i, j = rng.integers(0, 30, (2, n_pairs))
    found = neighbors.clusters(i, j, 30)
    assert found.dtype == np.int64
    assert found.tolist() == by_merging(i, j, 30).tolist()


@pytest.mark.parametrize("n_pairs", [20_000, 50_000, 200_000])
def test_against_scipy(n_pairs):
    n = 100_000
    i, j = np.random.default_rng(SEED + n_pairs).integers(0, n, (2, n_pairs))
    graph = sp.coo_array((np.ones(n_pairs), (i, j)), shape=(n, n))
    n_expected, expected = csgraph.connected_components(graph, directed=False)
    numbers, first = np.unique(neighbors.clusters(i, j, n), return_index=True)
    np.testing.assert_array_equal(numbers, np.arange(n_expected))
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(first[neighbors.clusters(i, j, n)], first_equal(expected))


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_only_the_set_of_pairs_matters(size):
    rng = np.random.default_rng(SEED)
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
    i, j = np.random.default_rng(SEED).integers(0, 200, (2, 130))
    found = _clusters.numbered_components(i, j, 200, step)
    np.testing.assert_array_equal(found, by_merging(i, j, 200))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.uint64, list])
def test_types_of_integers(dtype):
    i, j = ([5, 0], [1, 3]) if dtype is list else np.array([[5, 0], [1, 3]], dtype)
    assert neighbors.clusters(i, j, 6).tolist() == [0, 1, 2, 0, 3, 1]


def test_a_long_chain():
    n = 200_000
    order = np.random.default_rng(SEED).permutation(n)
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
        ([0], [1, 0], 2, "i and j must have the same length, got 1 and 2"),
        ([0, 2], [1, 0], 2, "i must be from 0 to n - 1 = 1, got 2"),
        ([0, 1], [1, -1], 2, "j must be from 0 to n - 1 = 1, got -1"),
        ([0], [2**63], 2, "j must be from 0 to n - 1 = 1, got 9223372036854775808"),
        ([0], [0], 0, "i must be empty as n is 0, got 0"),
    ],
)
def test_bad_input(i, j, n, message):
    with pytest.raises(ValueError, match=message):
        neighbors.clusters(i, j, n)


@pytest.mark.parametrize("rows", [(2, 3), (3, 2), (0, 2**32 - 1), (2**32 - 1, 0)])
def test_rows_that_are_not_there(rows):
    """Pairs that come from a file, which may be damaged."""
    parents = np.arange(3, dtype=np.uint32)
    pairs = np.array([1, rows[0] << 32 | rows[1]], np.uint64)
    with pytest.raises(ValueError, match=f"a pair has rows {rows[0]} and {rows[1]} of 3"):
        _loops.join_rows(pairs, parents)
    assert parents.tolist() == [0, 0, 2]
