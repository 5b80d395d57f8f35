"""Random jobs beside plain Python.

The variable SPARSEMAPS_TEST_JOBS holds another number of jobs of each kind than 20.
"""

import os

import pytest
from _scripts import random_jobs, random_records

N_JOBS = int(os.environ.get("SPARSEMAPS_TEST_JOBS", "20"))


@pytest.fixture(scope="module", autouse=True)
def libraries():
    pytest.importorskip("pyarrow")
    pytest.importorskip(random_records.ZSTD)


@pytest.mark.parametrize("kind", random_jobs.KINDS)
@pytest.mark.parametrize("number", range(N_JOBS))
def test_outputs_are_those_of_plain_python(tmp_path, kind, number):
    random_jobs.KINDS[kind](number, tmp_path)
