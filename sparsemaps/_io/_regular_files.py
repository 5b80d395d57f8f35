"""Files that must be regular. Pipes, devices and folders are not opened."""

import contextlib
import errno
import os
import stat
from typing import IO

from sparsemaps._io import _urls

_UNWAITING = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0)


def open_regular(path: str, flags: int = os.O_RDONLY, *, follow: bool = True) -> IO[bytes]:
    """Open a regular file without blocking. Raise a ValueError for any other kind of file and,
    without `follow`, for a symbolic link. For a URL, open a local copy."""
    wrong = f"{path} is not a regular file"
    if _urls.is_url(path):
        path = _urls.local_copy(path)
    try:
        file = os.open(path, flags | _UNWAITING | (0 if follow else _UNFOLLOWED), 0o666)
    except OSError as error:
        # A socket, a link that is not followed, or a folder.
        if error.errno in (errno.ENXIO, errno.ELOOP, errno.EISDIR) and os.path.lexists(path):
            raise ValueError(wrong) from None
        raise
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError(wrong)
        return open(file, "rb")
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(file)
        raise
