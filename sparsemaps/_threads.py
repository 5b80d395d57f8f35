"""Row blocks of about equal work, run over threads.

The kernels release the interpreter lock, so Python's threads run at the same time. The result of a
row is a function of the row alone: the output depends neither on the blocks nor on the threads.
"""

import bisect
import contextlib
import mmap
import numbers
import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

BLOCK_ENTRIES = 2**18
"""Largest size of a block (a single longer row makes a block of its own).

It bounds the memory beside input and output. Interrupts are handled between blocks.
"""

_SCRATCH_BYTES = 2**21
"""Largest size of the scratch memory that a thread holds for some rows at a time."""

_THREAD_BYTES = 2**22  # far more than a thread takes before its first call

BLOCKS_A_THREAD = 4
"""Of work for several threads, as more blocks than threads leave none of them waiting."""

_SMALLEST_BLOCK = 2**13  # starting threads for less costs more than it saves


_current = threading.local()
"""Of each thread: ``in_task`` while it works on one of several blocks; ``pool``, its helpers."""


def resolve_n_jobs(n_jobs: Any) -> int:
    """How many threads `n_jobs` means: None is one, -1 all processors, -2 all but one ...

    What is done for one of several blocks is not divided again: there it means one.
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}")
    n_jobs = int(n_jobs)
    if getattr(_current, "in_task", False):
        return 1
    if n_jobs > 0:
        return min(n_jobs, 2**31 - 1)
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return max(1, processors + 1 + n_jobs)


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


def run(function: Callable[..., T], blocks: Iterable[tuple[Any, ...]], n_jobs: Any) -> list[T]:
    """Call ``function(start, stop)`` on each block and return the results in order.

    The first exception, in the order of the blocks, is raised; blocks not begun by then are
    dropped.
    """
    return list(stream(function, blocks, n_jobs))


def stream(
    function: Callable[..., T], blocks: Iterable[tuple[Any, ...]], n_jobs: Any
) -> Iterator[T]:
    """Like ``run``, one result after the other; only a few are computed in advance.

    `blocks` may be any iterable; it is read as far as it is needed. The caller is one of the
    threads: while it waits for a result it makes others.
    """
    n_jobs = resolve_n_jobs(n_jobs)
    n_jobs = min(n_jobs, operator.length_hint(blocks, n_jobs))
    if n_jobs <= 1:
        for block in blocks:
            yield function(*block)
        return
    iterator = iter(blocks)
    failure: Exception | None = None
    pool = _started_pool(n_jobs - 1)
    tasks: SimpleQueue[_Task] = SimpleQueue()  # for the threads of the pool
    running: list[Future[None]] = []  # those of them that look for tasks
    waiting: deque[_Task] = deque()  # all whose results the caller has not got yet
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
            waiting.append(task)
            if pool is not None:
                tasks.put(task)
                running = [helper for helper in running if not helper.done()]
                if len(running) < n_jobs - 1:
                    with contextlib.suppress(RuntimeError):  # no more threads can be started
                        running.append(pool.submit(_run_tasks, tasks))
            if len(waiting) > 2 * n_jobs:
                yield _next_result(waiting)
        while waiting:
            yield _next_result(waiting)
    except BaseException:
        for task in waiting:
            task.cancel()
        raise
    if failure is not None:
        raise failure


def _next_result(waiting: "deque[_Task]") -> Any:
    """The result of the first task; as long as another thread makes it, make others here."""
    first = waiting[0]
    for task in tuple(waiting):
        if first.is_done():
            break
        task.run()
    first.wait()
    return waiting.popleft().result()


def _run_tasks(tasks: "SimpleQueue[_Task]") -> None:
    """Run `tasks` until there are none.

    A thread does not wait for more: they may never come, if the caller drops its iterator.
    """
    with contextlib.suppress(Empty):
        while True:
            tasks.get_nowait().run()


def _started_pool(n_threads: int) -> ThreadPoolExecutor | None:
    """A pool of at least `n_threads` threads, or of fewer if the system starts no more.

    It is kept for later calls of the same thread: to start a thread takes as long as to map
    hundreds of rows.
    """
    kept: tuple[ThreadPoolExecutor, int] | None = getattr(_current, "pool", None)
    if kept is not None and kept[1] >= n_threads:
        return kept[0]
    pool = ThreadPoolExecutor(n_threads, "sparsemaps")
    n_started = _start_threads(pool, n_threads)
    if n_started == 0:
        pool.shutdown()
        return None
    if n_started == n_threads:
        _current.pool = pool, n_threads
    return pool


def _start_threads(pool: ThreadPoolExecutor, n_threads: int) -> int:
    """Start the threads of the pool and return how many there are; 0 if memory is short.

    ``Thread.start`` waits for ever for a thread that finds no memory for its first call. So memory
    is asked for before each start, and no thread of the pool has work, for which it would take
    memory, until all have started. Other threads of the program can still take it in between.
    """
    all_started = threading.Event()
    n_started = 0
    try:
        for _ in range(n_threads):
            mmap.mmap(-1, _THREAD_BYTES).close()
            pool.submit(all_started.wait)
            n_started += 1
    except RuntimeError:  # no more threads can be started
        pass
    except (OSError, MemoryError):
        return 0
    finally:
        all_started.set()
    return n_started


def _forget_pool() -> None:
    """A new process has no threads but the one that made it."""
    vars(_current).pop("pool", None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


class _Task:
    """A call that is made once: by a thread of the pool, or by the first who asks for its result.

    Where the system starts fewer threads than were asked for, or none, the calls are made
    nevertheless.
    """

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function = function
        self._arguments: tuple[Any, ...] | None = arguments
        self._begun = threading.Lock()
        self._done = threading.Lock()
        self._done.acquire()
        self._found: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        arguments = self._arguments
        if arguments is None or not self._begun.acquire(blocking=False):
            return
        _current.in_task = True
        try:
            self._found = self._function(*arguments)
        except Exception as error:
            self._error = error
        except BaseException as error:  # such as an interrupt, which only the caller gets
            self._error = error
            raise
        finally:  # takes no memory: result() must not wait for ever
            _current.in_task = False
            self._arguments = None  # the queue of the threads may have the task still
            self._done.release()

    def is_done(self) -> bool:
        return not self._done.locked()

    def wait(self) -> None:
        """Until `run` has ended, which somebody must have called."""
        self._done.acquire()
        self._done.release()

    def cancel(self) -> None:
        """Never run it; if it has begun, wait for its end."""
        if not self._begun.acquire(blocking=False):
            self.wait()

    def result(self) -> Any:
        """What was found, or the exception; asked for once, after `wait`."""
        found, self._found = self._found, None
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # which holds this call by its traceback
        return found
