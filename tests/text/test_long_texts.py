"""Long texts, counted a piece at a time: the bits of scikit-learn's HashingVectorizer."""

from functools import partial

import numpy as np
import pytest
from _data.strange_texts import strange_texts
from _oracles.hashed_texts import assert_equal
from sklearn.feature_extraction.text import HashingVectorizer as Theirs

from sparsemaps.text import WORDS_AND_SIGNS, HashingVectorizer, _long_texts
from sparsemaps.text._csr import make_rows

RARE = "\u03a3\u03a3 a\u0308\u00a8 \u0130 x\u2028y \x1c \x85 fin\u03a3 de\u0301 the the b"
TEXT = " ".join([*strange_texts(25), RARE, "one two  three\tfour\n\nfive " * 10, RARE]) * 2


def rows_of(ours, texts, **sizes):
    """The rows of texts of which the last is taken in small pieces."""
    pieces = ours._compiled()
    for name, size in sizes.items():
        setattr(pieces, f"_{name}", size)
    counted = []
    count = pieces._count
    pieces._count = lambda text: counted.append(count(text)) or counted[-1]
    blocks = [(i, [text]) for i, text in enumerate(texts)]
    rows = make_rows(pieces, blocks, 0, ours.n_features, np.dtype(ours.dtype), None)
    return rows, [one is not None for one in counted]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"ngram_range": (1, 5), "norm": None},
        {"ngram_range": (3, 3), "stop_words": "english", "alternate_sign": False, "norm": "l1"},
        {"token_pattern": r"\S+", "ngram_range": (2, 40), "binary": True, "dtype": np.float32},
        {"token_pattern": r"(?u)\b\w+\b", "strip_accents": "unicode", "ngram_range": (2, 3)},
        {"token_pattern": WORDS_AND_SIGNS, "ngram_range": (1, 5), "norm": None},
        {"analyzer": "char", "ngram_range": (1, 4), "n_features": 1000},
        {"analyzer": "char", "ngram_range": (3, 30), "lowercase": False, "norm": None},
        {"analyzer": "char", "ngram_range": (3, 3), "strip_accents": "unicode", "norm": None},
        {"analyzer": "char_wb", "ngram_range": (3, 7), "dtype": np.float32},
    ],
    ids=str,
)
@pytest.mark.parametrize(("n_characters", "n_shared"), [(9, 1), (80, 3), (500, 90)])
def test_pieces_make_the_row_of_the_text(parameters, n_characters, n_shared):
    texts = ["short", TEXT, "another"]
    rows, counted = rows_of(
        HashingVectorizer(**parameters), texts, n_characters=n_characters, n_shared=n_shared
    )
    assert_equal(rows, Theirs(**parameters).transform(texts))
    assert True in counted


def test_the_number_of_ngrams():
    """Of a block whose last text is taken in pieces: that of all its texts."""
    pieces = HashingVectorizer(ngram_range=(1, 2))._compiled()
    texts = ["one two", TEXT]
    expected = pieces._loops.rows(0, texts)[3]
    pieces._n_characters, pieces._n_shared = 80, 3
    assert pieces.rows(0, texts)[3] == expected > 100


@pytest.mark.parametrize("text", ["a" * 100, "x  y\n\n" * 20, " " * 100, "a\ud800 b c " * 20])
def test_texts_that_cannot_be_cut_are_whole(text):
    rows = partial(rows_of, HashingVectorizer(analyzer="char"), [text], n_characters=9)
    if "\ud800" in text:
        with pytest.raises(UnicodeEncodeError, match="surrogates"):
            rows()
        return
    found, counted = rows()
    assert_equal(found, Theirs(analyzer="char").transform([text]))
    assert counted == [False]


@pytest.mark.parametrize("by_arrow", [False, True])
def test_memory_of_a_long_text(by_arrow):
    """A text of twice the length takes a twice as long str and no more."""
    import tracemalloc

    peaks = []
    for n in (4, 8):
        text = "lorem ipsum dolor sit amet " * (n * 2**20 // 27)
        texts = ["short", text]
        if by_arrow:
            texts = pytest.importorskip("pyarrow").array(texts)
        tracemalloc.start()
        HashingVectorizer(ngram_range=(5, 5)).transform(texts)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 2**21 + by_arrow * 4 * 2**20


@pytest.mark.parametrize(
    "parameters",
    [{"ngram_range": (1, 2)}, {"strip_accents": "unicode"}, {"strip_accents": "ascii"}],
    ids=str,
)
def test_short_texts_before_a_long_one(parameters):
    """All are in one block, of a list or of Arrow's memory; accents are stripped in each."""
    pa = pytest.importorskip("pyarrow")
    long = " ".join(f"n\u00e4he{i % 977} \u00bd d\u00e9j\u00e0 i\u0307 " for i in range(120_000))
    assert len(long) > 2 * _long_texts.PIECE_CHARACTERS
    texts = ["a block " * 20_000, "before \u00e9", "two sh\u00f6rt words", long, "and behind"]
    expected = Theirs(**parameters).transform(texts)
    for container in (texts, pa.array(["", *texts])[1:], pa.array(texts, pa.large_string())):
        assert_equal(HashingVectorizer(**parameters).transform(container), expected)
