"""CSR matrices of sound arrays are those that SciPy makes."""

import numpy as np
import pytest
import scipy.sparse as sp

from sparsemaps._input._sparse import csr_of


def arrays(dtype):
    return (
        np.array([1.0, 2.0, 3.0], np.float32),
        np.array([1, 4, 0], dtype),
        np.array([0, 2, 2, 3], dtype),
    )


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("width", [5, 2**31 - 1, 2**40])
def test_csr_of(container, dtype, width):
    made = csr_of(container, arrays(dtype), (3, width))
    expected = container(arrays(dtype), shape=(3, width))
    assert type(made) is type(expected)
    assert (made.shape, made.dtype, made.nnz) == (expected.shape, expected.dtype, 3)
    for name in ("data", "indices", "indptr"):
        ours, theirs = getattr(made, name), getattr(expected, name)
        assert ours.dtype == theirs.dtype, name
        np.testing.assert_array_equal(ours, theirs)
    assert made.has_canonical_format
    assert made.multiply(made).data.sum() == 14


def test_matrices_of_one_shape_are_apart():
    first = csr_of(sp.csr_array, arrays(np.int32), (3, 5))
    first.sum_duplicates()
    values, columns, indptr = arrays(np.int32)
    second = csr_of(sp.csr_array, (values, columns[[1, 0, 2]], indptr), (3, 5))
    assert first.has_sorted_indices
    assert not second.has_sorted_indices
    empty = (values[:0], columns[:0], np.zeros(4, np.int32))
    assert csr_of(sp.csr_array, empty, (3, 5)).nnz == 0
    assert first.nnz == 3
