"""Jobs over files: sources, blocks of rows, a map, sinks.

- ``_rows``: blocks of rows of a source, through threads, in order; errors name file and line.
- ``_text_rows``: rows of raw texts; the numbers of labels that are strings.
- ``_record``: what an output was made of, for resuming.
- ``_formats``: sinks: LIBSVM text, packed codes as .npy, CSR as .npz, codes of records.
- ``_job``: what is done to each input, of options that are checked; Dask does the same to a part.
- ``_map``: `map_files`: inputs to one output, or one each, in shards and resumed.
- ``_coded_rows``: rows of inputs, files of codes among them, as packed codes with their names.
- ``_pairs``: `similar_pairs_of_files`: similar rows of files, for ``sparsemaps pairs``.
- ``_dedup``: `deduplicate_files`: records without near-duplicates, in ``_stage_records``: codes and
  pairs by ``_coded_records``, clusters, and the records that are kept by ``_kept_records``.
- ``_kernel_matrix``: a Gram matrix in LIBSVM's precomputed format, for ``sparsemaps kernel``.
- ``_summary``: what a file holds, for ``sparsemaps info``.

The command and ``sparsemaps.dask`` call these. Text is read and written by ``libsvm``, which
knows no map.
"""

from sparsemaps.files._dedup import Deduplicated, KeptFile, deduplicate_files
from sparsemaps.files._job import MappedFile
from sparsemaps.files._map import map_files
from sparsemaps.files._pairs import FoundPairs, similar_pairs_of_files

__all__ = [
    "Deduplicated",
    "FoundPairs",
    "KeptFile",
    "MappedFile",
    "deduplicate_files",
    "map_files",
    "similar_pairs_of_files",
]


def __dir__() -> list[str]:
    return __all__
