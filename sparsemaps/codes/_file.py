"""Files of packed codes.

A file has a NumPy file with the codes, one bit for each row that says whether it has samples,
further arrays if there are any, the description as JSON, the length of the description, and eight
bytes that mark such files, in this order.
"""

import io
import json
import math
import os
import struct
from collections.abc import Iterable, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sparsemaps._tools import _checks, _output_files, _seeding
from sparsemaps._tools._array_files import MAX_HEADER_BYTES, read_header
from sparsemaps._tools._typing import Array

_FOOTER = struct.Struct("<Q8s")
_MAGIC = b"SMCODES1"

_MAX_ROW_BYTES = 2**28
"""Bytes of a row, where there are no rows: those of the largest number of bits."""

_ALIGNED = 64
"""Further arrays begin at multiples of this number of bytes."""

_WRITTEN_BYTES = 2**24
"""Bytes of an array that are written by one call. Signals are handled between calls."""


class Contents(NamedTuple):
    """The contents of a file."""

    array: Array
    sampled: Array
    description: dict[str, Any]
    further: dict[str, Array]


def write(
    path: Any,
    blocks: Iterable[Array],
    shape: tuple[int, int],
    sampled: Array,
    description: Mapping[str, Any],
    further: Mapping[str, Array],
) -> None:
    """Write a file of codes, whose rows are in blocks. It appears when it is complete."""
    header = io.BytesIO()
    header_of = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, header_of)
    mask = np.packbits(sampled, bitorder="little")
    end = header.tell() + math.prod(shape) + len(mask)
    description = {**description, "shape": shape}
    if further:
        places, place = {}, end
        for name, array in further.items():
            place = -(-place // _ALIGNED) * _ALIGNED
            places[name] = [array.dtype.str, list(array.shape), place]
            place += array.nbytes
        description |= {"end": end, "further": places}
    text = json.dumps(description).encode()
    with _output_files.atomic_output(path) as file:
        file.write(header.getvalue())
        for block in blocks:
            _write_array(file, block)
        file.write(mask.data)
        for array in further.values():
            file.write(b"\0" * (-end % _ALIGNED))
            _write_array(file, array)
            end += -end % _ALIGNED + array.nbytes
        file.write(text)
        file.write(_FOOTER.pack(len(text), _MAGIC))


def _write_array(file: Any, array: Array) -> None:
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for start in range(0, len(data), _WRITTEN_BYTES):
        file.write(data[start : start + _WRITTEN_BYTES].data)


def is_marked(path: str) -> bool:
    """Whether a file ends as those of `write` do."""
    with open(path, "rb") as file:
        file.seek(max(os.path.getsize(path) - len(_MAGIC), 0))
        return file.read() == _MAGIC


def read(path: str, mmap_mode: Any) -> Contents:
    """Read a file. All sizes are compared with the size of the file before memory is allocated."""
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
            description, n_rows, n_bytes = _read_description(file, text_start, text_bytes)
        except (ValueError, KeyError, TypeError, RecursionError, MemoryError):
            raise ValueError(f"{path} is damaged: its description cannot be read") from None
        scheme = description["config"].get("scheme")
        if scheme != _seeding.SCHEME:
            raise ValueError(
                f"{path} holds codes of scheme {scheme} of random numbers; this version of "
                f"sparsemaps has scheme {_seeding.SCHEME}"
            )
        mask_end = text_start
        if "further" in description:
            mask_end = description.get("end")
            if not isinstance(mask_end, int) or not 0 < mask_end <= text_start:
                raise ValueError(f"{path} is damaged: its arrays overlap")
        mask_start = mask_end - (n_rows + 7) // 8
        offset = mask_start - n_rows * n_bytes
        if not _has_header(file, (n_rows, n_bytes), offset):
            raise ValueError(f"{path} is damaged: its array is not of shape ({n_rows}, {n_bytes})")
        file.seek(mask_start)
        mask = np.frombuffer(file.read(mask_end - mask_start), np.uint8)
        if mmap_mode is None or n_rows == 0:  # nothing cannot be mapped
            file.seek(offset)
            array: Array = np.fromfile(file, np.uint8, n_rows * n_bytes).reshape(n_rows, n_bytes)
        else:
            array = np.memmap(path, np.uint8, mmap_mode, offset, (n_rows, n_bytes))
    sampled = np.unpackbits(mask, count=n_rows, bitorder="little").view(bool)
    return Contents(
        array, sampled, description, _read_further(path, mmap_mode, description, text_start)
    )


def _read_further(
    path: str, mmap_mode: Any, description: Mapping[str, Any], text_start: int
) -> dict[str, Array]:
    """The further arrays, which are between the codes and the description."""
    further: dict[str, Array] = {}
    try:
        for name, (kind, shape, start) in description.get("further", {}).items():
            dtype = np.dtype({"<u4": "<u4"}[kind])
            lengths = tuple(_checks.check_int("length", n, 0, text_start) for n in shape)
            n_bytes = math.prod(lengths) * dtype.itemsize
            start = _checks.check_int("start", start, description["end"], text_start - n_bytes)
            if n_bytes == 0 or mmap_mode is None:
                array = np.fromfile(path, dtype, math.prod(lengths), offset=start)
                further[name] = array.reshape(lengths)
            else:
                further[name] = np.memmap(path, dtype, mmap_mode, start, lengths)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(f"{path} is damaged: its arrays cannot be read") from None
    return further


def _read_description(file: BinaryIO, start: int, n_bytes: int) -> tuple[dict[str, Any], int, int]:
    """The description of a file, and the shape of its codes. An error if it is not of this form."""
    if start < 0:
        raise ValueError
    file.seek(start)
    description = json.loads(file.read(n_bytes))
    rows, row_bytes = description["shape"]
    n_rows = _checks.check_int("the number of rows", rows, 0, start)
    most = start if n_rows else _MAX_ROW_BYTES
    n_row_bytes = _checks.check_int("the bytes of a row", row_bytes, 1, most)
    config = description["config"]
    if not (isinstance(config, dict) and isinstance(config.get("class", ""), str)):
        raise ValueError
    if not isinstance(config.get("parameters", {}), dict):
        raise ValueError
    return dict(description), n_rows, n_row_bytes


def _has_header(file: BinaryIO, shape: tuple[int, int], offset: int) -> bool:
    """Whether the file begins with the header of an array of uint8 of this shape, which ends at
    `offset`."""
    if not 0 < offset <= MAX_HEADER_BYTES:
        return False
    file.seek(0)
    header = read_header(file)
    return bool(header == (shape, False, np.dtype(np.uint8)) and file.tell() == offset)
