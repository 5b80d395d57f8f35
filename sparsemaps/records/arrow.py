"""Arrow IPC files and streams (.arrow, .feather): one record per row, in record batches.

Messages are read in sequence, even from files, whose footers are not needed. Before Arrow's reader
sees a message, its lengths are checked against the size of the file, and the sizes that compressed
buffers claim are bounded. Finally, all used values are validated.
"""

import contextlib
import os
import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np

from sparsemaps._io._sources import open_input
from sparsemaps._io._text_input import Text, array_errors_naming
from sparsemaps._tools._extras import library
from sparsemaps._tools._typing import Array
from sparsemaps.records._batch import Batch
from sparsemaps.records._columns import (
    PART_BYTES,
    ColumnFormat,
    FieldPath,
    batches_of,
    chosen,
    cut,
    errors_named,
    is_one_of,
    paths_of,
    refuse_expansion,
)
from sparsemaps.records._fields import Fields
from sparsemaps.records._format import Raw, RecordWriter, name_of, other_columns

_MARK = b"ARROW1\0\0"
"""The beginning of a file. A stream begins with its first message."""

_OLD_MARK = b"FEA1"


class ArrowRecords(ColumnFormat):
    """Rows of Arrow files and streams."""

    name, title, endings = "arrow", "Arrow", (".arrow", ".feather")

    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        opened = _OpenedArrow.of(text, fields, is_whole=fields.records)
        n_rows = position = 0
        for rows in opened.parts(max(n_bytes, PART_BYTES)):
            for batch in batches_of(rows, fields, opened.paths, n_bytes, n_rows, opened.name):
                before, position = position, text.file.tell()
                batch.n_bytes = position - before
                yield batch
            n_rows += len(rows)

    def raw_pieces(self, text: Text, fields: Fields, n_jobs: int | None) -> Iterator["_Rows"]:
        opened = _OpenedArrow.of(text, fields if fields.sets_aside else None, is_whole=True)
        yield _Rows(opened, None)
        for rows in opened.parts(PART_BYTES):
            yield _Rows(opened, rows)

    def writer(self, file: IO[bytes]) -> RecordWriter:
        return _BatchWriter(file)

    def check(self, inputs: list[Any]) -> None:
        known = None
        for input in inputs:
            if hasattr(input, "read"):
                return  # its columns are compared when it is read for the output
            with open_input(input) as text:
                opened = _OpenedArrow.of(text, None, is_whole=True)
            with array_errors_naming(opened.name):  # some types cannot be filtered
                chosen(opened.schema.empty_table(), np.zeros(0, bool))
            if known is not None and not opened.schema.equals(known[0]):
                raise other_columns(known[1], opened.name)
            known = known or (opened.schema, opened.name)


FORMAT = ArrowRecords()


class _Rows(NamedTuple):
    """Rows of a file; None in the first piece."""

    opened: "_OpenedArrow"
    rows: Any


# ---- reading -------------------------------------------------------------------------------------


class _OpenedArrow(NamedTuple):
    """An open Arrow file or stream, of which all or some columns are read."""

    reader: Any
    messages: "_Messages"
    name: str
    schema: Any
    paths: dict[str, FieldPath]

    @classmethod
    def of(cls, text: Text, fields: Fields | None, *, is_whole: bool) -> "_OpenedArrow":
        """Open a text at its beginning."""
        pa = library("pyarrow", "reading Arrow")
        name, start = name_of(text), text.file.tell()
        mark = text.file.read(len(_MARK))
        if mark.startswith(_OLD_MARK):
            raise ValueError(f"{name}: Feather version 1 is not supported; write version 2")
        start += len(_MARK) if mark == _MARK else 0

        def opened(**options: Any) -> tuple[Any, _Messages]:
            text.file.seek(start)
            messages = _Messages(text.file, text.max_line_bytes, is_file=mark == _MARK)
            source = pa.PythonFile(messages, "r")
            with array_errors_naming(name):
                how = pa.ipc.IpcReadOptions(use_threads=False, **options)
                return pa.ipc.open_stream(source, options=how), messages

        reader, messages = opened()
        schema = reader.schema
        paths = {} if fields is None else paths_of(schema, fields, name)
        if not is_whole:
            places = sorted({schema.names.index(path.names[0]) for path in paths.values()})
            reader, messages = opened(included_fields=places)
        return cls(reader, messages, name, schema, paths)

    def parts(self, n_bytes: int) -> Iterator[Any]:
        """Yield the rows of each record batch in parts of at most `n_bytes` of strings that rows
        repeat. All values are validated, except that strings may be invalid UTF-8."""
        for rows in errors_named(map(_validated, self.reader), self.name):
            yield from errors_named(cut(rows, self.paths, n_bytes), self.name)


def _validated(rows: Any) -> Any:
    """Return rows. Raise an error of Arrow if offsets or indices lead outside of their buffers."""
    pa = library("pyarrow", "reading Arrow")
    rows.validate()
    as_bytes = {"string": pa.binary(), "large_string": pa.large_binary()}
    if hasattr(pa, "binary_view"):
        as_bytes["string_view"] = pa.binary_view()
    for column in rows.columns:
        for strings, kind in as_bytes.items():
            if is_one_of(column.type, (strings,)):  # a later error names the row
                column = column.view(kind)
                break
        column.validate(full=True)
    return rows


class _Messages:
    """A file-like object for Arrow's reader. It yields the messages of a stream in sequence and
    checks each of them first."""

    closed = False

    def __init__(self, file: Any, most: int, *, is_file: bool) -> None:
        self._file, self._most = file, most
        start = file.tell()
        self._size = file.seek(0, os.SEEK_END)
        file.seek(start)
        self.is_file = is_file
        """Whether the input is a file and not a stream."""
        self.codec: str | None = None
        """The compression of the first record batch read so far."""
        self._head = b""  # of the current message
        self._n_body = 0
        self._has_batch = False

    def read(self, size: int = -1) -> bytes:
        parts = []
        while size != 0:
            if not self._head and not self._n_body and not self._next():
                break
            n = size if size > 0 else max(len(self._head), self._n_body)
            if self._head:
                part, self._head = self._head[:n], self._head[n:]
            else:
                part = self._file.read(min(n, self._n_body))
                if not part:
                    raise ValueError("the file ends within a message")
                self._n_body -= len(part)
            parts.append(part)
            size -= len(part) if size > 0 else 0
        return b"".join(parts)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """Leave the file open."""

    def _next(self) -> bool:
        """Read the beginning of the next message and return whether there is one."""
        head = self._file.read(4)
        if head == b"\xff\xff\xff\xff":
            head += self._file.read(4)
        if len(head) < 4:
            if self.is_file:
                raise ValueError("the file has no end")
            return False
        (n_metadata,) = struct.unpack("<i", head[-4:])
        self._head = head
        if n_metadata == 0:  # the end of the stream
            self._file.seek(-min(len(_MARK), self._size), os.SEEK_END)
            if not self._file.read().endswith(_MARK.rstrip(b"\0")) and self.is_file:
                raise ValueError("the file has no end")
            return True
        self._check("metadata", n_metadata)
        metadata = self._file.read(n_metadata)
        self._head += metadata
        try:
            message = _Table.root(metadata)
            n_body = message.integer(3, "<q")
            self._check("a body", n_body)
            kind = message.integer(1, "<B")
            batch = message.table(2) if kind in (_DICTIONARY, _BATCH) else None
            if batch is not None and kind == _DICTIONARY:
                batch = batch.table(1)
            if batch is not None:
                self._check_batch(batch, n_body, kind)
        except (struct.error, IndexError) as error:
            raise ValueError(f"a message is damaged: {error}") from None
        self._n_body = n_body
        return True

    def _check(self, what: str, n_bytes: int) -> None:
        left = self._size - self._file.tell()
        if not 0 <= n_bytes <= left:
            raise ValueError(f"a message claims {what} of {n_bytes} bytes, and {left} are left")

    def _check_batch(self, batch: "_Table", n_body: int, kind: int) -> None:
        """Raise a ValueError if a record batch or dictionary claims more rows or bytes than it can
        have."""
        compression, n_bytes = batch.table(3), n_body
        if kind == _BATCH and not self._has_batch:
            self._has_batch = True
            if compression is not None:
                self.codec = ("lz4", "zstd")[compression.integer(0, "<B")]
        if compression is not None:
            n_bytes, start = 0, self._file.tell()
            for offset, length in batch.pairs(2):
                if not 0 <= offset <= offset + length <= n_body:
                    raise ValueError(
                        f"a buffer claims bytes {offset} to {offset + length} of {n_body}"
                    )
                if length:
                    self._file.seek(start + offset)
                    (claimed,) = struct.unpack("<q", self._file.read(8))
                    n_bytes += length if claimed == -1 else claimed
                    if claimed < -1:
                        raise ValueError(f"a buffer claims {claimed} bytes")
            self._file.seek(start)
            refuse_expansion("a record batch", n_bytes, n_body, self._most)
        n_rows = batch.integer(0, "<q")
        if not 0 <= n_rows <= max(_MOST_ROWS, 8 * n_bytes):
            raise ValueError(f"a record batch claims {n_rows} rows in {n_bytes} bytes")


_DICTIONARY, _BATCH = 2, 3

_MOST_ROWS = 2**20
"""Largest number of rows that may have no bytes at all, as in columns of nulls."""


class _Table(NamedTuple):
    """A FlatBuffers table: the fields of a message by number. Offsets outside the bytes raise a
    struct.error or an IndexError."""

    data: bytes
    place: int

    @classmethod
    def root(cls, data: bytes) -> "_Table":
        return cls(data, _at(data, 0, "<I"))

    def _field(self, number: int) -> int:
        """Return the place of a field; 0 if the table lacks it."""
        fields = self.place - _at(self.data, self.place, "<i")
        n_bytes = _at(self.data, fields, "<H")
        if 4 + 2 * number >= n_bytes:
            return 0
        offset = _at(self.data, fields + 4 + 2 * number, "<H")
        return self.place + offset if offset else 0

    def integer(self, number: int, form: str) -> int:
        place = self._field(number)
        return _at(self.data, place, form) if place else 0

    def table(self, number: int) -> "_Table | None":
        place = self._field(number)
        return _Table(self.data, place + _at(self.data, place, "<I")) if place else None

    def pairs(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the pairs of numbers in a vector."""
        place = self._field(number)
        if place:
            place += _at(self.data, place, "<I")
            for n in range(_at(self.data, place, "<I")):
                yield struct.unpack_from("<qq", self.data, place + 4 + 16 * n)


def _at(data: bytes, place: int, form: str) -> int:
    if place < 0:
        raise IndexError("an offset leads before the beginning")
    number: int = struct.unpack_from(form, data, place)[0]
    return number


# ---- writing -------------------------------------------------------------------------------------


class _BatchWriter(RecordWriter):
    """A writer of the kept rows of each record batch: to a file if the first input is a file, and
    otherwise to a stream."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None
        self._first: Any = None
        self._dictionaries: dict[int, Any] = {}

    def write(self, raw: Raw, kept: Array) -> None:
        piece, is_kept = raw.records
        if self._first is None:
            self._first = piece.opened
        elif not piece.opened.schema.equals(self._first.schema):
            raise other_columns(self._first.name, piece.opened.name)
        if piece.rows is None:
            return
        with array_errors_naming(piece.opened.name):
            self._open()
            is_kept[is_kept] = kept
            for batch in chosen(piece.rows, is_kept).to_batches():
                if len(batch):
                    self._writer.write_batch(self._of_one_dictionary(batch))

    def _open(self) -> None:
        """Open the writer, once the compression of the first batch is known."""
        if self._writer is None:
            pa = library("pyarrow", "writing Arrow")
            messages, schema = self._first.messages, self._first.schema
            how = pa.ipc.IpcWriteOptions(
                compression=messages.codec, use_threads=False, emit_dictionary_deltas=True
            )
            new = pa.ipc.new_file if messages.is_file else pa.ipc.new_stream
            self._writer = new(self._file, schema, options=how)

    def _of_one_dictionary(self, batch: Any) -> Any:
        """Return a batch whose dictionaries begin with the dictionaries of the earlier batches. A
        file has one dictionary per column, which can only grow."""
        pa = library("pyarrow", "writing Arrow")
        columns = list(batch.columns)
        for place, column in enumerate(columns):
            if not pa.types.is_dictionary(column.type):
                continue
            known = self._dictionaries.get(place)
            if known is not None and not known.dictionary.equals(column.dictionary):
                both = pa.chunked_array([known, column]).unify_dictionaries()
                columns[place] = column = both.chunk(both.num_chunks - 1)
            self._dictionaries[place] = column.slice(0, 0)
        return pa.RecordBatch.from_arrays(columns, schema=self._first.schema)

    def finish(self) -> None:
        if self._first is not None:
            self._open()
            self._writer.close()

    def abandon(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(Exception):  # the first error is the one to report
                self._writer.close()
