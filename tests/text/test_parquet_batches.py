"""How much of a Parquet file is decoded at a time."""

import pytest

from sparsemaps.text import _parquet_records, iter_records

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
