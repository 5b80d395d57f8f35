"""Jobs over files: sources, blocks of rows, a map, sinks.

- ``_rows`` reads blocks of rows of a source, by threads and in order; errors name file and line.
- ``_text_rows`` makes rows of raw texts, and numbers labels that are strings.
- ``_record`` describes what an output was made of, for resuming.
- ``_formats`` has the sinks: LIBSVM text, packed codes as .npy, CSR as .npz, codes of records.
- ``_job`` checks options, and makes the job that maps inputs to an output; Dask runs it on parts.
- ``_map`` has `map_files`: all inputs to one output, or one output for each input.
- ``_coded_rows`` reads rows of inputs, or files of codes, as packed codes with their names.
- ``_pairs`` has `similar_pairs_of_files`, the similar rows of files, for ``sparsemaps pairs``.
- ``_dedup`` has `deduplicate_files`, records without near-duplicates. ``_stage_records`` has the
  names of its files, ``_coded_records`` makes codes and pairs, ``_kept_records`` writes the records
  that are kept.
- ``_learning`` trains models of ``linear`` on files (`train_files`), labels records with them
  (`predict_files`), and writes those of a label (`filter_files`).
- ``_kernel_matrix`` writes a Gram matrix in LIBSVM's precomputed format, for ``sparsemaps kernel``.
- ``_summary`` counts the contents of a file, for ``sparsemaps info``.

The command and ``sparsemaps.dask`` call these modules. ``libsvm``, which knows no map, reads and
writes the text.
"""

from sparsemaps.files._dedup import Deduplicated, KeptFile, deduplicate_files
from sparsemaps.files._job import MappedFile
from sparsemaps.files._learning import (
    FilteredFile,
    LabelledFile,
    TrainedModel,
    filter_files,
    predict_files,
    train_files,
)
from sparsemaps.files._map import map_files
from sparsemaps.files._pairs import FoundPairs, similar_pairs_of_files

__all__ = [
    "Deduplicated",
    "FilteredFile",
    "FoundPairs",
    "KeptFile",
    "LabelledFile",
    "MappedFile",
    "TrainedModel",
    "deduplicate_files",
    "filter_files",
    "map_files",
    "predict_files",
    "similar_pairs_of_files",
    "train_files",
]


def __dir__() -> list[str]:
    return __all__
