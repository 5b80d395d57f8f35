"""Rows with columns in any order, and more than once."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED

from sparsemaps import CountSketch
from sparsemaps._input import _row_reader


def expected(values, indices):
    """Columns and sums of one row: each column's entries added in the order they are stored."""
    sums = {}
    for column, value in zip(indices.tolist(), values, strict=True):
        sums[column] = sums[column] + value if column in sums else value
    return sorted(sums.items())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("n_columns", [1, 40, 2**20, 2**31 - 1, 2**62])
def test_canonical_rows(dtype, index_type, n_columns):
    n_columns = min(n_columns, np.iinfo(index_type).max)
    rng = np.random.default_rng(SEED + n_columns)
    lengths = [0, 1, 2, 5, 0, 24, 25, 300, 40_000, 2000, 7]
    rows = [rng.integers(0, n_columns, n) for n in lengths]
    rows[5].sort()
    rows[6] = np.sort(rows[6])[::-1]
    rows.append(np.arange(min(n_columns, 30))[::-1])
    indices = np.concatenate(rows).astype(index_type)
    indptr = np.cumsum([0] + [len(row) for row in rows])
    values = rng.normal(size=len(indices)).astype(dtype)
    block = _row_reader._canonical(_row_reader.Block(values.copy(), indices.copy(), indptr.copy()))
    assert block.values.dtype == dtype
    assert block.indices.dtype == index_type
    for row in range(len(rows)):
        here = slice(indptr[row], indptr[row + 1])
        there = slice(block.indptr[row], block.indptr[row + 1])
        found = list(zip(block.indices[there].tolist(), block.values[there], strict=True))
        assert found == expected(values[here], indices[here])


def test_reversed_rows_of_a_product():
    X = sp.random_array((50, 80), density=0.2, format="csr", random_state=0)
    product = sp.diags_array(np.full(50, 2.0)).tocsr() @ X
    sketch = CountSketch(n_components=16, random_state=0)
    found, wanted = sketch.fit_transform(product), sketch.fit_transform(2 * X)
    np.testing.assert_array_equal(found.toarray(), wanted.toarray())
