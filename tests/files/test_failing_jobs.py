"""Jobs whose writes fail, or that signals end: one error, no half-written file, and a run that goes
on from there."""

import os
import random
import re
import signal
import threading
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from _data.chance import named
from _scripts import disturbed_jobs
from _scripts.commands import command
from _scripts.ended_jobs import (
    JOBS,
    check_the_next_run,
    end,
    files,
    outputs,
    run_whole,
    write_inputs,
)
from _scripts.limits import largest_file
from _scripts.programs import posix

from sparsemaps.files._formats import Spool


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """What the jobs read, in the folder where the command runs."""
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@posix
@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("is_many", [False, True])
def test_a_full_disk_at_each_write(folder, name, is_many):
    """A file may not become larger than a little less than each of those that the job writes."""
    if name in ("pairs", "kernel", "train", "predict", "filter") and is_many:
        pytest.skip("it has one output")
    end = "/" if is_many else ""
    assert command(*JOBS[name], "-o", f"whole{end}").returncode == 0
    whole = outputs(folder, "whole")
    sizes = {len(text) for path, text in files(folder).items() if path.startswith("whole")}
    for limit in sorted(size - 1 for size in sizes if size > 1):
        with largest_file(limit):
            done = command(*JOBS[name], "-o", f"out{end}")
        assert done.returncode == 2, limit
        assert re.fullmatch(r"sparsemaps: \S+: File too large\n", done.stderr.decode())
        found = outputs(folder, "out")
        assert all(whole[path] == text for path, text in found.items())
        assert not [path for path in files(folder) if path.endswith((".tmp", "-lock"))]
    assert command(*JOBS[name], "-o", f"out{end}").returncode == 0
    assert outputs(folder, "out") == whole


@posix
def test_the_first_error_of_a_spool_stays(tmp_path):
    """Its numbers, which are still in a buffer, cannot be written when it is closed."""

    def job() -> None:
        with ExitStack() as stack:
            Spool(str(tmp_path), np.int64, stack).append(np.arange(100))
            raise ValueError("first")

    with largest_file(100), pytest.raises(ValueError, match="first"):
        job()


@posix
@pytest.mark.parametrize("name", JOBS)
def test_a_pipe_receives_the_output(folder, name):
    run_whole(folder, name)
    os.mkfifo("pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_bytes()))
    reader.daemon = True
    reader.start()
    done = command(*JOBS[name], "-o", "pipe")
    assert done.returncode == 0, done.stderr
    reader.join()
    assert received == [Path("whole").read_bytes()]


@pytest.mark.parametrize("name", JOBS)
def test_where_nothing_can_be_written(folder, name):
    """The folder is not there, or a file stands in its place."""
    (folder / "file").write_bytes(b"mine")
    before = files(folder)
    for output in ("none/out", "file/out", "file/out/"):
        done = command(*JOBS[name], "-o", output)
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
        assert b"Traceback" not in done.stderr
        assert files(folder) == before
    if name in ("pairs", "dedup"):
        (folder / "out.stages").write_bytes(b"mine")
        done = command(*JOBS[name], "-o", "out")
        assert done.returncode == 2
        assert b"out.stages" in done.stderr
        assert files(folder) == {**before, "out.stages": b"mine"}


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
@pytest.mark.parametrize("name", JOBS)
def test_a_folder_that_may_only_be_read(folder, name):
    before = files(folder)
    os.chmod(folder, 0o500)
    try:
        done = command(*JOBS[name], "-o", "out")
        assert done.returncode == 2
        assert done.stderr.endswith(b"Permission denied\n")
    finally:
        os.chmod(folder, 0o700)
    assert files(folder) == before


@posix
@pytest.mark.parametrize("kind", ["rename", "truncate", "output", "stages"])
def test_inputs_and_folders_that_others_change(folder, kind):
    """By hand: all jobs, at any moment (`_scripts.disturbed_jobs`)."""
    wanted = disturbed_jobs.expected(folder, "dedup", kind)
    assert disturbed_jobs.check(folder, "dedup", kind, 10, wanted) == "refused"


@posix
@pytest.mark.parametrize("name", ["pairs", "dedup", "filter"])
def test_signals_at_any_moment(folder, name):
    """The command says one line and leaves no temporary file; killed, it leaves what the next run
    removes or what has no effect. By hand: all jobs (`_scripts.ended_jobs`)."""
    write_inputs(folder, n_copies=3)
    seconds, draw = run_whole(folder, name), random.Random(named(name))
    for number in (signal.SIGINT, signal.SIGKILL):
        end(folder, name, number, seconds, draw)
    check_the_next_run(folder, name)
