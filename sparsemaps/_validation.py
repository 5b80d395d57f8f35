"""The one door for parameters and data: one clear error here, or the kernels may trust.

Errors name the parameter, or the row, with the value found and what is allowed.
"""

import math
import numbers
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


def check_sparse_container(X):
    """Refuse a sparse container whose index arrays would break its conversion to CSR."""
    if X.format in ("csc", "bsr"):
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"X is not a sound {X.format.upper()} matrix: {error}") from None
    elif X.format == "coo":
        for axis, coordinates in enumerate(X.coords):
            if coordinates.size and not (
                coordinates.min() >= 0 and coordinates.max() < X.shape[axis]
            ):
                raise ValueError(
                    f"X is not a sound COO matrix: a coordinate along axis {axis} is outside "
                    f"0 to {X.shape[axis] - 1}"
                )


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

    `indptr` (int64) delimits the block's rows within `values` and `indices`, from anywhere on.
    """

    values: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    def rows(self, first, last):
        """Some of the block's rows, as a block."""
        return self._replace(indptr=self.indptr[first : last + 1])


class Rows:
    """A matrix opened for reading by blocks of rows.

    Parameters
    ----------
    X : CSR or ndarray of shape (n_rows, n_columns), float32 or float64
    nonnegative : str or None
        Where values must be >= 0, the sentence that tells a user how to go on.
    first_row : int
        What errors call the first row.
    """

    def __init__(self, X, nonnegative=None, first_row=0):
        self._nonnegative = nonnegative
        self._first_row = first_row
        self.n_rows, self.n_columns = X.shape
        self.dtype = X.dtype
        self._dense = None
        if sp.issparse(X):
            self._open_csr(X)
        else:
            self._dense = X

    def _open_csr(self, X):
        self._values, self._indices, self._indptr = map(native, (X.data, X.indices, X.indptr))
        n_stored = min(len(self._values), len(self._indices))
        if len(self._indptr) != self.n_rows + 1:
            raise ValueError(
                f"X.indptr must have {self.n_rows + 1} entries for {self.n_rows} rows, "
                f"got {len(self._indptr)}"
            )
        wrong = _rows.check_indptr(self._indptr, n_stored)
        if wrong >= 0:
            raise ValueError(
                f"X.indptr must start at 0, never fall, and stay within the {n_stored} stored "
                f"entries; entry {wrong} is {self._indptr[wrong]}"
                + (f" after {self._indptr[wrong - 1]}" if wrong else "")
            )

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
            indptr = self._indptr[start : stop + 1].astype(np.int64)
            block = Block(self._values, self._indices, indptr)
        found = _rows.check_rows(*block, self.n_columns)
        if found & _rows.OUT_OF_RANGE:
            self._fail_out_of_range(block, start)
        if found & _rows.NOT_CANONICAL:
            block = self._canonical(block)
            found = _rows.check_rows(*block, self.n_columns)
        if found & _rows.NOT_FINITE:
            self._fail_not_finite(block, start)
        if found & _rows.NEGATIVE and self._nonnegative is not None:
            self._fail_negative(block, start)
        return block

    def _canonical(self, block):
        """A copy of the block with ascending columns and duplicates summed."""
        first, last = block.indptr[0], block.indptr[-1]
        copy = sp.csr_array(
            (
                block.values[first:last].copy(),
                block.indices[first:last].copy(),
                (block.indptr - first).astype(block.indices.dtype),
            ),
            shape=(len(block.indptr) - 1, self.n_columns),
        )
        copy.sum_duplicates()
        return Block(copy.data, native(copy.indices), copy.indptr.astype(np.int64))

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
    return Block(values[: indptr[-1]], columns[: indptr[-1]], indptr)
