"""Models over files: training, labels, and records of a label."""

import gzip
import json
import os
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.labelled_records import WORDS, records, rows, text_model, write_jsonl, write_rows
from _scripts.commands import command
from sklearn.metrics import confusion_matrix, r2_score, roc_auc_score

from sparsemaps import ConsistentWeightedSampling, MinHash, files
from sparsemaps.codes import PackedCodes
from sparsemaps.files import Svmlight, Texts, _labelled_rows, _validation
from sparsemaps.libsvm import load_svmlight_file
from sparsemaps.linear import KernelClassifier, KernelRegressor

# ---- training ------------------------------------------------------------------------------------


def test_training_on_texts_is_training_on_a_list(trained):
    some = records()
    model = text_model().fit([r["text"] for r in some], [r["label"] for r in some])
    loaded = KernelClassifier.load(trained)
    assert (loaded.coef_ == model.coef_).all()
    assert loaded.classes_.tolist() == sorted(WORDS)


@pytest.mark.parametrize("n_files", [1, 3])
def test_training_on_rows_is_training_on_a_matrix(n_files, tmp_path):
    parts = [rows(seed=seed) for seed in range(n_files)]
    for number, (X, y) in enumerate(parts):
        write_rows(tmp_path / f"{number}.svm", X, y)
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    model = KernelClassifier(map, random_state=0)
    answer = files.train_files(model, str(tmp_path / "*.svm"), tmp_path / "model", n_jobs=2)
    X, y = sp.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    direct = KernelClassifier(map, random_state=0).fit(X.tocsr(), y)
    assert answer.n_records == X.shape[0]
    assert (KernelClassifier.load(tmp_path / "model").coef_ == direct.coef_).all()


def test_training_on_codes_is_training_on_their_texts(trained, tmp_path):
    """Codes of two files, with the labels and the table of labels beside them."""
    some = records()
    for number, part in enumerate((some[:50], some[50:])):
        write_jsonl(tmp_path / f"{number}.jsonl", part)
        files.map_files(
            MinHash(n_hashes=64, random_state=0), tmp_path / f"{number}.jsonl",
            tmp_path / f"{number}.npy", format="npy", source=Texts("word:1", label_field="label"),
        )  # fmt: skip
    answer = files.train_files(
        text_model(), [tmp_path / "0.npy", tmp_path / "1.npy"], tmp_path / "model"
    )
    assert answer.n_records == len(some)
    expected = KernelClassifier.load(trained)
    assert (answer.model.coef_ == expected.coef_).all()
    assert answer.model.classes_.tolist() == expected.classes_.tolist()
    os.remove(tmp_path / "1.npy.labels.npy")
    with pytest.raises(ValueError, match="its labels are not in"):
        files.train_files(text_model(), tmp_path / "1.npy", tmp_path / "other")


def test_the_bar_of_training(tmp_path, capsys):
    write_jsonl(tmp_path / "in.jsonl", records())
    model = text_model()
    model = files.train_files(
        model, tmp_path / "in.jsonl", tmp_path / "model", source=Texts(label_field="label"),
        progress=True,
    ).model  # fmt: skip
    last = capsys.readouterr().err.split("\r")[-1]
    n_models = len(model.intercept_)
    assert f"training: {n_models}/{n_models} models [" in last
    assert "_watch" not in vars(model)


def test_regression(tmp_path):
    X, _ = rows()
    y = X.sum(axis=1)
    write_rows(tmp_path / "in.svm", X, y)
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    model = KernelRegressor(map, C=10, random_state=0)
    model = files.train_files(model, tmp_path / "in.svm", tmp_path / "model").model
    files.predict_files(model, tmp_path / "in.svm", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().startswith("record\tvalue\n")
    table = np.loadtxt(tmp_path / "out.tsv", skiprows=1)
    assert (table[:, 0] == np.arange(1, 71)).all()
    np.testing.assert_allclose(table[:, 1], model.predict(X), rtol=1e-8)
    done = _validation.validation(
        model, _labelled_rows.read_labelled(map.fit(X), [tmp_path / "in.svm"])
    )
    assert done.lines[0].endswith(f"R2 {r2_score(y, model.predict(X)):.4f}")


# ---- labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_labels_and_scores_of_texts(trained, n_jobs, tmp_path):
    model = KernelClassifier.load(trained)
    parts = [records(40, seed=1), records(25, seed=2)]
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", part) for n, part in enumerate(parts)]
    answer = files.predict_files(
        model, paths, tmp_path / "out.tsv.gz", source=Texts(id_field="id"), n_jobs=n_jobs
    )
    assert answer.n_records == 65
    header, *lines = gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()).decode().splitlines()
    names = [label.replace("\t", "\\t") for label in model.classes_]
    assert header.split("\t") == ["id", "label", *names]
    read = [*parts[0], *parts[1]]
    texts = [record["text"] for record in read]
    scores, found = model.decision_function(texts), model.predict(texts)
    for line, record, row, label in zip(lines, read, scores, found, strict=True):
        id, name, *values = line.split("\t")
        assert id == record["id"]
        assert name == label.replace("\t", "\\t")
        np.testing.assert_allclose([float(value) for value in values], row, rtol=1e-5)


def test_records_without_ids_are_numbered_through_all_inputs(trained, tmp_path):
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", records(n)) for n in (3, 1, 5)]
    files.predict_files(KernelClassifier.load(trained), paths, tmp_path / "out.tsv")
    lines = (tmp_path / "out.tsv").read_text().splitlines()[1:]
    assert [line.split("\t")[0] for line in lines] == [str(n) for n in range(1, 10)]


def test_rows_and_their_codes_have_the_same_labels(tmp_path):
    X, y = rows()
    write_rows(tmp_path / "in.svm", X, y == 1)
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0).fit_any_width()
    model = KernelClassifier(map, random_state=0)
    model = files.train_files(model, tmp_path / "in.svm", tmp_path / "model").model
    map.encode(X, packed=True).save(tmp_path / "codes.npy")
    for name in ("in.svm", "codes.npy"):
        files.predict_files(model, tmp_path / name, tmp_path / f"{name}.tsv")
    assert (tmp_path / "in.svm.tsv").read_bytes() == (tmp_path / "codes.npy.tsv").read_bytes()
    lines = (tmp_path / "in.svm.tsv").read_text().splitlines()[1:]
    labels = [line.split("\t")[1] for line in lines]
    assert labels == [f"{label:g}" for label in model.predict(X)]
    other = ConsistentWeightedSampling(n_hashes=32, random_state=1).fit_any_width()
    other.encode(X, packed=True).save(tmp_path / "other.npy")
    with pytest.raises(ValueError, match="X must be codes of the map that was fitted"):
        files.predict_files(model, tmp_path / "other.npy", tmp_path / "other.tsv")
    assert not (tmp_path / "other.tsv").exists()


def test_ngrams_that_decide_are_written(trained, tmp_path):
    model = KernelClassifier.load(trained)
    some = records(20, seed=3)
    write_jsonl(tmp_path / "in.jsonl", some)
    files.predict_files(model, tmp_path / "in.jsonl", tmp_path / "out.tsv", explain=2)
    header, *lines = (tmp_path / "out.tsv").read_text().splitlines()
    assert header.split("\t")[-2:] == ["explain_1", "explain_2"]
    for line, record in zip(lines, some, strict=True):
        expected = [f"{ngram} {share:+.4g}" for ngram, share in model.explain(record["text"])[:2]]
        assert line.split("\t")[-2:] == expected


# ---- records of a label --------------------------------------------------------------------------


@pytest.mark.parametrize("min_score", [None, -0.5, 0.4])
@pytest.mark.parametrize("label", ["pets", "sea\tsalt"])
def test_records_of_a_label_are_written_as_they_are(trained, label, min_score, tmp_path):
    model = KernelClassifier.load(trained)
    some = records(60, seed=4)
    lines = [
        json.dumps(record, indent=None if i % 2 else 0).replace("\n", " ").encode() + b"\r\n"
        for i, record in enumerate(some)
    ]
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines))
    answer = files.filter_files(
        model, tmp_path / "in.jsonl", tmp_path / "out.jsonl", label=label, min_score=min_score
    )
    texts = [record["text"] for record in some]
    scores = model.decision_function(texts)[:, list(model.classes_).index(label)]
    wanted = model.predict(texts) == label if min_score is None else scores >= min_score
    assert 0 < wanted.sum() < len(some)
    assert answer == (len(some), wanted.sum(), 0, 0)
    expected = b"".join(line for line, is_wanted in zip(lines, wanted, strict=True) if is_wanted)
    assert (tmp_path / "out.jsonl").read_bytes() == expected


def test_rows_of_a_label_of_two(tmp_path):
    X, y = rows()
    write_rows(tmp_path / "in.svm", X, y == 1)
    map = ConsistentWeightedSampling(n_hashes=16, random_state=0)
    model = KernelClassifier(map, random_state=0)
    model = files.train_files(model, tmp_path / "in.svm", tmp_path / "model").model
    lines = (tmp_path / "in.svm").read_bytes().splitlines(keepends=True)
    scores = model.decision_function(X)
    for label, min_score, wanted in (
        (0, None, scores <= 0),
        (1.0, None, scores > 0),
        (0.0, 0.2, -scores >= 0.2),
        (1, -0.2, scores >= -0.2),
    ):
        files.filter_files(
            model, tmp_path / "in.svm", tmp_path / "out.svm", label=label, min_score=min_score
        )
        expected = [line for line, is_wanted in zip(lines, wanted, strict=True) if is_wanted]
        assert (tmp_path / "out.svm").read_bytes() == b"".join(expected)


def test_parquet(trained, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    model = KernelClassifier.load(trained)
    some = records(50, seed=5)
    table = pa.Table.from_pylist(some)
    parquet.write_table(table, tmp_path / "in.parquet")
    files.filter_files(model, tmp_path / "in.parquet", tmp_path / "out.parquet", label="money")
    wanted = model.predict([record["text"] for record in some]) == "money"
    assert parquet.read_table(tmp_path / "out.parquet").equals(table.filter(pa.array(wanted)))


# ---- mistakes ------------------------------------------------------------------------------------


def test_mistakes(trained, tmp_path):
    model = KernelClassifier.load(trained)
    path = write_jsonl(tmp_path / "in.jsonl", records(9))
    out = tmp_path / "out"
    X, y = rows()
    svm = write_rows(tmp_path / "in.svm", X, y)
    of_rows = KernelClassifier(MinHash(n_hashes=64, random_state=0))
    (tmp_path / "empty.svm").write_bytes(b"")
    (tmp_path / "bad.jsonl").write_bytes(path.read_bytes() + b"{}\n")
    (tmp_path / "many.svm").write_bytes(b"1,2x 1:1\n")
    (tmp_path / "half.svm").write_bytes(b"1 1:1\n2.5 2:1\n")
    regressor = KernelRegressor(of_rows.map, random_state=0).fit(X, y)
    calls = [
        (lambda: files.train_files(3, svm, out), "model must be a KernelClassifier or"),
        (
            lambda: files.train_files(text_model(), path, out),
            "expected a field of labels; found 'text', .* by label_field",
        ),
        (lambda: files.train_files(of_rows, tmp_path / "empty.svm", out), "there are no records"),
        (lambda: files.train_files(of_rows, tmp_path / "many.svm", out), "line 1"),
        (
            lambda: files.train_files(
                text_model(), tmp_path / "bad.jsonl", out, source=Texts(label_field="label")
            ),
            "bad.jsonl: line 10",
        ),
        (lambda: files.train_files(of_rows, svm, svm), "write to another file"),
        (lambda: files.train_files(of_rows, svm, tmp_path / "model.gz"), "is not compressed"),
        (lambda: files.filter_files(model, path, out, label="fish"), r"label must be a class of"),
        (lambda: files.filter_files(model, path, out, label="pets", min_score="x"), "min_score"),
        (lambda: files.filter_files(model, path, str(tmp_path), label="pets"), "another file"),
        (lambda: files.filter_files(model, [], out, label="pets"), "there are no inputs"),
        (lambda: files.predict_files(model, tmp_path / "bad.jsonl", out), "bad.jsonl: line 10"),
        (lambda: files.predict_files(model, path, out, explain=-1), "explain must be"),
        (lambda: files.predict_files(model, path, out, source=Svmlight()), "not LIBSVM files"),
        (lambda: files.train_files(of_rows, path, out), "in.jsonl is a file of texts, and the"),
        (
            lambda: files.train_files(of_rows, tmp_path / "half.svm", out),
            "numbers .* got 2.5",
        ),
        (lambda: files.filter_files(regressor, svm, out, label=1), "the model is for regression"),
        (lambda: files.filter_files("in", svm, out, label=1), "model must be a fitted .* got 'in'"),
        (lambda: files.predict_files(None, svm, out), "model must be a fitted KernelClassifier or"),
        (lambda: files.predict_files(of_rows, svm, out), "is not fitted yet"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            call()
    assert not out.exists()
    assert load_svmlight_file(str(svm))[0].shape[0] == len(y)


ROWS = {
    "in.svm": b"1 1:1\n0 2:1\n",
    "in": b"# a comment\n1,3 qid:4 0:.5 7:1 # of one row\n",
    "in.svm.gz": gzip.compress(b"0\n0 2:1\n"),
}
NO_ROWS = [b"some words\n", b"", b"12\n7\n", b"at 12:30\n", b"1 1:1 two\n", bytes(99)]


@pytest.mark.parametrize("label", [None, "pets"])
def test_rows_for_a_model_of_texts(label, trained, tmp_path):
    """An error says what the file is; of another file whose name tells nothing, it asks for the
    format. With a format, lines are texts whatever they are."""
    model, out = KernelClassifier.load(trained), tmp_path / "out"
    run = files.predict_files if label is None else partial(files.filter_files, label=label)
    for name, content in ROWS.items():
        path = tmp_path / name
        path.write_bytes(content)
        message = f"{name} is a LIBSVM file, and the model has a vectorizer for texts"
        with pytest.raises(ValueError, match=message):
            run(model, path, out)
        if not name.endswith(".gz"):
            n_records = run(model, path, out, source=Texts(format="txt")).n_records
            assert n_records == content.count(b"\n")
            out.unlink()
    for content in NO_ROWS:
        path.with_name("words").write_bytes(content)
        with pytest.raises(ValueError, match="words: format must be given"):
            run(model, path.with_name("words"), out)
    assert not out.exists()


def test_an_output_that_cannot_be_written_is_known_before_inputs_are_read(tmp_path):
    model = KernelClassifier(MinHash(n_hashes=64))
    svm = tmp_path / "in.svm"
    svm.write_text("what cannot be read\n")
    (tmp_path / "folder").mkdir()
    errors = FileNotFoundError, IsADirectoryError, OSError
    for output, error in zip(("nowhere/model", "folder", "x" * 300), errors, strict=True):
        with pytest.raises(error, match=output):
            files.train_files(model, svm, tmp_path / output)


def test_labels_of_two_kinds(tmp_path):
    """Numbers are never compared with strings, and stand beside none."""
    X, y = rows()
    map = MinHash(n_hashes=64, random_state=0).fit_any_width()
    for name in ("numbers.npy", "names.npy"):
        map.encode(X, packed=True).save(tmp_path / name)
        np.save(tmp_path / f"{name}.labels.npy", y.astype(float))
    (tmp_path / "names.npy.classes.tsv").write_text("0\ta\n1\tb\\tc\n2\td\n")
    numbers, names = (
        _labelled_rows.read_labelled(map, [tmp_path / name])
        for name in ("numbers.npy", "names.npy")
    )
    model = KernelClassifier(map, random_state=0)
    with pytest.raises(ValueError, match=r"that are strings, like .* got numbers"):
        _validation.validation(model.fit(names.codes, names.labels), numbers)
    assert "b\\tc" in _validation.validation(model, names).lines[1].split("\t")
    with pytest.raises(ValueError, match=r"that are numbers, like .* got strings"):
        _validation.validation(model.fit(numbers.codes, numbers.labels), names)
    with pytest.raises(ValueError, match=r"names.npy are strings, labels in .*numbers.npy numbers"):
        files.train_files(model, [tmp_path / "numbers.npy", tmp_path / "names.npy"], tmp_path / "m")


def test_the_area_under_the_curve():
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        scores, positive = rng.integers(0, 9, 50) / 9, rng.random(50) < 0.4
        expected = roc_auc_score(positive, scores)
        assert _validation.area_under_curve(scores, positive) == pytest.approx(expected, abs=1e-12)
    assert np.isnan(_validation.area_under_curve(scores, np.ones(50, bool)))


# ---- the commands --------------------------------------------------------------------------------


def test_commands_of_texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, test = records(), records(50, seed=6)
    for record in test[:9]:
        record["label"] = "pets"  # where some are not
    write_jsonl(tmp_path / "train.jsonl", train)
    write_jsonl(tmp_path / "test.jsonl", test)
    done = command(
        "train", "minhash", "train.jsonl", "-o", "model", "--texts", "word:1", "--n-hashes", 64,
        "--label-field", "label", "--validation", "test.jsonl", "--C", 2, "--seed", 5,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    model = KernelClassifier.load("model")
    assert (model.C, model.map_.seed_) == (2, 5)
    texts, labels = [r["text"] for r in test], np.array([r["label"] for r in test])
    lines = done.stdout.decode().splitlines()
    assert lines[0] == f"50 records, accuracy {model.score(texts, labels):.4f}"
    table = np.array([line.split("\t")[-3:] for line in lines[2:]], int)
    assert (table == confusion_matrix(labels, model.predict(texts))).all()
    done = command("predict", "model", "test.jsonl", "-o", "-", "--explain", 1)
    assert done.returncode == 0, done.stderr
    expected = [label.replace("\t", "\\t") for label in model.predict(texts)]
    assert [line.split("\t")[1] for line in done.stdout.decode().splitlines()[1:]] == expected
    done = command("filter", "model", "test.jsonl", "-o", "out.jsonl", "--label", "pets")
    assert done.returncode == 0, done.stderr
    n_pets = int((model.predict(texts) == "pets").sum())
    assert done.stderr.decode() == f"50 records, {n_pets} kept\n"
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == n_pets


def test_commands_of_rows_and_codes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    write_rows(tmp_path / "in.svm", X, y == 1)
    options = ["--n-hashes", 32, "--seed", 1]
    for loss in ("log_loss", "epsilon_insensitive"):
        done = command(
            "train", "minmax", "in.svm", "-o", "model", *options, "--loss", loss, "--validation",
            "in.svm",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        word = b"area under the ROC curve" if loss == "log_loss" else b"R2"
        assert word in done.stdout
        assert command("predict", "model", "in.svm", "-o", f"{loss}.tsv").returncode == 0
    assert command("map", "minmax", *options, "in.svm", "-o", "in.npy", "--format", "npy")
    done = command("train", "minmax", "in.npy", "-o", "other", *options, "--loss", "log_loss")
    assert done.returncode == 0, done.stderr
    command("predict", "other", "in.npy", "-o", "codes.tsv")
    assert (tmp_path / "codes.tsv").read_bytes() == (tmp_path / "log_loss.tsv").read_bytes()
    assert isinstance(PackedCodes.load("in.npy"), PackedCodes)
    done = command("train", "minmax", "in.npy", "-o", "unseeded")
    assert done.returncode == 0, done.stderr
    done = command("train", "minmax", "in.npy", "-o", "refused", "--seed", 2)
    assert b"in.npy has codes with --seed 1, not 2" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "minmax", "in.svm", "-o", "m", "--label-field", "x"], "--label-field is for"),
        (["train", "minmax", "in.svm", "-o", "m", "--C", "-1"], "--C must be a finite number"),
        (["train", "minmax", "in.svm", "-o", "m", "--max-iter", "0"], "--max-iter must be from 1"),
        (["predict", "in.svm", "in.svm", "-o", "m"], "is not a file of a linear model"),
        (["predict", "nothing", "in.svm", "-o", "m"], "nothing: No such file"),
        (["filter", "model", "in.svm", "-o", "m", "--label", "7"], "--label must be a class of"),
        (["predict", "model", "in.svm", "-o", "m", "--explain", "2"], "--explain 2 is for texts"),
        (["predict", "model", "in.svm", "-o", "model"], "model is the input model"),
        (["predict", "model", "a.jsonl", "-o", "m"], "a file of texts, and the model has no"),
        (["train", "minmax", "in.svm", "-o", "v", "--validation", "v"], "v is the input v"),
        (["train", "minmax", "in.svm", "-o", "m", "--validation", "nowhere"], "nowhere: No such"),
        (["train", "v", "-o", "m", "--texts", "word:1", "--text-format", "jsonl"], "found no JSON"),
        (["train", "a.jsonl", "-o", "m"], "name the field of the labels by --label-field"),
        (["train", "a.jsonl", "in.svm", "-o", "m"], "process one kind at a time"),
    ],
)
def test_mistakes_of_commands(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    write_rows(tmp_path / "in.svm", X, y)
    map = ConsistentWeightedSampling(n_hashes=16, random_state=0)
    files.train_files(KernelClassifier(map, random_state=0), "in.svm", "model")
    write_jsonl(tmp_path / "a.jsonl", records(9))
    write_rows(tmp_path / "v", X, y)
    done = command(*arguments)
    assert done.returncode == 2
    text = done.stderr.decode()
    assert message in text
    assert text.count("\n") == 1
    assert not os.path.exists("m")


def test_an_input_that_changes_after_all_are_read(tmp_path, monkeypatch):
    path, read = tmp_path / "in.svm", _labelled_rows._read_blocks
    path.write_bytes(b"1 1:1 2:1\n2 3:1 4:1\n")

    def read_and_change(*given):
        blocks = read(*given)
        path.write_bytes(b"1 1:1 2:1\n2 3:1 4:1\n1 5:1\n")
        return blocks

    monkeypatch.setattr(_labelled_rows, "_read_blocks", read_and_change)
    with pytest.raises(ValueError, match=r"in\.svm changed during the run"):
        files.train_files(KernelClassifier(MinHash(random_state=0)), path, tmp_path / "model")
    assert not (tmp_path / "model").exists()
