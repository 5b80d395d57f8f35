"""Files that must be regular: no pipe, device or folder that stands in their place is opened."""

import contextlib
import errno
import os
import stat
from typing import IO

from sparsemaps._io import _paths

_UNWAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0)


def open_regular(path: str, *, follow: bool = True) -> IO[bytes]:
    """Open a regular file to read, without waiting; a ValueError if it is another kind of file.
    Without `follow`, a symbolic link is another kind. Of a URL, a copy is opened."""
    path = _paths.local_path(path)
    try:
        file = os.open(path, os.O_RDONLY | _UNWAITING | (0 if follow else _UNFOLLOWED))
    except OSError as error:
        # A socket, or a link that is not followed.
        if error.errno in (errno.ENXIO, errno.ELOOP) and os.path.lexists(path):
            raise ValueError(f"{path} is not a regular file") from None
        raise
    try:
        refuse_other_files(file, path)
        return open(file, "rb")
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(file)
        raise


def refuse_other_files(file: int, path: str) -> None:
    """Raise a ValueError if a descriptor is of no regular file."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise ValueError(f"{path} is not a regular file")


def size_of(path: str) -> int | None:
    """Return the size of a regular file; None if there is none. Links are not followed."""
    try:
        about = os.lstat(path)
    except (OSError, ValueError):
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None
