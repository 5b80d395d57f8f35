"""Reading a matrix: soundness, and blocks of rows.

A matrix comes from outside, and another thread may change it during a call. So its index arrays are
copied before they are checked, and only checked copies reach SciPy and scikit-learn, whose compiled
code trusts them.

- ``_sparse``: a sparse matrix of any format as CSR arrays whose ``indptr`` is private and sound.
- ``_row_reader``: `RowReader` gives blocks of rows as canonical CSR. Each entry is checked when its
  block is read, and an `EntryError` names the row and the column of the first that is not allowed.

``maps``, ``kernels`` and ``libsvm`` read matrices by these modules. Nothing here knows a map.
"""
