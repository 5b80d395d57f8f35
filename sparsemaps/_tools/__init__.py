"""Tools of all other folders: nothing here knows a matrix or a map.

- ``_checks``: checks of parameters. ``_parameters``: their errors, which carry the name of the
  parameter, its value, and the rule.
- ``_docstrings``: parts that several docstrings share.
- ``_seeding``: the seed of a map, and the keys of its random numbers.
- ``_blocks``: ranges of rows of about equal work.
- ``_threads``: what `n_jobs` means; calls that are run by threads, with results in order.
- ``_sources``: the inputs of a call: files, folders, patterns, standard input.
- ``_text_input``: text from files, pipes and compressed files, in blocks of whole lines.
- ``_zstd``: Zstandard's files. ``_extras``: libraries that only some uses need.
- ``_output_files``: output that appears only when it is complete; names that must differ.
- ``_stages``: results of the steps of a job, kept until it is complete.
- ``_progress``: the progress bar.
- ``_growing_array``: arrays whose final length is not known.
- ``_portable_math``: functions with the same bits on every platform.
- ``_sklearn``: the one place that imports scikit-learn.
- ``_typing``: names for types of arguments and results.
- ``_versions``: `show_versions`.
"""
