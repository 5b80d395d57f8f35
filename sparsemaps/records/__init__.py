"""Formats of inputs: each is a file, which reads its records and writes them back.

- ``_format`` is the contract that each format fulfils.
- ``_table`` finds the format of an input in the table below.
- ``_batch`` has `Batch`: some consecutive records, and the rows that a job has of them.
- ``_fields`` says which fields are taken of a record, and what their values may be.
- ``lines`` reads a text a line, ``jsonl`` JSON Lines, ``svmlight`` LIBSVM text: ``_line_format`` is
  what formats of lines share.
- ``csv`` reads CSV with a header.
- ``parquet`` reads Parquet, ``arrow`` Arrow IPC; ``_columns`` makes records of their columns.
  ``_parquet_pages`` reads the headers of pages, before Arrow does.
- ``codes`` are packed codes instead of records.

``text`` and ``files`` call these modules.
"""

TEXT_FORMATS = {
    "txt": "lines",
    "jsonl": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
    "arrow": "arrow",
}
"""The table of formats of texts: the names that options have, and the modules whose ``FORMAT`` they
are. It is read without loading these."""
