"""What a model's file says about its training: when, on how many records, how well."""

import json
import re

import pytest
from _data.labelled_records import records, rows, text_model, write_jsonl, write_rows
from _data.saved_models import changed
from _scripts.commands import command

from sparsemaps import ConsistentWeightedSampling, files
from sparsemaps.files import Texts
from sparsemaps.linear import KernelClassifier, KernelRegressor, load_model
from sparsemaps.linear._model_file import digest_of

EPOCH = "SOURCE_DATE_EPOCH"
LABELS = Texts(label_field="label")
MAP = ConsistentWeightedSampling(n_hashes=32, random_state=0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(EPOCH, "1764190800")
    write_jsonl(tmp_path / "in.jsonl", [{**one, "w": 1.5} for one in records(90)])
    write_jsonl(tmp_path / "new.jsonl", [{**one, "w": 1.5} for one in records(40, seed=1)])
    write_rows("in.svm", *rows())
    return tmp_path


def told(path):
    done = command("info", path)
    assert done.returncode == 0, done.stderr
    lines = [line.partition(" ")[::2] for line in done.stdout.decode().splitlines()]
    return {name: value.strip() for name, value in lines}


def numbers(path):
    return json.loads(command("info", path, "--json").stdout)


def test_info_tells_all(folder):
    options = ["--label-field", "label", "--texts", "word:1", "--weight-field", "w", "--snippets"]
    done = command("train", "in.jsonl", "-o", "model", *options, 2, 4, "--C", 0.1, 1,
                   "--validation", "new.jsonl", "--calibrate")  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = told("model")
    assert said["trained"] == "2025-11-26T21:00:00Z on 90 records, weights of 135 in all"
    assert said["options"] == "calibrate=True, snippets=[2, 4], weight_field='w'"
    accuracy = re.match(r"40 records of weight 60, accuracy (\S+)", done.stdout.decode())[1]
    assert said["score"] == f"accuracy {accuracy} on 40 records of validation"
    table = [line.split()[:3] for line in done.stderr.decode().splitlines()[1:3]]
    parts = [f"{C}: {score} (error {error})" for C, score, error in table]
    assert said["C"] == f"accuracy of {', '.join(parts)}"
    found, given = numbers("model"), {"calibrate": True, "snippets": [2, 4], "weight_field": "w"}
    assert found["trained"] == {"date": "2025-11-26T21:00:00Z", "records": 90, "weight": 135}
    assert found["options"] == given
    tried = found["validation"]
    assert (tried["records"], f"{tried['accuracy']:.4f}") == (40, accuracy)
    assert [[C, f"{score:.4f}"] for C, score in found["scores"].items()] == [
        [C, score] for C, score, _ in table
    ]


def test_info_tells_what_there_is(folder):
    """Of regression R2; nothing of a model that was not trained on files."""
    command("train", "minmax", "in.svm", "-o", "model", "--loss", "squared_epsilon_insensitive",
            "--validation", "in.svm", "--C", 1, 2)  # fmt: skip
    said = told("model")
    assert said["trained"] == "2025-11-26T21:00:00Z on 70 records"
    assert said["score"].endswith(" on 70 records of validation")
    assert said["C"].startswith("R2 of 1: ")
    assert "options" not in said
    found = numbers("model")
    assert found["validation"]["records"] == 70
    assert f"R2 {found['validation']['r2']:.4f} on 70 records of validation" == said["score"]
    assert found["trained"] == {"date": "2025-11-26T21:00:00Z", "records": 70}
    KernelClassifier(MAP).fit(*rows()).save("plain")
    assert not {"trained", "options", "score", "C"} & told("plain").keys()


def test_info_tells_of_lists_of_labels(folder):
    some = [{"text": " ".join(part), "y": part} for part in (["a"], ["a", "b"], ["b"], [])]
    write_jsonl(folder / "lists.jsonl", some * 5)
    done = command("train", "lists.jsonl", "-o", "model", "--label-field", "y", "--texts",
                   "word:1", "--validation", "lists.jsonl")  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = told("model")
    assert said["trained"] == "2025-11-26T21:00:00Z on 20 records"
    assert said["score"] == "micro F1 1.0000 on 20 records of validation"
    assert numbers("model")["validation"] == {"records": 20, "micro_f1": 1}


def test_equal_trainings_make_equal_files(folder, monkeypatch):
    """But for the date, which is not one of the facts that decide labels, and the checksum."""

    def train(name):
        model = text_model()
        how = {"C": [0.1, 1], "calibrate": True, "source": LABELS}
        return files.train_files(model, "in.jsonl", name, **how).model

    contents = [(folder / str(n)).read_bytes() for n in range(2) if train(str(n))]
    assert contents[0] == contents[1]
    monkeypatch.delenv(EPOCH)
    later = train("later")
    assert (folder / "later").read_bytes() != contents[0]
    dates = rb'"date": "(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"'
    changing = dates + rb'|"crc32": "\w{8}"'
    without = [re.sub(changing, b"", one) for one in (contents[0], (folder / "later").read_bytes())]
    assert without[0] == without[1]
    first = load_model("0")
    assert digest_of(first) == digest_of(load_model("later")) == digest_of(later)
    first.save("copy")
    assert (folder / "copy").read_bytes() == contents[0]


def test_facts_are_of_the_last_training(folder):
    model = files.train_files(KernelClassifier(MAP, random_state=0), "in.svm", "model").model
    assert model._facts.n_records == 70
    model.fit(*rows())
    assert "_facts" not in vars(model)
    KernelRegressor(MAP).fit(*rows()).save("plain")
    assert "_facts" not in vars(load_model("plain"))


@pytest.mark.parametrize("value", ["x", "-1", "1.5", "1e9", "123456789012"])
def test_a_date_that_is_none(value, folder, monkeypatch):
    monkeypatch.setenv(EPOCH, value)
    with pytest.raises(ValueError, match=f"{EPOCH} must be seconds since 1970, got '{value}'"):
        files.train_files(KernelClassifier(MAP), "in.svm", "model")
    assert not (folder / "model").exists()


WRONG = {
    "date": ["", "2025-11-26", 5, None, "2025-11-26T21:00:00Z\n", ["x"]],
    "n_records": [-1, 1.5, "7", None, True, 2**70],
    "weight": ["x", True, [1]],
    "options": [None, [], {str(n): n for n in range(101)}],
    "validation": [1, [1], [1, 2, 3], [-1, 0.5], [1, "x"], [1, None]],
    "scores": [None, 1, [1], [[1, 2]], [["x", 1, 1]], [[1, None, 1]]],
}


@pytest.mark.parametrize("name", [*WRONG, "more", "missing"])
def test_facts_that_were_changed_are_errors(name, folder):
    files.train_files(KernelClassifier(MAP), "in.svm", "model", C=[1, 2], validation="in.svm")
    assert load_model("model")._facts.validation[0] == 70

    def change(description, value=None):
        facts = description["trained"]
        if name == "missing":
            del facts["date"]
        elif name == "more":
            description["trained"] = {**facts, "other": 1}
        else:
            facts[name] = value

    for value in WRONG.get(name, [None]):
        path = changed(folder / "model", lambda facts, value=value: change(facts, value))
        with pytest.raises(ValueError, match="is damaged: "):
            load_model(path)
        done = command("info", path)
        assert done.returncode == 2
        assert done.stderr.count(b"\n") == 1
    path = changed(folder / "model", lambda facts: facts.update(trained=5))
    with pytest.raises(ValueError, match="is damaged: "):
        load_model(path)


OF_NUMBERS = "--loss", "squared_epsilon_insensitive"

UNDEFINED = {
    "one target": (OF_NUMBERS, "0.1 1:1\n", ["r2"], "R2 undefined (the labels are equal)"),
    "equal targets": (OF_NUMBERS, "0.1 1:1\n" * 3, ["r2"], "R2 undefined (the labels are equal)"),
    "one class": (
        (), "1 5:1\n", ["area"],
        "area under the ROC curve undefined (the records do not have both classes)",
    ),
    "no labels": (
        (), " 5:1\n", ["micro_f1", "macro_f1"],
        "micro F1 undefined (no labels), macro F1 undefined (no labels)",
    ),
}  # fmt: skip
"""Options of train, records of --validation, the figures that are undefined there, and the words
about them."""


@pytest.mark.parametrize("name", UNDEFINED)
def test_figures_that_are_undefined(name, folder):
    """They are null in JSON, `info` leaves them out, and R2 does not choose C."""
    options, new, figures, words = UNDEFINED[name]
    of_one = {"no labels": "1,2 1:1\n1 2:1\n" + " 5:1\n" * 40, "one class": "1 1:1\n2 2:1\n" * 20}
    if name in of_one:
        (folder / "in.svm").write_text(of_one[name])
    (folder / "new.svm").write_text(new)
    call = ["train", "minmax", "in.svm", "-o", "model", "--validation", "new.svm", *options]
    done = command(*call, "--json")
    assert words in done.stdout.decode()
    found = json.loads(done.stderr)["validation"]
    assert [key for key, value in found.items() if value is None] == figures
    facts = numbers("model")
    assert facts.get("validation", {}).keys().isdisjoint(figures)
    assert ("validation" in facts) == (name == "one class")
    done = command(*call, "--C", 1, 2)
    assert done.returncode == (2 if options == OF_NUMBERS else 0)
    if done.returncode:
        assert b"--C 1 2 with --validation needs different labels: R2 of equal" in done.stderr
        (folder / "in.svm").write_text("0.1 1:1\n" * 40)
        done = command("train", "minmax", "in.svm", "-o", "model", *options, "--C", 1, 2)
        assert b"--C 1 2 needs different labels" in done.stderr
