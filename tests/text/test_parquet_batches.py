"""Batches of Parquet files: how much is decoded at a time, and what is in each."""

import os

import pytest

from sparsemaps.text import _parquet_records, iter_records
from sparsemaps.text._fields import Fields
from sparsemaps.text._records import format_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize(
    ("length", "batch_bytes", "most"), [(1000, 50_000, 48), (0, 2**30, _parquet_records._MOST_ROWS)]
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
    return pa.table({**columns, "id": list(range(60)), "key": [n / 2 for n in range(60)]})


@pytest.mark.parametrize("batch_bytes", [1, 300, 2000])
def test_later_batches_have_their_own_fields(table, tmp_path, batch_bytes):
    """Also where a batch is a part of the rows that are decoded at a time."""
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=25)
    fields = Fields("text", "label", "id", records=True, key="key")
    batches = list(_parquet_records.of_parquet(tmp_path / "a.parquet", fields, batch_bytes))
    assert len(batches) > 4
    rows = [row for batch in batches for row in batch.records.to_pylist()]
    assert rows == table.to_pylist()
    for batch in batches:
        columns = batch.texts.to_pylist(), batch.labels, batch.ids, batch.keys
        found = zip(*columns, strict=True)
        assert [tuple(row.values()) for row in batch.records.to_pylist()] == list(found)
    assert sum(batch.n_bytes for batch in batches) == os.path.getsize(tmp_path / "a.parquet")


def test_fields_around_rows_that_are_set_aside(table, tmp_path):
    table = table.set_column(0, "text", pa.array(["a", None, "b", "c", None, "d", *["e"] * 54]))
    pq.write_table(table, tmp_path / "a.parquet")
    fields = Fields("text", "label", "id", records=False, key="key")
    (batch,) = _parquet_records.of_parquet(tmp_path / "a.parquet", fields, 2**20, sets_aside=True)
    good = table.filter(table.column("text").is_valid())
    for found, name in ((batch.labels, "label"), (batch.ids, "id"), (batch.keys, "key")):
        assert found == good.column(name).to_pylist()
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
