"""Tools of all other folders: parameters, seeds, threads, files. None of them knows a map.

- ``_checks`` checks parameters. ``_parameters`` has the errors, which carry the name of the
  parameter, its value, and the rule. ``_allowed`` has the types of the table in
  which a class declares the values that its parameters may have.
- ``_docstrings`` fills in parts that several docstrings share.
- ``_seeding`` draws the seed of a map, and makes the keys of its random numbers.
- ``_blocks`` cuts rows into ranges of nearly equal work.
- ``_threads`` runs calls in threads, returns their results in order, and interprets `n_jobs`.
- ``_memory`` has errors that say what takes more memory than there is.
- ``_sources`` lists the inputs of a call: files, directories, patterns, standard input.
- ``_text_input`` reads files, pipes and compressed files in blocks of whole lines.
- ``_zstd`` reads and writes Zstandard files. ``_extras`` imports libraries of the extras.
- ``_output_files`` writes files that appear when they are complete, and refuses equal names.
- ``_regular_files`` opens files that must be no pipe, device or folder.
- ``_locks`` lets one process at a time write to a folder.
- ``_stages`` is what a search tells of its steps.
- ``_whole_numbers`` has numbers of records with all their digits.
- ``_array_files`` reads NumPy's files, whose types, shapes and numbers it checks.
  ``_described_files`` has the form of files of an array with a description.
- ``_progress`` has the progress bar.
- ``_growing_array`` has arrays whose final length is not known. ``_distinct`` sorts integers and
  drops repeated ones. ``_escapes`` writes texts in columns of tables.
- ``_portable_math`` has functions with the same bits on every platform.
- ``_sklearn`` is the only module that imports scikit-learn.
- ``_light_bases`` has the base classes of maps in the process of the command.
- ``_typing`` names types of arguments and results.
- ``_versions`` has `show_versions`.
"""
