"""CSR output whose row lengths are not known in advance."""

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
"""Largest size of a part of the output, chosen so that it is still in the cache when it is
moved."""


def make_csr(
    work: Work,
    max_entries: Callable[[Array], Array],
    write: Callable[[Block, Array, Array, Array], int],
    width: int,
    may_overflow: Callable[[Block], bool],
) -> Matrix:
    """Build CSR output whose row lengths ``write`` determines.

    ``write(block, values, columns, lengths)`` writes the entries of the rows without gaps, and the
    number of entries of each row, and returns the total number of entries. ``max_entries(lengths)``
    returns the largest possible number of output entries for rows of `lengths` input entries. A
    value that is not finite raises an error, as in `Work.fill`; only blocks that ``may_overflow``
    are checked.
    """
    rows = work.rows
    parts, sizes = _cut_parts(rows.blocks(work.n_jobs), max_entries(rows.lengths()))
    entries = _Entries(sizes, rows.dtype, width)
    indptr = np.zeros(rows.n_rows + 1, entries.columns.dtype)
    lengths = indptr[1:]

    def write_part(number: int, first: int) -> tuple[int, int]:
        """Write the entries of a part from position `first` on, and return `first` and their
        number."""
        start, stop = parts[number]
        block = rows.block(start, stop)
        if rows.may_grow and max_entries(np.diff(block.indptr)).sum() > sizes[number]:
            raise ValueError("X changed while it was read: it now has more entries")
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

    The number of entries in a part is known only after it is written. Until then, the next part is
    written after all the space that this part may need. The gaps are closed in the order of the
    parts, by moving the entries of a part right after the earlier parts.
    """

    def __init__(self, sizes: list[int], dtype: Any, width: int) -> None:
        capacity = sum(sizes)
        # The system allocates no memory for pages that are never written. `cut` frees the rest.
        self.values = np.empty(capacity, dtype)
        self.columns = np.empty(capacity, _sparse.index_type(max(capacity, width)))
        self._sizes = sizes
        self._n_entries = 0  # in the parts without gaps between them
        self._n_closed = 0  # number of these parts

    def places(self) -> Iterator[tuple[int, int]]:
        """Yield the number of each part, and the position at which to write it."""
        end = 0  # end of the space that earlier parts may need
        for number, size in enumerate(self._sizes):
            first = self._n_entries if self._n_closed == number else end
            end = first + size
            yield number, first

    def close_gap(self, first: int, n: int) -> None:
        """Move the next part, n entries from `first` on, to the end of the earlier parts."""
        if first != self._n_entries:
            place, written = slice(self._n_entries, self._n_entries + n), slice(first, first + n)
            self.values[place] = self.values[written]
            self.columns[place] = self.columns[written]
        self._n_entries += n
        self._n_closed += 1

    def cut(self) -> tuple[Array, Array]:
        """Shrink both arrays to their used size in place, and return them."""
        self.values.resize(self._n_entries, refcheck=False)
        self.columns.resize(self._n_entries, refcheck=False)
        return self.values, self.columns


def _cut_parts(
    blocks: list[tuple[int, int]], max_entries: Array
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the parts (start, stop) of the blocks, and the largest number of entries in each.

    ``max_entries`` has one number per row.
    """
    if len(blocks) == 1 and (size := int(max_entries.sum())) <= _PART_SIZE:
        return blocks, [size]
    parts = [
        (start + first, start + last)
        for start, stop in blocks
        for first, last in _blocks.cut_by_size(max_entries[start:stop], _PART_SIZE)
    ]
    return parts, [int(max_entries[start:stop].sum()) for start, stop in parts]
