"""Formats whose records are lines."""

import io
import itertools
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import IO, Any, NamedTuple

from sparsemaps._io import _text_input
from sparsemaps._io._text_input import BadLine, LineError, Text
from sparsemaps._loops import text as _loops
from sparsemaps._tools._typing import Array
from sparsemaps.libsvm._pipeline import blocks_of, cut_lines
from sparsemaps.records._batch import OF_RECORDS, Batch
from sparsemaps.records._fields import RECORD_BYTES, Fields
from sparsemaps.records._format import Format, Raw, RecordWriter

_DECODED_BYTES = 2**18
"""Approximate number of bytes of a file that are decoded at once."""

MARK = b"\xef\xbb\xbf"
"""The byte order mark in UTF-8."""


class Lines(NamedTuple):
    """Lines of an input, and whether they are its first lines."""

    text: bytes
    is_first: bool


class CutByLines(Format):
    """A format whose records are lines, and whose files can be cut after any line."""

    is_cut_by_bytes = True

    @abstractmethod
    def lines_of_records(self, lines: Lines) -> list[bytes]:
        """Return the lines that are records, good or bad, unchanged."""

    @abstractmethod
    def good_lines(self, piece: Lines, fields: Fields) -> bytes:
        """Return the lines of a piece without bad records."""

    def pieces(
        self, text: Text, fields: Fields, n_jobs: int | None, max_rows: int | None
    ) -> Iterator[Lines]:
        is_first = text.is_beginning
        for lines in blocks_of(text, n_jobs):
            for some in [lines] if max_rows is None else cut_lines(lines, max_rows):
                yield Lines(some, is_first)
                is_first = False

    def raw(self, piece: Lines, fields: Fields) -> Raw:
        if fields.sets_aside:
            piece = piece._replace(text=self.good_lines(piece, fields))
        records = self.lines_of_records(piece)
        return Raw(len(records), records, piece.is_first)

    def writer(self, file: IO[bytes]) -> RecordWriter:
        return LineWriter(file)


class LineFormat(CutByLines):
    """A text format whose records are lines."""

    @abstractmethod
    def read(self, lines: Lines, fields: Fields, into: Batch) -> None:
        """Append the records of some lines to a batch. Raise a `BadLine`, counted from the
        beginning of the lines, for a bad record."""

    def records(self, piece: Lines, fields: Fields) -> Batch:
        """Return the records of a piece. Raise a `BadLine` if one is bad."""
        batch = Batch.empty(fields)
        self.read(piece, fields, batch)
        return batch

    def batch(self, piece: Lines, fields: Fields) -> Batch:
        try:
            batch = self.records(piece, fields)
            batch.line_of = partial(self._line_of, piece)
        except BadLine:
            if not fields.sets_aside:
                raise
            batch = self._good(piece, fields)
        batch.n_bytes, batch.n_lines = len(piece.text), _loops.count_line_ends(piece.text)
        return batch

    def _line_of(self, piece: Lines, row: int) -> int:
        """Return the line (from 1) of a record (from 0) of a piece without bad lines."""
        lines = enumerate(all_lines(piece), 1)
        of_records = (
            number
            for number, line in lines
            if self.lines_of_records(Lines(line, piece.is_first and number == 1))
        )
        return next(itertools.islice(of_records, row, None))

    def _good(self, piece: Lines, fields: Fields) -> Batch:
        """Return the good records, with the bad lines in `Batch.bad`."""
        batch, bad, numbers = Batch.empty(fields), [], list[int]()
        for number, line in enumerate(io.BytesIO(piece.text)):
            try:
                self.read(Lines(line, piece.is_first and number == 0), fields, batch)
            except BadLine as error:
                bad.append((number, error.message, line))
            except LineError as error:  # no job sets these aside
                raise LineError(number + error.line, error.message) from error.__cause__
            if len(batch.texts) > len(numbers):
                numbers.append(number + 1)
        batch.bad, batch.line_of = bad, numbers.__getitem__
        return batch

    def _read_good(self, lines: Lines, fields: Fields, into: Batch) -> None:
        """Append the good records of some lines to a batch."""
        some = self.batch(lines, fields)
        for name in OF_RECORDS:
            if getattr(into, name) is not None:
                getattr(into, name).extend(getattr(some, name))

    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        read = self._read_good if fields.sets_aside else self.read
        name = text.name
        n_lines, size, batch, position = 0, 0, Batch.empty(fields), text.position()
        try:
            for lines in _blocks(text, min(n_bytes, _DECODED_BYTES)):
                n_more = lines.count(b"\n")
                n_new = len(lines) + RECORD_BYTES * n_more
                if batch.texts and size + n_new > n_bytes:
                    before, position = position, text.position()
                    batch.n_bytes = position - before
                    yield batch
                    size, batch = 0, Batch.empty(fields)
                read(Lines(lines, n_lines == 0), fields, batch)
                size += n_new
                n_lines += n_more
        except _text_input.LineTooLong as error:
            raise ValueError(f"{name}line {n_lines + 1} is {error}") from error
        except LineError as error:
            remedy = error.remedy if isinstance(error, BadLine) else ""
            raise ValueError(f"{name}{error.after(n_lines)}{remedy}") from error.__cause__
        if batch.texts:
            batch.n_bytes = text.position() - position
            yield batch

    def good_lines(self, piece: Lines, fields: Fields) -> bytes:
        bad = {number for number, _, _ in self.batch(piece, fields).bad}
        lines = enumerate(io.BytesIO(piece.text))
        return b"".join(line for number, line in lines if number not in bad) if bad else piece.text


def _blocks(text: Text, size: int) -> Iterator[bytes]:
    """Yield a file in pieces of whole lines. A line longer than `size` is a piece by itself."""
    for block in text.blocks(size):
        end = block.find(b"\n") + 1
        if size < end < len(block):
            yield block[:end]
            block = block[end:]
        yield block


@dataclass
class LineWriter(RecordWriter):
    """A writer of lines. A last line without a line end gets one if another line follows."""

    file: IO[bytes]
    _last: bytes = b""  # last byte written

    def write(self, raw: Raw, kept: Array) -> None:
        lines = b"".join(itertools.compress(raw.records, kept))
        if self._last and raw.may_have_mark and kept[:1].all():
            lines = lines.removeprefix(MARK)  # the mark may only begin a file
        if lines:
            self.file.write(lines if self._last in (b"", b"\n") else b"\n" + lines)
            self._last = lines[-1:]


def not_utf8(error: UnicodeDecodeError, n_lines: int) -> BadLine:
    """Return the error of a line that is not UTF-8; `n_lines` lines precede the text."""
    before = error.object[: error.start]
    number = n_lines + before.count(b"\n") + 1
    column = error.start - before.rfind(b"\n")
    byte = f"byte 0x{error.object[error.start]:02x} as byte {column} of the line"
    return BadLine(number, f": expected UTF-8; found {byte}")


def all_lines(lines: Lines) -> list[Any]:
    """Return the lines with their line ends."""
    return list(io.BytesIO(lines.text))
