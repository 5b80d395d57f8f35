"""Blocks of rows have no entry that is 0."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED

from sparsemaps._input._row_reader import open_matrix
from sparsemaps._loops import rows as _rows


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("value_type", [np.float32, np.float64])
def test_blocks_are_those_without_zeros(value_type, index_type):
    """Zeros of either sign, rows of zeros alone, first and last ones, blocks from any row on."""
    rng = np.random.default_rng(SEED)
    lengths = np.r_[3, 0, rng.integers(0, 40, 30), 2]
    indptr = np.r_[0, np.cumsum(lengths)].astype(index_type)
    columns = np.concatenate([np.sort(rng.choice(2**31 - 1, n, replace=False)) for n in lengths])
    values = rng.normal(size=len(columns)) * (rng.random(len(columns)) < 0.6)
    values[:3], values[-1] = 0, -0.0
    shape = len(lengths), 2**31 - 1
    X = sp.csr_array((values.astype(value_type), columns.astype(index_type), indptr), shape)
    expected = X.copy()
    expected.eliminate_zeros()
    for start, stop in ((0, len(lengths)), (0, 1), (1, 20), (20, len(lengths))):
        block = open_matrix(X).block(start, stop)
        part = expected[start:stop]
        first, last = block.indptr[0], block.indptr[-1]
        assert block.values.dtype == value_type
        assert block.indices.dtype == index_type
        np.testing.assert_array_equal(block.values[first:last], part.data)
        np.testing.assert_array_equal(block.indices[first:last], part.indices)
        np.testing.assert_array_equal(block.indptr - first, part.indptr)
    assert (X.data == 0).any()  # the input is as it was


def test_outputs_that_are_too_short():
    values, indices, indptr = np.ones(3), np.arange(3), np.array([0, 3])
    for n, m, rows in ((2, 3, 2), (3, 2, 2), (3, 3, 1)):
        places, ends = np.empty(m, np.int64), np.empty(rows, np.int64)
        with pytest.raises(ValueError, match="the output is too short for the rows"):
            _rows.without_zeros(values, indices, indptr, np.empty(n), places, ends)
