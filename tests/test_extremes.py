"""The ends of what integers and memory allow; outputs that are written at the same time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sparsemaps import libsvm

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")


@pytest.mark.parametrize(("group", "refused"), [("integers", 500), ("memory", 100)])
def test_extremes(group, refused):
    script = Path(__file__).with_name("extremes.py")
    done = subprocess.run(
        [sys.executable, script, group],
        # Freed arrays are given back, and threads hold no memory of their own in reserve.
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"it ended with {done.returncode} at: {done.stderr[-300:]}"
    assert done.stdout.strip().isdigit(), done.stdout[-2000:]
    assert int(done.stdout) > refused


DUMP = """
import sys
import numpy as np
from sparsemaps import libsvm

number = int(sys.argv[1])
print("imported", flush=True)
sys.stdin.readline()
for _ in range(10):
    libsvm.dump_svmlight_file(np.full((300, 5), number), np.zeros(300), sys.argv[2])
"""


def test_outputs_of_one_name(tmp_path):
    """Processes that write one file at the same time: it is always that of one of them, whole."""
    path = tmp_path / "out.svm"
    libsvm.dump_svmlight_file(np.full((300, 5), 1), np.zeros(300), path)
    programs = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", DUMP, str(number), path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for number in (1, 2)
    ]
    for program in programs:
        assert program.stdout.readline() == b"imported" + os.linesep.encode()
    for program in programs:
        program.stdin.write(b"\n")
        program.stdin.close()
    while any(program.poll() is None for program in programs):
        X, _ = libsvm.load_svmlight_file(path)
        assert X.shape == (300, 5)
        assert np.ptp(X.data) == 0
        time.sleep(0.002)  # the rest of the time is for the programs
    for program in programs:
        program.stdout.close()
    assert [program.returncode for program in programs] == [0, 0]
    assert list(tmp_path.iterdir()) == [path]
