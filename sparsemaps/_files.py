"""Files, plain and compressed: text in whole lines, output that is complete or not there."""

import bz2
import contextlib
import errno
import gzip
import lzma
import numbers
import os
import sys
import tempfile
import zlib

_COMPRESSED = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


@contextlib.contextmanager
def open_text(f):
    """The `Text` of a path, a file object opened in binary mode, or a file descriptor."""
    if hasattr(f, "read"):
        yield Text(f, f, "")
        return
    if isinstance(f, numbers.Integral):
        with open(f, "rb", closefd=False) as file:
            yield Text(file, file, "")
        return
    if not isinstance(f, (str, os.PathLike)):
        raise TypeError(f"expected a path, a file object or a file descriptor, got {type(f)}")
    path = os.fspath(f)
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(open(path, "rb"))
        opener = _COMPRESSED.get(os.path.splitext(path)[1])
        file = stack.enter_context(opener(raw, "rb")) if opener else raw
        yield Text(file, raw, f"{path}: ")


class Text:
    """Text that is read once, from the front.

    Parameters
    ----------
    file : file object
        Gives the text, decompressed.
    raw : file object
        What lies beneath, whose bytes are counted.
    name : str
        What errors begin with.
    """

    def __init__(self, file, raw, name):
        self._file, self._raw, self.name = file, raw, name
        self._n_read = 0

    def position(self):
        """How many bytes have been read, compressed as they may be."""
        try:
            return self._raw.tell()
        except (AttributeError, OSError, ValueError):  # a pipe
            return self._n_read

    def length(self):
        """How many bytes of text there are to read, where that can be known beforehand."""
        try:
            if self._file is not self._raw or not self._raw.seekable():
                return None
            here = self._raw.tell()
            end = self._raw.seek(0, os.SEEK_END)
            self._raw.seek(here)
        except (AttributeError, OSError, ValueError):
            return None
        return end - here

    def blocks(self, block_bytes, offset=0, length=-1):
        """Pieces of about `block_bytes` that end at line ends, the last one perhaps without."""
        if offset > 0:
            self._file.seek(offset)
            self._file.readline()  # the rest of a line that belongs to who reads the bytes before
        left = None
        if length > 0:
            # Lines count that begin no later than this; the first always does.
            left = offset + length - self._file.tell()
        carried = []  # pieces of a line without its end
        while True:
            size = block_bytes if left is None else min(block_bytes, max(left + 1, 0))
            text = self._read(size)
            if left is not None:
                left -= len(text)
            if not text:
                break
            end = text.rfind(b"\n") + 1
            if end == 0:
                carried.append(text)
            elif end == len(text) and not carried:
                yield text
            else:
                yield b"".join([*carried, memoryview(text)[:end]])
                carried = [text[end:]] if end < len(text) else []
        if left is not None and (carried or left >= 0):
            carried.append(self._file.readline())
        last = b"".join(carried)
        if last:
            yield last

    def _read(self, size):
        parts = []
        while size > 0 and (part := self._read_some(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _read_some(self, size):
        # Of a pipe, read1 waits for one write: a signal gets its turn after each.
        read = getattr(self._file, "read1", self._file.read)
        try:
            part = read(size)
        except _DAMAGED as error:
            raise ValueError(f"{self.name}cannot be decompressed: {error}") from error
        except OSError as error:
            if error.errno is None:  # as bz2 reports what is no such file
                raise ValueError(f"{self.name}cannot be decompressed: {error}") from error
            error.filename = error.filename or self.name.removesuffix(": ") or None
            raise
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise TypeError(f"the file must be opened in binary mode; it gives {type(part)}")
        self._n_read += len(part)
        return part


@contextlib.contextmanager
def atomic_output(path):
    """A binary file object for `path`, which appears only when all went well; "-" is a pipe.

    The name's ending says whether it is compressed. What cannot be renamed into place, a device or
    a named pipe, is written to as it is.
    """
    path = os.fspath(path)
    if path == "-":
        with _blaming("standard output"):
            if sys.stdout is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):
        with _blaming(path), open(path, "wb") as file:
            yield file
        return
    ending = os.path.splitext(path)[1]
    folder, name = os.path.split(os.path.realpath(path))
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=ending, dir=folder)
    except OSError as error:
        error.filename = path  # not the temporary one
        raise
    try:
        with _blaming(path):
            os.close(descriptor)
            with _COMPRESSED.get(ending, open)(temporary, "wb") as file:
                yield file
            os.chmod(temporary, _mode(path))
            os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        with contextlib.suppress(OSError):  # what went wrong first is what matters
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _blaming(name):
    """Put a file's name to errors that have none: those of writing to it."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or name
        raise


def _mode(path):
    """Permissions that `path` has, or would be made with."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
