"""Plain and compressed files, read as text in blocks of whole lines."""

import bz2
import contextlib
import errno
import gzip
import lzma
import math
import numbers
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any

from sparsemaps._io import _urls
from sparsemaps._io._zstd import open_zstd, zstd_errors
from sparsemaps._tools._parameters import offered, setting

MAX_LINE_BYTES = 2**30
"""Default for the longest line allowed."""

_READ_BYTES = 2**26
"""Largest number of bytes per call of a file's ``read``."""

_PIECE_BYTES = 2**20
"""Bytes of a long line read per call."""

_READERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": open_zstd,
    ".zstd": open_zstd,
}

_COMPRESSED_FILES = (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile)

_DAMAGED = EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile

_NO_BZIP2 = "Invalid data stream"
"""Message of the bz2 error, which has no type of its own."""


class LineError(ValueError):
    """Raised for an error in a line. Lines are numbered from 1, from the beginning of some text."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line, self.message = line, message

    def __str__(self) -> str:
        return self.after(0)

    def after(self, n_lines: int, unit: str = "line") -> str:
        """Return the message for a file with `n_lines` lines before the text."""
        return f"{unit} {n_lines + self.line}{self.message}"


class BadLine(LineError):
    """Raised for a bad line, which a job may set aside. `is_of_length` says that the line is only
    too short or too long. `remedy` is the end of the error message, which tables of bad lines
    omit."""

    def __init__(
        self, line: int, message: str, is_of_length: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(line, message)
        self.is_of_length, self.remedy = is_of_length, remedy


class UnreadableRecord(ValueError):
    """Raised for a line or row that is not a record. It has an error message that names the file,
    and the number of the line, from 1.

    The message says how to set such records aside, in the wording that is current when it is
    formatted; but not if the first record is bad for a reason other than its length, because then
    all records may have another format or another field. `remedy` is the end of the message.
    """

    def __init__(
        self, message: str, number: int, is_of_length: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(message, number, is_of_length, remedy)
        self.may_be_all = number == 1 and not is_of_length
        self.message = message + remedy

    def __str__(self) -> str:
        said = None if self.may_be_all else offered("bad_records", "FILE")
        return self.message if said is None else f"{self.message}; {said} sets such records aside"


@contextlib.contextmanager
def errors_without_advice() -> Iterator[None]:
    """Raise a ValueError instead of an `UnreadableRecord`, in callers that cannot set records
    aside."""
    try:
        yield
    except UnreadableRecord as error:
        raise ValueError(error.message) from error


class LineTooLong(ValueError):
    """Raised for a line longer than allowed. The caller counts lines and names the line."""


def without_compression(name: str) -> str:
    """Return a file's name without the suffix of a compressed file."""
    return os.path.splitext(name)[0] if ending_of(name) in _READERS else name


def ending_of(name: str) -> str:
    """Return the suffix of a file's name, from its last dot on, in lower case."""
    return os.path.splitext(name)[1].lower()


@contextlib.contextmanager
def open_text(
    f: Any, max_line_bytes: int = MAX_LINE_BYTES, offset: int = 0, length: int = -1
) -> Iterator["Text"]:
    """Yield the `Text` of a path, a file object opened in binary mode, or a file descriptor.

    A `Text` is returned unchanged. The lines begin after byte `offset` and, if `length` is
    positive, not after byte ``offset + length``.
    """
    limits = max_line_bytes, offset, length
    if isinstance(f, Text):
        yield f
        return
    if hasattr(f, "read"):
        name = getattr(f, "name", None)
        yield Text(f, f, "", *limits, f"{name}: " if isinstance(name, str) else "")
        return
    if isinstance(f, numbers.Integral):
        with open(int(f), "rb", closefd=False) as file:
            yield Text(file, file, "", *limits)
        return
    if not isinstance(f, (str, os.PathLike)):
        raise TypeError(f"expected a path, a file object or a file descriptor, got {type(f)}")
    path = os.fspath(f)
    with contextlib.ExitStack() as stack:
        opened: Any = _urls.opened if _urls.is_url(path) else partial(open, mode="rb")
        raw = stack.enter_context(opened(path))
        opener = _READERS.get(ending_of(path))
        text: Any = stack.enter_context(opener(raw, "rb")) if opener else raw
        yield Text(text, raw, f"{path}: ", *limits)


class Text:
    """Text that can be read once, from the front.

    `file` has the decompressed text; `raw` is the underlying file, whose bytes are counted. Errors
    begin with `name`; read errors begin with `own_name` if `name` is empty. Lines longer than
    `max_line_bytes` raise an error. `offset` and `length` select lines as in `open_text`.
    """

    def __init__(
        self,
        file: IO[bytes],
        raw: IO[bytes],
        name: str,
        max_line_bytes: int,
        offset: int = 0,
        length: int = -1,
        own_name: str = "",
    ) -> None:
        self.file, self._raw, self.name = file, raw, name
        self._own_name = own_name
        self.max_line_bytes = max_line_bytes
        self._offset, self._length = offset, length
        self.unit = "line"
        """The unit that errors count, such as lines."""
        self.is_beginning = offset <= 0
        """Whether the first line of the text is the first line of the file."""
        self.first_byte = 0
        """Position of the first line in the file, valid once that line has been read."""
        self._n_read = 0
        self._advanced: int | None = None

    def position(self) -> int:
        """Return the number of bytes read so far, before decompression."""
        if self._advanced is not None:
            return self._advanced
        try:
            return int(self._raw.tell())
        except (AttributeError, OSError, ValueError):  # a pipe
            return self._n_read

    def advance(self, n_bytes: int) -> None:
        """Add to the number of bytes read, for a file that is not read from the front."""
        self._advanced = (self._advanced or 0) + n_bytes

    def length(self) -> int | None:
        """Return the number of bytes of text if it can be known before reading, else None."""
        try:
            if self.file is not self._raw or not self._raw.seekable():
                return None
            if isinstance(self._raw, _COMPRESSED_FILES):  # its end is found by decompressing
                return None
            with self._errors_naming():
                here = self._raw.tell()
                end = self._raw.seek(0, os.SEEK_END)
                self._raw.seek(here)
        except (AttributeError, OSError, ValueError):
            return None
        size = int(end - max(here, self._offset))
        return max(min(size, self._length) if self._length > 0 else size, 0)

    def lines_before(self) -> int:
        """Count the lines before the first line that was read. This reads the file again."""
        if self.first_byte == 0:
            return 0
        self.file.seek(0)
        n_lines, left = 0, self.first_byte
        while left > 0 and (part := self._read_some(min(left, _READ_BYTES))):
            n_lines += part.count(b"\n")
            left -= len(part)
        return n_lines

    def blocks(self, block_bytes: int, longest: int | None = None) -> Iterator[bytes]:
        """Yield blocks of about `block_bytes` bytes that end with a line. The last line of the file
        may lack a line end. A line of more than `longest` bytes raises an error too."""
        most = min(self.max_line_bytes, longest or self.max_line_bytes)
        if self._offset > 0:
            self._skip_to_line(self._offset)
            self.first_byte = self.file.tell()
        carried: list[bytes] = []  # pieces of a line whose end has not been read
        n_carried = 0
        for text in self._pieces(min(block_bytes, most)):  # a longer line spans several pieces
            end = text.rfind(b"\n") + 1
            n_line = n_carried + (text.find(b"\n") if end else len(text))
            if n_line > most:
                raise self._too_long()
            if end == 0:
                carried.append(text)
                n_carried = n_line
            elif end == len(text) and not carried:
                yield text
            else:
                yield b"".join([*carried, memoryview(text)[:end]])
                carried = [text[end:]] if end < len(text) else []
                n_carried = len(text) - end
        if self._length > 0 and carried:  # the last line continues after the range
            carried += self._rest_of_line(n_carried)
        last = b"".join(carried)
        if last:
            yield last

    def _rest_of_line(self, n_carried: int) -> Iterator[bytes]:
        """Yield the remaining pieces of a line, after `n_carried` bytes that have been read."""
        while True:  # reading the whole line at once would hold it twice
            with self._errors_naming():
                piece = self.file.readline(min(self.max_line_bytes - n_carried + 1, _PIECE_BYTES))
            n_carried += len(piece.removesuffix(b"\n"))
            if n_carried > self.max_line_bytes:
                raise self._too_long()
            yield piece
            if not piece or piece.endswith(b"\n"):
                return

    def _skip_to_line(self, offset: int) -> None:
        """Seek to the first line that begins at `offset` or later."""
        with self._errors_naming():
            try:
                self.file.seek(offset)
            except gzip.BadGzipFile:  # also an OSError
                raise
            except (OSError, OverflowError) as error:
                if str(error) == _NO_BZIP2:
                    raise
                reason = f"{self.name}offset {offset} cannot be reached: {error}"
                raise ValueError(reason) from error
            # The rest of this line belongs to the reader of the preceding bytes.
            while (rest := self.file.readline(_READ_BYTES)) and not rest.endswith(b"\n"):
                pass

    def _too_long(self) -> LineTooLong:
        return LineTooLong(f"longer than {setting('max_line_bytes', self.max_line_bytes)}")

    def _pieces(self, size: int) -> Iterator[bytes]:
        """Yield the rest of the range in pieces of `size` bytes. The last piece has one byte more
        than the range, since the line that begins right after it is read too."""
        left = math.inf
        if self._length > 0:
            left = self._offset + self._length + 1 - self.file.tell()
        while left > 0:
            n, parts = int(min(size, left)), list[bytes]()
            while n > 0 and (part := self._read_some(min(n, _READ_BYTES))):
                parts.append(part)
                n -= len(part)
                left -= len(part)
            if not parts:
                return
            yield parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        # On a pipe, read1 waits for a single write only, so that signals are handled after each.
        read = getattr(self.file, "read1", self.file.read)
        with self._errors_naming():
            part = read(size)
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise TypeError(f"the file must be opened in binary mode; it gives {type(part)}")
        self._n_read += len(part)
        return bytes(part)

    @contextlib.contextmanager
    def _errors_naming(self) -> Iterator[None]:
        """Name the file in read errors. Turn errors of damaged compressed files into
        ValueErrors."""
        name = self.name or self._own_name
        try:
            yield
        except Exception as error:
            is_of_bzip2 = isinstance(error, OSError) and str(error) == _NO_BZIP2
            if is_of_bzip2 or isinstance(error, (*_DAMAGED, *zstd_errors())):
                raise ValueError(f"{name}cannot be decompressed: {error}") from error
            if isinstance(error, OSError):
                error.filename = error.filename or name.removesuffix(": ") or None
            raise


@contextlib.contextmanager
def array_errors_naming(name: str) -> Iterator[None]:
    """Turn any error of NumPy, SciPy or zipfile for an invalid file into a ValueError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the file cannot be read; bad positions in a damaged file give EINVAL
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{name}: {reason}") from error
