"""CSR output whose rows have lengths that are not known beforehand."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sparsemaps._input import _sparse
from sparsemaps._input._row_reader import Block
from sparsemaps._loops.rows import first_not_finite
from sparsemaps._tools import _blocks, _threads
from sparsemaps._tools._typing import Array, Matrix
from sparsemaps.maps._draw import Work, beyond, call_quietly

_PART_SIZE = 2**18
"""Largest size of a part of the output, so that it is in the cache when it is moved."""


def make_csr(
    work: Work,
    max_entries: Callable[[Array], Array],
    write: Callable[[Block, Array, Array, Array], int],
    width: int,
    may_overflow: Callable[[Block], bool],
) -> Matrix:
    """Make CSR output whose rows have as many entries as ``write`` says.

    ``write(block, values, columns, lengths)`` writes the entries of rows one behind the other, and
    the number of each row's entries, and returns the number of all entries.
    ``max_entries(lengths)`` is the largest possible number of output entries of rows that have
    `lengths` entries. A value that is not finite is an error, as by `Work.fill`; it is looked for
    in parts that ``may_overflow`` only.
    """
    rows = work.rows
    parts, sizes = _cut_parts(work.blocks(), max_entries(rows.lengths()))
    entries = _Entries(sizes, rows.dtype, width)
    indptr = np.zeros(rows.n_rows + 1, entries.columns.dtype)
    lengths = indptr[1:]

    def write_part(number: int, first: int) -> tuple[int, int]:
        """Write the entries of a part from the place `first` on, and return this place and their
        number."""
        start, stop = parts[number]
        block = rows.block(start, stop)
        if rows.may_grow and max_entries(np.diff(block.indptr)).sum() > sizes[number]:
            raise ValueError("X was changed while it was read: it has got more entries")
        room = slice(first, first + sizes[number])
        out = entries.values[room], entries.columns[room], lengths[start:stop]
        n = call_quietly(write, block, *out)
        is_checked = may_overflow(block)
        entry = first_not_finite(entries.values[first : first + n]) if is_checked else -1
        if entry >= 0:
            row = int(np.searchsorted(np.cumsum(out[2]), entry, side="right"))
            raise block.error(row, beyond(rows.dtype))
        return first, n

    n_threads = max(1, min(_threads.resolve_n_jobs(work.n_jobs), len(parts)))
    for first, n in _threads.stream(write_part, entries.places(), n_threads):
        entries.close_gap(first, n)
    np.cumsum(indptr, out=indptr)
    values, columns = entries.cut()
    return _sparse.csr_of(rows.container, (values, columns, indptr), (rows.n_rows, width))


class _Entries:
    """Values and columns of CSR output, which threads write in parts of at most `sizes` entries.

    How many entries a part has is known once it is written. Until then, the next part is written
    behind all places that this one may need. The gap between them is closed in the order of the
    parts: the entries of a part are moved behind the entries of earlier parts.
    """

    def __init__(self, sizes: list[int], dtype: Any, width: int) -> None:
        capacity = sum(sizes)
        # The system allocates no memory for pages that are never written to. `cut` frees the rest.
        self.values = np.empty(capacity, dtype)
        self.columns = np.empty(capacity, _sparse.index_type(max(capacity, width)))
        self._sizes = sizes
        self._n_entries = 0  # of the parts without gaps between them
        self._n_closed = 0  # how many these parts are

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield the number of each part, and the place from which on it is written."""
        end = 0  # of all places that the parts before may need
        for number, size in enumerate(self._sizes):
            first = self._n_entries if self._n_closed == number else end
            end = first + size
            yield number, first

    def close_gap(self, first: int, n: int) -> None:
        """Move the next part, which has n entries from `first` on, behind the parts before."""
        if first != self._n_entries:
            place, written = slice(self._n_entries, self._n_entries + n), slice(first, first + n)
            self.values[place] = self.values[written]
            self.columns[place] = self.columns[written]
        self._n_entries += n
        self._n_closed += 1

    def cut(self) -> tuple[Array, Array]:
        """Return both arrays, after their unused memory is freed."""
        self.values.resize(self._n_entries, refcheck=False)
        self.columns.resize(self._n_entries, refcheck=False)
        return self.values, self.columns


def _cut_parts(
    blocks: list[tuple[int, int]], max_entries: Array
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the parts (start, stop) of the blocks, and the largest number of entries in each.

    ``max_entries`` has a number for each row.
    """
    if len(blocks) == 1 and (size := int(max_entries.sum())) <= _PART_SIZE:
        return blocks, [size]
    parts = [
        (start + first, start + last)
        for start, stop in blocks
        for first, last in _blocks.cut_by_size(max_entries[start:stop], _PART_SIZE)
    ]
    return parts, [int(max_entries[start:stop].sum()) for start, stop in parts]
