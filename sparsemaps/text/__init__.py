"""Raw texts to sparse matrices.

This package makes the rows that the maps take from texts, at about the speed of hashing.

- ``_inputs``: whatever holds texts (lists, generators, NumPy, pandas, polars, Arrow) as blocks of
  texts of bounded size.
- ``_csr``: blocks to rows by threads, rows to one CSR matrix.
- ``_long_texts``: rows of texts of millions of characters, a piece at a time.
- ``_vectorizer``: `HashingVectorizer`, scikit-learn's class with compiled loops behind it.
- ``_byte_ngrams``: `ByteNgrams`, counts of byte n-grams at exact columns.
- ``_analyzers``: vectorizers from descriptions such as "word:5", and what of one decides its rows.
- ``_records``: `iter_records`, texts of files: lines, JSON Lines, Parquet.

The loops are those of ``_loops/text.pyx``, ``text_bytes.pyx`` and ``arrow.pyx``, with the inner
ones in ``_loops/c/text/text.h`` and ``text_bytes.h``. Users call this package, by the names below.
"""

from sparsemaps.text._byte_ngrams import ByteNgrams
from sparsemaps.text._records import iter_records
from sparsemaps.text._vectorizer import HashingVectorizer

__all__ = ["ByteNgrams", "HashingVectorizer", "iter_records"]
