"""Jobs whose writes fail, or that signals end: one error, no half-written file, and a run that goes
on from there."""

import contextlib
import os
import random
import signal
import time

import pytest
from _data.dedup_records import make_texts, write_lines
from _scripts.commands import command
from _scripts.programs import Program, posix

TEXTS = make_texts(240, seed=6)

JOBS = {
    "map": ["map", "minhash", "--texts", "word:2", "--id-field", "id", "--format", "npy"],
    "npz": ["map", "minmax", "--texts", "word:2", "--n-hashes", "16", "--format", "npz"],
    "text": ["text"],
    "pairs": ["pairs", "minhash", "--texts", "word:2", "--threshold", "0.5", "--exact"],
    "dedup": ["dedup", "minhash", "--texts", "word:2", "--threshold", "0.5", "--exact"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two files of texts, in the folder where the command runs."""
    (tmp_path / "in").mkdir()
    for part in range(2):
        write_lines(tmp_path / f"in/{part}.jsonl", TEXTS[120 * part : 120 * part + 120])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def outputs(folder, name):
    """The output, or the outputs in a directory, without records of where they are."""
    found = files(folder)
    return {
        path.removeprefix(name): content
        for path, content in found.items()
        if path.startswith(name) and not path.startswith(f"{name}.stages") and path[-5:] != ".json"
    }


@posix
@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("is_many", [False, True])
def test_a_full_disk_at_each_write(folder, name, is_many):
    """A file may not become larger than a little less than each of those that the job writes."""
    resource = pytest.importorskip("resource")
    if name == "pairs" and is_many:
        pytest.skip("it has one output")
    end = "/" if is_many else ""
    assert command(*JOBS[name], "in", "-o", f"whole{end}").returncode == 0
    whole = outputs(folder, "whole")
    sizes = {len(text) for path, text in files(folder).items() if path.startswith("whole")}
    kept = resource.getrlimit(resource.RLIMIT_FSIZE)
    for limit in sorted(size - 1 for size in sizes if size > 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, kept[1]))
        try:
            done = command(*JOBS[name], "in", "-o", f"out{end}")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, kept)
        assert done.returncode == 2, limit
        assert done.stderr.decode().endswith(": File too large\n")
        assert done.stderr.count(b"\n") == 1
        found = outputs(folder, "out")
        assert all(whole[path] == text for path, text in found.items())
        assert not [path for path in files(folder) if path.endswith((".tmp", "-lock"))]
    assert command(*JOBS[name], "in", "-o", f"out{end}").returncode == 0
    assert outputs(folder, "out") == whole


@pytest.mark.parametrize("name", JOBS)
def test_where_nothing_can_be_written(folder, name):
    """The folder is not there, or a file stands in its place."""
    (folder / "file").write_bytes(b"mine")
    before = files(folder)
    for output in ("none/out", "file/out", "file/out/"):
        done = command(*JOBS[name], "in", "-o", output)
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
        assert b"Traceback" not in done.stderr
        assert files(folder) == before
    if name in ("pairs", "dedup"):
        (folder / "out.stages").write_bytes(b"mine")
        done = command(*JOBS[name], "in", "-o", "out")
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
        done = command(*JOBS[name], "in", "-o", "out")
        assert done.returncode == 2
        assert done.stderr.endswith(b"Permission denied\n")
    finally:
        os.chmod(folder, 0o700)
    assert files(folder) == before


@posix
@pytest.mark.parametrize("name", ["pairs", "dedup"])
def test_signals_at_any_moment(folder, name):
    """The command says one line and leaves no temporary file; killed, it leaves what the next run
    removes or what has no effect."""
    for part in range(2):
        lines = [f"{text} {part} {row}" for row in range(3) for text in TEXTS]
        write_lines(folder / f"in/{part}.jsonl", lines)
    start = time.monotonic()
    assert Program(*JOBS[name], "in", "-o", "whole", cwd=folder).end()[0] == 0
    seconds = time.monotonic() - start
    whole, draw = outputs(folder, "whole"), random.Random(name)
    for number in (signal.SIGINT, signal.SIGKILL):
        before = set(folder.rglob("*"))
        program = Program(*JOBS[name], "in", "-o", "out", cwd=folder)
        while program.process.is_alive() and set(folder.rglob("*")) == before:
            time.sleep(0.001)  # until it has begun
        time.sleep(draw.uniform(0, seconds / 2))
        with contextlib.suppress(ProcessLookupError):  # it has ended
            program.signal(number)
        status, said = program.end()
        assert status in (0, 128 + number, -number)
        assert said.count(b"\n") <= 1
        found = outputs(folder, "out")
        assert found in ({}, whole)
        if number != signal.SIGKILL:
            left = [path for path in files(folder) if path.startswith("out.stages/.")]
            assert left == []
    assert Program(*JOBS[name], "in", "-o", "out", cwd=folder).end()[0] == 0
    assert outputs(folder, "out") == whole
