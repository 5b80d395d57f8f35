"""Rows that are near a row of another set are those in the pairs of both sets."""

import tracemalloc

import numpy as np
import pytest
from _data.code_pairs import assert_recall, pairs_at
from _data.rows import families

from sparsemaps import KernelProduct, MinHash
from sparsemaps.codes import PackedCodes, agreements
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._hashing import Limits


def rows_of_all_pairs(codes, other, threshold):
    """The rows of the second set whose estimate with a row of the first reaches the threshold, from
    the matrix of all estimates."""
    similarity = codes.kernel(agreements(codes, other))
    alike = (similarity >= threshold - 1e-12) & codes.sampled[:, None] & other.sampled
    return np.flatnonzero(alike.any(axis=0))


@pytest.mark.parametrize("new_map", [MinHash(n_hashes=128), KernelProduct()], ids=str)
def test_recall_1_finds_the_rows_of_all_pairs(new_map):
    X = families(600)[np.random.default_rng(0).integers(0, 600, 1500)]
    A = new_map.set_params(random_state=0).fit(X).encode(X, packed=True)
    codes, other = A[:40], A[40:]
    expected = rows_of_all_pairs(codes, other, 0.8)
    assert 100 < len(expected) < len(other) - 100
    for n_jobs in (1, 2):
        found = _search.near_rows(codes, other, 0.8, 1.0, Limits(n_jobs=n_jobs))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
def test_recall_of_near_rows(threshold):
    A, _ = pairs_at(threshold)
    codes, other = A[::2], A[1::2]
    found = _search.near_rows(codes, other, threshold, 0.95)
    assert set(found) <= set(rows_of_all_pairs(codes, other, threshold))
    assert_recall(len(found), len(other), 0.95)


@pytest.mark.parametrize("max_bucket", [5, 1000])
def test_near_rows_of_families(max_bucket):
    """Each row has many near rows: nearly all are found, also in small buckets; none is wrong."""
    X = families(600)[np.random.default_rng(0).integers(0, 600, 8000)]
    A = MinHash(n_hashes=128, random_state=0).fit(X).encode(X, packed=True)
    codes, other = A[:200], A[200:]
    expected = rows_of_all_pairs(codes, other, 0.9)
    found = _search.near_rows(codes, other, 0.9, 0.95, Limits(max_bucket, 2))
    assert set(found) <= set(expected)
    assert len(found) >= 0.95 * len(expected)


def test_memory_does_not_grow_with_the_pairs():
    """200 rows near 200 of the other set have 40,000 pairs, of which some hundred are kept."""
    n_families, n_rows = 100, 200
    rng = np.random.default_rng(0)
    array = np.repeat(rng.integers(0, 256, (n_families, 64), np.uint8), 2 * n_rows, axis=0)
    place = np.arange(len(array))
    array[place, rng.integers(0, 64, len(array))] += 1
    codes = PackedCodes(array, 8, {})
    sets = codes[::2], codes[1::2]
    tracemalloc.start()
    found = _search.near_rows(*sets, 0.8, 0.95)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, np.arange(len(sets[1])))
    assert peak < 8 * n_families * n_rows**2 / 3  # 8 bytes a pair, of all bands together
