"""Clusters of processes: the same bytes, whatever is lost on the way."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.svmlight import write
from _oracles.one_machine import CWS, joined, on_one_machine
from _scripts import children

import sparsemaps.dask as sd
from sparsemaps import ConsistentWeightedSampling, CountSketch
from sparsemaps.libsvm import dump_svmlight_file

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

# Clusters that come and go leave sockets that Python warns of.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def expected(inputs, tmp_path_factory):
    return on_one_machine(tmp_path_factory.mktemp("expected") / "out.svm", inputs)


def cluster(n_workers, **options):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, **options
    )


@pytest.mark.cluster
def test_two_processes(inputs, expected, tmp_path):
    with cluster(2) as workers, distributed.Client(workers) as client:
        parts = sd.map_files(CWS, inputs, tmp_path / "out", partition_bytes=700, client=client)
        assert joined(parts) == expected
        (tmp_path / "bad").write_bytes(b"1 1:1\n" * 99 + b"x 1:1\n")
        with pytest.raises(ValueError, match="bad: line 100, column 1: expected a number as label"):
            sd.map_files(CWS, tmp_path / "bad", tmp_path / "out2", partition_bytes=100)


COMMAND = [sys.executable, "-P", "-m", "sparsemaps"]


def outputs_of(folder):
    """The names and the bytes of the outputs."""
    paths = [path for path in folder.iterdir() if path.suffix != ".json"]
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.cluster
def test_the_command(inputs, tmp_path):
    names = [os.path.relpath(path, tmp_path) for path in inputs]
    options = ["map", "minmax", "--n-hashes", "16", "--bits", "4", *names]
    subprocess.run([*COMMAND, *options, "-o", "one/"], cwd=tmp_path, check=True)
    with cluster(2) as workers:
        for name, dask_options in {
            "here": ["--dask", "--n-jobs", "2"],
            "there": ["--scheduler", workers.scheduler_address],
        }.items():
            # The workers of the other cluster have another current directory.
            done = subprocess.run(
                [*COMMAND, *options, "--progress", "-o", f"{name}/", *dask_options],
                cwd=tmp_path,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert done.returncode == 0
            assert "100%" in done.stderr
            assert "rows/s" in done.stderr
            assert "Warning" not in done.stderr  # as that the other cluster has taken a port
            assert outputs_of(tmp_path / name) == outputs_of(tmp_path / "one")
    (tmp_path / "bad").write_bytes(b"1 1:1\nx\n")
    done = subprocess.run(
        [*COMMAND, "map", "minmax", tmp_path / "bad", "-o", f"{tmp_path}/out/", "--dask"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 2
    assert re.fullmatch(r"sparsemaps: .*bad: line 2, column 1: expected a number.*\n", done.stderr)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An input that takes two workers some seconds, in about 40 parts."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(SEED)
    X = sp.random_array((4000, 10**6), density=1e-4, random_state=rng, format="csr")
    X.data += 0.01
    dump_svmlight_file(X, rng.integers(0, 2, 4000), str(folder / "in.svm"), zero_based=False)
    map = ConsistentWeightedSampling(n_hashes=1024, random_state=0)
    partition_bytes = os.path.getsize(folder / "in.svm") // 40
    return (
        map,
        folder / "in.svm",
        partition_bytes,
        on_one_machine(folder / "out", folder / "in.svm", map),
    )


def wait_for_parts(out, n, seconds=300):
    end = time.monotonic() + seconds
    while len(list(out.glob("part-*.svm"))) < n:
        assert time.monotonic() < end, "the job makes no parts"
        time.sleep(0.005)


@pytest.mark.cluster
@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_workers(inputs, expected, tmp_path, n_workers):
    with cluster(n_workers) as workers, distributed.Client(workers):
        for partition_bytes in (211, 1500, 2**26):
            out = tmp_path / str(partition_bytes)
            parts = sd.map_files(CWS, inputs, out, partition_bytes=partition_bytes)
            assert joined(parts) == expected


@pytest.mark.cluster
def test_workers_that_are_killed(large, tmp_path):
    map, path, partition_bytes, expected = large
    out = tmp_path / "out"
    killed = []

    def kill(workers):
        for n_parts in (3, 12):
            wait_for_parts(out, n_parts)
            pid = list(workers.workers.values())[len(killed)].pid
            os.kill(pid, signal.SIGKILL)
            killed.append((pid, len(list(out.glob("part-*.svm")))))

    with cluster(2) as workers, distributed.Client(workers):
        killer = threading.Thread(target=kill, args=(workers,))
        killer.start()
        parts = sd.map_files(map, path, out, partition_bytes=partition_bytes)
        killer.join()
    assert len(killed) == 2
    assert all(n_parts < len(parts) for _, n_parts in killed)
    assert joined(parts) == expected
    assert len(os.listdir(out)) == 2 * len(parts) + 1


JOB = """
import sys
from distributed import Client, LocalCluster
import sparsemaps.dask
from sparsemaps import ConsistentWeightedSampling

if __name__ == "__main__":
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        sparsemaps.dask.map_files(
            ConsistentWeightedSampling(n_hashes=1024, random_state=0),
            sys.argv[1], sys.argv[2], partition_bytes=int(sys.argv[3]),
        )
"""


@pytest.mark.cluster
def test_a_job_that_is_killed_and_started_again(large, tmp_path):
    map, path, partition_bytes, expected = large
    out = tmp_path / "out"
    (tmp_path / "job.py").write_text(JOB)
    command = [sys.executable, "-P", tmp_path / "job.py", path, out, str(partition_bytes)]
    there = 0
    for more in (2, 5):
        job = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        wait_for_parts(out, there + more)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        there = len(list(out.glob("part-*.svm")))
    recorded = [part.with_suffix("") for part in out.glob("part-*.svm.json")]
    before = {part: os.stat(part).st_mtime_ns for part in recorded}
    parts = sd.map_files(map, path, out, partition_bytes=partition_bytes)
    assert 0 < there - 4 <= len(before) < len(parts)
    assert joined(parts) == expected
    assert all(os.stat(part).st_mtime_ns == time for part, time in before.items())
    assert len(os.listdir(out)) == 2 * len(parts) + 1


@pytest.mark.cluster
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_a_worker_without_memory(tmp_path):
    text = write(tmp_path / "in").read_bytes()
    wide = b" ".join(b"%d:1" % column for column in range(1, 5_000_001))
    (tmp_path / "in").write_bytes(text + b"1 " + wide + b"\n" + text)
    map, out = CountSketch(n_components=16, random_state=0), tmp_path / "out"
    expected = on_one_machine(tmp_path / "expected", tmp_path / "in", map)
    with cluster(1) as workers, distributed.Client(workers) as client:
        client.gather(client.map(abs, range(20)))  # so that its threads have been started
        before = client.run(os.getpid)
        client.run(children.leave_little_memory)
        try:
            sd.map_files(map, tmp_path / "in", out, partition_bytes=2**20)
        except (MemoryError, distributed.KilledWorker):
            failed = True
        else:  # the worker ended, and the one that took its place has all the memory
            failed = False
            assert client.run(os.getpid) != before
    there = list(out.glob("part-*.svm"))
    parts = sd.map_files(map, tmp_path / "in", out, partition_bytes=2**20)
    assert failed == (len(there) < len(parts))
    assert joined(parts) == expected
    assert len(os.listdir(out)) == 2 * len(parts) + 1
