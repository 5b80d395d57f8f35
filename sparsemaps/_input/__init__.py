"""Reading matrices: validity checks, and blocks of rows.

A matrix comes from a user, and another thread may change it during a call. Its index arrays are
therefore copied and then checked. Only checked copies reach SciPy and scikit-learn, whose compiled
code does not check indices.

- ``_sparse`` returns CSR arrays of a sparse matrix of any format, with a private, valid ``indptr``.
- ``_estimator_input`` reads the matrix of an estimator, with scikit-learn's checks.
- ``_row_reader`` has `RowReader`, which returns blocks of rows as canonical CSR. Entries are
  checked when their block is read. An `EntryError` names the row and the column of the first
  forbidden entry.
- ``_row_values`` returns arrays of labels, targets, weights and query ids, one per row.

``maps``, ``kernels``, ``text`` and ``libsvm`` use these modules to read matrices. Nothing here
depends on a map.
"""
