"""Formats of inputs: each is a file, which reads its records and writes them back.

- ``_format`` is the contract: what a format has, and what is asked of it.
- ``_table`` is the table of all formats, and finds that of an input.
- ``_batch`` has `Batch`: some consecutive records, and the rows that a job has of them.
- ``_fields`` says which fields are taken of a record, and what their values may be.
- ``lines`` reads a text a line, ``jsonl`` JSON Lines, ``svmlight`` LIBSVM text: ``_line_format`` is
  what formats of lines share.
- ``parquet`` reads Parquet; ``_columns`` makes records of the columns of Arrow.
- ``codes`` are packed codes in place of records.

``text`` and ``files`` call these modules.
"""
