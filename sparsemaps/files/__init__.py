"""Jobs over files: sources, blocks of rows, a map, sinks.

- ``_job_options`` declares the options of jobs, as fields of values. ``_keywords`` has their types
  for type checkers. ``_kinds_of_inputs`` tells what inputs are.
- ``_rows`` reads blocks of rows of a source, by threads and in order; errors name file and line.
- ``_row_source`` is the contract of a source. ``_libsvm_rows`` implements it for LIBSVM files.
  ``_text_rows`` makes rows of raw texts, and numbers labels that are strings; ``_snippet_rows``
  makes codes of short parts of texts.
- ``_results`` keeps results of a job in a folder, with their recipes (``_recipes``). ``_tasks`` has
  the stages of a job, which are lists of tasks, and ``_job_run`` runs them. ``_search_tasks``
  shares the steps of a search among tasks.
- ``_bad_records`` has the table of records that are set aside, and ends jobs whose records are all
  bad.
- ``_formats`` has the sinks: LIBSVM text, packed codes as .npy, codes of records.
- ``_plan`` is what all jobs are. ``_outputs`` is a plan with one output of all inputs, or one for
  each, which an ``_output_job`` makes. ``_job`` is one that maps rows, after a check of options;
  ``_map`` has `map_files`.
- ``_coded_records`` makes the codes of the records of inputs, their pairs, and exact kernels.
  ``_row_names`` reads the ids and comments beside codes.
- ``_frequency_stages`` counts how many records have each n-gram, for `max_df` and `idf`.
  ``_counted_rows`` holds these n-grams for the codes.
- ``_pairs`` has `similar_pairs_of_files`, the similar rows of files, for ``sparsemaps pairs``.
- ``_dedup`` has `deduplicate_files`, records without near-duplicates: ``_dedup_plan`` checks the
  options, ``_dedup_stages`` has the stages, ``_removed_records`` finds which records are removed,
  ``_kept_records`` writes the others, and ``_evidence`` says why. ``_frames`` finds what
  records that are judged by their own n-grams share, and ``_report`` makes a page of the contents
  of the report.
- ``_learning`` trains models of ``linear`` on files (`train_files`): on ``_labelled_rows``, with
  the labels of ``_record_labels``, which must be finite (``_finite_labels``), and the weights of
  ``_record_weights``. ``_validation`` says how well they do. ``_labels`` reads records for them:
  ``_predict`` has `predict_files`, and ``_filter`` has `filter_files`. ``_label_lines`` has the
  lines about records, and ``_fractions`` those with the highest scores of several inputs.
- ``_kernel_matrix`` writes a Gram matrix in LIBSVM's precomputed format, for ``sparsemaps kernel``.
- ``_summary`` counts the contents of a file, for ``sparsemaps info``.

The command and ``sparsemaps.dask`` call these modules. ``libsvm``, which knows no map, reads and
writes the text.
"""

from importlib import import_module
from typing import Any

from sparsemaps._tools._lazy_names import modules_of_names
from sparsemaps._tools._option_fields import documented

_MODULE_OF = modules_of_names(__file__)

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the command shows its help without NumPy. Docstrings have
    all options then."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sparsemaps.files' has no attribute {name!r}")
    value = globals()[name] = documented(getattr(import_module(_MODULE_OF[name]), name))
    return value


def __dir__() -> list[str]:
    return __all__
