"""Rows on a Dask cluster: files to files.

A map is a pure function of (seed, row), so that each worker needs the fitted map alone. A task that
runs twice gives the same bytes. Dask decides which worker runs a task, and runs it again if the
worker is lost.

Needs Dask: ``pip install "sparsemaps[dask]"``.

- ``_map_files`` maps files to files, one part for each range of bytes. ``_ranges`` cuts the ranges.
- ``_engine`` runs tasks of the jobs of ``sparsemaps.files`` on workers that share a folder, and
  connects the command with them.
- ``_url_results`` keeps the parts of ``_map_files`` on any file system.
- ``_graphs`` makes graphs with one task for each item.
"""

try:
    import dask.array  # noqa: F401
    import fsspec  # noqa: F401
except ImportError as error:
    raise ImportError(
        f'sparsemaps.dask needs Dask ({error}): pip install "sparsemaps[dask]"'
    ) from error

from sparsemaps.dask._map_files import map_files

__all__ = ["map_files"]


def __dir__() -> list[str]:
    return sorted(__all__)
