"""ByteNgrams: counts of what Python's slices give."""

import pickle
from collections import Counter

import numpy as np
import pytest
from _data.chance import SEED
from _data.strange_texts import strange_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from sparsemaps import MinHash
from sparsemaps.text import ByteNgrams, _inputs
from sparsemaps.text._csr import make_rows

TEXTS = [*strange_texts(15), *(text.encode("utf-16") for text in strange_texts(6, seed=1))]
SIZES = [(1, 1), (2, 2), (3, 3), (4, 4), (7, 7), (1, 3), (2, 5), (1, 7)]


def counts(text, low, high, lowercase):
    """Counts by column, from the definition."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    data = data.lower() if lowercase else data
    found, first = Counter(), 0
    for size in range(low, high + 1):
        for start in range(len(data) - size + 1):
            found[first + int.from_bytes(data[start : start + size], "big")] += 1
        first += 256**size
    return dict(sorted(found.items()))


def check(X, texts, low, high, *, lowercase=False, binary=False):
    for row, text in enumerate(texts):
        expected = counts(text, low, high, lowercase)
        part = slice(X.indptr[row], X.indptr[row + 1])
        assert X.indices[part].tolist() == list(expected)
        values = [1] * len(expected) if binary else list(expected.values())
        assert X.data[part].tolist() == values


@pytest.mark.parametrize("ngram_range", SIZES, ids=str)
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, "int32"], ids=str)
def test_counts(ngram_range, binary, dtype):
    low, high = ngram_range
    for lowercase in (True, False):
        vectorizer = ByteNgrams(
            ngram_range=ngram_range, binary=binary, lowercase=lowercase, dtype=dtype, n_jobs=2
        )
        X = vectorizer.fit_transform(TEXTS)
        check(X, TEXTS, low, high, lowercase=lowercase, binary=binary)
        assert X.dtype == dtype
        assert X.shape == (len(TEXTS), sum(256**n for n in range(low, high + 1)))
        assert X.shape[1] == vectorizer.n_features_out
        index_type = np.int32 if X.shape[1] < 2**31 else np.int64
        assert X.indices.dtype == X.indptr.dtype == index_type
        assert X.has_canonical_format


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.sampled_from(SIZES))
def test_counts_of_any_bytes(texts, ngram_range):
    check(ByteNgrams(ngram_range=ngram_range).transform(texts), texts, *ngram_range)


def test_blocks_and_threads_change_nothing():
    ngrams = ByteNgrams(ngram_range=(1, 3))
    expected = ngrams.transform(TEXTS)
    for n_jobs in (None, 2, 3):
        blocks = _inputs.blocks(iter(TEXTS), 500)
        found = make_rows(ngrams._compiled(), blocks, 0, ngrams.n_features_out, float, n_jobs)
        assert (found != expected).nnz == 0


def test_long_texts():
    """Their n-grams are counted in a table, by 16 bits."""
    rng = np.random.default_rng(SEED)
    texts = [
        b"a" * (2**18 + 2),  # four times 65,536 n-grams of three bytes
        b"ab" * 150_000,
        bytes(rng.integers(0, 256, 2**18, np.uint8)),
        bytes(rng.integers(0, 2, 2**18, np.uint8)) + b"\xff" * 65_540,
    ]
    X = ByteNgrams(ngram_range=(1, 4)).transform(texts)
    for row, text in enumerate(texts):
        data, first, columns, values = np.frombuffer(text, np.uint8).astype(np.int64), 0, [], []
        for size in range(1, 5):
            numbers = sum(
                data[j : len(data) - size + 1 + j] << 8 * (size - 1 - j) for j in range(size)
            )
            found = np.unique(numbers, return_counts=True)
            columns.append(first + found[0])
            values.append(found[1])
            first += 256**size
        part = slice(X.indptr[row], X.indptr[row + 1])
        np.testing.assert_array_equal(X.indices[part], np.concatenate(columns))
        np.testing.assert_array_equal(X.data[part], np.concatenate(values))


def test_empty_texts():
    X = ByteNgrams().transform(["", b"ab", "ab"])
    assert X.nnz == 0
    assert X.shape == (3, 256**3)


def test_sets_of_ngrams_go_to_minhash():
    X = ByteNgrams(binary=True).fit_transform(["one text", "one text.", "another"])
    Z = MinHash(n_hashes=256, random_state=0).fit_transform(X)
    assert Z.shape[0] == 3


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"ngram_range": (0, 3)}, "ngram_range must be"),
        ({"ngram_range": (3, 2)}, "ngram_range must be"),
        ({"ngram_range": (1, 8)}, "<= 7, got"),
        ({"ngram_range": 3}, "ngram_range must be"),
        ({"ngram_range": (1.5, 2)}, "ngram_range must be"),
        ({"binary": "yes"}, "binary must be True or False, got 'yes'"),
        ({"lowercase": None}, "lowercase must be True or False, got None"),
        ({"dtype": np.float16}, "dtype must be float64 or"),
        ({"dtype": "words"}, "dtype must be float64 or"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_wrong_parameters(wrong, told):
    with pytest.raises(ValueError, match=told):
        ByteNgrams(**wrong).fit_transform(["a"])


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ("text", "X must be an iterable of texts, got a single str"),
        (b"text", "got a single bytes"),
        (["a", 3], r"a text must be a str or bytes, got int \(text 1\)"),
        (["a", "b", None], r"got None \(text 2\)"),
        (["a", "\ud800"], r"surrogates not allowed \(text 1\)"),
    ],
)
def test_wrong_texts(texts, told):
    with pytest.raises(ValueError, match=told):
        ByteNgrams().transform(texts)


def test_conventions_of_scikit_learn():
    ours = ByteNgrams(ngram_range=(1, 2), n_jobs=2)
    assert clone(ours).get_params() == ours.get_params()
    again = pickle.loads(pickle.dumps(ours.fit(["a"])))
    assert (again.transform(["abc"]) != ours.transform(["abc"])).nnz == 0
    assert ours.n_features_out == 256 + 256**2
