"""The recipes of the documentation run as they stand there, where their library is installed."""

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sparsemaps import MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.text._analyzers import vectorizer_of

PAGE = Path(__file__).parents[1] / "docs" / "recipes.md"
RECIPES = (
    dict(re.findall(r"<!-- recipe: (.*?) -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.S))
    if PAGE.exists()
    else {}
)

TEXTS = [f"text {i // 2}, whose copy has the number {i // 2} and {i // 2} again" for i in range(20)]
"""Every second text is equal to the one before it; no others share five words."""


def write_inputs():
    """The files that recipes read: texts, and rows of LIBSVM."""
    lines = [json.dumps({"id": f"{i}", "text": text}) + "\n" for i, text in enumerate(TEXTS)]
    Path("texts.jsonl").write_text("".join(lines))
    Path("texts").mkdir()
    Path("texts/1.jsonl").write_text("".join(lines))
    Path("texts.csv").write_text("id,text\n" + "".join(f'{i},"{t}"\n' for i, t in enumerate(TEXTS)))
    Path("rows.csv").write_text("label,a,b\n1,0.5,0\n-1,0,2\n")
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    dump_svmlight_file(X[::2], y[::2], "train.svm", zero_based=False)
    dump_svmlight_file(X[1::2], y[1::2], "test.svm", zero_based=False)
    return {"X": X, "queries": X[:5]}


def write_parquet():
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"id": range(20), "text": TEXTS}), "texts.parquet")


def codes_of_texts():
    minhash = MinHash(random_state=0).fit_any_width()
    return minhash.encode_texts(vectorizer_of("word:5", binary=True), TEXTS, packed=True)


def run(*names, **values):
    """Run recipes one after the other; returns the names that they define."""
    for name in names:
        exec(compile(RECIPES[name], f"recipe {name}", "exec"), values)
    return values


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def is_codes(column):
    """Whether a column, of bytes or of lists of numbers, has the codes of the texts."""
    rows = np.array([np.frombuffer(bytes(row), np.uint8) for row in column])
    return np.array_equal(rows, codes_of_texts().array)


def read_coded(pattern):
    from pyarrow import dataset

    table = dataset.dataset(sorted(Path().glob(pattern))).to_table().sort_by("id")
    return table["codes"].to_pylist()


def check_datasets(found):
    assert is_codes(found["coded"]["codes"])
    assert list(found["unique"]["text"]) == TEXTS[::2]


def check_frame(found):
    assert is_codes(found["frame"]["codes"])
    assert list(found["unique"]["text"]) == TEXTS[::2]


def check_pyarrow(found):
    codes = PackedCodes.load("codes.npy")
    assert codes.config == codes_of_texts().config
    assert is_codes(codes.array)


def check_coded_file(found):
    assert is_codes(read_coded("coded.parquet"))


def check_ray(found):
    found["ray"].shutdown()
    assert is_codes(read_coded("coded/*.parquet"))


def check_engine(found):
    found["ray"].shutdown()
    kept = [json.loads(line)["text"] for line in Path("kept/1.jsonl").read_text().splitlines()]
    assert kept == TEXTS[::2]


def check_spark(found):
    found["spark"].stop()
    assert is_codes(read_coded("coded/*.parquet"))


@pytest.mark.filterwarnings("ignore")  # of other libraries
@pytest.mark.parametrize(
    ("recipe", "library", "check"),
    [
        ("datasets", "datasets", check_datasets),
        ("pandas", "pandas", check_frame),
        ("polars", "polars", check_frame),
        ("pyarrow", "pyarrow", check_pyarrow),
        ("duckdb", "duckdb", check_coded_file),
        ("ray", "ray", check_ray),
        ("engine", "ray", check_engine),
        ("spark", "pyspark", check_spark),
    ],
)
def test_texts_in_tables(recipe, library, check, monkeypatch):
    pytest.importorskip(library)
    if library == "pyspark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    monkeypatch.setenv("HF_HOME", "huggingface")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    write_inputs()
    write_parquet()
    check(run("codes", recipe))


@pytest.mark.filterwarnings("ignore")
def test_datatrove():
    pytest.importorskip("datatrove")
    write_inputs()
    run("codes", "datatrove", "datatrove, continued")
    lines = [line for path in Path("unique").iterdir() for line in path.read_text().splitlines()]
    assert [json.loads(line)["text"] for line in lines] == TEXTS[::2]


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb"])
def test_csv(library):
    pytest.importorskip(library)
    write_inputs()
    Path("texts.jsonl").unlink()
    run(f"csv by {library}")
    lines = Path("texts.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == TEXTS


def test_csv_of_numbers():
    pytest.importorskip("pandas")
    write_inputs()
    run("csv of numbers")
    X, y = load_svmlight_file("rows.svm", zero_based=False)
    assert X.toarray().tolist() == [[0.5, 0], [0, 2]]
    assert y.tolist() == [1, -1]


def test_liblinear():
    pytest.importorskip("liblinear")
    write_inputs()
    assert run("liblinear")["accuracy"] > 95


def test_xgboost():
    xgboost = pytest.importorskip("xgboost")
    write_inputs()
    model = run("xgboost")["model"]
    X, y = load_svmlight_file("test.svm", n_features=126, zero_based=False)
    assert np.mean((model.predict(xgboost.DMatrix(X)) > 0.5) == y) > 0.95


def test_faiss():
    pytest.importorskip("faiss")
    values = write_inputs()
    assert run("faiss", **values)["neighbours"][:, 0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not RECIPES, reason="no documentation here")
def test_recipes_are_short():
    assert len(RECIPES) >= 16
    for name, code in RECIPES.items():
        assert sum(bool(line) for line in code.splitlines()) <= 15, name
