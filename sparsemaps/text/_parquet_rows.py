"""Rows of Parquet files whose strings are decoded some at a time.

A column of Parquet may hold a long string once, in a dictionary, and a number for each row that
repeats it. So a small file can stand for texts that fill the memory. Columns of strings are
therefore read as numbers and dictionaries, and as many rows are decoded at a time as their strings
have room for.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools._extras import library
from sparsemaps._tools._typing import Array
from sparsemaps.text._fields import RECORD_BYTES

PART_BYTES = 2**24
"""Bytes of strings that are decoded at a time. A longer string is decoded by itself."""

_READ_AS_NUMBERS = {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"}
"""Encodings of columns that Arrow reads as numbers and dictionaries."""

_STRINGS = "string", "large_string", "string_view", "binary", "large_binary", "binary_view"


_MOST_ROWS = 2**20
"""The largest number of rows that are read at a time."""

_MOST_OTHER_ROWS = 2**6
"""The same where strings of another encoding are not read as numbers: they may share bytes too."""


class Opened(NamedTuple):
    """A Parquet file whose strings are read as numbers, and the schema that its rows have."""

    file: Any
    schema: Any
    most_rows: int

    def batches(self, n_bytes: int, **options: Any) -> Iterator[Any]:
        """Return the rows in batches of so many bytes, nearly, by the size that the file says."""
        about = self.file.metadata
        n_all = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        a_row = n_all // max(about.num_rows, 1) + RECORD_BYTES
        n_rows = max(1, min(n_bytes // a_row, self.most_rows))
        batches: Iterator[Any] = self.file.iter_batches(n_rows, **options)
        return batches


def open_parquet(path: Any, **options: Any) -> Opened:
    """Open a file of Parquet, or a file object."""
    parquet = library("pyarrow.parquet", "reading Parquet")
    plain = parquet.ParquetFile(path, **options)
    schema, about = plain.schema_arrow, plain.metadata
    if not hasattr(path, "read"):
        plain.close()
    others = set(_of_other_encodings(about))
    strings = [field.name for field in schema if is_one_of(field.type, _STRINGS)]
    names = [name for name in strings if name not in others]
    file = parquet.ParquetFile(path, metadata=about, read_dictionary=names, **options)
    most_rows = _MOST_ROWS if len(names) == len(strings) else _MOST_OTHER_ROWS
    return Opened(file, schema, most_rows)


def _of_other_encodings(about: Any) -> Iterator[str]:
    """Yield the columns that are not read as numbers."""
    for group in range(about.num_row_groups):
        chunks = about.row_group(group)
        for place in range(chunks.num_columns):
            column = chunks.column(place)
            if not _READ_AS_NUMBERS.issuperset(column.encodings):
                yield column.path_in_schema


def is_one_of(kind: Any, names: tuple[str, ...]) -> bool:
    """Return whether a type of Arrow is one of those that are named."""
    types = library("pyarrow", "reading Parquet").types
    tests = (getattr(types, f"is_{name}", None) for name in names)  # older releases have no views
    return any(test is not None and test(kind) for test in tests)


def decoded(rows: Any, schema: Any, n_bytes: int = PART_BYTES) -> Iterator[Any]:
    """Yield the rows of a batch with the types of the schema, some at a time, in order: so many
    bytes of strings that were read as numbers, or a row of more."""
    ends = np.cumsum(_string_bytes(rows))
    start = 0
    while start < len(rows):
        limit = (ends[start - 1] if start else 0) + n_bytes
        stop = max(start + 1, int(np.searchsorted(ends, limit, "right")))
        yield _as_in(schema, rows.slice(start, stop - start))
        start = stop


def _string_bytes(rows: Any) -> Array:
    """Return how many bytes each row has in strings that are read as numbers."""
    types = library("pyarrow", "reading Parquet").types
    pc = library("pyarrow.compute", "reading Parquet")
    sizes = np.zeros(len(rows), np.int64)
    for column in rows.columns:
        if types.is_dictionary(column.type) and is_one_of(column.type.value_type, _STRINGS):
            strings = column.dictionary
            if is_one_of(strings.type, ("string_view", "binary_view")):
                continue  # views share their bytes
            lengths = np.append(np.asarray(pc.fill_null(pc.binary_length(strings), 0)), 0)
            sizes += lengths[np.asarray(pc.fill_null(column.indices, len(strings)), np.int64)]
    return sizes


def _as_in(schema: Any, rows: Any) -> Any:
    """Return rows with the types of the schema, of which they may have some columns."""
    pa = library("pyarrow", "reading Parquet")
    fields, columns = [], []
    wanted = {field.name: field for field in schema}
    is_whole = rows.schema.names == schema.names  # names may stand twice there
    for place, (name, column) in enumerate(zip(rows.schema.names, rows.columns, strict=True)):
        field = schema.field(place) if is_whole else wanted[name]
        if column.type != field.type:
            column = column.dictionary_decode()
            column = column if column.type == field.type else column.cast(field.type)
        fields.append(field)
        columns.append(column)
    own = pa.schema(fields, metadata=schema.metadata)
    return pa.RecordBatch.from_arrays(columns, schema=own)
