"""CSR output whose rows have lengths that are known only when they are made."""

from collections import deque
from collections.abc import Callable

import numpy as np

from sparsemaps import _threads, _validation
from sparsemaps._arrays import GrowingArray
from sparsemaps._rows import Block, RowReader
from sparsemaps._typing import Array, Matrix

_PART_SIZE = 2**18
"""Entries of the output that a thread writes before they are appended to it."""


def make_csr(
    rows: RowReader,
    blocks: list[tuple[int, int]],
    max_entries: Callable[[Array], Array],
    write: Callable[[Block, Array, Array, Array], int],
    width: int,
    n_jobs: int | None,
) -> Matrix:
    """CSR output whose rows have as many entries as ``write`` finds.

    ``write(block, values, columns, lengths)`` fills rows one behind the other and returns how
    many entries there are; ``max_entries(lengths)`` gives the largest possible number of
    entries in the output of rows of so many input entries.
    """
    parts, sizes = [], []
    for start, stop in blocks:
        largest = max_entries(rows.lengths(start, stop))
        for first, last in _threads.cut_by_size(largest, _PART_SIZE):
            parts.append((start + first, start + last))
            sizes.append(int(largest[first:last].sum()))
    capacity, max_size = sum(sizes), max(sizes, default=0)
    index_type = _validation.index_type(max(capacity, width))
    values, columns = GrowingArray(rows.dtype, capacity), GrowingArray(index_type, capacity)
    indptr = np.zeros(rows.n_rows + 1, index_type)

    def write_part(start: int, stop: int, out_values: Array, out_columns: Array) -> int:
        block = rows.block(start, stop)
        if max_entries(np.diff(block.indptr)).sum() > len(out_values):
            raise ValueError("X was changed while it was read: it has got more entries")
        return write(block, out_values, out_columns, indptr[1 + start : 1 + stop])

    # Threads write to arrays of their own: where a part begins is known when those before it are
    # done. The arrays are used again, as new memory costs time when it is first written.
    spare: deque[tuple[Array, Array]] = deque()

    def write_apart(start: int, stop: int) -> tuple[tuple[Array, Array], int]:
        try:
            part = spare.pop()
        except IndexError:
            part = np.empty(max_size, rows.dtype), np.empty(max_size, index_type)
        return part, write_part(start, stop, *part)

    if _threads.resolve_n_jobs(n_jobs) == 1:
        for (start, stop), size in zip(parts, sizes, strict=True):
            n = write_part(start, stop, values.room(size), columns.room(size))
            values.n += n
            columns.n += n
    else:
        for part, n in _threads.stream(write_apart, parts, n_jobs):
            values.append(part[0][:n])
            columns.append(part[1][:n])
            spare.append(part)
    np.cumsum(indptr, out=indptr)
    arrays = values.finish(), columns.finish(), indptr
    return rows.container(arrays, shape=(rows.n_rows, width))
