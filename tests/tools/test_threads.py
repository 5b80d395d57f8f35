"""Threads over blocks: order, errors, interrupts, forks, and fewer threads than asked for."""

import _thread
import contextlib
import io
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED

from sparsemaps import CountSketch
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _blocks, _parameters, _threads
from sparsemaps.files import map_files
from sparsemaps.maps import count_sketch


def start_at_most(monkeypatch, n_threads):
    """Let no more threads start; the list of those that have."""
    start, started = _thread.start_new_thread, []

    def limited(function, arguments):
        if len(started) == n_threads:
            raise RuntimeError("can't start new thread")
        started.append(start(function, arguments))

    monkeypatch.setattr(_thread, "start_new_thread", limited)
    return started


@pytest.mark.parametrize("n_started", [0, 1, 2])
def test_threads_that_cannot_start(monkeypatch, n_started):
    """The system's limit on threads costs speed and nothing else."""
    _threads._forget_pool()
    started = start_at_most(monkeypatch, n_started)
    blocks = [(i, i + 1) for i in range(50)]
    for _ in range(3):
        assert _threads.run(lambda a, b: 10 * a + b, blocks, 4) == [11 * i + 1 for i in range(50)]
    assert len(started) == n_started
    _threads._forget_pool()


def test_threads_that_end_before_they_work(monkeypatch):
    """As for want of memory: the caller does the work."""
    _threads._forget_pool()
    monkeypatch.setattr(_thread, "start_new_thread", lambda function, arguments: 0)
    for _ in range(3):
        found = _threads.run(lambda i: (i, threading.get_ident()), [(i,) for i in range(50)], 4)
        assert found == [(i, threading.get_ident()) for i in range(50)]

    def fail(i):
        raise ValueError(f"block {i}")

    with pytest.raises(ValueError, match="block 0"):
        _threads.run(fail, [(i,) for i in range(50)], 4)
    _threads._forget_pool()


def test_no_more_threads_than_tasks(monkeypatch):
    """Many may be asked for; they start as there is work, and very many are not kept."""
    _threads._forget_pool()
    n_before = _thread._count()
    started = start_at_most(monkeypatch, 10**6)
    map_files(CountSketch(), io.BytesIO(b"1 1:1\n"), io.BytesIO(), n_jobs=3000)
    assert len(started) <= 1
    assert _threads.run(abs, ((i,) for i in range(5)), 3000) == list(range(5))
    assert len(started) <= 5

    def wait(i):
        time.sleep(0.005)
        return i

    many = _threads._KEPT_THREADS + 2
    assert _threads.run(wait, [(i,) for i in range(200)], many) == list(range(200))
    limit = time.monotonic() + 60
    while _thread._count() > n_before:
        assert time.monotonic() < limit
        time.sleep(0.005)


@pytest.mark.parametrize("n_started", [0, 2])
def test_the_first_error_is_raised(monkeypatch, n_started):
    _threads._forget_pool()
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


def at_work(n_jobs):
    """The threads that do some work, and how many of them work at the same time."""
    lock, threads, under_way, at_once = threading.Lock(), set(), 0, 0

    def work(i):
        nonlocal under_way, at_once
        with lock:
            threads.add(threading.get_ident())
            under_way += 1
            at_once = max(at_once, under_way)
        time.sleep(0.002)
        with lock:
            under_way -= 1

    _threads.run(work, [(i,) for i in range(30)], n_jobs)
    return threads, at_once


def test_the_caller_is_one_of_the_threads():
    threads, at_once = at_work(3)
    assert threading.get_ident() in threads
    assert at_once == 3


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
    lengths = np.random.default_rng(SEED).integers(0, 200, 20_000)
    before = np.concatenate([[0], np.cumsum(lengths)])
    blocks = _blocks.cut_rows(len(lengths), lambda row: int(before[row]), n_jobs)
    assert [start for start, _ in blocks[1:]] == [stop for _, stop in blocks[:-1]]
    assert (blocks[0][0], blocks[-1][1]) == (0, len(lengths))
    assert len(blocks) % n_jobs == 0
    work = np.diff(before[[0, *(stop for _, stop in blocks)]])
    assert work.max() <= min(_blocks.BLOCK_ENTRIES, 1.01 * work.min() + 400)


def test_from_an_executor():
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: _threads.run(square, [(i,) for i in range(40)], 2), "1234"):
            assert found == SQUARES


def test_threads_are_kept():
    """The same ones work for later calls, as many as each asks for."""
    found, n_before = [], _thread._count()

    def call():
        found.extend(at_work(n_jobs) for n_jobs in (3, 3, 2, 3, 5, 4))

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    assert [at_once for _, at_once in found] == [3, 3, 2, 3, 5, 4]
    first, again, fewer, more, largest, fewer_of_these = (threads for threads, _ in found)
    assert thread.ident in first
    assert first == again == more
    assert fewer <= first  # two at once, but a busy machine may let each thread have its turn
    assert fewer_of_these <= largest
    # They end with the thread that they work for.
    limit = time.monotonic() + 60
    while _thread._count() > n_before:
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_results_that_nobody_asks_for():
    """A program ends although it holds an iterator that it has begun and dropped."""
    code = """
from sparsemaps._tools import _threads
results = _threads.stream(lambda i: i, ((i,) for i in range(100)), 3)
print(next(results))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=True)
    assert done.stdout.split() == [b"0"]


def _run_in_child(pipe):
    pipe.send((_threads.run(square, [(i,) for i in range(40)], 3), at_work(3)[1]))


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no safe fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_after_fork():
    assert _threads.run(square, [(i,) for i in range(40)], 3) == SQUARES
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_run_in_child, args=(there,))
    child.start()
    assert here.poll(60), "the child hangs"
    assert here.recv() == (SQUARES, 3)
    child.join()


def test_nothing_runs_after_an_error():
    """What has begun has ended when the error is raised, and the rest is not begun."""
    under_way = set()

    def work(i):
        under_way.add(i)
        time.sleep(0.002)
        if i == 4:
            raise ValueError("block 4")
        under_way.remove(i)

    for _ in range(10):
        under_way.clear()
        with pytest.raises(ValueError, match="block 4"):
            _threads.run(work, [(i,) for i in range(100)], 4)
        assert under_way == {4}
        time.sleep(0.01)
        assert under_way == {4}


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


@pytest.mark.skipif(sys.platform == "win32", reason="no interval timers")
@pytest.mark.parametrize("arguments", [("steps", "2"), ("signals", "200")])
def test_one_interrupt_at_any_moment(arguments):
    """The call ends, and the next one gives what it always does. More of it: interrupts.py."""
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-m", "_scripts.interrupts", *arguments]
    done = subprocess.run(
        command, cwd=tests, capture_output=True, timeout=300, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) >= 200


def test_an_iterator_that_its_own_thread_closes():
    """As the garbage collector may: the thread does not wait for itself."""
    collected = threading.Event()
    results = None

    def work(i):
        if threading.get_ident() != caller:
            time.sleep(0.001)
            with contextlib.suppress(ValueError):  # the caller is within it just now
                results.close()
                collected.set()
        return i

    caller = threading.get_ident()
    results = _threads.stream(work, ((i,) for i in range(100)), 2)
    assert next(results) == 0
    assert collected.wait(60)
    assert _threads.run(square, [(i,) for i in range(40)], 2) == SQUARES


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
    blocks = _blocks.cut_rows(len(lengths), before.__getitem__, n_jobs)
    assert [start for start, _ in blocks] == [0, *(stop for _, stop in blocks)][: len(blocks)]
    assert (blocks[-1][1] if blocks else 0) == len(lengths)
    for start, stop in blocks:
        assert stop == start + 1 or before[stop] - before[start] <= _blocks.BLOCK_ENTRIES


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_parts_of_csr_output_end_in_any_order(n_jobs, monkeypatch):
    """Each is put behind those before it, whichever thread has written it and when."""
    rng = np.random.default_rng(SEED)
    X = sp.random_array((16_000, 300), density=0.05, format="csr", random_state=rng)
    assert len(_blocks.cut_rows(16_000, X.indptr.item, n_jobs)) >= 4 * n_jobs
    expected = CountSketch(n_components=64, random_state=0).fit_transform(X)

    class Slow:
        @staticmethod
        def count_sketch_csr(*arguments):
            time.sleep(rng.choice([0, 0.001, 0.01]))
            return kernel(*arguments)

    kernel = _loops.count_sketch_csr
    monkeypatch.setattr(count_sketch, "_loops", Slow)
    sketch = CountSketch(n_components=64, random_state=0, n_jobs=n_jobs)
    found = sketch.fit_transform(X)
    assert (found != expected).nnz == 0
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    X.data[-3] = np.nan
    with pytest.raises(ValueError, match="NaN in row 15999"):
        sketch.transform(X)


def test_threads_have_the_words_of_the_caller():
    """Errors of a task name parameters as the program does that asked for it; later calls have
    words of their own."""
    together = threading.Barrier(2)

    def words(_):
        together.wait(30)
        return _parameters.current_wording()

    for _ in range(2):
        own = _parameters.Wording()
        with _parameters.wording_settings(own):
            assert _threads.run(words, [(0,), (1,)], 2) == [own, own]
    library = _threads.run(words, [(0,), (1,)], 2)
    assert own not in library
