"""Errors count what a format has: lines, or the rows of a table. The set of formats is closed."""

import json

import pytest
from _scripts.commands import command

from sparsemaps.records._table import FORMATS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NO_OUTPUT = "no output is written. The first one is"

UNITS = {"txt": "line", "jsonl": "line", "csv": "line", "parquet": "row", "arrow": "row"}


def write(path, kind, texts, labels):
    if kind == "jsonl":
        records = zip(texts, labels, strict=True)
        path.write_text("".join(json.dumps({"text": t, "y": y}) + "\n" for t, y in records))
    elif kind in ("csv", "txt"):
        head, rows = ("text,y\n", ",{}\n") if kind == "csv" else ("", "\n")
        records = zip(texts, labels, strict=True)
        path.write_text(head + "".join(t + rows.format(y) for t, y in records))
    else:
        table = pa.table({"text": texts, "y": labels})
        if kind == "parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as out:
                out.write_table(table)


def test_the_formats_are_known():
    assert {name: known.unit for name, known in FORMATS.items()} == UNITS


@pytest.mark.parametrize("kind", UNITS)
def test_errors_count_lines_or_rows(tmp_path, kind):
    path, unit = tmp_path / f"in.{kind}", UNITS[kind]
    write(path, kind, ["abcdef", "a b a b", "c"], ["x", "y", "x"])
    first = 2 if kind == "csv" else 1  # after the header
    words = ["-o", tmp_path / f"out.{kind}", "--texts", "word:1", "--max-length"]
    bad = ["--bad-records", tmp_path / "bad"]
    for more, n, place in (
        (["0"], 6, f"{path}: {unit} {first}"),
        (
            ["0", *bad],
            6,
            f"all records are bad; no output is written. The first one is {path}: {unit} {first}",
        ),
        (["6"], 7, f"{path}: {unit} {first + 1}"),
    ):
        done = command("dedup", "minhash", path, *words, *more)
        error = done.stderr.decode()
        assert done.returncode == 2
        assert f"{place}: expected 0 to {more[0]} characters; found {n}" in error
    rows = ["map", "minmax", path, "-o", tmp_path / "o", "--texts", "word:1", "--power", "1e300"]
    error = command(*rows).stderr.decode()
    assert f"{path}: {unit} {first + 1}, index " in error
