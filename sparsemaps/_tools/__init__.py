"""Tools for all other folders: parameters, seeds, threads, types. None depends on a map.

- ``_checks`` checks parameters. ``_parameters`` has the errors, which have the name of the
  parameter, its value, and the rule. ``_allowed`` has the types with which classes declare the
  values that their parameters may have.
- ``_option_fields`` makes checks, keywords, docstrings, help and tables from options, which are
  fields of a value.
- ``_plurals`` writes numbers with their nouns: "1 record", "2 records".
- ``_docstrings`` fills in text shared by several docstrings.
- ``_seeding`` draws the seed of a map, and derives the keys of its random numbers.
- ``_blocks`` divides rows into ranges of nearly equal work, and sums the entries of rows.
- ``_threads`` runs calls in threads, returns their results in order, and interprets `n_jobs`.
- ``_memory`` has errors that say what needs more memory than is available.
- ``_extras`` imports optional libraries.
- ``_whole_numbers`` keeps all digits of the numbers in records.
- ``_growing_array`` has arrays whose final length is unknown. ``_distinct`` sorts integers and
  drops duplicates. ``_escapes`` escapes texts in the columns of tables.
- ``_portable_math`` has functions that return the same bits on every platform.
- ``_sklearn`` is the only module that imports scikit-learn.
- ``_light_bases`` has the base classes of estimators, which inherit scikit-learn's as soon as it is
  imported.
- ``_typing`` names the types of arguments and results.
- ``_lazy_names`` lists the names of a package that are imported on first use.
- ``_versions`` has `show_versions`.
"""
