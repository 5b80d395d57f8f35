"""Rows on a Dask cluster: files to files, arrays to arrays, similar pairs.

A map is a pure function of (seed, row), so a cluster needs nothing but the fitted map: no worker
learns from another, and a task that runs twice gives the same bytes. What runs where, and again
after a worker is lost, is Dask's.

Needs Dask: ``pip install "sparsemaps[dask]"``.
"""

try:
    import dask.array  # noqa: F401
    import fsspec  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'sparsemaps.dask needs Dask ({error}): pip install "sparsemaps[dask]"'
    ) from error

from sparsemaps.dask._arrays import encode, read_svmlight, transform
from sparsemaps.dask._files import map_files
from sparsemaps.dask._packed import PackedCodes
from sparsemaps.dask._pairs import similar_pairs

__all__ = ["PackedCodes", "encode", "map_files", "read_svmlight", "similar_pairs", "transform"]


def __dir__() -> list[str]:
    return sorted(__all__)
