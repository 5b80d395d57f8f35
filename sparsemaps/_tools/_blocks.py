"""Ranges of rows of nearly equal work, and sums of the entries of rows."""

import bisect
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from sparsemaps._tools._typing import Array

BLOCK_ENTRIES = 2**18
"""Largest number of entries per block; a longer row forms a block of its own.

It bounds the memory needed in addition to input and output. Signals are handled between blocks.
"""

_SCRATCH_BYTES = 2**21
"""Largest scratch memory, in bytes, that a thread holds for a range of rows."""

BLOCKS_A_THREAD = 4
"""Number of blocks per thread. With more blocks than threads, threads rarely wait."""

_SMALLEST_BLOCK = 2**13  # starting a thread for fewer entries costs more than it saves


def cut_rows(
    n_rows: int, work_before: Callable[[int], int], n_jobs: int, max_work: int | None = None
) -> list[tuple[int, int]]:
    """Return consecutive ranges (start, stop) that cover all rows.

    ``work_before(row)`` is the work in all rows before `row`, in entries. A block has at most
    `max_work` entries (default: `BLOCK_ENTRIES`), or is a single row.
    """
    total = work_before(n_rows)
    max_work = BLOCK_ENTRIES if max_work is None else max_work
    shares = BLOCKS_A_THREAD * n_jobs if n_jobs > 1 else 1
    n_blocks = max(-(-total // max_work), min(shares, total // _SMALLEST_BLOCK))
    if n_blocks <= 1:
        return [(0, n_rows)] if n_rows else []
    n_blocks += -n_blocks % n_jobs
    blocks = []
    start = 0
    while start < n_rows:
        before = work_before(start)
        n_before = round(before * n_blocks / total)
        limit = min(total * (n_before + 1) // n_blocks, before + max_work)
        stop = bisect.bisect_right(range(n_rows + 1), limit, lo=start + 1, key=work_before) - 1
        stop = max(stop, start + 1)
        blocks.append((start, stop))
        start = stop
    return blocks


def ranges(first: int, last: int, step: int) -> list[tuple[int, int]]:
    """Return ranges (start, stop) of at most `step` rows, from row `first` to row `last`."""
    return [(start, min(start + step, last)) for start in range(first, last, step)]


def cut_by_bytes(n_rows: int, row_bytes: int) -> list[tuple[int, int]]:
    """Return ranges of rows whose scratch memory, at `row_bytes` per row, is at most 2 MB."""
    return ranges(0, n_rows, max(1, _SCRATCH_BYTES // max(row_bytes, 1)))


def cut_by_size(sizes: npt.NDArray[np.int64], max_size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges (first, last) of rows with the given sizes. Each range has a total size of at
    most `max_size`, or is a single row."""
    ends = np.cumsum(sizes)
    first = before = 0
    while first < len(sizes):
        last = int(np.searchsorted(ends, before + max_size, side="right"))
        last = max(last, first + 1)
        yield first, last
        first, before = last, ends.item(last - 1)


def entries_of(starts: Array, lengths: Array) -> Array:
    """Return the numbers of the entries of some rows, which begin at `starts`, in order."""
    entries: Array = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
    entries += np.arange(len(entries))
    return entries


def sums_of_rows(entries: Array, ends: Array) -> Array:
    """Return the sum of the entries (or the number of true marks) of each row. `ends` has the end
    of each row's entries."""
    before = np.append(0, np.cumsum(entries))
    found: Array = np.diff(before[ends], prepend=0)
    return found
