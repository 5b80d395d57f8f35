"""The exact kernel of pairs of rows, for candidates that codes have chosen."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools._typing import Array

_KERNEL_ROWS = 256
"""Rows of the first matrix whose pairs are computed together."""

_PAIRS = 2**14
"""Pairs that are computed together, at most."""


def exact_pairs(map: Any, X: Any, Y: Any, i: Array, j: Array) -> Array:
    """The exact kernel of row i of `X` and row j of `Y`, for pairs (i, j) with ascending i. `X` and
    `Y` are CSR."""
    kernel, law = np.empty(len(i)), map.law
    first = 0
    while first < len(i):
        last = first + _PAIRS
        last = first + int(np.searchsorted(i[first:last], i[first] + _KERNEL_ROWS))
        queries, row = np.unique(i[first:last], return_inverse=True)
        others, column = np.unique(j[first:last], return_inverse=True)
        A, B = _on_few_columns(X[queries], Y[others])
        kernel[first:last] = law.exact_kernel(A, B, map.n_jobs)[row, column]
        first = last
    return kernel


def _on_few_columns(A: Any, B: Any) -> tuple[Any, Any]:
    """The rows without the columns that none of them has: the kernel does not depend on these, and
    memory does not grow with their number."""
    columns, indices = np.unique(np.concatenate([A.indices, B.indices]), return_inverse=True)
    width = max(1, len(columns))
    ends = A.nnz
    return (
        sp.csr_array((A.data, indices[:ends], A.indptr), shape=(A.shape[0], width)),
        sp.csr_array((B.data, indices[ends:], B.indptr), shape=(B.shape[0], width)),
    )
