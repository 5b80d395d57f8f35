"""Every instruction set gives the same bits."""

import json
import os
import subprocess
import sys
from pathlib import Path

from _scripts.digests import of_everything

from sparsemaps._loops import levels

TESTS = Path(__file__).parents[1]


def digests(**environment):
    """What the script prints in a process with these environment variables, by name of the case."""
    done = subprocess.run(
        [sys.executable, "-m", "_scripts.digests"],
        cwd=TESTS,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(map(json.loads, done.stdout.splitlines()))


def test_levels_agree():
    expected = dict(of_everything())
    assert len(expected) > 300
    assert len(set(expected.values())) > 0.7 * len(expected)
    for level in levels.of_machine():
        if level == levels.in_use():
            continue
        found = digests(SPARSEMAPS_SIMD=level)
        assert found.keys() == expected.keys()
        assert [name for name in found if found[name] != expected[name]] == [], level


def test_the_level_is_the_one_asked_for():
    asked = "from sparsemaps._loops import levels; print(levels.in_use())"
    for level in levels.of_machine():
        environment = {**os.environ, "SPARSEMAPS_SIMD": level}
        run = subprocess.run(
            [sys.executable, "-P", "-c", asked],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == level


def test_unknown_level():
    environment = {**os.environ, "SPARSEMAPS_SIMD": "sse9"}
    run = subprocess.run(
        [sys.executable, "-P", "-c", "import sparsemaps._loops.rows"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0
    assert "SPARSEMAPS_SIMD must be baseline or avx2 or avx512, got 'sse9'" in run.stderr
