"""``sparsemaps train``: each option of the model is the parameter of its name."""

import gzip
import inspect
import json

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.labelled_records import write_rows
from _data.record_files import WRITERS, records
from _scripts.commands import command

from sparsemaps import MinHash
from sparsemaps._tools._option_fields import options_of
from sparsemaps.files._job_options import LinearModel
from sparsemaps.linear import KernelClassifier, KernelRegressor

OF_REGRESSION = ["--loss", "squared_epsilon_insensitive"]

OPTIONS = {
    "loss": (["--loss", "hinge"], {"loss": "hinge"}),
    "C": (["--C", "0.25"], {"C": 0.25}),
    "tol": (["--tol", "0.5"], {"tol": 0.5}),
    "max-iter": (["--max-iter", "2", "--tol", "0.2"], {"max_iter": 2, "tol": 0.2}),
    "balanced": (["--class-weight", "balanced"], {"class_weight": "balanced"}),
    "class-weight": (
        ["--class-weight", "1=4.5", "--class-weight", "0=0.5"],
        {"class_weight": {1: 4.5, 0: 0.5}},
    ),
    "seed": (["--seed", "3"], {"map": MinHash(n_hashes=32, random_state=3), "random_state": 3}),
    "epsilon": ([*OF_REGRESSION, "--epsilon", "0.4"], {"epsilon": 0.4}),
}


@pytest.mark.parametrize("name", [option.name for option in options_of(LinearModel)])
def test_options_are_the_parameters_of_the_models(name):
    """With their defaults, and the ranges that ``fit`` checks."""
    option = next(one for one in options_of(LinearModel) if one.name == name)
    of_numbers = LinearModel(loss=OF_REGRESSION[1]).parameters()
    kind = KernelRegressor if name == "epsilon" else KernelClassifier
    default = inspect.signature(kind).parameters[name].default
    assert option.default == default
    assert of_numbers.keys() <= inspect.signature(KernelRegressor).parameters.keys()
    X, y = labelled_rows()
    for value in {"class_weight": ["x"], "loss": ["x"]}.get(name, [-1, np.nan, "x", None]):
        with pytest.raises(ValueError, match=f"^{name} must be") as of_option:
            LinearModel(**{name: value})
        with pytest.raises(ValueError, match=name) as of_model:
            kind(MinHash(random_state=0), **{name: value}).fit(X, y)
        if name in ("tol", "max_iter"):
            assert str(of_option.value) == str(of_model.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--class-weight", "even"], "--class-weight must be 'balanced' alone, or LABEL=WEIGHT "),
        (["--class-weight", "1=x"], "LABEL=WEIGHT with a weight of at least 0, got '1=x'"),
        (["--class-weight", "1=-2"], "got '1=-2'"),
        (["--class-weight", "1=inf"], "got '1=inf'"),
        (["--class-weight", "balanced", "--class-weight", "1=2"], "got 'balanced'"),
        (
            ["--class-weight", "7=2"],
            "--class-weight must be weights of labels of the rows (0, 1), got one for 7",
        ),
        ([*OF_REGRESSION, "--class-weight", "balanced"], "is for classifiers, not for regression"),
        ([*OF_REGRESSION, "--calibrate"], "--calibrate is for classifiers, not for regression"),
        (["--tol", "0"], "--tol must be a finite number above 0"),
        (["--epsilon", "1"], "--epsilon 1 is for --loss squared_epsilon_insensitive and --loss ep"),
        (["--epsilon", "-1"], "--epsilon must be a finite number of at least 0"),
        (["--C", "0"], "--C must be a finite number above 0"),
        (["--loss", "squared"], "invalid choice: 'squared'"),
    ],
)
def test_mistakes(options, message, tmp_path):
    write_rows(tmp_path / "in.svm", *labelled_rows())
    done = command("train", "minhash", tmp_path / "in.svm", "-o", tmp_path / "model", *options)
    assert done.returncode == 2
    said = done.stderr.decode()
    assert message.replace("class_weight must", "--class-weight must") in said or message in said
    assert said.count("\n") == 1
    assert not (tmp_path / "model").exists()


def labelled_rows():
    """Rows of two classes, of which one has a fifth of the rows, and some wrong labels."""
    rng = np.random.default_rng(SEED)
    X = sp.csr_array((rng.random((120, 30)) < 0.3).astype(float))
    y = (X[:, :3].sum(axis=1) + (rng.random(120) < 0.1) >= 2).astype(float)
    return X, y


def trained(folder, name, options):
    """A model that the command trains, and its scores of all rows."""
    X, y = labelled_rows()
    write_rows(folder / "in.svm", X, y)
    done = command("train", "minhash", "--n-hashes", 32, *options, folder / "in.svm",
                   "-o", folder / name)  # fmt: skip
    assert done.returncode == 0
    kind = KernelRegressor if OF_REGRESSION[1] in options else KernelClassifier
    return kind.load(folder / name)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_option(name, tmp_path):
    options, parameters = OPTIONS[name]
    usual = options[:2] if options[:2] == OF_REGRESSION else []
    found, default = trained(tmp_path, "model", options), trained(tmp_path, "default", usual)
    X, y = labelled_rows()
    own = {"map": MinHash(n_hashes=32, random_state=0), "random_state": 0, **parameters}
    expected = type(found)(**own).fit(X, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.intercept_, expected.intercept_)
    assert (found.coef_ != default.coef_).any()


def test_weights_of_labels_are_shown_as_typed(tmp_path):
    """By `info`, and in the error of lists of labels."""
    lines = "1 1:1\n-1 2:1\n" * 20
    call = ["train", "minhash", tmp_path / "in.svm", "-o", tmp_path / "model",
            "--class-weight", "1=3", "--class-weight", "-1=0.5"]  # fmt: skip
    (tmp_path / "in.svm").write_text(lines)
    assert command(*call).returncode == 0
    assert b"class_weight={1: 3.0, -1: 0.5}" in command("info", tmp_path / "model").stdout
    found = json.loads(command("info", tmp_path / "model", "--json").stdout)
    assert found["model"]["parameters"]["class_weight"] == {"1": 3.0, "-1": 0.5}
    assert json.dumps(found["classes"]["labels"]) == "[-1, 1]"
    (tmp_path / "in.svm").write_text(lines + "1,-1 3:1\n")
    assert b"may have several labels, got 1=3 -1=0.5\n" in command(*call).stderr


# ---- texts by their names ------------------------------------------------------------------------

TEXT_OPTIONS = ["--label-field", "label", "--n-hashes", 16]


@pytest.mark.parametrize("name", ["in.jsonl", "in.json", "in.csv", "in.csv.gz", "in.parquet"])
def test_names_say_texts(name, tmp_path):
    """As --texts char:3 does, which the last line says."""
    kind = {"json": "jsonl"}.get(name.split(".")[1], name.split(".")[1])
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    WRITERS[kind](tmp_path / "written", records())
    content = (tmp_path / "written").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    scores = []
    for more in ([], ["--texts", "char:3"], ["--json"]):
        done = command("train", tmp_path / name, "-o", tmp_path / "model", *TEXT_OPTIONS, *more)
        assert done.returncode == 0, done.stderr
        scores.append(KernelClassifier.load(tmp_path / "model").decision_function(["a cat", "b"]))
        last = done.stderr.decode()
        if more == ["--json"]:
            assert json.loads(last)["texts"] == "char:3"
        else:
            assert ("by --texts char:3" in last) == (not more)
    assert (scores[0] == scores[1]).all()
    assert (scores[0] == scores[2]).all()


def test_what_says_texts(tmp_path):
    some = records(40)
    WRITERS["jsonl"](tmp_path / "in.jsonl", some)
    (tmp_path / "copy").write_bytes((tmp_path / "in.jsonl").read_bytes())
    where = ["-o", tmp_path / "model", *TEXT_OPTIONS]
    done = command("train", tmp_path / "copy", *where, "--text-format", "jsonl")
    assert b"by --texts char:3" in done.stderr
    done = command("train", tmp_path / "in.jsonl", *where, "--idf")
    assert b"by --texts auto:1" in done.stderr
    write_rows(tmp_path / "rows.txt", *labelled_rows())  # lines of text have no labels
    done = command("train", "minhash", tmp_path / "rows.txt", "-o", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert b"--texts" not in done.stderr
    done = command("train", tmp_path / "in.jsonl", *where, "--zero-based")
    assert b"--zero-based is for LIBSVM files, not for texts" in done.stderr
    done = command("train", tmp_path / "rows.txt", "-o", tmp_path / "other")
    assert done.returncode == 2  # a map of sets would lose the values without a word
    assert b"train needs a map for LIBSVM files" in done.stderr
    assert b"sparsemaps compare " in done.stderr
    assert not (tmp_path / "other").exists()
    done = command("compare", tmp_path / "in.jsonl", "--label-field", "label", "--seconds", 0.1)
    assert done.returncode == 0, done.stderr
