"""Arrow IPC: files and streams of any type, and those that claim what is not so."""

import io
import random
import struct
import tracemalloc

import pytest
from _data.chance import SEED

from sparsemaps._io._sources import open_input
from sparsemaps.files import deduplicate_files
from sparsemaps.records._fields import Fields
from sparsemaps.records._table import FORMATS
from sparsemaps.text import iter_records

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")

KINDS = {"file": ipc.new_file, "stream": ipc.new_stream}
READ = {"file": ipc.open_file, "stream": ipc.open_stream}
N = 120


def views(texts):
    if not hasattr(pa, "string_view"):
        pytest.skip("this pyarrow has no views of strings")
    return pa.array(texts).cast(pa.string_view())


def table():
    """Each text twice; columns of every kind."""
    texts = [f"the text {row // 2} é" for row in range(N)]
    columns = {
        "text": texts, "large": pa.array(texts, pa.large_string()),
        "binary": pa.array([text.encode() for text in texts]),
        "dictionary": pa.array(texts).dictionary_encode(), "view": views(texts),
        "inner": [{"text": text, "n": {"m": row / 2}} for row, text in enumerate(texts)],
        "flag": [row % 2 == 0 for row in range(N)], "list": [[row, None] for row in range(N)],
        "time": pa.array(range(N), pa.timestamp("us", "UTC")), "null": pa.nulls(N),
        "views": [[text] for text in texts],
    }  # fmt: skip
    return pa.table(columns).replace_schema_metadata({"own": "metadata"})


def write(path, kind, rows, compression=None, n_rows=50):
    options = ipc.IpcWriteOptions(compression=compression)
    with KINDS[kind](path, rows.schema, options=options) as file:
        file.write_table(rows, max_chunksize=n_rows)


def texts_of(path, **options):
    return [str(text) for batch in iter_records(path, **options) for text in batch.texts]


def compression_of(path):
    """The compression of the first record batch."""
    with open_input(path) as text:
        piece = list(FORMATS["arrow"].raw_pieces(text, Fields("text", None, None, True), None))[-1]
    return piece.opened.messages.codec


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_columns(tmp_path, kind, compression):
    rows, path = table(), tmp_path / "a.arrow"
    write(path, kind, rows, compression)
    texts = rows["text"].to_pylist()
    for field in ("text", "large", "binary", "dictionary", "view", "inner.text"):
        assert texts_of(path, field=field, records=False) == texts, field
        assert texts_of(path, field=field, batch_bytes=300) == texts, field
    batch = next(iter_records(path, label_field="flag", id_field="inner.n.m"))
    assert batch.labels == [row % 2 == 0 for row in range(50)]
    assert batch.ids == [row / 2 for row in range(50)]
    for exact in (False, True):
        done = deduplicate_files(
            None,
            path,
            tmp_path / "b.feather",
            source="word:2",
            threshold=1.0,
            exact=exact,
            n_jobs=2,
        )
        assert done.n_kept == N // 2
        kept = READ[kind](tmp_path / "b.feather").read_all()
        assert kept.schema.equals(rows.schema, check_metadata=True)
        assert kept.to_pylist() == rows.to_pylist()[::2]
        assert compression_of(tmp_path / "b.feather") == compression


@pytest.mark.parametrize("kind", KINDS)
def test_dictionaries_of_several_inputs(tmp_path, kind):
    """One file has one dictionary for a column, which grows."""
    rows = []
    for part in range(3):
        texts = pa.array([f"text {part} {row}" for row in range(9)])
        kinds = pa.array([f"kind {row % (part + 2)} {part // 2}" for row in range(9)])
        rows.append(pa.table({"text": texts, "kind": kinds.dictionary_encode()}))
        write(tmp_path / f"{part}.arrow", kind, rows[-1])
    paths = [tmp_path / f"{part}.arrow" for part in range(3)]
    deduplicate_files(None, paths, tmp_path / "o.arrow", source="word:3", threshold=1.0)
    found = READ[kind](tmp_path / "o.arrow").read_all()
    assert found.to_pylist() == [row for part in rows for row in part.to_pylist()]


def test_inputs_of_other_columns(tmp_path):
    write(tmp_path / "1.arrow", "file", pa.table({"text": ["a"]}))
    write(tmp_path / "2.arrow", "file", pa.table({"text": ["b"], "n": [1]}))
    with pytest.raises(ValueError, match=r"1\.arrow and .*2\.arrow have different columns; write"):
        deduplicate_files(None, tmp_path, tmp_path / "o.arrow", source="word:1")
    assert not (tmp_path / "o.arrow.stages").exists()


def test_types_that_cannot_be_written(tmp_path):
    """They are refused before the work."""
    ends = pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"]))
    write(tmp_path / "a.arrow", "file", pa.table({"text": ["a", "b"], "ends": ends}))
    assert texts_of(tmp_path / "a.arrow") == ["a", "b"]
    with pytest.raises(ValueError, match=r"a\.arrow: .*run_end_encoded"):
        deduplicate_files(None, tmp_path / "a.arrow", tmp_path / "o.arrow", source="word:1")
    assert not (tmp_path / "o.arrow.stages").exists()


def test_errors(tmp_path):
    path = tmp_path / "a.arrow"
    for rows, options, message in (
        ({"b": ["a"]}, {}, "expected one column 'text'; found 'b'"),
        ({"text": [1]}, {}, "expected strings in the column 'text'; found int64"),
        ({"text": [*["a"] * 70, None]}, {}, "row 71: expected a string in the column 'text'"),
        ({"text": ["a"], "y": [None]}, {"id_field": "y"}, "row 1: expected a string or a finite"),
        ({"text": ["a"], "y": ["b"]}, {"field": "y.z"}, "expected one column 'y.z'; found 'text'"),
    ):  # fmt: skip
        write(path, "file", pa.table(rows))
        with pytest.raises(ValueError, match=rf"a\.arrow: {message}"):
            texts_of(path, **options)
    bad = pa.array([b"a"] * 60 + [b"b\xff"]).view(pa.string())
    write(path, "file", pa.table({"text": bad, "more": bad}))
    with pytest.raises(ValueError, match="row 61: expected UTF-8; found byte 0xff as byte 2"):
        texts_of(path)
    done = deduplicate_files(None, path, tmp_path / "o.arrow", source="word:1",
                             bad_records=tmp_path / "bad")  # fmt: skip
    assert done.n_bad == 1
    path.write_bytes(b"FEA1" + bytes(40))
    with pytest.raises(ValueError, match="Feather version 1 is not supported"):
        texts_of(path)
    for name in ("-", tmp_path / "a.arrow.gz"):
        with pytest.raises(ValueError, match="Arrow cannot be read from pipes or compressed files"):
            iter_records(name, format="arrow")
    write(path, "file", pa.table({"text": ["a"]}))
    message = r"the output of Arrow is Arrow; .* in \.arrow or \.feather"
    with pytest.raises(ValueError, match=message):
        deduplicate_files(None, path, tmp_path / "o.jsonl", source="word:1")


def test_a_field_with_a_point_in_its_own_name(tmp_path):
    """It comes before the path."""
    rows = pa.table({"m": [{"text": "inner", "a.b": {"c": "deep"}}], "m.text": ["own"]})
    write(tmp_path / "a.arrow", "file", rows)
    assert texts_of(tmp_path / "a.arrow", field="m.text", records=False) == ["own"]
    assert texts_of(tmp_path / "a.arrow", field="m.a.b.c", records=False) == ["deep"]


# ---- hostile files -------------------------------------------------------------------------------


def content_of(kind, compression):
    file = io.BytesIO()
    write(file, kind, table(), compression)
    return file.getvalue()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_changed_bytes_are_read_or_one_error(kind, compression):
    draw, content = random.Random(SEED), content_of(kind, compression)
    numbers = [b"\xff" * 8, bytes(8), *(struct.pack("<q", 2**n) for n in range(0, 63, 4))]
    n_errors = 0
    for _ in range(250):
        changed = bytearray(content)
        for _ in range(draw.choice([1, 2, 8])):
            place = draw.randrange(len(changed) - 8)
            if draw.random() < 0.5:
                changed[place] = draw.randrange(256)
            else:
                changed[place : place + 8] = draw.choice(numbers)
        field = draw.choice(["text", "view", "dictionary", "inner.text"])
        try:
            for batch in iter_records(io.BytesIO(changed), field=field, format="arrow"):
                assert len(batch.texts.to_pylist()) == len(batch.records)
        except ValueError as error:
            n_errors += "\n" not in str(error)
    assert n_errors > 20
    for end in range(0, len(content) - 400, 997):
        with pytest.raises(ValueError, match="a file object: "):
            for _ in iter_records(io.BytesIO(content[: end + 5]), format="arrow"):
                pass


def test_files_that_were_cut_between_messages():
    """A file has an end; a stream may just stop."""
    for kind in KINDS:
        content = content_of(kind, None)
        end = content.rfind(b"\xff\xff\xff\xff\0\0\0\0")
        for stop in (end, end + 8):
            batches = iter_records(io.BytesIO(content[:stop]), format="arrow")
            if kind == "stream":
                assert sum(len(batch.texts) for batch in batches) == N
            else:
                with pytest.raises(ValueError, match="a file object: the file has no end"):
                    list(batches)


def test_a_small_file_that_stands_for_much_memory():
    """Buffers that were compressed; rows without bytes; a text that many rows repeat."""
    zeros = io.BytesIO()
    write(zeros, "file", pa.table({"text": ["\0" * 2**26]}), "zstd")
    assert len(zeros.getvalue()) < 2**16
    zeros.seek(0)
    (batch,) = iter_records(zeros, format="arrow", max_line_bytes=2**27)
    assert len(batch.texts) == 1
    zeros.seek(0)
    del batch
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match=r"a record batch of 671\d+ bytes is larger than max_line"):
        list(iter_records(zeros, format="arrow", max_line_bytes=2**25))
    assert pa.total_allocated_bytes() - before < 2**20


@pytest.mark.parametrize("kind", ["dictionary", "view"])
def test_few_repeated_strings_are_decoded_at_a_time(tmp_path, kind):
    """400 MB of texts in a file of one."""
    text, n = "a " * 2**18, 800
    if kind == "dictionary":
        strings = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), pa.array([text]))
    else:
        one = views([text])
        buffers = one.buffers()
        repeated = pa.py_buffer(buffers[1].to_pybytes() * n)
        strings = pa.Array.from_buffers(one.type, n, [None, repeated, *buffers[2:]])
    path, before, most, found = tmp_path / "a.arrow", pa.total_allocated_bytes(), 0, 0
    write(path, "file", pa.table({"text": strings}), n_rows=n)
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    for batch in iter_records(path, records=False):
        most = max(most, pa.total_allocated_bytes() - before)
        found += len(batch.texts)
    tracemalloc.stop()
    assert found == n
    assert most < 2**26
