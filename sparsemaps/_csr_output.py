"""CSR output whose rows have lengths that are known only when they are made."""

import threading
from collections import deque
from collections.abc import Callable

import numpy as np

from sparsemaps import _threads, _validation
from sparsemaps._arrays import GrowingArray
from sparsemaps._rows import Block, RowReader
from sparsemaps._typing import Array, Matrix

_PART_SIZE = 2**18
"""Largest size of a part of the output: a thread writes it before it is copied to its place."""


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
    before = np.zeros(rows.n_rows + 1, np.int64)  # the largest number of entries above each row
    for start, stop in blocks:
        before[1 + start : 1 + stop] = max_entries(rows.lengths(start, stop))
    np.cumsum(before, out=before)
    parts = [part for block in blocks for part in _threads.cut_by_size(before, *block, _PART_SIZE)]
    sizes = [before.item(stop) - before.item(start) for start, stop in parts]
    capacity, max_size = before.item(-1), max(sizes, default=0)
    index_type = _validation.index_type(max(capacity, width))
    values, columns = GrowingArray(rows.dtype, capacity), GrowingArray(index_type, capacity)
    indptr = np.zeros(rows.n_rows + 1, index_type)

    def write_part(start: int, stop: int, out_values: Array, out_columns: Array) -> int:
        block = rows.block(start, stop)
        if rows.may_grow and max_entries(np.diff(block.indptr)).sum() > len(out_values):
            raise ValueError("X was changed while it was read: it has got more entries")
        return write(block, out_values, out_columns, indptr[1 + start : 1 + stop])

    if len(parts) <= 1 or _threads.resolve_n_jobs(n_jobs) == 1:
        for part, size in zip(parts, sizes, strict=True):
            n = write_part(*part, values.room(size), columns.room(size))
            values.take(n)
            columns.take(n)
    else:
        _write_by_threads(write_part, parts, max_size, values, columns, n_jobs)
    np.cumsum(indptr, out=indptr)
    arrays = values.finish(), columns.finish(), indptr
    return rows.container(arrays, shape=(rows.n_rows, width))


def _write_by_threads(
    write_part: Callable[[int, int, Array, Array], int],
    parts: list[tuple[int, int]],
    max_size: int,
    values: GrowingArray,
    columns: GrowingArray,
    n_jobs: int | None,
) -> None:
    """Write each part to arrays of its own, as its place is known when those before it have been
    written. The thread that finds its place known copies it, and those that have waited for it."""
    spare: deque[tuple[Array, Array]] = deque()  # new memory costs time when it is first written
    ended: dict[int, tuple[tuple[Array, Array], int]] = {}
    lock = threading.Lock()
    n_placed = 0

    def write_apart(number: int) -> None:
        nonlocal n_placed
        try:
            own = spare.pop()
        except IndexError:
            own = np.empty(max_size, values.dtype), np.empty(max_size, columns.dtype)
        n = write_part(*parts[number], *own)
        with lock:
            ended[number] = own, n
            copies = []
            while n_placed in ended:
                own, n = ended.pop(n_placed)
                copies.append((own, n, values.take(n), columns.take(n)))
                n_placed += 1
        for own, n, out_values, out_columns in copies:
            out_values[:] = own[0][:n]
            out_columns[:] = own[1][:n]
            spare.append(own)

    _threads.run(write_apart, [(number,) for number in range(len(parts))], n_jobs)
