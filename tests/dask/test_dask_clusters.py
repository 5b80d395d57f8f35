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
from _scripts import children

from sparsemaps import ConsistentWeightedSampling, CountSketch
from sparsemaps.files import map_files
from sparsemaps.libsvm import dump_svmlight_file

distributed = pytest.importorskip("distributed")
from sparsemaps.dask import Workers  # noqa: E402

# Clusters that come and go leave sockets that Python warns of.
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.cluster]

CWS = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=0)


def cluster(n_workers, **options):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, **options
    )


def outputs_of(folder):
    """The names and the bytes of the outputs."""
    paths = [path for path in folder.iterdir() if path.suffix != ".json" and path.name[0] != "."]
    return {path.name: path.read_bytes() for path in paths}


def test_bad_lines(tmp_path):
    """One error names file and line, and the outputs of other tasks stay."""
    (tmp_path / "in").mkdir()
    for name in "abc":
        write(tmp_path / "in" / name)
    (tmp_path / "in/b").write_bytes(b"1 1:1\n" * 99 + b"x 1:1\n")
    with (
        cluster(2) as workers,
        distributed.Client(workers) as client,
        pytest.raises(ValueError, match="b: line 100, column 1: expected a number as label"),
    ):
        map_files(CWS, tmp_path / "in", f"{tmp_path}/out/", engine=Workers(client))
    assert "b" not in outputs_of(tmp_path / "out")


COMMAND = [sys.executable, "-P", "-m", "sparsemaps"]


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


SLOW = ConsistentWeightedSampling(n_hashes=1024, random_state=0)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Forty inputs that take two workers some seconds, and their outputs."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(SEED)
    (folder / "in").mkdir()
    for part in range(40):
        X = sp.random_array((100, 10**6), density=1e-4, random_state=rng, format="csr")
        X.data += 0.01
        path = folder / f"in/{part:02}.svm"
        dump_svmlight_file(X, rng.integers(0, 2, 100), str(path), zero_based=False)
    map_files(SLOW, folder / "in", f"{folder}/out/")
    return folder / "in", outputs_of(folder / "out")


def wait_for_outputs(out, n, seconds=300):
    end = time.monotonic() + seconds
    while len(list(out.glob("*.svm"))) < n:
        assert time.monotonic() < end, "the job makes no outputs"
        time.sleep(0.005)


def test_workers_that_are_killed(large, tmp_path):
    folder, expected = large
    out = tmp_path / "out"
    killed = []

    def kill(workers):
        for n in (3, 12):
            wait_for_outputs(out, n)
            pid = list(workers.workers.values())[len(killed)].pid
            os.kill(pid, signal.SIGKILL)
            killed.append(len(list(out.glob("*.svm"))))

    with cluster(2) as workers, distributed.Client(workers) as client:
        killer = threading.Thread(target=kill, args=(workers,))
        killer.start()
        map_files(SLOW, folder, f"{out}/", engine=Workers(client))
        killer.join()
    assert len(killed) == 2
    assert all(n < len(expected) for n in killed)
    assert outputs_of(out) == expected


JOB = """
import sys
from distributed import Client, LocalCluster
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.dask import Workers
from sparsemaps.files import map_files

if __name__ == "__main__":
    map = ConsistentWeightedSampling(n_hashes=1024, random_state=0)
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            map_files(map, sys.argv[1], sys.argv[2], engine=Workers(client))
"""


def test_a_job_that_is_killed_and_started_again(large, tmp_path):
    folder, expected = large
    out = tmp_path / "out"
    (tmp_path / "job.py").write_text(JOB)
    command = [sys.executable, "-P", tmp_path / "job.py", folder, f"{out}/"]
    there = 0
    for more in (2, 5):
        job = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        wait_for_outputs(out, there + more)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        there = len(list(out.glob("*.svm")))
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.svm")}
    done = map_files(SLOW, folder, f"{out}/")
    assert sum(file.skipped for file in done) >= there - 1 > 0
    assert outputs_of(out) == expected
    n_same = sum(path.stat().st_mtime_ns == time for path, time in before.items())
    assert n_same >= there - 1  # all but one that had no receipt yet


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_a_worker_without_memory(tmp_path):
    (tmp_path / "in").mkdir()
    for name in "abc":
        write(tmp_path / "in" / name)
    wide = b" ".join(b"%d:1" % column for column in range(1, 5_000_001))
    (tmp_path / "in/b").write_bytes(b"1 " + wide + b"\n")
    map, out = CountSketch(n_components=16, random_state=0), tmp_path / "out"
    map_files(map, tmp_path / "in", f"{tmp_path}/one/")
    with cluster(1) as workers, distributed.Client(workers) as client:
        client.gather(client.map(abs, range(20)))  # so that its threads have been started
        before = client.run(os.getpid)
        client.run(children.leave_little_memory)
        try:
            map_files(map, tmp_path / "in", f"{out}/", engine=Workers(client))
        except (MemoryError, distributed.KilledWorker):
            failed = True
        else:  # the worker ended, and the one that took its place has all the memory
            failed = False
            assert client.run(os.getpid) != before
    there = outputs_of(out)
    map_files(map, tmp_path / "in", f"{out}/")
    assert failed == (len(there) < 3)
    assert outputs_of(out) == outputs_of(tmp_path / "one")
