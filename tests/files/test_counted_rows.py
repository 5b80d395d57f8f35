"""N-grams that are counted are in a file for the stage that makes codes: with and without room for
them, results are the same."""

import errno
import json
import os
import pickle
import shutil

import numpy as np
import pytest
from _data.dedup_records import write_lines
from _data.strange_texts import strange_texts

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps._io._sources import InputFile
from sparsemaps.files import (
    Texts,
    _counted_rows,
    _frequency_stages,
    deduplicate_files,
    similar_pairs_of_files,
)
from sparsemaps.files._counted_rows import CountedRows
from sparsemaps.files._text_rows import TextRows
from sparsemaps.records._batch import Batch
from sparsemaps.text._csr import sets_of_texts

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


def lent_sets(loops, texts):
    """The sets of texts, in arrays to which others write when they are given back."""
    for columns, indptr in sets_of_texts(loops, texts):
        yield columns, indptr
        columns[:] = 0


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
        (deduplicate_files, 45_000, {"analyzer": "auto:2", "min_length": 3, "max_length": 250}),
        (deduplicate_files, 40_000, {"analyzer": "char:3", "id_field": "id"}),
        (similar_pairs_of_files, 12_000, {"analyzer": "word:1", "id_field": "id"}),
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
    monkeypatch.setattr(_frequency_stages, "sets_of_texts", lent_sets)
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


def inputs_of(tmp_path, names):
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    return [InputFile(str(tmp_path / name)) for name in names]


def texts_of(batches):
    """The lengths of the texts of batches, which tell them apart."""
    return [batch.lengths().tolist() for batch in batches]


def test_batches_are_read_in_the_order_of_their_input(tmp_path):
    a, b = inputs_of(tmp_path, "ab")
    rows = CountedRows(100, str(tmp_path))
    places = [rows.add(counted_batch(["x" * n, "two"])) for n in range(6)]
    rows.keep(a, places[:5:2])
    rows.keep(b, places[1::2])
    from_a, from_b = rows.take(a), rows.take(b)
    assert rows.take(a) is None
    assert rows.take("-") is None
    some = [next(from_b), next(from_a), next(from_b)]
    assert texts_of(some) == [[1, 3], [0, 3], [3, 3]]
    assert texts_of(from_a) == [[2, 3], [4, 3]]
    rows.keep(a, [rows.add(counted_batch(["later"]))])
    assert texts_of(rows.take(a)) == [[5]]
    (last,) = from_b
    columns, ends = last.ngrams[0]
    np.testing.assert_array_equal(columns, [0, 1])
    columns[:] = 3  # as own n-grams take their places
    assert (columns.dtype, ends.dtype, ends.tolist()) == (np.int32, np.int64, [0, 1, 2])


def files_open():
    """The files without a name that this process has open, by their sizes."""
    folder = "/proc/self/fd"
    names = [f"{folder}/{name}" for name in os.listdir(folder)]
    deleted = [name for name in names if os.path.exists(name) and os.stat(name).st_nlink == 0]
    return sorted(os.stat(name).st_size for name in deleted)


needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="it lists open files")


@needs_proc
def test_the_file_is_closed_when_all_is_read(tmp_path):
    a, b, c = inputs_of(tmp_path, "abc")
    before = files_open()
    rows = CountedRows(100, str(tmp_path))
    assert files_open() == before
    for input in (a, b, a):  # a task that runs twice: the second one decides
        rows.keep(input, [rows.add(counted_batch([input.path[-1] * 7]))])
    assert len(files_open()) == len(before) + 1
    assert set(os.listdir(tmp_path)) == set("abc")
    assert rows.take(c) is None
    assert texts_of(rows.take(a)) == [[7]]
    assert len(files_open()) == len(before) + 1
    assert texts_of(rows.take(b)) == [[7]]
    assert files_open() == before
    rows.add(counted_batch(["of an input without room"]))
    assert len(files_open()) == len(before) + 1
    assert rows.take(a) is None
    assert files_open() == before
    rows.add(counted_batch(["of a run that fails"]))
    del rows
    assert files_open() == before


def test_the_file_is_bounded(tmp_path, monkeypatch):
    batch = counted_batch(["one", "two"])
    rows = CountedRows(100, str(tmp_path))
    second = [rows.add(batch) for _ in range(2)][1]
    rows = CountedRows(100, str(tmp_path), second + 1)
    assert [rows.add(batch) for _ in range(3)] == [0, second, None]
    assert CountedRows(100, str(tmp_path), 0).add(batch) is None
    elsewhere = pickle.loads(pickle.dumps(rows))
    assert (elsewhere.max_rows, elsewhere.add(batch)) == (100, None)
    usage = shutil.disk_usage(tmp_path)._replace(free=4 * second + 4)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    rows = CountedRows(100, str(tmp_path))
    assert [rows.add(batch) for _ in range(3)] == [0, second, None]


@pytest.mark.parametrize("n_written", [0, 2])
def test_a_full_disk_is_as_no_room(tmp_path, monkeypatch, n_written):
    a, b = inputs_of(tmp_path, "ab")
    batch = counted_batch(["one", "two"])
    rows = CountedRows(100, str(tmp_path))
    places = [rows.add(batch) for _ in range(n_written)]
    rows.keep(a, places)

    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patched:
        patched.setattr(pickle, "dump", full)
        assert rows.add(batch) is None
    assert rows.add(batch) is None  # no second try
    rows.keep(b, places)  # of a task that had written all of its batches
    assert (rows.take(a), rows.take(b)) == (None, None)


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
