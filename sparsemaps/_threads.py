"""Row blocks of about equal work, run over threads.

The kernels release the interpreter lock, so plain threads serve; and as every row's result is a
function of the row alone, neither the cut nor the number of threads shows in the output.
"""

import bisect
import contextlib
import numbers
import operator
import os
import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

BLOCK_ENTRIES = 2**17
"""Largest size of a block (a single longer row makes a block of its own).

Bounds what is held beside input and output; between blocks an interrupt gets through.
"""

_SMALLEST_BLOCK = 2**13  # starting threads for less costs more than it saves


def resolve_n_jobs(n_jobs):
    """How many threads `n_jobs` means: None is one, -1 all processors, -2 all but one ..."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}")
    if n_jobs > 0:
        return int(n_jobs)
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return max(1, processors + 1 + int(n_jobs))


def cut_rows(n_rows, work_before, n_jobs, at_most=None):
    """Consecutive ranges (start, stop) of rows that cover all rows.

    ``work_before(row)`` is the work in all rows above `row`, in entries; a block has `at_most` so
    many (`BLOCK_ENTRIES` for None), but one row at least.
    """
    total = work_before(n_rows)
    at_most = BLOCK_ENTRIES if at_most is None else at_most
    shares = 4 * n_jobs if n_jobs > 1 else 1  # more than threads, so that none is left waiting
    size = max(_SMALLEST_BLOCK, min(at_most, total // shares))
    blocks = []
    start = 0
    while start < n_rows:
        limit = work_before(start) + size
        stop = bisect.bisect_right(range(n_rows + 1), limit, lo=start + 1, key=work_before) - 1
        stop = max(stop, start + 1)
        blocks.append((start, stop))
        start = stop
    return blocks


def run(function, blocks, n_jobs):
    """Call ``function(start, stop)`` on each block and return the results in order.

    The first exception, in the order of the blocks, is raised; blocks not begun by then are
    dropped.
    """
    return list(stream(function, blocks, n_jobs))


def stream(function, blocks, n_jobs):
    """Like ``run``, one result after the other: a few are under way or waiting, never more.

    `blocks` may be any iterable; it is read as far as it is needed.
    """
    n_jobs = resolve_n_jobs(n_jobs)
    n_jobs = min(n_jobs, operator.length_hint(blocks, n_jobs))
    if n_jobs <= 1:
        for block in blocks:
            yield function(*block)
        return
    iterator = iter(blocks)
    failure = None
    with ThreadPoolExecutor(n_jobs) as pool:
        waiting = deque()
        try:
            while True:
                try:
                    block = next(iterator)
                except StopIteration:
                    break
                except Exception as error:  # after the results of the blocks before
                    failure = error
                    break
                task = _Task(function, block)
                with contextlib.suppress(RuntimeError):  # no more threads can be started
                    pool.submit(task.run)
                waiting.append(task)
                if len(waiting) > 2 * n_jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if failure is not None:
        raise failure


class _Task:
    """A call that is made once: by a thread of the pool, or by whoever asks for its result first.

    Where the system starts fewer threads than were asked for, or none, the calls are made
    nevertheless.
    """

    def __init__(self, function, arguments):
        self._function, self._arguments = function, arguments
        self._begun = threading.Lock()
        self._future = Future()

    def run(self):
        if not self._begun.acquire(blocking=False):
            return
        future = self._future  # result() forgets it while this call may still be under way
        try:
            future.set_result(self._function(*self._arguments))
        except BaseException as error:
            future.set_exception(error)
        self._arguments = None  # a pool without threads keeps its tasks to the end

    def result(self):
        """The result, or its exception; asked for once."""
        self.run()
        future, self._future = self._future, None
        return future.result()
