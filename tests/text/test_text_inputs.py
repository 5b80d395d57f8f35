"""What texts may lie in, and what is no text."""

import io
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _data.strange_texts import strange_texts
from _oracles.hashed_texts import assert_equal
from sklearn.feature_extraction.text import HashingVectorizer as Theirs

from sparsemaps import MinHash
from sparsemaps.linear import KernelClassifier
from sparsemaps.text import ByteNgrams, HashingVectorizer, _inputs

pa = pytest.importorskip("pyarrow")

TEXTS = [text.rstrip("\0") for text in strange_texts(80)]  # NumPy drops NUL at the end
WAYS = [
    {},
    {"analyzer": "char_wb", "ngram_range": (1, 4)},
    {"strip_accents": "unicode", "ngram_range": (1, 2)},
    {"token_pattern": "[a-z]+", "stop_words": ["the"]},
]


class OneArray:
    """Shares an array by itself, not as a stream."""

    def __init__(self, array):
        self.array = array

    def __iter__(self):
        raise AssertionError

    def __arrow_c_array__(self, requested_schema=None):
        return self.array.__arrow_c_array__(requested_schema)


def containers():
    array = pa.array(["before", *TEXTS, "behind"])[1:-1]
    views = array.cast(pa.string_view())
    yield "generator", (text for text in TEXTS)
    yield "tuple", tuple(TEXTS)
    yield "objects", np.array(TEXTS, object)
    yield "strings", np.array(TEXTS)
    if hasattr(np.dtypes, "StringDType"):  # from NumPy 2 on
        yield "variable strings", np.array(TEXTS, np.dtypes.StringDType())
    yield "pandas", pd.Series(TEXTS)
    yield "pandas objects", pd.Series(TEXTS, dtype=object)
    if int(pd.__version__.split(".")[0]) >= 3:  # before, texts that begin with NUL are one category
        yield "pandas categories", pd.Series(TEXTS, dtype="category")
    yield "polars", pl.Series(TEXTS)
    yield "polars slice", pl.Series(["", *TEXTS])[1:]
    yield "utf8", array
    yield "large utf8", array.cast(pa.large_string())
    yield "views", views
    yield "array", OneArray(array)
    yield "array of views", OneArray(views)
    yield "binary", array.cast(pa.binary())
    yield "chunks", pa.chunked_array([array[:5], array[5:5], array[5:]])


@pytest.mark.parametrize("parameters", WAYS, ids=str)
def test_containers(parameters):
    expected = Theirs(**parameters).transform(TEXTS)
    for n_jobs in (None, 2):
        for name, texts in containers():
            found = HashingVectorizer(n_jobs=n_jobs, **parameters).transform(texts)
            assert_equal(found, expected), name


def test_containers_of_byte_ngrams():
    expected = ByteNgrams().transform([text.encode() for text in TEXTS])
    for name, texts in containers():
        if name != "pandas categories":
            assert_equal(ByteNgrams(n_jobs=2).transform(texts), expected), name


@pytest.mark.parametrize("parameters", WAYS, ids=str)
def test_bytes_and_files(parameters, tmp_path):
    texts = [text.replace("\r", "") for text in TEXTS]
    ways = [
        {"encoding": "utf-8"},
        {"encoding": "utf-8", "decode_error": "ignore"},
        {"encoding": "latin-1"},
        {"encoding": "ascii", "decode_error": "replace"},
        {"encoding": "utf-16"},
    ]
    for way in ways:
        coded = [
            text.encode("utf-16" if way["encoding"] == "utf-16" else "utf-8") for text in texts
        ]
        expected = Theirs(**parameters, **way).transform(coded)
        assert_equal(HashingVectorizer(**parameters, **way).transform(coded), expected)
        if way["encoding"] == "latin-1":
            names = [tmp_path / str(number) for number in range(len(coded))]
            for name, text in zip(names, coded, strict=True):
                name.write_bytes(text)
            by_name = HashingVectorizer(input="filename", n_jobs=2, **parameters, **way)
            assert_equal(by_name.transform(names), expected)
            assert_equal(by_name.transform(np.array(names).astype(str)), expected)
        by_file = HashingVectorizer(input="file", **parameters, **way)
        assert_equal(by_file.transform(map(io.BytesIO, coded)), expected)


@pytest.mark.parametrize("parameters", WAYS, ids=str)
@pytest.mark.parametrize(
    "wrong",
    [b"\xff\xfe", b"ab\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", None, np.nan, 3,
     ["a"], "ab\ud800 \udfff", bytearray(b"abc")],
    ids=repr,
)  # fmt: skip
def test_errors_are_theirs_with_the_texts_number(wrong, parameters):
    texts = ["a text"] * 7 + [wrong]
    try:
        expected = Theirs(**parameters).transform(texts)
    except ValueError as error:
        kind, message = type(error), str(error)
    except (AttributeError, TypeError):
        shown = "None" if wrong is None else type(wrong).__name__
        kind, message = ValueError, f"a text must be a str or bytes, got {shown}"
    else:  # surrogates that are in no token
        assert_equal(HashingVectorizer(**parameters).transform(texts), expected)
        return
    for n_jobs in (None, 2):
        with pytest.raises(kind) as found:
            HashingVectorizer(n_jobs=n_jobs, **parameters).transform(texts)
        assert str(found.value) == f"{message} (text 7)"


def test_what_is_no_collection_of_texts():
    with pytest.raises(ValueError, match="string object received") as told:
        Theirs().transform("text")
    with pytest.raises(ValueError, match="string object received") as found:
        HashingVectorizer().transform("text")
    assert str(found.value) == str(told.value)
    for wrong in (None, 5):
        with pytest.raises(TypeError, match=f"texts must be an iterable of texts, got {wrong}"):
            HashingVectorizer().transform(wrong)


def nothing():
    yield from ([], iter([]), np.array([], str), pd.Series([], dtype=str), pl.Series([], dtype=str))
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary()):
        empty = pa.array([], kind)
        yield from (empty, OneArray(empty), pa.chunked_array([], kind))
        yield from (pa.array(["a"], kind)[1:], pa.chunked_array([empty, empty]))


def test_no_text():
    """No texts make no rows. scikit-learn raises StopIteration, which ends a caller's generator."""
    minhash = MinHash(n_hashes=16, random_state=0)
    for vectorizer in (HashingVectorizer(n_features=32), ByteNgrams(ngram_range=(1, 1))):
        one = vectorizer.transform(["a text"])
        codes = minhash.fit(one).encode_texts(vectorizer, ["a text"], packed=True)
        model = KernelClassifier(minhash, vectorizer=vectorizer, random_state=0)
        model.fit(["a", "b", "c"], [0, 1, 2])
        for texts in nothing():
            found = vectorizer.transform(texts)
            assert found.shape == (0, one.shape[1])
            assert (type(found), found.dtype) == (type(one), one.dtype)
        for texts in nothing():
            found = minhash.encode_texts(vectorizer, texts, packed=True)
            assert (found.shape, found.config) == ((0, 16), codes.config)
        for texts in nothing():
            assert minhash.encode_texts(vectorizer, texts).shape == (0, 16)
        for texts in nothing():
            assert model.predict(texts).shape == (0,)
        for texts in nothing():
            assert model.decision_function(texts).shape == (0, 3)
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            model.fit([], [])
    assert HashingVectorizer(n_features=32, analyzer=str.split).transform([]).shape == (0, 32)


def test_null():
    for texts in (pa.array(["a", None]), pl.Series(["a", None]), pd.Series(["a", np.nan])):
        with pytest.raises(ValueError, match=r"np.nan is an invalid document.*\(text 1\)"):
            HashingVectorizer().transform(texts)
        with pytest.raises(ValueError, match=r"\(text 1\)"):
            ByteNgrams().transform(texts)


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (pa.array([1, 2]), "format 'l'"),
        (pa.array([None]), "format 'n'"),
        (pa.array([["a"]]), r"format '\+l'"),
        (pl.Series([1.5]), "format 'g'"),
        (pa.table({"a": ["b"]}), "one column, got a table"),
        (pl.DataFrame({"a": ["b"]}), "one column, got a table"),
        (pd.DataFrame({"a": ["b"]}), "one column, got a table"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_arrays_of_other_things(texts, found):
    for vectorizer in (HashingVectorizer(), ByteNgrams()):
        with pytest.raises(ValueError, match=found):
            vectorizer.transform(texts)


def buffers_of(n, offsets, data, kind):
    """An array of `n` strings in these buffers."""
    return pa.Array.from_buffers(kind, n, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


@pytest.mark.parametrize(
    "offsets", [[0, 2, 1, 3], [0, -1, 2, 3], [-5, 1, 2, 3], [0, 2**30, 2, 3], [0, 1, 2, -1]]
)
def test_arrow_offsets_that_are_not_sound(offsets):
    """pyarrow looks at some of them, so they change afterwards, as another thread can do it."""
    message = r"Arrow's offsets .* \(text \d\)" if offsets[3] > 0 else "Arrow array ends at -1"
    for kind, integer in ((pa.string(), np.int32), (pa.large_string(), np.int64)):
        buffer = np.array([0, 1, 2, 3], integer)
        array = buffers_of(3, buffer, b"abc", kind)
        buffer[:] = offsets
        for vectorizer in (HashingVectorizer(), ByteNgrams()):
            with pytest.raises(ValueError, match=message):
                vectorizer.transform(array)


@pytest.mark.parametrize(
    "view", [(-1, 0, 0, 0), (20, 0, 1, 0), (20, 0, -1, 0), (20, 0, 0, 90), (20, 0, 0, -1)]
)
def test_arrow_views_that_are_not_sound(view):
    array = pa.Array.from_buffers(
        pa.string_view(),
        1,
        [None, pa.py_buffer(np.array(view, np.int32)), pa.py_buffer(b"x" * 100)],
    )
    for vectorizer in (HashingVectorizer(), ByteNgrams()):
        with pytest.raises(ValueError, match=r"Arrow view .* \(text 0\)"):
            vectorizer.transform(array)


@pytest.mark.parametrize("data", [b"ab\xff", b"a\xed\xa0\x80", b"\xe8\xaa", b"abc\xf0\x9f\x98"])
def test_arrow_bytes_that_are_not_utf8(data):
    array = buffers_of(2, np.array([0, 0, len(data)], np.int32), data, pa.string())
    with pytest.raises(UnicodeDecodeError, match=r"\(text 1\)"):
        HashingVectorizer(analyzer="char").transform(array)
    assert_equal(ByteNgrams().transform(array), ByteNgrams().transform([b"", data]))


def test_memory_of_arrow_is_released():
    released = []
    buffer = np.frombuffer(b"some bytes of text", np.uint8).copy()
    address = buffer.ctypes.data

    class Watched:
        def __del__(self):
            released.append(True)

    lent = pa.foreign_buffer(address, buffer.nbytes, Watched())
    offsets = pa.py_buffer(np.array([0, 4, 18], np.int32))
    array = pa.Array.from_buffers(pa.string(), 2, [None, offsets, lent])
    del lent
    HashingVectorizer().transform(array)
    assert not released
    del array
    assert released


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_codes_of_texts(n_jobs):
    many = TEXTS * 40
    assert len(list(_inputs.blocks(many))) > 2
    sets = {"binary": True, "norm": None, "alternate_sign": False}
    for vectorizer in (HashingVectorizer(**sets), ByteNgrams(binary=True), Theirs(**sets)):
        X = vectorizer.transform(TEXTS)
        minhash = MinHash(n_hashes=16, random_state=0, n_jobs=n_jobs).fit(X)
        expected = minhash.encode(X, packed=True)
        for texts in (many, iter(many), pa.array(many)):
            found = minhash.encode_texts(vectorizer, texts, packed=True)
            np.testing.assert_array_equal(found.array, np.tile(expected.array, (40, 1)))
            np.testing.assert_array_equal(found.sampled, np.tile(expected.sampled, 40))
            config = {**found.config, "n_features": X.shape[1]}
            assert config.pop("texts")["class"] == type(vectorizer).__name__
            assert config == expected.config
        np.testing.assert_array_equal(minhash.encode_texts(vectorizer, TEXTS), expected.array)


def test_codes_of_what_are_no_texts():
    for vectorizer in (HashingVectorizer(), ByteNgrams()):
        minhash = MinHash(random_state=0).fit(vectorizer.transform(["any"]))
        with pytest.raises((ValueError, AttributeError), match=r"\(text 3\)"):
            minhash.encode_texts(vectorizer, ["some", "text" * 50_000, "", None])
        with pytest.raises(ValueError, match="got a single str"):
            minhash.encode_texts(vectorizer, "text")


def test_memory_is_bounded():
    """Beside the output there are some blocks only, however many texts there are."""
    text = "some words of a text that is not long at all " * 20

    def peak(n):
        tracemalloc.start()
        try:
            result = HashingVectorizer(n_features=2**8).transform(text for _ in range(n))
            held = sum(getattr(result, name).nbytes for name in ("data", "indices", "indptr"))
            return tracemalloc.get_traced_memory()[1] - 3 * held  # an array that grows is two
        finally:
            tracemalloc.stop()

    assert peak(10_000) < peak(2_000) + 2**20


@pytest.mark.parametrize("of_arrow", [False, True])
def test_numbers_of_texts_in_later_blocks(of_arrow):
    """Errors name a text by its number in all blocks and chunks."""
    texts = ["some words " * 40] * 900 + [None]
    if of_arrow:
        texts = pa.chunked_array([texts[:500], texts[500:]])
    with pytest.raises((ValueError, AttributeError), match="900"):
        HashingVectorizer().transform(texts)


def test_a_number_of_columns_that_is_an_integer_of_numpy():
    made = HashingVectorizer(n_features=np.int64(64))
    assert made._compiled() is not None
    assert_equal(made.transform(TEXTS), HashingVectorizer(n_features=64).transform(TEXTS))
