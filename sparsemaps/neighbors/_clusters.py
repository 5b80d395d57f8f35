"""Clusters of rows: the connected components of pairs."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse import csgraph

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array, Rows

_GRAPH_PAIRS = 2**24
"""Pairs whose graph is made at a time: some hundred megabytes."""


def clusters(i: npt.ArrayLike, j: npt.ArrayLike, n: int) -> Rows:
    """The cluster of each row: two rows that a chain of pairs joins are in one cluster.

    Clusters are the connected components of the graph of the pairs. A row of no pair is a cluster
    by itself. To keep one row of each cluster, keep the rows at which a number first appears.

    Parameters
    ----------
    i, j : array-like of int, shape (n_pairs,)
        The rows of each pair, 0 to n - 1, such as `similar_pairs` returns. The answer does not
        depend on the order of the pairs, the order within a pair, or repeated pairs.
    n : int
        How many rows there are, 0 to 2**31 - 1.

    Returns
    -------
    numbers : ndarray of int64, shape (n,)
        The number of each row's cluster. Clusters are numbered from 0 in the order of their first
        rows.

    Raises
    ------
    ValueError
        If `i` or `j` is no one-dimensional array of integers from 0 to n - 1, or they differ in
        length.

    See Also
    --------
    similar_pairs : Pairs of similar rows.

    References
    ----------
    .. [1] D. J. Pearce, "An improved algorithm for finding the strongly connected components of a
       directed graph", 2005 (``scipy.sparse.csgraph.connected_components``).

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
    n = _checks.check_int("n", n, 0, _checks.LARGEST_INT32)  # SciPy numbers components so
    return numbered_components(*checked_pairs(i, j, n), n)


def checked_pairs(i: npt.ArrayLike, j: npt.ArrayLike, n: int) -> tuple[Array, Array]:
    """The rows of pairs as arrays. It is an error if they are not sound."""
    i, j = _check_rows("i", i, n), _check_rows("j", j, n)
    if len(i) != len(j):
        raise ValueError(f"i and j must have one length, got {len(i)} and {len(j)}")
    return i, j


def numbered_components(i: Array, j: Array, n: int, max_pairs: int = _GRAPH_PAIRS) -> Array:
    """As `clusters`, for checked rows; at most `max_pairs` pairs are in memory as a graph."""
    numbers = merged(np.arange(n), i, j, max_pairs)
    first = first_of_each(numbers)
    is_first = np.zeros(n, bool)
    is_first[first[numbers]] = True
    ordered: Array = np.cumsum(is_first)[first[numbers]] - 1
    return ordered


def merged(numbers: Array, i: Array, j: Array, max_pairs: int = _GRAPH_PAIRS) -> Array:
    """Numbers of components, below that of rows, after pairs of rows have joined some."""
    for start in range(0, len(i), max_pairs):
        some = slice(start, start + max_pairs)
        one, other = numbers[i[some]], numbers[j[some]]
        differ = one != other
        if differ.any():
            numbers = _components(one[differ], other[differ], len(numbers))[numbers]
    return numbers


def first_of_each(numbers: Array) -> Array:
    """The first row of each number of a component; undefined for numbers that no row has."""
    first = np.empty(len(numbers), np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # the first row is written last
    return first


def spanning_forest(i: Array, j: Array) -> tuple[Array, Array]:
    """Pairs with the same connected components: the first row of each component with each of its
    other rows. There are fewer of them than there are rows in the given pairs."""
    rows, places = np.unique(np.concatenate([i, j]), return_inverse=True)
    numbers = numbered_components(places[: len(i)], places[len(i) :], len(rows))
    first = np.unique(numbers, return_index=True)[1]
    roots = rows[first[numbers]]
    others = np.flatnonzero(roots != rows)
    return roots[others], rows[others]


def _components(i: Array, j: Array, n: int) -> Array:
    """The number of each node's component, in a graph of n nodes and these edges."""
    graph = sp.coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n))
    return np.asarray(csgraph.connected_components(graph, directed=False)[1])


def _check_rows(name: str, rows: Any, n: int) -> Array:
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
