"""Results of a job: when they are delivered under their names, published, forgotten and removed."""

import errno
import itertools
import os

import numpy as np
import pytest
from _data.dedup_records import make_texts, write_lines

from sparsemaps import MinHash
from sparsemaps._io import _output_files
from sparsemaps._io._sources import BESIDE
from sparsemaps.codes import PackedCodes
from sparsemaps.files import Texts, deduplicate_files, map_files
from sparsemaps.files._formats import FORMATS, RecordsFormat
from sparsemaps.files._results import Place, Results

MINHASH = MinHash(n_hashes=32, random_state=0)
IDS = Texts("word:3", id_field="id")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    for part, texts in enumerate(np.array_split(make_texts(60, seed=3), 3)):
        write_lines(tmp_path / f"in/{part}.jsonl", texts.tolist())
    return tmp_path


@pytest.fixture
def made(tmp_path):
    """A function that makes a result, and a list of the paths that it was called with."""
    calls = []

    def make(path):
        calls.append(path)
        with open(path, "w") as file:
            file.write("x")
        return len(calls)

    return make, calls


@pytest.mark.parametrize("output", [None, "out.txt"])
def test_files_made_before_an_error_are_removed(tmp_path, made, output):
    """Those beside a file appear before it."""
    make, _ = made
    place = Place.of("a", {"seed": 0}, ("", *BESIDE), output=output)

    def fail(path):
        for ending in BESIDE:
            make(path + ending)
        raise OSError(errno.ENOSPC, "no space left")

    with pytest.raises(OSError, match="no space left"):
        Results(str(tmp_path)).made(place, fail)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", [None, "out.txt"])
def test_a_result_is_made_once_and_after_it_is_forgotten(tmp_path, made, output):
    """An output that waits for its name is there too: its task may have been killed."""
    make, calls = made
    results, place = Results(str(tmp_path)), Place.of("a", {"seed": 0}, output=output)
    for n_calls, forgets in ((1, False), (1, False), (2, True)):
        if forgets:
            results.forget(place)
        assert results.made(place, make).value == n_calls == len(calls)
    assert (results.find(place) is None) == (output is not None)
    if output is not None:
        results.deliver(place)
        assert results.find(place).value == 2
        results.forget(place)
        assert results.find(place) is None


@pytest.mark.parametrize("place", ["", "memory://"])
def test_an_output_that_another_job_has_replaced_is_made_again(tmp_path, monkeypatch, place):
    """Though it has the size of before."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.svm").write_bytes(b"0 1:1 2:1\n")
    output, seeds, found = f"{place}replaced/in.svm.npy", (0, 1, 0, 0), []
    for seed, target in zip(seeds, ("replaced/", output, "replaced/", "replaced/"), strict=True):
        minhash = MinHash(n_hashes=32, random_state=seed)
        target = output if target == output else place + target
        mapped = map_files(minhash, "in.svm", target, format="npy")
        found.append((PackedCodes.load(output).array.tobytes(), mapped[0].skipped))
    first, second = found[0][0], found[1][0]
    assert first != second
    assert found == [(first, False), (second, False), (first, False), (first, True)]


def test_makers_of_one_output_do_not_meet(tmp_path, made):
    """In each order of their steps, what was delivered first stays, and the other one is equal."""
    make, calls = made
    results = Results(str(tmp_path), is_shared=True)
    one, other = (Place.of("a", {"seed": 0}, output="out.txt", maker=name) for name in "ab")
    results.made(one, make)
    results.made(other, make)
    assert len(calls) == 2
    delivered = set()
    for place in (one, other):
        results.deliver(place)
        assert results.find(place) is not None
        delivered.add(os.stat(tmp_path / "out.txt").st_ino)
    assert len(delivered) == 1  # whoever reads it is not disturbed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "out.txt"]


@pytest.mark.parametrize("output", ["out/in", "out.npy", "memory://beside/out.npy"])
def test_files_beside_outputs_of_before_are_removed(tmp_path, monkeypatch, output):
    """Of a run that made ids, weights and names of labels, those are not beside the codes of one
    that makes none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.jsonl").write_text('{"text": "a b c", "id": "x", "w": 2, "of": "k"}\n')
    labelled = Texts("word:3", id_field="id", label_field="of")
    for source, weights in ((labelled, "w"), ("word:3", None)):
        where = "out/" if output == "out/in" else output
        map_files(MINHASH, "in.jsonl", where, source=source, format="npy", weight_field=weights)
        if "://" in output:
            names = pytest.importorskip("fsspec").filesystem("memory").ls("/beside", detail=False)
        else:
            names = [path.name for path in tmp_path.glob(f"{output}*")]
        ends = {end for end in (".npy", *BESIDE) for name in names if name.endswith(end)}
        made = {".ids.txt", ".weights.npy", ".classes.tsv"} if weights else set()
        assert ends == {".npy", ".labels.npy", *made}, names


def test_links_beside_outputs_of_before(tmp_path):
    """The link is removed, and the file that it leads to stays."""
    (tmp_path / "in.jsonl").write_text('{"text": "a b c"}\n')
    (tmp_path / "mine.txt").write_text("mine")
    link, pipe = tmp_path / "out.npy.ids.txt", tmp_path / "out.npy.weights.npy"
    link.symlink_to("mine.txt")
    os.mkfifo(pipe)
    map_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out.npy", source="word:3", format="npy")
    assert not link.is_symlink()
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert pipe.is_fifo()


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "records"])
def test_files_beside_an_output_change_together_with_it(tmp_path, monkeypatch, format):
    """Where any of the files finds no room, all of those of the run before stay."""

    def contents():
        return {path.name: path.read_bytes() for path in tmp_path.iterdir() if path != records}

    def fsync(file):
        if next(numbers) == fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def run():
        map_files(MINHASH, records, tmp_path / "out", source=source, format=format)

    source, records = Texts("word:3", id_field="id", label_field="of"), tmp_path / "in.jsonl"
    records.write_text('{"text": "a b c", "id": "x", "of": "k"}\n')
    run()
    before = contents()
    records.write_text('{"text": "b c d", "id": "y", "of": "l"}\n')
    monkeypatch.setattr(_output_files.os, "fsync", fsync)
    n_files = len(before)
    assert n_files > 1
    for fails_at in range(n_files):
        numbers = itertools.count()
        with pytest.raises(OSError, match="No space") as raised:
            run()
        assert os.path.basename(raised.value.filename) in before
        assert contents() == before, fails_at
    numbers = itertools.count(n_files)
    run()
    after = contents()
    assert after.keys() == before.keys()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == before.keys() - {"out.labels.npy"}  # a single label has the number 0


def test_all_files_beside_outputs_are_known():
    """What is not known is taken for an input, and is not published in a directory."""
    for format in (RecordsFormat, *FORMATS.values()):
        assert set(format.beside) <= set(BESIDE), format


def test_what_an_engine_made_before_an_error_is_delivered(folder):
    class Failing:
        def run(self, make, tasks):
            results = list(map(make, tasks[:-1]))
            yield results[0]
            raise OSError("a cable is loose")

    with pytest.raises(OSError, match="a cable is loose"):
        map_files(MINHASH, folder / "in", f"{folder}/out/", source=IDS, engine=Failing())
    assert len(list(folder.glob("out/*.svm"))) == 2
    assert not list(folder.glob("out/.sparsemaps-*"))
    outputs = map_files(MINHASH, folder / "in", f"{folder}/out/", source=IDS)
    assert [output.skipped for output in outputs] == [True, True, False]


def test_a_share_of_an_earlier_stage_publishes_nothing(folder):
    """Whoever reads the folder finds the results of one run, of before, until the last stage."""

    def dedup(size, **options):
        how = {"source": "word:3", "threshold": 0.5, **options}
        deduplicate_files(MinHash(n_hashes=size, random_state=0), folder / "in", out, **how)

    out = f"{folder}/out/"
    dedup(32)
    published = folder / "out.stages/codes.npy"
    before = published.read_bytes()
    stages = ["codes", "codes-join", "removals", "clusters", "kept"]
    for stage in [*stages, "outputs"]:
        assert published.read_bytes() == before, stage
        dedup(64, task=(stage, 0, 1))
    assert published.read_bytes() != before
