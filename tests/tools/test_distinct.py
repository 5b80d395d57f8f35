import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps._tools._distinct import distinct


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_distinct(n, dtype):
    numbers = np.random.default_rng(SEED + n).integers(0, 100, n).astype(dtype)
    if n:
        numbers[n // 2] = np.iinfo(dtype).max
    before = numbers.copy()
    found = distinct(numbers)
    assert found.dtype == dtype
    assert found.tolist() == sorted(set(numbers.tolist()))
    np.testing.assert_array_equal(numbers, before)
