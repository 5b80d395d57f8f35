"""Batches of records: how large they are, and how much is in memory."""

import io
import json
import tracemalloc

import numpy as np
import pytest

from sparsemaps.text import iter_records

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.usefixtures("json_library")


@pytest.mark.parametrize("length", [0, 1, 20, 3000, 100_000])
@pytest.mark.parametrize("format", ["txt", "jsonl"])
def test_batches_are_bounded(format, length):
    line = b"x" * length if format == "txt" else b'{"text": "%s"}' % (b"x" * length)
    content = (line + b"\n") * (300_000 // (length + 40) + 3)
    for batch_bytes in (50, 10_000, 2**24):
        batches = list(iter_records(io.BytesIO(content), format=format, batch_bytes=batch_bytes))
        assert b"".join(line for batch in batches for line in batch.records) == content
        sizes = [sum(map(len, batch.records)) for batch in batches]
        assert max(sizes) <= batch_bytes + len(line) + 1
        counted = np.array(sizes) + [32 * len(batch.records) for batch in batches]
        assert (counted[:-1] > batch_bytes / 4).all()


@pytest.mark.parametrize("batch_bytes", [100, 10_000, 2**24])
def test_batches_of_parquet_are_bounded(tmp_path, batch_bytes):
    """Texts of very different lengths: an average would not do."""
    lengths = [0, 3, 4000, 1, 20, 300, 0, 9000, 5] * 40
    pq.write_table(pa.table({"text": ["x" * n for n in lengths]}), tmp_path / "a.parquet")
    batches = [
        batch.texts.to_pylist()
        for batch in iter_records(tmp_path / "a.parquet", batch_bytes=batch_bytes)
    ]
    assert [len(text) for texts in batches for text in texts] == lengths
    sizes = [sum(len(text) + 32 for text in texts) for texts in batches]
    assert all(
        size <= batch_bytes or len(texts) == 1 for size, texts in zip(sizes, batches, strict=True)
    )
    assert len(batches) <= 2 + 4 * sum(sizes) / batch_bytes


def test_batches_of_empty_lines_are_bounded():
    batches = list(iter_records(io.BytesIO(b"\n" * 2**20), format="txt", batch_bytes=2**22))
    assert max(len(texts) for texts, _, _ in batches) <= 2**18
    assert sum(len(texts) for texts, _, _ in batches) == 2**20


def test_rows_of_a_batch():
    content = b'{"text": "a", "n": 1}\n{"text": "b", "n": 2}\n{"text": "c", "n": 3}\n'
    (batch,) = iter_records(
        io.BytesIO(content), format="jsonl", label_field="n", id_field="n", records=False
    )
    batch.bad = [(3, "no record", b"x")]
    some = batch.rows(1, 3)
    assert (some.texts, some.labels, some.ids) == (["b", "c"], [2.0, 3.0], [2, 3])
    assert some.records is None
    assert not some.bad  # those of a batch stand with its first rows
    assert batch.rows(0, 1).bad == batch.bad


def test_long_lines_are_batches():
    lines = [b"a", b"b" * 1000, b"c", b"d", b"e" * 2000, b"f" * 999, b"g"]
    content = b"\n".join(lines)
    found = [
        batch.texts for batch in iter_records(io.BytesIO(content), format="txt", batch_bytes=99)
    ]
    for line in lines:
        if len(line) > 99:
            assert [line.decode()] in found
    assert [text for texts in found for text in texts] == [line.decode() for line in lines]


@pytest.mark.parametrize("format", ["txt", "jsonl", "parquet"])
def test_memory(tmp_path, format):
    """Reading takes some batches, not the file."""
    texts = [f"{i} " + "word " * 200 for i in range(30_000)]
    path = tmp_path / f"a.{format}"
    if format == "parquet":
        pq.write_table(pa.table({"text": texts}), path, row_group_size=1000)
    elif format == "txt":
        path.write_text("\n".join(texts))
    else:
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    n_bytes = sum(map(len, texts))
    del texts
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    n_texts = largest = 0
    for batch in iter_records(path, batch_bytes=2**20):
        n_texts += len(batch.texts)
        largest = max(largest, pa.total_allocated_bytes() - before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_texts == 30_000
    assert n_bytes > 3e7
    assert peak < 8e6
    assert largest < 1e7
