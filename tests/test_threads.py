"""Threads over blocks: order, errors, and fewer threads than were asked for."""

import threading
import time

import pytest

from sparsemaps import _threads


@pytest.mark.parametrize("n_started", [0, 1, 2])
def test_threads_that_cannot_start(monkeypatch, n_started):
    """The system's limit on threads costs speed and nothing else."""
    start, started = threading.Thread.start, []

    def limited(thread):
        if len(started) == n_started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)
    blocks = [(i, i + 1) for i in range(50)]
    assert _threads.run(lambda a, b: 10 * a + b, blocks, 4) == [11 * i + 1 for i in range(50)]
    assert len(started) == n_started


@pytest.mark.parametrize("n_started", [0, 2])
def test_the_first_error_is_raised(monkeypatch, n_started):
    start, started = threading.Thread.start, []

    def limited(thread):
        if len(started) == n_started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", limited)

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
