"""Threads over blocks: order, errors, interrupts, forks, and fewer threads than asked for."""

import errno
import io
import multiprocessing
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sparsemaps import _threads


def start_at_most(monkeypatch, n_threads):
    """Let no more threads start; the list of those that have."""
    start, started = threading.Thread.start, []

    def limited(thread):
        if len(started) == n_threads:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    return started


@pytest.mark.parametrize("n_started", [0, 1, 2])
def test_threads_that_cannot_start(monkeypatch, n_started):
    """The system's limit on threads costs speed and nothing else."""
    started = start_at_most(monkeypatch, n_started)
    blocks = [(i, i + 1) for i in range(50)]
    assert _threads.run(lambda a, b: 10 * a + b, blocks, 4) == [11 * i + 1 for i in range(50)]
    assert len(started) == n_started


@pytest.mark.parametrize("n_started", [0, 1, 2])
def test_no_memory_for_threads(monkeypatch, n_started):
    """They are not started, as Python would wait for ever for them: the caller does the work."""
    asked = []

    def limited(fd, size):
        asked.append(size)
        if len(asked) > n_started:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        return io.BytesIO()

    monkeypatch.setattr(_threads.mmap, "mmap", limited)
    threads = threading.active_count()
    found = _threads.run(lambda i: (i, threading.get_ident()), [(i,) for i in range(50)], 4)
    assert found == [(i, threading.get_ident()) for i in range(50)]
    assert len(asked) == n_started + 1
    assert threading.active_count() == threads


@pytest.mark.parametrize("n_started", [0, 2])
def test_the_first_error_is_raised(monkeypatch, n_started):
    start_at_most(monkeypatch, n_started)

    def fail(i):
        if i % 7 == 5:
            raise ValueError(f"block {i}")
        return i

    results = _threads.stream(fail, ((i,) for i in range(100)), 3)
    found = [next(results) for _ in range(5)]
    with pytest.raises(ValueError, match="block 5"):
        next(results)
    assert found == [0, 1, 2, 3, 4]


def test_an_error_that_is_waited_for():
    """A thread fails while its result is being asked for already."""

    def fail(i):
        time.sleep(0.002)
        raise ValueError(f"block {i}")

    for _ in range(20):
        with pytest.raises(ValueError, match="block 0"):
            _threads.run(fail, [(i,) for i in range(6)], 3)


def square(i):
    time.sleep(0.001 * (i % 3))
    return i * i


SQUARES = [i * i for i in range(40)]


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 7, -1])
def test_results_are_in_order(n_jobs):
    assert _threads.run(square, [(i,) for i in range(40)], n_jobs) == SQUARES
    assert list(_threads.stream(square, ((i,) for i in range(40)), n_jobs)) == SQUARES
    assert _threads.run(square, [], n_jobs) == []


def test_few_are_under_way():
    """Blocks are read as far as they are needed, and results are not held."""
    n_read = 0

    def blocks():
        nonlocal n_read
        for i in range(100):
            n_read += 1
            yield (i,)

    for n_results, _ in enumerate(_threads.stream(square, blocks(), 2), start=1):
        assert n_read <= n_results + 2 * 2


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_of_the_blocks_comes_after_their_results(n_jobs):
    def blocks():
        yield from ((i,) for i in range(5))
        raise ValueError("no more")

    results = _threads.stream(square, blocks(), n_jobs)
    assert [next(results) for _ in range(5)] == SQUARES[:5]
    with pytest.raises(ValueError, match="no more"):
        next(results)


def test_the_caller_is_one_of_the_threads():
    identities = set()

    def note(i):
        identities.add(threading.get_ident())
        time.sleep(0.002)

    _threads.run(note, [(i,) for i in range(40)], 3)
    assert len(identities) == 3
    assert threading.get_ident() in identities


def test_blocks_of_a_block_have_one_thread():
    def identities(_):
        def identity(i):
            time.sleep(0.001)
            return threading.get_ident()

        return set(_threads.run(identity, [(i,) for i in range(10)], 4))

    found = _threads.run(identities, [(i,) for i in range(6)], 2)
    assert [len(one) for one in found] == [1] * 6
    (found,) = _threads.run(identities, [(0,)], 2)  # a single block is not one of several
    assert len(found) == 4


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_blocks_are_of_about_equal_work(n_jobs):
    """As many for each thread, none of them of a rest."""
    lengths = np.random.default_rng(0).integers(0, 200, 20_000)
    before = np.concatenate([[0], np.cumsum(lengths)])
    blocks = _threads.cut_rows(len(lengths), lambda row: int(before[row]), n_jobs)
    assert [start for start, _ in blocks[1:]] == [stop for _, stop in blocks[:-1]]
    assert (blocks[0][0], blocks[-1][1]) == (0, len(lengths))
    assert len(blocks) % n_jobs == 0
    work = np.diff(before[[0, *(stop for _, stop in blocks)]])
    assert work.max() <= min(_threads.BLOCK_ENTRIES, 1.01 * work.min() + 400)


def test_from_an_executor():
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: _threads.run(square, [(i,) for i in range(40)], 2), "1234"):
            assert found == SQUARES


def _run_in_child(pipe):
    pipe.send(_threads.run(square, [(i,) for i in range(40)], 3))


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no safe fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_after_fork():
    assert _threads.run(square, [(i,) for i in range(40)], 3) == SQUARES
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_run_in_child, args=(there,))
    child.start()
    assert here.poll(60), "the child hangs"
    assert here.recv() == SQUARES
    child.join()


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to oneself")
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_interrupt_ends_the_work(n_jobs):
    calls = []

    def work(i):
        calls.append(i)
        if i == 3:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        _threads.run(work, [(i,) for i in range(2000)], n_jobs)
    assert len(calls) < 1000


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_bad_n_jobs(n_jobs):
    with pytest.raises(ValueError, match=r"^n_jobs must be None or a non-zero integer, got "):
        _threads.resolve_n_jobs(n_jobs)


def test_how_many_threads():
    processors = _threads.resolve_n_jobs(-1)
    assert processors >= 1
    assert _threads.resolve_n_jobs(-2) == max(1, processors - 1)
    assert _threads.resolve_n_jobs(-1000) == 1
    assert (_threads.resolve_n_jobs(None), _threads.resolve_n_jobs(5)) == (1, 5)
    assert _threads.resolve_n_jobs(10**30) == 2**31 - 1


@pytest.mark.parametrize("n_jobs", [1, 4])
@pytest.mark.parametrize("lengths", [[], [0] * 9, [1] * 50000, [10**6, 1, 1], [5, 200000] * 20])
def test_cuts_cover_all_rows(lengths, n_jobs):
    before = np.concatenate([[0], np.cumsum(lengths)]).astype(int).tolist()
    blocks = _threads.cut_rows(len(lengths), before.__getitem__, n_jobs)
    assert [start for start, _ in blocks] == [0, *(stop for _, stop in blocks)][: len(blocks)]
    assert (blocks[-1][1] if blocks else 0) == len(lengths)
    for start, stop in blocks:
        assert stop == start + 1 or before[stop] - before[start] <= _threads.BLOCK_ENTRIES
