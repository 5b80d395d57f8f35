"""Jobs over files: sources, blocks of rows, a map, sinks.

- ``_blocks_of_map``: a block of lines becomes rows, and rows become the output of a map.
- ``_formats``: sinks: LIBSVM text, packed codes as .npy, CSR as .npz.
- ``_map``: `map_files`, with records for resuming and shards.
- ``_pairs``: similar rows of a file, for ``sparsemaps pairs``.
- ``_kernel_matrix``: a Gram matrix in LIBSVM's precomputed format, for ``sparsemaps kernel``.
- ``_summary``: what a file holds, for ``sparsemaps info``.

The command and ``sparsemaps.dask`` call these. Text is read and written by ``libsvm``, which
knows no map.
"""

from sparsemaps.files._map import MappedFile, map_files

__all__ = ["MappedFile", "map_files"]


def __dir__() -> list[str]:
    return __all__
