"""Exact kernels that are products over columns of a function of the difference."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools import _threads
from sparsemaps._tools._typing import Array, MatrixLike


def product_kernel(
    X: MatrixLike,
    Y: MatrixLike | None,
    factor: Callable[[Array], Array],
    n_jobs: int | None,
) -> Array:
    """Return the product of ``factor(|x_i - y_i|)`` over the columns i in which rows differ.

    If `Y` is None, `X` is used.
    """
    A, B = _numbered_alike(X, X if Y is None else Y)
    out = np.ones((A.shape[0], B.shape[0]))

    def write(row: int) -> None:
        difference = abs(A[[row] * B.shape[0]] - B)
        filled = np.flatnonzero(np.diff(difference.indptr))
        starts = difference.indptr[filled]
        out[row, filled] = np.multiply.reduceat(factor(difference.data), starts)

    _threads.run(write, [(row,) for row in range(len(out))], n_jobs)
    return out


def _numbered_alike(X: MatrixLike, Y: MatrixLike) -> list[Any]:
    """Return both matrices as float64 CSR without unused columns, because SciPy takes memory for
    each column if rows are unsorted."""
    both = [sp.csr_array(rows, dtype=float) for rows in (X, Y)]
    used, numbers = np.unique(np.concatenate([rows.indices for rows in both]), return_inverse=True)
    parts = np.split(numbers, [both[0].nnz])
    return [
        sp.csr_array((rows.data, part, rows.indptr), shape=(rows.shape[0], max(len(used), 1)))
        for rows, part in zip(both, parts, strict=True)
    ]
