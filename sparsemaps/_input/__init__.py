"""Reading a matrix: soundness, and blocks of rows.

A matrix comes from a user, and another thread may change it during a call. So its index arrays are
copied and then checked. Only checked copies reach SciPy and scikit-learn, whose compiled code does
not check them.

- ``_sparse`` makes CSR arrays of a sparse matrix of any format; their ``indptr`` is private and
  sound.
- ``_estimator_input`` reads the matrix of an estimator, with the checks of scikit-learn.
- ``_row_reader`` has `RowReader`, which returns blocks of rows as canonical CSR. Each entry is
  checked when its block is read. An `EntryError` names the row and the column of the first entry
  that is not allowed.
- ``_row_values`` makes arrays of labels, targets, weights and query ids, one for each row.

``maps``, ``kernels``, ``text`` and ``libsvm`` read matrices by these modules. Nothing here knows a
map.
"""
