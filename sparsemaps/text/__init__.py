"""Raw texts to sparse matrices.

This package makes the rows that the maps take from texts, at about the speed of hashing.

- ``_inputs``: whatever holds texts (lists, generators, NumPy, pandas, polars, Arrow) as blocks of
  texts of bounded size.
- ``_hashing``: `HashingVectorizer`, scikit-learn's class with compiled loops behind it.

The loops are those of ``_kernels/text.pyx`` and ``_kernels/c/text.h``. Users call this package, by
the names below.
"""

from sparsemaps.text._hashing import HashingVectorizer

__all__ = ["HashingVectorizer"]
