"""Training on snippets of the texts of files."""

import json

import numpy as np
import pytest
from _data.labelled_records import folds_of, records, rows, text_model, write_jsonl, write_rows
from _scripts.commands import command

from sparsemaps import MinHash, files
from sparsemaps.files import Texts
from sparsemaps.libsvm import _pipeline
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import snippets

LENGTHS = (2, 4)
SOURCE = Texts("word:1", label_field="label")


def some_records():
    """Records of one word, which have no snippet, are among them; and some have two words."""
    some = records(120)
    for record, n_words in zip(some[::7], [0, 1, 2, 3] * 5, strict=False):
        record["text"] = " ".join(record["text"].split()[:n_words])
    return some


def trained_on_lists(some, seed=0, *, calibrated=False):
    """The model of texts, of snippets behind them, by the public functions alone."""
    texts, labels = ([record[name] for record in some] for name in ("text", "label"))
    short, index = snippets(texts, LENGTHS, random_state=seed)
    index = np.concatenate([np.arange(len(texts)), index])
    texts, labels = np.array(texts + short, object), np.array(labels)[index]
    model = text_model().set_params(random_state=seed).fit(texts, labels)
    if calibrated:
        folds = [[np.flatnonzero(np.isin(index, part)) for part in fold] for fold in folds_of(120)]
        model.calibrate(texts, labels, cv=folds)
    return model


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cuts", [(), (50,), (1, 60, 61)])
@pytest.mark.parametrize("block_bytes", [100, 2**19])
def test_a_model_of_snippets_is_that_of_lists(n_jobs, cuts, block_bytes, tmp_path, monkeypatch):
    """In whatever files, threads and blocks the records come."""
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", block_bytes)
    some = some_records()
    for number, (start, stop) in enumerate(zip((0, *cuts), (*cuts, len(some)), strict=True)):
        write_jsonl(tmp_path / f"{number}.jsonl", some[start:stop])
    answer = files.train_files(
        text_model(), str(tmp_path / "*.jsonl"), tmp_path / "model", source=SOURCE,
        snippets=LENGTHS, n_jobs=n_jobs,
    )  # fmt: skip
    expected = trained_on_lists(some)
    assert answer.n_records == len(some)
    assert (answer.model.coef_ == expected.coef_).all()
    assert answer.model.n_iter_ == expected.n_iter_
    without = files.train_files(
        text_model(), str(tmp_path / "*.jsonl"), tmp_path / "without", source=SOURCE
    )
    assert (without.model.coef_ != expected.coef_).any()


def test_the_seed_is_that_of_the_model(tmp_path):
    some = some_records()
    write_jsonl(tmp_path / "in.jsonl", some)
    answer = files.train_files(
        text_model().set_params(random_state=3), tmp_path / "in.jsonl", tmp_path / "model",
        source=SOURCE, snippets=LENGTHS,
    )  # fmt: skip
    assert (answer.model.coef_ == trained_on_lists(some, seed=3).coef_).all()


def test_columns_of_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    some = some_records()
    parquet.write_table(pa.Table.from_pylist(some), tmp_path / "in.parquet", row_group_size=17)
    answer = files.train_files(
        text_model(), tmp_path / "in.parquet", tmp_path / "model", source=SOURCE, snippets=LENGTHS
    )
    assert (answer.model.coef_ == trained_on_lists(some).coef_).all()


def test_records_are_in_a_fold_with_their_snippets(tmp_path):
    """Those of a calibration; snippets calibrate too."""
    some = some_records()
    write_jsonl(tmp_path / "in.jsonl", some)
    answer = files.train_files(
        text_model(), tmp_path / "in.jsonl", tmp_path / "model", source=SOURCE, snippets=LENGTHS,
        calibrate=True,
    )  # fmt: skip
    expected = trained_on_lists(some, calibrated=True)
    assert answer.n_records == len(some)
    assert (answer.model.coef_ == expected.coef_).all()
    for found, part in zip(answer.model.calibration_, expected.calibration_, strict=True):
        np.testing.assert_allclose(found, part, rtol=1e-6, atol=1e-6)


def test_a_snippet_weighs_what_its_record_does(tmp_path):
    some = [record | {"w": number % 3} for number, record in enumerate(some_records())]
    write_jsonl(tmp_path / "in.jsonl", some)
    answer = files.train_files(
        text_model(), tmp_path / "in.jsonl", tmp_path / "model", source=SOURCE, snippets=LENGTHS,
        weight_field="w",
    )  # fmt: skip
    texts, labels, weights = (
        np.array([one[name] for one in some]) for name in ("text", "label", "w")
    )
    rows = np.flatnonzero(weights)  # others are as if they were absent
    short, index = snippets(texts[rows], LENGTHS, random_state=0)
    index = np.concatenate([np.arange(len(texts)), rows[index]])
    expected = text_model().fit([*texts, *short], labels[index], sample_weight=weights[index])
    assert (answer.model.coef_ == expected.coef_).all()
    assert answer.weight == weights.sum()


def test_a_snippet_has_all_labels_of_its_record(tmp_path):
    some = some_records()
    for record in some[::3]:
        record["label"] = [record["label"], "all"]
    write_jsonl(tmp_path / "in.jsonl", some)
    answer = files.train_files(
        text_model(), tmp_path / "in.jsonl", tmp_path / "model", source=SOURCE, snippets=LENGTHS
    )
    texts = [record["text"] for record in some]
    short, index = snippets(texts, LENGTHS, random_state=0)
    index = np.concatenate([np.arange(len(texts)), index])
    has = np.array(
        [
            [one in np.atleast_1d(record["label"]) for one in answer.model.classes_]
            for record in some
        ]
    )
    expected = text_model().fit([*texts, *short], has[index].astype(int))
    assert answer.n_records == len(some)
    assert (answer.model.coef_ == expected.coef_).all()


def test_records_that_are_set_aside_have_no_number(tmp_path):
    some = some_records()
    lines = [json.dumps(record) for record in some]
    lines[40:40] = ['{"text": null, "label": "pets"}', "[1]"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    answer = files.train_files(
        text_model(), tmp_path / "in.jsonl", tmp_path / "model", source=SOURCE, snippets=LENGTHS,
        bad_records=tmp_path / "bad.tsv",
    )  # fmt: skip
    assert (answer.n_records, answer.n_bad) == (len(some), 2)
    assert (answer.model.coef_ == trained_on_lists(some).coef_).all()


def test_texts_that_are_all_too_short(tmp_path):
    write_jsonl(tmp_path / "in.jsonl", records())
    models = [
        files.train_files(
            text_model(), tmp_path / "in.jsonl", tmp_path / "model", source=SOURCE, **options
        ).model
        for options in ({}, {"snippets": [10, 2**31 - 1]})
    ]
    assert (models[0].coef_ == models[1].coef_).all()


def test_the_command(tmp_path):
    write_jsonl(tmp_path / "in.jsonl", some_records())
    options = ["--texts", "word:1", "--label-field", "label", "--n-hashes", 64]
    done = command(
        "train", "minhash", tmp_path / "in.jsonl", "-o", tmp_path / "model", *options,
        "--snippets", 2, 4,
    )  # fmt: skip
    assert b"120 records" in done.stderr
    model = KernelClassifier.load(tmp_path / "model")
    assert (model.coef_ == trained_on_lists(some_records()).coef_).all()


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([], r"snippets must be 1 to 64 integers from 1 to 2147483647, got \[\]"),
        (4, "snippets must be 1 to 64 integers from 1 to 2147483647, got 4"),
        ([4, 0], "snippets must be from 1 to 2147483647, got 0"),
        ([1.5], "snippets must be an integer from 1"),
    ],
)
def test_lengths(lengths, message, tmp_path):
    write_jsonl(tmp_path / "in.jsonl", records())
    with pytest.raises(ValueError, match=message):
        files.train_files(
            text_model(), tmp_path / "in.jsonl", tmp_path / "model", snippets=lengths, source=SOURCE
        )
    assert not (tmp_path / "model").exists()


def test_rows_and_codes_have_no_snippets(tmp_path):
    write_rows(tmp_path / "in.svm", *rows())
    minhash = MinHash(n_hashes=16, random_state=0)
    files.map_files(minhash, tmp_path / "in.svm", tmp_path / "in.npy", format="npy")
    for name, kind in (("in.svm", "rows"), ("in.npy", "codes")):
        message = rf"snippets=\(2, 4\) is for raw texts, and the inputs are {kind}"
        with pytest.raises(ValueError, match=message):
            files.train_files(
                KernelClassifier(minhash), tmp_path / name, tmp_path / "model", snippets=LENGTHS
            )
        assert not (tmp_path / "model").exists()
