"""Damaged files of codes, of an index and of stages are read or refused, and nothing else."""

import pytest
from _scripts import damaged_files


@pytest.mark.parametrize("kind", damaged_files.KINDS)
def test_damaged_files_are_read_or_refused(kind):
    n, least = (300, 20) if kind != "stages" else (100, 5)  # of stages, most are made again
    outcomes = damaged_files.run(kind, range(n))
    assert min(outcomes["read"], outcomes["refused"]) >= least, outcomes
