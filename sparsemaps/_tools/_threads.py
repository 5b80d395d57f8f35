"""Running calls in threads, with results in order.

The kernels release the interpreter's lock, so Python's threads run at the same time. The result of
a row is a function of the row alone: the output depends neither on the blocks nor on the threads.
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
"""A pool of more threads is not kept for the next call."""


_current = threading.local()
"""For each thread, ``in_task`` says that it works on one of several blocks; ``pool`` has the
threads that help it."""


def resolve_n_jobs(n_jobs: object) -> int:
    """Return the number of threads that `n_jobs` means: None is one, -1 all processors, -2 all but
    one ...

    Within a task it is one, as a task is not divided again.
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
    """Give the libraries below NumPy and scikit-learn, of BLAS and OpenMP, at most some threads.

    Threads of OpenMP wait for one another in loops. On a machine whose processors are busy, a fit
    by several threads may take a hundred times as long as by one.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(n_threads):
        yield


def run(
    function: Callable[..., T], blocks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> list[T]:
    """Call ``function(*block)`` on each block and return the results in order.

    The first exception, in the order of the blocks, is raised; blocks not begun by then are
    dropped.
    """
    return list(stream(function, blocks, n_jobs))


def stream(
    function: Callable[..., T], blocks: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Iterator[T]:
    """Yield the results of ``run`` one after the other; few are computed in advance.

    `blocks` may be any iterable. No more of it is read than is needed. The caller is one of the
    threads: while it waits for a result, it makes others.
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
    tasks: deque[_Task] = deque()  # that nobody has begun
    waiting: deque[_Task] = deque()  # whose results the caller has not got yet
    shares: list[_Share] = []  # of threads of the pool
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
        _current.in_task = False  # an interrupt may have come before the line that does it
        _close(tasks, shares)
        raise
    finally:
        if pool.n_threads > _KEPT_THREADS:
            _forget_pool()
    if failure is not None:
        raise failure


def _next_result(tasks: "deque[_Task]", waiting: "deque[_Task]") -> Any:
    """Return the result of the first task. While another thread makes it, this one makes others."""
    first = waiting[0]
    while not first.end.has_come:
        try:
            task = tasks.popleft()
        except IndexError:  # another thread has taken the first
            first.end.wait()
            break
        _current.in_task = True
        try:
            task.run(kept=Exception)  # an interrupt, which only the caller gets, ends all
        finally:
            _current.in_task = False
    return waiting.popleft().result()


def _close(tasks: "deque[_Task]", shares: "list[_Share]") -> None:
    """Begin no more tasks, and wait for those that other threads have begun."""
    tasks.clear()
    for share in shares:
        share.close()


# A signal may interrupt the caller between any two instructions, and its handler may raise. So no
# other thread must ever wait for a step of the caller. The caller takes tasks and hands out shares
# by single calls of C, and never holds a lock that others acquire. Event, Condition, Semaphore,
# Thread.start, Future and ThreadPoolExecutor are Python code, and do not have this property.


class _End:
    """An event that happens once, for which one thread may wait.

    If a thread waits for it, it happens in another thread than the main one.
    """

    def __init__(self) -> None:
        self.has_come = False
        self._lock = _thread.allocate_lock()
        self._lock.acquire()

    def come(self) -> None:
        self.has_come = True
        self._lock.release()

    def wait(self) -> None:
        if not self.has_come:  # else an interrupted call may have acquired the lock
            self._lock.acquire()


class _Task:
    """A call of a function, with its result or error. The thread that takes it makes the call."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.end = _End()
        self._function = function
        self._arguments = arguments
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self, kept: type[BaseException]) -> None:
        """Make the call. Errors of the type `kept` are raised by `result`."""
        try:
            self._result = self._function(*self._arguments)
        except kept as error:
            self._error = error
        self._arguments = ()
        self.end.come()

    def result(self) -> Any:
        """Return the result of the call, or raise its error. It is called once, after the end."""
        result, self._result = self._result, None
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # which holds this call by its traceback
        return result


class _Share:
    """The work of a thread of the pool for a caller: it runs tasks until there are none.

    It does not wait for more tasks, as none follow if the caller drops its iterator.
    """

    def __init__(self, tasks: "deque[_Task]") -> None:
        self.end = _End()
        self._tasks = tasks
        self._wording = current_wording()  # errors have the words of the caller
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
        except IndexError:  # there are none
            pass
        finally:
            self.end.come()

    def close(self) -> None:
        """Keep this share from being begun; if another thread has begun it, wait for its end.

        The garbage collector may close an iterator that is dropped, in any thread.
        """
        if not self._begun.acquire(blocking=False) and self._thread != _thread.get_ident():
            self.end.wait()


class _Pool:
    """Threads that run shares, for one caller. They end when the pool is dropped.

    They are kept for later calls of the same thread, as starting a thread takes as long as mapping
    hundreds of rows.
    """

    def __init__(self) -> None:
        self._shares: SimpleQueue[_Share | None] = SimpleQueue()
        self.n_threads = 0

    def submit(self, share: _Share, n_threads: int) -> None:
        """Let a thread run `share`. The pool gets `n_threads` threads if the system starts as many.

        Without any thread, the caller runs all tasks.
        """
        if self.n_threads < n_threads:
            with contextlib.suppress(RuntimeError):  # no more threads can be started
                _thread.start_new_thread(_run_shares, (self._shares,))
                self.n_threads += 1
        if self.n_threads:
            self._shares.put(share)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):  # an interrupt came before it was made
            self._shares.put(None)


def _run_shares(shares: "SimpleQueue[_Share | None]") -> None:
    """Run the main loop of a thread of a pool."""
    _current.in_task = True
    while (share := shares.get()) is not None:
        share.run()
        del share  # hold no tasks while there are none to do
    shares.put(None)  # for the next thread


def _pool() -> _Pool:
    """Return the threads that help this one."""
    pool: _Pool | None = getattr(_current, "pool", None)
    if pool is None:
        _current.pool = pool = _Pool()
    return pool


def _forget_pool() -> None:
    """Drop the pool. A new process does it too, as it has no threads but its first one."""
    vars(_current).pop("pool", None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
