"""Parquet: one record per row, with a column for each field.

String columns and lists of strings are read as dictionaries. The number of rows decoded at once
depends on the bytes of their strings (``_columns``). A row longer than the limit of a line is an
error, since a list may repeat a long string many times.
"""

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import numpy as np

from sparsemaps._io import _text_input, _urls
from sparsemaps._io._text_input import Text
from sparsemaps._tools._extras import library
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Array
from sparsemaps.records._batch import Batch
from sparsemaps.records._columns import (
    EXPANDED_BYTES,
    PART_BYTES,
    STRINGS,
    ColumnFormat,
    FieldPath,
    batches_of,
    chosen,
    cut,
    errors_named,
    is_list,
    is_one_of,
    paths_of,
    refuse_expansion,
    string_bytes,
)
from sparsemaps.records._fields import RECORD_BYTES, Fields
from sparsemaps.records._format import Raw, RecordWriter, name_of, other_columns
from sparsemaps.records._parquet_pages import check_pages

_READ_AS_NUMBERS = {"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"}
"""Encodings of columns that Arrow can read as dictionaries."""

_MOST_ROWS = 2**20
"""Largest number of rows that are read at once."""

_MOST_OTHER_ROWS = 2**6
"""The same if strings are not read as dictionaries, because they have another encoding or are in
lists or structs. Such strings may share bytes too."""

_GROUP_BYTES = 2**28
"""Bytes of rows per written row group."""


class ParquetRecords(ColumnFormat):
    """Rows of Parquet files."""

    name, title, endings = "parquet", "Parquet", (".parquet",)
    is_packed = True

    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        name = name_of(text)
        most = text.max_line_bytes
        opened = Opened.of(text.file, name, fields, most, buffer_size=2**20)
        with opened.file:
            n_all = max(opened.file.metadata.num_rows, 1)
            size = text.file.seek(0, os.SEEK_END)
            n_rows = n_given = position = 0
            for rows in opened.parts(n_bytes, max(n_bytes, PART_BYTES), text.max_line_bytes):
                for batch in batches_of(rows, fields, opened.paths, n_bytes, n_rows, name):
                    n_given += batch.n_lines
                    before, position = position, size * n_given // n_all
                    batch.n_bytes = position - before
                    text.advance(batch.n_bytes)
                    yield batch
                n_rows += len(rows)

    def raw_pieces(self, text: Text, fields: Fields, n_jobs: int | None) -> Iterator["_GroupPart"]:
        given = fields if fields.sets_aside else None
        opened = Opened.of(text.file, name_of(text), given, text.max_line_bytes)
        yield _GroupPart(opened, -1, None)
        how = {"use_threads": False}
        for group in range(opened.file.num_row_groups):
            sizes = PART_BYTES, PART_BYTES, text.max_line_bytes
            for rows in opened.parts(*sizes, row_groups=[group], **how):
                yield _GroupPart(opened, group, rows)

    def writer(self, file: IO[bytes]) -> RecordWriter:
        return _GroupWriter(file)

    def check(self, inputs: list[Any]) -> None:
        check_inputs(inputs)


FORMAT = ParquetRecords()


# ---- reading -------------------------------------------------------------------------------------


class Opened(NamedTuple):
    """A Parquet file whose strings are read as dictionaries, and the schema of the returned
    rows."""

    file: Any
    plain: Any
    """The same file with the types that it declares."""
    name: str
    schema: Any
    paths: dict[str, FieldPath]
    columns: list[str] | None
    most_rows: int
    n_numbers: int
    """Bytes of the columns' numbers in memory. A few bytes in the file may expand to many."""

    @classmethod
    def of(
        cls, file: Any, name: str, fields: Fields | None, max_row_bytes: int, **options: Any
    ) -> "Opened":
        """Open a file with the columns of the fields, or with all columns if rows are requested or
        `fields` is None. Nested strings are read as dictionaries only in lists. Raise ValueError if
        a page exceeds both the limit of a row and the usual size of pages."""
        parquet = library("pyarrow.parquet", "reading Parquet")
        with _text_input.array_errors_naming(name):
            plain = parquet.ParquetFile(file, **options)
        schema, about = plain.schema_arrow, plain.metadata
        paths = {} if fields is None else paths_of(schema, fields, name)
        columns = None
        if fields is not None and not fields.records:
            columns = [".".join(path.names) for path in paths.values()]
        starts = tuple(f"{one}." for one in columns or ())

        def is_wanted(path: str) -> bool:
            return columns is None or f"{path}.".startswith(starts)

        strings = [field.name for field in schema if is_one_of(field.type, STRINGS)]
        others = set(_of_other_encodings(about))
        numbered = [one for one in (*strings, *_strings_of_lists(plain)) if one not in others]
        with _text_input.array_errors_naming(name):
            opened = parquet.ParquetFile(file, metadata=about, read_dictionary=numbered, **options)
        most = max(max_row_bytes, EXPANDED_BYTES)
        check_pages(file, about, is_wanted, most, name)
        n_numbers = _bytes_of_numbers(plain, is_wanted, most, name)
        within = filter(is_wanted, _strings_within_others(plain))
        are_numbered = set(numbered).issuperset([*strings, *within])
        most_rows = _MOST_ROWS if are_numbered else _MOST_OTHER_ROWS
        return cls(opened, plain, name, schema, paths, columns, most_rows, n_numbers)

    def parts(
        self, n_bytes: int, part_bytes: int, max_row_bytes: int, **options: Any
    ) -> Iterator[Any]:
        """Yield the rows in batches of about `n_bytes`, by the sizes that the file declares, and
        decode `part_bytes` of strings at once. Raise ValueError for a row with more than
        `max_row_bytes` of strings."""
        about = self.file.metadata
        if not about.num_row_groups:  # Arrow before 20 cannot read such a file
            return
        n_all = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        n_all = max(n_all, self.n_numbers)
        a_row = n_all // max(about.num_rows, 1) + RECORD_BYTES
        n_rows = max(1, min(n_bytes // a_row, self.most_rows))
        n_read = 0
        for rows in errors_named(self._batches(n_rows, **options), self.name):
            for part in errors_named(cut(rows, self.paths, part_bytes), self.name):
                n_read += len(part)
                if len(part) == 1 and string_bytes(part, self.paths)[0] > max_row_bytes:
                    before = range(options.get("row_groups", [0])[0])
                    row = sum(about.row_group(i).num_rows for i in before) + n_read
                    limit = setting("max_line_bytes", max_row_bytes)
                    raise ValueError(f"{self.name}: row {row} is longer than {limit}")
                with _text_input.array_errors_naming(self.name):
                    part = self._as_in_schema(part)
                yield part

    def _batches(self, n_rows: int, **options: Any) -> Iterator[Any]:
        """Yield rows as Arrow reads them. Arrow cannot join nested dictionaries, so with any of
        these, read one row group at a time."""
        is_dictionary = library("pyarrow", "reading Parquet").types.is_dictionary
        inner = (one for field in self.file.schema_arrow for one in _types_within(field.type))
        if not any(map(is_dictionary, inner)):
            yield from self.file.iter_batches(n_rows, columns=self.columns, **options)
            return
        for group in options.pop("row_groups", range(self.file.metadata.num_row_groups)):
            some = {"columns": self.columns, "row_groups": [group]}
            yield from self.file.iter_batches(n_rows, **some, **options)

    def _as_in_schema(self, rows: Any) -> Any:
        """Return rows with the types of the schema. The rows may have a subset of its columns."""
        pa = library("pyarrow", "reading Parquet")
        fields, columns = [], []
        wanted = {field.name: field for field in self.schema}
        is_whole = rows.schema.names == self.schema.names  # a name may occur twice
        for place, (name, column) in enumerate(zip(rows.schema.names, rows.columns, strict=True)):
            field = self.schema.field(place) if is_whole else wanted[name]
            if column.type != field.type:
                if pa.types.is_dictionary(column.type):
                    column = column.dictionary_decode()
                    column = column if column.type == field.type else column.cast(field.type)
                elif is_list(column.type) and pa.types.is_dictionary(column.type.value_type):
                    if self.columns is not None:  # values are taken from the dictionary
                        field = field.with_type(column.type)
                    else:
                        column = _list_of_strings(column, field.type)
                else:  # a subset of the columns of a struct
                    field = field.with_type(column.type)
            fields.append(field)
            columns.append(column)
        own = pa.schema(fields, metadata=self.schema.metadata)
        return pa.RecordBatch.from_arrays(columns, schema=own)


def _types_within(outer: Any) -> Iterator[Any]:
    """Yield the types nested within an Arrow type, at any depth."""
    for place in range(outer.num_fields):
        inner = outer.field(place).type
        yield inner
        yield from _types_within(inner)


def _list_of_strings(column: Any, kind: Any) -> Any:
    """Return a column of lists of dictionary-encoded strings as lists of strings, of the type
    `kind`."""
    pa = library("pyarrow", "reading Parquet")
    pc = library("pyarrow.compute", "reading Parquet")
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0), np.int64)
    ends = pa.array(np.append(0, np.cumsum(lengths)))
    strings = column.flatten().dictionary_decode().cast(pa.large_string())  # of these rows alone
    lists = pa.LargeListArray.from_arrays(ends, strings, mask=column.is_null())
    return lists.cast(kind)


def _strings_of_lists(plain: Any) -> list[str]:
    """Return the paths of strings in top-level lists."""
    types = library("pyarrow", "reading Parquet").types
    outer = [
        f"{field.name}."
        for field in plain.schema_arrow
        if (types.is_list(field.type) or types.is_large_list(field.type))
        and is_one_of(field.type.value_type, ("string", "large_string"))
    ]
    return [path for path in _strings_within_others(plain) if path.startswith(tuple(outer))]


def _strings_within_others(plain: Any) -> list[str]:
    """Return the paths of byte columns in lists, maps and structs."""
    columns = (plain.schema.column(place) for place in range(len(plain.schema)))
    paths = (one.path for one in columns if one.physical_type == "BYTE_ARRAY")
    return [path for path in paths if path not in plain.schema_arrow.names]


_NUMBER_BYTES = 8
"""Largest number of bytes of a number, or of an index into a dictionary."""


def _bytes_of_numbers(file: Any, is_wanted: Callable[[str], bool], most: int, name: str) -> int:
    """Return the bytes of the values of some columns, in memory. It is a ValueError if the mean of
    a group of rows is larger than a row may be, or than a column of so few bytes holds."""
    n_all, about = 0, file.metadata
    for group in range(about.num_row_groups):
        chunks = about.row_group(group)
        for place in range(chunks.num_columns):
            chunk, kind = chunks.column(place), file.schema.column(place)
            if not is_wanted(chunk.path_in_schema):
                continue
            n_bytes = chunk.num_values * max(_NUMBER_BYTES, kind.length or 0)
            n_all += n_bytes
            a_row = n_bytes // max(chunks.num_rows, 1)
            try:
                refuse_expansion("a row", a_row, chunk.total_compressed_size, most)
            except ValueError as error:
                where = f"row group {group + 1}, column {chunk.path_in_schema!r}"
                raise ValueError(f"{name}: {where}: {error}") from None
    return n_all


def _of_other_encodings(about: Any) -> Iterator[str]:
    """Yield the columns whose encodings cannot be read as dictionaries."""
    for group in range(about.num_row_groups):
        chunks = about.row_group(group)
        for place in range(chunks.num_columns):
            column = chunks.column(place)
            if not _READ_AS_NUMBERS.issuperset(column.encodings):
                yield column.path_in_schema


# ---- writing -------------------------------------------------------------------------------------


class _GroupPart(NamedTuple):
    """Rows of a row group. In the first piece of a file, the group is -1 and the rows are None."""

    opened: Opened
    group: int
    rows: Any


class _GroupWriter(RecordWriter):
    """A writer of the kept rows of each row group. A group of many bytes is written as several."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None
        self._parts: list[Any] = []
        self._n_bytes, self._group = 0, -1

    def write(self, raw: Raw, kept: Array) -> None:
        part, is_kept = raw.records
        with _text_input.array_errors_naming(part.opened.name):
            if self._writer is None:
                parquet = library("pyarrow.parquet", "writing Parquet")
                options = _writer_options(part.opened.plain)
                self._writer = parquet.ParquetWriter(self._file, part.opened.schema, **options)
            if part.group != self._group:
                self._end_group(part.group)
            if part.rows is None:
                return
            is_kept[is_kept] = kept
            self._parts.append(chosen(part.rows, is_kept))
            self._n_bytes += self._parts[-1].nbytes
            if self._n_bytes > _GROUP_BYTES:
                self._end_group(part.group)

    def _end_group(self, group: int) -> None:
        """Write the collected tables as a row group, unless they are empty, and begin another
        group."""
        pa = library("pyarrow", "writing Parquet")
        some = pa.concat_tables(self._parts) if self._parts else ()
        if len(some):
            self._writer.write_table(some, row_group_size=len(some))
        self._parts, self._n_bytes, self._group = [], 0, group

    def finish(self) -> None:
        self._end_group(-1)
        if self._writer is not None:
            self._writer.close()

    def abandon(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(Exception):  # the first error is the one to report
                self._writer.close()


# ---- types of columns that are written -----------------------------------------------------------

_INSTANTS = 2**16
"""Number of timestamps that are checked at once."""

INT96 = "use_deprecated_int96_timestamps"


def check_inputs(inputs: list[Any]) -> None:
    """Raise a ValueError if writing would change the rows of Parquet files, or if the rows of
    several files do not fit in one."""
    schemas = []
    for input in inputs:
        if hasattr(input, "read") and not input.seekable():
            return  # its columns are checked when it is read for the output
        with _text_input.array_errors_naming(_name(input)), _parquet_file(input) as source:
            has_int96 = _writer_options(source)[INT96]
            schemas.append((source.schema_arrow, _leaf_types(source)))
        if has_int96:
            _check_instants(input)
    for input, schema in zip(inputs, schemas, strict=True):
        if not schema[0].equals(schemas[0][0]) or schema[1] != schemas[0][1]:
            raise other_columns(_name(inputs[0]), _name(input))


def _name(input: Any) -> str:
    return "a file object" if hasattr(input, "read") else os.fspath(input)


@contextlib.contextmanager
def _parquet_file(input: Any, **options: Any) -> Iterator[Any]:
    """Yield an open Parquet file. Afterwards, restore the position of a file object."""
    parquet = library("pyarrow.parquet", "reading Parquet")
    place = input.tell() if hasattr(input, "read") else 0
    source = _urls.local_copy(input) if _urls.is_url(input) else input
    file = parquet.ParquetFile(source, **options)
    try:
        yield file
    finally:
        file.close()
        if hasattr(input, "read"):
            input.seek(place)


def _writer_options(source: Any) -> dict[str, Any]:
    """Return writer options that preserve the types of a file's columns. Raise ValueError if none
    do.

    Several Parquet types map to one Arrow type, which maps back to one Parquet type. Therefore
    write a file without rows and compare its columns.
    """
    parquet = library("pyarrow.parquet", "writing Parquet")
    kinds = _leaf_types(source)
    reasons = []
    for version in ("2.6", "1.0"):  # version 1.0 widens unsigned 32-bit integers to 64 bits
        options = {
            "version": version,
            "compression": _compression(source.metadata),
            INT96: any(kind.startswith("INT96") for _, kind in kinds),
        }
        trial = io.BytesIO()
        parquet.ParquetWriter(trial, source.schema_arrow, **options).close()
        written = parquet.ParquetFile(trial)
        reason = _difference(kinds, _leaf_types(written))
        if reason is None and not written.schema_arrow.equals(source.schema_arrow):
            reason = f"{source.schema_arrow} would be read as {written.schema_arrow}"
        if reason is None:
            return options
        reasons.append(reason)
    raise ValueError(f"not all columns would keep their types: {reasons[0]}")


def _leaf_types(file: Any) -> list[tuple[str, str]]:
    """Return the path and the type of each leaf column. Types of equal meaning are returned as
    equal."""
    kinds = []
    for i in range(file.metadata.num_columns):
        column = file.schema.column(i)
        kind, meaning = column.physical_type, str(column.logical_type)
        meaning = meaning.partition(", is_from_converted_type")[0]
        if meaning.startswith("Decimal"):  # of integers or of bytes
            kind = ""
        elif kind == "FIXED_LEN_BYTE_ARRAY":
            kind += f" of {column.length} bytes"
        elif meaning in ("Int(bitWidth=32, isSigned=true)", "Int(bitWidth=64, isSigned=true)"):
            meaning = "None"
        kinds.append((column.path, f"{kind} {meaning}"))
    return kinds


def _difference(kinds: list[tuple[str, str]], written: list[tuple[str, str]]) -> str | None:
    """Describe the first column whose type differs; None if there is none. Names within lists do
    not matter."""
    if len(kinds) != len(written):
        return f"{len(kinds)} columns of values would be {len(written)}"
    for (path, kind), (_, other) in zip(kinds, written, strict=True):
        if kind != other:
            return f"{path!r} of type {kind.strip()} would be of type {other.strip()}"
    return None


def _check_instants(input: object) -> None:
    """Raise a ValueError if an INT96 timestamp is out of range for Arrow's nanoseconds, since it
    would be read as another time."""
    unit = {"coerce_int96_timestamp_unit": "ms"}
    with (
        _text_input.array_errors_naming(_name(input)),
        _parquet_file(input) as source,
        _parquet_file(input, **unit) as in_milliseconds,
    ):
        paths = [path for path, kind in _leaf_types(source) if kind.startswith("INT96")]
        types: dict[str, list[Any]] = {}  # several columns may share a name
        for field in source.schema_arrow:
            if any(f"{path}.".startswith(f"{field.name}.") for path in paths):
                types.setdefault(field.name, []).append(field.type)
        for group in range(source.num_row_groups):
            for name, own in types.items():
                some = {"row_groups": [group], "columns": [name], "use_threads": False}
                for times in in_milliseconds.iter_batches(_INSTANTS, **some):
                    found = zip(times.schema.names, times.columns, strict=True)
                    columns = [column for other, column in found if other == name]
                    for column, kind in zip(columns, own, strict=True):
                        column.cast(kind)


def _compression(metadata: Any) -> Any:
    if not metadata.num_row_groups:
        return "snappy"
    columns = (metadata.row_group(0).column(i) for i in range(metadata.num_columns))
    return {
        column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE")
        for column in columns
    }
