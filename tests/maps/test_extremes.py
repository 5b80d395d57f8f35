"""The ends of what integers and memory allow; outputs that are written at the same time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from _scripts import children, programs

from sparsemaps import libsvm

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")


def test_extremes():
    done = subprocess.run(
        [sys.executable, "-m", "_scripts.extremes"],
        cwd=TESTS,
        # Freed arrays are given back, and threads hold no memory of their own in reserve.
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"it ended with {done.returncode} at: {done.stderr[-300:]}"
    assert len(done.stdout.split()) == 2, done.stdout[-2000:]
    integers, memory = map(int, done.stdout.split())
    assert integers > 500
    assert memory > 100


def test_outputs_of_one_name(tmp_path):
    """Processes that write one file at the same time: it is always that of one of them, whole."""
    path = tmp_path / "out.svm"
    libsvm.dump_svmlight_file(np.full((300, 5), 1), np.zeros(300), path)
    context = programs.context()
    start = context.Barrier(3)
    both = [context.Process(target=children.dump, args=(number, path, start)) for number in (1, 2)]
    for process in both:
        process.start()
    start.wait()
    while any(process.is_alive() for process in both):
        X, _ = libsvm.load_svmlight_file(path)
        assert X.shape == (300, 5)
        assert np.ptp(X.data) == 0
        time.sleep(0.002)  # the rest of the time is for the others
    assert [process.exitcode for process in both] == [0, 0]
    assert list(tmp_path.iterdir()) == [path]
