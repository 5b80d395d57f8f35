"""Gram matrices of sparse rows: the definition of a kernel, blocks of rows, and threads."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp

from sparsemaps._input import _row_reader
from sparsemaps._input._estimator_input import explained
from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._input._sparse import check_indices
from sparsemaps._loops import rows as _loops
from sparsemaps._tools import _blocks, _checks, _sklearn, _threads
from sparsemaps._tools._docstrings import filled
from sparsemaps._tools._typing import Array, MatrixLike

_BLOCK = 2**14, 512
"""Largest numbers of entries and of rows in a block of the first matrix, chosen so that a table of
its columns stays in the cache."""

_OTHER_BLOCK = 2**17, 1024
"""Largest numbers of entries and of rows in a block of the second matrix. With smaller blocks,
threads wait for the interpreter lock. Each thread holds the sums of all pairs of two blocks."""

_LARGEST_LOOKUP = 2**20
_LARGEST_SUM = np.finfo(float).max / 8

_KERNEL_DOC = {
    "X, Y": """\
X : {array-like, sparse matrix} of shape (n_X, n_features)
    Rows. CSR is read in place; other formats are converted.
Y : {array-like, sparse matrix} of shape (n_Y, n_features) or None, default=None
    The other rows; None is `X` itself, at half the cost.""",
    "n_jobs, the matrix and errors": """\
n_jobs : int or None, default=None
    Threads; None is 1, -1 all processors. The result does not depend on it.

Returns
-------
K : ndarray of shape (n_X, n_Y)
    float32 if both matrices are, otherwise float64.

Raises
------
ValueError
    If a parameter is not allowed; if a matrix is not sound or not finite, or has negative values
    that the kernel does not take; or if the values of a row are so large that a sum over them, or
    over their squares, is beyond float64.""",
    "examples, with rows X": """\
Examples
--------
>>> import numpy as np
>>> from sparsemaps.kernels import KERNEL
>>> X = np.array([[4.0, 1.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]])""",
}
"""Shared parts of the kernels' docstrings. KERNEL is replaced by the name of the kernel."""

Function = TypeVar("Function", bound=Callable[..., Array])


def documented(function: Function) -> Function:
    """Complete the docstring of a kernel."""
    docstring = filled(function.__doc__ or "", _KERNEL_DOC)
    function.__doc__ = docstring.replace("KERNEL", function.__name__)
    return function


def values_of(block: Block) -> Array:
    """Return a copy of a block's values, as float64."""
    return block.values[block.indptr[0] : block.indptr[-1]].astype(float)


@dataclass(frozen=True)
class GramKernel:
    """A kernel as a function of three sums: over the common columns of two rows, and over each row.

    The Gram matrix is ``finish(sums, u, v)``, where `sums` are over common columns, and u (a
    column) and v (a row) are sums over the entries of each row alone. For a kernel `of_distances`,
    `sums` are the distances of the rows. `finish` may change `sums` in place and return it.
    """

    common: int
    """Term that a common column adds to the sum: a constant of `sparsemaps._loops.rows`."""

    alone: Callable[[Array], Array]
    """Return the terms that values add to the sum over their own row."""

    finish: Callable[[Array, Array, Array], Array]

    prepare: Callable[[Block], Array] = values_of
    """Return the values of a block to be summed, as float64."""

    of_distances: bool = False
    """Whether `finish` takes distances: squared Euclidean distances if `common` is DOT, sums of
    absolute differences if it is ABSOLUTE."""

    one_of_itself: bool = False
    """Whether to set the kernel of a row with itself to exactly 1, despite rounding."""


def sums_of_rows(block: Block, values: Array) -> Array:
    """Return the sum of each row's `values`, in the order of the entries."""
    rows = np.repeat(np.arange(len(block.indptr) - 1), np.diff(block.indptr))
    return np.bincount(rows, values, minlength=len(block.indptr) - 1)


def scaled_to_sum_one(block: Block) -> Array:
    """Return a block's values, which must be at least 0, divided by the sum of their row."""
    values = values_of(block)
    values /= np.repeat(sums_of_rows(block, values), np.diff(block.indptr))
    return values


def scaled_by_powers_of_two(block: Block) -> Array:
    """Return a block's values, with each row scaled by the power of two that brings its largest
    absolute value to between 1/2 and 1. Squares are then within the range of float64, and scaling
    has no rounding error."""
    values = values_of(block)
    lengths = np.diff(block.indptr)
    filled = lengths > 0
    largest = np.zeros(len(lengths))
    starts = block.indptr[:-1][filled] - block.indptr[0]
    largest[filled] = np.maximum.reduceat(abs(values), starts) if len(values) else 0.0
    return np.ldexp(values, -np.repeat(np.frexp(largest)[1], lengths))


Pair: TypeAlias = tuple[RowReader, RowReader | None]
"""Readers of two matrices. If the second one is None, the first one is used for both."""


def open_pair(X: MatrixLike, Y: MatrixLike | None, nonnegative: str | None = None) -> Pair:
    """Return readers of two matrices of equal width. `nonnegative` is the rule in the error about
    negative values, or None if they are allowed."""
    rows = _open(X, "X", nonnegative)
    others = None if Y is None else _open(Y, "Y", nonnegative)
    if others is not None and rows.n_columns != others.n_columns:
        raise ValueError(
            f"X and Y must have as many columns, got {rows.n_columns} and {others.n_columns}"
        )
    return rows, others


def check_gamma(gamma: object, n_columns: int | None = None) -> float:
    """Return `gamma`, which must be above 0. None means 1 / `n_columns`, if that is given."""
    if gamma is None and n_columns is not None:
        return 1 / n_columns
    return _checks.check_real("gamma", gamma, 0, open_low=True)


def gram(pair: Pair, n_jobs: int | None, kernel: GramKernel) -> Array:
    """Return the Gram matrix of `kernel` between the rows of two matrices."""
    rows, others = pair[0], pair[1] or pair[0]
    symmetric = pair[1] is None
    n_jobs = _threads.resolve_n_jobs(n_jobs)
    u = _row_sums(rows, "X", kernel, n_jobs)
    v = u if symmetric else _row_sums(others, "Y", kernel, n_jobs)
    out = np.empty((rows.n_rows, others.n_rows), np.result_type(rows.dtype, others.dtype))
    blocks, other_blocks = _cut(rows, *_BLOCK), _cut(others, *_OTHER_BLOCK)
    # If there are too few blocks to keep all threads busy, divide each block into tasks.
    shares = _blocks.BLOCKS_A_THREAD * n_jobs if n_jobs > 1 else 1
    n_parts = min(-(-shares // max(len(blocks), 1)), max(len(other_blocks), 1))
    tasks = [(*block, part) for block in blocks for part in range(n_parts)]

    def fill(start: int, stop: int, part: int) -> None:
        columns = _Columns(rows.block(start, stop), rows.n_columns, kernel)
        for other, end in other_blocks[part::n_parts]:
            first = max(start, other) if symmetric else other  # earlier columns are mirrored
            if first < end:
                u_here, v_here = u[start:stop], v[first:end]
                sums = columns.sums(others.block(first, end), u_here, v_here)
                with np.errstate(over="ignore"):  # kernel values beyond float64 become infinite
                    out[start:stop, first:end] = kernel.finish(sums, u_here[:, None], v_here)

    def mirror(start: int, stop: int) -> None:
        out[start:stop, :start] = out[:start, start:stop].T

    _threads.run(fill, tasks, n_jobs)
    if symmetric:
        _threads.run(mirror, blocks, n_jobs)
        if kernel.one_of_itself:
            filled = np.flatnonzero(u)
            out[filled, filled] = 1.0
    return out


def of_cosines(
    pair: Pair, n_jobs: int | None, function: Callable[[Array], Array], one_of_itself: bool
) -> Array:
    """Return ``function(rho)`` for the cosines rho of all pairs of rows."""

    def finish(sums: Array, u: Array, v: Array) -> Array:
        lengths = np.sqrt(u) * np.sqrt(v)
        return function((sums / np.where(lengths > 0, lengths, 1)).clip(-1, 1))

    kernel = GramKernel(
        _loops.DOT, np.square, finish, scaled_by_powers_of_two, one_of_itself=one_of_itself
    )
    return gram(pair, n_jobs, kernel)


def of_distances(
    pair: Pair,
    n_jobs: int | None,
    common: int,
    function: Callable[[Array], Array],
    *,
    one_of_itself: bool = True,
) -> Array:
    """Return ``function(distances)`` for all pairs of rows: squared Euclidean distances if `common`
    is DOT, sums of absolute differences if it is ABSOLUTE."""
    kernel = GramKernel(
        common,
        np.square if common == _loops.DOT else np.abs,
        lambda distances, u, v: function(distances),
        of_distances=True,
        one_of_itself=one_of_itself,
    )
    return gram(pair, n_jobs, kernel)


class _Columns:
    """A block of rows with its columns numbered, for sums with other blocks.

    Positions in tables are computed from copies, so they stay valid if another thread changes the
    matrix.
    """

    def __init__(self, block: Block, n_columns: int, kernel: GramKernel) -> None:
        self._kernel = kernel
        self._values, self._indices, self._indptr = _from_zero(block, kernel)
        columns, numbers = np.unique(self._indices, return_inverse=True)
        check_indices(columns, n_columns, None, "X")  # another thread may have changed the indices
        self._own_numbers = numbers.astype(np.int32)
        self._table = np.zeros(_loops.LANES * max(len(columns), 1))
        self._searched = columns if n_columns > _LARGEST_LOOKUP else None
        self._numbers = np.arange(len(columns), dtype=np.int32)
        if self._searched is None:
            self._numbers = np.full(n_columns, -1, np.int32)
            self._numbers[columns] = np.arange(len(columns), dtype=np.int32)

    def sums(self, block: Block, u: Array, v: Array) -> Array:
        """Return, for all pairs of rows, the sum over their common columns, or the distance."""
        values, indices, indptr = _from_zero(block, self._kernel)
        others = np.empty(len(values)), np.empty(len(values), np.int32), np.empty_like(indptr)
        places = indices
        if self._searched is not None:
            places = np.searchsorted(self._searched, indices)
            places[np.append(self._searched, -1)[places] != indices] = -1
        _loops.number_columns(values, places, indptr, self._numbers, *others)
        own = self._values, self._own_numbers, self._indptr
        out = np.empty((len(self._indptr) - 1, len(indptr) - 1))
        _loops.sum_common(self._kernel.common, *own, *others, self._table, out)
        if self._kernel.of_distances:
            index_type = np.result_type(self._indices, indices)
            _loops.make_distances(
                self._kernel.common == _loops.DOT, out, u, v,
                self._values, self._indices.astype(index_type, copy=False), self._indptr,
                values, indices.astype(index_type, copy=False), indptr,
            )  # fmt: skip
        return out


def _from_zero(block: Block, kernel: GramKernel) -> Block:
    """Return a block whose arrays begin with its first entry, with the values that `kernel`
    sums."""
    first, last = block.indptr[0], block.indptr[-1]
    return Block(kernel.prepare(block), block.indices[first:last], block.indptr - first)


def _open(X: MatrixLike, name: str, nonnegative: str | None) -> RowReader:
    names = _row_reader.names_of(X)
    if not sp.issparse(X):
        with explained("the kernel", X), _row_reader.conversion(X, name):
            X = _sklearn.check_array(
                X,
                accept_sparse="csr",  # data frames of sparse columns become CSR
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,  # RowReader checks this and names the row
                ensure_min_samples=0,
                input_name=name,
            )
    rows = _row_reader.open_matrix(X, nonnegative, name=name, names=names)
    if rows.n_columns == 0:
        raise ValueError(f"{name} must have at least one column, got none")
    return rows


def _cut(rows: RowReader, max_entries: int, max_rows: int) -> list[tuple[int, int]]:
    return [
        part
        for start, stop in _blocks.cut_rows(rows.n_rows, rows.work_before, 1, max_entries)
        for part in _blocks.ranges(start, stop, max_rows)
    ]


def _row_sums(rows: RowReader, name: str, kernel: GramKernel, n_jobs: int) -> Array:
    """Return the sum over each row alone."""
    sums = np.zeros(rows.n_rows)

    def fill(start: int, stop: int) -> None:
        block = rows.block(start, stop)
        with np.errstate(over="ignore"):
            sums[start:stop] = sums_of_rows(block, kernel.alone(kernel.prepare(block)))
        if not (sums[start:stop] <= _LARGEST_SUM).all():
            row = start + int(np.argmin(sums[start:stop] <= _LARGEST_SUM))
            raise ValueError(
                f"the values in row {row} of {name} are too large: a sum over them, or over their "
                f"squares, is beyond {_LARGEST_SUM:.2g}"
            )

    _threads.run(fill, _cut(rows, *_OTHER_BLOCK), n_jobs)
    return sums
