"""Running calls in threads, with results in order.

The kernels release the interpreter lock, so Python threads run in parallel. The result of a row
depends on the row alone, so the output depends neither on the blocks nor on the threads.
"""

import _thread
import contextlib
import numbers
import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

from sparsemaps._tools._checks import LARGEST_INT32
from sparsemaps._tools._parameters import ParameterError, absent, current_wording, wording_settings

T = TypeVar("T")

_KEPT_THREADS = max(32, os.cpu_count() or 1)
"""A pool with more threads is not kept for the next call."""


_current = threading.local()
"""Per thread: ``in_task`` is true while the thread works on one of several blocks; ``pool`` has its
helper threads."""


def resolve_n_jobs(n_jobs: object) -> int:
    """Return the number of threads that `n_jobs` means: None is 1, -1 all processors, -2 all but
    one, and so on.

    Within a task it is always 1, because tasks are not divided further.
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise ParameterError("n_jobs", repr(n_jobs), f"{absent()} or a non-zero integer")
    n_jobs = int(n_jobs)
    if getattr(_current, "in_task", False):
        return 1
    if n_jobs > 0:
        return min(n_jobs, LARGEST_INT32)
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return max(1, processors + 1 + n_jobs)


@contextlib.contextmanager
def libraries_take(n_threads: int) -> Iterator[None]:
    """Limit the threads of the BLAS and OpenMP libraries under NumPy and scikit-learn.

    OpenMP threads wait for one another in busy loops. On a machine with busy processors, fitting
    with several threads may take a hundred times as long as with one.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n_threads):
        yield


def run(
    function: Callable[..., T], blocks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> list[T]:
    """Call ``function(*block)`` on each block and return the results in order.

    The first exception, in the order of the blocks, is raised. Blocks that have not been started by
    then are dropped.
    """
    return list(stream(function, blocks, n_jobs))


def stream(
    function: Callable[..., T], blocks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[T]:
    """Yield the results of `run` one by one, computing only a few in advance.

    `blocks` may be any iterable, and is not read further than needed. The calling thread works too:
    while it waits for a result, it computes others.
    """
    n_jobs = resolve_n_jobs(n_jobs)
    n_jobs = min(n_jobs, operator.length_hint(blocks, n_jobs))
    if n_jobs <= 1:
        for block in blocks:
            yield function(*block)
        return
    iterator = iter(blocks)
    failure: Exception | None = None
    pool = _pool()
    tasks: deque[_Task] = deque()  # not yet started by any thread
    waiting: deque[_Task] = deque()  # results not yet yielded
    shares: list[_Share] = []  # one per thread of the pool
    try:
        while True:
            try:
                block = next(iterator)
            except StopIteration:
                break
            except Exception as error:  # raised after the results of earlier blocks
                failure = error
                break
            task = _Task(function, block)
            waiting.append(task)
            tasks.append(task)
            shares = [share for share in shares if not share.end.has_come]
            if len(shares) < n_jobs - 1:
                shares.append(_Share(tasks))
                pool.submit(shares[-1], n_threads=len(shares))
            if len(waiting) > 2 * n_jobs:
                yield _next_result(tasks, waiting)
        while waiting:
            yield _next_result(tasks, waiting)
    except GeneratorExit:
        _close(tasks, shares)
        raise
    except BaseException:
        _current.in_task = False  # an interrupt may have skipped the line that does this
        _close(tasks, shares)
        raise
    finally:
        if pool.n_threads > _KEPT_THREADS:
            _forget_pool()
    if failure is not None:
        raise failure


def _next_result(tasks: "deque[_Task]", waiting: "deque[_Task]") -> Any:
    """Return the result of the first task. While another thread computes it, run further tasks."""
    first = waiting[0]
    while not first.end.has_come:
        try:
            task = tasks.popleft()
        except IndexError:  # another thread has taken the first task
            first.end.wait()
            break
        _current.in_task = True
        try:
            task.run(kept=Exception)  # an interrupt, which only the caller gets, ends everything
        finally:
            _current.in_task = False
    return waiting.popleft().result()


def _close(tasks: "deque[_Task]", shares: "list[_Share]") -> None:
    """Start no more tasks, and wait for those that other threads have started."""
    tasks.clear()
    for share in shares:
        share.close()


# A signal may interrupt the caller between any two instructions, and its handler may raise.
# Therefore no other thread may ever wait for a step of the caller. The caller takes tasks and hands
# out shares by single C calls, and never holds a lock that other threads acquire. Event, Condition,
# Semaphore, Thread.start, Future and ThreadPoolExecutor are implemented in Python and lack this
# property.


class _End:
    """An event that happens once, for which one thread may wait.

    If a thread waits for it, the event happens in a thread other than the main thread.
    """

    def __init__(self) -> None:
        self.has_come = False
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def come(self) -> None:
        self.has_come = True
        self._lock.release()

    def wait(self) -> None:
        if not self.has_come:  # otherwise, an interrupted call may have acquired the lock
            self._lock.acquire()


class _Task:
    """A function call, with its result or error. The thread that takes the task makes the call."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.end = _End()
        self._function = function
        self._arguments = arguments
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self, kept: type[BaseException]) -> None:
        """Make the call. `result` raises errors of type `kept`; other errors propagate at once."""
        try:
            self._result = self._function(*self._arguments)
        except kept as error:
            self._error = error
        self._arguments = ()
        self.end.come()

    def result(self) -> Any:
        """Return the result of the call, or raise its error. Must be called once, after the end."""
        result, self._result = self._result, None
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # its traceback refers to this frame
        return result


class _Share:
    """The work of one pool thread for one caller: it runs tasks until none are left.

    It does not wait for more tasks, because none come if the caller drops its iterator.
    """

    def __init__(self, tasks: "deque[_Task]") -> None:
        self.end = _End()
        self._tasks = tasks
        self._wording = current_wording()  # so that errors have the caller's wording
        self._begun = _thread.allocate_lock()
        self._thread: int | None = None

    def run(self) -> None:
        if not self._begun.acquire(blocking=False):
            return
        self._thread = _thread.get_ident()
        try:
            with wording_settings(self._wording):
                while True:
                    self._tasks.popleft().run(kept=BaseException)
        except IndexError:  # no tasks left
            pass
        finally:
            self.end.come()

    def close(self) -> None:
        """Prevent this share from starting. If another thread has started it, wait for its end.

        If an iterator is dropped, the garbage collector may call this in any thread.
        """
        if not self._begun.acquire(blocking=False) and self._thread != _thread.get_ident():
            self.end.wait()


class _Pool:
    """Threads that run shares for one caller. They end when the pool is dropped.

    They are kept for later calls by the same thread, because starting a thread takes as long as
    mapping hundreds of rows.
    """

    def __init__(self) -> None:
        self._shares: SimpleQueue[_Share | None] = SimpleQueue()
        self.n_threads = 0

    def submit(self, share: _Share, n_threads: int) -> None:
        """Queue `share` for a thread, and add a thread if the pool has fewer than `n_threads`.

        If the system cannot start any thread, the caller runs all tasks.
        """
        if self.n_threads < n_threads:
            with contextlib.suppress(RuntimeError):  # the system cannot start more threads
                _thread.start_new_thread(_run_shares, (self._shares,))
                self.n_threads += 1
        if self.n_threads:
            self._shares.put(share)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # interrupted before __init__ finished
            self._shares.put(None)


def _run_shares(shares: "SimpleQueue[_Share | None]") -> None:
    """Run the main loop of a thread of a pool."""
    _current.in_task = True
    while (share := shares.get()) is not None:
        share.run()
        del share  # do not keep tasks alive while waiting
    shares.put(None)  # for the next thread


def _pool() -> _Pool:
    """Return the helper threads of this thread, creating the pool if needed."""
    pool: _Pool | None = getattr(_current, "pool", None)
    if pool is None:
        _current.pool = pool = _Pool()
    return pool


def _forget_pool() -> None:
    """Drop the pool. Forked processes call this too, because only the forking thread survives
    there."""
    vars(_current).pop("pool", None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
