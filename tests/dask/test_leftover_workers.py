"""Workers that outlive their client: what they write late changes no later run."""

import threading
import time

import pytest
from _data.dedup_records import make_texts, write_lines

from sparsemaps import MinHash
from sparsemaps.files import deduplicate_files, map_files

distributed = pytest.importorskip("distributed")
from sparsemaps.dask import Workers  # noqa: E402

TEXTS = make_texts(200, seed=6)
SLOW = MinHash(n_hashes=4096, random_state=0)
MINHASH = MinHash(n_hashes=64, random_state=0)


def dedup(map, folder, output, client=None):
    how = {"source": "word:3", "threshold": 0.6, "engine": client and Workers(client)}
    deduplicate_files(map, folder / "in", f"{folder}/{output}/", **how)


def map_(map, folder, output, client=None):
    map_files(
        map,
        folder / "in",
        f"{folder}/{output}/",
        source="word:3",
        engine=client and Workers(client),
    )


def contents(folder):
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.name[0] != "." and path.suffix != ".json"
    }


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("job", "place"), [(dedup, "out.stages"), (map_, "out")])
def test_workers_of_a_closed_client(tmp_path, job, place):
    """They are in the midst of tasks of other options when this run begins, and end after it."""
    (tmp_path / "in").mkdir()
    for part in range(4):
        texts = [f"{text} {part} {row}" for row in range(60) for text in TEXTS]
        write_lines(tmp_path / f"in/{part}.jsonl", texts)
    job(MINHASH, tmp_path, "one")
    with distributed.LocalCluster(2, threads_per_worker=2, dashboard_address=None) as workers:
        client = distributed.Client(workers)
        first = threading.Thread(target=_ended, args=(job, tmp_path, client))
        first.start()
        limit = time.monotonic() + 60
        while not list((tmp_path / place).glob(".sparsemaps-*.tmp")):
            assert time.monotonic() < limit, "the first run does not begin"
            time.sleep(0.01)
        client.close()
        first.join()
        with distributed.Client(workers) as other:
            job(MINHASH, tmp_path, "out", other)
            assert contents(tmp_path / "out") == contents(tmp_path / "one")
            while any(other.processing().values()):
                time.sleep(0.05)
        time.sleep(5)  # no one tells when a task has ended that nobody waits for
    assert contents(tmp_path / "out") == contents(tmp_path / "one")
    job(MINHASH, tmp_path, "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


def _ended(job, folder, client):
    with pytest.raises(BaseException):  # noqa: B017, PT011 (whatever Dask says of a closed client)
        job(SLOW, folder, "out", client)
