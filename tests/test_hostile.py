"""Objects whose attributes lie end in a result, a ValueError or a TypeError, never in a crash."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def run(*arguments):
    """What the script prints. In a process of its own, as what goes wrong here is a crash."""
    done = subprocess.run(
        [sys.executable, "-m", "_scripts.hostile", *arguments],
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode != 0:
        at = done.stderr.rpartition("\r")[2][:2000]
        pytest.fail(f"it ended with {done.returncode} at: {at}", pytrace=False)
    *wrong, n_calls = done.stdout.splitlines()
    return wrong, int(n_calls)


def test_hostile_objects():
    """Each meets every fourth function; the script without an argument gives all to all."""
    wrong, n_calls = run("4")
    assert wrong == []
    assert n_calls > 2000
