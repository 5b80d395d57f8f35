"""Reading a matrix in blocks of rows. Each block is checked when it is read."""

import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._sparse import Csr, as_float, native, open_sparse, with_sound_indices
from sparsemaps._loops import rows as _rows
from sparsemaps._tools import _blocks, _sklearn, _threads
from sparsemaps._tools._checks import LARGEST_INT32
from sparsemaps._tools._typing import Array

FILL_MISSING = "; sklearn.impute.SimpleImputer fills in missing values"
"""Remedy in error messages about NaN."""

_EXPONENTS = {4: 127, 8: 1023}
"""Largest exponent of two, by the size of the type in bytes."""

ROW_WORK = 8
"""Fixed cost of a row, in units of the cost of an entry."""


class EntryError(ValueError):
    """Raised for a forbidden entry. It has the row and column, the value, and the allowed values.

    Callers that read a file raise another error instead, which also names the line.
    """

    def __init__(self, message: str, row: int, column: int, value: str, allowed: str) -> None:
        super().__init__(message, row, column, value, allowed)  # for pickle
        self.message = message
        self.row, self.column, self.value, self.allowed = row, column, value, allowed

    def __str__(self) -> str:
        return self.message


class _Arrays(NamedTuple):
    values: Array
    indices: Array
    indptr: Array


class Block(_Arrays):
    """Consecutive rows as canonical CSR arrays that have passed all checks. No value is 0.

    `indptr` (int64) delimits the block's rows within `values` and `indices`. It is private and need
    not start at 0. `indices` may belong to the caller and change at any time: kernels only hash the
    columns that they read, and never use a column as an array index unless they have bounded it
    after reading it.
    """

    first: int = 0
    """Number of the first row, for errors."""

    is_extreme: bool = False
    """Whether any value may be extreme (see `extreme_rows`)."""

    @classmethod
    def of(cls, values: Array, indices: Array, indptr: Array) -> "Block":
        """Return a block whose arrays are not empty, because kernels take the address of their
        first entry."""
        if not len(values):
            values, indices = np.zeros(1, values.dtype), np.zeros(1, indices.dtype)
        return cls(values, indices, indptr)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    def rows(self, first: int, last: int) -> "Block":
        """Return rows `first` to `last` (exclusive) of the block, as a block."""
        part = Block(self.values, self.indices, self.indptr[first : last + 1])
        part.first, part.is_extreme = self.first + first, self.is_extreme
        return part

    def powers_may_overflow(self, most_entries: dict[int, float]) -> bool:
        """Return whether powers of row sums may exceed the range of the values' type.
        `most_entries` has the largest safe number of entries for each item size."""
        n_entries = self.indptr.item(-1) - self.indptr.item(0)
        return self.is_extreme or n_entries > most_entries[self.values.itemsize]

    def extreme_rows(self) -> Array:
        """Return the numbers of the rows with a value whose products with random numbers may leave
        the range of its type. float32 rows with a value of 2^24 or more also count, because their
        sums may lose all digits."""
        if not self.is_extreme:
            return np.zeros(0, np.intp)
        tiny, large = _rows.EXTREMES[self.values.itemsize]
        start = self.indptr[0]
        sizes = abs(self.values[start : self.indptr[-1]])
        extreme = np.flatnonzero((sizes >= large) | (sizes < tiny)) + start
        return np.unique(np.searchsorted(self.indptr, extreme, side="right") - 1)

    def chosen(self, numbers: Array) -> "Block":
        """Return the rows with these numbers within the block, as float64."""
        starts = self.indptr[numbers]
        lengths = self.indptr[np.add(numbers, 1)] - starts
        indptr = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(lengths, out=indptr[1:])
        entries = _blocks.entries_of(starts, lengths)
        chosen = Block.of(self.values[entries].astype(float), self.indices[entries], indptr)
        chosen.is_extreme = self.is_extreme
        return chosen

    def error(self, number: int, rule: str, entry: int | None = None) -> EntryError:
        """Return an error about row `number` of the block. It names the entry at position `entry`
        in the arrays, or by default the row's largest entry."""
        if entry is None:
            here = slice(self.indptr[number], self.indptr[number + 1])
            entry = int(self.indptr[number]) + int(np.argmax(abs(self.values[here])))
        row, column, value = self.first + number, int(self.indices[entry]), self.values[entry]
        message = f"X has {value:g} in row {row}, column {column}; {rule}"
        return EntryError(message, row, column, f"the value is {value:g}", rule)

    def parts(self, row_bytes: int) -> Iterator[tuple["Block", slice]]:
        """Yield parts of the block and the slices of their rows, each small enough for 2 MB of
        scratch memory at `row_bytes` per row."""
        ranges = _blocks.cut_by_bytes(self.n_rows, row_bytes)
        if len(ranges) == 1:
            yield self, slice(None)
            return
        for first, last in ranges:
            yield self.rows(first, last), slice(first, last)


def most_entries(degree: int, factor: float, constant: float) -> dict[int, float]:
    """Return the number of entries that rows may have so that ``(factor * sum + constant) **
    degree``, where sum is the sum of a row's absolute values, stays in range if no value is
    extreme. The keys are item sizes. The bound is cheap to compute, and lower than necessary."""
    largest = {size: float(factor) * large for size, (_, large) in _rows.EXTREMES.items()}
    return {
        size: (2.0 ** (_EXPONENTS[size] / degree) - constant) / one if one else math.inf
        for size, one in largest.items()
    }


class RowReader:
    """Reader of a matrix of float32 or float64 in blocks of rows. It checks every entry.

    `nonnegative_rule` is the rule in the error about negative values, or None if they are allowed.
    `container` is the type of sparse output for this input, ``csr_array`` or ``csr_matrix``.
    `first` is the number of the first row, for errors.
    """

    name: str = "X"
    """Name of the matrix in error messages."""

    names: Any = None
    """Column names, for errors; None if there are none."""

    weights: Array | None = None
    """How often each row counts when parameters are computed from the rows; None counts each
    once."""

    def __init__(
        self,
        X: Csr | Array,
        nonnegative_rule: str | None = None,
        container: object = sp.csr_array,
        first: int = 0,
    ) -> None:
        self._nonnegative_rule = nonnegative_rule
        self.container = container
        self.first = first
        self.n_rows, self.n_columns = X.shape
        if isinstance(X, Csr):
            self._dense: Array | None = None
            self._values, self._indices, self._indptr, _ = X
            self.dtype = self._values.dtype
        else:
            self._dense = X
            self.dtype = X.dtype

    def work_before(self, row: int) -> int:
        """Return the number of entries above `row`, plus `ROW_WORK` per row."""
        if self._dense is not None:
            return row * (self.n_columns + ROW_WORK)
        return int(self._indptr.item(row)) + ROW_WORK * row

    def blocks(self, n_jobs: int | None) -> list[tuple[int, int]]:
        """Return the blocks (start, stop) in which `n_jobs` threads read the rows."""
        return _blocks.cut_rows(self.n_rows, self.work_before, _threads.resolve_n_jobs(n_jobs))

    @property
    def may_grow(self) -> bool:
        """Whether a row may have more entries when it is read than `lengths` returned.

        This holds for arrays, because another thread may change them. The `indptr` of sparse rows
        is private.
        """
        return self._dense is not None

    def lengths(self) -> Array:
        """Return the number of entries of each row, or an upper bound."""
        if self._dense is None:
            return np.asarray(self._indptr[1:] - self._indptr[:-1])
        lengths = np.empty(self.n_rows, np.int64)
        # NumPy copies the rows to bool before it counts them.
        for start, stop in _blocks.cut_by_bytes(self.n_rows, self.n_columns):
            lengths[start:stop] = np.count_nonzero(self._dense[start:stop], axis=1)
        return lengths

    def block(self, start: int, stop: int) -> Block:
        """Return rows `start` to `stop` (exclusive). Raise an `EntryError` that names the first
        forbidden entry."""
        if self._dense is not None:
            block = _dense_block(self._dense[start:stop])
        else:
            block = Block.of(self._values, self._indices, self._indptr[start : stop + 1])
        flags = self._check(block, start)
        if flags & _rows.NOT_CANONICAL:
            # Check the copy again: no other thread can change it.
            block = _canonical(block)
            flags = self._check(block, start)
        if flags & _rows.NOT_FINITE:
            self._fail_not_finite(block, start)
        if flags & _rows.NEGATIVE and self._nonnegative_rule is not None:
            self._fail_negative(block, start, self._nonnegative_rule)
        if flags & _rows.ZERO:
            block = _without_zeros(block)
        block.first, block.is_extreme = self.first + start, bool(flags & _rows.EXTREME)
        return block

    def _check(self, block: Block, start: int) -> int:
        """Check a block and return the kernel's flags. Raise if a column is out of range."""
        flags = _flags_of(block, self.n_columns)
        if flags & _rows.OUT_OF_RANGE:
            self._fail_out_of_range(block, start)
        return flags

    def _fail_out_of_range(self, block: Block, start: int) -> NoReturn:
        row, column, _ = _find(
            block, self.first + start, lambda _, index: (index < 0) | (index >= self.n_columns)
        )
        rule = f"allowed are columns 0 to {self.n_columns - 1}"
        message = f"{self.name} has row {row}, column {column}; {rule}"
        raise EntryError(message, row, column, f"column {column}", rule)

    def _fail_not_finite(self, block: Block, start: int) -> NoReturn:
        row, column, value = _find(block, self.first + start, lambda value, _: ~np.isfinite(value))
        kind = "NaN" if np.isnan(value) else "infinity"
        rule = "all values must be finite"
        cure = FILL_MISSING if kind == "NaN" else ""
        message = f"{self.name} contains {kind} in row {row}, {self._column(column)}; {rule}{cure}"
        raise EntryError(message, row, column, f"the value is {kind}", rule)

    def _fail_negative(self, block: Block, start: int, rule: str) -> NoReturn:
        row, column, value = _find(block, self.first + start, lambda value, _: value < 0)
        where = f"row {row}, {self._column(column)}"
        message = f"Negative values in data: {self.name} has {value} in {where}; {rule}"
        raise EntryError(message, row, column, f"the value {value:g} is negative", rule)

    def _column(self, column: int) -> str:
        """Return the words for a column in an error message: its number, and its name if any."""
        name = "" if self.names is None else f" ({self.names[column]!r})"
        return f"column {column}{name}"


class SetReader(RowReader):
    """Reader of sets: the columns of rows, in ascending order, as made by loops of this package.

    They are not checked. A block has no values.
    """

    def __init__(self, columns: Array, indptr: Array) -> None:
        csr = Csr(np.empty(0), columns, indptr, (len(indptr) - 1, 0))
        super().__init__(csr)

    def block(self, start: int, stop: int) -> Block:
        indices = self._indices if len(self._indices) else np.zeros(1, self._indices.dtype)
        return Block(self._values, indices, self._indptr[start : stop + 1])


@contextmanager
def conversion(X: object, name: str) -> Iterator[None]:
    """Check that `X` has numbers. Turn errors of its conversion into a TypeError or a ValueError
    that names the first value that is not a number."""
    _refuse_no_numbers(X, name)
    try:
        yield
    except MemoryError:
        raise
    except BaseException as error:  # polars' panics are not Exceptions
        if not is_error(error):
            raise
        if where := _first_no_number(X):
            raise TypeError(f"{name} must have numbers, got {where}: {error}") from error
        if isinstance(error, (TypeError, ValueError)):
            raise
        raise TypeError(f"{name} cannot be converted to numbers: {error}") from error


_ROWS_AT_ONCE = 2**10
"""Rows of a table that are converted to objects at a time."""


def _first_no_number(X: Any) -> str | None:
    """Describe the first value of a table or array that is not a number. Strings are skipped,
    because they raise an error of their own. Return None if all values are numbers or strings."""
    if len(getattr(X, "shape", ())) != 2 or sp.issparse(X):
        return None
    names = names_of(X)
    for start in range(0, X.shape[0], _ROWS_AT_ONCE):
        try:
            values = np.asarray(X[start : start + _ROWS_AT_ONCE], object)
        except BaseException as raised:
            if not is_error(raised):
                raise
            return None
        for row, column in np.ndindex(values.shape):
            value = values[row, column]
            if not isinstance(value, (str, bytes)) and float_of(value) is None:
                where = f"column {column if names is None else repr(names[column])}"
                return f"a value of type {type(value).__name__} in row {start + row}, {where}"
    return None


def float_of(value: object) -> float | None:
    """Return a value as NumPy converts it to float64: infinity if it is too large, NaN for None.
    Return None if NumPy cannot convert it."""
    one = np.empty(1, object)
    one[0] = value
    try:
        return float(one.astype(np.float64)[0])
    except OverflowError:
        return math.inf
    except (TypeError, ValueError):
        return None


def is_error(raised: BaseException) -> bool:
    """Return whether an exception is an error. Polars' panics are errors, but not Exceptions."""
    return isinstance(raised, Exception) or type(raised).__name__ == "PanicException"


def _refuse_no_numbers(X: object, name: str) -> None:
    """Raise an error for input that NumPy or scikit-learn would accept silently: masked values
    (NumPy uses the values under the mask), times, and repeated column names. Also raise for complex
    numbers, lists and structs, because NumPy's errors about these do not name the column."""
    if np.ma.is_masked(X):
        raise ValueError(f"{name} has masked values: fill them first, such as by {name}.filled(0)")
    if isinstance(X, np.ndarray):
        if X.dtype.kind in "mM":
            raise TypeError(f"{name} must have numbers, got {X.dtype}")
        if X.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {name} has {X.dtype}")
        return
    if _is_query(X):
        raise TypeError(f"{name} must have numbers, got a LazyFrame: its collect() makes a table")
    names = names_of(X)
    if names is not None and len(names) == 0:
        raise ValueError(f"{name} must have at least one column, got none")
    seen: set[Any] = set()
    for column, dtype in _types_of(X):
        if column in seen:
            raise ValueError(f"{name} must have columns of different names, got {column!r} twice")
        seen.add(column)
        if getattr(dtype, "kind", "") == "c":
            raise ValueError(f"Complex data not supported: {name} has {dtype} in column {column!r}")
        categories = getattr(getattr(dtype, "categories", None), "dtype", None)  # pandas
        if _is_no_number(dtype if categories is None else categories):
            found = dtype if categories is None else f"categories of {categories}"
            raise TypeError(f"{name} must have numbers, got {found} in column {column!r}")
    if hasattr(X, "sparse"):
        _refuse_other_sparse_columns(X, name)


def _refuse_other_sparse_columns(X: Any, name: str) -> None:
    """Raise an error for a pandas frame of only sparse columns that pandas cannot convert to a
    sparse matrix."""
    kinds: dict[bool, Any] = {}
    for column, dtype in _types_of(X):
        if dtype.subtype.kind not in "biuf":
            raise TypeError(f"{name} must have numbers, got {dtype} in column {column!r}")
        if dtype.fill_value != 0:
            rule = f"{name} must have sparse columns whose fill value is 0"
            raise ValueError(f"{rule}, got {dtype.fill_value} in column {column!r}")
        kinds.setdefault(dtype.subtype.kind == "b", column)
    if len(kinds) > 1:
        found = f"column {kinds[True]!r} has booleans, {kinds[False]!r} has numbers"
        rule = "must have sparse columns of numbers or of booleans, not of both"
        raise TypeError(f"{name} {rule}: {found}")


def _is_query(X: object) -> bool:
    """Return whether `X` is a lazy polars query."""
    return type(X).__name__ == "LazyFrame"


def names_of(X: object) -> Any:
    """Return the column names of a table, or None for other input and for a lazy query."""
    if _is_query(X):
        return None
    names = getattr(X, "column_names", None)  # Arrow, whose `columns` are arrays
    return getattr(X, "columns", None) if names is None else names


def _types_of(X: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the name and the type of each column of a table."""
    dtypes = getattr(X, "dtypes", None)  # pandas and polars
    if dtypes is None and hasattr(X, "column_names"):
        dtypes = getattr(getattr(X, "schema", None), "types", None)
    if dtypes is not None and (names := names_of(X)) is not None:
        yield from zip(names, dtypes, strict=False)


def _is_no_number(dtype: Any) -> bool:
    """Return whether a column type of pandas, polars or Arrow is a type of times, lists or
    structs."""
    dtype = getattr(dtype, "pyarrow_dtype", dtype)  # pandas
    if getattr(dtype, "kind", "") in ("m", "M") or getattr(dtype, "num_fields", None):
        return True
    tests = (getattr(dtype, test, None) for test in ("is_temporal", "is_nested"))  # polars
    if any(test() for test in tests if callable(test)):
        return True
    return type(dtype).__module__.partition(".")[0] == "pyarrow" and _is_other_of_arrow(dtype)


def _is_other_of_arrow(dtype: Any) -> bool:
    """Return whether an Arrow type is temporal, or an extension type such as UUID."""
    arrow = importlib.import_module("pyarrow")
    return bool(arrow.types.is_temporal(dtype) or isinstance(dtype, arrow.BaseExtensionType))


def open_matrix(
    X: Any, nonnegative_rule: str | None = None, *, name: str = "X", names: Any = None
) -> RowReader:
    """Return a reader of a sparse matrix of any format and type, or of an array of float32 or
    float64. `name` and `names` name the matrix and its columns in errors."""
    arrays = isinstance(X, sp.sparray) or _sklearn.sparse_arrays_asked()
    container = sp.csr_array if arrays else sp.csr_matrix
    if not sp.issparse(X):
        if X.shape[1] > LARGEST_INT32:  # columns of dense rows are stored as int32
            message = f"an array has at most {LARGEST_INT32} columns, got {X.shape[1]}"
            raise ValueError(f"{message}; pass a sparse matrix")
    else:
        X = open_sparse(X, "X")
        if X.values.dtype.kind in "biu":
            # Sum duplicate integers as integers, as SciPy does.
            X = _without_duplicates(X)
        X = X._replace(values=native(as_float(X.values)))
    rows = RowReader(X, nonnegative_rule, container)
    rows.name, rows.names = name, names
    return rows


def open_plain(X: Any) -> Csr | None:
    """Return the arrays of a CSR matrix of floats if it is canonical and finite. Return None for
    any other input."""
    if not (sp.issparse(X) and X.format == "csr"):
        return None
    csr = open_sparse(X, "X")
    if min(csr.shape) == 0 or csr.values.dtype not in (np.float32, np.float64):
        return None
    flags = _flags_of(Block.of(csr.values, csr.indices, csr.indptr), csr.shape[1])
    wrong = _rows.OUT_OF_RANGE | _rows.NOT_CANONICAL | _rows.NOT_FINITE
    return None if flags & wrong else csr


def _flags_of(block: Block, n_columns: int) -> int:
    """Return the flags that the kernel computes for a block."""
    # Read as unsigned integers, negative indices are at least 2^(bits - 1).
    limit = min(n_columns, 2 ** (8 * block.indices.itemsize - 1))
    return int(_rows.check_rows(*block, limit))


def _without_duplicates(csr: Csr) -> Csr:
    """Return a private copy with ascending columns and without duplicates."""
    values, indices, indptr, shape = with_sound_indices(csr, "X")
    copy = sp.csr_array((values.copy(), indices, indptr), shape=shape)
    copy.sum_duplicates()
    return Csr(copy.data, native(copy.indices), copy.indptr.astype(np.int64), csr.shape)


def _dense_block(X: Array) -> Block:
    X = native(X)
    values = np.empty(X.size + _rows.SLACK, X.dtype)
    columns = np.empty(X.size + _rows.SLACK, np.int32)
    indptr = np.empty(len(X) + 1, np.int64)
    _rows.compress(X, values, columns, indptr)
    return Block.of(values[: indptr[-1]], columns[: indptr[-1]], indptr)


def _canonical(block: Block) -> Block:
    """Return a copy of a block with ascending columns in each row, and duplicates summed."""
    n = block.indptr[-1] - block.indptr[0]
    values, indices = np.empty(n, block.values.dtype), np.empty(n, block.indices.dtype)
    indptr = block.indptr.copy()
    n = _rows.canonical(block.values, block.indices, indptr, values, indices)
    return Block.of(values[:n], indices[:n], indptr)


def _without_zeros(block: Block) -> Block:
    """Return a copy of a block without zero entries."""
    n = block.indptr[-1] - block.indptr[0]
    values, indices = np.empty(n, block.values.dtype), np.empty(n, block.indices.dtype)
    indptr = np.empty(len(block.indptr), np.int64)
    n = _rows.without_zeros(*block, values, indices, indptr)
    return Block.of(values[:n], indices[:n], indptr)


def _find(
    block: Block, start: int, is_wrong: Callable[[Array, Array], Array]
) -> tuple[int, int, Any]:
    """Return the row, the column and the value of the first entry for which ``is_wrong(values,
    columns)`` is true."""
    first, last = block.indptr[0], block.indptr[-1]
    wrong = is_wrong(block.values[first:last], block.indices[first:last])
    position = int(first) + int(np.argmax(wrong))
    row = int(np.searchsorted(block.indptr, position, side="right")) - 1 + start
    return row, int(block.indices[position]), block.values[position]
