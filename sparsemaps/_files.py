"""Files, plain and compressed: text in whole lines, and output that appears when it is complete."""

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import numbers
import os
import secrets
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from sparsemaps._parameters import setting

MAX_LINE_BYTES = 2**30
"""Default for the longest line that is read."""

_READ_BYTES = 2**26
"""Largest size of one call to a file's ``read``."""

_BEGUN_BYTES = 2**23
"""After how many bytes the system is asked to begin to write them to the disk."""

_READERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}

_COMPRESSED = (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile)

_WRITERS: dict[str, Callable[[Any], Any]] = {
    # Without name and time: the same content makes the same file.
    ".gz": lambda file: gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115
}

_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile)

_NO_BZIP2 = "Invalid data stream"
"""What the error of bz2 says, which has no type of its own."""


class LineTooLong(ValueError):
    """A line is longer than is allowed; the caller, which counts lines, says which one."""


def without_compression(name: str) -> str:
    """A file's name without the ending of a compressed file."""
    base, ending = os.path.splitext(name)
    return base if ending in _READERS else name


# ---- reading -------------------------------------------------------------------------------------


@contextlib.contextmanager
def open_text(f: Any, max_line_bytes: int = MAX_LINE_BYTES) -> Iterator["Text"]:
    """The `Text` of a path, a file object opened in binary mode, or a file descriptor."""
    if hasattr(f, "read"):
        name = getattr(f, "name", None)
        yield Text(f, f, "", max_line_bytes, f"{name}: " if isinstance(name, str) else "")
        return
    if isinstance(f, numbers.Integral):
        with open(int(f), "rb", closefd=False) as file:
            yield Text(file, file, "", max_line_bytes)
        return
    if not isinstance(f, (str, os.PathLike)):
        raise TypeError(f"expected a path, a file object or a file descriptor, got {type(f)}")
    path = os.fspath(f)
    with contextlib.ExitStack() as stack:
        raw = stack.enter_context(open(path, "rb"))
        opener = _READERS.get(os.path.splitext(path)[1])
        text: Any = stack.enter_context(opener(raw, "rb")) if opener else raw
        yield Text(text, raw, f"{path}: ", max_line_bytes)


class Text:
    """Text that is read once, from the front.

    Parameters
    ----------
    file : file object
        Gives the text, decompressed.
    raw : file object
        The file itself, whose bytes are counted.
    name : str
        What errors begin with.
    max_line_bytes : int
        A longer line is an error.
    own_name : str
        What errors of reading begin with, where they have no other name.
    """

    def __init__(
        self, file: Any, raw: Any, name: str, max_line_bytes: int, own_name: str = ""
    ) -> None:
        self._file, self._raw, self.name = file, raw, name
        self._own_name = own_name
        self._max_line_bytes = max_line_bytes
        self._n_read = 0

    def position(self) -> int:
        """How many bytes have been read, before they were decompressed."""
        try:
            return int(self._raw.tell())
        except (AttributeError, OSError, ValueError):  # a pipe
            return self._n_read

    def length(self) -> int | None:
        """How many bytes of text there are to read, where that can be known beforehand."""
        try:
            if self._file is not self._raw or not self._raw.seekable():
                return None
            if isinstance(self._raw, _COMPRESSED):  # to find its end is to decompress it all
                return None
            with self._blaming():
                here = self._raw.tell()
                end = self._raw.seek(0, os.SEEK_END)
                self._raw.seek(here)
        except (AttributeError, OSError, ValueError):
            return None
        return int(end - here)

    def blocks(self, block_bytes: int, offset: int = 0, length: int = -1) -> Iterator[bytes]:
        """Blocks of about `block_bytes` bytes that end at line ends; the last may lack one."""
        if offset > 0:
            self._skip_to_line(offset)
        left = None
        if length > 0:
            # Lines that begin here or before are read, at least the first one.
            left = offset + length - self._file.tell()
        block_bytes = min(block_bytes, self._max_line_bytes)  # a longer line spans several
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
            if n_line > self._max_line_bytes:
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
        if left is not None and (carried or left >= 0):
            with self._blaming():
                rest = self._file.readline(self._max_line_bytes - n_carried + 1)
            if n_carried + len(rest.removesuffix(b"\n")) > self._max_line_bytes:
                raise self._too_long()
            carried.append(rest)
        last = b"".join(carried)
        if last:
            yield last

    def _skip_to_line(self, offset: int) -> None:
        """Go to the first line that begins at `offset` or later."""
        with self._blaming():
            try:
                self._file.seek(offset)
            except gzip.BadGzipFile:  # an OSError too
                raise
            except (OSError, OverflowError) as error:
                if str(error) == _NO_BZIP2:
                    raise
                reason = f"{self.name}offset {offset} cannot be reached: {error}"
                raise ValueError(reason) from error
            # The rest of a line is for the reader of the bytes before.
            while (rest := self._file.readline(_READ_BYTES)) and not rest.endswith(b"\n"):
                pass

    def _too_long(self) -> LineTooLong:
        return LineTooLong(f"longer than {setting('max_line_bytes', self._max_line_bytes)}")

    def _read(self, size: int) -> bytes:
        parts = []
        while size > 0 and (part := self._read_some(min(size, _READ_BYTES))):
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read_some(self, size: int) -> bytes:
        # read1 of a pipe waits for one write only, so that signals are handled after each.
        read = getattr(self._file, "read1", self._file.read)
        with self._blaming():
            part = read(size)
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise TypeError(f"the file must be opened in binary mode; it gives {type(part)}")
        self._n_read += len(part)
        return bytes(part)

    @contextlib.contextmanager
    def _blaming(self) -> Iterator[None]:
        """Say of which file errors of reading are, and make one kind of those of damaged files."""
        name = self.name or self._own_name
        try:
            with decompressing(name):
                yield
        except OSError as error:
            error.filename = error.filename or name.removesuffix(": ") or None
            raise


@contextlib.contextmanager
def decompressing(name: str = "") -> Iterator[None]:
    """Make a ValueError of whatever a damaged compressed file raises."""
    try:
        yield
    except _DAMAGED as error:
        raise ValueError(f"{name}cannot be decompressed: {error}") from error
    except OSError as error:
        if error.errno is not None or str(error) != _NO_BZIP2:
            raise
        raise ValueError(f"{name}cannot be decompressed: {error}") from error


@contextlib.contextmanager
def arrays_of(name: str) -> Iterator[None]:
    """Make a ValueError of whatever NumPy, SciPy and zipfile raise for a file that is not sound."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # the file cannot be read
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{name}: {reason}") from error


# ---- writing -------------------------------------------------------------------------------------


@contextlib.contextmanager
def atomic_output(path: Any, synced: bool = True) -> Iterator[IO[bytes]]:
    """A binary file object for the file `path`, which appears only if there is no error.

    "-" is standard output. The ending of the name chooses a compression. Without `synced`, writing
    costs less, but the file may be empty after a loss of power. Devices and named pipes are written
    to directly, as no file can be renamed to them.
    """
    path = os.fspath(path)
    if not path:
        raise ValueError("the name of the output must not be empty")
    if path == "-":
        with blaming("standard output"):
            if sys.stdout is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):
        with blaming(path), open(path, "wb") as file:
            yield file
        return
    with blaming(path):
        target = os.path.realpath(path)
        with _Unpublished(target, synced) as hidden:
            with _compressed(hidden.file, os.path.splitext(path)[1]) as compressed:
                yield compressed
            hidden.publish()


class _Unpublished:
    """A file in the folder of `target` that takes its name when it is published.

    Linux makes it without any name, so that nothing is left of it if the process is killed. It has
    a temporary name elsewhere, and for the moment in which it replaces another file; that name is
    short as `target` may be as long as names can be.
    """

    def __init__(self, target: str, synced: bool) -> None:
        self._target, self._synced = target, synced
        self._folder = os.path.dirname(target)
        self._temporary = os.path.join(self._folder, f".sparsemaps-{secrets.token_hex(8)}.tmp")
        self._is_named = True

    def __enter__(self) -> "_Unpublished":
        descriptor = _open_unnamed(self._folder)
        try:
            if descriptor is None:
                flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
                descriptor = os.open(self._temporary, flags, 0o666)
            else:
                self._is_named = False
            file = (_BegunEarly if self._synced else io.FileIO)(descriptor, "w+b")
            self.file = io.BufferedRandom(file)
        except OSError as error:
            error.filename = None  # not the temporary one; the caller knows the name
            raise
        except BaseException:  # a signal, when the file may be there already
            self._remove()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self.file.close()
        finally:
            if error[0] is not None:
                self._remove()

    def publish(self) -> None:
        self.file.flush()
        if self._synced:  # else a loss of power could leave the name without the content
            os.fsync(self.file.fileno())
        if not self._is_named:
            with contextlib.suppress(OSError):  # the name is taken, or the file cannot have one
                self._link(self._target)
                return
            self._name()
        if os.path.exists(self._target):
            os.chmod(self._temporary, os.stat(self._target).st_mode & 0o777)
        if os.name == "nt":  # Windows renames no open file
            self.file.close()
        os.replace(self._temporary, self._target)

    def _name(self) -> None:
        """Give an unnamed file its temporary name."""
        self._is_named = True
        try:
            self._link(self._temporary)
        except OSError:  # a file system that can make the file but not name it
            with open(self._temporary, "xb") as copy:
                self.file.seek(0)
                shutil.copyfileobj(self.file, copy)
                copy.flush()
                os.fsync(copy.fileno())

    def _link(self, name: str) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:  # with src_dir_fd, Python calls linkat, which follows the link in /proc
            os.link(_in_proc(self.file.fileno()), name, src_dir_fd=folder)
        finally:
            os.close(folder)

    def _remove(self) -> None:
        if self._is_named:
            with contextlib.suppress(OSError):  # the first error is the one to report
                os.unlink(self._temporary)


class _BegunEarly(io.FileIO):
    """A file that the system begins to write to the disk while more of it is made.

    A sync at its end then has little left to wait for.
    """

    _n_written = _n_begun = 0

    def write(self, data: Any) -> int:
        n = super().write(data)
        self._n_written += n
        size = self._n_written - self._n_begun
        if size >= _BEGUN_BYTES and hasattr(os, "posix_fadvise"):
            # On Linux this advice starts the writing of these bytes to the disk. It returns before
            # they are written, and until then they stay in memory.
            with contextlib.suppress(OSError):
                os.posix_fadvise(self.fileno(), self._n_begun, size, os.POSIX_FADV_DONTNEED)
            self._n_begun = self._n_written
        return n


def _open_unnamed(folder: str) -> int | None:
    """The descriptor of a file without a name, where the system makes such files."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        descriptor = os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o666)
    except OSError:
        return None
    if not os.path.exists(_in_proc(descriptor)):
        os.close(descriptor)
        return None
    return descriptor


def _in_proc(descriptor: int) -> str:
    return f"/proc/self/fd/{descriptor}"


@contextlib.contextmanager
def _compressed(file: IO[bytes], ending: str) -> Iterator[IO[bytes]]:
    """What is written goes to `file`, compressed as the ending of a name says."""
    if ending not in _WRITERS:
        yield file
        return
    with _WRITERS[ending](file) as writer:
        yield writer


@contextlib.contextmanager
def blaming(name: str) -> Iterator[None]:
    """Add a file's name to errors that have none, as those of writing."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:  # else it has a text of its own, which a name would hide
            error.filename = error.filename or name
        raise


def refuse_clashes(inputs: Iterable[Any], outputs: Iterable[tuple[Any, str]]) -> None:
    """Raise a ValueError if an output is an input, or if two outputs are one file, by any names.

    `outputs` are all that will be written, each with what it is. "-" is standard input or output,
    which may have been redirected to a file.
    """
    read: dict[Any, Any] = {}
    for path in inputs:
        standard = _is_standard(path)
        for identity in (_identity(sys.stdin if standard else path), _place(path)):
            if identity is not None:
                read[identity] = "standard input" if standard else path
    written: dict[str, str] = {}
    for path, what in outputs:
        standard = _is_standard(path)
        name = "standard output" if standard else path
        place = _place(path)
        for identity in (_identity(sys.stdout if standard else path), place):
            if identity is not None and identity in read:
                about = "" if what == OUTPUT else f", {what},"
                raise ValueError(
                    f"{name}{about} is the input {read[identity]}; write to another file"
                )
        if place is None:
            continue
        if place in written:
            raise ValueError(
                f"{name} would be {what} and {written[place]}; write to other files, or rename an "
                "input"
            )
        written[place] = what


OUTPUT = "the output"
"""What the only output is."""


def _place(path: Any) -> str | None:
    """Where a file is or will be, without links; None for what is no path of a regular file."""
    if not isinstance(path, (str, os.PathLike)) or _is_standard(path):
        return None
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
        return None
    return os.path.normcase(os.path.realpath(path))


def _is_standard(path: Any) -> bool:
    return isinstance(path, (str, os.PathLike)) and os.fspath(path) == "-"


def _identity(f: Any) -> tuple[int, int] | None:
    """Device and inode of a regular file, or None."""
    try:
        found = os.stat(f) if isinstance(f, (str, os.PathLike)) else os.fstat(f.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return (found.st_dev, found.st_ino) if (found.st_mode & 0o170000) == 0o100000 else None
