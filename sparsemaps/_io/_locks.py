"""One writer of a folder at a time."""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from typing import IO

from sparsemaps._io._regular_files import open_regular

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
    with _locked(path, folder, shared) as file:
        try:
            yield
        finally:
            # On Windows, a file that is open has to keep its name.
            if sys.platform != "win32":
                with contextlib.suppress(OSError):  # another process has locked it
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    # Whoever has opened it by now finds, once it is locked, that it has no name.
                    os.unlink(path)


def _locked(path: str, folder: str, shared: bool) -> IO[bytes]:
    """Return the file of a lock, which holds the lock until it is closed. It is made unless it is
    there. A link in its place is removed, and another kind of file is a ValueError."""
    limit = time.monotonic() + _PATIENCE
    while True:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
        try:
            if os.path.islink(path):
                os.unlink(path)
            file = open_regular(path, os.O_RDWR | os.O_CREAT, follow=False)
        except FileNotFoundError:
            if time.monotonic() < limit:  # the run before has just removed the folder
                continue
            raise  # the folder is a link to one that is not there
        try:
            _lock(file, shared)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        except FileNotFoundError:  # the writer before has removed it at its end
            pass
        except OSError as error:
            file.close()
            if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise
            if time.monotonic() < limit:
                time.sleep(0.01)
                continue
            raise ValueError(
                f"another run writes to {folder}; wait for its end, or choose another output"
            ) from None
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: IO[bytes], shared: bool) -> None:
    """Lock a file, or raise an OSError if another process has locked it."""
    if sys.platform == "win32":
        if not shared:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
