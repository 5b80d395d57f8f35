"""Ranges of rows of about equal work.

A block bounds the memory beside input and output, and interrupts are handled between blocks.
"""

import bisect
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

BLOCK_ENTRIES = 2**18
"""Largest size of a block (a single longer row makes a block of its own).

It bounds the memory beside input and output. Interrupts are handled between blocks.
"""

_SCRATCH_BYTES = 2**21
"""Largest size of the scratch memory that a thread holds for some rows at a time."""

BLOCKS_A_THREAD = 4
"""Of work for several threads, as more blocks than threads leave none of them waiting."""

_SMALLEST_BLOCK = 2**13  # starting threads for less costs more than it saves


def cut_rows(
    n_rows: int,
    work_before: Callable[[int], int],
    n_jobs: int,
    max_work: int | None = None,
) -> list[tuple[int, int]]:
    """Consecutive ranges (start, stop) of rows that cover all rows.

    ``work_before(row)`` is the work in all rows above `row`, in entries; a block has at most
    `max_work` (`BLOCK_ENTRIES` for None), but at least one row.
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


def cut_by_bytes(n_rows: int, row_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows for which scratch memory of `row_bytes` each stays small."""
    step = max(1, _SCRATCH_BYTES // max(row_bytes, 1))
    for first in range(0, n_rows, step):
        yield first, min(first + step, n_rows)


def cut_by_size(sizes: npt.NDArray[np.int64], max_size: int) -> Iterator[tuple[int, int]]:
    """Ranges (first, last) of rows of these sizes, each of at most `max_size` or of one row."""
    ends = np.cumsum(sizes)
    first = before = 0
    while first < len(sizes):
        last = int(np.searchsorted(ends, before + max_size, side="right"))
        last = max(last, first + 1)
        yield first, last
        first, before = last, ends.item(last - 1)
