"""Records that cannot be read are set aside, and the others are as without them."""

import json
import re

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import make_texts

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.files import Texts, _bad_records, deduplicate_files, map_files

TEXTS = make_texts(80, seed=8)
MINHASH = MinHash(n_hashes=64, random_state=0)
HEADER = ["file", "line", "reason", "record"]


def read_bad(path):
    """The lines of a table of bad records, without its header."""
    lines = [line.split(b"\t", 3) for line in path.read_bytes().splitlines()]
    assert [part.decode() for part in lines[0]] == HEADER
    return [(name.decode(), int(line), reason.decode(), text) for name, line, reason, text in
            lines[1:]]  # fmt: skip


def with_bad(lines, bad, seed):
    """Lines with some bad ones in between, and the numbers of these from 1."""
    rng = np.random.default_rng(SEED + seed)
    places = np.sort(rng.integers(0, len(lines) + 1, len(bad))).tolist()
    mixed, numbers = [], []
    for row, line in enumerate([*lines, None]):
        for _ in range(places.count(row)):
            mixed.append(bad[len(numbers)])
            numbers.append(len(mixed))
        mixed += [] if line is None else [line]
    return mixed, numbers


JSON = [
    (b'{"text": null}\n', "expected a string in the field 'text'; found null"),
    (b'{"text": "a"\n', "expected a JSON object; found no JSON"),
    (b"[1]\n", "expected a JSON object; found an array"),
    (b'{"txt": "a"}\n', "expected the field 'text'; found 'txt'"),
    (b'{"text": "\xff"}\n', "expected UTF-8; found byte 0xff"),
    (b'{"text":\t7}\r\n', "expected a string in the field 'text'; found a number"),
] * 5
TXT = [(b"one \xff two three\n", "expected UTF-8; found byte 0xff as byte 5 of the line")] * 12
SVM = [
    (b"x 1:1\n", "column 1: expected a number as label"),
    (b"1 1:1 1:2\n", "column 7"),
    (b"1 b:2 # comment\n", "column 3"),
] * 6


def lines_of(kind):
    if kind == "jsonl":
        return [json.dumps({"text": text}).encode() + b"\n" for text in TEXTS]
    if kind == "txt":
        return [text.encode() + b"\n" for text in TEXTS]
    rng = np.random.default_rng(SEED)
    rows = [np.sort(rng.choice(200, 8, replace=False)) + 1 for _ in range(60)]
    rows += [rows[row] for row in rng.integers(60, size=40)]
    return [b"1 " + " ".join(f"{column}:1" for column in row).encode() + b"\n" for row in rows]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", ["jsonl", "txt", "svm"])
def test_lines(tmp_path, short_ranges, kind, exact):
    """Whatever the ranges and threads: outputs, tables and report are those of the good lines."""
    short_ranges(700)
    lines, bad = lines_of(kind), {"jsonl": JSON, "txt": TXT, "svm": SVM}[kind]
    mixed, numbers = with_bad(lines, [line for line, _ in bad], seed=len(kind))
    (tmp_path / f"good.{kind}").write_bytes(b"".join(lines))
    (tmp_path / f"bad.{kind}").write_bytes(b"".join(mixed))
    how = {"threshold": 0.5, "exact": exact, "n_jobs": 2}
    found = []
    for name, more in (("good", {}), ("bad", {"bad_records": tmp_path / "aside"})):
        out, table = tmp_path / f"{name}.out", tmp_path / f"{name}.removed"
        done = deduplicate_files(
            MINHASH, tmp_path / f"{name}.{kind}", out, removed=table,
            report=tmp_path / f"{name}.html", **how, **more,
        )  # fmt: skip
        found.append((out.read_bytes(), table.read_bytes(), done[:4], done[5:8]))
    assert found[0] == found[1]
    assert 0 < found[0][2][1] < found[0][2][0]
    aside = read_bad(tmp_path / "aside")
    assert done.n_bad == len(aside) == len(bad)
    for (name, line, reason, text), number, (record, why) in zip(aside, numbers, bad, strict=True):
        assert (name, line) == (str(tmp_path / f"bad.{kind}"), number)
        assert text == record.rstrip(b"\r\n")
        assert why in reason
    advice = "; bad_records='FILE' sets such records aside" if numbers[0] > 1 else ""
    told = rf"bad\.{kind}: line {numbers[0]}[:,](?:(?!bad_records).)*{advice}$"
    with pytest.raises(ValueError, match=told):
        deduplicate_files(MINHASH, tmp_path / f"bad.{kind}", tmp_path / "none", **how)
    assert not (tmp_path / "none").exists()


def test_rows_of_parquet(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [(text, row, f"id {row}") for row, text in enumerate(TEXTS)]
    mixed, numbers = with_bad(rows, [(None, 1, "a"), ("text", 2, None), (None, 3, None)] * 3, 0)
    texts, scores, ids = zip(*mixed, strict=True)
    table = pa.table({"text": texts, "score": scores, "id": ids})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=30)
    keep = [row for row in range(len(mixed)) if row + 1 not in numbers]
    parquet.write_table(table.take(keep), tmp_path / "good.parquet", row_group_size=30)
    how = {"threshold": 0.5, "keep": "score", "source": Texts(id_field="id")}
    done = []
    for name in ("good", "in"):
        one, other = tmp_path / f"{name}.parquet", tmp_path / f"{name}.out.parquet"
        how |= {"bad_records": tmp_path / "aside", "clusters": tmp_path / f"{name}.tsv"}
        done.append(deduplicate_files(MINHASH, one, other, **how))
    one, other = (parquet.read_table(tmp_path / f"{name}.out.parquet") for name in ("good", "in"))
    assert one.equals(other)
    assert (tmp_path / "good.tsv").read_bytes() == (tmp_path / "in.tsv").read_bytes()
    assert done[0][:4] == done[1][:4]
    assert (done[0].n_bad, done[1].n_bad) == (0, 9)
    aside = read_bad(tmp_path / "aside")
    assert [line for _, line, _, _ in aside] == numbers
    assert "found null" in aside[0][2]
    del how["bad_records"]
    with pytest.raises(ValueError, match=rf"row {numbers[0]}: .*; bad_records='FILE' sets such"):
        deduplicate_files(MINHASH, tmp_path / "in.parquet", tmp_path / "none.parquet", **how)


COMPLETE = {"removed": "removed.tsv", "clusters": "clusters.tsv", "report": "report.html"}


@pytest.mark.parametrize("is_directory", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"x\n[]\n\n", r"all records are bad; .*in\.jsonl: line 1: expected a JSON object"),
        (b"text\n" * 5000, "the first 1,000 records are all bad"),
        (b'{"txt": "a"}\n' * 1000 + b'{"text": "a b c d e f"}\n' * 9, "the first 1,000 records"),
        (b'{"txt": "a"}\n' * 999 + b'{"text": "a b c d e f"}\n' * 9, None),
        (b'{"text": "a b c d e f"}\n' + b'{"txt": "a"}\n' * 3000, None),
    ],
)
def test_all_records_are_bad(tmp_path, short_ranges, lines, message, n_jobs, is_directory):
    """Or the first 1,000: an error, and all outputs of an earlier run stay, wherever ranges end."""
    short_ranges(4000)
    out = tmp_path / "out"
    if is_directory:
        out.mkdir()
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "some words that were there before"}\n')
    how = {name: tmp_path / file for name, file in COMPLETE.items()}
    how |= {"bad_records": tmp_path / "aside", "n_jobs": n_jobs}
    deduplicate_files(MINHASH, tmp_path / "in.jsonl", out, **how)
    (tmp_path / "in.jsonl").write_bytes(lines)
    output = out / "in.jsonl" if is_directory else out
    files = [output, *(tmp_path / name for name in COMPLETE.values()), tmp_path / "aside"]
    before = [path.read_bytes() for path in files]
    if message is None:
        done = deduplicate_files(MINHASH, tmp_path / "in.jsonl", out, **how)
        assert done.n_kept == 1
        return
    with pytest.raises(ValueError, match=message):
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", out, **how)
    assert [path.read_bytes() for path in files] == before


def test_bad_records_of_several_inputs(tmp_path):
    """The first records of the job are counted, through all inputs."""
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_bytes(b"bad\n" * 400)
    good = b'{"text": "a b c d e f"}\n'
    (tmp_path / "3.jsonl").write_bytes(good)
    how = {"bad_records": tmp_path / "aside"}
    inputs = [tmp_path / f"{number}.jsonl" for number in range(4)]
    with pytest.raises(ValueError, match="the first 1,000 records are all bad"):
        deduplicate_files(MINHASH, inputs, tmp_path / "out", **how)
    assert not (tmp_path / "out").exists()
    (tmp_path / "2.jsonl").write_bytes(b"bad\n" * 100)
    assert deduplicate_files(MINHASH, inputs, tmp_path / "out", **how).n_bad == 900
    done = deduplicate_files(MINHASH, inputs[::-1], tmp_path / "out", **how)
    assert (done.n_bad, done.n_kept) == (900, 1)


@pytest.mark.parametrize("line", [b'{"txt": "a"}', b"<html>", b"[1]", b'{"text": 7}'])
def test_the_option_is_not_named_for_the_first_record(tmp_path, line):
    """All of them may be like it: then nothing would be left."""
    good = b'{"text": "a b c d e f"}\n'
    (tmp_path / "in.jsonl").write_bytes(line + b"\n" + good)
    with pytest.raises(ValueError, match="line 1: expected") as refused:
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out")
    assert "bad_records" not in str(refused.value)
    (tmp_path / "in.jsonl").write_bytes(good + line + b"\n")
    with pytest.raises(ValueError, match=r"line 2: expected .*; bad_records='FILE' sets such"):
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out")


def test_bad_records_are_no_input(tmp_path):
    (tmp_path / "in.jsonl").write_bytes(b"x\n")
    with pytest.raises(ValueError, match="is the input"):
        deduplicate_files(
            None, tmp_path / "in.jsonl", tmp_path / "out", bad_records=tmp_path / "in.jsonl"
        )


def test_results_of_other_runs_are_not_taken(tmp_path):
    """Without the option, the first bad record is an error, whatever was made before."""
    (tmp_path / "in.jsonl").write_bytes(b'{"text": "a b c d e f"}\nx\n')
    for options in ({"bad_records": tmp_path / "aside"}, {}):
        if options:
            deduplicate_files(None, tmp_path / "in.jsonl", tmp_path / "out", **options)
            continue
        with pytest.raises(ValueError, match="line 2: expected a JSON object"):
            deduplicate_files(None, tmp_path / "in.jsonl", tmp_path / "out", **options)
    assert len(read_bad(tmp_path / "aside")) == 1


def test_the_option_is_named_where_it_helps(tmp_path):
    """Not in an error of a value that the map does not take, nor by a job without the option."""
    (tmp_path / "in.svm").write_bytes(b"1 1:1 2:-1\n")
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": null}\n')
    with pytest.raises(ValueError, match="line 1, index 2: the value -1 is negative") as refused:
        deduplicate_files(
            ConsistentWeightedSampling(n_hashes=64, random_state=0), tmp_path / "in.svm",
            tmp_path / "out",
        )  # fmt: skip
    assert "bad_records" not in str(refused.value)
    with pytest.raises(ValueError, match=r"found null$"):
        map_files(MINHASH, tmp_path / "bad.jsonl", tmp_path / "out", source="word:5")


@pytest.mark.parametrize("kind", ["txt", "jsonl", "parquet"])
@pytest.mark.parametrize("limits", [(20, None), (None, 60), (20, 60), (0, 0)])
def test_lengths(tmp_path, kind, limits):
    """Texts of other lengths, in characters, are set aside with the reason; the first is an error
    otherwise."""
    texts = ["é" * n for n in (0, 19, 20, 21, 60, 61, 400)] + ["twenty to sixty of a", "x" * 20]
    path, out = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    if kind == "parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.table({"text": texts}), path)
    else:
        lines = [json.dumps({"text": text}) if kind == "jsonl" else text for text in texts]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    least, most = limits[0] or 0, 10**9 if limits[1] is None else limits[1]
    wrong = [row for row, text in enumerate(texts) if not least <= len(text) <= most]
    source = Texts("char:3", min_length=limits[0], max_length=limits[1])
    done = deduplicate_files(
        MINHASH, path, out, source=source, bad_records=tmp_path / "aside", dry_run=True
    )
    assert (done.n_bad, done.n_records) == (len(wrong), len(texts) - len(wrong))
    upper = "or more" if limits[1] is None else f"to {limits[1]}"
    assert [(line, reason) for _, line, reason, _ in read_bad(tmp_path / "aside")] == [
        (row + 1, f"expected {least} {upper} characters; found {len(texts[row])}") for row in wrong
    ]
    place = f"{'row' if kind == 'parquet' else 'line'} {wrong[0] + 1}: expected {least} {upper}"
    with pytest.raises(ValueError, match=place):
        deduplicate_files(MINHASH, path, out, source=source)
    assert not out.exists()


def test_lengths_that_are_not_allowed():
    for more, message in (
        ({"min_length": -1}, "min_length must be from 0"),
        ({"max_length": 2.5}, "max_length must be an integer"),
        ({"min_length": 10, "max_length": 9}, "max_length must be from 10"),
    ):
        with pytest.raises(ValueError, match=message):
            Texts("word:5", **more)


@pytest.mark.parametrize(
    "record", [b"a", b"a\\nb", b"a\rb", b"a\nb", b"a\\nb\nc", b"\\\n\\", b"a\\\r\nb", b"\\\\n\n\\r"]
)
def test_records_can_be_read_back_from_the_table(record):
    """Each is one line. Those of several lines are escaped."""
    [line] = _bad_records.bad_lines("in", 0, [(0, ": why", record + b"\r\n")])
    name, number, reason, written = line.split(b"\t", 3)
    assert (name, number, reason) == (b"in", b"1", b"why")
    assert written.count(b"\n") == 1
    if b"\n" in record:
        ends = {b"n": b"\n", b"r": b"\r", b"\\": b"\\"}
        written = re.sub(rb"\\(.)", lambda found: ends[found[1]], written)
    assert written == record + b"\n"
