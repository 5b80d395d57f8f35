"""Clusters of pairs that lie on a Dask cluster."""

from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array
from sparsemaps.neighbors import _clusters

_MERGED = 4
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
    A task makes a spanning forest of the pairs of a block: for each component, pairs of its first
    row with the others. That are fewer pairs than the block has rows, and than `n`. Other tasks
    merge four forests at a time, and the last one numbers the components. A pair takes 16 bytes; a
    task holds some 10 times that for its pairs, and the last one about 40 bytes for each row.

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
    """A task of a spanning forest of pairs in like blocks of Dask arrays; none if there are no
    blocks."""
    parts = [array.to_delayed(optimize_graph=False).ravel() for array in (i, j)]
    forest, merge = delayed(_forest, pure=True), delayed(_merged, pure=True)
    forests = [forest(*block, n) for block in zip(*parts, strict=True)]
    while len(forests) > 1:
        starts = range(0, len(forests), _MERGED)
        forests = [merge(forests[start : start + _MERGED]) for start in starts]
    return forests


def _forest(i: Array, j: Array, n: int) -> tuple[Array, Array]:
    return _clusters.spanning_forest(*_clusters.checked_pairs(i, j, n))


def _merged(forests: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    return _clusters.spanning_forest(*(np.concatenate(part) for part in zip(*forests, strict=True)))


def _numbers(forests: list[tuple[Array, Array]], n: int) -> Array:
    """The clusters of all rows, of one forest, or none."""
    none = np.empty(0, np.int64)
    i, j = forests[0] if forests else (none, none)
    return _clusters.numbered_components(i, j, n)
