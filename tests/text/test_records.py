"""Texts of files: what is a record, and what is an error."""

import bz2
import gzip
import io
import json
import lzma
import os
import sys

import numpy as np
import pytest
from _data.chance import SEED
from _data.strange_texts import strange_texts

from sparsemaps._io import _zstd
from sparsemaps.text import ByteNgrams, HashingVectorizer, iter_records

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstd = pytest.importorskip(_zstd.MODULE)

COMPRESSIONS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}


pytestmark = pytest.mark.usefixtures("json_library")

TEXTS = ["", "one", "two words", "\0", "é\u2028ß\x85", "x" * 5000, *strange_texts(30)]


def read(*inputs, **options):
    """All texts, labels, records and ids."""
    found = [[], [], [], []]
    for batch in iter_records(*inputs, **options):
        texts, labels, records = batch
        assert len(texts) > 0
        found[0] += texts if isinstance(texts, list) else texts.to_pylist()
        found[1] += labels or []
        found[2] += records if isinstance(records, list) else []
        found[3] += batch.ids or []
        for part in (labels, records, batch.ids):
            assert part is None or len(part) == len(texts)
    return found


def texts_of(content, format, **options):
    return read(io.BytesIO(content), format=format, **options)[0]


def jsonl(records):
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def write(path, content):
    path.write_bytes(content)
    return str(path)


# ---- what is read --------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_compressed_lines(tmp_path, ending):
    lines = [text.replace("\n", " ") for text in TEXTS if "\r" not in text]
    content = "".join(line + "\n" for line in lines).encode()
    path = write(tmp_path / f"a.txt{ending}", COMPRESSIONS[ending](content))
    texts, _, records, _ = read(path)
    assert texts == lines
    assert b"".join(records) == content
    content = jsonl({"text": text, "n": i} for i, text in enumerate(TEXTS))
    for name in ("a.jsonl", "a.ndjson"):
        path = write(tmp_path / (name + ending), COMPRESSIONS[ending](content))
        texts, labels, records, _ = read(path, label_field="n")
        assert texts == TEXTS
        assert labels == list(range(len(TEXTS)))
        assert b"".join(records) == content


@pytest.mark.parametrize("batch_bytes", [1, 1000, 2**24])
@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.string_view(), "dictionary"])
def test_parquet(tmp_path, type, batch_bytes):
    column = pa.array(TEXTS)
    column = column.dictionary_encode() if type == "dictionary" else column.cast(type)
    columns = {"body": column, "label": np.arange(len(TEXTS)), "id": [f"t{i}" for i in TEXTS]}
    table = pa.table({**columns, "other": [[1.5, 2]] * len(TEXTS)})
    try:
        pq.write_table(table, tmp_path / "a.parquet", row_group_size=7)
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow writes no views")
    names = {"field": "body", "label_field": "label", "id_field": "id", "batch_bytes": batch_bytes}
    texts, labels, _, ids = read(tmp_path / "a.parquet", **names)
    assert texts == TEXTS
    assert labels == [float(i) for i in range(len(TEXTS))]
    assert ids == columns["id"]
    batches = list(iter_records(tmp_path / "a.parquet", **names))
    again = pa.concat_tables(pa.Table.from_batches([batch.records]) for batch in batches)
    assert again.to_pylist() == table.to_pylist()
    assert sum(batch.n_bytes for batch in batches) == os.path.getsize(tmp_path / "a.parquet")
    for batch in iter_records(tmp_path / "a.parquet", **names, records=False):
        assert batch.records is None
        for vectorizer in (HashingVectorizer(), ByteNgrams()):
            found = vectorizer.transform(batch.texts)
            expected = vectorizer.transform(batch.texts.to_pylist())
            assert (found != expected).nnz == 0


def test_inputs(tmp_path, monkeypatch):
    (tmp_path / "b.txt").write_bytes(b"three\n")
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "one"}\n{"text": "two"}')
    (tmp_path / ".hidden").write_bytes(b"no")
    (tmp_path / "empty.txt").write_bytes(b"")
    assert read(tmp_path)[0] == ["one", "two", "three"]
    assert read(str(tmp_path / "*.txt"))[0] == ["three"]
    assert read([tmp_path / "b.txt", str(tmp_path / "a.jsonl")])[0] == ["three", "one", "two"]
    for batch in iter_records(tmp_path):
        assert batch.n_bytes == os.path.getsize(batch.input)
        assert batch.labels is None
        assert batch.ids is None
    for content, format in ((b"one\ntwo", "txt"), (b'{"text": "one"}\n', "jsonl")):
        read_end, write_end = os.pipe()
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(content)
        with os.fdopen(read_end, "r") as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            assert read("-", format=format)[0] == (["one", "two"] if format == "txt" else ["one"])
    pq.write_table(pa.table({"text": ["one"]}), tmp_path / "c")
    with open(tmp_path / "c", "rb") as file:
        assert read(file, format="parquet")[0] == ["one"]
    assert read(tmp_path / "c", format="parquet")[0] == ["one"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n", ["a\rb"]),
        (b"a\r", ["a\r"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf", []),
        (b"\0\n\x1c\x0b\n", ["\0", "\x1c\x0b"]),
        ("\u2028\x85\n".encode(), ["\u2028\x85"]),
    ],
)
def test_lines(content, expected):
    for batch_bytes in (1, 2**24):
        assert texts_of(content, "txt", batch_bytes=batch_bytes) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n \r\n\t", []),
        (b'{"text": "a"}', ["a"]),
        (b'{"text": "a"}\n\n  \n{"text": "b"}\r\n', ["a", "b"]),
        (b'\xef\xbb\xbf{"text": "a"}\n', ["a"]),
        (b'\xef\xbb\xbf\n{"text": "a"}\n', ["a"]),
        (b'{"text": "\\u0000\\ud83d\\ude00\\n"}', ["\0\U0001f600\n"]),
        (b'{"text": "a", "text": "b"}', ["b"]),
        ('{"text": "\u2028"}'.encode(), ["\u2028"]),
    ],
)
def test_json_lines(content, expected):
    for batch_bytes in (1, 2**24):
        assert texts_of(content, "jsonl", batch_bytes=batch_bytes) == expected


def test_labels_and_ids():
    content = b'{"text": "", "y": 1, "id": "a"}\n{"text": "", "y": -2.5, "id": 7}\n'
    _, labels, _, ids = read(
        io.BytesIO(content), label_field="y", id_field="id", format="jsonl", batch_bytes=1
    )
    assert labels == [1.0, -2.5]
    assert all(type(label) is float for label in labels)
    assert ids == ["a", 7]
    limits = [2**64 - 1, -(2**63)]
    content = "".join(f'{{"text": "", "id": {n}}}\n' for n in limits).encode()
    assert read(io.BytesIO(content), id_field="id", format="jsonl")[3] == limits
    content = b'{"text": "", "y": "1"}\n{"text": "", "y": ""}\n'
    assert read(io.BytesIO(content), label_field="y", format="jsonl")[1] == ["1", ""]


# ---- what is an error ----------------------------------------------------------------------------

BAD_JSON = {
    "no JSON": (b"{", "expected a JSON object; found no JSON: .*, at character 3"),
    "text": (b"text", "expected a JSON object; found no JSON: "),
    "NaN": (b'{"text": NaN}', "expected a string in the field 'text'; found a number"),
    "NUL": (b'{"text": "\0"}', "found no JSON: "),
    "two": (b'{"text": ""} {"text": ""}', "found no JSON: "),
    "half of a pair": (rb'{"text": "\ud800"}', "found no JSON: "),
    "deep": (b"[" * 2000, "found no JSON: "),
    "array": (b"[1]", "expected a JSON object; found an array"),
    "string": (b'"a"', "expected a JSON object; found a string"),
    "number": (b"1", "expected a JSON object; found a number"),
    "null": (b"null", "expected a JSON object; found null"),
    "no field": (
        b'{"body": "", "id": 1}',
        "expected the field 'text'; found 'body', 'id'; name the f",
    ),
    "many fields": (
        json.dumps(dict.fromkeys("abcdefghij")).encode(),
        "found 'a', .*'h', ...; name",
    ),
    "no fields": (b"{}", "expected the field 'text'; found an object without fields"),
    "number as text": (b'{"text": 1}', "expected a string in the field 'text'; found a number"),
    "boolean as text": (b'{"text": true}', "found a boolean"),
    "null as text": (b'{"text": null}', "expected a string in the field 'text'; found null"),
    "UTF-8": (b'{"text": "\xff"}', "expected UTF-8; found byte 0xff as byte 11 of the line"),
    "surrogate": (b'{"text": "\xed\xa0\x80"}', "expected UTF-8; found byte 0xed"),
    "cut UTF-8": (b'{"text": "\xc3', "expected UTF-8; found byte 0xc3"),
    "no label": (b'{"text": ""}', "expected the field 'y'; found 'text'"),
    "null as label": (
        b'{"text": "", "y": null}',
        "expected a string, a boolean or a finite number in the field 'y'; found null",
    ),
    "boolean as label": (
        b'{"text": "", "y": true}',
        "expected a number as label, as in the records before; found a boolean",
    ),
    "array as label": (b'{"text": "", "y": [[1]]}', "in the list of the field 'y'; found an array"),
    "object as label": (b'{"text": "", "y": {}}', "in the field 'y'; found an object"),
    "infinite label": (b'{"text": "", "y": 1e999}', "finite number in the field 'y'; found inf"),
    "other label": (
        b'{"text": "", "y": "1"}',
        "expected a number as label, as in the records before; found a string",
    ),
    "no id": (b'{"text": "", "y": 1}', "expected the field 'id'; found 'text', 'y'"),
    "large id": (
        b'{"text": "", "y": 1, "id": 18446744073709551616}',
        "expected a string or a number of at most 64 bits in the field 'id'; found a larger one",
    ),
    "least id": (b'{"text": "", "y": 1, "id": -9223372036854775809}', "found a larger one"),
    "null as id": (b'{"text": "", "y": 1, "id": null}', "in the field 'id'; found null"),
    "a boolean as id": (b'{"text": "", "y": 1, "id": true}', "in the field 'id'; found a boolean"),
}


@pytest.mark.parametrize("batch_bytes", [1, 2**24])
@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_line_of_json(tmp_path, name, batch_bytes):
    line, message = BAD_JSON[name]
    good = b'{"text": "", "y": 1, "id": 1}\n'
    options = {"batch_bytes": batch_bytes}
    if "label" in name or "id" in name.split():
        options["label_field"] = "y"
    if "id" in name.split():
        options["id_field"] = "id"
    for ending, compress in COMPRESSIONS.items():
        content = compress(3 * good + b"\n" + line + b"\n" + good)
        path = write(tmp_path / f"a.jsonl{ending}", content)
        with pytest.raises(ValueError, match=message) as caught:
            read(path, **options)
        assert str(caught.value).startswith(f"{path}: line 5: ")
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("batch_bytes", [1, 2**24])
def test_bad_line_of_text(tmp_path, batch_bytes, monkeypatch):
    for content, line, byte in (
        (b"a\nb\n c\xff\nd\n", 3, "0xff as byte 3"),
        (b"\xc3", 1, "0xc3 as byte 1"),
        (b"a\n\xed\xa0\x80", 2, "0xed as byte 1"),
    ):
        path = write(tmp_path / "a.txt", content)
        message = f"{path}: line {line}: expected UTF-8; found byte {byte} of the line"
        with pytest.raises(ValueError, match="UTF-8") as caught:
            read(path, batch_bytes=batch_bytes)
        assert str(caught.value) == message
    path = write(tmp_path / "a.txt", b"a\nbbbb\n")
    with pytest.raises(ValueError, match=r"a\.txt: line 2 is longer than max_line_bytes=3"):
        read(path, max_line_bytes=3, batch_bytes=batch_bytes)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    with pytest.raises(ValueError, match=r"^standard input: line 1: expected UTF-8"):
        read("-", format="txt")


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_damaged_compression(tmp_path, ending):
    content = COMPRESSIONS[ending](np.random.default_rng(SEED).bytes(3000).hex().encode() * 5)
    for name, damaged in (
        ("cut.txt", content[:-5]),
        ("half.txt", content[: len(content) // 2]),
        ("none.txt", b"this is not compressed at all"),
        ("cut.jsonl", content[:3]),
    ):
        path = write(tmp_path / (name + ending), damaged)
        with pytest.raises(ValueError, match="cannot be decompressed") as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}: ")
    if ending == ".zst":  # frames one behind the other, and none
        frames = COMPRESSIONS[ending](b"a\n"), COMPRESSIONS[ending](b"b")
        assert read(write(tmp_path / "two.txt.zst", b"".join(frames)))[0] == ["a", "b"]
        assert read(write(tmp_path / "no.txt.zst", b""))[0] == []


def test_bad_parquet(tmp_path):
    def message(table, **options):
        table = pa.table(table) if isinstance(table, dict) else table
        pq.write_table(table, tmp_path / "a.parquet", row_group_size=3)
        with pytest.raises(ValueError, match="found") as caught:
            read(tmp_path / "a.parquet", **options)
        assert str(caught.value).startswith(f"{tmp_path}/a.parquet: ")
        return str(caught.value).removeprefix(f"{tmp_path}/a.parquet: ")

    texts = ["a"] * 5
    remedy = "; name the field of the texts by field"
    assert (
        message({"b": texts, "c": texts}) == f"expected one column 'text'; found 'b', 'c'{remedy}"
    )
    assert message({}) == f"expected one column 'text'; found no columns{remedy}"
    assert message({"b": texts}, field="c") == "expected one column 'c'; found 'b'"
    twice = pa.table([texts, texts], names=["text", "text"])
    assert message(twice) == f"expected one column 'text'; found 'text', 'text'{remedy}"
    assert message({"text": [1]}) == "expected strings in the column 'text'; found int64"
    assert message({"text": [True]}) == "expected strings in the column 'text'; found bool"
    assert (
        message({"text": [*texts, None, "b"]})
        == "row 6: expected a string in the column 'text'; found null"
    )
    bad = pa.array([b"a"] * 4 + [b"b\xff"]).view(pa.string())
    assert message({"text": bad}) == "row 5: expected UTF-8; found byte 0xff as byte 2 of the text"
    labels = {"label_field": "y"}
    assert message({"text": texts}, **labels) == "expected one column 'y'; found 'text'"
    assert (
        message({"text": ["a"], "y": [{"z": 1}]}, **labels)
        == "expected strings, numbers or booleans, or lists of these, in the column 'y'; found "
        "struct<z: int64>"
    )
    ids = {"text": ["a"], "n": [True]}
    assert "numbers in the column 'n'; found bool" in message(ids, id_field="n")
    assert (
        message({"text": texts, "y": [1, 2, 3, None, 4]}, **labels)
        == "row 4: expected a string, a boolean or a finite number in the column 'y'; found null"
    )
    assert "row 2: " in message({"text": ["a", "a"], "y": [1.0, float("nan")]}, **labels)
    ids = {"text": ["a"], "n": pa.array([None], "str")}
    expected = "row 1: expected a string or a finite number in the column 'n'; found null"
    assert message(ids, id_field="n") == expected
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[0] == []


def test_damaged_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"text {i}" for i in range(10_000)]}), path)
    content = path.read_bytes()
    for damaged in (b"", b"PAR1", content[:-20], content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"a\.parquet: "):
            read(path)
    zeros = content[:1000] + bytes(20_000) + content[21_000:]
    path.write_bytes(zeros)
    with pytest.raises(ValueError, match=r"a\.parquet: "):
        read(path)


def test_bad_parameters(tmp_path):
    path = write(tmp_path / "a.jsonl", b'{"text": "a"}\n')
    for options, message in (
        ({"field": None}, "field must be a string, got None"),
        ({"label_field": 1}, "label_field must be a string, got 1"),
        ({"id_field": b"id"}, "id_field must be a string"),
        ({"format": "tsv"}, "format must be 'txt' or 'jsonl' or .*, got 'tsv'"),
        ({"batch_bytes": 0}, "batch_bytes must be from 1"),
        ({"batch_bytes": 1.5}, "batch_bytes must be an integer"),
        ({"max_line_bytes": 0}, "max_line_bytes must be from 1"),
        ({"records": 1}, "records must be True or False"),
        (
            {"format": "txt", "label_field": "y"},
            "lines of text have no fields, got label_field='y'",
        ),
        ({"format": "txt", "id_field": "y"}, "lines of text have no fields, got id_field='y'"),
    ):
        with pytest.raises(ValueError, match=message):
            iter_records(path, **options)
    for name in ("a.svm", "a", "a.gz", "a.txt.zip"):
        with pytest.raises(ValueError, match=f"{name}: format must be given"):
            iter_records(write(tmp_path / name, b""))
    for name in ("-", io.BytesIO()):
        with pytest.raises(
            ValueError, match=r"(standard input|a file object): format must be given"
        ):
            iter_records(name)
    for name in ("-", "a.parquet.gz"):
        with pytest.raises(ValueError, match="Parquet cannot be read from pipes or compressed"):
            iter_records(name, format="parquet")
    with pytest.raises(ValueError, match="there are no inputs"):
        iter_records([])
    with pytest.raises(FileNotFoundError) as caught:
        read(str(tmp_path / "b.jsonl"))
    assert caught.value.filename == str(tmp_path / "b.jsonl")
    with pytest.raises(FileNotFoundError):
        read(str(tmp_path / "b.parquet"))


@pytest.mark.parametrize(
    ("name", "module"),
    [("a.parquet", "pyarrow.parquet"), ("a.txt.zst", _zstd.MODULE)],
)
def test_missing_library(tmp_path, monkeypatch, name, module):
    path = write(tmp_path / name, b"")
    monkeypatch.setitem(sys.modules, module, None)
    needed = module.partition(".")[0] if module == "pyarrow.parquet" else "backports.zstd"
    with pytest.raises(ImportError, match=rf'needs {needed}: pip install "sparsemaps\[text\]"$'):
        read(path)


@pytest.mark.parametrize("name", ["a.tsv", "a.TSV", "a.tsv.gz"])
def test_tables_of_tabs_are_named(tmp_path, name):
    path = write(tmp_path / name, b"text\tlabel\na\t1\n")
    with pytest.raises(ValueError, match=r"not read; convert them to CSV: pandas\.read_csv\("):
        read(path)
