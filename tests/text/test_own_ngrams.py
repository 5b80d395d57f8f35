"""Which n-grams of a text count, beside exact counts in plain Python."""

import pickle
from collections import Counter

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps._input._row_reader import RowReader
from sparsemaps._input._sparse import open_sparse
from sparsemaps._loops import text as _text
from sparsemaps.neighbors import similar_pairs
from sparsemaps.text import _frequencies
from sparsemaps.text._analyzers import vectorizer_of
from sparsemaps.text._descriptions import vectorizer_config
from sparsemaps.text._own_ngrams import OwnNgrams

FRAME = [
    "this",
    "frame",
    "stands",
    "on",
    "every",
    "page",
    "of",
    "the",
    "site",
    "and",
    "says",
    "nothing",
    "about",
    "it",
]


def pages(n=60, seed=0):
    """Texts of a frame with 0 to 9 words between, some of them equal, and short ones."""
    rng = np.random.default_rng(SEED + seed)
    texts = ["", "one", "one two"]
    for _ in range(n):
        own = [f"w{word}" for word in rng.integers(0, 40, rng.integers(0, 10))]
        texts.append(" ".join([*FRAME[:7], *own, *FRAME[7:]]))
    return [*texts, *texts[5:9]]


def ngrams(text, n):
    words = text.split()
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def counted(vectorizer, texts, path, n_buckets=2**22, **form):
    table = _frequencies.Frequencies(n_buckets, **form)
    table.add(RowReader(open_sparse(vectorizer.transform(texts), "X"), None))
    _frequencies.write(path, table, {})
    return str(path)


def counts_by_python(texts, n, max_df, min_own):
    """The n-grams of each text that count, with how often it has them."""
    rows = [Counter(ngrams(text, n)) for text in texts]
    df = Counter(ngram for row in rows for ngram in row)
    kept = []
    for row in rows:
        own = {ngram: k for ngram, k in row.items() if df[ngram] <= max_df}
        kept.append(own if len(own) >= min_own else dict(row))
    return kept


@pytest.mark.parametrize("column_type", [np.int32, np.int64])
@pytest.mark.parametrize("value_type", [np.float32, np.float64])
def test_entries_of_all_types_are_taken(column_type, value_type):
    rng = np.random.default_rng(SEED)
    lengths = rng.integers(0, 9, 50)
    ends, n = np.cumsum(lengths), lengths.sum()
    frequencies = rng.integers(1, 8, n).astype(np.uint32)
    columns, values = np.arange(n).astype(column_type), rng.random(n).astype(value_type)
    taken = []
    for part in np.split(np.arange(n), ends[:-1]):
        rare = part[frequencies[part] <= 4]
        taken.append(rare if len(rare) >= 2 else part)
    out, out_ends = (np.empty_like(columns), np.empty_like(values)), np.empty_like(ends)
    total = _text.take_rare(frequencies, 4, 2, columns, values, ends, *out, out_ends)
    np.testing.assert_array_equal(out_ends, np.cumsum([len(part) for part in taken]))
    for found, given in zip(out, (columns, values), strict=True):
        np.testing.assert_array_equal(found[:total], given[np.concatenate(taken)])
    for own_values in (values.copy(), None):  # in place, also without values
        own = columns.copy()
        n_own = _text.take_rare(frequencies, 4, 2, own, own_values, ends, own, own_values, out_ends)
        np.testing.assert_array_equal(own[:n_own], out[0][:total])
        if own_values is not None:
            np.testing.assert_array_equal(own_values[:n_own], out[1][:total])
    for bad in (ends[::-1].copy(), ends + 1):
        with pytest.raises(ValueError, match="ends must be ascending, and at most"):
            _text.take_rare(frequencies, 4, 2, columns, values, bad, *out, out_ends)
    with pytest.raises(ValueError, match="expected columns and values of"):
        _text.take_rare(frequencies, 4, 2, columns[1:], values, ends, *out, out_ends)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("max_df", "min_own"), [(1, 1), (1, 4), (5, 1), (5, 3), (20, 12), (99, 1)])
def test_the_ngrams_that_count(tmp_path, max_df, min_own, binary):
    texts = pages()
    vectorizer = vectorizer_of("word:2", binary=binary)
    own = OwnNgrams(vectorizer, counted(vectorizer, texts, tmp_path / "t"), max_df, min_own)
    column = {
        ngram: vectorizer.transform([" ".join(ngram)]).indices[0]
        for text in texts
        for ngram in ngrams(text, 2)
    }
    assert len(set(column.values())) == len(column)  # of exact counts
    X = own.transform(texts)
    expected = counts_by_python(texts, 2, max_df, min_own)
    assert X.shape == (len(texts), vectorizer.n_features)
    for row, there in zip(X, expected, strict=True):
        found = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        assert found == {column[ngram]: 1 if binary else k for ngram, k in there.items()}
    if max_df < 20:
        assert 0 < X.nnz < vectorizer.transform(texts).nnz


@pytest.mark.parametrize("spec", ["word:2", "char:3", "byte:3"])
@pytest.mark.parametrize("map", [MinHash(n_hashes=64), ConsistentWeightedSampling(n_hashes=64)])
def test_codes_of_texts_are_those_of_the_rows(tmp_path, spec, map):
    """By compiled loops, from lists and Arrow, with any number of threads."""
    texts = pages(300)
    map = map.set_params(random_state=0).fit_any_width()
    vectorizer = vectorizer_of(spec, binary=isinstance(map, MinHash))
    own = OwnNgrams(vectorizer, counted(vectorizer, texts, tmp_path / "t"), 20, 4)
    expected = map.encode(own.transform(texts), packed=True)
    for given in (texts, np.array(texts, object)):
        codes = map.encode_texts(own, given, packed=True)
        np.testing.assert_array_equal(codes.array, expected.array)
        np.testing.assert_array_equal(codes.sampled, expected.sampled)
        if isinstance(map, MinHash):
            np.testing.assert_array_equal(codes.sizes, expected.sizes)
    map.n_jobs = 2
    again = map.encode_texts(pickle.loads(pickle.dumps(own)), texts, packed=True)
    np.testing.assert_array_equal(again.array, expected.array)


def test_equal_texts_are_always_alike(tmp_path):
    """Also where more records than max_df have an n-gram, and on both sides of min_own."""
    texts = pages(40) * 2
    vectorizer = vectorizer_of("word:2", binary=True)
    minhash = MinHash(n_hashes=64, random_state=0).fit_any_width()
    for max_df, min_own in ((1, 1), (2, 3), (10, 3), (1000, 1)):
        own = OwnNgrams(vectorizer, counted(vectorizer, texts, tmp_path / "t"), max_df, min_own)
        codes = minhash.encode_texts(own, texts, packed=True)
        i, j, similarity = similar_pairs(codes, 1.0)
        pairs = set(zip(i.tolist(), j.tolist(), strict=True))
        n = len(texts) // 2
        assert {(row, row + n) for row in range(n) if codes.sampled[row]} <= pairs
        np.testing.assert_array_equal(similarity, 1)


def test_what_codes_say_of_it(tmp_path):
    """The limits and a digest of the table: codes of two tables do not compare."""
    texts = pages()
    vectorizer = vectorizer_of("word:2", binary=True)
    config = vectorizer_config(
        OwnNgrams(vectorizer, counted(vectorizer, texts, tmp_path / "t"), 5, 3)
    )
    assert config == {
        **vectorizer_config(vectorizer),
        "own": {"max_df": 5, "min_own": 3, "frequencies": config["own"]["frequencies"]},
    }
    other = counted(vectorizer, texts[1:], tmp_path / "t")
    assert vectorizer_config(OwnNgrams(vectorizer, other, 5, 3)) != config
