"""From texts to codes: pipelines, what codes know of their vectorizer, and what is no text."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _data.strange_texts import strange_texts
from sklearn.feature_extraction.text import HashingVectorizer as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sparsemaps
from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    MinHash,
    RandomFourier,
    SignProjection,
    codes,
    from_config,
    neighbors,
)
from sparsemaps.codes import PackedCodes
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.text import ByteNgrams, HashingVectorizer
from sparsemaps.text._analyzers import vectorizer_of

TEXTS = [*strange_texts(30), "some of these words", "some of those words", ""]
SAMPLED = [
    MinHash(n_hashes=32, random_state=0),
    ConsistentWeightedSampling(n_hashes=32, random_state=0),
    SignProjection(n_hashes=64, random_state=0),
    RandomFourier(n_components=64, random_state=0),
    KernelProduct(
        maps=(ConsistentWeightedSampling(n_hashes=8), SignProjection(n_hashes=8)), random_state=0
    ),
]


@pytest.mark.parametrize("map", SAMPLED, ids=lambda map: type(map).__name__)
def test_codes_of_texts_are_those_of_their_rows(map, tmp_path):
    for spec in ("word:1-2", "byte:2"):
        vectorizer = vectorizer_of(spec)
        rows = vectorizer.transform(TEXTS)
        found = map.fit_any_width().encode_texts(vectorizer, iter(TEXTS), packed=True)
        expected = map.fit(rows).encode(rows, packed=True)
        np.testing.assert_array_equal(found.array, expected.array)
        np.testing.assert_array_equal(found.sampled, expected.sampled)
        assert (found.n_hashes, found.law) == (expected.n_hashes, expected.law)
        np.testing.assert_array_equal(codes.hamming(found, expected).diagonal(), 0)
        found.save(tmp_path / "codes.npy")
        loaded = PackedCodes.load(tmp_path / "codes.npy")
        assert loaded.config == found.config
        again = from_config(loaded.config).encode_texts(vectorizer, TEXTS)
        np.testing.assert_array_equal(again, expected.array)


def test_pipeline():
    for vectorizer in (HashingVectorizer(norm=None, alternate_sign=False), ByteNgrams()):
        pipeline = make_pipeline(vectorizer, MinHash(n_hashes=16, random_state=0))
        rows = vectorizer.transform(TEXTS)
        expected = MinHash(n_hashes=16, random_state=0).fit_transform(rows)
        for found in (pipeline.fit_transform(TEXTS), pipeline.fit(TEXTS).transform(TEXTS)):
            assert found.shape == (len(TEXTS), 16 * 2**8)
            assert (found != expected).nnz == 0


def test_codes_of_other_vectorizers_are_refused(tmp_path):
    minhash = MinHash(n_hashes=16, random_state=0).fit_any_width()

    def encode(vectorizer, map=minhash):
        return map.encode_texts(vectorizer, TEXTS, packed=True)

    three = encode(vectorizer_of("word:3"))
    saved = tmp_path / "codes.npy"
    three.save(saved)
    for one in (three, three[:5], PackedCodes.load(saved)):
        for spec, key in (
            ("word:5", r"ngram_range is \[., .\] in one and \[., .\] in"),
            ("char:3", "analyzer is '(word|char)' in one and '(word|char)' in"),
            ("byte:3", "class is (HashingVectorizer|ByteNgrams) in one"),
        ):
            other = encode(vectorizer_of(spec))
            for compare in (codes.hamming, codes.collisions, lambda A, B: neighbors.top_k(A, B, 1)):
                with pytest.raises(ValueError, match=f"vectorized alike: {key}"):
                    compare(one, other)
            with pytest.raises(ValueError, match="vectorized alike"):
                neighbors.similar_pairs(one, 0.5, other=other)
        other = encode(vectorizer_of("word:3", token_pattern=r"\w+"))
        with pytest.raises(ValueError, match=r"token_pattern is '\\\\S\+' in one and '\\\\w\+' in"):
            codes.hamming(one, other)

    of_matrix = minhash.encode(vectorizer_of("word:3").transform(TEXTS), packed=True)
    found = PackedCodes.concatenate([of_matrix, three])
    assert found.config == three.config
    other = encode(vectorizer_of("word:5"))
    with pytest.raises(ValueError, match="block 1 and block 2 must be codes of texts"):
        PackedCodes.concatenate([of_matrix, three, other])

    # What makes the same sets compares, and codes of a matrix, which may be of any texts.
    theirs = Theirs(
        ngram_range=(3, 3), token_pattern=r"\S+", n_features=2**31 - 2, alternate_sign=False
    )
    for same in (
        encode(vectorizer_of("word:3", binary=True, n_jobs=2)),
        encode(theirs),
        of_matrix,
        found[len(TEXTS) :],
        np.array(three.array),
    ):
        assert (codes.hamming(three, same).diagonal() == 0).all()

    # For the min-max kernel, values matter.
    cws = ConsistentWeightedSampling(n_hashes=16, random_state=0).fit_any_width()
    one, other = (encode(vectorizer_of("word:3", binary=binary), cws) for binary in (False, True))
    with pytest.raises(ValueError, match="alike: binary is False in one and True in"):
        codes.hamming(one, other)
    with pytest.raises(ValueError, match="codes of the same map: class is"):
        codes.hamming(one, three)


def test_damaged_description_of_texts():
    made = MinHash(n_hashes=16, random_state=0).fit_any_width()
    one, other = (made.encode_texts(vectorizer_of("word:3"), TEXTS, packed=True) for _ in range(2))
    sound = one.config["texts"]
    parts = ({"own": 5}, {"idf": [1]}, {"idf": {"parameters": 5}})
    without = ({"class": "HashingVectorizer"}, {"parameters": []})
    for damaged in (5, [], *without, *({**sound, **part} for part in parts)):
        other.config["texts"] = json.loads(json.dumps(damaged))
        with pytest.raises(ValueError, match="must have a vectorizer's class and parameters"):
            codes.hamming(one, other)


MAPS = [
    getattr(sparsemaps, name)
    for name in sparsemaps.__all__
    if isinstance(getattr(sparsemaps, name), type)
    and issubclass(getattr(sparsemaps, name), SparseMap)
]
NO_MATRIX = {
    "a text": lambda: "some text",
    "texts": lambda: ["some text", "another"],
    "numbers as text": lambda: ["1.5", "2"],
    "bytes": lambda: [b"some", b"text"],
    "array": lambda: np.array(["some", "text"]),
    "objects": lambda: np.array(["some", "text"], object),
    "column": lambda: np.array([["some"], ["text"]]),
    "pandas": lambda: pd.Series(["some", "text"]),
    "polars": lambda: pl.Series(["some", "text"]),
    "sets": lambda: [{"some", "words"}, {"others"}],
    "sets of numbers": lambda: [{1, 2}, {3}],
    "frozen sets": lambda: [frozenset("ab"), frozenset("c")],
    "lists": lambda: [["some", "words"], ["other", "words"]],
    "lists of different lengths": lambda: [["some", "words"], ["others"]],
    "lists of numbers": lambda: [[1, 2], [3]],
    "tuples": lambda: [("some",), ("words",)],
}


@pytest.mark.parametrize("made", MAPS, ids=lambda made: made.__name__)
def test_what_is_no_matrix_is_an_error_that_names_the_vectorizer(made):
    parameters = {"maps": SAMPLED[:2]} if made is KernelProduct else {}
    fitted = made(random_state=0, **parameters).fit(np.eye(2))
    for name, make in NO_MATRIX.items():
        calls = [made(**parameters).fit, fitted.transform]
        for call in [*calls, *([fitted.encode] if hasattr(fitted, "encode") else [])]:
            with pytest.raises((TypeError, ValueError), match="HashingVectorizer") as caught:
                call(make())
            message = str(caught.value)
            assert message.startswith(f"{made.__name__} takes a matrix, got "), name
            assert "\n" not in message


def test_the_vectorizer_that_the_error_names_takes_tokens():
    """As it says: ``HashingVectorizer(analyzer=list)``."""
    vectorizer = HashingVectorizer(analyzer=list, norm=None, alternate_sign=False)
    sets = [{"some", "words"}, {"others"}, set()]
    assert vectorizer.transform(sets).sum(axis=1).tolist() == [[2], [1], [0]]
    assert vectorizer.transform(map(list, sets)).sum(axis=1).tolist() == [[2], [1], [0]]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_a_table_of_categories(frame):
    """The error says what makes a matrix of them, and that is one."""
    X = frame({"size": [1.0, 2.0, 1.0], "colour": ["red", "blue", "red"]})
    with pytest.raises(ValueError, match=r"got strings in column 'colour': sklearn\.\w+\.OneHotE"):
        CountSketch().fit(X)
    rows = CountSketch(n_components=16, random_state=0).fit_transform(
        OneHotEncoder().fit_transform(X)
    )
    assert rows.shape == (3, 16)
    assert (abs(rows - rows[[2, 1, 0]]).sum(axis=1) == 0).all()


def test_other_errors_are_scikit_learns():
    for X, message in (
        ([1.0, 2.0], "Expected 2D array, got 1D array"),
        (np.array([["a", {}]], object)[:, 1:], "float"),
        (5, "Expected 2D array, got scalar"),
        (None, "Expected 2D array, got scalar"),
        (np.array([[1j]]), "Complex data not supported"),
    ):
        with pytest.raises((TypeError, ValueError), match=message) as caught:
            MinHash().fit(X)
        assert "HashingVectorizer" not in str(caught.value)
