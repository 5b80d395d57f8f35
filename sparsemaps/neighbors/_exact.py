"""The exact kernel of pairs of rows, for candidates that codes have chosen."""

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._sparse import used_columns
from sparsemaps._tools import _blocks
from sparsemaps._tools._typing import Array, CsrMatrix
from sparsemaps.maps._sparse_map import SparseMap

_KERNEL_ROWS = 256
"""Rows of the first matrix whose pairs are computed together."""

_PAIRS = 2**14
"""Pairs that are computed together, at most."""

_CALL_ENTRIES = 2**16
"""Entries of pairs of rows whose kernel takes as long as the rest of a call."""

_SET_PAIRS = 2**10
"""Pairs of sets that are computed together, at least."""

_FEW_PAIRS = 4
"""Pairs for each row, up to which sets are compared pair by pair, and not all with one another."""

_MERGED_ENTRIES = 2**20
"""Entries of the pairs of sets that are compared at a time, at most."""

_REMEMBERED_BITS = 20
"""The logarithm of the number of pairs whose kernel is remembered, with 16 bytes for each."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: products with it are spread over all numbers."""


def remembered_kernel(
    map: SparseMap, X: CsrMatrix, Y: CsrMatrix, bits: int = _REMEMBERED_BITS
) -> Callable[[Array, Array], Array]:
    """Return a function of row i of `X` and row j of `Y`, with ascending i, that gives the exact
    kernel. The last pairs are remembered: one that shares several bands is computed once."""
    # Slots of a hash table, where 0 is none: row 0 with row 0 is computed each time.
    known, values = np.zeros(2**bits, np.uint64), np.zeros(2**bits)
    lock = threading.Lock()

    def kernel(i: Array, j: Array) -> Array:
        pairs = i.astype(np.uint64) << np.uint64(32) | j.astype(np.uint64)
        slots = pairs * _ODD >> np.uint64(64 - bits)
        with lock:
            found: Array = values[slots]
            new = np.flatnonzero((known[slots] != pairs) | (pairs == 0))
            found[new] = exact_pairs(map, X, Y, i[new], j[new])
            known[slots[new]], values[slots[new]] = pairs[new], found[new]
            return found

    return kernel


def exact_pairs(
    map: SparseMap, X: Any, Y: Any, i: Array, j: Array, call_entries: int = _CALL_ENTRIES
) -> Array:
    """Return the exact kernel of row i of `X` and row j of `Y`, for pairs (i, j) with ascending i.
    `X` and `Y` are CSR."""
    kernel, law = np.empty(len(i)), map.law
    # All rows of a call are compared with one another, or sets pair by pair.
    few = int(math.sqrt(call_entries / (1 + X.nnz / max(1, X.shape[0]))))
    few = _SET_PAIRS if law.is_of_sets else few
    first = 0
    while first < len(i):
        last = first + _PAIRS
        n = int(np.searchsorted(i[first:last], i[first] + _KERNEL_ROWS))
        last = min(first + max(n, few), len(i))
        queries, row = np.unique(i[first:last], return_inverse=True)
        others, column = np.unique(j[first:last], return_inverse=True)
        A, B = X[queries], Y[others]
        if law.is_of_sets and last - first <= _FEW_PAIRS * (len(queries) + len(others)):
            lengths = np.diff(A.indptr)[row] + np.diff(B.indptr)[column]
            for start, stop in _blocks.cut_by_size(lengths, _MERGED_ENTRIES):
                some = slice(start, stop)
                kernel[first:last][some] = _jaccard(A[row[some]], B[column[some]])
        else:
            # Memory does not grow with the number of columns.
            both, n = used_columns(sp.vstack([A, B], format="csr")), len(queries)
            kernel[first:last] = law.exact_kernel(both[:n], both[n:], map.n_jobs)[row, column]
        first = last
    return kernel


def _jaccard(A: Any, B: Any) -> Array:
    """Return the Jaccard similarity of each row of `A` and the same row of `B`: new matrices, whose
    columns are members if their entry is not 0."""
    for sets in (A, B):
        sets.sum_duplicates()
        sets.eliminate_zeros()
        sets.data[:] = 1
    n_common = A.multiply(B).sum(axis=1)
    n_all = np.diff(A.indptr) + np.diff(B.indptr) - n_common
    return np.divide(n_common, n_all, out=np.zeros(len(n_all)), where=n_all > 0)
