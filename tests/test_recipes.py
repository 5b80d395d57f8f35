"""The recipes of the documentation run as they stand there, where their library is installed."""

import json
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from _data.chance import SEED
from _data.clocks import Ticking
from sklearn.datasets import load_digits

from sparsemaps import MinHash
from sparsemaps._loops import rows as _compiled
from sparsemaps.codes import PackedCodes, collisions, kernel_from_collisions
from sparsemaps.comparison._budget import Budget
from sparsemaps.kernels import min_max_kernel
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.text._analyzers import vectorizer_of

DOCS = Path(__file__).parents[1] / "docs"
RECIPES = dict(
    recipe
    for page in (DOCS / "recipes.md", DOCS / "counts.md")
    if page.exists()
    for recipe in re.findall(
        r"<!-- recipe: (.*?) -->\n```python\n(.*?)```", page.read_text("utf-8"), re.S
    )
)

of_documentation = pytest.mark.skipif(not RECIPES, reason="no documentation here")

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


def test_csv_of_mixed_columns(monkeypatch):
    """With an empty cell, and categories that are strings."""
    pandas = pytest.importorskip("pandas")
    monkeypatch.setattr("sparsemaps.comparison.Budget", lambda seconds: Budget(0.5, Ticking()))
    rows = [f"{n},{'ab'[n % 2]},{n % 3},{['no', 'yes'][n % 2]}\n" for n in range(40)]
    Path("customers.csv").write_text("".join(["age,plan,visits,churn\n", ",a,1,no\n", *rows]))
    found = run("csv of mixed columns")
    assert found["model"].predict(found["X"][:2]).tolist() == ["no", "no"]
    assert not pandas.isna(found["X"]).any(axis=None)


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


def kmers(sequence, k):
    """Counts of k-mers on both strands."""
    strands = sequence, sequence.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    found = (strand[i : i + k] for strand in strands for i in range(len(strand) - k + 1))
    return Counter(kmer for kmer in found if "N" not in kmer)


def similarity(a, b):
    """The sum of the smaller counts over that of the larger ones."""
    return (a & b).total() / (a | b).total()


def of_chance(n_letters, letters):
    return "".join(np.random.default_rng(SEED).choice([*letters], n_letters))


@of_documentation
def test_counts_at_any_column():
    counts = [{2**32 - 1: 3, 7: 1}, {}, {7: 2, 0: 5}]
    rows = run("counts")["rows_of"](counts)
    assert rows.shape == (3, 2**32)
    kernel = min_max_kernel(rows)
    for i, j in ((0, 2), (0, 0), (2, 2)):
        expected = similarity(Counter(counts[i]), Counter(counts[j]))
        assert kernel[i, j] == pytest.approx(expected, rel=1e-6)


@of_documentation
def test_molecules():
    chem = pytest.importorskip("rdkit.Chem")
    data_structs = pytest.importorskip("rdkit.DataStructs")
    smiles = ["C" * n + end for n in range(2, 12) for end in ("O", "N", "(=O)O", "c1ccccc1")]
    y = np.array([chem.MolFromSmiles(each).GetNumAtoms() for each in smiles], float)
    found = run("counts", "molecules", smiles=smiles, y=y)
    assert np.corrcoef(found["predicted"], y)[0, 1] > 0.95
    molecules, nearest = found["molecules"], found["nearest"]
    tanimoto = [data_structs.BulkTanimotoSimilarity(each, molecules) for each in molecules]
    similarities = 1 - found["distances"]
    assert np.allclose(np.take_along_axis(np.array(tanimoto), nearest, 1), similarities)


@of_documentation
def test_strands_are_compared_by_their_kmers():
    found = run("strands")
    sequence = of_chance(900, "ACGT")
    others = sequence[450:] + "N" + sequence[:300], sequence[::-1], sequence[:899] * 2
    reverse = found["both_strands"](sequence).partition(" ")[2]
    texts = [*map(found["both_strands"], (sequence, reverse, *others))]
    codes = found["cws"].encode_texts(found["words"], texts)
    estimates, errors = kernel_from_collisions(collisions(codes, codes, 8), 512, 8, return_std=True)
    assert estimates[0, 1] == 1
    for column, other in enumerate(others, start=2):
        exact = similarity(kmers(sequence, 7), kmers(other, 7))
        assert abs(estimates[0, column] - exact) < 5 * errors[0, column]


@of_documentation
def test_sequences():
    pytest.importorskip("Bio")
    genes = [of_chance(600, letters) for letters in ("ACGT", "AACGT", "ACGTT", "AACCGT")]
    mutated = [gene[:300] + gene[310:] for gene in genes]
    lines = [f">{name}\n{gene}\n" for name, gene in enumerate(genes + mutated)]
    Path("sequences.fasta").write_text("".join(lines))
    assert run("strands", "sequences")["nearest"][:4, 1].tolist() == [4, 5, 6, 7]


@of_documentation
def test_programs():
    rng = np.random.default_rng(SEED)
    names = [f"symbol {n} of {n % 7}" for n in range(300)]
    for number in range(3):
        chosen = names[100 * number : 100 * number + 100]
        for copy, kept in (("a", chosen), ("b", chosen[10:])):
            noise = rng.integers(128, 256, (len(kept), 20), np.uint8)
            lines = [line.tobytes() + name.encode() for line, name in zip(noise, kept, strict=True)]
            Path(f"{number}{copy}").write_bytes(b"\0".join(lines))
    paths = sorted(Path().iterdir())
    found = run("programs", paths=paths)
    assert found["strings"](paths[0]).decode().split("\n") == names[:100]
    assert found["nearest"][:, 1].tolist() == [1, 0, 3, 2, 5, 4]


@of_documentation
def test_imports():
    pytest.importorskip("elftools")
    if sys.platform != "linux":
        pytest.skip("programs of other systems are not ELF")
    names = run("imports")["imports"](_compiled.__file__).split("\n")
    assert any(name.startswith("Py") for name in names)


@of_documentation
def test_recipes_are_short():
    assert len(RECIPES) >= 22
    for name, code in RECIPES.items():
        assert sum(bool(line) for line in code.splitlines()) <= 15, name
