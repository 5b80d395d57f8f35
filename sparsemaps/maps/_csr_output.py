"""CSR output whose rows have lengths that are not known beforehand."""

from collections.abc import Callable, Iterator

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
    """CSR output whose rows have as many entries as ``write`` says.

    ``write(block, values, columns, lengths)`` writes the entries of rows one behind the other, and
    the number of each row's entries, and returns the number of all entries.
    ``max_entries(lengths)`` is the largest possible number of output entries of rows that have
    `lengths` entries. A value that is not finite is an error, as by `Work.fill`.
    """
    rows = work.rows
    parts, sizes = _cut_parts(work.blocks(), max_entries(rows.lengths()))
    capacity = sum(sizes)
    index_type = _sparse.index_type(max(capacity, width))
    # The system allocates no memory for pages that are never written to. The rest is freed below.
    values, columns = np.empty(capacity, rows.dtype), np.empty(capacity, index_type)
    indptr = np.zeros(rows.n_rows + 1, index_type)
    n_entries = n_placed = end = 0

    def places() -> Iterator[tuple[int, int]]:
        """Yield each part, and where it is written: behind the last place where the part before it
        may end."""
        nonlocal end
        for number, size in enumerate(sizes):
            first = n_entries if n_placed == number else end
            end = first + size
            yield number, first

    def write_part(number: int, first: int) -> tuple[int, int]:
        start, stop = parts[number]
        block = rows.block(start, stop)
        if rows.may_grow and max_entries(np.diff(block.indptr)).sum() > sizes[number]:
            raise ValueError("X was changed while it was read: it has got more entries")
        room = slice(first, first + sizes[number])
        out = values[room], columns[room], indptr[1 + start : 1 + stop]
        n_written = call_quietly(write, block, *out)
        is_checked = may_overflow(block)
        entry = first_not_finite(values[first : first + n_written]) if is_checked else -1
        if entry >= 0:
            row = int(np.searchsorted(np.cumsum(out[2]), entry, side="right"))
            raise block.error(row, beyond(rows.dtype))
        return first, n_written

    n_threads = max(1, min(_threads.resolve_n_jobs(work.n_jobs), len(parts)))
    for first, n in _threads.stream(write_part, places(), n_threads):
        if first != n_entries:
            place, written = slice(n_entries, n_entries + n), slice(first, first + n)
            values[place] = values[written]
            columns[place] = columns[written]
        n_entries += n
        n_placed += 1
    np.cumsum(indptr, out=indptr)
    values.resize(n_entries, refcheck=False)
    columns.resize(n_entries, refcheck=False)
    return _sparse.csr_of(rows.container, (values, columns, indptr), (rows.n_rows, width))


def _cut_parts(
    blocks: list[tuple[int, int]], max_entries: Array
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the parts (start, stop) of the blocks, and the largest number of entries in each.

    ``max_entries`` is that of each row.
    """
    if len(blocks) == 1 and (size := int(max_entries.sum())) <= _PART_SIZE:
        return blocks, [size]
    parts = [
        (start + first, start + last)
        for start, stop in blocks
        for first, last in _blocks.cut_by_size(max_entries[start:stop], _PART_SIZE)
    ]
    return parts, [int(max_entries[start:stop].sum()) for start, stop in parts]
