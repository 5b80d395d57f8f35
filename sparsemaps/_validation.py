"""The one door for parameters and data: one clear error here, or the kernels may trust.

Errors name the parameter, or the row, with the value found and what is allowed.
"""

import itertools
import math
import numbers
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._kernels import rows as _rows

LARGEST_INT32 = 2**31 - 1


def check_int(name, value, low, high):
    """`value` as an int in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be an integer from {low} to {high}, got {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be from {low} to {high}, got {value}")
    return int(value)


def check_real(name, value, low, *, open_low=False):
    """`value` as a finite float, at least `low`, or above it if `open_low`."""
    allowed = f"a finite number {'above' if open_low else 'of at least'} {low}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    if not math.isfinite(value) or value < low or (open_low and value == low):
        raise ValueError(f"{name} must be {allowed}, got {value}")
    return float(value)


def check_bool(name, value):
    """`value` as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_choice(name, value, choices):
    """`value`, one of the strings `choices`."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return value


class Csr(NamedTuple):
    """The arrays of a CSR matrix, with an `indptr` (int64) that nobody else holds.

    `indptr` is sound: it starts at 0, never falls, and stays within `values` and `indices`. Columns
    in `indices` are known to be sound only where a function says so.
    """

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]


def sound_csr(X, name="X"):
    """A sparse matrix of any format as sound CSR arrays, all columns within the width.

    Values keep their type. Neither SciPy nor scikit-learn sees the arrays of `X` before they have
    been checked, as their compiled code trusts index arrays and would read and write anywhere.
    """
    csr = _open_sparse(X, name)
    _check_indices(csr.indices[: csr.indptr[-1]], csr.shape[1], csr.indptr, name)
    return csr


def sound_matrix(X, name="X"):
    """A sparse matrix as a sound ``csr_array``, for functions of SciPy and scikit-learn; what is
    not sparse, as it is."""
    if not sp.issparse(X):
        return X
    values, indices, indptr, shape = sound_csr(X, name)
    return sp.csr_array((values, indices, indptr), shape=shape)


def _open_sparse(X, name):
    """`X` as CSR arrays with a sound `indptr`; the columns of CSR input are not checked yet."""
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got a sparse array of {X.ndim}")
    try:
        convert = _TO_CSR[X.format]
    except KeyError:
        raise ValueError(f"{name} has the unknown sparse format {X.format!r}") from None
    try:
        return convert(X, name)
    except (AttributeError, IndexError, TypeError) as error:
        kind = X.format.upper()
        raise ValueError(f"{name} is not a sound {kind} matrix: {error}") from error


def _open_csr(X, name):
    n_rows, n_columns = X.shape
    values, indices, indptr = _checked_compressed(X, name, n_rows)
    if values.dtype.kind == "u":  # the largest would become negative numbers
        values = np.ascontiguousarray(values, values.dtype.newbyteorder("="))
    else:
        values = native(values)
    return Csr(values, native(indices), indptr, (n_rows, n_columns))


def _open_csc(X, name):
    n_rows, n_columns = X.shape
    values, indices, indptr = _checked_compressed(X, name, n_columns)
    indices = _private(indices, f"CSC matrix {name}", n_rows)
    sound = sp.csc_array((_convertible(values), indices, indptr), shape=X.shape)
    return _open_csr(sound.tocsr(), name)


def _open_bsr(X, name):
    (n_rows, n_columns), (height, width) = X.shape, X.data.shape[1:]
    if height < 1 or width < 1 or n_rows % height or n_columns % width:
        raise ValueError(
            f"{name} is not a sound BSR matrix: its shape {X.shape} is not a multiple of its "
            f"blocks' {X.data.shape[1:]}"
        )
    values, indices, indptr = _checked_compressed(X, name, n_rows // height, ndim=3)
    indices = _private(indices, f"BSR matrix {name}", n_columns // width)
    sound = sp.bsr_array((_convertible(values), indices, indptr), shape=X.shape)
    return _open_csr(sound.tocsr(), name)


def _open_coo(X, name):
    values, coordinates = np.asarray(X.data), X.coords
    coordinates = [
        _private(_index_array(axis, f"{name}.coords"), f"COO matrix {name}", length)
        for axis, length in zip(coordinates, X.shape, strict=True)
    ]
    if values.ndim != 1 or any(len(axis) != len(values) for axis in coordinates):
        raise ValueError(f"{name} is not a sound COO matrix: its arrays differ in length")
    sound = sp.coo_array((_convertible(values), tuple(coordinates)), shape=X.shape)
    return _open_csr(sound.tocsr(), name)


def _open_dia(X, name):
    values, offsets = np.asarray(X.data), _index_array(X.offsets, f"{name}.offsets").copy()
    n_rows, n_columns = X.shape
    if values.ndim != 2 or len(offsets) != len(values):
        raise ValueError(
            f"{name} is not a sound DIA matrix: one offset belongs to each row of data"
        )
    if len(offsets) and not (-n_rows <= offsets.min() and offsets.max() <= n_columns):
        raise ValueError(
            f"{name} is not a sound DIA matrix: its offsets must be from {-n_rows} to {n_columns}"
        )
    sound = sp.dia_array((_convertible(values), offsets), shape=X.shape)
    return _open_csr(sound.tocsr(), name)


def _open_lil(X, name):
    n_rows = X.shape[0]
    lengths = [len(columns) for columns in X.rows]
    if len(lengths) != n_rows or lengths != [len(values) for values in X.data]:
        raise ValueError(f"{name} is not a sound LIL matrix: its lists differ in length")
    sound = SimpleNamespace(
        data=np.array(list(itertools.chain.from_iterable(X.data)), X.dtype),
        indices=np.array(list(itertools.chain.from_iterable(X.rows)), np.int64),
        indptr=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        shape=X.shape,
        format="lil",
    )
    return _open_csr(sound, name)


_TO_CSR = {
    "csr": _open_csr,
    "csc": _open_csc,
    "bsr": _open_bsr,
    "coo": _open_coo,
    "dia": _open_dia,
    "lil": _open_lil,
    "dok": lambda X, name: _open_coo(X.tocoo(), name),
}


def _checked_compressed(X, name, n_slices, ndim=1):
    """The arrays of a compressed format: values, indices, and a private, sound indptr.

    `n_slices` is the number of rows (of columns for CSC, of rows of blocks for BSR).
    """
    values, indices = np.asarray(X.data), _index_array(X.indices, f"{name}.indices")
    # Copied first and checked then: nobody can change it after the check.
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
            f"{name}.indptr must start at 0, never fall, and stay within the {len(values)} stored "
            f"entries; entry {wrong} is {indptr[wrong]}"
            + (f" after {indptr[wrong - 1]}" if wrong else "")
        )
    return values, indices, indptr


def _index_array(array, name):
    array = np.asarray(array)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a one-dimensional array of integers, got {array.ndim} dimensions of "
            f"{array.dtype}"
        )
    return array


def _private(indices, name, length):
    """A copy of `indices` (int64), all of which are from 0 to `length` - 1."""
    indices = indices.astype(np.int64)
    _check_indices(indices, length, None, name)
    return indices


def _check_indices(indices, length, indptr, name):
    """Raise an error that names the first index outside of 0 to `length` - 1, and its row."""
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


def _convertible(values):
    """`values` of a type that SciPy's conversions take."""
    return values if values.dtype.kind in "biu" else as_float(values)


def as_float(values):
    """`values` as float32 if that is what they are, otherwise as float64."""
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has values of {values.dtype}")
    dtype = np.float32 if values.dtype.newbyteorder("=") == np.float32 else np.float64
    return values.astype(dtype, copy=False)


def open_rows(X, nonnegative=None, first_row=0):
    """A sparse matrix of any format and type as `Rows` of float32 or float64."""
    csr = _open_sparse(X, "X")
    if csr.values.dtype.kind in "biu":
        # Duplicates of these types are summed in them, as everywhere in SciPy.
        csr = _sum_duplicates(csr)
    return Rows(csr._replace(values=native(as_float(csr.values))), nonnegative, first_row)


def _sum_duplicates(csr):
    """A private copy with ascending columns and without duplicates."""
    n_stored = csr.indptr[-1]
    values, indices = csr.values[:n_stored].copy(), csr.indices[:n_stored].copy()
    _check_indices(indices, csr.shape[1], csr.indptr, "X")
    copy = sp.csr_array((values, indices, csr.indptr), shape=csr.shape)
    copy.sum_duplicates()
    return Csr(copy.data, native(copy.indices), copy.indptr.astype(np.int64), csr.shape)


def index_type(largest):
    """The type of a CSR matrix' indices that are at most `largest`."""
    return np.int32 if largest <= LARGEST_INT32 else np.int64


class EntryError(ValueError):
    """An entry that is not allowed: where it is, what was found, and the rule it breaks.

    Whoever knows the entry by another name, such as a line of a file, says so with these.
    """

    def __init__(self, message, row, column, found, rule):
        super().__init__(message)
        self.row, self.column, self.found, self.rule = row, column, found, rule


class Block(NamedTuple):
    """Some consecutive rows as canonical CSR arrays that have passed all checks.

    `indptr` (int64) delimits the block's rows within `values` and `indices`, from anywhere on, and
    is private. `indices` may belong to the caller, and change at any time: kernels hash what they
    read there, and use none as a position that they have not bounded after they read it.
    """

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    @classmethod
    def of(cls, values, indices, indptr):
        """A block whose arrays are not empty, as kernels take the address of their first entry."""
        if not len(values):
            values, indices = np.zeros(1, values.dtype), np.zeros(1, indices.dtype)
        return cls(values, indices, indptr)

    def rows(self, first, last):
        """Some of the block's rows, as a block."""
        return self._replace(indptr=self.indptr[first : last + 1])


class Rows:
    """A matrix that is read by blocks of rows, each checked when it is read.

    Parameters
    ----------
    X : Csr or ndarray of shape (n_rows, n_columns), float32 or float64
    nonnegative : str or None
        Where values must be >= 0, the sentence that tells a user how to go on.
    first_row : int
        What errors call the first row.
    """

    def __init__(self, X, nonnegative=None, first_row=0):
        self._nonnegative = nonnegative
        self._first_row = first_row
        self.n_rows, self.n_columns = X.shape
        self._dense = None
        if isinstance(X, Csr):
            self._values, self._indices, self._indptr, _ = X
            self.dtype = self._values.dtype
        else:
            self._dense = X
            self.dtype = X.dtype

    def work_before(self, row):
        """Entries to look at in the rows above `row`; a row itself counts as a few."""
        if self._dense is not None:
            return row * (self.n_columns + 8)
        return int(self._indptr[row]) + 8 * row

    def lengths(self, start, stop):
        """How many entries each row of a block has, or has at most."""
        if self._dense is not None:
            return np.count_nonzero(self._dense[start:stop], axis=1)
        return np.diff(self._indptr[start : stop + 1])

    def block(self, start, stop):
        """Rows `start` to `stop` (exclusive), checked."""
        if self._dense is not None:
            block = _dense_block(self._dense[start:stop])
        else:
            block = Block.of(self._values, self._indices, self._indptr[start : stop + 1])
        found = self._check(block, start)
        if found & _rows.NOT_CANONICAL:
            # The check of the copy holds whatever happens to the original meanwhile.
            block = self._copy(block)
            self._check(block, start)
            block = self._canonical(block)
            found = self._check(block, start)
        if found & _rows.NOT_FINITE:
            self._fail_not_finite(block, start)
        if found & _rows.NEGATIVE and self._nonnegative is not None:
            self._fail_negative(block, start)
        return block

    def _check(self, block, start):
        """What the kernel finds in the block; columns that are out of range are an error."""
        # Negative indices are the largest unsigned numbers of their type.
        limit = min(self.n_columns, np.iinfo(block.indices.dtype).max + 1)
        found = _rows.check_rows(*block, limit)
        if found & _rows.OUT_OF_RANGE:
            self._fail_out_of_range(block, start)
        return found

    @staticmethod
    def _copy(block):
        first, last = block.indptr[0], block.indptr[-1]
        values, indices = block.values[first:last].copy(), block.indices[first:last].copy()
        return Block.of(values, indices, block.indptr - first)

    def _canonical(self, block):
        """A private block with ascending columns and duplicates summed."""
        indptr = block.indptr.astype(block.indices.dtype)
        copy = sp.csr_array(
            (block.values, block.indices, indptr), shape=(len(indptr) - 1, self.n_columns)
        )
        copy.sum_duplicates()
        return Block.of(copy.data, native(copy.indices), copy.indptr.astype(np.int64))

    def _fail_out_of_range(self, block, start):
        row, column, _ = self._place(
            block, start, lambda _, index: (index < 0) | (index >= self.n_columns)
        )
        rule = f"allowed are columns 0 to {self.n_columns - 1}"
        message = f"X has row {row}, column {column}; {rule}"
        raise EntryError(message, row, column, f"column {column}", rule)

    def _fail_not_finite(self, block, start):
        row, column, value = self._place(block, start, lambda value, _: ~np.isfinite(value))
        found = "NaN" if np.isnan(value) else "infinity"
        rule = "all values must be finite"
        message = f"X contains {found} in row {row}, column {column}; {rule}"
        raise EntryError(message, row, column, f"the value is {found}", rule)

    def _fail_negative(self, block, start):
        row, column, value = self._place(block, start, lambda value, _: value < 0)
        rule = self._nonnegative
        message = f"Negative values in data: X has {value} in row {row}, column {column}; {rule}"
        raise EntryError(message, row, column, f"the value {value:g} is negative", rule)

    def _place(self, block, start, is_wrong):
        """Row and column of the first entry with ``is_wrong(values, columns)``, and its value."""
        first, last = block.indptr[0], block.indptr[-1]
        wrong = is_wrong(block.values[first:last], block.indices[first:last])
        position = first + int(np.argmax(wrong))
        row = int(np.searchsorted(block.indptr, position, side="right")) - 1
        row += self._first_row + start
        return row, int(block.indices[position]), block.values[position]


def native(array):
    """`array` contiguous, of native byte order, and of int32 or int64 if it holds integers."""
    dtype = array.dtype
    if dtype.kind in "iu":
        dtype = np.int32 if np.can_cast(dtype, np.int32) else np.int64
    return np.ascontiguousarray(array, dtype=np.dtype(dtype).newbyteorder("="))


def _dense_block(X):
    X = native(X)
    values = np.empty(X.size + _rows.SLACK, X.dtype)
    columns = np.empty(X.size + _rows.SLACK, np.int32)
    indptr = np.empty(len(X) + 1, np.int64)
    _rows.compress(X, values, columns, indptr)
    return Block.of(values[: indptr[-1]], columns[: indptr[-1]], indptr)
