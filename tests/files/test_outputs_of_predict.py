"""What predict writes, of every kind of input and output, and which records filter chooses."""

import dataclasses
import gzip
import inspect
import json
import math

import numpy as np
import pytest
from _data.labelled_records import records, rows, text_model, write_jsonl, write_rows
from _scripts.commands import command

from sparsemaps import ConsistentWeightedSampling, files
from sparsemaps.cli import main
from sparsemaps.files import Texts
from sparsemaps.files._job_options import LineOptions
from sparsemaps.linear import KernelClassifier, KernelRegressor

LABELS = ["money", "pets", "sea\tsalt"]
TEXTS = [
    "", *(record["text"] for record in records(12, seed=3)), "bank cat ship", "the a", "and"
]  # fmt: skip


def of_texts(n_classes):
    """A model of texts, whose second or third label has a tab."""
    some = [record for record in records(90) if record["label"] in LABELS[3 - n_classes :]]
    texts, labels = [r["text"] for r in some], [r["label"] for r in some]
    return text_model().fit(texts, labels).calibrate(texts, labels)


MODELS = {n: of_texts(n) for n in (2, 3)}
ROWS = ConsistentWeightedSampling(n_hashes=16, random_state=0).fit_any_width()


def of_rows(n_classes):
    X, y = rows(60)
    y = np.minimum(y, n_classes - 1)
    return KernelClassifier(ROWS, random_state=0).fit(X, y).calibrate(X, y)


def write_input(kind, folder, has_ids):
    """An input of a kind, a source of its records, and the rows that a model takes."""
    path = folder / f"in.{kind}"
    named = [{"text": text, "id": f"r\t{n}" if n % 2 else n} for n, text in enumerate(TEXTS)]
    if kind in ("svm", "npy"):
        X, _ = rows(14)
        X = X.toarray() if hasattr(X, "toarray") else np.array(X)
        X[0] = 0
        if kind == "svm":
            write_rows(path, X, np.zeros(len(X)))
        else:
            ROWS.encode(X, packed=True).save(path)
            (folder / "in.npy.ids.txt").unlink(missing_ok=True)
            if has_ids:
                ids = "".join(f"r\\t{n}\n" for n in range(len(X)))
                (folder / "in.npy.ids.txt").write_text(ids)
        return path, None, X
    if kind == "jsonl":
        write_jsonl(path, named)
    elif kind == "txt":
        path.write_text("".join(f"{text}\n" for text in TEXTS))
    else:
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        table = pa.table({"text": TEXTS, "id": [str(one["id"]) for one in named]})
        parquet.write_table(table, path)
    return path, Texts(id_field="id" if has_ids else None), TEXTS


def ids_of(kind, n, has_ids):
    if not has_ids:
        return list(range(1, n + 1))
    if kind == "npy":
        return [f"r\t{row}" for row in range(n)]
    ids = [f"r\t{row}" if row % 2 else row for row in range(n)]
    return list(map(str, ids)) if kind == "parquet" else ids


def read_output(path, is_json, options):
    """The objects that an output has; those of a table are made of its columns."""
    content = path.read_bytes()
    content = gzip.decompress(content) if path.suffix == ".gz" else content
    lines = content.decode().split("\n")
    assert lines.pop() == ""
    if is_json:
        return [json.loads(line) for line in lines]
    table = [line.split("\t") for line in lines]
    assert {len(row) for row in table} == {len(table[0])}
    header, objects = table[0], []
    values = "probas" if options.get("proba") else "scores"
    for row in table[1:]:
        columns = dict(zip(header, row, strict=True))
        one = {header[0]: columns[header[0]]}
        if "top" in options:
            numbers = [n for n in range(1, 9) if columns.get(f"label_{n}")]
            one["labels"] = [columns[f"label_{n}"] for n in numbers]
            named = [columns[f"{values[:-1]}_{n}"] for n in numbers]
            one[values] = [float(number) for number in named if number]
        else:
            one["label"] = columns["label"]
            names = [name for name in header[2:] if not name.startswith("explain_")]
            one[values] = {name: float(columns[name]) for name in names}
        if "explain" in options:
            pairs = [columns[f"explain_{n + 1}"].rpartition(" ") for n in range(options["explain"])]
            one["explain"] = [[ngram, float(share)] for ngram, _, share in pairs if share]
        objects.append(one)
    return objects


def expected_of(model, X, ids, first, options):
    """The objects, by the methods of the model."""
    scores = model.decision_function(X)
    if scores.ndim == 1:
        scores = np.column_stack([0 - scores, 0 + scores])
    shares = model.predict_proba(X)
    known = [bool(str(row).strip()) if isinstance(row, str) else row.any() for row in X]
    shown = shares if options.get("proba") else scores
    name = "probas" if options.get("proba") else "scores"
    unknown = options.get("unknown", "")
    classes = model.classes_.tolist()
    objects = []
    for row, id in enumerate(ids):
        order = sorted(range(len(classes)), key=lambda n, row=row: (-scores[row, n], n))
        good = [
            n for n in order
            if known[row] and scores[row, n] >= options.get("min_score", -math.inf)
            and shares[row, n] >= options.get("min_proba", 0)
        ]  # fmt: skip
        numbers = [float(f"{number:.6g}") for number in shown[row].tolist()]
        one = {first: id}
        if "top" in options:
            best = [n for n in order[: options["top"]] if n in good]
            one["labels"] = [classes[n] for n in best] or ([unknown] if unknown else [])
            one[name] = [numbers[n] for n in best]
        else:
            one["label"] = classes[order[0]] if order[0] in good else unknown or None
            names = [str(label) for label in classes]
            one[name] = dict(zip(names, numbers, strict=True))
        if "explain" in options:
            reasons = model.explain(X[row])[: options["explain"]]
            one["explain"] = [[ngram, float(f"{share:.4g}")] for ngram, share in reasons]
        objects.append(one)
    return objects


def as_table(objects):
    """What a table has of objects: texts, of which tabs are escaped."""

    def column(value):
        return "" if value is None else str(value).replace("\t", "\\t")

    for one in objects:
        first = next(iter(one))
        one[first] = column(one[first])
        if "labels" in one:
            one["labels"] = list(map(column, one["labels"]))
        else:
            one["label"] = column(one["label"])
            value = "probas" if "probas" in one else "scores"
            one[value] = {column(name): number for name, number in one[value].items()}
    return objects


OPTIONS = [
    {}, {"proba": True}, {"min_score": 0.2}, {"min_proba": 0.7, "unknown": "no\tone"},
    {"top": 1}, {"top": 2, "proba": True, "min_proba": 0.3}, {"top": 9, "unknown": "none"},
    {"top": 2, "proba": True, "min_score": 0.3}, {"explain": 2, "min_proba": 0.5},
    {"unknown": "?", "proba": True},
]  # fmt: skip


def test_all_options_are_tried():
    tried = {name for options in OPTIONS for name in options}
    assert tried == {field.name for field in dataclasses.fields(LineOptions)}
    parameters = inspect.signature(files.predict_files).parameters
    assert {name: parameters[name].default for name in tried} == dataclasses.asdict(LineOptions())


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("output", ["out.tsv", "out.jsonl", "out.NDJSON.gz"])
@pytest.mark.parametrize("kind", ["jsonl", "txt", "parquet", "svm", "npy"])
def test_every_input_and_output(tmp_path, kind, output, options):
    """Labels, numbers, ids and counts are those of the methods of the model."""
    is_of_texts = kind not in ("svm", "npy")
    if "explain" in options and not is_of_texts:
        pytest.skip("explain is for texts")
    for n_classes in (2, 3):
        model = MODELS[n_classes] if is_of_texts else of_rows(n_classes)
        for has_ids in (False, True) if kind in ("jsonl", "parquet", "npy") else (False,):
            path, source, X = write_input(kind, tmp_path, has_ids)
            done = files.predict_files(model, path, tmp_path / output, source=source, **options)
            ids = ids_of(kind, len(X), has_ids)
            expected = expected_of(model, X, ids, "id" if has_ids else "record", options)
            labels = [(one["labels"] or [None])[0] if "top" in options else one["label"]
                      for one in expected]  # fmt: skip
            is_json = "json" in output.lower()
            expected = expected if is_json else as_table(expected)
            assert read_output(tmp_path / output, is_json, options) == expected
            known = [one for one in labels if one not in (None, options.get("unknown"))]
            counts = {label: known.count(label) for label in set(known)}
            assert done.labels == counts
            assert list(done.labels.values()) == sorted(counts.values(), reverse=True)
            n_empty = 1
            assert done[:4] == (len(X), len(X) - len(known), n_empty, 0)
            scores = model.decision_function(X)
            are_low = np.zeros(len(X), bool) if n_classes == 2 else scores.max(axis=1) < 0
            is_empty = [not (row.strip() if isinstance(row, str) else row.any()) for row in X]
            assert sum(is_empty) == n_empty
            assert done.n_negative == (are_low & ~np.array(is_empty)).sum()


def test_regression_has_no_labels(tmp_path):
    X, _ = rows(30)
    model = KernelRegressor(ROWS, random_state=0).fit(X, np.arange(30.0))
    (tmp_path / "in.svm").write_text("0 1:1\n0\n")
    value = f"{model.predict(np.eye(1, 9))[0]:.9g}"
    for name, expected in (
        ("out.tsv", f"record\tvalue\n1\t{value}\n2\t\n"),
        ("out.jsonl", f'{{"record": 1, "value": {value}}}\n{{"record": 2, "value": null}}\n'),
    ):
        assert files.predict_files(model, tmp_path / "in.svm", tmp_path / name).labels == {}
        assert (tmp_path / name).read_text() == expected
    of_classes = {"top": 1, "min_score": 0, "unknown": "x", "proba": True, "min_proba": 0.5}
    for name, value in of_classes.items():
        with pytest.raises(ValueError, match="is for classifiers, not for regression"):
            files.predict_files(model, tmp_path / "in.svm", tmp_path / "no", **{name: value})
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("classes", "expected"),
    [([0, 1], "[0, 1]"), ([-1.0, 2.0], "[-1, 2]"), ([False, True], "[false, true]"),
     (["a\"\n", "é"], '["a\\"\\n", "é"]'), (["a", "\ud800"], '["a", "\\ud800"]'),
     ([2**60, 2**60 + 1], f"[{2**60}, {2**60 + 1}]")],
)  # fmt: skip
def test_labels_of_json_are_those_of_the_data(tmp_path, classes, expected):
    model = KernelClassifier(ROWS, random_state=0).fit(
        np.repeat(np.eye(2), 4, axis=0), np.repeat(np.array(classes), 4)
    )
    (tmp_path / "in.svm").write_text("0 1:1\n0 2:1\n")
    files.predict_files(model, tmp_path / "in.svm", tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    labels = [line.partition('"label": ')[2].partition(', "scores"')[0] for line in lines]
    assert f"[{', '.join(labels)}]" == expected


def test_equal_scores(tmp_path):
    """The first of the classes is the label, and stands first."""
    model = KernelClassifier(ROWS, random_state=0)
    model.fit(np.repeat(np.eye(3), 4, axis=0), np.repeat(["a", "b", "c"], 4))
    model._weights[:] = 0
    model.intercept_ = np.array([-1.0, 0.5, 0.5])
    (tmp_path / "in.svm").write_text("0 1:1\n")
    files.predict_files(model, tmp_path / "in.svm", tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().endswith("\n1\tb\t-1\t0.5\t0.5\n")
    files.predict_files(model, tmp_path / "in.svm", tmp_path / "out.tsv", top=3)
    assert (tmp_path / "out.tsv").read_text().endswith("\n1\tb\t0.5\tc\t0.5\ta\t-1\n")


# ---- records that filter chooses -----------------------------------------------------------------


def kept_of(model, path, **options):
    out = path.with_name("kept")
    answer = files.filter_files(model, path, out, **options)
    lines = out.read_bytes().splitlines()
    assert answer.n_kept == len(lines)
    return lines


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    "rule",
    [{}, {"min_score": 0.1}, {"min_score": -0.3}, {"min_proba": 0.5}, {"min_proba": 0.2},
     *({"fraction": share} for share in (1e-9, 0.07, 0.3, 0.5, 1.0, 1))],
    ids=str,
)  # fmt: skip
def test_the_records_that_are_written(tmp_path, n_classes, several, rule):
    """Each text is there twice, so that of equal scores the first is taken."""
    model, texts = MODELS[n_classes], [*TEXTS, *TEXTS]
    lines = [json.dumps({"text": text, "n": n}).encode() for n, text in enumerate(texts)]
    (tmp_path / "in.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    classes = model.classes_.tolist()
    labels = [classes[-1], classes[0]] if several else [classes[-1]]
    numbers = [classes.index(label) for label in labels]
    scores = model.decision_function(texts)
    scores = scores if scores.ndim == 2 else np.column_stack([-scores, scores])
    best = scores[:, numbers].max(axis=1)
    known = np.array([bool(text) for text in texts])
    if "fraction" in rule:
        order = sorted(np.flatnonzero(known).tolist(), key=lambda row: (-best[row], row))
        n_best = {1e-9: 1, 0.07: 3, 0.3: 10, 0.5: 16, 1.0: 32}[rule["fraction"]]
        assert len(texts) == 32
        wanted = np.isin(np.arange(len(texts)), order[:n_best])
    elif "min_score" in rule:
        wanted = best >= rule["min_score"]
    elif "min_proba" in rule:
        wanted = model.predict_proba(texts)[:, numbers].max(axis=1) >= rule["min_proba"]
    else:
        wanted = np.isin(model.predict(texts), labels)
    wanted &= known
    label = labels if several else labels[0]
    found = kept_of(model, tmp_path / "in.jsonl", label=label, **rule)
    assert found == [line for line, is_wanted in zip(lines, wanted, strict=True) if is_wanted]


@pytest.fixture
def shards(tmp_path):
    """Three inputs, of which one has more records that are kept; and one of all their records."""
    some = records(40, seed=2)
    parts = [some[3:30], some[:3] * 2, [], some[30:]]
    paths = [write_jsonl(tmp_path / f"{n}.jsonl", part) for n, part in enumerate(parts)]
    return paths, write_jsonl(tmp_path / "whole.jsonl", [one for part in parts for one in part])


def lines_in(folder, paths):
    return b"".join((folder / path.name).read_bytes() for path in paths).splitlines()


@pytest.mark.parametrize("fraction", [1e-9, 0.1, 0.2, 0.45, 1.0])
def test_a_fraction_is_of_all_inputs(tmp_path, shards, fraction):
    """Of one output or of one for each input."""
    paths, whole = shards
    how = {"label": "pets", "fraction": fraction}
    expected = kept_of(MODELS[3], whole, **how)
    answer = files.filter_files(MODELS[3], paths, tmp_path / "one", **how)
    assert (tmp_path / "one").read_bytes().splitlines() == expected
    assert files.filter_files(MODELS[3], paths, f"{tmp_path}/out/", **how) == answer
    assert lines_in(tmp_path / "out", paths) == expected
    assert answer.n_kept == len(expected) == math.ceil(43 * fraction)


def test_tasks_of_a_fraction(tmp_path, shards, capsys):
    """Tasks in any order make the same; another fraction takes the scores, and an input that
    changes changes the cut."""
    paths, whole = shards
    MODELS[3].save(tmp_path / "model")

    def run(output, *more, fraction=0.2):
        words = ["filter", tmp_path / "model", *paths, "-o", f"{tmp_path}/{output}/"]
        words += ["--label", "pets", "--fraction", fraction, *more]
        return main(list(map(str, words)))

    assert not run("out", "--tasks")
    said = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert said == [["scores", "4"], ["cut", "1"], ["filter", "4"]]
    for stage in ("filter", "cut"):
        assert run("out", "--stage", stage, "--task", "0/2") == 2
        assert "the stage scores lacks 4 of 4 results," in capsys.readouterr().err
    for i in (1, 0):
        assert not run("out", "--stage", "scores", "--task", f"{i}/2")
    assert run("out", "--stage", "filter", "--task", "0/2") == 2
    assert "the stage cut lacks 1 of 1 result," in capsys.readouterr().err
    assert not run("out", "--stage", "cut", "--task", "0/1")
    for i in (1, 0):
        assert not run("out", "--stage", "filter", "--task", f"{i}/2")
    assert not run("out")
    how = {"label": "pets", "fraction": 0.2}
    assert lines_in(tmp_path / "out", paths) == kept_of(MODELS[3], whole, **how)

    stages = tmp_path / "out.stages"
    scores = {path.name: path.stat().st_mtime_ns for path in stages.glob("scores-*.npy")}
    assert not run("out", fraction=0.4)
    assert {path.name: path.stat().st_mtime_ns for path in stages.glob("scores-*.npy")} == scores
    expected = kept_of(MODELS[3], whole, label="pets", fraction=0.4)
    assert lines_in(tmp_path / "out", paths) == expected
    capsys.readouterr()
    assert not run("out", "--json", fraction=0.4)
    assert json.loads(capsys.readouterr().err)["kept"] == len(expected)
    paths[2].write_bytes(b"".join(line + b"\n" for line in expected))  # so that the cut is higher
    assert not run("out", fraction=0.4)
    changed = write_jsonl(tmp_path / "all.jsonl", [])
    changed.write_bytes(b"".join(path.read_bytes() for path in paths))
    expected = kept_of(MODELS[3], changed, label="pets", fraction=0.4)
    assert lines_in(tmp_path / "out", paths) == expected
    for damaged in ('["0x1p+0"]', '["one", [0, 0, 0, 0]]', '{"least": 0}'):
        (cut,) = (path for path in stages.glob("cut-*.json"))
        receipt = json.loads(cut.read_text())
        cut.write_text(json.dumps({**receipt, "value": json.loads(damaged)}))
        (tmp_path / "out" / paths[0].name).unlink(missing_ok=True)
        assert run("out", fraction=0.4) == 2
        assert f"the receipt of {cut.stem} is damaged: expected a cut" in capsys.readouterr().err
    assert not run("out", "--fresh", fraction=0.4)
    assert lines_in(tmp_path / "out", paths) == expected


def test_bad_records_of_a_fraction(tmp_path, shards):
    """They do not count; their tables are those of one output."""
    paths, _ = shards
    for number, path in enumerate(paths):
        lines = path.read_bytes().splitlines(keepends=True)
        lines[number:number] = [b'{"text": null}\n'] * (number % 2 + 1) * (len(lines) > 0)
        path.write_bytes(b"".join(lines))
    found = []
    for output in ("one", "out/"):
        bad = tmp_path / f"{output.strip('/')}.bad"
        how = {"label": "pets", "fraction": 0.2, "bad_records": bad}
        answer = files.filter_files(MODELS[3], paths, f"{tmp_path}/{output}", **how)
        found.append((answer, bad.read_bytes()))
    assert found[0] == found[1]
    assert found[0][0].n_records == 43
    assert found[0][0].n_bad == found[0][1].count(b"null}") == 5
    assert lines_in(tmp_path / "out", paths) == (tmp_path / "one").read_bytes().splitlines()
    counts = [(tmp_path / "out" / f"{p.name}.bad.tsv").read_bytes().count(b"null}") for p in paths]
    assert counts == [1, 2, 0, 2]


def test_a_fraction_is_that_of_its_digits(tmp_path):
    """In binary, 0.07 * 100 is above 7."""
    path = write_jsonl(tmp_path / "in.jsonl", records(100))
    assert len(kept_of(MODELS[3], path, label="pets", fraction=0.07)) == 7


def test_options_that_are_not_allowed(tmp_path):
    model, path = MODELS[3], write_jsonl(tmp_path / "in.jsonl", records(4))
    plain = text_model().fit([r["text"] for r in records()], [r["label"] for r in records()])
    predict, choose = files.predict_files, files.filter_files
    for function, given, options, message in (
        (predict, model, {"top": 0}, "top must be"),
        (predict, model, {"min_score": 1, "min_proba": 0.5}, "min_proba=0.5, not both"),
        (predict, model, {"min_proba": 1.5}, "min_proba must be from 0 to 1"),
        (predict, model, {"unknown": None}, "unknown must be a string"),
        (predict, plain, {"min_proba": 0.5}, "min_proba=0.5 needs a classifier that is"),
        (choose, plain, {"label": "pets", "min_proba": 0.5}, "min_proba=0.5 needs a classifier"),
        (choose, model, {"label": "pets", "fraction": 0}, "fraction must be"),
        (choose, model, {"label": "pets", "fraction": 1.1}, "fraction must be above 0 and at most"),
        (
            choose,
            model,
            {"label": "pets", "fraction": 0.5, "min_score": 1},
            "min_score=1, not both",
        ),
        (choose, model, {"label": []}, "label must be a class of the model"),
        (choose, model, {"label": ["pets", "fish"]}, "'fish'"),
        (choose, model, {"label": np.array("fish")}, "'fish'"),
    ):
        with pytest.raises(ValueError, match=message):
            function(given, path, tmp_path / "out", **options)
        assert not (tmp_path / "out").exists()


# ---- the commands --------------------------------------------------------------------------------


def words_of(options):
    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def test_commands(tmp_path, monkeypatch, capsys):
    """The options of the commands are those of the functions."""
    monkeypatch.chdir(tmp_path)
    model = MODELS[3]
    model.save("model")
    path = write_jsonl(tmp_path / "in.jsonl", records(40, seed=9))
    for options in OPTIONS:
        words = words_of(options)
        files.predict_files(model, path, "expected.jsonl", **options)
        assert not main(["predict", "model", "in.jsonl", "-o", "out.jsonl", *words])
        assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "expected.jsonl").read_bytes()
    capsys.readouterr()
    for rule in ({}, {"min_score": 0.1}, {"min_proba": 0.4}, {"fraction": 0.25}):
        words = words_of(rule)
        done = files.filter_files(model, path, "expected.jsonl", label=["pets", "money"], **rule)
        labels = ["--label", "pets", "--label", "money"]
        assert not main(["filter", "model", "in.jsonl", "-o", "out.jsonl", *labels, *words])
        assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "expected.jsonl").read_bytes()
        assert capsys.readouterr().err == f"40 records, {done.n_kept} kept\n"


def test_the_last_line_counts_labels(tmp_path):
    """The most frequent first, ten at most; and records that are unknown, empty or bad."""
    names = [f"class {n}" for n in range(13)]
    texts = [f"word{n}" for n in range(13) for _ in range(3)]
    model = text_model().fit(texts, [names[n] for n in range(13) for _ in range(3)])
    model.save(tmp_path / "model")
    lines = [json.dumps({"text": f"word{n}"}) for n in range(13) for _ in range(14 - n)]
    lines += [json.dumps({"text": text}) for text in ("", " ")] + ["{}"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines) + "\n")
    words = ["predict", tmp_path / "model", tmp_path / "in.jsonl", "-o", tmp_path / "out.tsv"]
    done = command(*words, "--bad-records", tmp_path / "bad")
    assert done.returncode == 0
    first = ", ".join(f"class {n} {14 - n}" for n in range(10))
    assert done.stderr.decode() == (
        f"{len(lines) - 1} records: {first}, 3 other labels 9, 2 unknown (without an n-gram or an "
        "entry), 1 bad\n"
    )
    done = command(*words, "--min-score", 1e6, "--bad-records", tmp_path / "bad")
    assert done.stderr.decode() == (
        f"{len(lines) - 1} records, {len(lines) - 1} unknown (2 without an n-gram or an entry), "
        "1 bad\n"
    )
