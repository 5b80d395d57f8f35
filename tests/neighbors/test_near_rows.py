"""Rows that are near a row of another set are those in the pairs of both sets."""

import tracemalloc

import numpy as np
import pytest
from conftest import families

from sparsemaps import KernelProduct, MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.neighbors import _bands, _search


@pytest.mark.parametrize("max_bucket", [5, 1000])
def test_against_all_pairs(max_bucket):
    minhash = MinHash(n_hashes=128, random_state=0)
    product = KernelProduct(random_state=0)
    for map, n_rows, threshold, recall in (
        (minhash, 8000, 0.9, 0.95), (minhash, 1500, 0.6, 1), (product, 1500, 0.9, 0.95),
    ):  # fmt: skip
        X = families(600)[np.random.default_rng(0).integers(0, 600, n_rows)]
        A = map.fit(X).encode(X, packed=True)
        codes, other = A[: n_rows // 40], A[n_rows // 40 :]
        how = threshold, recall, max_bucket, 2
        expected = np.unique(_search.similar(codes, other, *how)[1])
        assert 100 < len(expected) < len(other)
        np.testing.assert_array_equal(_search.near_rows(codes, other, *how), expected)
        if n_rows == 8000:
            least = _search.least_agreeing(A, threshold)
            assert _bands.choose_bands(codes, other, least, recall) is not None


def test_memory_does_not_grow_with_the_pairs():
    """200 rows near 200 of the other set have 40,000 pairs, of which some hundred are kept."""
    n_families, n_rows = 100, 200
    rng = np.random.default_rng(0)
    array = np.repeat(rng.integers(0, 256, (n_families, 64), np.uint8), 2 * n_rows, axis=0)
    place = np.arange(len(array))
    array[place, rng.integers(0, 64, len(array))] += 1
    codes = PackedCodes(array, 8, {})
    sets = codes[::2], codes[1::2]
    least = _search.least_agreeing(codes, 0.8)
    assert _bands.choose_bands(*sets, least, 0.95) is not None
    tracemalloc.start()
    found = _search.near_rows(*sets, 0.8, 0.95, 1000, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, np.arange(len(sets[1])))
    assert peak < 8 * n_families * n_rows**2 / 3  # 8 bytes a pair, of all bands together
