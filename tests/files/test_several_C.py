"""Several values of C: the one that is chosen, and the scores that choose it."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.labelled_records import folds_of, records, rows, text_model, write_jsonl, write_rows
from _data.listed_labels import listed, trained
from _scripts.commands import command
from sklearn.metrics import f1_score, r2_score
from sklearn.preprocessing import MultiLabelBinarizer

from sparsemaps import ConsistentWeightedSampling, MinHash, files
from sparsemaps.files import Texts, _labelled_rows, _learning
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    KernelRegressorCV,
    _path_of_C,
    load_model,
)
from sparsemaps.linear._indicators import LabelLists
from sparsemaps.linear._model_file import digest_of

CS = [0.01, 0.3, 10.0]
MAP = ConsistentWeightedSampling(n_hashes=32, random_state=0)
LABELS = Texts(label_field="label")


def noisy_rows(n=200):
    """Rows of three classes, and some wrong labels."""
    X, y = rows(n)
    wrong = np.random.default_rng(SEED).random(n) < 0.2
    return X, np.where(wrong, (y + 1) % 3, y)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_regression", [False, True])
def test_scores_are_those_of_the_estimators(is_regression, is_weighted, tmp_path):
    X, y = noisy_rows()
    y = X.sum(axis=1) if is_regression else y
    path = write_rows(tmp_path / "in.svm", X, y)
    weights = np.random.default_rng(SEED).integers(0, 4, 200) if is_weighted else None
    if is_weighted:
        np.savetxt(f"{path}.weights.txt", weights)
    kind, cv = (
        (KernelRegressor, KernelRegressorCV) if is_regression
        else (KernelClassifier, KernelClassifierCV)
    )  # fmt: skip
    found = files.train_files(kind(MAP, random_state=0), path, tmp_path / "model", C=CS[::-1])
    folds = folds_of(200, weights=weights)
    expected = cv(MAP, Cs=CS, cv=folds, random_state=0).fit(X, y, sample_weight=weights)
    assert [one.C for one in found.scores] == CS
    np.testing.assert_allclose(
        [one.score for one in found.scores], expected.scores_.mean(axis=0), rtol=1e-12
    )
    errors = expected.scores_.std(axis=0, ddof=1) / np.sqrt(5)
    np.testing.assert_allclose([one.error for one in found.scores], errors, rtol=1e-9)
    assert found.model.C == expected.C_
    assert (found.model.coef_ == expected.coef_).all()
    assert all(one.seconds > 0 for one in found.scores)


def in_options(name, folder):
    """Options of train, for a way to train, and the words of its inputs."""
    X, y = noisy_rows()
    write_rows(folder / "in.svm", X, y)
    write_rows(folder / "new.svm", *rows(seed=1))
    write_jsonl(folder / "in.jsonl", [{**one, "w": len(one["text"]) % 3} for one in records(90)])
    texts = ["in.jsonl", "--label-field", "label", "--texts", "word:1"]
    return {
        "rows": ["minmax", "in.svm"],
        "validation": ["minmax", "in.svm", "--validation", "new.svm"],
        "calibrated": ["minmax", "in.svm", "--calibrate"],
        "weighted": ["minhash", *texts, "--weight-field", "w", "--class-weight", "balanced"],
        "snippets": ["minhash", *texts, "--snippets", "3", "5", "--n-jobs", "2"],
        "idf": ["minmax", "--method", "levels", *texts, "--idf"],
        "regression": ["minmax", "in.svm", "--loss", "squared_epsilon_insensitive"],
    }[name]


@pytest.mark.parametrize(
    "name", ["rows", "validation", "calibrated", "weighted", "snippets", "idf", "regression"]
)
def test_the_model_is_that_of_the_best_C(name, tmp_path, monkeypatch):
    """Byte for byte, but for the facts of the training."""
    monkeypatch.chdir(tmp_path)
    options = [*in_options(name, tmp_path), "--n-hashes", 32, "--seed", 1]
    done = command("train", *options, "-o", "several", "--C", *CS, "--json")
    assert done.returncode == 0, done.stderr
    head, *table, last = done.stderr.decode().splitlines()
    score = "R2" if name == "regression" else "accuracy"
    assert head.split() == ["C", score, "error", "seconds"]
    lines = [[float(cell) for cell in line.split()] for line in table]
    assert [line[0] for line in lines] == CS
    best = max(lines, key=lambda line: line[1])[0]
    assert json.loads(last)["C"] == best
    done = command("train", *options, "-o", "one", "--C", best)
    assert done.returncode == 0, done.stderr
    several, one = map(load_model, ("several", "one"))
    assert digest_of(several) == digest_of(one)
    found = [C for C, _, _ in several._facts.scores]
    assert (found, one._facts.scores) == (CS, ())


def test_a_validation_chooses(tmp_path):
    """By its own weights; the errors are those of a mean of rows."""
    (X, y), (X_new, y_new) = noisy_rows(), rows(seed=1)
    path = write_rows(tmp_path / "in.svm", X, y)
    other = write_rows(tmp_path / "new.svm", X_new, y_new)
    weights = np.random.default_rng(SEED).integers(0, 3, 70)
    np.save(f"{other}.weights.npy", weights)
    model = KernelClassifier(MAP, tol=1e-8, random_state=0)
    done = files.train_files(model, path, tmp_path / "model", C=CS, validation=other)
    for one in done.scores:
        single = KernelClassifier(MAP, C=one.C, tol=1e-8, random_state=0).fit(X, y)
        right = single.predict(X_new) == y_new
        assert one.score == pytest.approx(np.average(right, weights=weights), abs=1e-12)
        parts = weights * (right - one.score) / weights.sum()
        assert one.error == pytest.approx(np.sqrt((parts**2).sum()), rel=1e-9)
    assert done.validation.score == max(one.score for one in done.scores)


def test_the_error_of_R2():
    """It is that of a jackknife, to first order, and that of repeated rows."""
    rng = np.random.default_rng(SEED)
    y = rng.normal(size=400)
    found = y + rng.normal(size=400) * 0.7

    class Found:
        def predict(self, codes):
            return found[codes]

    def score(weights=None):
        held_out = _path_of_C.HeldOut(np.arange(400), None, y, weights)
        return _path_of_C.score_of(Found(), held_out)

    one = score()
    assert one.value == pytest.approx(r2_score(y, found), rel=1e-12)
    without = [r2_score(np.delete(y, i), np.delete(found, i)) for i in range(400)]
    assert one.error == pytest.approx(np.std(without) * np.sqrt(400), rel=0.05)
    weights = rng.integers(0, 3, 400).astype(float)
    weighted = score(weights)
    assert weighted.value == pytest.approx(r2_score(y, found, sample_weight=weights), rel=1e-12)
    assert weighted.error == pytest.approx(score(2 * weights).error, rel=1e-12)
    y[:], found[:] = 0.1, 0.1  # their mean is not .1 in float64
    assert score(np.full(400, 0.3)).value == 1
    found[0] = 2
    assert score(np.full(400, 0.3)).value == 0


def test_snippets_are_in_the_fold_of_their_record(tmp_path):
    """They train if the record does, and are not scored."""
    some = records(60)
    path = write_jsonl(tmp_path / "in.jsonl", some)
    read = _labelled_rows.read_labelled(
        MinHash(n_hashes=16, random_state=0).fit_any_width(), [path],
        vectorizer="word:1", source=LABELS, snippets=((2, 3), 0),
    )  # fmt: skip
    assert len(read.codes) > 150
    folds = _learning._folds(read, None, 0)
    for fold, (train, test) in zip(folds, folds_of(60), strict=True):
        assert fold.held_out.rows.tolist() == test.tolist()
        assert set(read.records[fold.costs() > 0]) == set(train)
        assert np.isin(read.records, train)[fold.costs() == 0].sum() == 0
    for fold, (_, test) in zip(
        _learning._folds(read, None, 0, with_snippets=True), folds_of(60), strict=True
    ):
        assert fold.held_out.rows.tolist() == np.flatnonzero(np.isin(read.records, test)).tolist()
    weights = np.ones(len(read.codes))
    weights[:30] = 0
    for fold in _learning._folds(read._replace(weights=weights), None, 0):
        assert fold.held_out.rows.min() >= 30


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_and_files_do_not_matter(n_jobs, tmp_path):
    some = records(90)
    whole = write_jsonl(tmp_path / "in.jsonl", some)
    parts = [write_jsonl(tmp_path / f"{n}.jsonl", some[45 * n :][:45]) for n in range(2)]
    found = []
    for inputs, threads in ((whole, None), (parts, n_jobs)):
        model = text_model(n_jobs=threads)
        done = files.train_files(model, inputs, tmp_path / "m", source=LABELS, C=CS, n_jobs=threads)
        found.append([(one.C, one.score, one.error) for one in done.scores])
    assert found[0] == found[1]


def noisy_lists(n=100):
    """Texts with lists of labels, of which some are those of another text."""
    some, rng = listed(n), np.random.default_rng(SEED)
    for number in np.flatnonzero(rng.random(n) < 0.3):
        some[number]["y"] = some[rng.integers(n)]["y"]
    for one in some:  # a label that is always beside another one
        one["y"] = [*one["y"], *["twin" for label in one["y"] if label == "pets"]]
    return [{**one, "w": int(rng.integers(0, 3))} for one in some]


@pytest.mark.parametrize("weight_field", [None, "w"])
def test_lists_of_labels_have_the_best_micro_f1(weight_field, tmp_path):
    """The score of a fold is F1 over all labels together, by the weights of records."""
    some = noisy_lists()
    path = write_jsonl(tmp_path / "in.jsonl", some)
    done = trained(path, tmp_path, C=CS, weight_field=weight_field)
    weights = np.array([one["w"] if weight_field else 1 for one in some])
    Y = MultiLabelBinarizer().fit_transform([one["y"] for one in some])
    for place, C in enumerate(CS):
        scores = []
        for train, test in folds_of(len(some), weights=weights):
            texts = np.array([one["text"] for one in some], object)
            model = text_model(C=C).fit(
                texts[train].tolist(), sp.csr_array(Y[train]), weights[train]
            )
            found = model.predict(texts[test].tolist()).toarray()
            each = np.repeat(weights[test], Y.shape[1])
            scores.append(f1_score(Y[test].ravel(), found.ravel(), sample_weight=each))
        assert done.scores[place].score == pytest.approx(np.mean(scores), abs=0.01)
        error = np.std(scores, ddof=1) / np.sqrt(5)
        assert done.scores[place].error == pytest.approx(error, abs=0.01)
    assert done.model.C == max(done.scores, key=lambda one: one.score).C


def test_other_records_with_lists_of_labels(tmp_path):
    """Labels that the model does not know are not found, as in the figures of validation."""
    path = write_jsonl(tmp_path / "in.jsonl", noisy_lists())
    other = write_jsonl(
        tmp_path / "other.jsonl", [*listed(40, seed=1), {"text": "a", "y": ["new"]}]
    )
    done = trained(path, tmp_path, C=CS, validation=other)
    best = max(done.scores, key=lambda one: one.score)
    assert done.validation.score == pytest.approx(best.score, rel=1e-12)
    assert 0 < best.error < 0.2
    words = ["train", "minhash", path, "--texts", "word:1", "--label-field", "y", "--C", 0.1, 1]
    assert b"micro F1" in command(*words, "-o", tmp_path / "out").stderr


def test_the_error_of_micro_f1():
    """By the linear parts of a ratio: that of records drawn again and again."""
    rng = np.random.default_rng(SEED)
    wanted, found = (rng.random((400, 3)) < share for share in (0.4, 0.5))
    found = np.where(rng.random(found.shape) < 0.5, wanted, found)
    weights = rng.integers(0, 3, 400).astype(float)

    class Found:
        classes_ = np.arange(3)

        def predict(self, codes):
            return sp.csr_array(found[codes].astype(int))

    def score_on(some):
        lists = LabelLists(wanted.nonzero()[1], np.cumsum(wanted.sum(axis=1)))
        held_out = _path_of_C.HeldOut(np.arange(400), some, lists[some], weights[some])
        return _path_of_C.score_of(Found(), held_out)

    score = score_on(np.arange(400))
    each = np.repeat(weights, 3)
    expected = f1_score(wanted.ravel(), found.ravel(), sample_weight=each)
    assert score.value == pytest.approx(expected, rel=1e-12)
    again = [score_on(rng.integers(0, 400, 400)).value for _ in range(200)]
    assert score.error == pytest.approx(np.std(again), rel=0.25)


# ---- mistakes ------------------------------------------------------------------------------------


def test_one_C_and_equal_ones(tmp_path):
    path = write_rows(tmp_path / "in.svm", *rows())
    for C in (2, [2], [2.0, 2]):
        done = files.train_files(KernelClassifier(MAP), path, tmp_path / "model", C=C)
        assert (done.model.C, done.scores) == (2, ())
    assert KernelClassifier.load(tmp_path / "model").C == 2


@pytest.mark.parametrize(
    ("C", "message"),
    [
        ([1, 0], "C must be a finite number above 0, got 0"),
        ([1, np.nan], "C must be a finite number above 0, got nan"),
        ([], r"C must be a number or several numbers, got \[\]"),
        ("1", "C must be a finite number above 0, got '1'"),
        ([1, "2"], "C must be a finite number above 0, got '2'"),
        ([[1, 2]], "C must be a finite number above 0"),
    ],
)
def test_what_is_not_allowed(C, message, tmp_path):
    path = write_rows(tmp_path / "in.svm", *rows())
    with pytest.raises(ValueError, match=message):
        files.train_files(KernelClassifier(MAP), path, tmp_path / "model", C=C)
    assert not (tmp_path / "model").exists()


def test_folds_without_a_label(tmp_path):
    some = [{"text": "a b", "y": ["a"] if n == 3 else []} for n in range(30)]
    path = write_jsonl(tmp_path / "in.jsonl", some)
    with pytest.raises(ValueError, match=r"the rows to train on of fold . of 5 have no label"):
        trained(path, tmp_path, C=CS)
    assert not (tmp_path / "model").exists()


def test_too_few_records(tmp_path):
    X, _ = rows(4)
    path, out = write_rows(tmp_path / "in.svm", X, np.arange(4) > 0), tmp_path / "model"
    for more, name in ({"C": [1, 2]}, r"C=\(1.0, 2.0\)"), ({"calibrate": True}, "calibrate=True"):
        said = f"of 5 .*: {name} without validation='INPUT' needs more records"
        with pytest.raises(ValueError, match=said):
            files.train_files(KernelClassifier(MAP), path, out, **more)
    assert not out.exists()
    done = files.train_files(KernelClassifier(MAP), path, out, C=[1, 2], validation=path)
    assert len(done.scores) == 2


@pytest.mark.parametrize(
    ("words", "C"),
    [
        (["--C", "0.5", "IN"], 0.5),
        (["--C", "2", "2.0", "IN"], 2),
        (["IN", "--C=0.5"], 0.5),
        (["IN", "--C", "3e-1", "--n-hashes", "16"], 0.3),
    ],
)
def test_numbers_follow_the_option(words, C, tmp_path):
    path = write_rows(tmp_path / "in.svm", *rows())
    words = [path if word == "IN" else word for word in words]
    done = command("train", "minhash", *words, "-o", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert KernelClassifier.load(tmp_path / "model").C == C
    done = command("train", path, "-o", tmp_path / "model", "--C", "x")
    assert b"argument --C: invalid float value: 'x'" in done.stderr
