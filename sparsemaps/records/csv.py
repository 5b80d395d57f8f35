"""CSV with a header: records as Python's csv module reads them, each with its bytes.

The header names the columns. A record may span several lines, since a quoted field may contain line
ends. Values are untyped: labels and ids are strings.
"""

import csv
import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any, NamedTuple

from sparsemaps._io._sources import is_regular, open_input
from sparsemaps._io._text_input import LineTooLong, Text, UnreadableRecord
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps.records._batch import Batch, place_in
from sparsemaps.records._fields import (
    RECORD_BYTES,
    BadRecord,
    FieldOfBatch,
    Fields,
    names_for,
    number_in,
    one_column,
    remedy_for,
)
from sparsemaps.records._format import Format, Raw, RecordWriter, name_of, other_columns
from sparsemaps.records._line_format import MARK

_LIST = re.compile(r"\s*\[\s*(?:|[\"'].*[\"']|-?[0-9][-+0-9.eE,\s]*)\s*\]\s*", re.DOTALL)
"""A list in the syntax of Python or JSON. CSV has no lists, so the whole field would become one
label."""

_BLOCK_BYTES = 2**18
"""Bytes of a file that are decoded at once."""


class CsvRecords(Format):
    """CSV records; blank lines are not records."""

    name, title, endings = "csv", "CSV", (".csv",)
    is_typed = False
    is_table = True

    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        for piece in _pieces(text, fields, n_bytes):
            if piece.batch.texts or piece.batch.bad:
                yield piece.batch

    def raw_pieces(self, text: Text, fields: Fields, n_jobs: int | None) -> Iterator["_Piece"]:
        return _pieces(text, fields, _BLOCK_BYTES)

    def raw(self, piece: "_Piece", fields: Fields) -> Raw:
        return Raw(len(piece.batch.texts), (piece.header, piece.batch.records, piece.name))

    def writer(self, file: IO[bytes]) -> RecordWriter:
        return _CsvWriter(file)

    def check(self, inputs: list[Any]) -> None:
        known = None
        for input in inputs:
            if hasattr(input, "read") or not is_regular(input):
                return  # its columns are compared when it is read for the output
            with open_input(input) as text:
                header = next(_Reader(text).records(), None)
            if header is None:
                continue
            if known is not None and known[0] != header.values:
                raise other_columns(known[1], input)
            known = known or (header.values, input)


FORMAT = CsvRecords()


# ---- reading -------------------------------------------------------------------------------------


class _Record(NamedTuple):
    """The values of a record, its bytes, and the number of lines before it."""

    values: list[str]
    raw: bytes
    n_before: int


class _Reader:
    """Iterator over the records of a text, including the header."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._pieces: list[bytes] = []  # of the current record: many lines each
        self._lines: list[bytes] = []  # of the current record, after the pieces
        self._n_begun = 0
        """Number of lines of the current record so far."""
        self._has_others = False
        self.n_lines = 0
        """Number of lines of the records so far."""

    def records(self) -> Iterator[_Record]:
        """Yield the records. Raise a ValueError if the text ends within quotes."""
        name, pieces, lines = self._text.name, self._pieces, self._lines
        try:
            for values in csv.reader(self._decoded()):
                raw = lines[0] if self._n_begun == 1 else b"".join([*pieces, *lines])
                n_before = self.n_lines
                self.n_lines += self._n_begun
                self._n_begun = 0
                pieces.clear()
                lines.clear()
                if values:
                    yield _Record(values, raw, n_before)
        except LineTooLong as error:
            is_of_csv = self._text.max_line_bytes > MOST_BYTES
            found = f": {_too_long(MOST_BYTES)}" if is_of_csv else f" is {error}"
            raise ValueError(f"{name}line {self.n_lines + 1}{found}") from error
        except (_Unended, csv.Error) as error:
            raise ValueError(f"{name}line {self.n_lines + 1}: {error}") from error

    def _decoded(self) -> Iterator[str]:
        """Yield decoded lines. Each line is first appended to the lines of its record."""
        lines, text, n_bytes = self._lines, self._text, 0
        is_first, least = True, min(_FIELD_BYTES, text.max_line_bytes)
        for block in text.blocks(_BLOCK_BYTES, MOST_BYTES):
            self._has_others = self._has_others or not _is_utf8(block)
            for line in block.splitlines(keepends=True):
                n_bytes = n_bytes + len(line) if self._n_begun else len(line)
                if n_bytes > least:
                    _allow(n_bytes, text.max_line_bytes)
                lines.append(line)
                self._n_begun += 1
                if len(lines) > _MOST_LINES:  # each takes 33 more bytes
                    self._pieces.append(b"".join(lines))
                    lines.clear()
                if is_first:
                    is_first = False
                    yield line.removeprefix(MARK).decode("utf-8", "surrogateescape")
                else:
                    yield line.decode("utf-8", "surrogateescape")
        if self._n_begun:
            raise _Unended("expected the quote that ends a field; found the end of the file")

    def check(self, record: _Record) -> None:
        """Raise `BadRecord` if a record is not UTF-8."""
        if self._has_others:
            try:
                record.raw.decode()
            except UnicodeDecodeError as error:
                byte = f"byte 0x{error.object[error.start]:02x} as byte {error.start + 1}"
                raise BadRecord("UTF-8", f"{byte} of the record") from None


def records_of(text: Text) -> Iterator[_Record]:
    """Yield the records, the header first. Raise a ValueError if one cannot be read."""
    reader = _Reader(text)
    for record in reader.records():
        try:
            reader.check(record)
        except BadRecord as error:
            raise ValueError(f"{text.name}line {record.n_before + 1}: {error}") from None
        yield record


class _Unended(ValueError):
    """A record that does not end."""


_MOST_LINES = 2**16
"""Largest number of separately held lines of a record. More lines are joined."""

_FIELD_BYTES = 2**17
"""Largest field that Python's csv module reads by default."""

MOST_BYTES = 2**28
"""Longest record that is read; csv takes several times its memory."""


def _allow(n_bytes: int, max_line_bytes: int) -> None:
    """Let csv read fields of `n_bytes`. The limit of the process only grows."""
    if n_bytes > min(max_line_bytes, MOST_BYTES):
        raise _Unended(_too_long(max_line_bytes))
    if n_bytes > csv.field_size_limit():
        csv.field_size_limit(2 * n_bytes)


def _too_long(max_line_bytes: int) -> str:
    """Return the error about a record that is too long."""
    is_set = max_line_bytes < MOST_BYTES
    limit = setting("max_line_bytes", max_line_bytes) if is_set else f"{MOST_BYTES} bytes"
    return f"the record is longer than {limit}; is there a quote that ends its field?"


def _is_utf8(block: bytes) -> bool:
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Piece(NamedTuple):
    """Records of an input, its header, if any, and its name in errors."""

    header: _Record | None
    batch: Batch
    name: str


def _pieces(text: Text, fields: Fields, n_bytes: int) -> Iterator[_Piece]:
    """Yield the records in batches of about `n_bytes`; at least one."""
    reader, name = _Reader(text), name_of(text)
    records = reader.records()
    header = next(records, None)
    if header is None:
        yield _Piece(None, Batch.empty(fields), name)
        return
    columns = _Places(header, fields, reader, text.name)
    batch, lines, bad = Batch.empty(fields), list[int](), list[tuple[int, str, bytes]]()
    size = first = position = 0
    for number, record in enumerate(records, 1):
        n_new = len(record.raw) + RECORD_BYTES
        if size and size + n_new > n_bytes:
            before, position = position, text.position()
            yield _Piece(
                header, _ended(batch, lines, bad, record.n_before - first, position - before), name
            )
            batch, lines, bad = Batch.empty(fields), [], []
            size, first = 0, record.n_before
        size += n_new
        try:
            columns.take(record, batch)
        except BadRecord as error:
            if not fields.sets_aside:
                message = f"{text.name}line {record.n_before + 1}: {error}"
                raise UnreadableRecord(message, number, error.is_of_length) from None
            bad.append((record.n_before - first, f": {error}", record.raw))
        else:
            lines.append(record.n_before - first)
    yield _Piece(
        header, _ended(batch, lines, bad, reader.n_lines - first, text.position() - position), name
    )


def _ended(batch: Batch, lines: list[int], bad: list[Any], n_lines: int, n_bytes: int) -> Batch:
    """Complete a batch in place with the lines of its records and return it; `lines` has the number
    of lines before each record."""
    batch.line_of, batch.bad, batch.n_lines = partial(place_in, lines), bad, n_lines
    batch.n_bytes = n_bytes
    return batch


class _Places:
    """The columns of the requested fields, found in the header."""

    def __init__(self, header: _Record, fields: Fields, reader: _Reader, name: str) -> None:
        self._fields, self._reader, self._n = fields, reader, len(header.values)
        line = f"{name}line {header.n_before + 1}"
        try:
            reader.check(header)
        except BadRecord as error:
            raise ValueError(f"{line}: {error}") from None
        self._text = _place_of(fields.text, header.values, line)
        self._others = [
            (one, _place_of(one.name, header.values, line)) for one in fields.besides_text
        ]

    def take(self, record: _Record, into: Batch) -> None:
        """Append the fields of a record to a batch."""
        values, fields = record.values, self._fields
        self._reader.check(record)
        if len(values) != self._n:
            raise BadRecord(f"{counted(self._n, 'fields')}, like the header", str(len(values)))
        text = values[self._text]
        fields.check_lengths([text])
        others = {
            one.values: _READERS[one.values](values[place], one) for one, place in self._others
        }
        into.append(text, others, record.raw if fields.records else None)


_OTHER_SEPARATORS = ";", "\t", "|"
"""Delimiters that other programs use. Such a file appears to have a single column."""


def _place_of(field: str, header: list[str], line: str) -> int:
    if header.count(field) != 1:
        columns = names_for(field, header, lambda _: None)
        found = columns + remedy_for(field)
        if len(header) == 1 and any(other in header[0] for other in _OTHER_SEPARATORS):
            found = f"{columns}; separate columns by commas"
        raise ValueError(f"{line}: expected {one_column(field)}; found {found}")
    return header.index(field)


def _label(value: str, field: FieldOfBatch) -> Any:
    """Return the label in a column."""
    if not value:
        raise BadRecord(f"a label in the column {field.name!r}", "an empty field")
    if _LIST.fullmatch(value):
        rule = f"one label in the column {field.name!r}, as CSV has no lists"
        raise BadRecord(rule, f"{value[:40]!r}")
    return field.check(value, "column", is_typed=False)


def _id(value: str, field: FieldOfBatch) -> str:
    """Return the id in a column, unchanged."""
    return value


def _weight(value: str, field: FieldOfBatch) -> Any:
    """Return the weight in a column."""
    if not value.strip():
        raise BadRecord(f"a weight in the column {field.name!r}", "an empty field")
    return _number(value, field)


def _number(value: str, field: FieldOfBatch) -> Any:
    """Return the number in a column. An empty field has none."""
    number = None
    if value.strip():
        number = number_in(value.strip())
        if number is None:
            raise BadRecord(f"a number in the column {field.name!r}", f"{value[:40]!r}")
    return field.check(number, "column")


_READERS: dict[str, Callable[[str, FieldOfBatch], Any]] = {
    "labels": _label,
    "ids": _id,
    "keys": _number,
    "weights": _weight,
}
"""The functions that read the value of a column, by the attribute of a batch."""


# ---- writing -------------------------------------------------------------------------------------


class _CsvWriter(RecordWriter):
    """A writer of the header of the first input and the records of all inputs."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._header: list[str] | None = None
        self._end, self._last, self._name = b"", b"", ""

    def write(self, raw: Raw, kept: Array) -> None:
        header, records, name = raw.records
        if header is None:
            return
        if self._header is None:
            self._header, self._name = header.values, name
            self._end = b"\r\n" if header.raw.endswith(b"\r\n") else b"\n"
            self._write(header.raw)
        elif self._header != header.values:
            raise other_columns(self._name, name)
        self._write(b"".join(itertools.compress(records, kept)))

    def _write(self, lines: bytes) -> None:
        if lines:
            has_ended = self._last in (b"", b"\n", b"\r")
            self._file.write(lines if has_ended else self._end + lines)
            self._last = lines[-1:]
