"""Files compressed by Zstandard: by the standard library, or by its backport before Python 3.14."""

import io
import sys
from typing import IO, Any

from sparsemaps._tools._extras import library

MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


def open_zstd(raw: Any, mode: str = "rb") -> Any:
    """Return the decompressed content of a binary file, which may be empty. Windows of up to 2 GiB,
    the largest that there are, are read: ``zstd --long=31`` and ``--ultra`` make them."""
    module = _zstd()
    largest = {module.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
    return module.ZstdFile(raw, options=largest) if raw.peek(1) else io.BytesIO()


_LARGEST_WINDOW = 31 if sys.maxsize > 2**32 else 30
"""The logarithm of the size of the largest window."""


def zstd_writer(file: IO[bytes]) -> Any:
    """Return a file object that writes to `file`, compressed, and leaves it open."""
    writer = _zstd().ZstdFile(file, "w")
    writer.write(b"")  # so that empty content has a frame too, without which zstd reads no file
    return writer


def zstd_errors() -> tuple[type[Exception], ...]:
    """Return the library's error, if the library is loaded."""
    module = sys.modules.get(MODULE)
    return () if module is None else (module.ZstdError,)


def _zstd() -> Any:
    return library(MODULE, "reading or writing .zst", "backports.zstd")
