"""Sparse matrices of any format as valid CSR arrays.

Errors name the row, its value, and the rule.
"""

import copy
import functools
import itertools
import operator
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._loops import rows as _rows
from sparsemaps._tools._checks import LARGEST_INT, LARGEST_INT32
from sparsemaps._tools._typing import Array


class Csr(NamedTuple):
    """The arrays of a CSR matrix, with a private `indptr` (int64).

    `indptr` is valid: it starts at 0, never decreases, and stays within `values` and `indices`.
    Columns in `indices` are valid only if a function guarantees it.
    """

    values: Array
    indices: Array
    indptr: Array
    shape: tuple[int, int]


def sound_csr(X: object, name: str = "X") -> Csr:
    """Return a sparse matrix of any format as valid CSR arrays, with all columns within the width.

    Values keep their type. `indices` and `indptr` are copies.
    """
    return with_sound_indices(open_sparse(X, name), name)


def with_sound_indices(csr: Csr, name: str) -> Csr:
    """Return `csr` with a copy of its `indices`, all within the width.

    The compiled code of SciPy and scikit-learn does not check index arrays, and another thread may
    change the caller's arrays at any time. The copy is therefore made first, and then checked.
    """
    indices = csr.indices[: csr.indptr[-1]].copy()
    check_indices(indices, csr.shape[1], csr.indptr, name)
    return csr._replace(values=csr.values[: csr.indptr[-1]], indices=indices)


def sound_matrix(X: object, name: str = "X") -> Any:
    """Return a sparse matrix as a ``csr_array`` with which SciPy and scikit-learn can safely
    compute.

    The index arrays of `X` are copied and checked. `X` is returned unchanged if it is not sparse.
    """
    if not sp.issparse(X):
        return X
    values, indices, indptr, shape = sound_csr(X, name)
    if indptr[-1] <= np.iinfo(indices.dtype).max:  # SciPy would copy indices of another type
        indptr = indptr.astype(indices.dtype)
    return sp.csr_array((values, indices, indptr), shape=shape)


def csr_of(container: Any, arrays: tuple[Array, Array, Array], shape: tuple[int, int]) -> Any:
    """Return a CSR matrix of valid values, indices and indptr, of the type that SciPy would return.

    SciPy checks the arrays passed to it, which takes as long as mapping a row. The matrix is
    therefore created without entries and gets its arrays afterwards.
    """
    if arrays[1].dtype != np.int32 or max(shape) > LARGEST_INT32:
        return container(arrays, shape=shape)
    made = copy.copy(_without_entries(container, shape))
    made.data, made.indices, made.indptr = arrays
    return made


@functools.lru_cache(16)
def _without_entries(container: Any, shape: tuple[int, int]) -> Any:
    return container(shape)


def own_rows(X: object) -> Any:
    """Return a matrix of any kind as a valid ``csr_array`` that shares no memory with it."""
    return sp.csr_array(sound_matrix(X), copy=True)


def used_columns(Z: Any) -> Any:
    """Return sparse rows without unused columns, because products take memory for each column."""
    if not sp.issparse(Z):
        return Z
    used, indices = np.unique(Z.indices, return_inverse=True)
    return sp.csr_array((Z.data, indices, Z.indptr), shape=(Z.shape[0], max(1, len(used))))


def open_sparse(X: Any, name: str) -> Csr:
    """Return `X` as CSR arrays with a valid `indptr`. The columns of CSR input are not yet
    checked."""
    shape = _checked_shape(X, name)
    kind = X.format
    if not isinstance(kind, str) or kind not in _TO_CSR:
        raise ValueError(f"{name} has the unknown sparse format {kind!r}")
    try:
        return _open_csr(_TO_CSR[kind](X, name, shape), name, shape)
    except _HOSTILE as error:
        raise ValueError(f"{name} is not a valid {kind.upper()} matrix: {error}") from error


def _checked_shape(X: Any, name: str) -> tuple[int, int]:
    """Return the shape of a sparse matrix. Users can set it to anything, so it is checked."""
    shape = X.shape
    if not isinstance(shape, tuple) or not all(isinstance(n, (int, np.integer)) for n in shape):
        raise ValueError(f"the shape of {name} must be a tuple of two integers, got {shape!r}")
    if len(shape) != 2 or X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got a sparse array of {X.ndim}")
    n_rows, n_columns = map(int, shape)
    if not 0 <= min(n_rows, n_columns) <= max(n_rows, n_columns) <= LARGEST_INT:
        raise ValueError(f"the shape of {name} must be from 0 to 2**63 - 1, got {shape}")
    return n_rows, n_columns


_HOSTILE = (AttributeError, IndexError, OverflowError, RuntimeError, TypeError)
"""Errors of NumPy and Python for arrays, lists and dictionaries that do not form a matrix. The
functions here raise TypeErrors that state the reason."""


def _open_csr(X: object, name: str, shape: tuple[int, int]) -> Csr:
    values, indices, indptr = _checked_compressed(X, name, shape[0])
    if values.dtype.kind == "u":  # large values would become negative
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    else:
        values = native(values)
    return Csr(values, native(indices), indptr, shape)


def _csr_of_csc(X: object, name: str, shape: tuple[int, int]) -> Any:
    values, indices, indptr = _checked_compressed(X, name, shape[1])
    indices = _private(indices, f"CSC matrix {name}", shape[0])
    return sp.csc_array((_convertible(values), indices, indptr), shape=shape).tocsr()


def _csr_of_bsr(X: Any, name: str, shape: tuple[int, int]) -> Any:
    (n_rows, n_columns), (height, width) = shape, X.data.shape[1:]
    if height < 1 or width < 1 or n_rows % height or n_columns % width:
        raise TypeError(f"its shape {shape} is not a multiple of its blocks' {(height, width)}")
    values, indices, indptr = _checked_compressed(X, name, n_rows // height, ndim=3)
    indices = _private(indices, f"BSR matrix {name}", n_columns // width)
    return sp.bsr_array((_convertible(values), indices, indptr), shape=shape).tocsr()


def _csr_of_dia(X: Any, name: str, shape: tuple[int, int]) -> Any:
    values, offsets = np.asarray(X.data), _index_array(X.offsets, f"{name}.offsets").copy()
    if values.ndim != 2 or len(offsets) != len(values):
        raise TypeError("it must have one offset for each row of data")
    if len(offsets) and not (-shape[0] <= offsets.min() and offsets.max() <= shape[1]):
        raise TypeError(f"its offsets must be from {-shape[0]} to {shape[1]}")
    return sp.dia_array((_convertible(values), offsets), shape=shape).tocsr()


def _csr_of_lil(X: Any, name: str, shape: tuple[int, int]) -> Any:
    lengths = [len(columns) for columns in X.rows]
    if lengths != [len(values) for values in X.data]:
        raise TypeError("its lists differ in length")
    return SimpleNamespace(
        data=np.array(list(itertools.chain.from_iterable(X.data)), X.dtype),
        indices=_integers(itertools.chain.from_iterable(X.rows)),
        indptr=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        format="lil",
    )


def _csr_of_dok(X: Any, name: str, shape: tuple[int, int]) -> Any:
    coordinates = _integers(itertools.chain.from_iterable(X.keys()))
    values = np.fromiter(X.values(), X.dtype)
    if len(coordinates) != 2 * len(values):
        raise TypeError("its keys must be pairs of a row and a column")
    return _of_entries("DOK", values, (coordinates[::2], coordinates[1::2]), name, shape)


def _integers(items: Iterable[Any]) -> Array:
    """Return Python integers as int64. Raise for items of other types."""
    return np.fromiter(map(operator.index, items), np.int64)


def _of_entries(kind: str, values: Array, places: Any, name: str, shape: tuple[int, int]) -> Any:
    """Return a CSR matrix of values at (rows, columns). The positions are copied and checked."""
    if len(places) != 2:
        raise TypeError(f"it has {len(places)} axes")
    sound_places = tuple(
        _private(_index_array(axis, f"{name}.coords"), f"{kind} matrix {name}", length)
        for axis, length in zip(places, shape, strict=True)
    )
    if values.ndim != 1 or any(len(axis) != len(values) for axis in sound_places):
        raise TypeError("its arrays differ in length")
    return sp.coo_array((_convertible(values), sound_places), shape=shape).tocsr()


_TO_CSR: dict[str, Callable[[Any, str, tuple[int, int]], Any]] = {
    "csr": lambda X, *of: X,
    "csc": _csr_of_csc,
    "bsr": _csr_of_bsr,
    "coo": lambda X, *of: _of_entries("COO", np.asarray(X.data), X.coords, *of),
    "dia": _csr_of_dia,
    "lil": _csr_of_lil,
    "dok": _csr_of_dok,
}


def _checked_compressed(
    X: Any, name: str, n_slices: int, ndim: int = 1
) -> tuple[Array, Array, Array]:
    """Return the arrays of a compressed format: values, indices, and a private, valid indptr.

    `n_slices` is the number of rows (CSC: columns; BSR: rows of blocks).
    """
    values, indices = np.asarray(X.data), _index_array(X.indices, f"{name}.indices")
    # Copy before the check, so that no other thread can change it afterwards.
    indptr = _index_array(X.indptr, f"{name}.indptr").astype(np.int64)
    if values.ndim != ndim or len(values) != len(indices):
        raise ValueError(
            f"{name}.data and {name}.indices must have the same length, got shapes {values.shape} "
            f"and {indices.shape}"
        )
    if len(indptr) != n_slices + 1:
        slices = {"csc": "columns", "bsr": "rows of blocks"}.get(X.format, "rows")
        raise ValueError(
            f"{name}.indptr must have {n_slices + 1} entries for {n_slices} {slices}, "
            f"got {len(indptr)}"
        )
    wrong = _rows.check_indptr(indptr, len(values))
    if wrong >= 0:
        raise ValueError(
            f"{name}.indptr must start at 0, never decrease, and stay within the {len(values)} "
            f"stored entries; entry {wrong} is {indptr[wrong]}"
            + (f" after {indptr[wrong - 1]}" if wrong else "")
        )
    return values, indices, indptr


def _index_array(array: object, name: str) -> Array:
    array = np.asarray(array)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a one-dimensional array of integers, got {array.ndim} dimensions of "
            f"{array.dtype}"
        )
    return array


def _private(indices: Array, name: str, length: int) -> Array:
    """Return a copy of `indices` as int64, all from 0 to `length` - 1."""
    indices = np.array(indices, np.int64)
    check_indices(indices, length, None, name)
    return indices


def check_indices(indices: Array, length: int, indptr: Array | None, name: str) -> None:
    """Raise an error that names the first index outside 0 to `length` - 1, and its row."""
    if not len(indices) or (indices.min() >= 0 and indices.max() < length):
        return
    position = int(np.argmax((indices < 0) | (indices >= length)))
    if indptr is None:
        raise ValueError(
            f"{name} has the index {indices[position]} along an axis of length {length}; allowed "
            f"are 0 to {length - 1}"
        )
    row = int(np.searchsorted(indptr, position, side="right")) - 1
    raise ValueError(
        f"{name} has row {row}, column {indices[position]}; allowed are columns 0 to {length - 1}"
    )


def _convertible(values: Array) -> Array:
    """Return `values` in a type that SciPy can convert."""
    return values if values.dtype.kind in "biu" else as_float(values)


def as_float(values: Array) -> Array:
    """Return float32 values unchanged, and all others as float64."""
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has values of {values.dtype}")
    dtype = np.float32 if values.dtype.newbyteorder("=") == np.float32 else np.float64
    try:
        return values.astype(dtype, copy=False)
    except OverflowError as error:  # Python integers
        raise ValueError(f"X has a number beyond float64: {error}") from error


def index_type(largest: int) -> type[np.int32] | type[np.int64]:
    """Return the index type for a CSR matrix whose indices are at most `largest`."""
    return np.int32 if largest <= LARGEST_INT32 else np.int64


_NATIVE = frozenset(map(np.dtype, (np.float64, np.float32, np.int64, np.int32)))


def native(array: Array) -> Array:
    """Return `array` as contiguous, in native byte order, and as int32 or int64 if it has
    integers."""
    dtype = array.dtype
    if dtype in _NATIVE and array.flags.c_contiguous:
        return np.asarray(array)
    if dtype.kind in "iu":
        dtype = np.dtype(np.int32 if np.can_cast(dtype, np.int32) else np.int64)
    return np.ascontiguousarray(array, dtype=dtype.newbyteorder("="))
