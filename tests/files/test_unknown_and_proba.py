"""Records that no model knows, labels as they stand in the data, and probabilities in files."""

import json

import numpy as np
import pytest
from _data.labelled_records import folds_of, records, rows, write_jsonl, write_rows
from _scripts.commands import command

from sparsemaps import ConsistentWeightedSampling, MinHash, files
from sparsemaps.linear import KernelClassifier, KernelRegressor

# ---- unknown records -----------------------------------------------------------------------------


@pytest.fixture
def with_unknown(tmp_path):
    """Texts of which the first and the fourth have no n-gram."""
    texts = ["", *(record["text"] for record in records(2, seed=8)), " \t", "cat"]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return tmp_path / "in.jsonl"


def test_a_text_without_an_ngram_is_unknown(trained, with_unknown, tmp_path):
    """It has the scores of the intercepts, an empty label, and is of no class."""
    model = KernelClassifier.load(trained)
    answer = files.predict_files(model, with_unknown, tmp_path / "out.tsv")
    assert answer[:4] == (5, 2, 2, 0)
    lines = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()[1:]]
    assert [number for number, line in enumerate(lines) if line[1] == ""] == [0, 3]
    expected = [f"{score:.6g}" for score in model.intercept_]
    assert lines[0][2:] == lines[3][2:] == expected
    kept = []
    for label in model.classes_:
        for min_score, n_all in ((None, None), (-1e9, 3)):
            answer = files.filter_files(
                model, with_unknown, tmp_path / "out", label=label, min_score=min_score
            )
            assert (answer.n_records, answer.n_unknown) == (5, 2)
            assert n_all in (None, answer.n_kept)
            kept.append(answer.n_kept if min_score is None else 0)
    assert sum(kept) == 3


def test_a_row_without_an_entry_is_unknown(tmp_path):
    X, y = rows()
    map = ConsistentWeightedSampling(n_hashes=16, random_state=0)
    (tmp_path / "in.svm").write_bytes(b"0 1:1\n0\n0 2:1 3:1\n")
    map = map.fit_any_width()
    coded = map.encode(np.array([[1.0, 0, 0], [0, 0, 0], [0, 1, 1]]), packed=True)
    coded.save(tmp_path / "in.npy")
    classifier = KernelClassifier(map, random_state=0).fit(X, y)
    regressor = KernelRegressor(map, random_state=0).fit(X, y)
    for model, path in [(classifier, "in.svm"), (classifier, "in.npy"), (regressor, "in.svm")]:
        assert files.predict_files(model, tmp_path / path, tmp_path / "out").n_unknown == 1
        lines = (tmp_path / "out").read_text().splitlines()[1:]
        labels = [line.split("\t")[1] for line in lines]
        assert [label == "" for label in labels] == [False, True, False]


def test_commands_count_unknown_records(trained, with_unknown, tmp_path):
    done = command("predict", trained, with_unknown, "-o", tmp_path / "out.tsv")
    counts = (
        KernelClassifier.load(trained)
        .predict([json.loads(line)["text"] for line in with_unknown.read_text().splitlines()])[
            [1, 2, 4]
        ]
        .tolist()
    )
    said = done.stderr.decode()
    assert said.startswith("5 records: ")
    assert ", 2 unknown (without an n-gram or an entry)" in said
    for label in counts:
        assert label.replace("\t", "\\t") + f" {counts.count(label)}" in said
    for n in (1, 2):  # the second time, results that are there are counted
        done = command("filter", trained, with_unknown, "-o", f"{tmp_path}/out/", "--label", "pets")
        assert done.stderr.decode().endswith("kept, 2 unknown (without an n-gram or an entry)\n"), n
    known = write_jsonl(tmp_path / "known.jsonl", records(3))
    done = command("predict", trained, known, "-o", tmp_path / "out.tsv")
    assert done.stderr.startswith(b"3 records: ")
    assert b"unknown" not in done.stderr


# ---- labels as they are --------------------------------------------------------------------------


def label_model(labels):
    X = np.repeat(np.eye(len(labels)), 3, axis=0)
    y = np.repeat(np.array(labels), 3)
    return KernelClassifier(MinHash(n_hashes=16, random_state=0), random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("labels", "text", "expected"),
    [
        ([1, 2], "1", 1),
        ([1, 2], "1.0", 1),
        ([1, 2], "+1", 1),
        ([-1.0, 1.0], "+1", 1.0),
        ([2**60, 2**60 + 1], str(2**60 + 1), 2**60 + 1),
        ([2**60, 2**60 + 1], f"{2**60 + 1}.0", 2**60 + 1),
        ([2**53, 2**53 + 2], f"{2**53 + 1}.0", None),
        ([2**60, 2**60 + 1], f"{2**60 + 1}.5", None),
        (["1", "01"], "1", "1"),
        (["1", "01"], "01", "01"),
        (["1", "2"], "1.0", None),
        ([1, 2], "3", None),
        ([1, 2], "one", None),
        ([False, True], "true", True),
        ([False, True], "False", False),
        ([False, True], "1", None),
        (["True", "false"], "true", None),
    ],
)
def test_the_label_of_a_command_is_that_of_the_data(labels, text, expected, tmp_path):
    model = label_model(labels)
    model.save(tmp_path / "model")
    lines = [f"0 {column + 1}:1\n" for column in range(len(labels))]
    (tmp_path / "in.svm").write_text("".join(lines))
    out = tmp_path / "out.svm"
    done = command("filter", tmp_path / "model", tmp_path / "in.svm", "-o", out, f"--label={text}")
    if expected is None:
        assert done.returncode == 2
        assert b"--label must be a class of the model" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert out.read_text() == lines[labels.index(expected)]
    of_python = [(expected, True)] if expected is not None else []
    if not isinstance(labels[0], str):
        of_python.append((text, False))
    for label, is_class in of_python:
        if is_class:
            files.filter_files(model, tmp_path / "in.svm", out, label=label)
            assert out.read_text() == lines[labels.index(label)]
        else:
            with pytest.raises(ValueError, match="label must be a class of the model"):
                files.filter_files(model, tmp_path / "in.svm", out, label=label)


@pytest.mark.parametrize("options", [{}, {"unknown": "?"}, {"top": 1}])
@pytest.mark.parametrize("name", ["out.tsv", "out.jsonl"])
def test_an_empty_label_does_not_look_like_an_unknown_record(name, options, tmp_path):
    model = label_model(["", "b"])
    (tmp_path / "in.svm").write_text("0 1:1\n0\n")
    call = model, tmp_path / "in.svm", tmp_path / name
    if name == "out.tsv" and not options:
        with pytest.raises(ValueError, match='has the label "", which looks like an unknown'):
            files.predict_files(*call, **options)
        return
    assert files.predict_files(*call, **options).labels == {"": 1}
    lines = (tmp_path / name).read_text().splitlines()[-2:]
    if name == "out.tsv":
        known, unknown = (line.split("\t")[1:3] for line in lines)
        assert (bool(known[0]), bool(unknown[0])) == (False, "unknown" in options)
        assert bool(known[1])
        assert bool(unknown[1]) == ("unknown" in options)
    else:
        known, unknown = (json.loads(line) for line in lines)
        found = known.get("label", known.get("labels")), unknown.get("label", unknown.get("labels"))
        assert found == ([""], []) if "top" in options else ("", options.get("unknown"))


# ---- probabilities -------------------------------------------------------------------------------


def test_a_model_is_calibrated_by_records_it_has_not_seen(tmp_path):
    """By scores of its own out of folds, which the number of a record decides, or on others."""
    X, y = rows(n=300)
    write_rows(tmp_path / "in.svm", X[:200], y[:200])
    write_rows(tmp_path / "other.svm", X[200:], y[200:])
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    for validation in (None, tmp_path / "other.svm"):
        model = KernelClassifier(map, random_state=0)
        files.train_files(
            model, tmp_path / "in.svm", tmp_path / "model", calibrate=True, validation=validation
        )
        direct = KernelClassifier(map, random_state=0).fit(X[:200], y[:200])
        if validation:
            direct.calibrate(X[200:], y[200:])
        else:
            direct.calibrate(X[:200], y[:200], cv=folds_of(200))
        loaded = KernelClassifier.load(tmp_path / "model")
        assert (loaded.predict_proba(X) == direct.predict_proba(X)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_of_files(n_classes, tmp_path):
    X, y = rows()
    write_rows(tmp_path / "in.svm", X, np.minimum(y, n_classes - 1))
    map = ConsistentWeightedSampling(n_hashes=16, random_state=0)
    model = KernelClassifier(map, random_state=0)
    trained = files.train_files(model, tmp_path / "in.svm", tmp_path / "model", calibrate=True)
    model = trained.model
    for name, proba in (("scores", False), ("proba", True)):
        files.predict_files(model, tmp_path / "in.svm", tmp_path / name, proba=proba)
    scores, found = ([line.split("\t") for line in (tmp_path / name).read_text().splitlines()[1:]]
                     for name in ("scores", "proba"))  # fmt: skip
    assert [line[:2] for line in found] == [line[:2] for line in scores]
    expected = [[f"{share:.6g}" for share in row] for row in model.predict_proba(X).tolist()]
    assert [line[2:] for line in found] == expected
    assert len(found[0]) == 2 + n_classes


def test_commands_of_probabilities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    for name in ("in.svm", "more.svm"):
        write_rows(tmp_path / name, X, y)
    done = command("train", "minmax", "in.svm", "-o", "plain")
    assert done.returncode == 0, done.stderr
    done = command("predict", "plain", "in.svm", "-o", "out.tsv", "--proba")
    assert done.returncode == 2
    assert b"--proba needs a classifier that is calibrated, or of the loss log_loss" in done.stderr
    for more in ([], ["--validation", "more.svm"]):
        done = command("train", "minmax", "in.svm", "-o", "model", "--calibrate", *more)
        assert done.returncode == 0, done.stderr
        done = command("predict", "model", "in.svm", "-o", "out.tsv", "--proba")
        assert done.returncode == 0, done.stderr
        model = KernelClassifier.load("model")
        shares = np.loadtxt("out.tsv", delimiter="\t", skiprows=1)[:, 2:]
        np.testing.assert_allclose(shares, model.predict_proba(X), rtol=1e-5)
        np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)
        for option in ([], ["--proba"]):  # an output of the other kind is not taken
            done = command("predict", "model", "in.svm", "-o", "many/", *option)
            assert done.returncode == 0, done.stderr
        assert (tmp_path / "many/in.svm.tsv").read_bytes() == (tmp_path / "out.tsv").read_bytes()
    regression = ["--calibrate", "--loss", "epsilon_insensitive"]
    done = command("train", "minmax", "in.svm", "-o", "m", *regression)
    assert done.returncode == 2
    assert b"--calibrate is for classifiers, not for regression" in done.stderr


def test_limits_of_scores_and_columns(tmp_path):
    """A score of exactly the least is not below it; there are columns for all labels at most."""
    texts = [f"{word} {n}" for n, word in enumerate(["cat", "bank", "sun", "dog", "loan"])]
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in texts))
    model = KernelClassifier(MinHash(n_hashes=64, random_state=0), vectorizer="char:2")
    model.fit([*texts, "cats", "banks", "suns"], [*"xyzxy", *"xyz"])
    best = model.decision_function(texts).max(axis=1)
    for least, n in ((best.min(), 5), (np.nextafter(best.min(), 9), 4), (best.max(), 1)):
        done = files.predict_files(
            model, tmp_path / "in.txt", tmp_path / "out.tsv", min_score=float(least)
        )
        assert sum(done.labels.values()) == n
    files.predict_files(model, tmp_path / "in.txt", tmp_path / "out.tsv", top=9)
    header, *lines = (tmp_path / "out.tsv").read_text().splitlines()
    columns = ["label_1", "score_1", "label_2", "score_2", "label_3", "score_3"]
    assert header.split("\t") == ["record", *columns]
    assert {line.count("\t") for line in lines} == {6}
