"""CSV: the records are those of Python's csv reader, and each has its bytes."""

import csv
import gzip
import io
import random
import sys
import tracemalloc

import pytest
from _data.chance import SEED

from sparsemaps import MinHash
from sparsemaps._io._text_input import open_text
from sparsemaps.cli import main
from sparsemaps.files import Texts, deduplicate_files, map_files, train_files
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.records import csv as records_csv
from sparsemaps.records._fields import Fields
from sparsemaps.text import iter_records

PIECES = ["a", "b,", '"', '""', "\n", "\r\n", "\r", ",", "é", '","', "x\n", " ", "\0", "\u2028"]


def batches(content, **options):
    return list(iter_records(io.BytesIO(content), format="csv", **options))


def rows_of(content):
    """The records of Python's reader, but for blank lines."""
    return [row for row in csv.reader(io.StringIO(content.decode(), newline="")) if row]


@pytest.mark.parametrize("batch_bytes", [1, 60, 2**20])
def test_records_are_those_of_the_csv_module(batch_bytes):
    """Of texts that are drawn so that quotes and line ends stand anywhere."""
    draw = random.Random(SEED)
    n_read = 0
    for _ in range(1500):
        body = "".join(draw.choices(PIECES, k=draw.randrange(20)))
        content = ("text,b\n" + body).encode()
        rows = rows_of(content)[1:]
        try:
            found = batches(content, batch_bytes=batch_bytes, id_field="b")
        except ValueError as error:
            is_open = "expected the quote that ends a field" in str(error)
            assert is_open or any(len(row) != 2 for row in rows), content
            continue
        assert [text for batch in found for text in batch.texts] == [row[0] for row in rows]
        assert [id for batch in found for id in batch.ids] == [row[1] for row in rows]
        raw = [one for batch in found for one in batch.records]
        assert [rows_of(one) for one in raw] == [[row] for row in rows]
        n_read += len(rows) > 0
    assert n_read > 100


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (b"", []),
        (b"text", []),
        (b"\n\r\ntext\n\n", []),
        (b"\xef\xbb\xbftext,b\na,1\n\xef\xbb\xbfb,2", ["a", "\ufeffb"]),
        (b'b,text\n1,"a\n\n""b"""\n', ['a\n\n"b"']),
        (b'"text"\r\n""\r\n"a"b\r\n', ["", "ab"]),
        (b"text\rone\rtwo", ["one", "two"]),
    ],
)
def test_contents(content, texts):
    for batch_bytes in (1, 2**20):
        found = batches(content, batch_bytes=batch_bytes)
        assert [text for batch in found for text in batch.texts] == texts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n", "line 1: expected one column 'text'; found 'a', 'b'"),
        (
            b"a;b\n1;2\n",
            "line 1: expected one column 'text'; found 'a;b'; separate columns by commas",
        ),
        (b"a\ttext\n1\t2\n", r"found 'a\\ttext'; separate columns by commas"),
        (b"text,text\n1,2\n", "line 1: expected one column 'text'; found 'text', 'text'"),
        (b"\n\ntext\xff,b\n", "line 3: expected UTF-8; found byte 0xff as byte 5 of the record"),
        (b"text,b\na,1\nb\n", "line 3: expected 2 fields, like the header; found 1"),
        (b'text,b\n"a\n\n",1\nb,1,2\n', "line 5: expected 2 fields, like the header; found 3"),
        (b'text,b\na,1\n"b\nc\n', "line 3: expected the quote that ends a field; found the end"),
        (b"text,b\na,1\nb\xc3,1\n", "line 3: expected UTF-8; found byte 0xc3 as byte 2"),
        (b"text,b\na,\n", "line 2: expected a label in the column 'b'; found an empty field"),
    ],
)
def test_errors(content, message):
    options = {"label_field": "b"} if "label" in message else {}
    with pytest.raises(ValueError, match=message):
        batches(content, **options)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_field_that_never_ends(tmp_path, name):
    """It is bounded as lines are, and is one error, with and without a table of bad records."""
    content = b'text,b\na,1\n"' + b"some words\n" * 100_000
    write = gzip.compress if name.endswith("gz") else bytes
    (tmp_path / name).write_bytes(write(content))
    for line_bytes, why in (
        (10_000, r"longer than max_line_bytes=10000"),
        (2**30, "the end of the"),
    ):
        source = Texts("word:1", max_line_bytes=line_bytes)
        for bad in ("error", tmp_path / "bad"):
            with pytest.raises(ValueError, match=rf"{name}: line 3: .*{why}") as caught:
                deduplicate_files(None, tmp_path / name, tmp_path / "o.csv", source=source,
                                  bad_records=bad)  # fmt: skip
            assert "\n" not in str(caught.value)
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize("content", [b"text,other", b"text\na"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_record_longer_than_csv_may_read_is_held_once(tmp_path, monkeypatch, content, ending):
    """The header, and another line."""
    monkeypatch.setattr(records_csv, "MOST_BYTES", 2**18)
    path = tmp_path / f"long.csv{ending}"
    content += b"a,b" * 2**22
    path.write_bytes(gzip.compress(content) if ending else content)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"line .: the record is longer than 262144 bytes; is"):
        list(iter_records(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23  # of 12 MB


def test_records_of_more_lines_than_are_kept_one_by_one(monkeypatch):
    monkeypatch.setattr(records_csv, "_MOST_LINES", 3)
    content = b"text,n\n" + b'"' + b"a\n" * 20 + b'",1\nb,2\n"c\nd",3\ne,f,g\n'
    fields = Fields("text", None, None, records=True, sets_aside=True)
    with open_text(io.BytesIO(content)) as text:
        [batch] = records_csv.FORMAT.batches(text, fields, 2**20)
    assert batch.texts == ["a\n" * 20, "b", "c\nd"]
    assert b"".join(batch.records) == content[7:-6]
    assert [batch.line_of(row) for row in range(3)] == [2, 23, 24]
    assert [(line, raw) for line, _, raw in batch.bad] == [(25, b"e,f,g\n")]
    assert batch.n_lines == 26
    endless = io.BytesIO(b'text,n\n"' + b"a\n" * 100)
    with (
        open_text(endless, 50) as text,
        pytest.raises(ValueError, match="line 2: the record is longer than max_line_bytes=50"),
    ):
        list(records_csv.FORMAT.batches(text, fields, 2**20))


def test_fields_longer_than_the_csv_module_allows(monkeypatch):
    before = csv.field_size_limit(100)
    try:
        monkeypatch.setattr("sparsemaps.records.csv._FIELD_BYTES", 10)
        for batch in batches(b'text\n"' + b"a\n" * 5000 + b'"\n'):
            assert batch.texts == ["a\n" * 5000]
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("piece_bytes", [1, 60, 2**20])
def test_bad_records_are_set_aside(tmp_path, monkeypatch, piece_bytes):
    """The table has a line for each, with the line in which it begins, and the record."""
    monkeypatch.setattr("sparsemaps.records._format.PIECE_BYTES", piece_bytes)
    content = b'text,n\r\na,1\r\n"b\r\nc"\r\nd,2,3\r\ne\xff,1\r\nf,1\r\n'
    (tmp_path / "a.csv").write_bytes(content)
    done = deduplicate_files(None, tmp_path / "a.csv", tmp_path / "b.csv", source="word:1",
                             bad_records=tmp_path / "bad.tsv")  # fmt: skip
    assert (done.n_records, done.n_bad) == (2, 3)
    assert (tmp_path / "b.csv").read_bytes() == b"text,n\r\na,1\r\nf,1\r\n"
    lines = (tmp_path / "bad.tsv").read_bytes().split(b"\n")
    assert [line.split(b"\t")[1] for line in lines[1:-1]] == [b"3", b"5", b"6"]
    assert [line.split(b"\t")[3] for line in lines[1:-1]] == [b'"b\\r\\nc"', b"d,2,3", b"e\xff,1"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (b"text,n\na,1", b"text,n\nb,2", b"text,n\na,1\nb,2"),
        (b"text,n\r\na,1", b"text,n\nb,2\n", b"text,n\r\na,1\r\nb,2\n"),
        (b"text,n", b'\xef\xbb\xbf"text",n\nb,2\n', b"text,n\nb,2\n"),
        (b"\xef\xbb\xbftext,n\na,1\n", b"", b"\xef\xbb\xbftext,n\na,1\n"),
    ],
)
def test_several_files_have_one_header(tmp_path, first, second, expected):
    paths = tmp_path / "1.csv", tmp_path / "2.csv"
    for path, content in zip(paths, (first, second), strict=True):
        path.write_bytes(content)
    deduplicate_files(None, paths, tmp_path / "o.csv", source="word:1")
    assert (tmp_path / "o.csv").read_bytes() == expected


def test_files_of_other_columns(tmp_path, monkeypatch):
    """Files are compared before the job, and streams when they are read."""
    (tmp_path / "1.csv").write_bytes(b"text,n\na,1\n")
    (tmp_path / "2.csv").write_bytes(b"n,text\n1,a\n")
    paths = [tmp_path / "1.csv", tmp_path / "2.csv"]
    message = r"1\.csv and .*2\.csv have different columns; write to a directory"
    with pytest.raises(ValueError, match=message):
        deduplicate_files(None, paths, tmp_path / "o.csv", source="word:1")
    assert not (tmp_path / "o.csv.stages").exists()
    deduplicate_files(None, paths, f"{tmp_path}/o/", source="word:1")
    assert (tmp_path / "o" / "2.csv").read_bytes() == b"n,text\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"n,text\n1,b\n")))
    with pytest.raises(ValueError, match="have different columns"):
        deduplicate_files(None, [paths[0], "-"], tmp_path / "o.csv",
                          source=Texts("word:1", format="csv"))  # fmt: skip


FILES = {"a.jsonl": b'{"text": "a"}\n', "a.csv": b"text\na\n", "a.txt": b"a\n", "a.svm": b"1 1:1\n"}


@pytest.mark.parametrize("name", FILES)
def test_the_name_of_an_output(tmp_path, name):
    """It does not name another format with fields: records are written unchanged."""
    (tmp_path / name).write_bytes(FILES[name])
    source = None if name == "a.svm" else "word:1"
    own = {"a.jsonl": (".jsonl", ".json", ".ndjson"), "a.csv": (".csv",)}.get(name, ())
    plain = (".csv", ".jsonl", ".json", ".ndjson", ".txt", ".out")
    for ending in (*plain, *(f"{one}.gz" for one in plain), ".parquet", ".arrow", ""):
        words = None, tmp_path / name, tmp_path / f"o{ending}"
        if ending.removesuffix(".gz") in (*own, ".txt", ".out", ""):
            deduplicate_files(*words, source=source)
            continue
        with pytest.raises(ValueError, match=rf"o{ending}: the output of (.*) is \1; (let|give)"):
            deduplicate_files(*words, source=source)


@pytest.mark.parametrize(
    ("labels", "numbers", "classes"),
    [
        (["3", "-1.5", "3"], ["3", "-1.5", "3"], None),
        (["3", "007", "3"], ["1", "0", "1"], "0\t007\n1\t3\n"),
        (["1", "b", "NaN"], ["0", "2", "1"], "0\t1\n1\tNaN\n2\tb\n"),
        (["9007199254740993", "1", "1"], ["9007199254740993", "1", "1"], None),
        (["1e999", "1", "1"], ["1", "0", "0"], "0\t1\n1\t1e999\n"),
    ],
)
def test_labels_are_numbers_if_all_are(tmp_path, labels, numbers, classes):
    rows = "".join(f"t{row},{label}\n" for row, label in enumerate(labels))
    (tmp_path / "a.csv").write_text("text,y\n" + rows)
    source = Texts("word:1", label_field="y")
    map_files(
        MinHash(n_hashes=2, random_state=0), tmp_path / "a.csv", tmp_path / "o", source=source
    )
    assert [line.split()[0] for line in (tmp_path / "o").read_text().splitlines()] == numbers
    table = tmp_path / "o.classes.tsv"
    assert (table.read_text() if table.exists() else None) == classes
    found = batches((tmp_path / "a.csv").read_bytes(), label_field="y")
    assert found[0].labels == labels


@pytest.mark.parametrize("names", [["a.csv", "a.jsonl"], ["a.jsonl", "a.csv"]])
def test_labels_of_several_formats(tmp_path, names):
    """Labels of CSV are numbers beside numbers of JSON; what is no number is an error there."""
    (tmp_path / "a.csv").write_text("text,y\na b,1\nc d,0\n")
    (tmp_path / "a.jsonl").write_text('{"text": "a c", "y": 1}\n{"text": "b d", "y": 0}\n')
    paths = [tmp_path / name for name in names]
    source, map = Texts("word:1", label_field="y"), MinHash(n_hashes=2, random_state=0)
    map_files(map, paths, tmp_path / "o", source=source)
    labels = [line.split()[0] for line in (tmp_path / "o").read_text().splitlines()]
    assert labels == ["1", "0", "1", "0"]
    (tmp_path / "a.csv").write_text("text,y\na b,one\nc d,0\n")
    with pytest.raises(ValueError, match=r"a\.(csv|jsonl): line \d: expected a (number|string)"):
        map_files(map, paths, tmp_path / "o", source=source)


def test_a_regressor_learns_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("text,y\n" + "".join(f"w{n},{n / 4}\n" for n in range(20)))
    for kind in (KernelRegressor, KernelClassifier):
        model = kind(MinHash(n_hashes=16, random_state=0), vectorizer="word:1", random_state=0)
        source = Texts(label_field="y")
        if kind is KernelRegressor:
            assert train_files(model, tmp_path / "a.csv", tmp_path / "m", source=source).n_records
        else:
            with pytest.raises(ValueError, match=r"whole numbers or strings, got 0\.25"):
                train_files(model, tmp_path / "a.csv", tmp_path / "m", source=source)


def test_keys(tmp_path):
    """An empty field is no number, and anything else that is none is an error."""
    (tmp_path / "a.csv").write_text("text,n\na b,\na b, 2 \na b,9007199254740993\na b,1e3\n")
    done = deduplicate_files(
        None, tmp_path / "a.csv", tmp_path / "o.csv", source="word:1", keep="n"
    )
    assert (tmp_path / "o.csv").read_text() == "text,n\na b,9007199254740993\n"
    assert done.n_unordered == 1
    (tmp_path / "a.csv").write_text("text,n\na b,1\na b,x\n")
    with pytest.raises(ValueError, match="line 3: expected a number in the column 'n'; found 'x'"):
        deduplicate_files(None, tmp_path / "a.csv", tmp_path / "o.csv", source="word:1", keep="n")


def test_pipes(tmp_path, monkeypatch, capfdbinary):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'text,n\n"a\nb",1\n"a\nb",2\n')))
    arguments = ["dedup", "-", "-o", "-", "--texts", "word:1", "--text-format", "csv"]
    assert main(arguments) == 0
    assert capfdbinary.readouterr().out == b'text,n\n"a\nb",1\n'


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.csv").write_bytes(b"text\na\na\n")
    assert deduplicate_files(None, tmp_path / "a.csv", tmp_path / "o.csv").n_kept == 1
