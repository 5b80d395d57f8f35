"""Records that are bad before the first good one, in each format: a job of these alone changes no
output. And errors after bad records have their own lines."""

import csv
import json

import pytest

from sparsemaps import cli
from sparsemaps.files import _bad_records, _coded_records
from sparsemaps.records import TEXT_FORMATS

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")
pytest.importorskip("pyarrow.feather")

COMMANDS = {
    "map": "map minhash IN --texts word:1 -o OUT",
    "text": "text IN -o OUT",
    "pairs": "pairs IN -o OUT",
    "dedup": "dedup IN -o OUT",
    "predict": "predict model IN -o OUT",
    "filter": "filter model IN --label a -o OUT",
    "train": "train IN --label-field y -o OUT",
}
WITH_FOLDERS = ["map", "text", "dedup", "predict", "filter"]
GOOD = [{"text": f"cats {number} dogs", "y": "ab"[number % 2]} for number in range(9)]
BAD = None
MOST = 20
"""Bad records in a row that end a job, in place of 1,000."""


def write_jsonl(path, records):
    lines = ("{" if record is BAD else json.dumps(record) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines))


def write_csv(path, records):
    """Records of several lines, good and bad."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "y"])
        for record in records:
            row = ["of\ntwo lines"] if record is BAD else [record["text"] + "\n", record["y"]]
            writer.writerow(row)


def write_txt(path, records):
    lines = (b"\xff" if record is BAD else record["text"].encode() for record in records)
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def table(records):
    texts = [None if record is BAD else record["text"] for record in records]
    labels = ["a" if record is BAD else record["y"] for record in records]
    return pyarrow.table({"text": pyarrow.array(texts, pyarrow.string()), "y": labels})


WRITERS = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "txt": write_txt,
    "parquet": lambda path, records: pyarrow.parquet.write_table(table(records), path),
    "arrow": lambda path, records: pyarrow.feather.write_feather(table(records), path),
}


def test_all_formats_are_listed():
    assert WRITERS.keys() == set(TEXT_FORMATS)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write_jsonl(folder / "in.jsonl", GOOD)
    words = f"train {folder}/in.jsonl --label-field y --texts word:1 -o {folder}/model"
    assert cli.main(words.split()) == 0
    return folder / "model"


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    (tmp_path / "model").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    for module in (_bad_records, _coded_records):
        monkeypatch.setattr(module, "MOST", MOST)
    return tmp_path


def run(name, input, output):
    words = COMMANDS[name].replace("IN", str(input)).replace("OUT", str(output)).split()
    return cli.main([*words, "--bad-records", "aside"])


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_whose_first_records_are_bad(folder, capsys, name, format):
    if (name, format) == ("train", "txt"):
        return  # which has no labels
    path, output = folder / f"in.{format}", folder / f"out.{format}"
    output.write_bytes(b"before")
    WRITERS[format](path, [BAD] * MOST + GOOD)
    assert run(name, path, output) == 2
    assert f"the first {MOST} records are all bad" in capsys.readouterr().err
    assert output.read_bytes() == b"before"
    WRITERS[format](path, [BAD] * (MOST - 1) + GOOD[:1] + [BAD] * MOST + GOOD)
    assert run(name, path, output) == 0
    assert output.read_bytes() != b"before"


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("name", WITH_FOLDERS)
def test_an_input_of_a_folder_whose_records_are_all_bad(folder, capsys, name, format):
    """Its output would be empty, and stays."""
    (folder / "in").mkdir()
    for input in ("a", "b"):
        WRITERS[format](folder / f"in/{input}.{format}", GOOD)
    assert run(name, "in/", "out/") == 0
    (output,) = (
        path
        for path in (folder / "out").glob(f"b.{format}*")
        if not path.name.endswith((".json", ".bad.tsv"))
    )
    before = output.read_bytes()
    WRITERS[format](folder / f"in/b.{format}", [BAD] * 3)
    capsys.readouterr()
    assert run(name, "in/", "out/") == 2
    assert f"all records are bad; no output is written. The first one is in/b.{format}: " in (
        capsys.readouterr().err
    )
    assert output.read_bytes() == before
    WRITERS[format](folder / f"in/b.{format}", [])
    assert run(name, "in/", "out/") == 0


@pytest.mark.parametrize("name", ["map", "train"])
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "x"], "expected a number as label, as in the records before; found a string"),
        ([0.5, 2**53 + 1], "the numbers 9007199254740993 and 0.5 have no common type"),
    ],
)
def test_an_error_after_bad_records_has_its_line(folder, capsys, name, labels, message):
    records = [BAD, {"text": "a b", "y": labels[0]}, BAD, BAD, {"text": "c d", "y": labels[1]}]
    write_jsonl(folder / "in.jsonl", records)
    more = ["--label-field", "y"] if name == "map" else []
    words = COMMANDS[name].replace("IN", "in.jsonl").replace("OUT", "out").split()
    assert cli.main([*words, *more, "--bad-records", "aside"]) == 2
    assert f"in.jsonl: line 5: {message}" in capsys.readouterr().err
