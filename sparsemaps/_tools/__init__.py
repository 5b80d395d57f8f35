"""Tools of all other folders: parameters, seeds, threads, types. None of them knows a map.

- ``_checks`` checks parameters. ``_parameters`` has the errors, which carry the name of the
  parameter, its value, and the rule. ``_allowed`` has the types of the table in
  which a class declares the values that its parameters may have.
- ``_option_fields`` makes checks, keywords, docstrings, help and tables of options, each a field of
  a value.
- ``_docstrings`` fills in parts that several docstrings share.
- ``_seeding`` draws the seed of a map, and makes the keys of its random numbers.
- ``_blocks`` cuts rows into ranges of nearly equal work, and sums the entries of rows.
- ``_threads`` runs calls in threads, returns their results in order, and interprets `n_jobs`.
- ``_memory`` has errors that say what takes more memory than there is.
- ``_extras`` imports libraries of the extras.
- ``_whole_numbers`` has numbers of records with all their digits.
- ``_growing_array`` has arrays whose final length is not known. ``_distinct`` sorts integers and
  drops repeated ones. ``_escapes`` writes texts in columns of tables.
- ``_portable_math`` has functions with the same bits on every platform.
- ``_sklearn`` is the only module that imports scikit-learn.
- ``_light_bases`` has the base classes of estimators, which inherit scikit-learn's once
  it has been imported.
- ``_typing`` names types of arguments and results.
- ``_lazy_names`` lists the names of a package that load when they are first used.
- ``_versions`` has `show_versions`.
"""
