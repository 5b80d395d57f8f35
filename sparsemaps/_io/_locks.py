"""Locks that allow one writer of a folder at a time."""

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
"""Name of the lock file in the folder."""

_PATIENCE = 1.0
"""Seconds for which a run that ends may hold an exclusive lock, to remove its lock file."""

_UNSUPPORTED = errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL


@contextlib.contextmanager
def one_writer(folder: str, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder, and create it if needed. Raise a ValueError if another run has locked it.

    Shared locks exclude only locks that are not shared. The operating system releases the locks of
    a process when it ends, however it ends. `msvcrt` on Windows has no shared locks, and some
    network file systems have no locks at all; there, these locks have no effect.
    """
    path = os.path.join(folder, LOCK)
    with _locked(path, folder, shared) as file:
        try:
            yield
        finally:
            # Windows cannot remove an open file.
            if sys.platform != "win32":
                with contextlib.suppress(OSError):  # another process has locked it
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    # A process that has opened it by now will notice, once it gets the lock, that
                    # the file has no name.
                    os.unlink(path)


def _locked(path: str, folder: str, shared: bool) -> IO[bytes]:
    """Return the file of a lock, which holds the lock until it is closed. Create it if needed. A
    link in its place is removed; any other kind of file raises a ValueError."""
    limit = time.monotonic() + _PATIENCE
    while True:
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
        try:
            if os.path.islink(path):
                os.unlink(path)
            file = open_regular(path, os.O_RDWR | os.O_CREAT, follow=False)
        except FileNotFoundError:
            if time.monotonic() < limit:  # the previous run has just removed the folder
                continue
            raise  # the folder is a dangling link
        try:
            _lock(file, shared)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        except FileNotFoundError:  # the previous writer has removed it
            pass
        except OSError as error:
            file.close()
            if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise
            if time.monotonic() < limit:
                time.sleep(0.01)
                continue
            raise ValueError(
                f"another run is writing to {folder}; wait until it ends, or choose another output"
            ) from None
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: IO[bytes], shared: bool) -> None:
    """Lock a file. Raise an OSError if another process has locked it."""
    if sys.platform == "win32":
        if not shared:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _UNSUPPORTED:
                raise
