"""Workers of Ray that die in each stage of a job: the outputs are those of a run without Ray."""

import random

import pytest
from _data.chance import named
from _scripts import dying_workers
from _scripts.programs import posix

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def ray():
    started = dying_workers.started()
    yield started
    started.shutdown()


@posix
@pytest.mark.parametrize("name", dying_workers.STAGES)
def test_the_task_of_a_dead_worker_is_done_again(tmp_path, ray, name):
    dying_workers.write_inputs(tmp_path)
    died = dying_workers.run(ray, name, tmp_path, random.Random(named(name)), most=4)
    assert all(died.values()), died
