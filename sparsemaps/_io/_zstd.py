"""Zstandard files, with the standard library or, before Python 3.14, its backport."""

import io
import sys
from typing import IO, Any

from sparsemaps._tools._extras import library

MODULE = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"


def open_zstd(raw: Any, mode: str = "rb") -> Any:
    """Return the decompressed content of a binary file, which may be empty. Window sizes of up to 2
    GiB, the maximum of the format, are supported, as ``zstd --long=31`` and ``--ultra`` use
    them."""
    module = _zstd()
    largest = {module.DecompressionParameter.window_log_max: _LARGEST_WINDOW}
    return module.ZstdFile(raw, options=largest) if raw.peek(1) else io.BytesIO()


_LARGEST_WINDOW = 31 if sys.maxsize > 2**32 else 30
"""Logarithm of the largest window size."""


def zstd_writer(file: IO[bytes]) -> Any:
    """Return a file object that compresses to `file` and leaves it open."""
    writer = _zstd().ZstdFile(file, "w")
    writer.write(b"")  # makes a frame for empty content too, without which zstd rejects the file
    return writer


def zstd_errors() -> tuple[type[Exception], ...]:
    """Return the library's error types, if the library is loaded."""
    error = getattr(sys.modules.get(MODULE), "ZstdError", None)  # None during the import
    return () if error is None else (error,)


def _zstd() -> Any:
    return library(MODULE, "reading or writing .zst", "backports.zstd")
