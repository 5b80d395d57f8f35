"""Batches of Parquet files: how much is decoded at a time, and what is in each."""

import io
import os

import numpy as np
import pytest

from sparsemaps._io._progress import FileProgress
from sparsemaps._io._sources import open_input
from sparsemaps.files import _kept_records, deduplicate_files
from sparsemaps.files._text_rows import TextRows
from sparsemaps.records import parquet
from sparsemaps.records._fields import Fields
from sparsemaps.records._table import format_of
from sparsemaps.text import iter_records

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize(
    ("length", "batch_bytes", "most"), [(1000, 50_000, 48), (0, 2**30, parquet._MOST_ROWS)]
)
def test_rows_of_parquet_that_are_decoded_at_a_time(
    tmp_path, monkeypatch, length, batch_bytes, most
):
    """About as many as a batch has room for, and no more than a bound where they are short."""
    asked = []
    iter_batches = pq.ParquetFile.iter_batches

    def asking(self, n_rows, **options):
        asked.append(n_rows)
        return iter_batches(self, n_rows, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", asking)
    table = pa.table({"text": [f"{n:04d}".ljust(length) if length else "" for n in range(200)]})
    pq.write_table(table, tmp_path / "a.parquet", compression="none", use_dictionary=False)
    batches = list(iter_records(tmp_path / "a.parquet", batch_bytes=batch_bytes))
    n_texts = [len(batch.texts) for batch in batches]
    assert sum(n_texts) == 200
    assert max(n_texts) <= asked[0] <= most
    assert asked[0] >= most / 2


@pytest.fixture
def table():
    """Rows with a label, an id and a number; of ten texts, two are long."""
    texts = [str(n) * (500 if n % 10 > 7 else 1) for n in range(60)]
    columns = {"text": texts, "label": [f"L{n % 7}" for n in range(60)]}
    columns |= {"id": list(range(60)), "key": [n / 2 for n in range(60)]}
    return pa.table({**columns, "weight": [n / 4 for n in range(60)]})


def batches_of(path, fields, n_bytes):
    with open_input(path) as text:
        return list(parquet.ParquetRecords().batches(text, fields, n_bytes))


@pytest.mark.parametrize("batch_bytes", [1, 300, 2000])
def test_later_batches_have_their_own_fields(table, tmp_path, batch_bytes):
    """Also where a batch is a part of the rows that are decoded at a time."""
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=25)
    fields = Fields("text", "label", "id", records=True, key="key", weight="weight")
    batches = batches_of(tmp_path / "a.parquet", fields, batch_bytes)
    assert len(batches) > 4
    rows = [row for batch in batches for row in batch.records.to_pylist()]
    assert rows == table.to_pylist()
    for batch in batches:
        columns = batch.texts.to_pylist(), batch.labels, batch.ids, batch.keys, batch.weights
        found = zip(*columns, strict=True)
        assert [tuple(row.values()) for row in batch.records.to_pylist()] == list(found)
    assert sum(batch.n_bytes for batch in batches) == os.path.getsize(tmp_path / "a.parquet")


def test_fields_around_rows_that_are_set_aside(table, tmp_path):
    table = table.set_column(0, "text", pa.array(["a", None, "b", "c", None, "d", *["e"] * 54]))
    pq.write_table(table, tmp_path / "a.parquet")
    fields = Fields(
        "text", "label", "id", records=False, key="key", weight="weight", sets_aside=True
    )
    (batch,) = batches_of(tmp_path / "a.parquet", fields, 2**20)
    good = table.filter(table.column("text").is_valid())
    for name in ("label", "id", "key", "weight"):
        assert getattr(batch, f"{name}s") == good.column(name).to_pylist()
    assert [row for row, _, _ in batch.bad] == [1, 4]


def test_a_bad_row_is_numbered_through_all_groups(table, tmp_path):
    table = table.set_column(0, "text", pa.array(["a"] * 57 + [None, "b", "c"]))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=25)
    with pytest.raises(ValueError, match="row 58: expected a string in the column 'text'"):
        list(iter_records(tmp_path / "a.parquet", batch_bytes=300))


def test_inputs_of_several_formats(table, tmp_path):
    """Each is read in its own, and only it is checked for what it can have."""
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "b.jsonl").write_text('{"text": "one", "key": 3}\n')
    (tmp_path / "c.txt").write_text("two\n")
    for names in (["a.parquet", "b.jsonl", "c.txt"], ["c.txt", "b.jsonl", "a.parquet"]):
        batches = iter_records([tmp_path / name for name in names])
        found = {os.path.basename(batch.input): list(batch.texts) for batch in batches}
        assert list(found) == names
        assert (found["b.jsonl"], found["c.txt"]) == (["one"], ["two"])
        assert [text.as_py() for text in found["a.parquet"]] == table.column("text").to_pylist()
    fields = Fields("text", None, None, records=False, key="key")
    with pytest.raises(ValueError, match="lines of text have no fields, got keep='key'"):
        format_of(tmp_path / "c.txt", None, fields)


# ---- long strings that many rows repeat ----------------------------------------------------------


LENGTH, N_ROWS = 2**19, 400
ALLOWED = 2**26
"""Bytes of Arrow's memory for 200 MB of strings: a part of the rows, the dictionary, and copies."""


def write_repeated(path, kind, extra=()):
    """Write a small file of two long strings, of which each row has one."""
    strings = pa.array(["a " * (LENGTH // 2), "b " * (LENGTH // 2)])
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N_ROWS // 2), pa.int32()), strings)
        for name in ("text", *extra)
    }
    short = pa.DictionaryArray.from_arrays(columns["text"].indices, pa.array(["a", "b"]))
    columns["short"] = short  # the last one is not the only one that counts
    table = pa.table({**columns, "n": range(N_ROWS)})
    if not pa.types.is_dictionary(kind):
        table = table.cast(pa.schema([*((name, kind) for name in columns), ("n", pa.int64())]))
    pq.write_table(table, path, dictionary_pagesize_limit=2**22, compression="zstd")
    assert path.stat().st_size < 10_000


KINDS_OF_TEXTS = [
    pa.string(), pa.large_string(), pa.binary(), pa.large_binary(),
    pa.dictionary(pa.int32(), pa.string()),
]  # fmt: skip


class Peak:
    """The most bytes that Arrow holds at the moments at which it is asked."""

    def __init__(self):
        self.before, self.most = pa.total_allocated_bytes(), 0

    def look(self):
        self.most = max(self.most, pa.total_allocated_bytes() - self.before)


@pytest.mark.parametrize("kind", KINDS_OF_TEXTS, ids=str)
def test_few_long_strings_are_decoded_at_a_time(tmp_path, kind):
    write_repeated(tmp_path / "a.parquet", kind, ["id", "label"])
    peak, rows = Peak(), []
    for batch in iter_records(tmp_path / "a.parquet", id_field="id", label_field="label"):
        peak.look()
        rows += batch.records.column("n").to_pylist()
        assert {str(text)[:2] for text in batch.texts} <= {"a ", "b "}
        assert set(batch.ids) == set(batch.labels) == {str(text) for text in batch.texts}
    assert rows == list(range(N_ROWS))
    assert peak.most < ALLOWED


@pytest.mark.parametrize("kind", KINDS_OF_TEXTS, ids=str)
def test_few_long_strings_are_written_at_a_time(tmp_path, kind, monkeypatch):
    """Of dedup, the records that are kept; a group of rows becomes several."""
    monkeypatch.setattr(parquet, "_GROUP_BYTES", 2**24)
    write_repeated(tmp_path / "a.parquet", kind, ["more"])
    peak, write = Peak(), pq.ParquetWriter.write_table

    def writing(self, table, *arguments, **options):
        peak.look()
        write(self, table, *arguments, **options)

    monkeypatch.setattr(pq.ParquetWriter, "write_table", writing)
    selection = _kept_records.Selection(str(tmp_path / "a.parquet"), np.ones(N_ROWS, bool))
    with open(tmp_path / "b.parquet", "wb") as file:
        bar = FileProgress([], False)
        _kept_records.write_kept(TextRows(None), [selection], file, None, bar)
    assert pq.read_schema(tmp_path / "b.parquet").equals(pq.read_schema(tmp_path / "a.parquet"))
    written = pq.ParquetFile(tmp_path / "b.parquet")
    assert written.read(["n"]).column("n").to_pylist() == list(range(N_ROWS))
    assert peak.most < 2 * ALLOWED


@pytest.mark.parametrize(
    "encodings",
    [
        ["PLAIN"], ["RLE_DICTIONARY"], ["DELTA_BYTE_ARRAY"], ["DELTA_LENGTH_BYTE_ARRAY"],
        ["RLE_DICTIONARY", "DELTA_BYTE_ARRAY"],
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("kind", [pa.string(), pa.large_binary()], ids=str)
def test_strings_of_any_encoding(tmp_path, encodings, kind):
    """Columns of several encodings; what is kept of them is what was there."""
    texts = [f"the text {n % 30}" for n in range(90)]
    names = [f"c{number}" for number in range(len(encodings))] + ["text"]
    table = pa.table({name: pa.array(texts).cast(kind) for name in names})
    dictionaries = [n for n, how in zip(names, encodings, strict=False) if how[0] == "R"]
    dictionaries += ["text"] if encodings[-1][0] == "R" else []
    others = dict(zip(names, [*encodings, encodings[-1]], strict=True))
    pq.write_table(
        table, tmp_path / "a.parquet", row_group_size=40, use_dictionary=dictionaries,
        column_encoding={name: how for name, how in others.items() if how[0] != "R"},
    )  # fmt: skip
    found = [text for batch in iter_records(tmp_path / "a.parquet") for text in batch.texts]
    assert list(map(str, found)) == texts
    done = deduplicate_files(
        None, tmp_path / "a.parquet", tmp_path / "b.parquet", source="word:1", threshold=1.0
    )
    assert done.n_kept == 30
    assert pq.read_table(tmp_path / "b.parquet").equals(table.slice(0, 30))


def test_few_strings_that_share_bytes_are_read_at_a_time(tmp_path):
    """Delta encoding stores what a string shares with the one before once."""
    rows = ["a " * (LENGTH // 2) + f"{n:04d}" for n in range(N_ROWS)]
    pq.write_table(
        pa.table({"text": rows}), tmp_path / "a.parquet", compression="zstd",
        use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY"},
    )  # fmt: skip
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    del rows
    peak, found = Peak(), []
    for batch in iter_records(tmp_path / "a.parquet", records=False):
        peak.look()
        found += [str(text)[-4:] for text in batch.texts]
    assert found == [f"{n:04d}" for n in range(N_ROWS)]
    assert peak.most < 2.5 * parquet._MOST_OTHER_ROWS * LENGTH


@pytest.mark.parametrize("kind", [pa.list_(pa.string()), pa.large_list(pa.large_string())])
def test_a_string_many_times_in_the_lists_of_rows(tmp_path, kind):
    """As numbers, whatever the size of the lists; a row that is too long when it is written back is
    an error, and labels are taken from the dictionary."""
    lists = [["x" * 2**17] * 400, None, [], ["b", None, "c"], *[["x" * 2**17] * 20] * 6]
    table = pa.table({"text": ["a b"] * len(lists), "tags": pa.array(lists, kind)})
    path = tmp_path / "a.parquet"
    pq.write_table(
        table, path, compression="zstd", dictionary_pagesize_limit=2**22, row_group_size=7
    )
    assert path.stat().st_size < 10_000
    pq.write_table(table.filter(pa.array([n not in (1, 3) for n in range(10)])), tmp_path / "b")
    del lists
    peak, n_labels = Peak(), 0
    how = {"records": False, "label_field": "tags", "format": "parquet"}
    for batch in iter_records(tmp_path / "b", **how):
        peak.look()
        n_labels += sum(map(len, batch.labels))
        assert len({id(label) for labels in batch.labels for label in labels}) <= 2
    assert n_labels == 7  # different ones of each row
    assert peak.most < 2**23
    opened = parquet.Opened.of(io.BytesIO(path.read_bytes()), "a", None, 2**30)
    peak = Peak()
    with pytest.raises(ValueError, match=r"^a: row 1 is longer than max_line_bytes=33554432$"):
        next(opened.parts(2**24, 2**24, 2**25))
    peak.look()
    assert peak.most < 2**25
    parts = list(opened.parts(2**24, 2**24, 2**30))
    assert pa.Table.from_batches(parts).equals(table)
    assert [len(part) for part in parts] == [1, 6, 3]


@pytest.mark.parametrize("kind", ["struct", "list"])
def test_few_strings_within_others_are_read_at_a_time(tmp_path, kind):
    """Those of columns that are written back only, too."""
    strings = pa.array(["a " * (LENGTH // 2)] * N_ROWS)
    if kind == "struct":
        column = pa.StructArray.from_arrays([strings], ["text"])
    else:
        column = pa.ListArray.from_arrays(np.arange(N_ROWS + 1, dtype=np.int32), strings)
    table = pa.table({"text": ["a b"] * N_ROWS, "doc": column})
    pq.write_table(
        table, tmp_path / "a.parquet", compression="zstd", dictionary_pagesize_limit=2**22
    )
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    del strings, column, table
    for field in ("text", *(["doc.text"] if kind == "struct" else [])):
        peak, n_rows = Peak(), 0
        for batch in iter_records(tmp_path / "a.parquet", field=field):
            peak.look()
            n_rows += len(batch.texts)
        assert n_rows == N_ROWS
        assert peak.most < 2.5 * parquet._MOST_OTHER_ROWS * LENGTH
