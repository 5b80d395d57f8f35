"""Records that are bad before the first good one, in each format: a job of these alone changes no
output. And errors after bad records have their own lines."""

import csv

import pytest
from _data.record_files import WRITERS

from sparsemaps import cli
from sparsemaps.cli._parser import make_parser
from sparsemaps.files import _bad_records, _coded_records
from sparsemaps.libsvm import _pipeline
from sparsemaps.records import TEXT_FORMATS
from sparsemaps.records._table import FORMATS
from sparsemaps.text import iter_records

pytest.importorskip("pyarrow")

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


def write(format, path, records):
    """Write records. Those of CSV have several lines, good and bad ones."""
    rows = [{"text": None, "y": "a"} if record is BAD else record for record in records]
    if format != "csv":
        WRITERS[format](path, rows)
        return
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "y"])
        for row in rows:
            is_bad = row["text"] is None
            writer.writerow(["of\ntwo lines"] if is_bad else [row["text"] + "\n", row["y"]])


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write("jsonl", folder / "in.jsonl", GOOD)
    words = f"train {folder}/in.jsonl --label-field y --texts word:1 -o {folder}/model"
    assert cli.main(words.split()) == 0
    return folder / "model"


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    (tmp_path / "model").symlink_to(model)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_bad_records, "MOST", MOST)
    return tmp_path


def output_of(folder, name, format):
    """An output of the input's format; labels are written as a table."""
    return folder / ("out.tsv" if name == "predict" else f"out.{format}")


def run(name, input, output, more=()):
    words = COMMANDS[name].replace("IN", str(input)).replace("OUT", str(output)).split()
    return cli.main([*words, *more, "--bad-records", "aside"])


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_whose_first_records_are_bad(folder, capsys, name, format):
    if (name, format) == ("train", "txt"):
        return  # which has no labels
    path, output = folder / f"in.{format}", output_of(folder, name, format)
    output.write_bytes(b"before")
    write(format, path, [BAD] * MOST + GOOD)
    assert run(name, path, output) == 2
    assert f"the first {MOST} records are all bad" in capsys.readouterr().err
    assert output.read_bytes() == b"before"
    write(format, path, [BAD] * (MOST - 1) + GOOD[:1] + [BAD] * MOST + GOOD)
    assert run(name, path, output) == 0
    assert output.read_bytes() != b"before"


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("name", WITH_FOLDERS)
def test_an_input_of_a_folder_whose_records_are_all_bad(folder, capsys, name, format):
    """Its output would be empty, and stays."""
    (folder / "in").mkdir()
    for input in ("a", "b"):
        write(format, folder / f"in/{input}.{format}", GOOD)
    assert run(name, "in/", "out/") == 0
    (output,) = (
        path
        for path in (folder / "out").glob(f"b.{format}*")
        if not path.name.endswith((".json", ".bad.tsv"))
    )
    before = output.read_bytes()
    write(format, folder / f"in/b.{format}", [BAD] * 3)
    capsys.readouterr()
    assert run(name, "in/", "out/") == 2
    assert f"all records are bad; no output is written. The first one is in/b.{format}: " in (
        capsys.readouterr().err
    )
    assert output.read_bytes() == before
    write(format, folder / f"in/b.{format}", [])
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
    write("jsonl", folder / "in.jsonl", records)
    more = ["--label-field", "y"] if name == "map" else []
    words = COMMANDS[name].replace("IN", "in.jsonl").replace("OUT", "out").split()
    assert cli.main([*words, *more, "--bad-records", "aside"]) == 2
    assert f"in.jsonl: line 5: {message}" in capsys.readouterr().err


BLANKS = {"jsonl": b" \n\n", "csv": b"\n\r\n"}
"""Lines that are not records. They stand between the others."""

IN_PARTS = [
    (name, kind, n_bytes, 2**20)
    for name in ("dedup", "pairs")
    for kind in TEXT_FORMATS
    for n_bytes in ((40, 150) if name == "dedup" else (150,))
    if FORMATS[kind].is_cut_by_bytes
]
IN_BLOCKS = [(name, kind, 2**26, 150) for name in COMMANDS for kind in TEXT_FORMATS]


@pytest.mark.parametrize(("name", "format", "n_range", "n_block"), IN_PARTS + IN_BLOCKS)
def test_the_first_bad_records_are_counted_alike(
    folder, capsys, monkeypatch, name, format, n_range, n_block
):
    """By jobs of tasks and others, whatever stands between the records, and however an input is
    cut."""
    if (name, format) == ("train", "txt"):
        return
    monkeypatch.setattr(_coded_records, "RANGE_BYTES", n_range)
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", n_block)
    path, output = folder / f"in.{format}", output_of(folder, name, format)
    output.write_bytes(b"before")
    for records in (GOOD[:1] + [BAD] * MOST + GOOD, [BAD] * (MOST - 1) + GOOD, [BAD] * MOST + GOOD):
        write(format, path, records)
        if format in BLANKS:
            head, *lines = path.read_bytes().splitlines(keepends=True)
            if format == "jsonl":
                head = BLANKS[format] + head
            if format == "csv":  # within a record, a blank line would be of its text
                ends = {b'two lines"\r\n': b'two lines"\r\n' + BLANKS[format]}
                lines = [ends.get(line, line) for line in lines]
            else:
                lines = [BLANKS[format] + line for line in lines]
            path.write_bytes(head + b"".join(lines))
        is_refused = records[:MOST] == [BAD] * MOST
        assert run(name, path, output) == 2 * is_refused
        found = capsys.readouterr().err
        assert (f"the first {MOST} records are all bad" in found) == is_refused, found


@pytest.mark.parametrize("more", [["--max-df", "5"], ["--max-df", "5", "--n-jobs", "2"]])
def test_the_first_bad_records_of_counted_texts(folder, capsys, more):
    """Their n-grams are counted first, and the texts are not read again."""
    for records in ([BAD] * (MOST - 1) + GOOD, [BAD] * MOST + GOOD):
        write("jsonl", folder / "in.jsonl", records)
        words = ["dedup", "in.jsonl", "-o", "out", "--bad-records", "aside", "--texts", "word:1"]
        is_refused = records[MOST - 1] is BAD
        assert cli.main([*words, *more]) == 2 * is_refused
        assert (f"the first {MOST} records are all bad" in capsys.readouterr().err) == is_refused


# ---- advice --------------------------------------------------------------------------------------

ALL_COMMANDS = {**COMMANDS, "compare": "compare IN --texts word:1 --label-field y"}
ADVICE = "; --bad-records FILE sets such records aside"


def test_all_commands_that_set_records_aside_are_listed():
    (commands,) = [a for a in make_parser()._actions if a.metavar == "COMMAND"]
    for name, parser in commands.choices.items():
        inner = [a for a in parser._actions if a.metavar == "MAP"]
        parser = inner[0].choices["minhash"] if inner else parser
        has_option = any(a.dest == "bad_records" for a in parser._actions)
        assert has_option == (name in ALL_COMMANDS), name


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("name", ALL_COMMANDS)
def test_errors_say_how_to_set_records_aside(folder, capsys, name, format):
    """But not if the first record is bad, which all may be then, unless it is by its length."""
    if format == "txt" and name in ("train", "compare"):
        return
    path, output = folder / f"in.{format}", output_of(folder, name, format)

    def error_of(records, *more):
        write(format, path, records)
        words = ALL_COMMANDS[name].replace("IN", str(path)).replace("OUT", str(output)).split()
        assert cli.main([*words, *more]) == 2
        assert not output.exists()
        return capsys.readouterr().err.removesuffix("\n")

    short = {"text": "x", "y": "a"}
    assert error_of([*GOOD[:4], BAD, *GOOD]).endswith(ADVICE)
    assert "bad-records" not in error_of([BAD, *GOOD])
    assert "bad-records" not in error_of([BAD, *GOOD], "--min-length", "3")
    for records in ([*GOOD[:4], short], [short, *GOOD]):
        assert error_of(records, "--min-length", "3").endswith(ADVICE)


def test_remedies_are_in_errors_and_not_in_tables(folder, capsys):
    """A worker, whose words are the library's, writes the same table as the command."""
    write("jsonl", folder / "in.jsonl", [{"title": "a b"}, *GOOD])
    assert cli.main(["dedup", "in.jsonl", "-o", "out"]) == 2
    error = capsys.readouterr().err
    assert error.endswith("found 'title'; name the field of the texts by --field\n")
    with pytest.raises(ValueError, match=r"found 'title'; name the field of the texts by field$"):
        next(iter_records("in.jsonl"))
    assert run("dedup", "in.jsonl", "out") == 0
    line = "in.jsonl\t1\texpected the field 'text'; found 'title'\t" + '{"title": "a b"}\n'
    assert (folder / "aside").read_text().splitlines(keepends=True)[1] == line
