"""The exact kernel of pairs of rows, for candidates chosen by codes."""

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
"""Range of rows of the first matrix whose pairs are computed together."""

_PAIRS = 2**14
"""Largest number of pairs computed together."""

_CALL_ENTRIES = 2**16
"""Number of entries in a call at which the kernel takes as long as the call's overhead."""

_SET_PAIRS = 2**10
"""Least number of pairs of sets computed together."""

_FEW_PAIRS = 4
"""Largest number of pairs per row for which sets are compared pair by pair instead of all with
all."""

_MERGED_ENTRIES = 2**20
"""Largest number of entries in the pairs of sets that are compared together."""

_REMEMBERED_BITS = 20
"""Logarithm of the number of pairs whose kernel is cached. Each takes 16 bytes."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio. Multiplying by it spreads keys over all 64-bit numbers."""


def remembered_kernel(
    map: SparseMap, X: CsrMatrix, Y: CsrMatrix, bits: int = _REMEMBERED_BITS
) -> Callable[[Array, Array], Array]:
    """Return a function that computes the exact kernel of row i of `X` and row j of `Y`, for pairs
    with ascending i. Recent pairs are cached, because a pair that shares several bands is compared
    several times. The function may be called by several threads."""
    # A hash table with one slot per hash. 0 marks an empty slot, so pair (0, 0) is never cached.
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
    """Return the exact kernel of row i of `X` and row j of `Y`, both CSR, for pairs (i, j) with
    ascending i."""
    kernel, law = np.empty(len(i)), map.law
    # A call compares all its rows with one another or, for sets, only the pairs.
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
            # Keep only used columns, so that memory does not grow with the number of columns.
            both, n = used_columns(sp.vstack([A, B], format="csr")), len(queries)
            kernel[first:last] = law.exact_kernel(both[:n], both[n:], map.n_jobs)[row, column]
        first = last
    return kernel


def _jaccard(A: Any, B: Any) -> Array:
    """Return the Jaccard similarity of corresponding rows of `A` and `B`. The columns of nonzero
    entries are the members. Both matrices are changed in place."""
    for sets in (A, B):
        sets.sum_duplicates()
        sets.eliminate_zeros()
        sets.data[:] = 1
    n_common = A.multiply(B).sum(axis=1)
    n_all = np.diff(A.indptr) + np.diff(B.indptr) - n_common
    return np.divide(n_common, n_all, out=np.zeros(len(n_all)), where=n_all > 0)
