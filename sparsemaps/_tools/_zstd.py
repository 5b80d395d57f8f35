"""Files compressed by Zstandard."""

import io
from typing import Any

from sparsemaps._tools._extras import library

_COMPRESSED_BYTES = 2**12
"""Compressed bytes that are decompressed at a time, to 100 MB at most."""


class DamagedZstd(Exception):
    """A file is not a Zstandard file, or is cut short."""


def zstandard() -> Any:
    """The library."""
    return library("zstandard", "reading or writing .zst", "text")


def open_zstd(raw: Any, mode: str = "rb") -> io.BufferedReader:
    """The decompressed content of a binary file."""
    return io.BufferedReader(_Decompressed(raw), 2**17)


def zstd_writer(file: Any) -> Any:
    """A file object that writes to `file`, compressed, and leaves it open."""
    return zstandard().ZstdCompressor().stream_writer(file, closefd=False)


class _Decompressed(io.RawIOBase):
    """The content of frames, one behind the other. The library's own reader raises no error for a
    last frame that is cut short."""

    def __init__(self, raw: Any) -> None:
        self._library = zstandard()
        self._raw = raw
        self._frame: Any = None
        self._compressed = b""
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            if not self._compressed:
                self._compressed = self._raw.read(_COMPRESSED_BYTES)
            if not self._compressed:
                if self._frame is not None:
                    raise DamagedZstd("the last frame is cut short")
                return 0
            self._left = memoryview(self._decompress())
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def _decompress(self) -> bytes:
        if self._frame is None:
            self._frame = self._library.ZstdDecompressor().decompressobj()
        try:
            data: bytes = self._frame.decompress(self._compressed)
        except self._library.ZstdError as error:
            raise DamagedZstd(str(error)) from error
        self._compressed = b""
        if self._frame.eof:
            self._compressed = self._frame.unused_data
            self._frame = None
        return data
