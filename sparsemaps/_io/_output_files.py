"""Output files that appear only when they are complete, and whose names differ."""

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, Any

from sparsemaps._io import _text_input, _urls
from sparsemaps._io._sources import is_regular, is_standard
from sparsemaps._io._zstd import zstd_writer
from sparsemaps._tools._typing import Destination

_WRITERS: dict[str, Callable[[Any], Any]] = {
    # Without name and time, so that the same content makes the same file.
    ".gz": lambda file: gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115
    ".zst": zstd_writer,
    ".zstd": zstd_writer,
}


@contextlib.contextmanager
def atomic_output(path: Any, synced: bool = True) -> Iterator[IO[bytes]]:
    """Yield a binary file object for the file `path`, which appears only if no error occurs.

    "-" is standard output. If `path` is a file object, bytes are written to it directly. The suffix
    of the name selects the compression. Without `synced`, writing is cheaper, but the file may be
    empty after a power failure. Devices and named pipes are written directly, because a file cannot
    be renamed to them.
    """
    if hasattr(path, "write"):
        yield path
        return
    path = os.fspath(path)
    if not path:
        raise ValueError("the name of the output must not be empty")
    if path == "-":
        with errors_naming("standard output"):
            if sys.stdout is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    if _urls.is_url(path):
        with _urls.uploaded(path) as here, atomic_output(here, synced=False) as file:
            yield file
        return
    if _is_folder(path):
        raise _error(errno.EISDIR, path)
    if os.path.exists(path) and not os.path.isfile(path):
        with errors_naming(path), open(path, "wb") as device:
            yield device
        return
    with (
        errors_naming(path),
        replacing(os.path.realpath(path), synced) as file,
        _WRITERS.get(_text_input.ending_of(path), contextlib.nullcontext)(file) as compressed,
    ):
        yield compressed


@contextlib.contextmanager
def instead_of(target: str, path: str, endings: Iterable[str]) -> Iterator[None]:
    """Give files that are written to `path` plus `endings`, from the start, the permissions of the
    files at `target` that they will replace. Errors name the latter."""
    made = []
    try:
        for ending in endings:
            mode = _mode_of(target + ending)
            if mode is not None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                file = _open_as_private(mode, path + ending, flags)
                made.append((path + ending, os.fstat(file)))
                os.close(file)
        yield
    except OSError as error:  # name the file that the caller knows
        if isinstance(error.filename, str) and error.filename.startswith(path):
            error.filename = target + error.filename.removeprefix(path)
        raise
    finally:
        for name, empty in made:
            with contextlib.suppress(OSError):
                if os.path.samestat(os.lstat(name), empty):  # it was never written
                    os.unlink(name)


@contextlib.contextmanager
def replacing(target: str, synced: bool) -> Iterator[IO[bytes]]:
    """Yield a temporary file in the directory of `target`, which replaces `target` unless an error
    occurs.

    Its name is short, because the name of `target` may have the maximum length. The temporary file
    remains only if the process is killed.
    """
    temporary = os.path.join(os.path.dirname(target), _urls.hidden_name())
    try:
        with open(temporary, "x+b", opener=partial(_open_as_private, _mode_of(target))) as file:
            yield file
            file.flush()
            if synced:  # otherwise a power failure could leave the name without content
                os.fsync(file.fileno())
        mode = _mode_of(target)  # it may have changed meanwhile
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):  # report the first error
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            error.filename = None  # the caller knows the target's name
        raise


def _mode_of(target: str) -> int | None:
    """Return the permissions of a file, or None if it is missing."""
    try:
        return os.stat(target).st_mode & 0o777
    except FileNotFoundError:
        return None


def _open_as_private(mode: int | None, path: str, flags: int) -> int:
    """Open a new file that is readable only to those who can read files with these permissions."""
    file = os.open(path, flags, 0o666 if mode is None else mode)
    if mode is not None and hasattr(os, "fchmod"):
        os.fchmod(file, mode)  # restore bits that the umask has removed
    return file


def make_folder(folder: str) -> None:
    """Create a folder for outputs if needed. At a URL, writing a file creates it."""
    if not _urls.is_url(folder):
        os.makedirs(folder, exist_ok=True)


def make_folder_like(folder: str, output: str) -> None:
    """Create a folder, if needed, that is readable to those who can read an output."""
    mode = _mode_of(output)
    if mode is not None and os.path.isfile(output):
        with contextlib.suppress(OSError):  # the writer reports the error
            os.mkdir(folder, mode | (mode & 0o444) >> 2 | 0o700)


_TEMPORARY = re.compile(r"\.sparsemaps-[0-9a-f]{16}\.tmp")


def remove_temporaries(folder: str) -> None:
    """Remove temporary files that killed processes have left in a folder. No other process may be
    writing there."""
    if _urls.is_url(folder):  # writers there do not exclude one another
        return
    for name in os.listdir(folder):
        if _TEMPORARY.fullmatch(name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


@contextlib.contextmanager
def errors_naming(name: str) -> Iterator[None]:
    """Add a file's name to errors without a name, such as write errors."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:  # otherwise its own text would be hidden by the name
            error.filename = error.filename or name
        raise


def refuse_clashes(
    inputs: Iterable[Any], outputs: Iterable[tuple[Any, str]], made: Iterable[Any] = ()
) -> None:
    """Raise a ValueError if an output is an input, or if two outputs are standard output or the
    same file under any names. Raise an OSError if an output cannot be written at its place.

    `outputs` are the files to be written, each with a description. "-" is standard input or output,
    which may be redirected to a file. `made` are folders that the job creates.
    """
    folders = [os.path.realpath(path) for path in made if not _urls.is_url(path)]
    read: dict[Any, Any] = {}
    for path in inputs:
        standard = is_standard(path)
        for identity in (_inode_of(sys.stdin if standard else path), _place(path)):
            if identity is not None:
                read[identity] = "standard input" if standard else path
    written: dict[str, str] = {}
    for path, what in outputs:
        standard = is_standard(path)
        name = "standard output" if standard else path
        place = "-" if standard else _place(path)
        for identity in (_inode_of(sys.stdout if standard else path), place):
            if identity is not None and identity in read:
                role = "" if what == OUTPUT else f", {what},"
                raise ValueError(
                    f"{name}{role} is the input {read[identity]}; write to another file"
                )
        if _urls.is_url(path):
            _urls.refuse_read_only(path)
        elif isinstance(path, (str, os.PathLike)) and not standard:
            _check_place(os.fspath(path), folders)
        if place is None:
            continue
        if place in written and standard:
            raise ValueError(f"{written[place]} and {what} are both standard output")
        if place in written:
            raise ValueError(
                f"{name} would be {what} and {written[place]}; write to other files, or rename an "
                "input"
            )
        written[place] = what


def _check_place(path: str, made: list[str]) -> None:
    """Raise an OSError if a file cannot be written: its folder is missing or not writable, or a
    folder has its name. Raise a ValueError for a ``file:`` URL."""
    if path.lower().startswith("file://"):
        raise ValueError(f"{path}: to write to this machine, give a path instead of a URL")
    if _is_folder(path):
        raise _error(errno.EISDIR, path)
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe
        return
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.lexists(folder):
        if folder not in made:
            raise _error(errno.ENOENT, path)
        while not os.path.lexists(folder):  # it will be created too
            folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise _error(errno.ENOTDIR, path)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _error(errno.EACCES, path)


def _is_folder(path: str) -> bool:
    """Return whether a name is that of a folder, which may not exist: realpath drops a slash."""
    return path.endswith(os.sep) or os.path.isdir(path)


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)


OUTPUT = "the output"
"""Description of an output if it is the only one."""


def _place(path: Destination) -> str | None:
    """Return the path of a regular file, with links resolved, or None for anything else."""
    if not is_regular(path):
        return None
    return str(path) if _urls.is_url(path) else os.path.normcase(os.path.realpath(path))


def _inode_of(f: Any) -> tuple[int, int] | None:
    """Return the device and inode of a regular file, or None."""
    try:
        status = os.stat(f) if isinstance(f, (str, os.PathLike)) else os.fstat(f.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return (status.st_dev, status.st_ino) if (status.st_mode & 0o170000) == 0o100000 else None
