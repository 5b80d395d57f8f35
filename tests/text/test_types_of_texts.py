"""The types that texts, labels and ids may have: the same on every road."""

import decimal
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sparsemaps import MinHash
from sparsemaps._loops import text as _text
from sparsemaps.files import Texts, map_files, train_files
from sparsemaps.linear import KernelClassifier
from sparsemaps.records import _columns
from sparsemaps.text import ByteNgrams, HashingVectorizer, iter_records
from sparsemaps.text._analyzers import vectorizer_of

pa = pytest.importorskip("pyarrow", minversion="19")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS = ["a b", "", "é c d", "a text that has more than twelve bytes", "a b"]
BYTES = [text.encode() for text in TEXTS]

ARROW = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
}
"""Arrow's types of texts, by the names of its tests of types."""

ENCODED = ("string", "large_string", "binary")
"""Types whose values are numbered in a dictionary."""

BYTES_OF = {"string": "binary", "large_string": "large_binary", "string_view": "binary_view"}
"""Types of the bytes of strings."""


def arrow_columns():
    for name, kind in ARROW.items():
        column = pa.array(TEXTS).cast(pa.binary()).cast(kind) if "b" in name else pa.array(TEXTS)
        column = column.cast(kind)
        yield name, column
        yield f"chunks of {name}", pa.chunked_array([column[:2], column[2:2], column[2:]])
        if name in ENCODED:
            encoded = column.dictionary_encode()
            yield f"dictionary of {name}", encoded
            yield f"chunks of a dictionary of {name}", pa.chunked_array([encoded[:2], encoded[2:]])


def in_memory():
    """Texts in the containers of Python's libraries."""
    yield "list", TEXTS
    yield "list of bytes", BYTES
    yield "list of NumPy's str", [np.str_(text) for text in TEXTS]
    yield "tuple", tuple(TEXTS)
    yield "generator", (text for text in TEXTS)
    yield "NumPy objects", np.array(TEXTS, object)
    yield "NumPy objects of bytes", np.array(BYTES, object)
    yield "NumPy strings", np.array(TEXTS)
    yield "NumPy bytes", np.array(BYTES)
    if hasattr(np.dtypes, "StringDType"):  # from NumPy 2 on
        yield "NumPy variable strings", np.array(TEXTS, np.dtypes.StringDType())
    for dtype in (None, object, "string[python]", "string[pyarrow]", "category"):
        yield f"pandas {dtype}", pd.Series(TEXTS, dtype=dtype)
    for name in ("string", "large_string", "binary"):
        values = BYTES if name == "binary" else TEXTS
        yield f"pandas Arrow {name}", pd.Series(values, dtype=pd.ArrowDtype(ARROW[name]))
    yield "pandas index", pd.Index(TEXTS)
    yield "polars", pl.Series(TEXTS)
    yield "polars bytes", pl.Series(BYTES)
    yield "polars categories", pl.Series(TEXTS, dtype=pl.Categorical)
    yield "polars enum", pl.Series(TEXTS, dtype=pl.Enum(list(dict.fromkeys(TEXTS))))


def test_the_list_of_types_is_one():
    """A type that a road takes stands above, and so is tried on all roads."""
    assert set(_columns.STRINGS) == set(ARROW)
    assert len(_text.TEXTS + _text.BYTES) == len(ARROW)


WORDS = vectorizer_of("word:1", binary=True)
MINHASH = MinHash(n_hashes=16, random_state=0).fit_any_width()


def roads_in_memory():
    yield HashingVectorizer().transform
    yield HashingVectorizer(token_pattern="[a-z]+", strip_accents="unicode").transform
    yield ByteNgrams().transform
    yield lambda texts: MINHASH.encode_texts(WORDS, texts, packed=True).array


def as_array(found):
    return found if isinstance(found, np.ndarray) else (found.data, found.indices, found.indptr)


@pytest.mark.parametrize("road", range(4))
def test_roads_in_memory(road):
    roads = list(roads_in_memory())
    expected = as_array(roads[road](TEXTS))
    for name, texts in (*in_memory(), *arrow_columns()):
        found = as_array(roads[road](texts))
        np.testing.assert_equal(found, expected, err_msg=name)


def write(path, columns):
    try:
        parquet.write_table(pa.table(columns), path)
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow does not write the type")


@pytest.mark.parametrize("name", [name for name, _ in arrow_columns()])
def test_columns_of_parquet(tmp_path, name):
    """As text, as label and as id; read by batches, mapped and trained on."""
    column = dict(arrow_columns())[name]
    write(tmp_path / "in.parquet", {"text": column, "y": column, "id": column})
    (batch,) = iter_records(tmp_path / "in.parquet", label_field="y", id_field="id")
    assert batch.texts.to_pylist() == batch.labels == batch.ids == TEXTS
    source = Texts("word:1", label_field="y", id_field="id")
    write(tmp_path / "other.parquet", {"text": TEXTS, "y": TEXTS, "id": TEXTS})
    for path in ("in", "other"):
        file = tmp_path / f"{path}.parquet"
        map_files(MINHASH, file, tmp_path / f"{path}.svm", source=source)
        model = KernelClassifier(MINHASH, vectorizer=WORDS, random_state=0)
        train_files(model, file, tmp_path / f"{path}.model", source=source)
    for ending in ("svm", "svm.classes.tsv", "model"):
        one, other = (tmp_path / f"{path}.{ending}" for path in ("in", "other"))
        assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("name", [name for name, _ in arrow_columns()])
@pytest.mark.parametrize("role", ["text", "y", "id"])
def test_nulls_and_bytes_that_are_not_utf8(tmp_path, name, role):
    """One error names the row."""
    kind = dict(arrow_columns())[name].type
    columns = {"text": TEXTS, "y": TEXTS, "id": TEXTS}
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    bad = {
        "found null": [b"a"] * 3 + [None],
        "expected UTF-8; found byte 0xff": [b"a"] * 3 + [b"\xff"],
    }
    for reason, values in bad.items():
        of_bytes = ARROW.get(BYTES_OF.get(str(plain)), plain)
        column = pa.array(values, pa.binary()).cast(of_bytes).view(plain)
        column = column.dictionary_encode() if "dictionary" in name else column
        write(
            tmp_path / "in.parquet",
            {one: values[:4] for one, values in columns.items()} | {role: column},
        )
        with pytest.raises(ValueError, match=rf"in\.parquet: row 4: .*{reason}"):
            list(iter_records(tmp_path / "in.parquet", label_field="y", id_field="id"))


NUMBERS = {
    **{name: (kind, [0, 1, 5, 100]) for name, kind in (
        *((f"{sign}int{bits}", getattr(pa, f"{sign}int{bits}")())
          for sign in ("", "u") for bits in (8, 16, 32, 64)),
        ("float", pa.float32()), ("double", pa.float64()), ("decimal", pa.decimal128(9, 2)),
        ("decimal of 256 bits", pa.decimal256(50, 3)), ("half", pa.float16()),
    )},
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("is_encoded", [False, True])
def test_columns_of_numbers(tmp_path, name, is_encoded):
    """They are labels and ids, and order records."""
    kind, numbers = NUMBERS[name]
    values = [np.float16(number) for number in numbers] if name == "half" else numbers
    if "decimal" in name:
        values = list(map(decimal.Decimal, numbers))
    column = pa.array(values, kind)
    if is_encoded:
        if name == "half" or "256" in name:
            pytest.skip("Arrow does not encode them")
        column = column.dictionary_encode()
    write(tmp_path / "in.parquet", {"text": ["a"] * 4, "y": column, "id": column})
    (batch,) = iter_records(tmp_path / "in.parquet", label_field="y", id_field="id")
    assert batch.labels == batch.ids == numbers
    assert all(type(label) is float for label in batch.labels)
    if name in ("float", "double") and not is_encoded:
        return
    model = KernelClassifier(MINHASH, vectorizer=WORDS, random_state=0)
    source = Texts(label_field="y")
    trained = train_files(model, tmp_path / "in.parquet", tmp_path / "out", source=source)
    assert trained.model.classes_.tolist() == numbers


# ---- booleans ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_booleans_are_labels(tmp_path, kind):
    """As in ``fit``: the classes are booleans; numbered, they are 0 and 1."""
    path = tmp_path / f"in.{kind}"
    labels = [True, False, True, False, True]
    if kind == "jsonl":
        records = (f'{{"text": "{text}", "y": {str(label).lower()}}}\n'
                   for text, label in zip(TEXTS, labels, strict=True))  # fmt: skip
        path.write_text("".join(records), encoding="utf-8")
    else:
        write(path, {"text": TEXTS, "y": labels})
    source = Texts("word:1", label_field="y")
    model = KernelClassifier(MINHASH, vectorizer=WORDS, random_state=0)
    trained = train_files(model, path, tmp_path / "model", source=source)
    expected = KernelClassifier(MINHASH, vectorizer=WORDS, random_state=0).fit(TEXTS, labels)
    loaded = KernelClassifier.load(tmp_path / "model")
    for classes in (trained.model.classes_, loaded.classes_):
        assert classes.dtype == expected.classes_.dtype == bool
    np.testing.assert_array_equal(loaded.predict(TEXTS), expected.predict(TEXTS))
    map_files(MINHASH, path, tmp_path / "out", source=source)
    numbers = [line.split()[0] for line in (tmp_path / "out").read_text().splitlines()]
    assert numbers == [str(int(label)) for label in labels]
    assert not (tmp_path / "out.classes.tsv").exists()


@pytest.mark.parametrize("kinds", [("true", "1"), ("1", "true"), ("true", '"a"'), ('"a"', "false")])
@pytest.mark.parametrize("sets_aside", [False, True])
def test_labels_are_of_one_kind(tmp_path, kinds, sets_aside):
    lines = [f'{{"text": "a", "y": {label}}}\n' for label in kinds]
    names = {"true": "a boolean", "false": "a boolean", "1": "a number", '"a"': "a string"}
    reason = f"line 2: expected {names[kinds[0]]} as label.*; found {names[kinds[1]]}"
    path = tmp_path / "in.jsonl"
    path.write_text("".join(lines))
    model = KernelClassifier(MINHASH, vectorizer=WORDS, random_state=0)
    more = {"bad_records": tmp_path / "aside"} if sets_aside else {}
    with pytest.raises(ValueError, match=reason):
        train_files(model, path, tmp_path / "model", source=Texts(label_field="y"), **more)
    with pytest.raises(ValueError, match=reason):
        list(iter_records(io.BytesIO("".join(lines).encode()), label_field="y", format="jsonl"))


@pytest.mark.parametrize("y", [[None, "a", "b"], ["a", None, "b"], [1, 2, None]])
def test_none_is_no_label(y):
    model = KernelClassifier(MINHASH, vectorizer=WORDS, random_state=0)
    with pytest.raises(ValueError, match=f"y must have .*, got None in row {y.index(None)}"):
        model.fit(["a", "b", "c"], y)
