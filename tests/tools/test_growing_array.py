"""Arrays that grow and shrink in one piece of memory."""

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps._input import _sparse
from sparsemaps._tools._growing_array import GrowingArray, rows_where


def test_what_is_appended_is_there():
    rng = np.random.default_rng(SEED)
    array, parts = GrowingArray(np.int32), []
    for size in (0, 1, 5, 100, 3, 1000):
        more, added = rng.integers(0, 9, size, np.int32), int(rng.integers(100))
        array.append(more, growth=rng.uniform(0, 3), added=added)
        parts.append(more + added)
    array.widen(np.int64)
    found = array.finish()
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.concatenate(parts))


@pytest.mark.parametrize("n", [0, 1, 4096, 20_000])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.9, 1.0])
def test_rows_that_are_kept(n, share):
    rng = np.random.default_rng(SEED)
    array = rng.integers(0, 2**60, (n, 2))
    kept = rng.random(n) < share
    expected = array[kept]
    found = rows_where(array, kept)
    np.testing.assert_array_equal(found, expected)
    assert found.base is array


def test_index_types():
    assert _sparse.index_type(2**31 - 1) == np.int32
    assert _sparse.index_type(2**31) == np.int64
