"""What predict and filter make of records that may have several labels."""

import functools
import gzip
import json
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from _data.labelled_records import text_model
from _data.listed_labels import KINDS, SOURCE, listed, write_jsonl
from _scripts.commands import command

from sparsemaps import files
from sparsemaps.files import Texts
from sparsemaps.linear import KernelClassifier


@functools.cache
def model_of(kind):
    """A calibrated model of labels of a kind."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_jsonl(folder / "train.jsonl", listed(80, kind))
        how = {"source": SOURCE, "calibrate": True}
        made = files.train_files(text_model(), folder / "train.jsonl", folder / "model", **how)
    return made.model


TEXTS = [one["text"] for one in listed(25, seed=2)] + ["", "cat bank ship"]

OPTIONS = [
    {}, {"proba": True}, {"min_score": 0.3}, {"min_score": -0.5, "proba": True},
    {"min_proba": 0.4, "unknown": "no,\tone"}, {"top": 1}, {"top": 2, "proba": True},
    {"top": 9, "min_score": 0}, {"top": 2, "min_proba": 0.5, "unknown": "?"}, {"explain": 2},
    {"explain": 1, "proba": True, "top": 1},
]  # fmt: skip


def expected_of(model, options):
    """The labels of each text, their numbers, and the n-grams, by the methods of the model."""
    scores, shares = model.decision_function(TEXTS), model.predict_proba(TEXTS)
    shown = shares if options.get("proba") else scores
    least = options.get("min_score", -math.inf if "top" in options else np.nextafter(0, 1))
    compared = scores
    if "min_proba" in options:
        compared, least = shares, options["min_proba"]
    for row, text in enumerate(TEXTS):
        order = sorted(range(shown.shape[1]), key=lambda n, row=row: (-shown[row, n], n))
        taken = [n for n in order[: options.get("top")] if text and compared[row, n] >= least]
        reasons = model.explain(text, model.classes_[order[0]])[: options.get("explain", 0)]
        yield taken, shown[row].tolist(), reasons


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", ["strings", "large numbers", "booleans"])
def test_every_option(tmp_path, kind, options):
    """Of objects and of tables; labels with commas and tabs have one column."""
    model = model_of(kind)
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"text": t}) + "\n" for t in TEXTS))
    labels = model.classes_.tolist()
    names = [str(label).lower() if kind == "booleans" else str(label) for label in labels]
    columns = [name.replace("\t", "\\t") for name in names]
    unknown, value = options.get("unknown", ""), "proba" if options.get("proba") else "score"
    top = min(options.get("top", 0), len(labels))
    head = ["record", *[f"{word}_{n + 1}" for n in range(top) for word in ("label", value)]]
    head = head if top else ["record", "labels", *columns]
    lines = [[*head, *(f"explain_{n + 1}" for n in range(options.get("explain", 0)))]]
    objects, counts, n_unknown = [], dict.fromkeys(labels, 0), 0
    for row, (taken, shown, reasons) in enumerate(expected_of(model, options), 1):
        numbers = [f"{number:.6g}" for number in shown]
        objects.append(
            {"record": row, "labels": [labels[n] for n in taken] or [unknown][: bool(unknown)]}
        )
        if top:
            objects[-1][f"{value}s"] = [float(numbers[n]) for n in taken]
            cells = [cell for n in taken for cell in (columns[n], numbers[n])]
            cells = cells or [unknown.replace("\t", "\\t")]
            cells += [""] * (2 * top - len(cells))
        else:
            objects[-1][f"{value}s"] = dict(zip(names, map(float, numbers), strict=True))
            some = [columns[n] for n in taken] or [unknown.replace("\t", "\\t")]
            cells = [",".join(one.replace(",", "\\,") for one in some), *numbers]
        if options.get("explain"):
            objects[-1]["explain"] = [[ngram, float(f"{share:.4g}")] for ngram, share in reasons]
            cells += [f"{ngram} {share:+.4g}" for ngram, share in reasons]
            cells += [""] * (options["explain"] - len(reasons))
        lines.append([str(row), *cells])
        n_unknown += not taken
        for n in taken:
            counts[labels[n]] += 1
    for name in ("out.tsv", "out.jsonl"):
        done = files.predict_files(model, tmp_path / "in.jsonl", tmp_path / name, **options)
        assert done[:4] == (len(TEXTS), n_unknown, 1, 0)
        assert done.labels == {label: n for label, n in counts.items() if n}
        assert list(done.labels.values()) == sorted(done.labels.values(), reverse=True)
    table = (tmp_path / "out.tsv").read_text().splitlines()
    assert [line.split("\t") for line in table] == lines
    assert list(map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())) == objects


@pytest.mark.parametrize(
    "rule", [{}, {"min_score": 0.3}, {"min_score": -0.4}, {"min_proba": 0.6}, {"fraction": 0.3}],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("several", [False, True])
def test_records_that_are_filtered(tmp_path, rule, several):
    """They have the label, among others; of several labels, one is enough."""
    model = model_of("strings")
    lines = [json.dumps({"text": text, "n": n}) for n, text in enumerate(TEXTS)]
    (tmp_path / "in.jsonl").write_text("".join(f"{line}\n" for line in lines))
    labels = ["mon,ey", "pets"] if several else ["mon,ey"]
    numbers = [model.classes_.tolist().index(label) for label in labels]
    best = model.decision_function(TEXTS)[:, numbers].max(axis=1)
    best[TEXTS.index("")] = -np.inf
    wanted = best >= rule.get("min_score", np.nextafter(0, 1))
    if "min_proba" in rule:
        wanted = model.predict_proba(TEXTS)[:, numbers].max(axis=1) >= rule["min_proba"]
        wanted[TEXTS.index("")] = False
    if "fraction" in rule:
        wanted = np.isin(np.arange(27), np.argsort(-best, kind="stable")[:9])
    done = files.filter_files(
        model, tmp_path / "in.jsonl", tmp_path / "out.jsonl", label=labels, **rule
    )
    found = (tmp_path / "out.jsonl").read_text().splitlines()
    assert found == [line for line, is_wanted in zip(lines, wanted, strict=True) if is_wanted]
    assert 0 < done.n_kept == len(found) < 27
    assert done.n_unknown == 1


def test_commands(tmp_path, monkeypatch):
    """The last line counts the records of each label; tasks make the same outputs."""
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "a.jsonl", listed(40))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    of_texts = ("--texts", "word:1", "--label-field", "y")
    done = command(
        "train", "minhash", "a.jsonl", "-o", "model", *of_texts, "--validation", "a.jsonl"
    )
    assert done.returncode == 0, done.stderr
    assert b"40 records, micro F1 " in done.stdout
    about = command("info", "model").stdout.decode()
    assert "classes  3, several a record: 'mon,ey', 'pets', 'sea\\tsalt'" in about
    assert "score    micro F1 " in about
    done = command(
        "predict", "model", "a.jsonl", "b.jsonl.gz", "-o", "whole.tsv", "--bad-records", "x"
    )
    assert done.returncode == 0, done.stderr
    model = KernelClassifier.load(tmp_path / "model")
    counts = 2 * model.predict([one["text"] for one in listed(40)]).sum(axis=0)
    for label, n in zip(("mon,ey", "pets", "sea\\tsalt"), counts.tolist(), strict=True):
        assert f"{label} {n}" in done.stderr.decode().replace('"', "")  # a comma needs quotes
    for task in ("1/2", "0/2"):
        words = ("--stage", "predict", "--task", task)
        assert (
            command("predict", "model", "a.jsonl", "b.jsonl.gz", "-o", "out/", *words).returncode
            == 0
        )
    assert command("predict", "model", "a.jsonl", "b.jsonl.gz", "-o", "out/").returncode == 0
    one = (tmp_path / "out/a.jsonl.tsv").read_bytes()
    assert one == (tmp_path / "out/b.jsonl.tsv").read_bytes()
    assert (tmp_path / "whole.tsv").read_bytes().startswith(one)
    done = command("filter", "model", "a.jsonl", "-o", "kept.jsonl", "--label", "mon,ey")
    assert f"40 records, {counts[0] // 2} kept".encode() in done.stderr


@pytest.mark.parametrize("n_rows", [1, 5])
def test_scores_of_many_labels_are_computed_some_rows_at_a_time(tmp_path, monkeypatch, n_rows):
    model = model_of("strings")
    codes = model.map_.encode_texts(model.vectorizer_, TEXTS, packed=True)
    codes.save(tmp_path / "in.npy")
    (tmp_path / "in.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    expected = {}
    for name in ("in.npy", "in.txt"):
        files.predict_files(model, tmp_path / name, tmp_path / "out.tsv")
        expected[name] = (tmp_path / "out.tsv").read_bytes()
    monkeypatch.setattr("sparsemaps.files._labels._SCORES", 3 * n_rows)
    for name, content in expected.items():
        files.predict_files(model, tmp_path / name, tmp_path / "out.tsv")
        assert (tmp_path / "out.tsv").read_bytes() == content


def test_models_of_indicator_matrices_label_files_by_the_numbers_of_columns(tmp_path):
    some = listed(30)
    Y = np.array([[label in one["y"] for label in KINDS["strings"]] for one in some])
    model = text_model().fit([one["text"] for one in some], Y)
    write_jsonl(tmp_path / "in.jsonl", some)
    files.predict_files(model, tmp_path / "in.jsonl", tmp_path / "out.jsonl", source=Texts())
    found = [
        set(json.loads(line)["labels"])
        for line in (tmp_path / "out.jsonl").read_text().splitlines()
    ]
    assert found == [
        set(np.flatnonzero(row)) for row in model.predict([one["text"] for one in some])
    ]


def test_a_score_of_0_is_no_label(tmp_path):
    """As in ``predict``: a text of words that no record has, and a model without an intercept."""
    write_jsonl(tmp_path / "train.jsonl", listed(80, "strings"))
    (tmp_path / "in.jsonl").write_text('{"text": "zebra"}\n')
    model = text_model(fit_intercept=False).set_params(map__bits=16)
    model = files.train_files(model, tmp_path / "train.jsonl", tmp_path / "model", source=SOURCE)
    assert not model.model.decision_function(["zebra"]).any()
    files.predict_files(model.model, tmp_path / "in.jsonl", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().splitlines()[1].split("\t")[:2] == ["1", ""]
    assert not model.model.predict(["zebra"]).nnz
    kept = files.filter_files(
        model.model, tmp_path / "in.jsonl", tmp_path / "out.jsonl",
        label=model.model.classes_.tolist(),
    )  # fmt: skip
    assert kept.n_kept == 0
