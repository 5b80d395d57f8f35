"""Records that cannot be read are set aside by every command that reads texts."""

import inspect
import json
import os

import pytest

from sparsemaps import MinHash, files
from sparsemaps.cli import _compare, main
from sparsemaps.cli._parser import make_parser
from sparsemaps.files import Texts
from sparsemaps.linear import KernelClassifier
from sparsemaps.text._analyzers import vectorizer_of

MINHASH = MinHash(n_hashes=32, random_state=0)
VECTORIZER = vectorizer_of("word:1", binary=True)
GOOD = [
    {"text": f"{'cats pets' if row % 2 else 'bank money'} w{row}", "y": row % 2}
    for row in range(40)
]
BAD = [
    b'{"text": null, "y": 1}',
    b"[1]",
    b'{"txt": "a"}',
    b'{"text": "short"}',
    b'{"text": "\xff"}',
]


def write(path, is_mixed):
    """A file of good records; and of bad ones in between, whose lines are returned."""
    lines = [json.dumps(record).encode() for record in GOOD]
    numbers = []
    if is_mixed:
        for place, bad in zip((0, 7, 7, 30, 45), BAD, strict=True):
            lines.insert(place, bad)
        numbers = [lines.index(bad) + 1 for bad in BAD]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return sorted(numbers)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    write(folder / "in.jsonl", is_mixed=False)
    model = KernelClassifier(MINHASH, vectorizer=VECTORIZER, random_state=0)
    files.train_files(model, folder / "in.jsonl", folder / "m", source=Texts(label_field="y"))
    return str(folder / "m")


LENGTHS = ["--min-length", "6", "--max-length", "1000"]
COMMANDS = {
    "map": ["map", "minhash", "IN", "-o", "OUT", "--texts", "word:1"],
    "text": ["text", "IN", "-o", "OUT"],
    "train": ["train", "minhash", "IN", "-o", "OUT", "--texts", "word:1", "--label-field", "y"],
    "predict": ["predict", "MODEL", "IN", "-o", "OUT"],
    "filter": ["filter", "MODEL", "IN", "-o", "OUT", "--label", "1"],
    "pairs": ["pairs", "minhash", "IN", "-o", "OUT", "--texts", "word:1", "--threshold", "0.3"],
    "dedup": ["dedup", "minhash", "IN", "-o", "OUT", "--texts", "word:1"],
}


def command(name, folder, model, *more):
    words = {"IN": str(folder / "in.jsonl"), "OUT": str(folder / "out"), "MODEL": model}
    return main([words.get(word, word) for word in COMMANDS[name]] + list(more))


def test_all_commands_are_tried():
    """Every command with an option of texts has the options, and stands above; compare, which
    writes no records, is tried below."""
    (commands,) = [a for a in make_parser()._actions if a.metavar == "COMMAND"]
    for name, parser in commands.choices.items():
        inner = [a for a in parser._actions if a.metavar == "MAP"]
        for one in inner[0].choices.values() if inner else [parser]:
            options = {option for action in one._actions for option in action.option_strings}
            reads_texts = "--text-format" in options
            assert reads_texts == (name in {*COMMANDS, "compare"}), name
            for option in ("--bad-records", "--min-length", "--max-length"):
                assert (option in options) == reads_texts, (name, option)


def test_functions_have_the_parameter():
    for name in ("deduplicate_files", "filter_files", "map_files", "predict_files",
                 "similar_pairs_of_files", "train_files"):  # fmt: skip
        parameters = inspect.signature(getattr(files, name)).parameters
        assert parameters["bad_records"].default == "error", name


@pytest.mark.parametrize("name", COMMANDS)
def test_outputs_are_those_of_the_good_records(tmp_path, capsys, model, name):
    outputs = []
    for is_mixed in (False, True):
        numbers = write(tmp_path / "in.jsonl", is_mixed)
        more = ["--bad-records", str(tmp_path / "aside")] if is_mixed else []
        assert not command(name, tmp_path, model, *LENGTHS, *more), capsys.readouterr().err
        outputs.append((tmp_path / "out").read_bytes())
    assert outputs[0] == outputs[1]
    lines = (tmp_path / "aside").read_bytes().splitlines()
    assert lines[0] == b"file\tline\treason\trecord"
    parts = [line.split(b"\t", 3) for line in lines[1:]]
    assert [int(part[1]) for part in parts] == numbers
    assert {part[0] for part in parts} == {str(tmp_path / "in.jsonl").encode()}
    assert sorted(part[3] for part in parts) == sorted(BAD)


def test_compare_measures_the_good_records(tmp_path, capsys, monkeypatch):
    """Those of --test too; it ends if all records of one of both are bad."""
    rows, others, aside = (tmp_path / name for name in ("in.jsonl", "test.jsonl", "aside"))
    words = ["compare", str(rows), "--texts", "word:1", "--label-field", "y", *LENGTHS]
    words += ["--test", str(others)]
    measured = []

    def compare_by(budget, *X_y, test, **how):
        measured.append([list(part) for part in (*X_y, *test)])
        raise ValueError("measured")

    monkeypatch.setattr(_compare, "compare_by", compare_by)
    for is_mixed in (False, True):
        numbers = write(rows, is_mixed) + write(others, is_mixed)
        more = ["--bad-records", str(aside)] if is_mixed else []
        assert main([*words, *more]) == 2
        assert "measured" in capsys.readouterr().err
    assert measured[0] == measured[1]
    parts = [line.split(b"\t", 3) for line in aside.read_bytes().splitlines()[1:]]
    assert [int(part[1]) for part in parts] == numbers
    assert {part[0] for part in parts} == {str(path).encode() for path in (rows, others)}
    table = aside.read_bytes()
    assert main(words) == 2
    assert "in.jsonl: line 1: expected a string" in capsys.readouterr().err
    others.write_bytes(b"\n".join(BAD) + b"\n")
    assert main([*words, "--bad-records", str(aside)]) == 2
    assert "all records are bad" in capsys.readouterr().err
    assert main([*words, "--bad-records", str(others)]) == 2
    assert "is the input" in capsys.readouterr().err
    assert aside.read_bytes() == table
    assert len(measured) == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_without_the_option_the_first_is_an_error(tmp_path, capsys, model, name):
    write(tmp_path / "in.jsonl", is_mixed=True)
    assert command(name, tmp_path, model, *LENGTHS) == 2
    assert "in.jsonl: line 1: expected a string in the field 'text'; found null" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_is_not_replaced_where_all_are_bad(tmp_path, capsys, model, name):
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(BAD) + b"\n")
    (tmp_path / "out").write_bytes(b"before")
    assert command(name, tmp_path, model, *LENGTHS, "--bad-records", str(tmp_path / "aside")) == 2
    assert "all records are bad; no output is written" in capsys.readouterr().err
    assert (tmp_path / "out").read_bytes() == b"before"
    assert not (tmp_path / "aside").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@pytest.mark.parametrize("more", [[], ["--format", "npy"], ["--header"]])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_receives_nothing_where_all_are_bad(tmp_path, capsys, model, name, more):
    """Not even the header of a table, or codes of no records."""
    if more and name != "map":
        pytest.skip("options of map")
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(BAD) + b"\n")
    os.mkfifo(tmp_path / "out")
    reader = os.open(tmp_path / "out", os.O_RDONLY | os.O_NONBLOCK)
    try:
        more = [*more, *LENGTHS, "--bad-records", str(tmp_path / "aside")]
        assert command(name, tmp_path, model, *more) == 2
        assert "all records are bad" in capsys.readouterr().err
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_empty_input_gives_an_empty_output(tmp_path, model, name):
    """There is nothing to train on; all else has an output without records."""
    (tmp_path / "in.jsonl").write_bytes(b"")
    assert command(name, tmp_path, model) == (2 if name == "train" else 0)
    header = b"record\tlabel\t0\t1\n" if name == "predict" else b""
    assert name == "train" or (tmp_path / "out").read_bytes() == header


@pytest.mark.parametrize("more", [[], ["--calibrate"]], ids=["", "calibrate"])
def test_records_of_a_validation(tmp_path, capsys, model, more):
    """They are set aside as those of training are; an output is not replaced if they are all bad,
    or if there is a bad one without the option."""
    write(tmp_path / "in.jsonl", is_mixed=True)
    validation, aside = tmp_path / "validation.jsonl", tmp_path / "aside"
    options = [*LENGTHS, *more, "--validation", str(validation)]
    printed = []
    for is_mixed in (False, True):
        numbers = write(validation, is_mixed)
        assert not command("train", tmp_path, model, *options, "--bad-records", str(aside))
        said = capsys.readouterr()
        printed.append((said.out, (tmp_path / "out").read_bytes()))
        assert f"{len(BAD) * (1 + is_mixed)} bad" in said.err
    assert printed[0] == printed[1]
    assert "40 records, accuracy" in printed[0][0]
    parts = [line.split(b"\t", 3) for line in aside.read_bytes().splitlines()[1:]]
    of_validation = [part for part in parts if part[0] == str(validation).encode()]
    assert [int(part[1]) for part in of_validation] == numbers
    assert len(parts) == 2 * len(BAD)

    write(tmp_path / "in.jsonl", is_mixed=False)
    before, table = (tmp_path / "out").read_bytes(), aside.read_bytes()
    assert command("train", tmp_path, model, *options) == 2
    assert "validation.jsonl: line 1: expected a string in" in capsys.readouterr().err
    validation.write_bytes(b"\n".join(BAD) + b"\n")
    assert command("train", tmp_path, model, *options, "--bad-records", str(aside)) == 2
    assert "validation.jsonl: line 1: " in capsys.readouterr().err
    assert command("train", tmp_path, model, *options, "--bad-records", str(validation)) == 2
    assert "is the input" in capsys.readouterr().err
    assert (tmp_path / "out").read_bytes() == before
    assert aside.read_bytes() == table


WITH_MANY_OUTPUTS = ["map", "text", "predict", "filter"]
"""The commands that can write an output for each input; dedup has a test of its own."""


def many(name, model, inputs, output, *more):
    """Run a command on several inputs."""
    words = COMMANDS[name]
    place = words.index("IN")
    words = [*words[:place], *map(str, inputs), *words[place + 1 :]]
    named = {"OUT": str(output), "MODEL": model}
    return main([named.get(word, word) for word in words] + [*LENGTHS, *map(str, more)])


@pytest.fixture
def inputs(tmp_path):
    """Three inputs with bad records, and one without; of the second, the first record is bad."""
    paths = []
    for number, lines in enumerate(([0, 1, 5], [6, 2, 3], [7, 8, 4], [9, 10])):
        paths.append(tmp_path / f"{'cbda'[number]}.jsonl")
        mixed = [BAD[n - 1] if 0 < n < 6 else json.dumps(GOOD[n]).encode() for n in lines]
        if number == 1:
            mixed.reverse()
        paths[-1].write_bytes(b"".join(line + b"\n" for line in mixed))
    return paths


def outputs(folder):
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith(".json")
    }


@pytest.mark.parametrize("name", WITH_MANY_OUTPUTS)
def test_a_table_of_many_outputs(tmp_path, capsys, model, inputs, name):
    """It is that of one output of all inputs; tasks in any order, and results that are there, make
    the same."""
    assert not many(name, model, inputs, tmp_path / "one", "--bad-records", tmp_path / "aside")
    expected = (tmp_path / "aside").read_bytes()
    assert expected.count(b"\n") == 1 + len(BAD)
    (tmp_path / "aside").unlink()
    whole = f"{tmp_path}/whole/", "--bad-records", tmp_path / "aside"
    for _ in range(2):
        assert not many(name, model, inputs, *whole), capsys.readouterr().err
        assert (tmp_path / "aside").read_bytes() == expected
        (tmp_path / "aside").unlink()
    parts = f"{tmp_path}/parts/", "--bad-records", tmp_path / "aside"
    for i in (1, 2, 0):
        assert not many(name, model, inputs, *parts, "--stage", name.replace("text", "map"),
                        "--task", f"{i}/3")  # fmt: skip
        assert not (tmp_path / "aside").exists()
    assert not many(name, model, inputs, *parts)
    assert (tmp_path / "aside").read_bytes() == expected
    assert outputs(tmp_path / "parts") == outputs(tmp_path / "whole")
    good = [tmp_path / f"good/{path.name}" for path in inputs]
    good[0].parent.mkdir()
    for path, input in zip(good, inputs, strict=True):
        lines = input.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(line for line in lines if line[:-1] not in BAD))
    assert not many(name, model, good, f"{tmp_path}/clean/")
    clean = outputs(tmp_path / "clean")
    found = outputs(tmp_path / "whole")
    assert clean == {output: found[output] for output in clean}
    beside = {output for output in found if output not in clean}
    assert len(beside) == len(inputs)
    assert all(output.endswith(".bad.tsv") for output in beside)
    assert not many(name, model, good, f"{tmp_path}/whole/")  # a table is not left from before
    assert outputs(tmp_path / "whole") == clean


@pytest.mark.parametrize("name", WITH_MANY_OUTPUTS)
def test_an_output_of_many_is_not_replaced_where_all_are_bad(tmp_path, capsys, model, inputs, name):
    options = f"{tmp_path}/out/", "--bad-records", tmp_path / "aside"
    assert not many(name, model, inputs, *options)
    before, table = outputs(tmp_path / "out"), (tmp_path / "aside").read_bytes()
    inputs[1].write_bytes(b"\n".join(BAD) + b"\n")
    assert many(name, model, inputs, *options) == 2
    error = capsys.readouterr().err
    assert "all records are bad; no output is written" in error
    assert inputs[1].name in error
    assert outputs(tmp_path / "out") == before
    assert (tmp_path / "aside").read_bytes() == table


@pytest.fixture(scope="module")
def scheduler():
    """The address of a worker that gets all by TCP. It is of this process, as others take seconds
    to start."""
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("sparsemaps.dask")
    options = {"threads_per_worker": 1, "processes": False, "protocol": "tcp://"}
    with distributed.LocalCluster(1, dashboard_address="127.0.0.1:0", **options) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("name", WITH_MANY_OUTPUTS)
def test_a_table_of_many_outputs_on_dask(tmp_path, capsys, model, inputs, name, scheduler):
    for folder, more in (("here", []), ("there", ["--scheduler", scheduler])):
        options = "--bad-records", tmp_path / f"{folder}.bad", *more
        done = many(name, model, inputs, f"{tmp_path}/{folder}/", *options)
        assert not done, capsys.readouterr().err
    assert outputs(tmp_path / "here") == outputs(tmp_path / "there")
    assert (tmp_path / "here.bad").read_bytes() == (tmp_path / "there.bad").read_bytes()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_table_is_no_input(tmp_path, capsys, model, name):
    write(tmp_path / "in.jsonl", is_mixed=True)
    before = (tmp_path / "in.jsonl").read_bytes()
    assert command(name, tmp_path, model, "--bad-records", str(tmp_path / "in.jsonl")) == 2
    assert "is the input" in capsys.readouterr().err
    assert (tmp_path / "in.jsonl").read_bytes() == before


def test_rows_of_parquet(tmp_path, capsys, model):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    texts = ["cats pets", None, "bank money", None]
    parquet.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    words = ["filter", model, str(tmp_path / "in.parquet"), "--label", "1"]
    words += ["-o", str(tmp_path / "out.parquet"), "--bad-records", str(tmp_path / "aside")]
    assert not main(words), capsys.readouterr().err
    assert parquet.read_table(tmp_path / "out.parquet")["text"].to_pylist() == ["cats pets"]
    lines = (tmp_path / "aside").read_text().splitlines()[1:]
    assert [line.split("\t")[1] for line in lines] == ["2", "4"]
