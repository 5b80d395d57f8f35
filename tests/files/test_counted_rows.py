"""N-grams that are counted are in memory for the stage that makes codes: with and without room for
them, results are the same."""

import json
import pickle

import numpy as np
import pytest
from _data.dedup_records import write_lines
from _data.strange_texts import strange_texts

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps._io._sources import InputFile
from sparsemaps.files import Texts, _counted_rows, deduplicate_files, similar_pairs_of_files
from sparsemaps.files._counted_rows import CountedRows
from sparsemaps.files._text_rows import TextRows
from sparsemaps.records._batch import Batch

MINHASH = MinHash(n_hashes=64, random_state=0)
TEXTS = [*strange_texts(150), *strange_texts(100), "", " ", "one two"]


@pytest.fixture
def n_read(monkeypatch):
    """The number of records that are read as texts, in a list."""
    read, block = [0], TextRows.block

    def counting(self, piece):
        batch = block(self, piece)
        read[0] += len(batch.texts)
        return batch

    monkeypatch.setattr(TextRows, "block", counting)
    return read


def results(folder):
    """All results of a job, by name."""
    return {
        path.name: path.read_bytes()
        for path in folder.glob("*.stages/*")
        if not path.name.endswith(".json")
    }


@pytest.mark.parametrize(
    ("job", "some", "options"),
    [
        (deduplicate_files, 6000, {"analyzer": "auto:2", "min_length": 3, "max_length": 250}),
        (deduplicate_files, 25_000, {"analyzer": "char:3", "id_field": "id"}),
        (similar_pairs_of_files, 6000, {"analyzer": "word:1", "id_field": "id"}),
    ],
)
def test_results_do_not_depend_on_room(
    tmp_path, monkeypatch, short_ranges, n_read, job, some, options
):
    short_ranges(15_000)
    records = [json.dumps({"id": n, "text": text, "n": n % 7}) for n, text in enumerate(TEXTS)]
    more = {}
    if job is deduplicate_files:
        records[90:90], records[200:200] = ["no JSON"], ["{}"]
        more = {"keep": "n", "bad_records": tmp_path / "bad"}
    (tmp_path / "in.jsonl").write_text("\n".join(records))
    found, n_counted = [], []
    for room, n_jobs in ((0, None), (some, 2), (2**24, None)):
        monkeypatch.setattr(_counted_rows, "COUNTED_BYTES", room)
        folder = tmp_path / f"{room}"
        folder.mkdir()
        n_read[0] = 0
        job(
            MINHASH, tmp_path / "in.jsonl", folder / "out", n_jobs=n_jobs,
            source=Texts(**options, max_df=4, min_own=2), **more,
        )  # fmt: skip
        n_counted.append(n_read[0])
        bad = (tmp_path / "bad").read_bytes() if more else b""
        found.append((results(folder), (folder / "out").read_bytes(), bad))
    for files, *others in found:
        assert files.keys() == found[0][0].keys()
        assert [name for name in files if files[name] != found[0][0][name]] == []
        assert others == list(found[0][1:])
    assert n_counted[0] == 2 * n_counted[2]
    assert n_counted[2] < n_counted[1] < n_counted[0]  # some ranges have room


def test_maps_of_values_read_texts_twice(tmp_path, n_read):
    write_lines(tmp_path / "in.jsonl", TEXTS)
    map = ConsistentWeightedSampling(n_hashes=16, random_state=0)
    source = Texts("word:1", max_df=4)
    deduplicate_files(map, tmp_path / "in.jsonl", tmp_path / "out", source=source)
    assert n_read[0] == 2 * len(TEXTS)


def test_a_run_that_goes_on_has_no_counted_rows(tmp_path, n_read):
    write_lines(tmp_path / "in.jsonl", TEXTS)
    given = tmp_path / "in.jsonl", tmp_path / "out"
    source = Texts("auto:2", max_df=4)
    deduplicate_files(MINHASH, *given, source=source)
    codes = (tmp_path / "out.stages/codes.npy").read_bytes()
    for path in (tmp_path / "out.stages").glob("codes*"):
        path.unlink()
    deduplicate_files(MINHASH, *given, source=source)
    assert (tmp_path / "out.stages/codes.npy").read_bytes() == codes
    assert n_read[0] == 2 * len(TEXTS)


def counted_batch(texts):
    batch = Batch(texts)
    ends = np.arange(len(texts) + 1)
    return batch.counted([(np.arange(len(texts), dtype=np.int32), ends)], checksums=True)


def test_memory_is_bounded_and_let_go(tmp_path):
    for name in "ab":
        (tmp_path / name).write_bytes(name.encode())
    a, b = (InputFile(str(tmp_path / name)) for name in "ab")
    batch = counted_batch(["one", "two"])
    rows = CountedRows(100, 2 * batch.n_held)
    assert rows.add(a, batch)
    assert rows.add(b, batch)
    assert not rows.add(b, batch)  # and what b had is let go
    assert rows.take(b) is None
    assert rows.add(a, batch)
    assert len(rows.take(a)) == 2
    assert rows.take(a) is None
    assert rows.add(b, batch)
    assert not pickle.loads(pickle.dumps(rows)).add(b, batch)
    assert pickle.loads(pickle.dumps(rows)).max_rows == 100
    assert not rows.add("-", batch)
    assert rows.take("-") is None


def test_a_counted_batch_says_what_jobs_write():
    texts = ["one two", "", "é語"]
    batch = Batch(texts, ids=["a", "b", "c"], keys=[1j, 2, 3])
    sets = [
        (np.array([3, 4], np.int32), np.array([0, 2, 2])),
        (np.array([5], np.int32), np.array([0, 1])),
    ]
    for checksums in (True, False):
        counted = batch.counted(sets, checksums)
        np.testing.assert_array_equal(counted.lengths(), batch.lengths())
        assert counted.contents(np.array([1])) == [b""]
        assert (counted.ids, counted.keys, counted.texts) == (batch.ids, batch.keys, None)
        if checksums:
            np.testing.assert_array_equal(counted.checksums(), batch.checksums())
        assert counted.without_rows().ngrams is None
