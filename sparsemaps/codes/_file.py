"""Files of packed codes, in the format of `_described_files`.

A file has the codes, one bit per row that says whether the row has samples, further arrays if any,
and the description.
"""

import math
from collections.abc import Iterable, Mapping
from typing import IO, Any, Literal, NamedTuple

import numpy as np

from sparsemaps._io import _array_files, _described_files, _output_files
from sparsemaps._io._regular_files import open_regular
from sparsemaps._tools import _checks, _seeding
from sparsemaps._tools._typing import Array, StrPath

MARK = b"SMCODES1"

_MAX_ROW_BYTES = 2**28
"""Largest number of bytes per row in a file without rows: enough for the largest number of bits."""


class Contents(NamedTuple):
    """The contents of a file."""

    array: Array
    sampled: Array
    description: dict[str, Any]
    further: dict[str, Array]


class Rest(NamedTuple):
    """What follows the codes in a file, and their shape."""

    shape: tuple[int, int]
    sampled: Array
    description: Mapping[str, Any]
    further: Mapping[str, Array]


def write(path: StrPath, blocks: Iterable[Array], rest: Rest) -> None:
    """Write a file of codes, given in blocks of rows. The file appears only when it is complete."""
    with _output_files.atomic_output(path) as file:
        file.write(_array_files.header_of("|u1", rest.shape))
        for block in blocks:
            file.writelines(_array_files.pieces_of(block))
        write_rest(file, rest)


def write_rest(file: IO[bytes], rest: Rest) -> None:
    """Write all that follows the codes in a file."""
    shape, sampled, description, further = rest
    mask = np.packbits(sampled, bitorder="little")
    end = len(_array_files.header_of("|u1", shape)) + math.prod(shape) + len(mask)
    description = {**description, "shape": shape}
    if further:
        places, place = {}, end
        for name, array in further.items():
            place = -(-place // _described_files.ALIGNED) * _described_files.ALIGNED
            places[name] = [array.dtype.str, list(array.shape), place]
            place += array.nbytes
        description |= {"end": end, "further": places}
    file.write(mask.data)
    for array in further.values():
        file.write(b"\0" * (-end % _described_files.ALIGNED))
        file.writelines(_array_files.pieces_of(array))
        end += -end % _described_files.ALIGNED + array.nbytes
    file.write(_described_files.end_of_file(description, MARK))


def read(path: str, mmap_mode: Literal["r", "c"] | None) -> Contents:
    """Read a file. All sizes are checked against the file size before memory is allocated."""
    if mmap_mode is not None:
        _checks.check_choice("mmap_mode", mmap_mode, ("r", "c"))
    with open_regular(path) as file:
        description, text_start = _described_files.read_description(
            file, path, MARK, "packed codes"
        )
        with _described_files.damage_named(path, "its description"):
            n_rows, n_bytes = _checked_shape(description, text_start)
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
        if not _described_files.has_header(file, "|u1", (n_rows, n_bytes), offset):
            raise ValueError(f"{path} is damaged: its array is not of shape ({n_rows}, {n_bytes})")
        file.seek(mask_start)
        mask = np.frombuffer(file.read(mask_end - mask_start), np.uint8)
        if mmap_mode is None or n_rows == 0:  # empty arrays cannot be mapped
            file.seek(offset)
            array: Array = np.fromfile(file, np.uint8, n_rows * n_bytes).reshape(n_rows, n_bytes)
        else:
            array = np.memmap(file, np.uint8, mmap_mode, offset, (n_rows, n_bytes))
        further = _read_further(file, path, mmap_mode, description, text_start)
    sampled = np.unpackbits(mask, count=n_rows, bitorder="little").view(bool)
    return Contents(array, sampled, description, further)


def _read_further(
    file: IO[bytes],
    path: str,
    mmap_mode: Literal["r", "c"] | None,
    description: Mapping[str, Any],
    text_start: int,
) -> dict[str, Array]:
    """Return the further arrays, which are stored between the codes and the description."""
    further: dict[str, Array] = {}
    with _described_files.damage_named(path, "its arrays"):
        for name, (kind, shape, start) in description.get("further", {}).items():
            if kind != "<u4":
                raise ValueError(f"arrays of {kind!r} are unknown")
            dtype = np.dtype(kind)
            lengths = tuple(_checks.check_int("length", n, 0, text_start) for n in shape)
            n_bytes = math.prod(lengths) * dtype.itemsize
            start = _checks.check_int("start", start, description["end"], text_start - n_bytes)
            if n_bytes == 0 or mmap_mode is None:
                file.seek(start)
                array = np.fromfile(file, dtype, math.prod(lengths))
                further[name] = array.reshape(lengths)
            else:
                further[name] = np.memmap(file, dtype, mmap_mode, start, lengths)
    return further


def _checked_shape(description: Mapping[str, Any], end: int) -> tuple[int, int]:
    """Return the shape of the codes of a file, which are stored before `end`. Raise if the
    description does not have the form that `write` gives it."""
    rows, row_bytes = description["shape"]
    n_rows = _checks.check_int("the number of rows", rows, 0, end)
    most = end if n_rows else _MAX_ROW_BYTES
    n_row_bytes = _checks.check_int("the bytes of a row", row_bytes, 1, most)
    config = description["config"]
    if not (isinstance(config, dict) and isinstance(config.get("class", ""), str)):
        raise ValueError
    if not isinstance(config.get("parameters", {}), dict):
        raise ValueError
    return n_rows, n_row_bytes
