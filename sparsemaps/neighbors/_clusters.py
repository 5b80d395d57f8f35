"""Clusters of rows: the connected components of pairs."""

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array, Rows
from sparsemaps.neighbors._hashing import pairs_of_rows

_STEP = 2**21
"""Pairs joined per call; signals are handled between calls."""


def clusters(i: npt.ArrayLike, j: npt.ArrayLike, n: int) -> Rows:
    """Return the cluster of each row. Rows connected by a chain of pairs are in one cluster.

    Clusters are the connected components of the graph of the pairs. A row that is in no pair forms
    a cluster of its own. To choose one row of each cluster, take the rows at which a number first
    appears.

    Parameters
    ----------
    i, j : array-like of int, shape (n_pairs,)
        The rows of each pair, 0 to n - 1, such as `similar_pairs` returns. The result does not
        depend on the order of the pairs, the order within a pair, or repeated pairs.
    n : int
        Number of rows, 0 to 2**31 - 1.

    Returns
    -------
    numbers : ndarray of int64, shape (n,)
        Cluster number of each row. Clusters are numbered from 0 in the order of their first rows.

    Raises
    ------
    ValueError
        If `i` or `j` is not a one-dimensional array of integers from 0 to n - 1, or they differ in
        length.

    See Also
    --------
    similar_pairs : Pairs of similar rows.

    References
    ----------
    .. [1] R. E. Tarjan, J. van Leeuwen, "Worst-case analysis of set union algorithms", Journal of
       the ACM, 1984 (path halving).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import neighbors
    >>> numbers = neighbors.clusters([1, 4], [3, 3], 6)
    >>> numbers
    array([0, 1, 2, 1, 1, 3])
    >>> np.unique(numbers, return_index=True)[1]  # the first row of each cluster
    array([0, 1, 2, 5])
    """
    n = _checks.check_int("n", n, 0, _checks.LARGEST_INT32)
    i, j = _check_rows("i", i, n), _check_rows("j", j, n)
    if len(i) != len(j):
        raise ValueError(f"i and j must have the same length, got {len(i)} and {len(j)}")
    return numbered_components(i, j, n)


def numbered_components(i: Array, j: Array, n: int, step: int = _STEP) -> Array:
    """Return the clusters of checked rows, processing `step` pairs or rows at a time. It takes 12
    bytes per row."""
    # A parent is the row itself or an earlier row of the same component.
    parents = np.arange(n, dtype=np.uint32)
    for start in range(0, len(i), step):
        stop = start + step
        _loops.join_rows(pairs_of_rows(i[start:stop], j[start:stop]), parents)
    _loops.find_first_rows(parents)  # now each parent is the first row of the component
    numbers = np.empty(n, np.int64)
    n_before = 0  # components whose first row precedes this block
    for start in range(0, n, step):
        some = parents[start : start + step]
        stop = start + len(some)
        is_first = some == np.arange(start, stop)
        numbers[start:stop] = n_before + np.cumsum(is_first) - 1  # correct for first rows
        numbers[start:stop] = numbers[some]  # other rows take the number of their first row
        n_before += int(is_first.sum())
    return numbers


def _check_rows(name: str, rows: object, n: int) -> Array:
    if sp.issparse(rows):
        raise ValueError(f"{name} must be an array of row numbers, got a sparse matrix")
    rows = np.asarray(rows)
    if rows.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {rows.shape}")
    if rows.dtype.kind not in "iu" and rows.size:
        raise ValueError(f"{name} must be an array of integers, got one of {rows.dtype}")
    wrong = rows[(rows < 0) | (rows >= n)]
    if wrong.size:
        allowed = f"from 0 to n - 1 = {n - 1}" if n else "empty as n is 0"
        raise ValueError(f"{name} must be {allowed}, got {wrong[0]}")
    return rows.astype(np.intp, copy=False)
