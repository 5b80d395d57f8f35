"""Files, plain and compressed, read as text in blocks of whole lines."""

import bz2
import contextlib
import errno
import gzip
import lzma
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
"""Default for the longest line that is read."""

_READ_BYTES = 2**26
"""Largest size of one call to a file's ``read``."""

_PIECE_BYTES = 2**20
"""Bytes of a long line that are read by one call."""

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
"""The text of the error of bz2, which has no type of its own."""


class LineError(ValueError):
    """An error in a line. Lines are numbered from 1, from the beginning of some text."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line, self.message = line, message

    def __str__(self) -> str:
        return self.after(0)

    def after(self, n_lines: int, unit: str = "line") -> str:
        """Return the message, for a file that has `n_lines` lines before the text."""
        return f"{unit} {n_lines + self.line}{self.message}"


class BadLine(LineError):
    """A bad line. A job may set such lines aside. The line may be too short or too long alone.
    `remedy` is the end of an error about it, which tables of bad lines do not have."""

    def __init__(
        self, line: int, message: str, is_of_length: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(line, message)
        self.is_of_length, self.remedy = is_of_length, remedy


class UnreadableRecord(ValueError):
    """A line or row that is not a record: the message of an error that names the file, and the
    number of the line, from 1.

    The error says how to set such records aside, in the words of the moment when it is asked for;
    but not if the first record is bad by anything but its length. Then all may be so: they have
    another format, or another field. `remedy` is the end of the message.
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


class LineTooLong(ValueError):
    """A line is longer than is allowed. The caller counts lines, and names the line."""


def without_compression(name: str) -> str:
    """Return a file's name without the ending of a compressed file."""
    return os.path.splitext(name)[0] if ending_of(name) in _READERS else name


def ending_of(name: str) -> str:
    """Return the ending of a file's name, from its last point on, in small letters."""
    return os.path.splitext(name)[1].lower()


@contextlib.contextmanager
def open_text(
    f: Any, max_line_bytes: int = MAX_LINE_BYTES, offset: int = 0, length: int = -1
) -> Iterator["Text"]:
    """Yield the `Text` of a path, a file object opened in binary mode, or a file descriptor.

    A `Text` is returned unchanged. The lines begin after byte `offset` and, if
    `length` is positive, up to byte ``offset + length``.
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
    """Text that is read once, from the front.

    `file` has the text, decompressed; `raw` is the file itself, whose bytes are counted. Errors
    begin with `name`; errors of reading begin with `own_name` if `name` is empty. Longer lines than
    `max_line_bytes` are errors. `offset` and `length` say which lines are read, as in `open_text`.
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
        """What errors count."""
        self.is_beginning = offset <= 0
        """Whether the first line of the text is the first line of the file."""
        self.first_byte = 0
        """Where the lines begin in the file, once the first of them has been read."""
        self._n_read = 0
        self._advanced: int | None = None

    def position(self) -> int:
        """Return the number of bytes that have been read, before decompression."""
        if self._advanced is not None:
            return self._advanced
        try:
            return int(self._raw.tell())
        except (AttributeError, OSError, ValueError):  # a pipe
            return self._n_read

    def advance(self, n_bytes: int) -> None:
        """Add to the number of bytes that were read of a file that is not read from the front."""
        self._advanced = (self._advanced or 0) + n_bytes

    def length(self) -> int | None:
        """Return the number of bytes of text, if that can be known before reading; otherwise
        None."""
        try:
            if self.file is not self._raw or not self._raw.seekable():
                return None
            if isinstance(self._raw, _COMPRESSED_FILES):  # to find its end is to decompress it all
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
        """Count the lines before the first one that was read. The file is read again."""
        if self.first_byte == 0:
            return 0
        self.file.seek(0)
        n_lines, left = 0, self.first_byte
        while left > 0 and (part := self._read_some(min(left, _READ_BYTES))):
            n_lines += part.count(b"\n")
            left -= len(part)
        return n_lines

    def blocks(self, block_bytes: int, longest: int | None = None) -> Iterator[bytes]:
        """Yield blocks of `block_bytes` bytes or a little more or less, which end with a line. The
        last line of the file may have no line end. A line of more than `longest` bytes is an error
        too."""
        most = min(self.max_line_bytes, longest or self.max_line_bytes)
        if self._offset > 0:
            self._skip_to_line(self._offset)
            self.first_byte = self.file.tell()
        left = None
        if self._length > 0:
            # Of this many bytes, and one more: a line that begins right behind them is read too.
            left = self._offset + self._length - self.file.tell()
        block_bytes = min(block_bytes, most)  # a longer line spans several
        carried: list[bytes] = []  # pieces of a line without its end
        n_carried = 0
        while True:
            size = block_bytes if left is None else min(block_bytes, max(left + 1, 0))
            text = self._read(size)
            if left is not None:
                left -= len(text)
            if not text:
                break
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
        if left is not None and carried:  # the last line continues after these bytes
            carried += self._rest_of_line(n_carried)
        last = b"".join(carried)
        if last:
            yield last

    def _rest_of_line(self, n_carried: int) -> Iterator[bytes]:
        """Yield the pieces of a line, up to its end, after `n_carried` bytes that have been
        read."""
        while True:  # a call for the whole line would hold it twice
            with self._errors_naming():
                piece = self.file.readline(min(self.max_line_bytes - n_carried + 1, _PIECE_BYTES))
            n_carried += len(piece.removesuffix(b"\n"))
            if n_carried > self.max_line_bytes:
                raise self._too_long()
            yield piece
            if not piece or piece.endswith(b"\n"):
                return

    def _skip_to_line(self, offset: int) -> None:
        """Go to the first line that begins at `offset` or later."""
        with self._errors_naming():
            try:
                self.file.seek(offset)
            except gzip.BadGzipFile:  # an OSError too
                raise
            except (OSError, OverflowError) as error:
                if str(error) == _NO_BZIP2:
                    raise
                reason = f"{self.name}offset {offset} cannot be reached: {error}"
                raise ValueError(reason) from error
            # The rest of this line belongs to the reader of the bytes before.
            while (rest := self.file.readline(_READ_BYTES)) and not rest.endswith(b"\n"):
                pass

    def _too_long(self) -> LineTooLong:
        return LineTooLong(f"longer than {setting('max_line_bytes', self.max_line_bytes)}")

    def _read(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self._read_some(min(size, _READ_BYTES))):
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        # read1 of a pipe waits for one write only, so that signals are handled after each.
        read = getattr(self.file, "read1", self.file.read)
        with self._errors_naming():
            part = read(size)
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise TypeError(f"the file must be opened in binary mode; it gives {type(part)}")
        self._n_read += len(part)
        return bytes(part)

    @contextlib.contextmanager
    def _errors_naming(self) -> Iterator[None]:
        """Name the file in errors of reading; those of a damaged compressed file become
        ValueError."""
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
    """Make a ValueError of any error of NumPy, SciPy or zipfile for a file that is not sound."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the file cannot be read; places in a damaged one are invalid arguments
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{name}: {reason}") from error
