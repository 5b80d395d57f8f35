"""Draws, which map rows: the parameters and random numbers of a map when it was fitted."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sparsemaps._input import _sparse
from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops.codes import NUMBERS, ONE_HOT_COLUMNS, PACKED
from sparsemaps._loops.rows import first_not_finite
from sparsemaps._tools import _threads
from sparsemaps._tools._growing_array import rows_where
from sparsemaps._tools._typing import Array, Bytes, Matrix
from sparsemaps.codes._code_checks import LARGEST_SET, rows_with_bits


@dataclass(frozen=True)
class Work:
    """Rows to be mapped, and the number of threads."""

    rows: RowReader
    n_jobs: int | None

    def each_block(self, function: Callable[..., object], *arrays: Array | range | None) -> None:
        """Call ``function(block, *parts)`` for each block of rows, with the parts of `arrays` for
        these rows, or None for an array that is None."""

        def call(start: int, stop: int) -> None:
            parts = [None if array is None else array[start:stop] for array in arrays]
            function(self.rows.block(start, stop), *parts)

        _threads.run(call, self.rows.blocks(self.n_jobs), self.n_jobs)

    def fill(
        self,
        write: Callable[[Block, Array], object],
        out: Array,
        may_overflow: Callable[[Block], bool],
    ) -> None:
        """Call ``write(block, part)`` for each block of rows, with its part of the output `out`.

        A value that is not finite raises an error that names the row. Only blocks that
        ``may_overflow`` are checked; this must include all blocks with extreme values.
        """

        def write_finite(start: int, stop: int) -> None:
            block, part = self.rows.block(start, stop), out[start:stop]
            if not may_overflow(block):
                write(block, part)
                return
            call_quietly(write, block, part)
            row = first_not_finite(part)
            if row >= 0:
                raise block.error(row, beyond(out.dtype))

        _threads.run(write_finite, self.rows.blocks(self.n_jobs), self.n_jobs)


def call_quietly(write: Callable[..., Any], block: Block, *out: Any) -> Any:
    """Return ``write(block, *out)``, without NumPy's warnings about extreme values. Callers look
    for these values afterwards."""
    if not block.is_extreme:
        return write(block, *out)
    with np.errstate(over="ignore", invalid="ignore"):
        return write(block, *out)


def beyond(dtype: npt.DTypeLike) -> str:
    """Return the message of the error for a row whose output is not finite."""
    return f"the output of this row is beyond {np.dtype(dtype)}: scale the rows"


class Draw(ABC):
    """An immutable value that maps rows. The output of a row depends on nothing but the draw and
    the row.

    It has the parameters as attributes, with the values that ``fit`` computed from the data;
    `parameters`, all parameters except `random_state` and `n_jobs`; `seed`; `n_columns`, None for
    any number; `law`, and its `nonnegative_rule`; and `size`, the number of components. A subclass
    defines ``transform(work)``. It may also override `width`, and ``prepare()``, which computes
    more attributes once.
    """

    seed: int
    n_columns: int | None
    law: Any
    size: int
    nonnegative_rule: str | None
    parameters: dict[str, Any]

    def __init__(
        self,
        parameters: dict[str, Any],
        seed: int,
        n_columns: int | None,
        law: Any,
        size: int,
    ) -> None:
        vars(self).update(
            parameters, parameters=parameters, seed=seed, n_columns=n_columns, law=law, size=size,
            nonnegative_rule=law.nonnegative_rule,
        )  # fmt: skip
        self.prepare()
        vars(self)["is_complete"] = True

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: object) -> None:
        if "is_complete" in vars(self):
            raise AttributeError(f"the {type(self).__name__} of a fitted map cannot be changed")
        vars(self)[name] = value

    def prepare(self) -> None:  # noqa: B027 (most draws need nothing more)
        """Compute attributes that ``transform`` needs in addition to the parameters."""

    @property
    def width(self) -> int:
        """Width of the output."""
        return self.size

    @abstractmethod
    def transform(self, work: Work) -> Matrix:
        """Return the output for rows: an ndarray, or CSR of the matching container."""


EncodedRows = tuple[Bytes, Array, Array | None]
"""The packed codes of some rows, which rows have samples, and the set sizes; None if the rows are
not sets."""


class CodesDraw(Draw):
    """The draw of a map whose rows have codes of a few bits.

    A subclass defines ``write(block, layout, out)``, which writes the codes of a block's rows in
    one of three layouts: ``PACKED``, in bytes, all 0 in a row without samples; ``NUMBERS``, the
    codes as int32; ``ONE_HOT_COLUMNS``, as int32 or int64, ``j * 2**bits + code`` for code j.
    Numbers and columns are -1 in a row without samples.
    """

    @abstractmethod
    def write(self, block: Block, layout: int, out: Array) -> None:
        """Write the codes of a block's rows to `out`."""

    @property
    def width(self) -> int:
        return int(self.size << self.law.bits)

    def encode(self, work: Work, *, packed: bool) -> EncodedRows:
        """Return the codes of the rows. Without `packed`, only the codes are valid, and not which
        rows have samples and the set sizes."""
        out, sampled, sizes = self.new_codes(work.rows.n_rows)

        def write(block: Block, out: Array, sampled: Array, sizes: Array | None) -> None:
            self.write(block, PACKED, out)
            if packed and sizes is not None:
                sizes[:] = np.minimum(np.diff(block.indptr), LARGEST_SET)
                sampled[:] = sizes > 0
            elif packed:
                self._find_samples(block, out, sampled)

        work.each_block(write, out, sampled, sizes)
        return out, sampled, sizes

    def new_codes(self, n_rows: int) -> EncodedRows:
        """Return arrays for the codes of rows. All rows have samples."""
        out = np.empty((n_rows, (self.size * self.law.bits + 7) // 8), np.uint8)
        sizes = np.empty(n_rows, np.uint32) if self.law.is_of_sets else None
        return out, np.ones(n_rows, bool), sizes

    def _find_samples(self, block: Block, codes: Array, sampled: Array) -> None:
        """Mark the rows of a block that have samples, in place. If the codes of a row are all 0,
        write them again as numbers to find out."""
        number = np.empty((1, self.size), np.int32)
        for row in np.flatnonzero(~rows_with_bits(codes)).tolist():
            self.write(block.rows(row, row + 1), NUMBERS, number)
            sampled[row] = number[0, 0] >= 0

    def numbers(self, work: Work) -> Array:
        """Return the codes of each row as int32, or -1 in rows without samples."""
        out = np.empty((work.rows.n_rows, self.size), np.int32)
        work.each_block(lambda block, out: self.write(block, NUMBERS, out), out)
        return out

    def transform(self, work: Work) -> Matrix:
        rows = work.rows
        values = np.empty((rows.n_rows, self.size), rows.dtype)
        columns, indptr, _ = self.one_hot(work, values)
        values = values.reshape(-1)[: len(columns)]
        return _sparse.csr_of(rows.container, (values, columns, indptr), (rows.n_rows, self.width))

    def one_hot(self, work: Work, values: Array | None = None) -> tuple[Array, Array, Array]:
        """Return the columns and indptr of one-hot features as CSR, and which rows have entries.

        Unless `values` is None, the threads that write columns also fill `values`.
        """
        n_rows = work.rows.n_rows
        index_type = _sparse.index_type(max(self.size << self.law.bits, n_rows * self.size))
        columns = np.empty((n_rows, self.size), index_type)

        def write(block: Block, columns: Array, values: Array | None) -> None:
            self.write(block, ONE_HOT_COLUMNS, columns)
            if values is not None:
                values[:] = 1 / math.sqrt(self.size)

        work.each_block(write, columns, values)
        sampled = columns[:, 0] >= 0
        indptr = np.zeros(n_rows + 1, index_type)
        np.cumsum(sampled, out=indptr[1:])
        indptr *= self.size
        return rows_where(columns, sampled).reshape(-1), indptr, sampled
