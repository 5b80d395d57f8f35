"""Input formats, one module each, which reads records and writes them back.

- ``_format`` defines the contract that each format fulfils.
- ``_table`` finds the format of an input in the table below.
- ``_batch`` has `Batch`: consecutive records, and the rows that a job computes from them.
- ``_fields`` says which fields are read from a record and which values they allow.
- ``lines`` reads one text per line, ``jsonl`` JSON Lines and ``svmlight`` LIBSVM text.
  ``_line_format`` has the code that line formats share.
- ``csv`` reads CSV with a header.
- ``parquet`` reads Parquet and ``arrow`` Arrow IPC. ``_columns`` converts their columns to records.
  ``_parquet_pages`` checks the page headers before Arrow reads the pages.
- ``codes`` handles packed codes, which a job accepts instead of records.

``text`` and ``files`` call these modules.
"""

TEXT_FORMATS = {
    "txt": "lines",
    "jsonl": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
    "arrow": "arrow",
}
"""Text formats: from the names that options use to the modules that define ``FORMAT``. Reading the
table imports none of these modules."""
