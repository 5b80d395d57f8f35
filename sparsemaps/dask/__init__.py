"""Rows on a Dask cluster: files to files, arrays to arrays, similar pairs, their clusters.

A map is a pure function of (seed, row), so a cluster needs nothing but the fitted map: no worker
learns from another, and a task that runs twice gives the same bytes. What runs where, and again
after a worker is lost, is Dask's.

Needs Dask: ``pip install "sparsemaps[dask]"``.

- ``_arrays``: Dask arrays of the rows of files; maps of Dask arrays.
- ``_map_files``: files to files, a part for each byte range of ``_ranges``.
- ``_codes``: `DaskPackedCodes`, whose rows lie on a cluster. ``_similar_pairs``, ``_pair_tasks``:
  their pairs. ``_components``: clusters of pairs. ``_deduplicate``: codes and pairs of records.
- ``_graphs``: tasks for each of many items. ``_command``: ``sparsemaps map --dask``.
"""

try:
    import dask.array  # noqa: F401
    import fsspec  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'sparsemaps.dask needs Dask ({error}): pip install "sparsemaps[dask]"'
    ) from error

from sparsemaps.dask._arrays import encode, read_svmlight, transform
from sparsemaps.dask._codes import DaskPackedCodes
from sparsemaps.dask._components import clusters
from sparsemaps.dask._map_files import map_files
from sparsemaps.dask._similar_pairs import similar_pairs

__all__ = [
    "DaskPackedCodes",
    "clusters",
    "encode",
    "map_files",
    "read_svmlight",
    "similar_pairs",
    "transform",
]


def __dir__() -> list[str]:
    return sorted(__all__)
