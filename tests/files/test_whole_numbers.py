"""Whole numbers of records keep all their digits, or are refused: labels, and numbers that order
records."""

import contextlib
import io
import itertools
import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparsemaps import MinHash
from sparsemaps._tools._whole_numbers import MixedNumbers, are_equal, array_of, joined
from sparsemaps.cli import main
from sparsemaps.files import (
    Texts,
    deduplicate_files,
    filter_files,
    map_files,
    predict_files,
    train_files,
)
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.text._analyzers import vectorizer_of

LEAST, LARGEST = -(2**63), 2**64 - 1
MINHASH = MinHash(n_hashes=32, random_state=0)
VECTORIZER = vectorizer_of("word:1", binary=True)
KINDS = ("jsonl", "svm", "csv", "int64", "uint64", "decimal", "arrow")


def near_powers(least, largest):
    """Whole numbers of every size, and many near powers of two."""
    near = st.builds(
        lambda sign, power, more: sign * 2**power + more,
        st.sampled_from([-1, 1]), st.sampled_from([0, 24, 31, 32, 52, 53, 54, 62, 63, 64]),
        st.integers(-3, 3),
    )  # fmt: skip
    return st.one_of(near, st.integers(least, largest)).filter(lambda n: least <= n <= largest)


def write(folder, kind, labels):
    """A file of records with these labels, the text or row of each of which tells its label."""
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    if kind == "svm":
        path = folder / "in.svm"
        rows = (f"{label} {numbers[label] + 1}:1\n" for label in labels)
        path.write_text("".join(rows))
        return path
    texts = [f"only{numbers[label]}" for label in labels]
    if kind == "jsonl":
        path = folder / "in.jsonl"
        records = ({"text": text, "y": y} for text, y in zip(texts, labels, strict=True))
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path
    if kind == "csv":
        path = folder / "in.csv"
        lines = (f"{text},{y}\n" for text, y in zip(texts, labels, strict=True))
        path.write_text("text,y\n" + "".join(lines))
        return path
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    if kind == "arrow":
        table = pa.table({"text": texts, "y": pa.array(labels, pa.decimal256(40, 0))})
        with pa.ipc.new_file(folder / "in.arrow", table.schema) as file:
            file.write_table(table)
        return folder / "in.arrow"
    kinds = {"int64": pa.int64(), "uint64": pa.uint64(), "decimal": pa.decimal128(25, 0)}
    path = folder / "in.parquet"
    parquet.write_table(pa.table({"text": texts, "y": pa.array(labels, kinds[kind])}), path)
    return path


def holds(kind, label):
    return {"int64": label < 2**63, "uint64": label >= 0}.get(kind, True)


@pytest.mark.parametrize("kind", KINDS)
@given(
    labels=st.lists(near_powers(LEAST, LARGEST), min_size=2, max_size=5, unique=True),
    data=st.data(),
)
@settings(
    max_examples=10, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)  # fmt: skip
def test_labels_keep_all_digits(tmp_path, kind, labels, data):
    """As many classes as there are labels, and each record gets the label that it has."""
    labels = [label for label in labels if holds(kind, label)]
    if len(labels) < 2:
        return
    of_records = labels * 2 + [data.draw(st.sampled_from(labels))]
    path = write(tmp_path, kind, of_records)
    is_text = kind != "svm"
    source = Texts("word:1", label_field="y") if is_text else None
    model = KernelClassifier(MINHASH, vectorizer=VECTORIZER if is_text else None, random_state=0)
    if min(labels) < 0 and max(labels) >= 2**63:
        with pytest.raises(ValueError, match="have no common type"):
            train_files(model, path, tmp_path / "model", source=source)
        return
    trained = train_files(model, path, tmp_path / "model", source=source).model
    loaded = KernelClassifier.load(tmp_path / "model")
    for classes in (trained.classes_, loaded.classes_):
        assert sorted(map(int, classes.tolist())) == sorted(labels)
    out = io.BytesIO()
    predict_files(loaded, path, out)
    found = [line.split(b"\t")[1].decode() for line in out.getvalue().splitlines()[1:]]
    assert found == list(map(str, of_records))
    if kind in ("jsonl", "svm", "csv"):
        kept = io.BytesIO()
        filter_files(loaded, path, kept, label=labels[0])
        lines = path.read_bytes().splitlines(keepends=True)
        header = [lines.pop(0)] if kind == "csv" else []
        expected = [line for line, y in zip(lines, of_records, strict=True) if y == labels[0]]
        assert kept.getvalue() == b"".join(header + expected)
    for format in ("svmlight", "npy"):
        mapped = tmp_path / f"mapped.{format}"
        map_files(MINHASH, path, mapped, source=source, format=format)
        if format == "svmlight":
            lines = mapped.read_text().splitlines()
            assert [line.split()[0] for line in lines] == list(map(str, of_records))
            check_loaded(mapped, of_records)
        again = KernelClassifier(MINHASH, random_state=0)
        again = train_files(again, mapped, tmp_path / "again").model
        assert sorted(map(int, again.classes_.tolist())) == sorted(labels)


def check_loaded(path, labels):
    """Loading gives float64, as scikit-learn's function does; writing refuses other digits."""
    X, y = load_svmlight_file(path)
    assert y.dtype == np.float64
    assert y.tolist() == [float(label) for label in labels]
    whole = array_of(labels)
    is_held = all(int(float(label)) == label < 2**63 for label in labels)
    written = io.BytesIO()
    with contextlib.nullcontext() if is_held else pytest.raises(ValueError, match=r"exactly|most"):
        dump_svmlight_file(X, whole, written)
        assert load_svmlight_file(io.BytesIO(written.getvalue()))[1].tolist() == y.tolist()


@pytest.mark.parametrize("kind", KINDS[:2])
@pytest.mark.parametrize("label", [2**64, -(2**63) - 1, 10**30, 10**310])
def test_numbers_beyond_64_bits_are_refused(tmp_path, kind, label):
    (tmp_path / "in.jsonl").write_text(
        '{"text": "a", "y": 1}\n' + f'{{"text": "b", "y": {label}}}\n'
    )
    (tmp_path / "in.svm").write_text(f"1 1:1\n{label} 2:1\n")
    path = tmp_path / f"in.{kind}"
    vectorizer, source = (None, None)
    if kind == "jsonl":
        vectorizer, source = VECTORIZER, Texts(label_field="y")
    model = KernelClassifier(MINHASH, vectorizer=vectorizer, random_state=0)
    for make in (
        lambda: train_files(model, path, tmp_path / "out", source=source),
        lambda: map_files(MINHASH, path, tmp_path / "out", source=source),
    ):
        with pytest.raises(ValueError, match=rf"in\.{kind}: line 2.*at most 64 bits") as caught:
            make()
        assert label > 10**40 or f"{label}" in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["jsonl", "svm"])
@pytest.mark.parametrize("n_between", [0, 30_000])
@pytest.mark.parametrize("whole_first", [False, True])
def test_fractions_beside_large_whole_numbers(tmp_path, kind, n_between, whole_first):
    """They have no type in common, in one block of lines or in several."""
    labels = ["0.5", *["1"] * n_between, str(2**53 + 1)]
    labels = labels[::-1] if whole_first else labels
    lines = (f'{{"text": "a", "y": {label}}}\n' if kind == "jsonl" else f"{label} 1:1\n"
             for label in labels)  # fmt: skip
    (tmp_path / f"in.{kind}").write_text("".join(lines))
    is_text = kind == "jsonl"
    source = Texts("word:1", label_field="y") if is_text else None
    model = KernelRegressor(MINHASH, vectorizer=VECTORIZER if is_text else None, random_state=0)
    path = tmp_path / f"in.{kind}"
    with pytest.raises(ValueError, match=rf"in\.{kind}: .*{2**53 + 1} and 0.5 have no common"):
        train_files(model, path, tmp_path / "model", source=source)
    with pytest.raises(ValueError, match=rf"{2**53 + 1} and 0.5 have no common"):
        map_files(MINHASH, path, tmp_path / "out", source=source, format="npy")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_labels_that_come_late(tmp_path):
    """The labels before are converted when a larger one comes, whatever stands between."""
    n = 300_000
    labels = [*range(n), 2**53 + 1, *range(9), 2**64 - 1, 5]
    (tmp_path / "in.svm").write_text("".join(f"{label} 1:1\n" for label in labels))
    map_files(MinHash(n_hashes=1), tmp_path / "in.svm", tmp_path / "out", format="npy")
    found = np.load(tmp_path / "out.labels.npy")
    assert found.dtype == np.uint64
    np.testing.assert_array_equal(found, np.array(labels, np.uint64))


def test_several_labels_and_query_ids(tmp_path):
    lines = [f"{2**53 + 1},3,{-(2**62) - 1} qid:{2**62 + 1} 1:1", f"{2**60 + 1} qid:2 2:1"]
    (tmp_path / "in.svm").write_text("\n".join(lines) + "\n")
    map_files(MINHASH, tmp_path / "in.svm", tmp_path / "out")
    found = (tmp_path / "out").read_text().splitlines()
    assert [line.split()[:2] for line in found] == [line.split()[:2] for line in lines]


def test_validation_compares_all_digits(tmp_path, capsys):
    y = [2**53, 2**53 + 1]
    write(tmp_path, "svm", y * 5)
    (tmp_path / "other.svm").write_text(f"{2**53}.0 1:1\n{2**53}.0 2:1\n")
    model = str(tmp_path / "model")
    args = ["train", "minhash", str(tmp_path / "in.svm"), "-o", model, "--validation"]
    assert not main([*args, str(tmp_path / "in.svm")])
    assert "10 records, accuracy 1.0000" in capsys.readouterr().out
    assert not main([*args, str(tmp_path / "other.svm")])
    assert "2 records, accuracy 0.5000" in capsys.readouterr().out


# ---- the order of records ------------------------------------------------------------------------

ORDERED = near_powers(-(2**100), 2**100)


@given(keys=st.lists(st.one_of(ORDERED, st.none(), st.floats(-1e30, 1e30)), min_size=1, max_size=8))
@settings(
    max_examples=25, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
def test_the_largest_number_is_kept(tmp_path, keys):
    lines = [
        json.dumps({"text": "a b c d e f", "n": row} | ({} if key is None else {"key": key})) + "\n"
        for row, key in enumerate(keys)
    ]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    out = io.BytesIO()
    numbers = [(key, -row) for row, key in enumerate(keys) if key is not None]
    if not numbers:
        with pytest.raises(ValueError, match="no record has a number in it"):
            deduplicate_files(MINHASH, tmp_path / "in.jsonl", out, keep="key")
        return
    deduplicate_files(MINHASH, tmp_path / "in.jsonl", out, keep="key")
    best = -max(numbers)[1]  # Python compares int and float exactly
    assert json.loads(out.getvalue())["n"] == best


def test_an_order_of_more_digits_is_refused(tmp_path):
    (tmp_path / "in.jsonl").write_text(f'{{"text": "a", "key": {2**120 + 2**60 + 1}}}\n')
    with pytest.raises(ValueError, match=r"line 1: expected a number below 2\*\*106 in the field"):
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out", keep="key")


def test_an_order_of_columns_of_integers(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    keys = [2**53, 2**53 + 1, None, 2**53 - 1]
    for kind in (pa.int64(), pa.uint64(), pa.decimal128(20, 0)):
        table = pa.table({"text": ["a b c d e f"] * 4, "key": pa.array(keys, kind)})
        parquet.write_table(table, tmp_path / "in.parquet")
        for name in ("in", "out"):
            path = tmp_path / f"{name}.parquet"
            if name == "in":
                deduplicate_files(MINHASH, path, tmp_path / "out.parquet", keep="key", resume=False)
        assert parquet.read_table(tmp_path / "out.parquet")["key"].to_pylist() == [2**53 + 1]


# ---- arrays --------------------------------------------------------------------------------------


@given(st.lists(st.one_of(near_powers(LEAST, LARGEST), st.floats(-1e20, 1e20)), min_size=1))
@settings(max_examples=200, deadline=None)
def test_arrays_hold_what_they_are_made_of(numbers):
    """However the numbers are cut, they make the same array, or none."""

    def made(make):
        try:
            return make()
        except MixedNumbers:
            return None

    whole = made(lambda: array_of(numbers))
    if whole is not None:
        assert whole.tolist() == numbers  # exactly, as Python compares
    for cut in (1, 2, 3):
        parts = made(
            lambda cut=cut: joined([array_of(numbers[i : i + cut])
                                    for i in range(0, len(numbers), cut)])
        )  # fmt: skip
        assert (parts is None) == (whole is None)
        if whole is not None:
            assert parts.dtype == whole.dtype
            assert parts.tolist() == numbers


def test_joined_of_other_types():
    some = np.array([1, 2], np.int32), np.array([1.5]), np.array([True]), np.array([2**40])
    for one, other in itertools.product(some, repeat=2):
        found = joined([one, other])
        assert found.tolist() == [*one.tolist(), *other.tolist()]
    assert joined([np.array(["a"]), np.array(["bc"])]).tolist() == ["a", "bc"]
    assert are_equal(np.array([2**53 + 1]), np.array([2.0**53])).tolist() == [False]
    assert are_equal(np.array([5]), np.array([5.0])).tolist() == [True]


@pytest.mark.parametrize("large", [2**62 + 1, -(2**62) - 1])
def test_the_error_names_the_number_of_most_digits(large):
    with pytest.raises(MixedNumbers, match=f"the numbers {large} and 0.5 have"):
        joined([np.array([large, 3]), np.array([0.5])])
