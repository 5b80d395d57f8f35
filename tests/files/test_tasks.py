"""Jobs as lists of tasks: in any order, by several processes, killed and done again."""

import itertools
import json
import os
import random
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import make_texts, write_lines
from _scripts.commands import command
from _scripts.programs import Program, posix

from sparsemaps import MinHash
from sparsemaps.files import (
    deduplicate_files,
    map_files,
    similar_pairs_of_files,
)

TEXTS = make_texts(240, seed=5)
MINHASH = MinHash(n_hashes=64, random_state=0)
WORDS = {"source": "word:3", "threshold": 0.6}


@pytest.fixture
def folder(tmp_path, short_ranges):
    """Three files of texts, whose ranges are short."""
    (tmp_path / "in").mkdir()
    for part in range(3):
        write_lines(tmp_path / f"in/{part}.jsonl", TEXTS[80 * part : 80 * part + 80])
    short_ranges(5000)
    return tmp_path / "in"


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def dedup(folder, output, **options):
    return deduplicate_files(MINHASH, folder, output, **{**WORDS, **options})


def pairs(folder, output, **options):
    return similar_pairs_of_files(MINHASH, folder, output, **{**WORDS, **options})


def two_sides(folder, output, **options):
    inputs = sorted(folder.iterdir())
    how = {**WORDS, "other": inputs[1:], "exact": True, **options}
    return similar_pairs_of_files(MINHASH, inputs[0], output, **how)


SEARCH = "search-keys", "search"

STAGES = {
    dedup: ["codes", "codes-join", *SEARCH, "removals", "clusters", "kept", "outputs"],
    pairs: ["codes", "codes-join", *SEARCH, "pairs", "output"],
    two_sides: ["codes", "codes-join", "other", "other-join", *SEARCH, "pairs", "output"],
}
BY_PROCESSES = [stage for stage in STAGES[dedup] if stage not in SEARCH]
"""The stages of a dedup in other processes, where ranges are not short."""


@pytest.mark.parametrize("job", STAGES)
def test_any_order_gives_the_same_bytes(folder, tmp_path, monkeypatch, job):
    """Each task several times, and in whatever order within its stage."""
    draw = random.Random(SEED)
    job(folder, tmp_path / "one")
    n = 4
    for stage in STAGES[job]:
        order = [*range(n), *range(n)]
        draw.shuffle(order)
        for i in order:
            job(folder, tmp_path / "out", task=(stage, i, n))
    before, parts = os.stat(tmp_path / "out").st_ino, "*-part-000000*"
    names = [path.name for path in (tmp_path / "out.stages").glob(parts)]
    assert names
    assert all(re.match(r".*-part-0{6}-[0-9a-f]{16}\.", name) for name in names)
    done = job(folder, tmp_path / "out")
    job(folder, tmp_path / "out", task=("codes", 0, 1))
    assert not list((tmp_path / "out.stages").glob(parts))  # their whole is there
    assert (done.files[0] if job is dedup else done).skipped
    assert os.stat(tmp_path / "out").st_ino == before
    assert (tmp_path / "out").read_bytes() == (tmp_path / "one").read_bytes()
    found, expected = (outputs(tmp_path / f"{name}.stages") for name in ("out", "one"))
    assert found.keys() == expected.keys()
    for name, content in found.items():
        assert name.endswith(".json") or content == expected[name]


@pytest.mark.parametrize("job", STAGES)
def test_stages_of_which_others_are_missing(folder, tmp_path, job):
    """One error, which says what is missing; nothing is made."""
    stages = STAGES[job]
    for before, stage in itertools.pairwise(stages):
        if before in ("codes", "other", "search", "near-search"):
            job(folder, tmp_path / "out", task=(before, 0, 2))
            part = "share" if "search" in before else "part"
            missing = f"the stage {before} lacks .* of .* results?, such as {before}-{part}-"
        else:
            missing = f"the stage {before} lacks 1 of 1 result, such as "
        with pytest.raises(ValueError, match=f"{missing}.*; run it before the stage {stage}"):
            job(folder, tmp_path / "out", task=(stage, 0, 1))
        job(folder, tmp_path / "out", task=(before, 0, 1))
    assert not (tmp_path / "out").exists()
    job(folder, tmp_path / "out", task=(stages[-1], 0, 1))
    assert (tmp_path / "out").exists()


def test_numbers_of_tasks(folder, tmp_path):
    """Those that --tasks prints are those that are done."""
    for name, more in (("dedup", []), ("pairs", ["--other", folder])):
        arguments = [name, "minhash", folder, "--texts", "word:3", "-o", tmp_path / name, *more]
        lines = command(*arguments, "--tasks").stdout.decode().splitlines()
        assert not (tmp_path / f"{name}.stages").exists()
        for line in lines:
            stage, n = line.split()[:2]
            for i in range(int(n)):
                done = command(*arguments, "--stage", stage, "--task", f"{i}/{n}")
                assert (done.returncode, done.stderr) == (0, b"")
            results = os.listdir(tmp_path / f"{name}.stages")
            if stage in ("codes", "other"):
                assert sum("-part-" in one and one.endswith(".npy.json") for one in results) >= int(
                    n
                )
                assert int(n) > 3
        assert (tmp_path / name).exists()


def test_tasks_of_other_options_do_not_count(folder, tmp_path):
    dedup(folder, tmp_path / "out", task=("codes", 0, 1))
    with pytest.raises(ValueError, match=r"the stage codes lacks .* results"):
        dedup(folder, tmp_path / "out", task=("codes-join", 0, 1), source="word:2")
    dedup(folder, tmp_path / "out", task=("codes-join", 0, 1))
    with open(folder / "1.jsonl", "ab") as file:
        file.write(b'{"text": "one more"}\n')
    with pytest.raises(ValueError, match=r"the stage codes lacks .* results"):
        dedup(folder, tmp_path / "out", task=("removals", 0, 1))


@posix
def test_processes_that_are_killed(folder, tmp_path):
    """Two at a time, in one folder; some are killed, all are begun again."""
    for part in range(3):
        lines = [f"{text} {part} {row}" for row in range(10) for text in TEXTS]
        write_lines(folder / f"{part}.jsonl", lines)
    dedup(folder, f"{tmp_path}/one/")
    arguments = ["dedup", "minhash", "--n-hashes", 64, folder, "--texts", "word:3", "--threshold"]
    arguments += [0.6, "-o", f"{tmp_path}/out/"]
    seconds = {
        "codes": 0,
        "removals": 0.05,
        "outputs": 0.2,
    }  # after which one is killed
    n_killed = 0
    for stage in BY_PROCESSES:
        for attempt in range(2 if stage in seconds else 1):
            programs = [
                Program(*arguments, "--stage", stage, "--task", f"{i}/2", cwd=tmp_path)
                for i in range(2)
            ]
            is_killed = attempt == 0 and stage in seconds
            if is_killed:
                time.sleep(seconds[stage])
                programs[0].signal(signal.SIGKILL)
            ends = [program.end() for program in programs]
            n_killed += ends[0][0] == -signal.SIGKILL
            assert ends[1] == (0, b"")
            assert ends[0] == (0, b"") or is_killed
    assert n_killed
    done = Program(*arguments, cwd=tmp_path)
    assert done.end()[0] == 0
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")
    assert not list((tmp_path / "out.stages").glob(".*"))


@pytest.mark.parametrize("stage", ["codes", "map"])
def test_temporary_files_of_outputs(folder, tmp_path, stage):
    """A process that was killed while it wrote an output has left one. A process that makes some
    tasks leaves it, as another one may be writing."""
    left = tmp_path / "out/.sparsemaps-0123456789abcdef.tmp"
    left.parent.mkdir()
    left.write_bytes(b"{")
    for task in ((stage, 0, 2), None):
        if stage == "map":
            map_files(MINHASH, folder, f"{tmp_path}/out/", source="word:3", task=task)
        else:
            dedup(folder, f"{tmp_path}/out/", task=task)
        assert left.exists() == (task is not None)
    ends = (".jsonl.svm", ".jsonl.svm.json") if stage == "map" else (".jsonl",)
    expected = [f"{part}{end}" for part in range(3) for end in ends]
    assert sorted(outputs(tmp_path / "out")) == expected


@pytest.mark.parametrize("job", [dedup, pairs])
def test_all_results_are_made_anew(folder, tmp_path, job):
    """Also those of the steps of a search, which tasks have left."""
    job(folder, tmp_path / "one")
    for stage in ("codes", "codes-join", *SEARCH):
        job(folder, tmp_path / "out", task=(stage, 0, 1))
    left = list((tmp_path / "out.stages").glob("search-*.npy"))
    assert left
    for path in left:
        np.save(path, np.load(path)[..., :0])
        record = json.loads(Path(f"{path}.json").read_text())
        record["files"][path.name] = path.stat().st_size
        Path(f"{path}.json").write_text(json.dumps(record))
    job(folder, tmp_path / "out", resume=False)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "one").read_bytes()


@pytest.mark.parametrize("job", [dedup, pairs])
def test_a_task_takes_results_that_are_there(folder, tmp_path, job):
    with pytest.raises(ValueError, match="give task or resume=False, not both"):
        job(folder, tmp_path / "out", task=("codes", 0, 1), resume=False)
    assert not (tmp_path / "out.stages").exists()


def test_tasks_of_map(folder, tmp_path):
    how = {"source": "word:1", "format": "npy"}
    map_files(MINHASH, folder, f"{tmp_path}/one/", **how)
    for i in (1, 0, 1):
        assert map_files(MINHASH, folder, f"{tmp_path}/out/", task=("map", i, 2), **how) == []
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")
    done = map_files(MINHASH, folder, f"{tmp_path}/out/", **how)
    assert all(file.skipped for file in done)


@posix
def test_processes_that_are_at_it_together(folder, tmp_path):
    """All tasks of a stage at a time, several times: none removes what another one reads."""
    dedup(folder, f"{tmp_path}/one/")
    arguments = ["dedup", "minhash", "--n-hashes", 64, folder, "--texts", "word:3", "--threshold"]
    arguments += [0.6, "-o", f"{tmp_path}/out/"]
    for stage in BY_PROCESSES:
        programs = [
            Program(*arguments, "--stage", stage, "--task", f"{i % 2}/2", cwd=tmp_path)
            for i in range(4)
        ]
        assert [program.end() for program in programs] == [(0, b"")] * 4
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")


@posix
def test_ray(tmp_path):
    """As docs/at_scale.md has it."""
    ray = pytest.importorskip("ray")
    (tmp_path / "in").mkdir()
    for part in range(3):
        write_lines(tmp_path / f"in/{part}.jsonl", TEXTS[80 * part : 80 * part + 80])
    given = MINHASH, str(tmp_path / "in"), f"{tmp_path}/out/"
    dedup(tmp_path / "in", f"{tmp_path}/one/")
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        part = ray.remote(deduplicate_files)
        for stage in BY_PROCESSES:
            ray.get([part.remote(*given, task=(stage, i, 3), **WORDS) for i in range(3)])
    finally:
        ray.shutdown()
    before = {name: os.stat(tmp_path / "out" / name).st_ino for name in outputs(tmp_path / "out")}
    done = deduplicate_files(*given, **WORDS)
    assert all(file.skipped for file in done.files)
    assert {name: os.stat(tmp_path / "out" / name).st_ino for name in before} == before
    assert outputs(tmp_path / "out") == outputs(tmp_path / "one")


def containment(folder, output, **options):
    return pairs(folder, output, containment=True, exact=True, **options)


def all_pairs(folder, output, **options):
    return pairs(folder, output, recall=1, **options)


@pytest.mark.parametrize(
    ("job", "searches"),
    [
        (dedup, {"search": "removals"}),
        (containment, {"search": "pairs"}),
        (all_pairs, {"search": "pairs"}),
        (two_sides, {"search": "pairs"}),
    ],
)
def test_tasks_share_the_steps_of_a_search(folder, tmp_path, job, searches):
    """Each step is made by one task, and by none again. The inputs have several ranges of rows."""
    write_lines(folder / "0.jsonl", TEXTS + TEXTS[:80])
    job(folder, tmp_path / "one")
    for stage in ("codes", "codes-join", "other", "other-join"):
        if job is two_sides or "other" not in stage:
            job(folder, tmp_path / "out", task=(stage, 0, 1))

    def steps(search):
        paths = (tmp_path / "out.stages").glob(f"{search}-*.npy")
        return {path.name: path.stat().st_ino for path in paths}

    for search, joined in searches.items():
        job(folder, tmp_path / "out", task=(f"{search}-keys", 0, 1))
        first = steps(search)
        assert all("copies" in name for name in first)
        made, n_tasks = first, 0
        for i in range(3):
            job(folder, tmp_path / "out", task=(search, i, 3))
            now = steps(search)
            assert made.items() <= now.items()
            n_tasks += len(now) > len(made)
            made = now
        assert n_tasks > 1
        job(folder, tmp_path / "out", task=(joined, 0, 1))
        now = {name: one for name, one in steps(search).items() if "-exact-" not in name}
        assert now == made
    job(folder, tmp_path / "out")
    assert not steps("search")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "one").read_bytes()
