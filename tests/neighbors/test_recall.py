"""At the default recall, what is found of pairs whose estimate is just the threshold: each pair
with the probability that is promised, and no other pair. A search for a lower recall fails."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.code_pairs import assert_recall, pairs_at

from sparsemaps import MinHash
from sparsemaps.neighbors import KernelNeighbors, _search, clusters, removals, similar_pairs

THRESHOLDS = [0.5, 0.8, 0.9]


def rows_of_pairs(codes):
    return np.arange(0, len(codes), 2), np.arange(1, len(codes), 2)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_similar_pairs(threshold):
    codes, n_agreeing = pairs_at(threshold)
    i, j, similarity = similar_pairs(codes, threshold)
    np.testing.assert_array_equal(j, i + 1)
    np.testing.assert_array_equal(i % 2, 0)
    np.testing.assert_allclose(similarity, codes.kernel(n_agreeing))
    assert_recall(len(i), len(codes) // 2, 0.95)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_two_sets(threshold):
    codes, _ = pairs_at(threshold)
    i, j, _ = similar_pairs(codes[::2], threshold, other=codes[1::2])
    np.testing.assert_array_equal(i, j)
    assert_recall(len(i), len(codes) // 2, 0.95)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_clusters(threshold):
    codes, _ = pairs_at(threshold)
    i, j = _search.spanning_pairs(codes, threshold, 0.95, 1000, None)
    numbers = clusters(i, j, len(codes))
    one, other = rows_of_pairs(codes)
    assert numbers.max() + 1 == len(codes) - (numbers[one] == numbers[other]).sum()
    assert_recall((numbers[one] == numbers[other]).sum(), len(codes) // 2, 0.95)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_removals(threshold):
    codes, _ = pairs_at(threshold)
    removed, witness, _ = removals(codes, threshold)
    np.testing.assert_array_equal(removed, witness + 1)
    assert_recall(len(removed), len(codes) // 2, 0.95)
    removed, witness, _ = removals(codes[1::2], threshold, earlier=codes[::2])
    np.testing.assert_array_equal(witness, removed + len(codes) // 2)
    assert_recall(len(removed), len(codes) // 2, 0.95)


def sets_of_pairs(shared, n_pairs, seed):
    """Sets of 40 members in pairs: 2 i and 2 i + 1 share so many, others none."""
    members = np.random.default_rng(seed).permutation(n_pairs * (80 - shared))
    members = members.reshape(n_pairs, -1)
    rows = np.stack([members[:, :40], members[:, 40 - shared :]], axis=1).reshape(2 * n_pairs, 40)
    indptr = np.arange(len(rows) + 1) * 40
    shape = len(rows), members.size
    return sp.csr_array((np.ones(rows.size), np.sort(rows, axis=1).reshape(-1), indptr), shape)


@pytest.mark.parametrize("threshold", [0.6, 0.8])
def test_of_an_index(threshold):
    """Over seeds: of the pairs whose estimate reaches the threshold, by a look at all codes, those
    that `radius_neighbors_graph` and `insert_new` find."""
    n_pairs = 2500
    n_found = n_new = n_wanted = 0
    X = sets_of_pairs(round(80 * threshold / (1 + threshold)), n_pairs, 0)
    one, other = np.arange(n_pairs), np.arange(0, 2 * n_pairs, 2)
    for seed in range(3):
        minhash = MinHash(n_hashes=128, random_state=seed)
        A = minhash.fit(X).encode(X, packed=True)
        agreeing = (A.array[::2] == A.array[1::2]).sum(axis=1)
        is_near = A.kernel(agreeing) >= threshold - 1e-12
        index = KernelNeighbors(minhash, radius=1 - threshold).fit(X)
        graph = index.radius_neighbors_graph(X[1::2])
        is_found = np.asarray(graph[one, other]).ravel() > 0
        assert not is_found[~is_near].any()
        index = KernelNeighbors(minhash, radius=1 - threshold).fit(X[::2])
        is_new = index.insert_new(X[1::2], threshold=threshold)
        assert is_new[~is_near].all()
        n_wanted += is_near.sum()
        n_found += is_found.sum()
        n_new += (~is_new).sum()
    assert_recall(n_found, n_wanted, 0.95)
    assert_recall(n_new, n_wanted, 0.95)
