"""NumPy files, which may have been modified by anyone: arrays are checked when they are read."""

import io
import math
import os
import threading
import tokenize
import zipfile
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._io import _output_files
from sparsemaps._io._regular_files import open_regular
from sparsemaps._tools._typing import Array

MAX_HEADER_BYTES = 2**12
"""Largest size of a file's header in bytes. Headers usually have about a hundred bytes."""

_STEP = 2**20
"""Numbers compared at a time."""

_LASTING_BYTES = 128
"""Bytes of a header whose shape is written last."""

_WRITTEN_BYTES = 2**24
"""Bytes of an array written per call. Signals are handled between calls."""


_UNSOUND = (
    *(ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError),
    UserWarning,  # if warnings are errors: NumPy warns about headers of Python 2
)
"""Errors of NumPy for an invalid header."""


class ArrayKind(NamedTuple):
    """The type, shape and range that an array must have."""

    dtype: Any
    """A type, "integers", or None for any type of integers or floats."""

    shape: tuple[int | None, ...] = (None,)
    """None in a shape allows any length."""

    most: int | tuple[int, ...] | None = None
    """Largest number allowed, or one for each row; the least is then 0. None allows any number."""

    halves: bool = False
    """Whether each 64-bit number consists of two 32-bit numbers, which are checked separately."""


_KINDS = {None: ("iuf", "numbers"), "integers": ("iu", "integers")}
"""Groups of types: their kinds in NumPy, and their name in errors."""


def read_array(path: str, kind: ArrayKind, mmap: bool = False) -> Array:
    """Return the array in a file, in memory or mapped. Raise a ValueError if it has another kind.

    Sizes are checked against the file size before memory is allocated. A mapped file may change
    afterwards, so compiled code must bound what it reads there.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        shape, dtype = _checked_header(file, path, size, kind)
        offset, n = file.tell(), math.prod(shape)
        if mmap and n:
            array: Array = np.memmap(file, dtype, "r", offset, shape)
        else:
            array = np.fromfile(file, dtype, n).reshape(shape)
    _check_range(path, array, kind)
    return array


def save_array(path: str, array: Array) -> None:
    """Write a NumPy file, which appears only when it is complete."""
    with _output_files.atomic_output(path) as file:
        file.write(header_of(array.dtype.str, array.shape))
        file.writelines(pieces_of(array))


def header_of(dtype: str, shape: tuple[int, ...]) -> bytes:
    """Return the header of a NumPy file."""
    header = io.BytesIO()
    of = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, of)
    return header.getvalue()


def lasting_header(dtype: npt.DTypeLike, shape: tuple[int, ...]) -> bytes:
    """Return the header of a NumPy file, with the same length for every number of rows, so that it
    can be rewritten when this number is known."""
    about = {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False, "shape": shape}
    text = repr(about).encode().ljust(_LASTING_BYTES - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def pieces_of(array: Array) -> Iterator[memoryview]:
    """Yield the content of an array, in pieces to be written by one call each."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for start in range(0, len(data), _WRITTEN_BYTES):
        yield data[start : start + _WRITTEN_BYTES].data


def dimensions_of(path: str) -> int:
    """Return the number of dimensions of the array in a file, or 0 if it cannot be read."""
    with open_regular(path) as file:
        header = read_header(file)
    return 0 if header is None else len(header[0])


def read_csr(path: str) -> Any:
    """Read a CSR matrix that ``scipy.sparse.save_npz`` wrote without compression.

    Raise a ValueError if an array is compressed, or has another kind than SciPy writes. Sizes of
    arrays are checked against the file size before memory is allocated. Indices are not checked.
    """
    with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
        size = os.fstat(file.fileno()).st_size

        def read(name: str, kind: ArrayKind) -> Array:
            _check_stored(archive, name, size)
            return np.concatenate(list(read_member(archive, name, kind)))

        if read_string(archive, "format", 8) != b"csr":
            raise ValueError("it is not a CSR matrix")
        n_rows, n_columns = read("shape", ArrayKind("integers", (2,))).tolist()
        if min(n_rows, n_columns) < 0:
            raise ValueError(f"expected a shape of at least 0; found ({n_rows}, {n_columns})")
        indptr = read("indptr", ArrayKind("integers", (n_rows + 1,)))
        values = read("data", ArrayKind(None))
        indices = read("indices", ArrayKind("integers", values.shape))
    return sp.csr_array((values, indices, indptr), shape=(n_rows, n_columns))


def _check_stored(archive: zipfile.ZipFile, name: str, size: int) -> None:
    """Raise if an array in an archive of `size` bytes is compressed, or claims to be longer."""
    for about in archive.infolist():
        if about.filename == f"{name}.npy":
            if about.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{name} is compressed; expected arrays without compression")
            if about.file_size > size:
                raise ValueError(
                    f"{name} is damaged: expected at most {size} bytes; found {about.file_size}"
                )


def read_member(archive: zipfile.ZipFile, name: str, kind: ArrayKind) -> Iterator[Array]:
    """Yield the one-dimensional array `name` of an archive, in blocks of bounded size. Raise a
    ValueError if it is missing or has another kind."""
    try:
        about = archive.getinfo(f"{name}.npy")
    except KeyError:
        raise ValueError(f"it has no array {name!r}") from None
    with archive.open(about) as file:
        (n,), dtype = _checked_header(file, name, about.file_size, kind)
        if n == 0:
            yield np.empty(0, dtype)
        for start in range(0, n, _STEP):
            n_bytes = min(_STEP, n - start) * dtype.itemsize
            content = file.read(n_bytes)
            if len(content) != n_bytes:
                raise ValueError(f"{name} is damaged: it ends early")
            array = np.frombuffer(content, dtype)
            _check_range(name, array, kind)
            yield array


def read_string(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return the first `most` bytes of an array of one string, without trailing zeros, or empty
    bytes if there is none."""
    if f"{name}.npy" not in archive.namelist():
        return b""
    with archive.open(f"{name}.npy") as file:
        header = read_header(file)
        if header is None or header[0] or header[2].kind != "S":
            return b""
        return file.read(most).rstrip(b"\0")


def _checked_header(
    file: IO[bytes], name: str, size: int, kind: ArrayKind
) -> tuple[tuple[int, ...], Any]:
    """Return the shape and the dtype of a file of this size, and leave the file after its header.
    Raise a ValueError if the array has another kind."""
    found = read_header(file)
    if found is None or not _is_of(found, kind):
        raise ValueError(f"{name} is damaged: expected {_words(kind)}; found {_found(found)}")
    shape, _, dtype = found
    expected = file.tell() + math.prod(shape) * dtype.itemsize
    if size != expected:
        raise ValueError(f"{name} is damaged: expected {expected} bytes; found {size}")
    if max(shape, default=0) > size:  # if another length is 0
        raise ValueError(f"{name} is damaged: expected at most {size} rows; found {max(shape)}")
    return shape, dtype


_parsing = threading.Lock()
"""NumPy parses headers with `ast`. Python 3.11 may raise a SystemError if several threads do this
at the same time."""


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, Any] | None:
    """Return the shape, whether the order is Fortran's, and the dtype of a file, and leave the file
    after its header. Return None if it has no header of version 1."""
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            return None
        with _parsing:
            header = np.lib.format.read_array_header_1_0(file, max_header_size=MAX_HEADER_BYTES)
    except _UNSOUND:
        return None
    if not all(type(n) is int and n >= 0 for n in header[0]):
        return None
    return header


def _is_of(header: tuple[tuple[int, ...], bool, Any], kind: ArrayKind) -> bool:
    shape, is_fortran, dtype = header
    several = _KINDS.get(kind.dtype)
    is_typed = dtype == kind.dtype if several is None else dtype.kind in several[0]
    is_shaped = len(shape) == len(kind.shape) and all(
        wanted is None or n == wanted for n, wanted in zip(shape, kind.shape, strict=True)
    )
    return is_typed and is_shaped and not is_fortran


def _check_range(path: str, array: Array, kind: ArrayKind) -> None:
    if kind.most is None:
        return
    rows, most = ([array], [kind.most]) if isinstance(kind.most, int) else (array, kind.most)
    for row, largest in zip(rows, most, strict=True):
        numbers = row.reshape(-1).view(np.uint32) if kind.halves else row.reshape(-1)
        for start in range(0, len(numbers), _STEP):
            some = numbers[start : start + _STEP]
            if not 0 <= some.min() <= some.max() <= largest:
                raise ValueError(
                    f"{path} is damaged: expected numbers from 0 to {largest}; found "
                    f"{some.min()} to {some.max()}"
                )


def _words(kind: ArrayKind) -> str:
    lengths = ", ".join("any" if n is None else str(n) for n in kind.shape)
    several = _KINDS.get(kind.dtype)
    dtype = np.dtype(kind.dtype) if several is None else several[1]
    if kind.shape == (None,):
        return f"{dtype} in one dimension"
    return f"{dtype} of shape ({lengths})"


def _found(header: tuple[tuple[int, ...], bool, Any] | None) -> str:
    if header is None:
        return "no NumPy file of version 1"
    shape, is_fortran, dtype = header
    return f"{dtype} of shape {shape}" + (" in Fortran's order" if is_fortran else "")
