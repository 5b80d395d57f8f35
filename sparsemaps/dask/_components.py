"""Clusters of pairs that lie on a Dask cluster."""

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array
from sparsemaps.neighbors import _clusters
from sparsemaps.neighbors._hashing import pairs_of_rows, rows_of_pairs

_MERGED = 2
"""Forests that a task merges."""


def clusters(i: Any, j: Any, n: int) -> Any:
    """The cluster of each row, of pairs that lie on a Dask cluster.

    The numbers are those of `sparsemaps.neighbors.clusters`: they depend on the set of pairs only,
    not on their blocks.

    Parameters
    ----------
    i, j : dask arrays of int, shape (n_pairs,)
        The rows of each pair, 0 to n - 1, in the same blocks, whose lengths need not be known: such
        as `similar_pairs` returns.
    n : int
        How many rows there are, 0 to 2**31 - 1.

    Returns
    -------
    numbers : dask array of int64, shape (n,)
        The number of each row's cluster, in one block.

    Raises
    ------
    ValueError
        If a parameter is not of the form above. Tasks check that rows are from 0 to n - 1.

    See Also
    --------
    sparsemaps.neighbors.clusters : On one machine.

    Notes
    -----
    A task joins the pairs of a block, and keeps those that join two components, 8 bytes each; or,
    of n / 4 pairs and more, 4 bytes for each row. Other tasks merge two such forests at a time, and
    the last one numbers the components. So a task holds some 40 bytes for each pair of its block
    and 4 for each row, or 12 for each row where it merges, and the last one 16.

    Examples
    --------
    >>> import dask.array as da, numpy as np
    >>> from sparsemaps.dask import clusters
    >>> i, j = da.from_array(np.array([1, 4]), chunks=1), da.from_array(np.array([3, 3]), chunks=1)
    >>> clusters(i, j, 6).compute()
    array([0, 1, 2, 1, 1, 3])
    """
    n = _checks.check_int("n", n, 0, _checks.LARGEST_INT32)
    for name, rows in (("i", i), ("j", j)):
        if not isinstance(rows, da.Array) or rows.ndim != 1 or rows.dtype.kind not in "iu":
            raise ValueError(f"{name} must be a one-dimensional Dask array of integers")
    if i.numblocks != j.numblocks:
        raise ValueError(
            f"i and j must be in the same blocks, got {i.numblocks[0]} and {j.numblocks[0]}"
        )
    numbers = delayed(_numbers, pure=True)(forest_of(i, j, n), n)
    return da.from_delayed(numbers, (n,), np.int64)


def forest_of(i: Any, j: Any, n: int) -> list[Any]:
    """A task of a forest of the pairs in like blocks of Dask arrays; none if there are no blocks.

    A forest is an array. It has pairs as `pairs_of_rows` makes them, uint64, with the connected
    components of all pairs; or else, as these would take more memory, the parents of `Components`,
    uint32.
    """
    parts = [array.to_delayed(optimize_graph=False).ravel() for array in (i, j)]
    forest, merge = delayed(_forest, pure=True), delayed(_merged, pure=True)
    forests = [forest(*block, n) for block in zip(*parts, strict=True)]
    while len(forests) > 1:
        starts = range(0, len(forests), _MERGED)
        forests = [merge(forests[start : start + _MERGED], n) for start in starts]
    return forests


def pairs_of(forest: Array) -> tuple[Array, Array]:
    """The rows of a forest's pairs."""
    is_pairs = forest.dtype == np.uint64
    return rows_of_pairs(forest) if is_pairs else _clusters.rows_with_parents(forest)


def _forest(i: Array, j: Array, n: int) -> Array:
    return _merged([pairs_of_rows(*_clusters.checked_pairs(i, j, n))], n)


def _merged(forests: list[Array], n: int) -> Array:
    """A forest of the pairs of several, of at most 4 bytes for each of n rows."""
    n_pairs = sum(len(forest) for forest in forests)
    if n_pairs >= n // 4 or any(forest.dtype == np.uint32 for forest in forests):
        return _joined(forests, n).parents
    pairs = np.concatenate(forests)
    if n_pairs >= n // 64:
        return _clusters.Components(n).join(pairs).copy()
    # The rows that have pairs take less memory than the parents of all rows.
    rows, places = np.unique(np.concatenate(rows_of_pairs(pairs)), return_inverse=True)
    pairs = pairs_of_rows(*places.reshape(2, -1))
    one, other = rows_of_pairs(_clusters.Components(len(rows)).join(pairs))
    return pairs_of_rows(rows[one], rows[other])


def _joined(forests: list[Array], n: int) -> _clusters.Components:
    """The connected components of the pairs of forests."""
    first = next((forest for forest in forests if forest.dtype == np.uint32), None)
    components = _clusters.Components(n, first)
    for forest in forests:
        if forest.dtype == np.uint64:
            components.join(forest.copy())
        elif forest is not first:
            components.join_parents(forest)
    return components


def _numbers(forests: list[Array], n: int) -> Array:
    """The clusters of all rows, of one forest, or none."""
    return _joined(forests, n).numbers()
