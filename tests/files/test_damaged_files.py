"""Damaged files of codes, of an index and of stages are read or refused, and nothing else."""

import pytest
from _scripts import damaged_files


@pytest.mark.parametrize("kind", damaged_files.KINDS)
def test_damaged_files_are_read_or_refused(kind):
    outcomes = damaged_files.run(kind, range(300))
    least = 20 if kind != "stages" else 8  # of stages, most are made again
    assert min(outcomes["read"], outcomes["refused"]) >= least, outcomes
