"""``sparsemaps info`` names the map, its seed, scheme and width, in every file that is written."""

import json

import numpy as np
import pytest
from _data.rows import families
from _data.svmlight import write
from _scripts.commands import command

from sparsemaps import KernelProduct, MinHash
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.records._table import ENDINGS, FORMATS
from sparsemaps.text import HashingVectorizer, IdfWeights

MADE = ["minhash", "--n-hashes", 20, "--bits", 4, "--seed", 7]
MAP = {"map": "MinHash(bits=4, n_hashes=20)", "seed": "7", "scheme": "1", "width": "any"}


def told(path):
    done = command("info", path)
    assert done.returncode == 0, done.stderr
    return dict(line.split(None, 1) for line in done.stdout.decode().splitlines())


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.jsonl"
    records = [{"text": f"a b c d {n}", "label": "xy"[n % 2], "id": n} for n in range(6)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def assert_map(said, **more):
    expected = {**MAP, **more}
    scheme = expected.pop("scheme")
    assert said["scheme"].isdigit() == scheme.isdigit()
    assert {name: said.get(name) for name in expected} == expected


def test_codes_labels_and_their_record(texts, tmp_path):
    arguments = ["--texts", "word:3", "--label-field", "label", "--id-field", "id"]
    done = command("map", *MADE, *arguments, texts, "-o", f"{tmp_path}/out/", "--format", "npy")
    assert done.returncode == 0
    out = tmp_path / "out" / "texts.jsonl.npy"
    said = told(out)
    assert said["rows"] == "6"
    assert said["codes"] == "20 of 4 bits, 10 bytes per row"
    assert said["labels"] == "0: 3, 1: 3"
    words = said["texts"]
    assert words.startswith("HashingVectorizer(")
    assert "analyzer='word'" in words
    assert "ngram_range=(3, 3)" in words
    assert_map(said)


def test_qids_alone(tmp_path):
    (tmp_path / "in.svm").write_text("1 qid:4 1:1\n2 qid:4 2:1\n0 qid:5 1:1\n")
    out = tmp_path / "out.npy"
    assert command("map", *MADE, tmp_path / "in.svm", "-o", out, "--format", "npy").returncode == 0
    assert told(out)["qids"] == "3"


def test_text_that_says_so(tmp_path):
    write(tmp_path / "in.svm")
    arguments = ["map", *MADE, tmp_path / "in.svm", "-o"]
    assert command(*arguments, tmp_path / "out.svm", "--header").returncode == 0
    said = told(tmp_path / "out.svm")
    assert said["header"].startswith("sparsemaps map minhash --n-hashes 20 --bits 4 --seed 7 ")
    assert "map" not in said
    assert command(*arguments, f"{tmp_path}/out/").returncode == 0
    assert_map(told(tmp_path / "out" / "in.svm"))


@pytest.mark.parametrize("name", ["model", "model.npy", "model.svm"])
def test_models(texts, tmp_path, name):
    """Also under names that other files usually have."""
    arguments = ["--texts", "word:3", "--label-field", "label", "--C", "2"]
    done = command("train", *MADE, *arguments, texts, "-o", tmp_path / name)
    assert done.returncode == 0, done.stderr
    said = told(tmp_path / name)
    assert said["model"].startswith("KernelClassifier(")
    assert "C=2.0" in said["model"]
    assert said["classes"] == "2: 'x', 'y'"
    assert said["weights"] == str(20 * 2**4)
    assert "ngram_range=(3, 3)" in said["texts"]
    assert_map(said, width=said["width"])


@pytest.mark.parametrize(
    "spec", ["auto:5", "word:1-2", "code:3", "char:3", "char_wb:2-4", "byte:3", "word:1", None]
)
def test_ngrams_are_told_as_they_are_typed(texts, tmp_path, spec):
    """Of a token pattern, `texts` alone says which n-grams there are."""
    out = tmp_path / "out.npy"
    words = ["--texts", spec or "word:1", *(["--token-pattern", r"\w+"] if spec is None else [])]
    done = command("map", *MADE, *words, texts, "-o", out, "--format", "npy")
    assert done.returncode == 0, done.stderr
    assert told(out).get("ngrams") == spec
    model = KernelClassifier(MinHash(n_hashes=8), vectorizer=spec or HashingVectorizer(norm=None))
    model.fit(["some words", "of one kind"], [0, 1]).save(tmp_path / "model")
    assert told(tmp_path / "model").get("ngrams") == spec


def test_tables_of_frequencies(texts, tmp_path):
    """Those of a job, and weights that were fitted; a table that is cut short is an error."""
    done = command("map", "--idf", "3", "--texts", "word:1", texts, "-o", f"{tmp_path}/out/")
    assert done.returncode == 0, done.stderr
    said = told(tmp_path / "out.stages" / "frequencies.npy")
    assert (said["records"], said["largest"]) == ("6", "6 records in a bucket")
    assert "weights" not in said
    path = tmp_path / "words.idf"
    IdfWeights(power=3, n_buckets=64).fit(np.eye(5)).save(path)
    said = told(path)
    assert (said["records"], said["table"]) == ("5", "1 x 64 buckets of 4 bytes")
    assert said["weights"].startswith("IdfWeights(power=3.0, levels=16.0, n_buckets=64, ")
    path.write_bytes(path.read_bytes().replace(b'"n_records": 5', b'"n_records": 0'))
    assert b"words.idf is damaged: its table" in command("info", path).stderr


def test_where_probabilities_are_from(tmp_path):
    X, y = np.tile(np.eye(4), (3, 1)), np.tile([0, 0, 1, 1], 3)
    map = MinHash(n_hashes=20, bits=4, random_state=7)
    for loss, own in (("hinge", "none"), ("log_loss", "by the loss log_loss")):
        model = KernelClassifier(map, loss=loss, random_state=0).fit(X, y)
        model.save(tmp_path / "model")
        assert told(tmp_path / "model")["probas"] == own
        model.calibrate(X, y).save(tmp_path / "model")
        assert told(tmp_path / "model")["probas"] == "calibrated"


def test_models_of_numbers_and_of_many_classes(tmp_path):
    map = MinHash(n_hashes=20, bits=4, random_state=7)
    KernelRegressor(map, epsilon=0.25).fit(np.eye(30), np.arange(30)).save(tmp_path / "numbers")
    said = told(tmp_path / "numbers")
    assert said["model"].startswith("KernelRegressor(")
    assert "epsilon=0.25" in said["model"]
    assert not {"classes", "probas"} & said.keys()
    assert_map(said, width="30")
    rows, labels = np.tile(np.eye(30), (3, 1)), np.tile(np.arange(30.0), 3)
    KernelClassifier(map).fit(rows, labels).save(tmp_path / "classes")
    said = told(tmp_path / "classes")
    assert said["classes"] == f"30: {', '.join(str(n) for n in range(20))}, ..."
    assert said["weights"] == str(30 * 20 * 2**4)


def test_a_damaged_model(tmp_path):
    map = MinHash(n_hashes=20, bits=4, random_state=7)
    path = tmp_path / "model"
    KernelRegressor(map).fit(np.eye(3), np.arange(3)).save(path)
    path.write_bytes(path.read_bytes().replace(b'"n_iter"', b'"n_ites"'))
    done = command("info", path)
    assert done.returncode == 2
    assert b"model is damaged" in done.stderr


@pytest.mark.parametrize("rerank", [False, True])
def test_an_index(tmp_path, rerank):
    X = families(1500)
    new_map = MinHash(n_hashes=64, random_state=7)
    index = KernelNeighbors(new_map, radius=0.2, rerank=rerank).fit(X)
    index.save(tmp_path / "index.npy")
    said = told(tmp_path / "index.npy")
    n_empty = np.count_nonzero(np.diff(X.indptr) == 0)
    assert said["rows"] == f"1500 ({n_empty} without samples)"
    assert said["index"].startswith("version 1, n_neighbors=5, radius=0.2, ")
    bands = index._index_rows.state.bands
    expected = None if bands is None else f"{bands.n_bands} bands of {bands.length} codes"
    assert said.get("tables") == expected
    assert rerank or bands is not None
    about = {"map": "MinHash(bits=8, n_hashes=64)", "width": "5000"}
    assert_map(said, **about)


def test_codes_of_products_and_plain_arrays(tmp_path):
    product = KernelProduct(random_state=3).fit_any_width()
    codes = product.encode(families(10), packed=True)
    codes.save(tmp_path / "codes.npy")
    said = told(tmp_path / "codes.npy")
    assert said["map"].startswith("KernelProduct(maps=((")
    assert "SignProjection(" in said["map"]
    assert said["seed"] == "3"
    np.save(tmp_path / "plain.npy", codes.array)
    assert "does not name" in told(tmp_path / "plain.npy")["codes"]
    whole = (tmp_path / "codes.npy").read_bytes()
    (tmp_path / "codes.npy").write_bytes(whole[:-1])
    done = command("info", tmp_path / "codes.npy")
    assert done.returncode == 2
    assert b"codes.npy is damaged: expected" in done.stderr


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("plain.npy", np.zeros((2, 3), np.uint16)),
        ("plain.npy", np.asfortranarray(np.zeros((2, 3), np.uint8))),
    ],
)
def test_arrays_of_other_kinds(tmp_path, name, array):
    np.save(tmp_path / name, array)
    done = command("info", tmp_path / name)
    assert done.returncode == 2
    start = f"sparsemaps: {tmp_path / name} is damaged: expected"
    assert done.stderr.decode().startswith(start)


@pytest.mark.parametrize("ending", [".labels.npy", ".qids.npy"])
def test_another_number_of_labels_than_of_rows(tmp_path, ending):
    codes = MinHash(random_state=3).fit_any_width().encode(families(10), packed=True)
    codes.save(tmp_path / "codes.npy")
    np.save(tmp_path / f"codes.npy{ending}", np.zeros(len(codes) - 1))
    done = command("info", tmp_path / "codes.npy")
    assert done.returncode == 2
    assert f"codes.npy{ending} is damaged: expected numbers of shape".encode() in done.stderr


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_files_of_texts(tmp_path, ending):
    """The command that the error names says more, but of lines, which may be LIBSVM text."""
    path = tmp_path / f"in{ending}"
    path.write_text("some words\n")
    done = command("info", path)
    assert done.returncode == 2
    assert b"; info describes LIBSVM files" in done.stderr.replace(b", and info", b"; info")
    if not FORMATS["txt"].endings.count(ending):
        assert f"'sparsemaps text {path} --field FIELD -o - |".encode() in done.stderr


def test_a_directory(tmp_path):
    said = command("info", tmp_path).stderr.decode()
    assert f"{tmp_path} is a directory: name a file of it; info describes LIBSVM files" in said


@pytest.mark.parametrize("name", ["report.html", "labels.tsv", "noise", "rows.svm"])
def test_files_of_no_kind(tmp_path, name):
    path = tmp_path / name
    path.write_text("<a>\t1\n")
    assert b"line 1, column 1: expected " in (said := command("info", path).stderr)
    assert said.endswith(
        b"; info describes LIBSVM files, codes, indexes, models and tables of frequencies\n"
    )
    path.write_text("1 1:1\n1 1:x\n")
    assert b"; info describes" not in command("info", path).stderr


@pytest.mark.parametrize(
    "ending", [".labels.npy", ".qids.npy", ".classes.tsv", ".ids.txt", ".json"]
)
def test_files_beside_an_output(tmp_path, ending):
    path = tmp_path / f"codes.npy{ending}"
    path.write_text("0 1:1\n")
    done = command("info", path)
    assert done.returncode == 2
    start = f"sparsemaps: {path}: expected a LIBSVM file, codes, an index or a model; info of an"
    assert done.stderr.decode().startswith(start)
