"""Output files that appear when they are complete, and whose names do not clash."""

import bz2
import contextlib
import errno
import gzip
import io
import lzma
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from sparsemaps._tools._zstd import zstd_writer

_BEGUN_BYTES = 2**23
"""After how many bytes the system is asked to begin to write them to the disk."""

_WRITERS: dict[str, Callable[[Any], Any]] = {
    # Without name and time: the same content makes the same file.
    ".gz": lambda file: gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115
    ".zst": zstd_writer,
}


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
