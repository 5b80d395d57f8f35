"""Files of packed codes.

A NumPy file comes first, then one bit a row for which rows have samples, then the rest as JSON,
then the length of that and eight bytes that mark such files.
"""

import json
import os
import struct
import tokenize
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from sparsemaps._tools import _checks, _output_files, _seeding
from sparsemaps._tools._typing import Array

_FOOTER = struct.Struct("<Q8s")
_MAGIC = b"SMCODES1"

_MAX_HEADER_BYTES = 2**12
"""Of a NumPy file's header; it has about a hundred."""


def write(path: Any, array: Array, sampled: Array, about: Mapping[str, Any]) -> None:
    """Write a file; it appears only when it is complete."""
    text = json.dumps({**about, "shape": list(array.shape)}).encode()
    with _output_files.atomic_output(path) as file:
        np.lib.format.write_array(file, array, allow_pickle=False)
        file.write(np.packbits(sampled, bitorder="little").tobytes())
        file.write(text)
        file.write(_FOOTER.pack(len(text), _MAGIC))


def read(path: str, mmap_mode: Any) -> tuple[Array, Array, dict[str, Any]]:
    """The codes, which rows have samples, and what was written beside them.

    All sizes are checked by the size of the file before memory is taken for them.
    """
    if mmap_mode is not None:
        _checks.check_choice("mmap_mode", mmap_mode, ("r", "c"))
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        file.seek(max(size - _FOOTER.size, 0))
        end = file.read()
        if len(end) != _FOOTER.size or not end.endswith(_MAGIC):
            raise ValueError(f"{path} is no file of packed codes, or is cut short")
        text_bytes, _ = _FOOTER.unpack(end)
        text_start = size - _FOOTER.size - text_bytes
        try:
            about, n_rows, n_bytes = _read_description(file, text_start, text_bytes)
        except (ValueError, KeyError, TypeError, RecursionError, MemoryError):
            raise ValueError(f"{path} is damaged: its description cannot be read") from None
        scheme = about["config"].get("scheme")
        if scheme != _seeding.SCHEME:
            raise ValueError(
                f"{path} holds codes of scheme {scheme} of random numbers; this version of "
                f"sparsemaps has scheme {_seeding.SCHEME}"
            )
        mask_start = text_start - (n_rows + 7) // 8
        offset = mask_start - n_rows * n_bytes
        if not _has_header(file, (n_rows, n_bytes), offset):
            raise ValueError(f"{path} is damaged: its array is not of shape ({n_rows}, {n_bytes})")
        file.seek(mask_start)
        mask = np.frombuffer(file.read(text_start - mask_start), np.uint8)
        if mmap_mode is None:
            file.seek(offset)
            array: Array = np.fromfile(file, np.uint8, n_rows * n_bytes).reshape(n_rows, n_bytes)
        else:
            array = np.memmap(path, np.uint8, mmap_mode, offset, (n_rows, n_bytes))
    return array, np.unpackbits(mask, count=n_rows, bitorder="little").astype(bool), about


def _read_description(file: BinaryIO, start: int, n_bytes: int) -> tuple[dict[str, Any], int, int]:
    """What a file says of its codes, and their shape; an error where it has not that form."""
    if start < 0:
        raise ValueError
    file.seek(start)
    about = json.loads(file.read(n_bytes))
    rows, row_bytes = about["shape"]
    n_rows = _checks.check_int("the number of rows", rows, 0, start)
    n_row_bytes = _checks.check_int("the bytes of a row", row_bytes, 1, start)
    config = about["config"]
    if not (isinstance(config, dict) and isinstance(config.get("class", ""), str)):
        raise ValueError
    if not isinstance(config.get("parameters", {}), dict):
        raise ValueError
    return dict(about), n_rows, n_row_bytes


def _has_header(file: BinaryIO, shape: tuple[int, int], offset: int) -> bool:
    """Whether the file begins with the header of an array of uint8 of this shape, which ends at
    `offset`."""
    if not 0 < offset <= _MAX_HEADER_BYTES:
        return False
    file.seek(0)
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            return False
        found = np.lib.format.read_array_header_1_0(file, max_header_size=_MAX_HEADER_BYTES)
    except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError):
        return False
    return bool(found == (shape, False, np.dtype(np.uint8)) and file.tell() == offset)
