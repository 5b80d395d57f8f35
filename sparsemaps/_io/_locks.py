"""One writer of a folder at a time."""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator

from sparsemaps._io._regular_files import refuse_other_files

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK = ".sparsemaps-lock"
"""The name of the file that is locked, in the folder that it is for."""

_PATIENCE = 1.0
"""Seconds in which a run that ends may hold the lock alone, to remove its file."""

_UNSUPPORTED = errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL


@contextlib.contextmanager
def one_writer(folder: str, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder, which is made unless it is there; a ValueError if another run has locked it.

    Locks that are shared exclude only those that are not. The operating system unlocks what a
    process that ends has locked, however it ends. Windows knows no shared locks by `msvcrt`, and
    some network file systems no locks at all: there, a shared lock or any lock is none.
    """
    path = os.path.join(folder, LOCK)
    file = _locked(path, folder, shared)
    try:
        yield
    finally:
        _remove(path, file)
        os.close(file)


def _locked(path: str, folder: str, shared: bool) -> int:
    """Return a descriptor of the file of a lock, which holds the lock until it is closed."""
    limit = time.monotonic() + _PATIENCE
    while True:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
        try:
            file = _opened(path)
        except FileNotFoundError:
            if time.monotonic() < limit:  # the run before has just removed the folder
                continue
            raise  # the folder is a link to one that is not there
        try:
            _lock(file, shared)
            if _is_named(file, path):
                return file
        except OSError as error:
            os.close(file)
            if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise
            if time.monotonic() < limit:
                time.sleep(0.01)
                continue
            raise ValueError(
                f"another run writes to {folder}; wait for its end, or choose another output"
            ) from None
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _opened(path: str) -> int:
    """Open the file of a lock, which is made unless it is there. A link that stands in its place is
    removed; a ValueError if another kind of file does."""
    if os.path.islink(path):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    flags = (getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC"))
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | sum(flags), 0o666)
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.ENXIO):  # of a folder, and of a socket
            raise
        raise ValueError(f"{path} is not a regular file; remove it") from None
    try:
        refuse_other_files(file, path)
    except BaseException:
        os.close(file)
        raise
    return file


def _is_named(file: int, path: str) -> bool:
    """Return whether the file still has its name, which the writer before removes at its end."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False


if sys.platform == "win32":

    def _lock(file: int, shared: bool) -> None:
        if not shared:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

    def _remove(path: str, file: int) -> None:
        """Leave the file, as one that is open has to keep its name."""

else:

    def _lock(file: int, shared: bool) -> None:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise

    def _remove(path: str, file: int) -> None:
        """Remove the file, if no other process has locked it. Whoever has opened it by now finds,
        once it is locked, that it has no name."""
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.unlink(path)
