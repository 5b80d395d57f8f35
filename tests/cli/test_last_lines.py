"""The last line of every command says what it has done, and is JSON with --json."""

import contextlib
import fnmatch
import io
import json
import re

import numpy as np
import pytest

from sparsemaps import MinHash
from sparsemaps.cli import main
from sparsemaps.cli._parser import make_parser
from sparsemaps.files._summary import Summary, summarize
from sparsemaps.linear import KernelClassifier
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text import IdfWeights

TEXTS = ["IN", "-o", "OUT", "--texts", "word:1"]
COMMANDS = {
    "map": (["map", "minhash", *TEXTS], {"rows": 3, "empty": 0}),
    "text": (["text", "IN", "-o", "OUT"], {"rows": 3, "empty": 0}),
    "pairs": (["pairs", "minhash", *TEXTS], {"rows": 3, "other": 0, "pairs": 1, "skipped": False}),
    "dedup": (["dedup", "minhash", *TEXTS], {"records": 3, "kept": 2, "clusters": 1, "largest": 2,
                                             "equal": 1, "near": 0, "earlier": 0, "unordered": 0}),
    "train": (["train", "minhash", *TEXTS, "--label-field", "y"], {"records": 3}),
    "predict": (["predict", "MODEL", "IN", "-o", "OUT"],
                {"records": 3, "unknown": 0, "empty": 0, "negative": 0,
                 "labels": {"yes": 2, "no": 1}}),
    "filter": (["filter", "MODEL", "IN", "-o", "OUT", "--label", "no"],
               {"records": 3, "kept": 1, "unknown": 0}),
}  # fmt: skip
"""The commands that read records."""
OTHERS = {
    "kernel": (["kernel", "minmax", "ROWS", "-o", "OUT"], {"rows": 2}),
    "info": (["info", "ROWS"], {"rows": 2, "columns": [1, 3], "entries": 3, "values": [1, 2],
                                "labels": {"0": 1, "1": 1}}),
}  # fmt: skip
WORDS = {
    "map": "3 rows", "text": "3 rows", "pairs": "3 rows, 1 pair", "kernel": "2 rows",
    "dedup": "3 records, 2 kept, 1 equal to a kept one; 1 cluster of several, largest 2",
    "train": "3 records, * passes", "predict": "3 records: yes 2, no 1",
    "filter": "3 records, 1 kept", "info": "labels   0: 1, 1: 1",
}  # fmt: skip
"""The last lines without --json; a star is a number. The line of `info` is of its answer."""
RECORDS = [
    {"text": "aa bb", "y": "yes"},
    {"text": "cc dd", "y": "no"},
    {"text": "aa bb", "y": "yes"},
]


@pytest.fixture
def of_words(tmp_path):
    """A function that returns the words of a command with the names of its files."""
    lines = [json.dumps(record) for record in RECORDS]
    (tmp_path / "good.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines, "{}", "[]"]) + "\n")
    (tmp_path / "in.svm").write_text("1 1:1 3:2\n0 2:1\n")
    minhash = MinHash(n_hashes=64, random_state=0)
    model = KernelClassifier(minhash, vectorizer="word:1", random_state=0)
    model.fit([one["text"] for one in RECORDS], [one["y"] for one in RECORDS])
    model.save(tmp_path / "model")

    def named(words, input):
        names = {"IN": tmp_path / input, "OUT": tmp_path / "out", "MODEL": tmp_path / "model",
                 "ROWS": tmp_path / "in.svm", "OUT/": f"{tmp_path}/out/",
                 "OUT.npy": tmp_path / "out.npy"}  # fmt: skip
        return [str(names.get(word, word)) for word in words]

    return named


@pytest.fixture
def run(of_words, capsys):
    """A function that runs a command, and returns the last line that it prints."""

    def last_line(words, input, *more):
        assert main([*of_words(words, input), *more]) == 0
        streams = capsys.readouterr()
        return (streams.err or streams.out).splitlines()[-1:]

    return last_line


def test_all_commands_are_tried():
    """compare is in test_cli_compare.py, demo in test_cli.py."""
    (commands,) = [a for a in make_parser()._actions if a.metavar == "COMMAND"]
    assert {*COMMANDS, *OTHERS, "demo", "compare"} == commands.choices.keys()
    assert WORDS.keys() == {*COMMANDS, *OTHERS}


@pytest.mark.parametrize("name", COMMANDS)
def test_bad_records_are_counted(run, tmp_path, name):
    words, _ = COMMANDS[name]
    aside = "--bad-records", str(tmp_path / "aside")
    (line,) = run(words, "bad.jsonl", *aside)
    assert ", 2 bad" in line
    assert line[0] == "3"
    assert "bad" not in "".join(run(words, "good.jsonl", *aside))


@pytest.mark.parametrize("name", WORDS)
def test_words(run, name):
    (line,) = run((COMMANDS | OTHERS)[name][0], "good.jsonl")
    assert fnmatch.fnmatchcase(line, WORDS[name])


@pytest.mark.parametrize("name", COMMANDS | OTHERS)
def test_one_record_is_singular(of_words, tmp_path, capsys, name):
    (tmp_path / "one.jsonl").write_text(json.dumps(RECORDS[0]) + "\n{}\n")
    (tmp_path / "in.svm").write_text("1 1:1\n")
    more = ["--bad-records", str(tmp_path / "aside")] if name in COMMANDS else []
    input = "one.jsonl"
    if name == "train":  # needs two classes
        input, more = "good.jsonl", [*more, "--validation", str(tmp_path / "one.jsonl")]
    assert main([*of_words((COMMANDS | OTHERS)[name][0], input), *more]) == 0
    said = "".join(capsys.readouterr())
    assert name == "info" or re.search(r"\b1 (record|row)\b", said)
    assert not re.search(r"\b1 ([a-z]+ )?(records|rows|pairs|passes|clusters|columns)\b", said)


TENSORED = "tensor-sketch", "--n-components", "4"
MAPPED = {
    "text": ["text"],
    "codes as text": ["map", "minhash", "--texts", "word:1"],
    "codes": ["map", "minhash", "--texts", "word:1", "--format", "npy"],
    "features": ["map", *TENSORED, "--texts", "word:1"],
    "codes of rows": ["map", "minhash"],
    "features of rows": ["map", *TENSORED],
}
"""A command for each way from records to an output of `map` and `text`."""


@pytest.mark.parametrize("place", ["out", "outputs/", "-"])
@pytest.mark.parametrize("name", MAPPED)
def test_rows_without_an_entry_are_counted(tmp_path, capsys, name, place):
    """Of one output, of a directory (twice, as complete outputs are not made again), of a pipe."""
    path = tmp_path / "in"
    if name.endswith("of rows"):
        path.write_text("1 1:1\n0\n1 2:0\n0 3:2\n")
    else:
        path = path.with_suffix(".jsonl")
        path.write_text(
            "".join(json.dumps({"text": text}) + "\n" for text in ("aa bb", "", " ", "c dd"))
        )
    output = place if place == "-" else str(tmp_path / place)
    if place == "outputs/":
        output += "/"
    words = [*MAPPED[name], str(path), "-o", output]
    if name == "codes" and place == "-":
        return
    for _ in range(2 if place == "outputs/" else 1):
        assert main(words) == 0
        said, told = capsys.readouterr()
        kind = "entry" if name.endswith("of rows") else "n-gram"
        assert told.splitlines()[-1] == f"4 rows, 2 without an {kind}"
        assert len(said.splitlines()) == (4 if place == "-" else 0)


@pytest.mark.parametrize("name", [*COMMANDS, *OTHERS])
def test_json(run, tmp_path, name):
    words, expected = (COMMANDS | OTHERS)[name]
    for input, n_bad in [("good.jsonl", 0), ("bad.jsonl", 2)] if name in COMMANDS else [("", None)]:
        aside = ["--bad-records", str(tmp_path / "aside")] if n_bad else []
        (line,) = run(words, input, "--json", *aside)
        found = json.loads(line)
        assert found.pop("bad", None) == n_bad
        if name == "train":
            assert found.pop("passes") > 0
        if name == "pairs":
            expected = expected | {"skipped": False}
        assert found == expected


OF_VALIDATION = {
    "y": ["accuracy", "area"],
    "n": ["r2", "rmse"],
    "list": ["micro_f1", "macro_f1", "precision_at_1"],
}
"""The figures of records of --validation, by the kind of the labels. ``info`` shows the first."""


@pytest.mark.parametrize("field", OF_VALIDATION)
def test_json_has_the_figures_of_validation(run, tmp_path, field):
    lines = [json.dumps(one | {"n": n, "list": [one["y"]]}) for n, one in enumerate(RECORDS)]
    (tmp_path / "labelled.jsonl").write_text("\n".join(lines))
    words = ["train", "minhash", *TEXTS, "--label-field", field, "--json"]
    words += ["--validation", str(tmp_path / "labelled.jsonl")]
    words += ["--loss", "epsilon_insensitive"] if field == "n" else []
    found = json.loads(*run(words, "labelled.jsonl"))["validation"]
    assert found.pop("records") == 3
    assert found.keys() == {*OF_VALIDATION[field]}
    name = OF_VALIDATION[field][0]
    told = json.loads(*run(["info", "OUT", "--json"], ""))["validation"]
    assert told == {"records": 3, name: pytest.approx(found[name], abs=1e-9)}
    (tmp_path / "labelled.jsonl").write_text(lines[0])
    if field == "n":  # one record has no R2
        assert json.loads(*run(words, "labelled.jsonl"))["validation"]["r2"] is None


def test_json_has_the_scores_of_several_C(run, tmp_path):
    words = ["train", "minhash", *TEXTS, "--label-field", "y", "--json", "--C", "0.1", "2.5"]
    (line,) = run(words, "good.jsonl", "--validation", str(tmp_path / "good.jsonl"))
    found = json.loads(line)
    assert found["C"] == 0.1
    assert found["scores"] == {"0.1": 1.0, "2.5": 1.0}
    assert json.loads(*run(["info", "OUT", "--json"], ""))["scores"] == found["scores"]


@pytest.mark.parametrize("name", [*COMMANDS, *OTHERS])
def test_json_is_the_last_line_of_both_streams(of_words, name):
    """Also if they are one, as with 2>&1: what else a command prints comes before."""
    words, both = of_words((COMMANDS | OTHERS)[name][0], "good.jsonl"), io.StringIO()
    words += ["--validation", *of_words(["IN"], "good.jsonl")] if name == "train" else []
    with contextlib.redirect_stdout(both), contextlib.redirect_stderr(both):
        assert main([*words, "--json"]) == 0
    json.loads(both.getvalue().splitlines()[-1])


def _has_no_number(value):
    """Return whether no string in a value is, or begins with, a number."""
    if isinstance(value, dict):
        return all(map(_has_no_number, value.values()))
    if isinstance(value, list):
        return all(map(_has_no_number, value))
    return not (isinstance(value, str) and re.match(r"-?[0-9.]+( |$)", value))


MADE = ["--n-hashes", "16", "--seed", "7"]
MINHASH = ["minhash", *MADE, *TEXTS]
DESCRIBED = {
    "text": (["map", *MINHASH], "OUT"),
    "codes": (["map", *MINHASH[:-3], "OUT.npy", "--texts", "word:1", "--format", "npy",
               "--label-field", "y"], "OUT.npy"),
    "model": (["train", *MINHASH, "--label-field", "y", "--weight-field", "w", "--C", "1", "2",
               "--calibrate", "--validation", "IN"], "OUT"),
    "model of weighted words": (["train", "--idf", "--n-hashes", "16", "--seed", "7", *TEXTS,
                                 "--label-field", "y"], "OUT"),
    "model of lists": (["train", *MINHASH, "--label-field", "list", "--validation", "IN"], "OUT"),
    "model of numbers": (["train", *MINHASH, "--label-field", "w", "--loss",
                          "epsilon_insensitive", "--validation", "IN"], "OUT"),
}  # fmt: skip
"""A command that writes each kind of file, and the file."""


@pytest.mark.parametrize("name", [*DESCRIBED, "index", "frequencies"])
def test_info_in_json_has_numbers(run, of_words, tmp_path, name):
    """A string that begins with a number would have to be parsed."""
    lines = [json.dumps(one | {"w": n + 1, "list": [one["y"]]}) for n, one in enumerate(RECORDS)]
    (tmp_path / "labelled.jsonl").write_text("\n".join(lines))
    words, output = DESCRIBED.get(name, ([], "OUT.npy"))
    (path,) = of_words([output], "")
    if words:
        run(words, "labelled.jsonl")
    elif name == "index":
        KernelNeighbors(MinHash(n_hashes=16, random_state=7), radius=0.2).fit(np.eye(30)).save(path)
    else:
        IdfWeights(n_buckets=64).fit(np.eye(5)).save(path)
    (line,) = run(["info", output, "--json"], "")
    found = json.loads(line)
    assert _has_no_number(found), found
    assert len(found) == len(summarize(path))  # of different names
    if name not in ("text", "frequencies"):
        parameters = found["map"]["parameters"]
        assert (parameters["n_hashes"], found["seed"], found["scheme"]) == (16, 7, 1)
    if name == "model":
        assert {"records": 3, "weight": 6}.items() <= found["trained"].items()
        assert found["classes"] == {"labels": ["no", "yes"], "several": False}
        assert (found["weights"], found["probas"]) == (16 << 8, "calibrated")
    if name == "model of weighted words":
        assert (found["idf"]["class"], found["idf"]["records"]) == ("IdfWeights", 3)


def test_labels_of_info_are_counted_or_too_many(tmp_path, capsys):
    """Labels that differ in late digits are two; their range is of all labels."""
    path = tmp_path / "in.svm"
    path.write_text("0.1234567 1:1\n0.12345671 1:1\n0.1234567 1:1\n")
    assert main(["info", str(path), "--json"]) == 0
    labels = json.loads(capsys.readouterr().out)["labels"]
    assert {float(label): n for label, n in labels.items()} == {0.1234567: 2, 0.12345671: 1}
    summary = Summary()  # of the blocks of a file
    for least, end in ((0, 3000), (-5, 0), (7, 9)):
        summary.add_labels(np.arange(least, end))
    assert summary.labels() == ("labels", "over 1000 of -5 to 2999", None, None)


@pytest.mark.parametrize("name", ["map", "text", "pairs", "dedup", "predict", "filter"])
def test_stages_in_json(of_words, capsys, name):
    """They are those of the table of --tasks."""
    output = "OUT" if name == "pairs" else "OUT/"  # pairs are one table
    words = [output if word == "OUT" else word for word in COMMANDS[name][0]]
    words = [*of_words(words, "good.jsonl"), "--tasks"]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main([*words, "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    stages = json.loads(line)["stages"]
    assert [[one["stage"], one["tasks"], one["about"]] for one in stages] == [
        [stage, int(n), about] for stage, n, about in (line.split(None, 2) for line in lines)
    ]


def test_labels_that_do_not_look_like_words(tmp_path, capsys):
    """They are in quotes, and long ones are cut."""
    names = ["", " b", "a, b", "a b", "l" * 41]
    model = KernelClassifier(MinHash(n_hashes=64, random_state=0), random_state=0)
    model.fit(np.eye(5), names).save(tmp_path / "model")
    (tmp_path / "in.svm").write_text("".join(f"0 {n + 1}:1\n" for n in range(5)))
    words = ["predict", *(str(tmp_path / name) for name in ("model", "in.svm", "out"))]
    assert main([*words[:3], "-o", words[3], "--unknown", "-1e3"]) == 0
    shown = f'"" 1, " b" 1, a b 1, "a, b" 1, {"l" * 37}... 1'
    assert capsys.readouterr().err == f"5 records: {shown}\n"


def test_many_labels_and_unknown_records(tmp_path, capsys):
    """Ten labels are named; records without an entry are told apart if others are unknown too."""
    X = np.eye(12)
    model = KernelClassifier(MinHash(n_hashes=64, random_state=0), random_state=0)
    model.fit(X, np.arange(12)).save(tmp_path / "model")
    (tmp_path / "in.svm").write_text("".join(f"0 {n + 1}:1\n" for n in range(12)) + "0\n")
    words = ["predict", *(str(tmp_path / name) for name in ("model", "in.svm")), "-o"]
    words += [str(tmp_path / "out")]
    assert main(words) == 0
    named = ", ".join(f"{n} 1" for n in range(10))
    line = f"13 records: {named}, 2 other labels 2, 1 unknown (without an n-gram or an entry)\n"
    assert capsys.readouterr().err == line
    assert main([*words, "--min-score", "9"]) == 0
    assert capsys.readouterr().err == "13 records, 13 unknown (1 without an n-gram or an entry)\n"
    of_all = "0 " + " ".join(f"{n + 1}:1" for n in range(12))  # and so of no class
    (tmp_path / "in.svm").write_text(f"{of_all}\n{of_all}\n0 1:1\n0\n")
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().err)
    assert (found["records"], found["empty"], found["negative"]) == (4, 1, 2)
    assert main(words) == 0
    assert ", 2 with negative scores only" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*COMMANDS, "kernel"])
def test_inputs_without_records(run, tmp_path, capsys, name):
    """The other commands: info has the number of rows, demo and compare are errors."""
    run(COMMANDS["text"][0], "good.jsonl")  # an output that is there before
    empty, words = tmp_path / "none.jsonl", (COMMANDS | OTHERS)[name][0]
    empty.write_text("")
    names = {"IN": empty, "ROWS": empty, "OUT": tmp_path / "out", "MODEL": tmp_path / "model"}
    assert main([str(names.get(word, word)) for word in words]) == (2 if name == "train" else 0)
    said, rest = capsys.readouterr().err.split("\n", 1)
    assert fnmatch.fnmatchcase(said, f"sparsemaps: {empty}: there are no r*s")
    assert bool(rest) == (name != "train")


@pytest.mark.parametrize(("full", "empty"), [("in", "other"), ("other", "in")])
def test_inputs_without_rows(tmp_path, capsys, full, empty):
    (tmp_path / full).write_text("1 1:1\n")
    (tmp_path / empty).write_text("")
    words = ["pairs", "minhash", str(tmp_path / "in"), "--other", str(tmp_path / "other")]
    assert main([*words, "-o", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().err.splitlines()
    words = "1 row" if full == "in" else "0 rows, 1 other row"
    assert told == [f"sparsemaps: {tmp_path / empty}: there are no rows", words]
