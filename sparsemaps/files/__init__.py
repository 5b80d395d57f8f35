"""Jobs over files: sources, blocks of rows, a map, sinks.

- ``_job_options`` declares the options of jobs as fields of values. ``_keywords`` has their types
  for type checkers. ``_kinds_of_inputs`` determines the kind of the inputs.
- ``_rows`` reads blocks of rows of a source, in threads and in order. Errors name file and line.
- ``_row_source`` is the contract of a source. ``_libsvm_rows`` implements it for LIBSVM files.
  ``_text_rows`` makes rows of raw texts and assigns numbers to labels that are strings.
  ``_snippet_rows`` makes codes of short parts of texts.
- ``_results`` stores results of a job in a folder, with their recipes (``_recipes``). ``_tasks``
  defines the stages of a job, which are lists of tasks, and ``_job_run`` runs them.
  ``_search_tasks`` divides the steps of a search among tasks.
- ``_bad_records`` writes the table of records that are set aside, and stops jobs whose records are
  all bad.
- ``_formats`` has the output formats: LIBSVM text, packed codes as .npy, codes of records.
- ``_plan`` is the base of all jobs. ``_outputs`` is a plan with one output for all inputs, or one
  per input, which an ``_output_job`` makes. ``_job`` maps rows, after checking the options;
  ``_map`` has `map_files`.
- ``_coded_records`` computes the codes of the records of inputs, their pairs, and exact kernels.
  ``_row_names`` reads the ids and comments stored with codes.
- ``_frequency_stages`` counts document frequencies of n-grams, for `max_df` and `idf`.
  ``_counted_rows`` holds these n-grams for the stage that makes codes.
- ``_pairs`` has `similar_pairs_of_files`, which finds similar rows of files, for ``sparsemaps
  pairs``.
- ``_dedup`` has `deduplicate_files`, which removes near-duplicate records. ``_dedup_plan`` checks
  the options, ``_dedup_stages`` has the stages, ``_removed_records`` finds the records to remove,
  ``_kept_records`` writes the others, and ``_evidence`` explains the removals. ``_frames`` finds
  boilerplate shared by records that are compared by their own n-grams, and ``_report`` renders the
  report as a page.
- ``_learning`` trains models of ``linear`` on files (`train_files`): on ``_labelled_rows``, with
  the labels of ``_record_labels``, which must be finite (``_finite_labels``), and the weights of
  ``_record_weights``. ``_validation`` evaluates the models. ``_labels`` applies them to records:
  ``_predict`` has `predict_files`, and ``_filter`` has `filter_files`. ``_label_lines`` formats the
  lines about records, and ``_fractions`` selects the highest scores of several inputs.
- ``_kernel_matrix`` writes a Gram matrix in LIBSVM's precomputed format, for ``sparsemaps kernel``.
- ``_summary`` counts the contents of a file, for ``sparsemaps info``.

The command and ``sparsemaps.dask`` call these modules. ``libsvm``, which is independent of maps,
reads and writes the text.
"""

from importlib import import_module
from typing import Any

from sparsemaps._tools._lazy_names import modules_of_names
from sparsemaps._tools._option_fields import documented

_MODULE_OF = modules_of_names(__file__)

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import a name on first use, so that the command shows help without NumPy. The docstring then
    lists all options."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sparsemaps.files' has no attribute {name!r}")
    value = globals()[name] = documented(getattr(import_module(_MODULE_OF[name]), name))
    return value


def __dir__() -> list[str]:
    return __all__
