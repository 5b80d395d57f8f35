"""Weights of records: fields of texts, and files beside rows and codes."""

import dataclasses
import json

import numpy as np
import pytest
from _data.chance import SEED
from _data.labelled_records import folds_of, records, rows, text_model, write_jsonl, write_rows
from _data.record_files import WRITERS
from _scripts.commands import command
from sklearn.metrics import accuracy_score, confusion_matrix, r2_score, roc_auc_score

from sparsemaps import ConsistentWeightedSampling, MinHash, files
from sparsemaps.files import Texts, _validation
from sparsemaps.libsvm import _pipeline
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.records._table import FORMATS

LABELS = Texts(label_field="label")
FORMATS_OF_FIELDS = [name for name in WRITERS if FORMATS[name].has_fields]


def weighted_records(n=90):
    """Records with weights from 0 to 3, within an object too."""
    weights = np.random.default_rng(SEED).integers(0, 4, n).tolist()
    some = [{**one, "w": w, "of": {"w": w / 2}} for one, w in zip(records(n), weights, strict=True)]
    return some, np.array(weights, float)


def write(path, some):
    if not FORMATS[path.suffix[1:]].is_streamed:
        pytest.importorskip("pyarrow")
    WRITERS[path.suffix[1:]](path, some)
    return path


def trained(path, name="model", **options):
    """A model that is solved to many digits, so that ways to the optimum do not matter."""
    model = text_model(tol=1e-9)
    return files.train_files(model, path, path.parent / name, source=LABELS, **options)


def same(model, other):
    assert model.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, other.intercept_, atol=1e-7)


@pytest.mark.parametrize("format", FORMATS_OF_FIELDS)
def test_weights_are_those_of_fit(format, tmp_path):
    some, weights = weighted_records()
    path = write(tmp_path / f"in.{format}", some)
    texts, labels = [one["text"] for one in some], [one["label"] for one in some]
    for field, factor in (("w", 1.0), ("of.w", 0.5)):
        answer = trained(path, weight_field=field)
        expected = text_model(tol=1e-9).fit(texts, labels, sample_weight=weights * factor)
        assert (answer.model.coef_ == expected.coef_).all()
        assert (answer.n_records, answer.weight) == (90, weights.sum() * factor)
    assert abs(trained(path).model.coef_ - expected.coef_).max() > 0.1
    assert trained(path).weight is None


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_weight_of_2_is_the_record_twice(class_weight, tmp_path):
    """And a record of weight 0 is as if it were not there: its class too."""
    some, _ = weighted_records()
    some.append({"text": "one more", "label": "of none", "w": 0})
    repeated = [one for one in some for _ in range(one["w"])]
    found = []
    for name, part in (("one", some), ("other", repeated)):
        model = text_model(tol=1e-9, class_weight=class_weight)
        path = write_jsonl(tmp_path / f"{name}.jsonl", part)
        field = "w" if part is some else None
        files.train_files(model, path, tmp_path / name, source=LABELS, weight_field=field)
        found.append(KernelClassifier.load(tmp_path / name))
    same(*found)
    assert len(found[0].classes_) == 3


@pytest.mark.parametrize("ending", ["npy", "txt"])
@pytest.mark.parametrize("is_coded", [False, True])
def test_weights_beside_rows_and_codes(ending, is_coded, tmp_path):
    weights = np.random.default_rng(SEED).integers(0, 4, 140) / 4
    map, paths = ConsistentWeightedSampling(n_hashes=32, random_state=0), []
    whole = [rows(seed=seed) for seed in range(2)]
    for number, (X, y) in enumerate(whole):
        path = write_rows(tmp_path / f"{number}.svm", X, y)
        if is_coded:
            path = tmp_path / f"{number}.npy"
            files.map_files(map, tmp_path / f"{number}.svm", path, format="npy")
        own = weights[70 * number :][:70]
        if ending == "npy":
            np.save(f"{path}.weights.npy", own.astype(np.float32))
        else:
            np.savetxt(f"{path}.weights.txt", own)
        paths.append(path)
    model = KernelClassifier(map, random_state=0)
    answer = files.train_files(model, paths, tmp_path / "model")
    X, y = np.vstack([X.toarray() for X, _ in whole]), np.concatenate([y for _, y in whole])
    expected = KernelClassifier(map, random_state=0).fit(X, y, sample_weight=weights)
    assert (answer.model.coef_ == expected.coef_).all()
    assert answer.weight == weights.sum()
    if not is_coded:  # in a folder, they are not inputs
        (tmp_path / "folder").mkdir()
        for path in tmp_path.glob("*.svm*"):
            path.rename(tmp_path / "folder" / path.name)
        again = files.train_files(model, tmp_path / "folder", tmp_path / "model").model
        assert (again.coef_ == expected.coef_).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_weights_of_texts_stand_beside_codes(n_jobs, tmp_path, monkeypatch):
    """A model of the codes is that of the texts; a record whose weight is bad is set aside."""
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", 300)
    some, weights = weighted_records()
    path = write_jsonl(tmp_path / "in.jsonl", [*some[:50], {**some[0], "w": -1}, *some[50:]])
    model = text_model(tol=1e-9)
    how = {"source": dataclasses.replace(LABELS, analyzer="word:1"), "weight_field": "w"}
    bad = {"bad_records": tmp_path / "bad.tsv", "n_jobs": n_jobs}
    (mapped,) = files.map_files(model.map, path, tmp_path / "codes.npy", format="npy", **how, **bad)
    assert (mapped.n_rows, mapped.n_bad) == (len(some), 1)
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy.weights.npy"), weights)
    answer = files.train_files(
        model.set_params(vectorizer=None), tmp_path / "codes.npy", tmp_path / "m"
    )
    assert answer.weight == weights.sum()
    expected = trained(path, weight_field="w", bad_records=tmp_path / "bad.tsv").model
    assert (answer.model.coef_ == expected.coef_).all()
    empty = write_jsonl(tmp_path / "empty.jsonl", [])
    files.map_files(model.map, empty, tmp_path / "none.npy", format="npy", **how)
    assert np.load(tmp_path / "none.npy.weights.npy").shape == (0,)
    with pytest.raises(ValueError, match=r"weight_field='w' is for format='npy'"):
        files.map_files(model.map, path, tmp_path / "out.svm", **how)
    X, y = rows()
    with pytest.raises(ValueError, match=r"weight_field='w' is a field of texts"):
        files.map_files(
            model.map, write_rows(tmp_path / "in.svm", X, y), tmp_path / "out.npy", format="npy",
            weight_field="w",
        )  # fmt: skip
    assert not (tmp_path / "out.npy").exists()


def test_weights_count_in_a_calibration(tmp_path):
    """By scores out of folds, or by other records."""
    some, weights = weighted_records(200)
    texts, labels = (np.array([one[name] for one in some], object) for name in ("text", "label"))
    of_no_class = {"text": "one more", "label": "of none", "w": 0}
    path = write_jsonl(tmp_path / "in.jsonl", [*some, of_no_class])
    for name, part in (("a", some[:100]), ("b", [of_no_class, *some[100:]])):
        write_jsonl(tmp_path / f"{name}.jsonl", part)
    folds = folds_of(200, weights=weights)
    every, (first, last) = slice(200), (slice(100), slice(100, 200))
    for inputs, validation, own, others, cv in (
        (path, None, every, every, folds),
        (tmp_path / "a.jsonl", tmp_path / "b.jsonl", first, last, None),
    ):
        answer = trained(inputs, weight_field="w", calibrate=True, validation=validation)
        expected = text_model(tol=1e-9).fit(texts[own], labels[own], sample_weight=weights[own])
        same(answer.model, expected)
        expected.calibrate(texts[others], labels[others], sample_weight=weights[others], cv=cv)
        shares = answer.model.predict_proba(texts.tolist())
        np.testing.assert_allclose(shares, expected.predict_proba(texts.tolist()), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_validation_is_by_weights(n_classes, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (X, y), (X_new, y_new) = rows(), rows(seed=1)
    y, y_new = np.minimum(y, n_classes - 1), np.minimum(y_new, n_classes - 1)
    weights = np.random.default_rng(SEED).integers(0, 4, 70) / 2
    write_rows("in.svm", X, y)
    write_rows("new.svm", X_new, y_new)
    np.savetxt("new.svm.weights.txt", weights)
    done = command("train", "minmax", "in.svm", "-o", "model", "--validation", "new.svm")
    assert done.returncode == 0, done.stderr
    model = KernelClassifier.load("model")
    found = model.predict(X_new)
    accuracy = accuracy_score(y_new, found, sample_weight=weights)
    first, _, *table = done.stdout.decode().splitlines()
    assert first.startswith(f"70 records of weight {weights.sum():g}, accuracy {accuracy:.4f}")
    if n_classes == 2:
        scores = model.decision_function(X_new)
        area = roc_auc_score(y_new, scores, sample_weight=weights)
        assert first.endswith(f"area under the ROC curve {area:.4f}")
    counts = [[float(n) for n in line.split("\t")[1:]] for line in table]
    assert counts == confusion_matrix(y_new, found, sample_weight=weights).tolist()


def test_validation_of_regression_is_by_weights(tmp_path):
    X, _ = rows()
    y, weights = X.sum(axis=1), np.random.default_rng(SEED).integers(0, 4, 70)
    path = write_rows(tmp_path / "in.svm", X, y)
    np.save(f"{path}.weights.npy", weights)
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    model = KernelRegressor(map, random_state=0)
    done = files.train_files(model, path, tmp_path / "model", validation=path)
    expected = KernelRegressor(map, random_state=0).fit(X, y, sample_weight=weights)
    assert (done.model.coef_ == expected.coef_).all()
    score = r2_score(y, done.model.predict(X), sample_weight=weights)
    assert done.validation.score == pytest.approx(score, rel=1e-9)


def test_the_area_by_weights():
    rng = np.random.default_rng(SEED)
    for _ in range(20):
        scores, positive = rng.integers(0, 9, 50) / 9, rng.random(50) < 0.4
        weights = rng.integers(0, 3, 50) / 2
        expected = roc_auc_score(positive, scores, sample_weight=weights)
        found = _validation.area_under_curve(scores, positive, weights)
        assert found == pytest.approx(expected, abs=1e-12)
    assert np.isnan(_validation.area_under_curve(scores, positive, weights * positive))


# ---- mistakes ------------------------------------------------------------------------------------

BAD = {
    "-1": (-1, "field 'w', a number from 0 to 1e+75; found -1"),
    "above 1e75": (1.01e75, "field 'w', a number from 0 to 1e+75; found 1.01e+75"),
    "10**300": (10**300, "field 'w', a number from 0 to 1e+75; found a larger one"),
    "null": (None, "found null"),
    "string": ("1.5", "found a string"),
    "boolean": (True, "found a boolean"),
    "2**53 + 1": (2**53 + 1, "that float64 holds; found 9007199254740993"),
    "2**70 + 1": (2**70 + 1, f"that float64 holds; found {2**70 + 1}"),
    "NaN": (float("nan"), "found nan"),
    "infinity": (float("inf"), "found inf"),
}


@pytest.mark.parametrize("name", [*BAD, "missing"])
def test_a_bad_weight_is_an_error_or_set_aside(name, tmp_path):
    value, message = BAD.get(name, (None, "expected the field 'w'; found 'text', 'label'"))
    some, _ = weighted_records()
    some[7]["w"] = value
    if name == "missing":
        del some[7]["w"]
    path = write_jsonl(tmp_path / "in.jsonl", some)
    with pytest.raises(ValueError, match=r"in\.jsonl: line 8: expected ") as error:
        trained(path, weight_field="w")
    assert message in str(error.value)
    assert not (tmp_path / "model").exists()
    answer = trained(path, weight_field="w", bad_records=tmp_path / "bad")
    assert (answer.n_records, answer.n_bad) == (89, 1)
    assert message in (tmp_path / "bad").read_text()


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_a_bad_weight_in_a_column(format, tmp_path):
    some, _ = weighted_records()
    some[40]["w"] = None
    path = write(tmp_path / f"in.{format}", some)
    place = "line 4|line 5" if format == "csv" else "row 41"
    found = "an empty field" if format == "csv" else "null|a number"
    with pytest.raises(ValueError, match=rf"in\.{format}: ({place}).*column 'w'.*found ({found})"):
        trained(path, weight_field="w")
    answer = trained(path, weight_field="w", bad_records=tmp_path / "bad")
    assert (answer.n_records, answer.n_bad) == (89, 1)
    some[40]["w"] = -0.5
    write(path, some)
    with pytest.raises(ValueError, match=r"a number from 0 to 1e\+75; found -0\.5"):
        trained(path, weight_field="w")


def test_whole_numbers_and_zeros(tmp_path):
    """A number that float64 holds is a weight, whatever its length."""
    lines = [json.dumps({"text": f"a {n}", "label": n, "w": 0}) for n in range(2)]
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"in\.jsonl: all records have the weight 0"):
        trained(path, weight_field="w")
    path.write_text("\n".join(lines).replace('"w": 0', f'"w": {2**70}'))
    assert trained(path, weight_field="w").weight == 2**71


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1\n" * 69, r"expected 70 weights, one for each row of .*in\.svm; found 69"),
        (b"1\n" * 71, "found 71"),
        (b"1\n" * 69 + b"x\n", r"line 70: expected a weight, a number .* 1e\+75 .*; found 'x'"),
        (b"1\n" * 69 + b"-1\n", "line 70: .*; found '-1'"),
        (b"1\n" * 69 + b"nan\n", "found 'nan'"),
        (b"1\n" * 69 + b"9007199254740993\n", "found '9007199254740993'"),
        (b"\n" + b"1\n" * 70, "line 1: .*; found an empty line"),
        (b"1\n" * 69 + b"\xff\n", "line 70: "),
        (b"0\n" * 70, "all records have the weight 0"),
        (np.ones(69), "found 69"),
        (np.ones((70, 1)), "weights.npy is damaged: expected numbers in one dimension"),
        (np.full(70, "1"), "weights.npy is damaged: expected numbers"),
        (np.append(np.ones(69), -1), r"weights.npy: row 70: .*; found -1\.0"),
        (np.append(np.ones(69), np.nan), "row 70: .*; found nan"),
        (np.append(np.ones(69), 1.01e75), r"row 70: .*; found 1\.01e\+75"),
        (b"1\n" * 69 + b"1e76\n", "line 70: .*; found '1e76'"),
        (np.append(np.ones(69, np.int64), 2**53 + 1), "row 70: .*; found 9007199254740993"),
    ],
    ids=str,
)
def test_bad_files_of_weights(content, message, tmp_path):
    path = write_rows(tmp_path / "in.svm", *rows())
    if isinstance(content, bytes):
        (tmp_path / "in.svm.weights.txt").write_bytes(content)
    else:
        np.save(tmp_path / "in.svm.weights.npy", content)
    with pytest.raises(ValueError, match=message):
        files.train_files(KernelClassifier(MinHash()), path, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_mistakes(tmp_path):
    paths = [write_rows(tmp_path / f"{name}.svm", *rows()) for name in "ab"]
    model = KernelClassifier(MinHash(n_hashes=16, random_state=0), random_state=0)

    def train(inputs, **options):
        return files.train_files(model, inputs, tmp_path / "model", **options)

    with pytest.raises(ValueError, match="weight_field='w' is a field of texts; weights of rows"):
        train(paths, weight_field="w")
    np.save(f"{paths[0]}.weights.npy", np.ones(70))
    with pytest.raises(ValueError, match=r"a\.svm has weights beside it, and .*b\.svm has none"):
        train(paths)
    assert train(paths[0], validation=paths[1]).weight == 70
    np.savetxt(f"{paths[0]}.weights.txt", np.ones(70))
    with pytest.raises(ValueError, match=r"a\.svm has two files of weights"):
        train(paths[0])
    files.map_files(model.map, paths[1], tmp_path / "b.npy", format="npy")
    with pytest.raises(ValueError, match="weight_field='w' is a field of texts"):
        train(tmp_path / "b.npy", weight_field="w")
