"""Errors about missing fields within others, and about a field of labels that is not named, list
the fields that the record has. For other fields, see test_fields_that_are_not_there.py."""

import csv
import json

import pytest

from sparsemaps import cli

RECORD = {"body": "a cat", "lang": "en", "w": 1, "meta": {"id": 1, "kind": "x"}}
COMMANDS = {
    "--field": "predict MODEL IN -o LABELS",
    "--label-field": "train IN -o OUT --field body",
    "--weight-field": "train IN -o OUT --field body --label-field lang",
    "--id-field": "dedup IN -o OUT --field body --removed REMOVED",
    "--keep": "dedup IN -o OUT --field body",
}


def write(path, format):
    if format == "jsonl":
        path.write_text(json.dumps(RECORD) + "\n")
    elif format == "csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(zip(*RECORD.items(), strict=True))
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.Table.from_pylist([RECORD])
        if format == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            pytest.importorskip("pyarrow.feather").write_feather(table, str(path))


@pytest.fixture(params=["jsonl", "csv", "parquet", "arrow"])
def said(request, tmp_path, capsys):
    """A function that runs a command and returns its error."""
    lines = [{"text": "a dog", "lang": "en"}, {"text": "le chat", "lang": "fr"}]
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, lines)))
    words = ["train", tmp_path / "two.jsonl", "-o", tmp_path / "model", "--label-field", "lang"]
    assert cli.main([*map(str, words)]) == 0
    path = tmp_path / f"in.{request.param}"
    write(path, request.param)
    names = {"IN": path, "MODEL": tmp_path / "model", "OUT": tmp_path / f"out.{request.param}",
             "LABELS": tmp_path / "labels.tsv", "REMOVED": tmp_path / "removed.tsv"}  # fmt: skip

    def of(words):
        capsys.readouterr()
        assert cli.main([str(names.get(word, word)) for word in words.split()]) == 2
        return request.param, capsys.readouterr().err

    return of


@pytest.mark.parametrize("option", COMMANDS)
def test_a_missing_field_within_another(said, option):
    format, error = said(f"{COMMANDS[option]} {option} meta.none.id")
    if format != "csv" and (format, option) != ("jsonl", "--keep"):
        assert "'meta.none.id'; found 'meta.id', 'meta.kind'\n" in error


@pytest.mark.parametrize("command", ["train", "compare"])
def test_a_field_of_labels_that_is_not_named(said, command):
    output = "-o OUT" if command == "train" else "--texts word:1"
    for more in ("", " --bad-records REMOVED"):
        _, error = said(f"{command} IN {output} --field body{more}")
        assert "of labels; found 'body', 'lang', 'w', 'meta'; name the field of the labels" in error
        assert "by --label-field" in error


def test_compare_says_which_tables_have_numbers(said):
    format, error = said("compare IN --texts word:1")
    advice = "; name the field of the texts by --field"
    if format != "jsonl":
        advice += "; compare reads tables of numbers from CSV only"
    assert error.endswith(f"'text'; found 'body', 'lang', 'w', 'meta'{advice}\n")


def test_of_many_fields_the_first_are_listed(said, tmp_path):
    many = {f"f{n}": n for n in range(9)}
    (tmp_path / "two.jsonl").write_text(json.dumps(many | {"in": many}))
    for field, prefix in (("none", ""), ("in.none", "in.")):
        _, error = said(f"train {tmp_path}/two.jsonl -o OUT --field {field} --label-field f1")
        assert error.endswith(", ".join(f"'{prefix}f{n}'" for n in range(8)) + ", ...\n")
