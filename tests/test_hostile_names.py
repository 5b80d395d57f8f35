"""Names of files and folders, ids and labels of any characters end no column and no line, and reach
no terminal as control characters."""

import ast
import json
import re
from pathlib import Path

import numpy as np
import pytest

import sparsemaps
from sparsemaps import cli
from sparsemaps._tools._escapes import as_column, escaped, terminal_line, unescaped

NAMES = [
    "plain", "two words", "tab\there", "two\t\ttabs\t", "line\nend", "cr\rx", "esc\x1b[31mred",
    "back\\slash", "back\\tslash", "bell\x07", "csi\x9b2J", "nel\x85x", "separator\u2028x",
    "turned\u202ex", "del\x7fx", "vertical\x0bx", "é 東 😀", "#", "\\x1b", '"quoted"', "  blanks  ",
]  # fmt: skip
FOLDER = "d\x1b[31m\tir\n2\\n\x9b"
LABELS = ["lab\tel\x1b[31m", "ok\nno\\"]


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / FOLDER
    made.mkdir()
    with open(made / "in\x1b\t.jsonl", "w") as file:
        for number, name in enumerate(NAMES):
            for copy in ("", "2"):
                text = f"some words number {number} are here for each of us {number}"
                record = {"id": name + copy, "label": LABELS[number % 2], "text": text}
                file.write(json.dumps(record) + "\n")
    (made / "rows\x1b\t.svm").write_text("1 1:1 2:1 # a\x1b[31m\tb\n0 1:1 2:1 # c\\d\n")
    (made / "empty\x1b\t.svm").write_text("")
    (made / "bad\x1b\t.jsonl").write_text('{"text": "a b c d e f"}\n{\x1b[31m\n')
    return made


def columns_of(path, n):
    """The columns of a table, each line of which has n."""
    lines = Path(path).read_bytes().decode().split("\n")
    assert lines.pop() == ""
    table = [line.split("\t") for line in lines]
    assert {len(row) for row in table} == {n}, table
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]", "\n".join(lines))
    return list(zip(*table, strict=True))


def text_of(column):
    """The text of a column, by Python's escapes, which the documents name."""
    return ast.literal_eval("'" + column.replace("'", "\\'") + "'")


def run(*words):
    return cli.main([str(word) for word in words])


IDS = [name + copy for name in NAMES for copy in ("", "2")]


def of_dedup(folder):
    inputs = folder / "in\x1b\t.jsonl"
    run("dedup", inputs, "--id-field", "id", "-o", folder / "out", "--removed", folder / "removed",
        "--clusters", folder / "clusters", "--report", folder / "report")  # fmt: skip
    removed = columns_of(folder / "removed", 3)
    assert list(map(text_of, removed[0][1:])) == [f"{name}2" for name in NAMES]
    assert list(map(text_of, removed[1][1:])) == NAMES
    assert list(map(text_of, columns_of(folder / "clusters", 2)[0])) == IDS
    (ids,) = columns_of(folder / "out.stages/codes.npy.ids.txt", 1)
    assert list(map(text_of, ids)) == IDS
    run("info", folder / "out.stages/codes.npy")
    run("info", folder / "out.stages/codes.npy.ids.txt")
    run("dedup", inputs, "--id-field", "id", "-o", folder / "new", "--removed", folder / "removed",
        "--against", folder / "out.stages")  # fmt: skip
    kept = list(map(text_of, columns_of(folder / "removed", 3)[1][1:]))
    assert set(kept) <= {f"{folder / 'out.stages'}:{name}" for name in NAMES}


def of_bad_records(folder):
    run("dedup", folder / "bad\x1b\t.jsonl", "-o", folder / "out")  # an error names the file
    run("dedup", folder / "bad\x1b\t.jsonl", "-o", folder / "out", "--bad-records", folder / "bad")
    first, second = (folder / "bad").read_bytes().split(b"\n")[:2]
    assert first == b"file\tline\treason\trecord"
    name, line, reason, record = second.split(b"\t")
    assert text_of(name.decode()) == str(folder / "bad\x1b\t.jsonl")
    assert line == b"2"
    assert reason.decode().isprintable()
    assert record == b"{\x1b[31m"  # the line as it stands


def of_pairs(folder):
    run("pairs", folder / "in\x1b\t.jsonl", "--id-field", "id", "-o", folder / "pairs")
    first, second, _ = columns_of(folder / "pairs", 3)
    assert list(map(text_of, first)) == NAMES
    assert list(map(text_of, second)) == [f"{name}2" for name in NAMES]
    rows = folder / "rows\x1b\t.svm"
    run("pairs", rows, "-o", folder / "pairs")
    comments = [list(map(text_of, one)) for one in columns_of(folder / "pairs", 5)[3:]]
    assert comments == [["a\x1b[31m b"], ["c\\d"]]
    run("pairs", folder / "empty\x1b\t.svm", "-o", folder / "pairs")


def of_train(folder):
    inputs = folder / "in\x1b\t.jsonl"
    texts = "--texts", "word:1", "--label-field", "label"
    run("train", inputs, *texts, "-o", folder / "model", "--validation", inputs, "--max-iter", 1)
    run("info", folder / "model")


def of_predict(folder):
    of_train(folder)
    run("predict", folder / "model", folder / "in\x1b\t.jsonl", "--id-field", "id", "-o",
        folder / "labels")  # fmt: skip
    lines = (folder / "labels").read_bytes().decode().split("\n")
    columns = columns_of(folder / "labels", len(lines[0].split("\t")))
    assert list(map(text_of, columns[0]))[1:] == IDS
    assert set(map(text_of, columns[1][1:])) <= set(LABELS)
    assert list(map(text_of, lines[0].split("\t")[2:])) == sorted(LABELS)


def of_filter(folder):
    of_train(folder)
    inputs = folder / "in\x1b\t.jsonl"
    run("filter", folder / "model", inputs, "--label", "no\x1b", "-o", folder / "kept.jsonl")
    run("filter", folder / "model", inputs, "--label", LABELS[0], "-o", folder / "kept.jsonl")


def of_map(folder):
    texts = "--texts", "word:1", "--id-field", "id", "--label-field", "label"
    run("map", "minhash", folder / "in\x1b\t.jsonl", *texts, "--format", "npy", "-o",
        folder / "mapped.npy")  # fmt: skip
    (ids,) = columns_of(folder / "mapped.npy.ids.txt", 1)
    assert list(map(text_of, ids)) == IDS
    numbers, labels = columns_of(folder / "mapped.npy.classes.tsv", 2)
    assert numbers == ("0", "1")
    assert list(map(text_of, labels)) == LABELS
    for name in ("mapped.npy", "mapped.npy.classes.tsv", "mapped.npy.labels.npy"):
        run("info", folder / name)
    run("map", "minhash", folder / "in\x1b\t.jsonl", *texts, "-o", folder / "mapped.svm")
    mapped = (folder / "mapped.svm").read_bytes().decode().split("\n")[:-1]
    assert [text_of(line.partition(" # ")[2]) for line in mapped] == IDS
    run("map", "minhash", folder / "empty\x1b\t.svm", "-o", folder / "mapped.svm")
    run("map", "minhash", folder / "rows\x1b\t.svm", "-o", f"{folder / 'many'}/", "--tasks")


def of_info(folder):
    (folder / "headed.svm").write_text("# esc\x1b[31m \u202e\n1 1:1\n")
    for name in ("headed.svm", "none\x1b\t\n", "rows\x1b\t.svm", "in\x1b\t.jsonl"):
        run("info", folder / name)


def of_text(folder):
    for name in ("in\x1b\t.jsonl", "none\x1b\t\n"):
        run("text", folder / name, "-o", folder / "text.svm")


def of_kernel(folder):
    for name in ("rows\x1b\t.svm", "empty\x1b\t.svm", "none\x1b\t\n"):
        run("kernel", "minmax", folder / name, "-o", folder / "kernel.svm")


def of_compare(folder):
    texts = "--texts", "word:1", "--label-field", "label"
    for name in ("rows\x1b\t.svm", "none\x1b\t\n"):
        run("compare", folder / name, "--seconds", 0.01)
    lines = (folder / "in\x1b\t.jsonl").read_text()
    (folder / "many\x1b\t.jsonl").write_text(lines * 20)
    run("compare", folder / "many\x1b\t.jsonl", *texts, "--seconds", 0.01)


COMMANDS = {
    "compare": of_compare,
    "dedup": of_dedup, "bad records": of_bad_records, "pairs": of_pairs, "train": of_train,
    "predict": of_predict, "filter": of_filter, "map": of_map, "info": of_info, "text": of_text,
    "kernel": of_kernel,
}  # fmt: skip
WITHOUT_NAMES = {"demo": "it reads no file"}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.filterwarnings("ignore")
def test_no_name_reaches_the_terminal(command, folder, capfd):
    COMMANDS[command](folder)
    said = capfd.readouterr()
    for text in said:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", text)
    assert said.out + said.err


def test_every_command_is_tried():
    (commands,) = (a for a in cli.make_parser()._actions if isinstance(a.choices, dict))
    assert set(commands.choices) <= COMMANDS.keys() | WITHOUT_NAMES


def test_wrong_options_are_said_safely(capsys):
    for words in (["esc\x1b"], ["dedup", "--esc\x1b=1"], ["info", "a", "b\x1b[31m"]):
        with pytest.raises(SystemExit):
            cli.main(words)
        assert "\x1b" not in capsys.readouterr().err


def test_one_function_prints():
    """The others print what has no names."""
    allowed = {
        "_escapes.py": 1,
        "_help.py": 1,
        "_versions.py": 1,
        "_parser.py": 2,
        "__main__.py": 1,
    }
    found = {}
    for path in Path(sparsemaps.__file__).resolve().parent.rglob("*.py"):
        tree = ast.parse(path.read_text())
        calls = [
            node for node in ast.walk(tree)
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
        ]  # fmt: skip
        if calls:
            found[path.name] = len(calls)
    assert found == allowed


@pytest.mark.parametrize("text", [*NAMES, "", *map(chr, [*range(0x100), 0x2028, 0xFFFF, 0x1F600])])
def test_columns_and_lines(text):
    column = escaped(text)
    assert unescaped(column) == text
    assert text_of(column) == text
    assert as_column(column) == column
    assert len(column.splitlines()) <= 1
    assert "\t" not in column
    assert terminal_line(text).replace("\t", "").isprintable() or "\xa0" in text
    if text.isascii() and text.isprintable() and "\\" not in text:
        assert column == text == terminal_line(text)


def test_columns_of_other_writers():
    assert as_column("a\tb\\c\x1b\\t") == r"a\tb\\c\x1b\t"
    assert np.all([as_column(as_column(name)) == as_column(name) for name in NAMES])
