"""Records without near-duplicates on Dask: what one machine keeps."""

import gzip
import json
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import lines_of, make_texts, write_lines
from _scripts.commands import command

from sparsemaps import MinHash
from sparsemaps._io._sources import expand
from sparsemaps.codes import PackedCodes
from sparsemaps.files import (
    Removal,
    Search,
    Tables,
    Texts,
    _dedup,
    deduplicate_files,
)
from sparsemaps.files._job_options import Run
from sparsemaps.files._kinds_of_inputs import by_names

distributed = pytest.importorskip("distributed")
from sparsemaps.dask import Workers  # noqa: E402

TEXTS = make_texts(400, seed=3)
MINHASH = MinHash(n_hashes=128, random_state=0)
WORDS = {"source": "word:3", "threshold": 0.6}
WITH_IDS = Texts("word:3", id_field="id")


@pytest.fixture
def folder(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    (tmp_path / "in").mkdir()
    write_lines(tmp_path / "in/a.jsonl", TEXTS[:200])
    lines = lines_of(TEXTS[200:300], "jsonl")
    (tmp_path / "in/b.jsonl.gz").write_bytes(gzip.compress(b"".join(lines)))
    parquet.write_table(
        pa.table({"id": ["x"] * 100, "text": TEXTS[300:]}), tmp_path / "in/c.parquet"
    )
    return tmp_path / "in"


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def make_plan(inputs, output, source="word:3", clusters=None, keep="first", against=None, **search):
    search = Search(**{"threshold": WORDS["threshold"], **search})
    removal, tables = Removal(keep=keep, against=against), Tables(clusters=clusters)
    paths = expand(inputs)
    kind = by_names(source, paths)
    return _dedup.Dedup.of(MINHASH, paths, output, kind, search, removal, tables)


@pytest.fixture(scope="module")
def client():
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": "127.0.0.1:0"}
    with distributed.Client(processes=False, **options) as client:
        yield client


def deduplicate(plan, client):
    return plan.run(Run(progress=False, engine=Workers(client)))


@pytest.mark.parametrize(
    ("options", "partition_bytes"),
    [
        ({}, 3000), ({"exact": True}, 3000), ({"recall": 1}, 3000), ({"keep": "longest"}, 3000),
        ({}, 2**26),
    ],
)  # fmt: skip
def test_the_same_as_one_machine(folder, tmp_path, client, short_ranges, options, partition_bytes):
    short_ranges(partition_bytes)
    expected = deduplicate_files(
        MINHASH, folder, f"{tmp_path}/one/", clusters=tmp_path / "one.tsv",
        **{**WORDS, **options, "source": WITH_IDS},
    )  # fmt: skip
    plan = make_plan(folder, f"{tmp_path}/out/", WITH_IDS, clusters=tmp_path / "out.tsv", **options)
    done = deduplicate(plan, client)
    assert done[:4] == expected[:4]
    assert [one[2:] for one in done.files] == [one[2:] for one in expected.files]
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")
    assert (tmp_path / "out.tsv").read_bytes() == (tmp_path / "one.tsv").read_bytes()
    one, other = (
        PackedCodes.load(tmp_path / f"{name}.stages/codes.npy") for name in ("out", "one")
    )
    assert one.array.tobytes() == other.array.tobytes()
    assert not list((tmp_path / "out.stages").glob("*-part-*"))
    codes = (tmp_path / "out.stages/codes.npy").stat()
    plan = make_plan(folder, f"{tmp_path}/out/", WITH_IDS, **{**options, "threshold": 0.9})
    deduplicate(plan, client)
    assert (tmp_path / "out.stages/codes.npy").stat() == codes
    deduplicate_files(
        MINHASH, folder, f"{tmp_path}/one/",
        **{**WORDS, **options, "threshold": 0.9, "source": WITH_IDS},
    )  # fmt: skip
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")


@pytest.mark.parametrize("options", [{}, {"exact": True}])
def test_the_order_of_a_field(tmp_path, client, short_ranges, options):
    """The records that have the largest numbers are kept; a third have none."""
    numbers = np.random.default_rng(SEED).permutation(len(TEXTS)).tolist()
    records = [
        {"text": text} if number % 3 == 0 else {"text": text, "score": number / 7}
        for text, number in zip(TEXTS, numbers, strict=True)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "in.jsonl").write_text(lines)
    short_ranges(3000)
    how = {"keep": "score", "threshold": 0.7, **options}
    for keep in ("first", "score"):
        deduplicate_files(
            MINHASH, tmp_path / "in.jsonl", tmp_path / keep,
            **{"source": "word:3", **how, "keep": keep},
        )  # fmt: skip
    deduplicate(make_plan(tmp_path / "in.jsonl", tmp_path / "out", **how), client)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "score").read_bytes()
    assert (tmp_path / "out").read_bytes() != (tmp_path / "first").read_bytes()


def test_rows_of_libsvm_files(tmp_path, client, short_ranges):
    short_ranges(50)
    (tmp_path / "in").write_bytes(b"0 1:1 2:1\n# a comment\n1\n0 1:1 2:1\n1\n0 3:1\n" * 20)
    given = {"threshold": 0.9, "source": None}
    deduplicate_files(MINHASH, tmp_path / "in", tmp_path / "one", **given)
    deduplicate(make_plan(tmp_path / "in", tmp_path / "out", **given), client)
    for name in ("one", "out"):
        assert (tmp_path / name).read_bytes() == b"0 1:1 2:1\n1\n0 3:1\n"


def test_empty_inputs_and_pipes(tmp_path, client):
    (tmp_path / "in.txt").write_bytes(b"")
    done = deduplicate(make_plan(tmp_path / "in.txt", tmp_path / "out"), client)
    assert done[:4] == (0, 0, 0, 0)
    assert (tmp_path / "out").read_bytes() == b""
    done = command("dedup", tmp_path / "in.txt", "-o", "-", "--dask")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"on a cluster, inputs and outputs must be files" in done.stderr


def test_earlier_deliveries_and_bad_records(folder, tmp_path, monkeypatch, client, short_ranges):
    short_ranges(3000)
    write_lines(tmp_path / "old.jsonl", TEXTS[:150:2])
    old = tmp_path / "old"
    deduplicate_files(MINHASH, tmp_path / "old.jsonl", old, **WORDS)
    lines = lines_of(TEXTS[:200], "jsonl")
    (tmp_path / "in.jsonl").write_bytes(b"".join([*lines[:60], b"bad\n", *lines[60:]]))
    monkeypatch.chdir(tmp_path)  # paths of the plan are those of this directory
    removal = Removal(keep="longest", against="old.stages")
    search, tables = Search(threshold=WORDS["threshold"]), Tables(bad_records="aside")
    plan = _dedup.Dedup.of(MINHASH, ["in.jsonl"], "out", WITH_IDS, search, removal, tables)
    done = deduplicate(plan, client)
    expected = deduplicate_files(
        MINHASH, "in.jsonl", "one", against="old.stages", keep="longest", bad_records="aside.one",
        **{**WORDS, "source": WITH_IDS},
    )  # fmt: skip
    assert (done[:4], done[5:]) == (expected[:4], expected[5:])
    assert min(done.n_earlier, done.n_near, done.n_bad) > 0
    assert Path("out").read_bytes() == Path("one").read_bytes()
    assert Path("aside").read_bytes() == Path("aside.one").read_bytes()


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_workers_that_are_killed(tmp_path, short_ranges):
    short_ranges(2**17)
    texts = [f"{text} {row}" for row in range(30) for text in TEXTS]
    write_lines(tmp_path / "in.jsonl", texts)
    map = MinHash(n_hashes=128, random_state=0)
    deduplicate_files(map, tmp_path / "in.jsonl", tmp_path / "one", **WORDS)
    killed = []

    def kill(workers):
        for n_parts in (3, 12):
            end = time.monotonic() + 100
            while len(list(tmp_path.glob("out.stages/codes-part-*.npy.json"))) < n_parts:
                assert time.monotonic() < end, "the job makes no parts"
                time.sleep(0.005)
            os.kill(list(workers.workers.values())[len(killed)].pid, signal.SIGKILL)
            killed.append(n_parts)

    with (
        distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as workers,
        distributed.Client(workers) as client,
    ):
        killer = threading.Thread(target=kill, args=(workers,))
        killer.start()
        plan = make_plan(tmp_path / "in.jsonl", tmp_path / "out")
        deduplicate(plan, client)
        killer.join()
    assert killed == [3, 12]
    assert (tmp_path / "out").read_bytes() == (tmp_path / "one").read_bytes()


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("name", "made"), [("dedup", ["codes", "removed", "kept"]), ("pairs", ["codes", "pairs"])]
)
def test_workers_that_are_killed_in_later_stages(tmp_path, name, made):
    """One as soon as each of these results is there, so in the search and while outputs are
    written."""
    (tmp_path / "in").mkdir()
    for part in range(8):
        texts = [f"{text} {row}" for row in range(6) for text in TEXTS[50 * part : 50 * part + 50]]
        write_lines(tmp_path / f"in/{part}.jsonl", texts)
    end = "/" if name == "dedup" else ""
    job = [name, "minhash", tmp_path / "in", "--texts", "word:3", "--threshold", "0.6", "--exact"]
    assert command(*job, "-o", f"{tmp_path}/one{end}").returncode == 0
    stages = tmp_path / "out.stages"
    killed = []

    def kill(workers):
        for result in made:
            limit = time.monotonic() + 100
            while not (stages / f"{result}.npy").exists():
                assert time.monotonic() < limit, f"there is no {result}"
                time.sleep(0.002)
            alive = [worker.pid for worker in workers.workers.values() if worker.pid]
            os.kill(alive[0], signal.SIGKILL)
            killed.append(result)

    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None) as workers:
        killer = threading.Thread(target=kill, args=(workers,))
        killer.start()
        done = command(*job, "-o", f"{tmp_path}/out{end}", "--scheduler", workers.scheduler_address)
        killer.join()
    assert done.returncode == 0, done.stderr
    assert killed == made
    if name == "pairs":
        assert (tmp_path / "out").read_bytes() == (tmp_path / "one").read_bytes()
    else:
        assert outputs(tmp_path / "out") == outputs(tmp_path / "one")


@pytest.mark.cluster
@pytest.mark.filterwarnings("default")
def test_the_command(folder, tmp_path):
    arguments = ["dedup", "minhash", folder, "--texts", "word:3", "-o"]
    one = command(*arguments, f"{tmp_path}/one/")
    done = command(*arguments, f"{tmp_path}/out/", "--dask", "--n-jobs", 2)
    assert done.returncode == 0, done.stderr
    assert done.stderr == one.stderr
    assert outputs(Path(f"{tmp_path}/out")) == outputs(Path(f"{tmp_path}/one"))
