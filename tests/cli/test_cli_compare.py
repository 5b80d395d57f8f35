"""`sparsemaps compare`: its last lines are commands that work word for word."""

import gzip
import json
import os
import shlex
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import joblib
import numpy as np
import pytest
from _data.clocks import Ticking
from _data.labelled_records import records, rows, write_jsonl, write_rows
from _scripts.programs import posix
from sklearn.linear_model import RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsemaps import ConsistentWeightedSampling, MinHash, RandomBinning, RandomFourier
from sparsemaps._io._sources import WEIGHTS
from sparsemaps.cli import _compare, main
from sparsemaps.cli._compare import command_of
from sparsemaps.comparison import Measured
from sparsemaps.comparison._budget import Budget
from sparsemaps.files import Texts
from sparsemaps.libsvm import load_svmlight_file
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.text import HashingVectorizer, IdfWeights

LITTLE = ["--seconds", "0.2", "--no-progress"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_compare, "Budget", lambda seconds: Budget(seconds, Ticking()))
    write_rows(tmp_path / "my rows.svm", *rows())
    write_jsonl(tmp_path / "texts.jsonl", records())
    return tmp_path


def row(estimator, *, takes_dense=False):
    return Measured("", "", None, 1, 0, 0, 0, 1, None, None, 0, 0, 0, takes_dense, estimator)


MINMAX = ConsistentWeightedSampling(n_hashes=64, power=0.5, random_state=0)
BINNING = RandomBinning(gamma=0.5, n_grids=64, random_state=0)
COUNTS = HashingVectorizer(norm=None, alternate_sign=False)
TEXTS = Texts("word:1", label_field="label", normalize="nfkc")
ROWS = None
MODELS = {
    "minmax": (KernelClassifier(MINMAX, C=0.3, random_state=0), ROWS),
    "regression": (KernelRegressor(MINMAX, epsilon=0.0, random_state=0), ROWS),
    "binning": (KernelClassifier(BINNING, random_state=0), ROWS),
    "scaled": (make_pipeline(StandardScaler(), KernelClassifier(BINNING, random_state=0)), ROWS),
    "fourier": (make_pipeline(RandomFourier(gamma=0.5, random_state=0), RidgeClassifier()), ROWS),
    "texts": (
        KernelClassifier(MinHash(n_hashes=64, random_state=0), vectorizer=TEXTS, random_state=0),
        TEXTS,
    ),
    "weighted texts": (
        KernelClassifier(
            ConsistentWeightedSampling(n_hashes=64, method="levels", random_state=0),
            vectorizer=make_pipeline(COUNTS, IdfWeights()), random_state=0,
        ),
        TEXTS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_the_command_trains_the_model(folder, name):
    estimator, source = MODELS[name]
    is_text = isinstance(source, Texts)
    input = "texts.jsonl" if is_text else "my rows.svm"
    options = Namespace(input=input, zero_based=False)
    lines = command_of(row(estimator, takes_dense=not is_text), options, source)
    if len(lines) == 1:
        words = shlex.split(lines[0])
        assert words[:2] == ["sparsemaps", "train"]
        assert main(words[1:]) == 0
        model = type(estimator).load(f"{input}.model")
    else:
        assert (lines[0], lines[-1]) == ("python - <<'END'", "END")
        exec("\n".join(lines[1:-1]), {})
        model = joblib.load(f"{input}.model")
    if is_text:
        some = records()
        X, y = [one["text"] for one in some], [one["label"] for one in some]
    else:
        X, y = load_svmlight_file(input)
        X = X.toarray()
    assert (model.predict(X) == estimator.fit(X, y).predict(X)).all()


@posix
@pytest.mark.parametrize("words", [["my rows.svm"], ["texts.jsonl", "--texts", "char:1-2",
                                                     "--label-field", "label"]])  # fmt: skip
def test_the_printed_commands_work_in_a_shell(folder, capsys, words):
    assert main(["compare", *words, *LITTLE]) == 0
    said, told = capsys.readouterr()
    assert " model" in told
    train_choice(said)
    assert Path(f"{words[0]}.model").stat().st_size > 100


def train_choice(said):
    """Run the last lines of a comparison."""
    _, _, command = said.partition("To train the choice:\n")
    bin = Path(sys.executable).parent
    paths = {**os.environ, "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", command], check=True, env=paths, capture_output=True)


def test_test_and_plot_and_json(folder, capsys):
    pytest.importorskip("matplotlib")
    write_rows(folder / "test.svm", *rows(seed=1))
    words = ["my rows.svm", "--test", "test.svm", "--plot", "plot.svg", "--json", "--seconds", "2"]
    assert main(["compare", *words]) == 0
    said, told = capsys.readouterr()
    assert " test " in said.splitlines()[0]
    assert "<svg" in Path("plot.svg").read_text()
    found = json.loads(told.splitlines()[-1])
    assert found["rows"] == 70
    assert found["models"] >= 1
    assert f"within one standard error: {found['choice']}." in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.svm"], "none.svm: No such file or directory"),
        (["-"], "compare needs files, which its last lines name, not standard input"),
        (["my rows.svm", "--seconds", "0"], "--seconds must be a finite number above 0, got 0"),
        (["my rows.svm", "--test", "none.svm"], "none.svm: No such file or directory"),
        (["texts.jsonl", "--texts", "word:1"],
         "texts.jsonl: line 1: expected a field of labels; found 'text', 'label', 'id'; name the "
         "field of the labels by --label-field"),
        (["bare.svm"], "bare.svm: no row has an entry"),
        (["my rows.svm", "--label-field", "label"], "--label-field is for texts; give --texts"),
        (["my rows.svm", "--bad-records", "bad.tsv"], "--bad-records is for texts; give --texts"),
        (["my rows.svm", "--plot", "my rows.svm"], None),
        (["few.svm"], "compare needs at least 20 rows, got 1"),
    ],
)  # fmt: skip
def test_mistakes(folder, capsys, words, message):
    (folder / "few.svm").write_text("1 1:1\n")
    (folder / "bare.svm").write_text("1\n2\n" * 20)
    assert main(["compare", *words]) == 2
    said, told = capsys.readouterr()
    assert not said
    if message is not None:
        assert told == f"sparsemaps: {message}\n"
    assert load_svmlight_file("my rows.svm")[0].shape == (70, 9)


def test_fields_of_texts_are_in_the_command(folder):
    write_jsonl(
        folder / "other.json", [{"body": one["text"], "y": one["label"]} for one in records()]
    )
    words = ["other.json", "--texts", "word:1", "--field", "body", "--label-field", "y"]
    source = Texts("word:1", field="body", label_field="y", format="jsonl", token_pattern=r"\w+")
    model = KernelClassifier(MinHash(random_state=0), vectorizer=source)
    (line,) = command_of(row(model), Namespace(input=words[0]), source)
    assert main(shlex.split(line)[1:]) == 0
    assert main(["compare", *words, *LITTLE]) == 0


@pytest.mark.parametrize("name", ["texts", "weighted texts"])
def test_bad_records_are_set_aside_by_the_command(folder, capsys, name):
    """Records that are too short or too long, or cannot be read."""
    some = records()
    lengths = sorted(len(one["text"]) for one in some)
    least, most = lengths[0] + 1, lengths[-2]
    lines = [json.dumps(one) for one in some]
    (folder / "mixed.jsonl").write_text("\n".join(["{", *lines[:20], "[]", *lines[20:]]))
    estimator, _ = MODELS[name]
    source = Texts(
        "word:1", label_field="label", normalize="nfkc", min_length=least, max_length=most
    )
    words = [
        "mixed.jsonl",
        "--texts",
        "word:1",
        "--label-field",
        "label",
        "--min-length",
        str(least),
    ]
    assert main(["compare", *words, "--bad-records", "bad.tsv", "--seconds", "0.1"]) == 0
    n_bad = 2 + sum(length < least for length in lengths)  # several texts may be the shortest
    assert f", {n_bad} bad records\n" in capsys.readouterr().err
    options = Namespace(input="mixed.jsonl", zero_based=False, bad_records="bad.tsv")
    lines = command_of(row(estimator), options, source)
    if len(lines) == 1:
        assert main(shlex.split(lines[0])[1:]) == 0
        assert len(Path("bad.tsv").read_text().splitlines()) > 3
        model = KernelClassifier.load("mixed.jsonl.model")
    else:
        exec("\n".join(lines[1:-1]), {})
        model = joblib.load("mixed.jsonl.model")
    some = [one for one in some if least <= len(one["text"]) <= most]
    assert len(some) < len(records())
    X, y = [one["text"] for one in some], [one["label"] for one in some]
    assert (model.predict(X) == estimator.fit(X, y).predict(X)).all()


# ---- labels --------------------------------------------------------------------------------------


def refused(capsys, *words):
    assert main(["compare", *words, *LITTLE]) == 2
    return capsys.readouterr().err


def write_labels(folder, kind, labels):
    lines = [
        f'{{"text": "word{row % 7}", "y": {y}}}\n' if kind == "jsonl" else f"{y} {1 + row % 7}:1\n"
        for row, y in enumerate(labels)
    ]
    (folder / f"in.{kind}").write_text("".join(lines))
    options = ["--texts", "word:1", "--label-field", "y"] if kind == "jsonl" else []
    return [f"in.{kind}", *options]


@pytest.mark.parametrize("kind", ["jsonl", "svm"])
def test_files_without_records_are_named(folder, capsys, kind):
    empty = write_labels(folder, kind, [])
    assert refused(capsys, *empty) == f"sparsemaps: in.{kind}: there are no records\n"


@pytest.mark.parametrize("kind", ["jsonl", "svm"])
def test_classes_of_large_numbers_are_told_apart_or_refused(folder, capsys, kind):
    """They do not become one as float64."""
    words = write_labels(folder, kind, [2**53, 2**53 + 1, 1] * 20)
    if kind == "svm":
        assert "in.svm: compare takes whole numbers below 2^53 as cl" in refused(capsys, *words)
        return
    options = Namespace(n_jobs=None, regression=None)
    (made,) = _compare.read(Texts("word:1", label_field="y"), words[:1], options)
    assert sorted(set(made[1].tolist())) == [1, 2**53, 2**53 + 1]
    words = write_labels(folder, kind, [2**53 + 1, 0.5] * 20)
    assert "in.jsonl: of the labels, the numbers 9007199254740993 and" in refused(capsys, *words)


def test_values_that_are_not_finite_and_weights(folder, capsys):
    """The error names the file. Weights are not left out without a word."""
    for kind, words in (("in", ["in.svm"]), ("test", ["good.svm", "--test", "test.svm"])):
        lines = [f"{row % 2} 1:1 3:{'nan' if row == 7 else 2}\n" for row in range(60)]
        Path(f"{kind}.svm").write_text("".join(lines))
        Path("good.svm").write_text("".join(lines).replace("nan", "1"))
        expected = f"{kind}.svm: row 8, index 3: the value is nan; all values must be finite; "
        expected += "leave such entries out, and they are 0\n"
        assert refused(capsys, *words) == f"sparsemaps: {expected}"
    for ending in WEIGHTS:
        Path(f"good.svm{ending}").write_text("1\n" * 60)
        for words in (["good.svm"], ["my rows.svm", "--test", "good.svm"]):
            assert f"good.svm has weights in good.svm{ending}" in refused(capsys, *words)
        Path(f"good.svm{ending}").unlink()


@posix
def test_labels_of_csv_are_numbers_if_all_are(folder, capsys):
    """As for `train`: values have no types there."""
    lines = [f"{' '.join(f'w{n}' for n in range(row % 9 + 1))},{row % 9}.5\n" for row in range(90)]
    Path("in.csv").write_text("text,y\n" + "".join(lines))
    words = ["in.csv", "--texts", "word:1", "--label-field", "y"]
    assert main(["compare", *words, *LITTLE]) == 0
    said, told = capsys.readouterr()
    assert said.split()[0] == "R2"
    assert told.count("\n") == 1
    train_choice(said)
    assert Path("in.csv.model").exists()
    for label, kind in (("x", list), ("7", np.ndarray)):
        Path("one.csv").write_text(f"text,y\na b,{label}\n")
        source = Texts("word:1", label_field="y")
        made = _compare.read(source, ["in.csv", "one.csv"], Namespace(n_jobs=None, regression=None))
        assert [type(labels) for _, labels in made] == [kind] * 2


# ---- tables of numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "names"), [("csv", (2**60, 2**60 + 1)), ("csv.gz", ("b, c", "#d"))]
)
def test_a_csv_file_of_numbers(folder, capsys, ending, names):
    """compare and the program that it prints read the same rows and labels."""
    X, y = rows()
    X, y = X.toarray().tolist(), [names[int(label > min(y))] for label in y]
    lines = [[*row[:2], f'"{label}"', *row[2:]] for row, label in zip(X, y, strict=True)]
    header = ['"n,\n0"', "1", "class", *map(str, range(2, len(X[0])))]
    text = "\ufeff\r\n" + "\r\n".join(",".join(map(str, line)) for line in [header, *lines])
    opened = gzip.open if ending.endswith(".gz") else open
    for name in (f"in.{ending}", f"test.{ending}"):
        with opened(name, "wt", encoding="utf-8", newline="") as file:
            file.write(text)
    words = [f"in.{ending}", "--label-field", "class", "--test", f"test.{ending}"]
    assert main(["compare", *words, *LITTLE]) == 0
    _, _, program = capsys.readouterr().out.partition("choice:\npython - <<'END'\n")
    exec(program.removesuffix("END\n"), {})
    assert set(joblib.load(f"in.{ending}.model").classes_) == set(names)
    source = _compare.source_to_compare(_options(label_field="class"), words[:1])
    ((made, labels),) = _compare.read(source, words[:1], Namespace(regression=None))
    assert (made == np.array(X)).all()
    assert list(labels) == y
    source, given = source._replace(dtype="int64" if names[0] == 2**60 else "str"), {}
    exec("\n".join(source.program(f"in.{ending}")), given)
    assert (given["X"] == made).all()
    assert list(given["y"]) == y


def test_targets_of_csv_files_of_numbers(folder):
    """Targets are written as other numbers are; labels such as +1 are strings."""
    Path("in.csv").write_text("a,y\n1,+1\n2, 2.\n3,.5\n")
    source, given = _compare.source_to_compare(_options(label_field="y"), ["in.csv"]), {}
    exec("\n".join(source.program("in.csv")), given)
    ((_, targets),) = _compare.read(source, ["in.csv"], Namespace(regression=True))
    assert targets.tolist() == given["y"].tolist() == [1, 2, 0.5]


def _options(**given):
    """The options of compare for a file."""
    return Namespace(texts=None, text_format=None, zero_based=None, **given)


NAMED = "--label-field must name the column of labels, one of"


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("a,b,y\n1,2,x\n1,,x\n", [], "line 3: expected a number in the column 'b'; got ''; turn"),
        ("a,y,b\n1,x,nan\n", [], "line 2: expected a number in the column 'b'; got 'nan'; turn"),
        ("a,y,b\n1,x,1_0\n", [], "line 2: expected a number in the column 'b'; got '1_0'; turn"),
        ("a,y,b\n1,x,\u0663\n", [], "line 2: expected a number in the column 'b'; got '\u0663'"),
        ("a,y\n1,\n", [], "line 2: expected a label in the column 'y'; got ''\n"),
        ("a,y\n1,x\n", ["--regression"], "line 2: expected a number in the column 'y'; got 'x'\n"),
        ("a,y\n1,2,3\n", [], "line 2: expected 2 fields, like the header; got 3\n"),
        ("a,b\n1,2\n", [], f"{NAMED} 'a', 'b', got 'y'"),
        ("a,y,y\n1,2,3\n", [], f"{NAMED} 'a', 'y', 'y', got 'y', the name of 2 columns;"),
        ("a,y\n", [], "there are no records\n"),
        ("a,y\n" + "1,2\n" * 30, ["--test", "other.csv"],
         "line 1: expected the columns 'a', 'y'; found 'y', 'a'\n"),
        *(("a,y\n1,2\n", words, "line 1: expected one column 'text'; found 'a', 'y'")
          for words in (["--normalize", "nfkc"], ["--texts", "word:1"])),
        ("text,y\nfew,2\n", [], None),
    ],
)  # fmt: skip
def test_mistakes_in_csv_files_of_numbers(folder, capsys, text, words, message):
    Path("in.csv").write_text(text)
    Path("other.csv").write_text("y,a\n1,2\n")
    told = refused(capsys, "in.csv", "--label-field", "y", *words)
    if message is None:
        assert told == "sparsemaps: compare needs at least 20 rows, got 1\n"
    else:
        name = "other.csv" if "--test" in words else "in.csv"
        assert told.startswith(f"sparsemaps: {name}: {message}")
