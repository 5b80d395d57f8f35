"""Files of an array with a description, which may have been modified by anyone.

A file consists of a NumPy file, further content if any, the description as JSON, the length of the
description, and eight bytes that mark the kind of file, in this order. It contains no code.
"""

import contextlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from sparsemaps._io._array_files import MAX_HEADER_BYTES, read_header
from sparsemaps._io._regular_files import open_regular

FOOTER = struct.Struct("<Q8s")

ALIGNED = 64
"""Arrays begin at multiples of this number of bytes."""

_LARGEST_DESCRIPTION = 2**28


def end_of_file(description: Mapping[str, Any], mark: bytes) -> bytes:
    """Return the end of a file, starting with its description."""
    text = json.dumps(description, allow_nan=False).encode()
    return text + FOOTER.pack(len(text), mark)


def is_marked(path: str, mark: bytes) -> bool:
    """Return whether a file ends with a mark."""
    with open_regular(path) as file:
        file.seek(max(os.fstat(file.fileno()).st_size - len(mark), 0))
        return file.read() == mark


def read_description(file: IO[bytes], path: str, mark: bytes, kind: str) -> tuple[Any, int]:
    """Return the description of a file, and the position where it begins. Raise a ValueError unless
    the file is of this kind."""
    size = os.fstat(file.fileno()).st_size
    file.seek(max(size - FOOTER.size, 0))
    end = file.read()
    if len(end) != FOOTER.size or not end.endswith(mark):
        raise ValueError(f"{path} is not a file of {kind}, or is cut short")
    n_bytes, _ = FOOTER.unpack(end)
    start = size - FOOTER.size - n_bytes
    with damage_named(path, "its description"):
        if start < 0 or n_bytes > _LARGEST_DESCRIPTION:
            raise ValueError
        file.seek(start)
        return json.loads(file.read(n_bytes)), start


def has_header(file: IO[bytes], dtype: str, shape: tuple[int, ...], offset: int) -> bool:
    """Return whether a file begins with the header of such an array, and the header ends at
    `offset`."""
    if not 0 < offset <= MAX_HEADER_BYTES:
        return False
    file.seek(0)
    header = read_header(file)
    return bool(header == (shape, False, np.dtype(dtype)) and file.tell() == offset)


@contextlib.contextmanager
def damage_named(path: str, part: str) -> Iterator[None]:
    """Turn any error about a wrong value into a ValueError that names a part of a file."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{path} is damaged: {part} cannot be read") from None
