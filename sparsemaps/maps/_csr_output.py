"""CSR output whose rows have lengths that are known only when they are made."""

import threading
from collections.abc import Callable

import numpy as np

from sparsemaps._input import _sparse
from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._tools import _blocks, _threads
from sparsemaps._tools._typing import Array, Matrix

_PART_SIZE = 2**18
"""Largest size of a part of the output, so that it is in the cache when it is moved."""


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
    parts, sizes = _cut_parts(blocks, max_entries(rows.lengths()))
    capacity = sum(sizes)
    index_type = _sparse.index_type(max(capacity, width))
    # Memory that is never written to costs nothing, and the end is given back.
    values, columns = np.empty(capacity, rows.dtype), np.empty(capacity, index_type)
    indptr = np.zeros(rows.n_rows + 1, index_type)
    places = _Places(sizes)

    def write_part(number: int) -> None:
        start, stop = parts[number]
        block = rows.block(start, stop)
        if rows.may_grow and max_entries(np.diff(block.indptr)).sum() > sizes[number]:
            raise ValueError("X was changed while it was read: it has got more entries")
        room = places.begin(number)
        places.end(number, write(block, values[room], columns[room], indptr[1 + start : 1 + stop]))
        while (move := places.begin_move()) is not None:
            place, written = move
            if place != written:
                values[place] = values[written]
                columns[place] = columns[written]
            places.end_move()

    _threads.run(write_part, [(number,) for number in range(len(parts))], n_jobs)
    np.cumsum(indptr, out=indptr)
    values.resize(places.n_entries, refcheck=False)
    columns.resize(places.n_entries, refcheck=False)
    return rows.container((values, columns, indptr), shape=(rows.n_rows, width))


class _Places:
    """Where the parts of the output are, which several threads write.

    The place of a part is known only when those before it have been written. Until then it is
    written where they end at the latest; then it is moved to its place, by one thread at a time.

    Parameters
    ----------
    sizes : list of int
        The largest number of entries in each part.
    """

    def __init__(self, sizes: list[int]) -> None:
        self.n_entries = 0  # in the parts that are in their places
        self._sizes = sizes
        self._n_placed = 0
        self._begun: dict[int, int] = {}  # where a part begins that is not in its place
        self._written: dict[int, int] = {}  # and the number of its entries, if it has ended
        self._moving = False
        self._lock = threading.Lock()

    def begin(self, number: int) -> slice:
        """Room for a part."""
        with self._lock:
            first = self.n_entries
            for before in range(self._n_placed, number):
                first = self._begun.get(before, first) + self._sizes[before]
            self._begun[number] = first
        return slice(first, first + self._sizes[number])

    def end(self, number: int, n: int) -> None:
        """A part has been written; it has `n` entries."""
        with self._lock:
            self._written[number] = n

    def begin_move(self) -> tuple[slice, slice] | None:
        """To where from where the next part is to be moved; None if that must wait, or if
        another thread moves parts, which will come to the others too."""
        with self._lock:
            if self._moving or self._n_placed not in self._written:
                return None
            self._moving = True
            first, n = self._begun[self._n_placed], self._written[self._n_placed]
            return slice(self.n_entries, self.n_entries + n), slice(first, first + n)

    def end_move(self) -> None:
        """The part is in its place."""
        with self._lock:
            del self._begun[self._n_placed]
            self.n_entries += self._written.pop(self._n_placed)
            self._n_placed += 1
            self._moving = False


def _cut_parts(
    blocks: list[tuple[int, int]], max_entries: Array
) -> tuple[list[tuple[int, int]], list[int]]:
    """The parts (start, stop) of the blocks, and the largest number of entries in each.

    ``max_entries`` is that of each row.
    """
    parts, sizes = [], []
    starts = np.array([start for start, _ in blocks], np.intp)
    of_blocks = np.add.reduceat(max_entries, starts).tolist()
    for (start, stop), size in zip(blocks, of_blocks, strict=True):
        if size <= _PART_SIZE:
            parts.append((start, stop))
            sizes.append(size)
        else:
            of_rows = max_entries[start:stop]
            for first, last in _blocks.cut_by_size(of_rows, _PART_SIZE):
                parts.append((start + first, start + last))
                sizes.append(int(of_rows[first:last].sum()))
    return parts, sizes
