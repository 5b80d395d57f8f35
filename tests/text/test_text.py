"""HashingVectorizer: the same bits as scikit-learn's."""

import itertools
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from _data.hashed_words import word_of_hash
from _data.strange_texts import strange_texts
from _oracles.hashed_texts import assert_equal, compare
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer as Theirs
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import murmurhash3_32

from sparsemaps import MinHash
from sparsemaps.text import HashingVectorizer, _inputs
from sparsemaps.text._csr import make_rows

TEXTS = strange_texts(150)
DEFAULT = r"(?u)\b\w\w+\b"
SIZES = [(1, 1), (2, 2), (1, 2), (3, 3), (3, 5), (1, 10), (7, 9)]


@pytest.mark.parametrize("ngram_range", SIZES, ids=str)
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_bits_of_analyzers(analyzer, ngram_range):
    patterns = [DEFAULT, r"(?u)\b\w+\b", r"\S+", r"\w+", r"\w\w+", r"[a-z]+", r"(\w)\w"]
    for pattern in patterns if analyzer == "word" else [DEFAULT]:
        for lowercase in (True, False):
            compare(
                TEXTS,
                analyzer=analyzer,
                ngram_range=ngram_range,
                token_pattern=pattern,
                lowercase=lowercase,
            )


OUTPUTS = [
    {"norm": norm, "binary": binary, "alternate_sign": signs, "dtype": dtype, "n_features": width}
    for norm, binary, signs, (dtype, width) in itertools.product(
        ["l1", "l2", None],
        [True, False],
        [True, False],
        [
            (np.float64, 2**20),
            (np.float32, 7),
            (np.int32, 2**31 - 2),
            (np.int64, 1),
            (np.int8, 1000),
        ],
    )
]


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: "-".join(map(str, output.values())))
def test_bits_of_outputs(output):
    compare(TEXTS[::3], analyzer="char", ngram_range=(2, 3), **output)


@pytest.mark.parametrize("strip_accents", [None, "unicode", "ascii"])
@pytest.mark.parametrize("stop_words", [None, "english", ["the", "ab", "語", "", 3, "\ud800"]])
@pytest.mark.parametrize("pattern", [DEFAULT, r"\S+", "[^ ]+"])
def test_bits_of_words_that_are_changed_or_left_out(strip_accents, stop_words, pattern):
    parameters = {"stop_words": stop_words, "strip_accents": strip_accents}
    for lowercase in (True, False):
        compare(
            TEXTS,
            token_pattern=pattern,
            ngram_range=(1, 2),
            lowercase=lowercase,
            **parameters,
        )


@pytest.mark.parametrize(
    "callables",
    [
        {"analyzer": str.split},
        {"tokenizer": str.split, "token_pattern": None},
        {"preprocessor": str.upper},
        {"preprocessor": str.upper, "analyzer": "char_wb"},
        {"strip_accents": str.title},
    ],
    ids=str,
)
def test_callables_go_their_way(callables):
    compare(TEXTS, **callables)


def test_methods_of_a_subclass_go_their_way():
    class Reversed(HashingVectorizer):
        def decode(self, doc):
            return doc[::-1]

    assert_equal(Reversed().transform(TEXTS), Theirs().transform([text[::-1] for text in TEXTS]))


def test_sizes_that_are_not_positive():
    for analyzer in ("word", "char", "char_wb"):
        compare(TEXTS[:30], analyzer=analyzer, ngram_range=(0, 2))


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("by_spaces", [True, False])
def test_every_character_is_as_python_has_it(lowercase, by_spaces):
    """Each character alone between letters, and as a text of its own."""
    every = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    some = every[:0x3000] + every[0x3000::499]
    texts = ["a" + "b".join(some[i : i + 64]) for i in range(0, len(some), 64)]
    pattern = r"\S+" if by_spaces else r"\w+"
    compare(texts, lowercase=lowercase, token_pattern=pattern, norm=None)
    if by_spaces:
        compare(texts, lowercase=lowercase, analyzer="char", ngram_range=(1, 2), norm=None)


def test_ascii_is_as_python_has_it():
    """The loops have classes of ASCII of their own."""
    for lowercase in (True, False):
        texts = [f"{chr(c)}x{chr(c)}{chr(c)}{chr(d)}" for c in range(128) for d in range(0, 128, 9)]
        for pattern in (r"\w+", r"\S+"):
            compare(texts, lowercase=lowercase, token_pattern=pattern)
        compare(texts, lowercase=lowercase, analyzer="char", ngram_range=(1, 3))


def test_one_long_text():
    text = "".join(TEXTS) * (10**7 // sum(map(len, TEXTS)) + 1)
    assert len(text) > 10**7
    compare([text, "short"])
    compare([text[: 10**5]], analyzer="char", ngram_range=(3, 3), dtype=np.float32)


@pytest.mark.parametrize("wanted", [2**31, 2**31 - 1, 2**31 + 1, 0, 2**32 - 1])
def test_extreme_hashes(wanted):
    """|h| of the least signed number h is no signed number."""
    word = word_of_hash(wanted)
    assert murmurhash3_32(word, positive=True) == wanted
    for n_features in (1, 2, 3, 7, 2**20, 2**31 - 2, 2**30, 6700417):
        for alternate_sign in (True, False):
            compare([word], n_features=n_features, alternate_sign=alternate_sign)


def test_more_of_one_ngram_than_squares_of_float32_hold():
    compare(["a" * 9000 + " b", "ab " * 70000], analyzer="char", dtype=np.float32)
    compare(["ab " * 5000 + "cd " * 4095], dtype=np.float32, alternate_sign=False)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=60) | st.text("aB é\n語Σ", max_size=90), min_size=1, max_size=4),
    st.sampled_from(["word", "char", "char_wb"]),
    st.sampled_from(SIZES),
    st.sampled_from([DEFAULT, r"\S+", r"\b\w+\b", r"\w+(?=\s)"]),
    st.sampled_from([None, "unicode", "ascii"]),
    st.booleans(),
)
def test_bits_of_any_text(texts, analyzer, ngram_range, pattern, strip_accents, lowercase):
    compare(
        texts,
        analyzer=analyzer,
        ngram_range=ngram_range,
        token_pattern=pattern if analyzer == "word" else DEFAULT,
        strip_accents=strip_accents,
        lowercase=lowercase,
    )


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_blocks_and_threads_change_nothing(analyzer):
    expected = Theirs(analyzer=analyzer, ngram_range=(1, 3)).transform(TEXTS)
    for characters in (1, 100, 2**17):
        for n_jobs in (None, 2, 3, -1):
            ours = HashingVectorizer(analyzer=analyzer, ngram_range=(1, 3))
            for texts in (TEXTS, iter(TEXTS)):
                blocks = _inputs.blocks(texts, characters)
                found = make_rows(ours._compiled(), blocks, 0, 2**20, np.float64, n_jobs)
                assert_equal(found, expected)
    ours = HashingVectorizer(analyzer=analyzer, ngram_range=(1, 3), n_jobs=2)
    found = ours.transform(text for _ in range(30) for text in TEXTS)
    assert (found != sp.vstack([expected] * 30)).nnz == 0


def test_more_ngrams_than_int32():
    """scikit-learn's index type depends on the number before equal ones are summed."""

    class Many:
        def rows(self, *block):
            return np.array([3, 5]), np.ones(2), np.array([2]), 2**31

        def give_back(self, *arrays):
            pass

    found = make_rows(Many(), [(0, ["a text"])], 1, 2**20, float, None)
    assert found.indices.dtype == found.indptr.dtype == np.int64
    assert found.indices.tolist() == [3, 5]


def test_containers():
    if not hasattr(sp, "csr_array") or "sparse_interface" not in sklearn.get_config():
        pytest.skip("needs scikit-learn 1.9")
    for interface in ("sparray", "spmatrix"):
        with sklearn.config_context(sparse_interface=interface):
            compare(TEXTS[:5])


def test_conventions_of_scikit_learn():
    ours = HashingVectorizer(n_features=2**10, n_jobs=2)
    assert clone(ours).get_params() == ours.get_params()
    assert set(ours.get_params()) == {*Theirs().get_params(), "n_jobs", "normalize"}
    assert isinstance(ours, Theirs)
    texts, y = ["good and fine", "bad and poor"] * 6, [0, 1] * 6
    expected = ours.fit_transform(texts)
    assert_equal(pickle.loads(pickle.dumps(ours)).transform(texts), expected)
    assert_equal(ours.partial_fit(texts).transform(texts), expected)
    assert ours.build_analyzer()("Good, and fine") == ["good", "and", "fine"]
    search = GridSearchCV(
        make_pipeline(HashingVectorizer(), BernoulliNB()),
        {"hashingvectorizer__ngram_range": [(1, 1), (1, 2)]},
        cv=2,
    )
    assert search.fit(texts, y).score(texts, y) == 1


def test_parameters_are_checked_as_theirs():
    for wrong in ({"n_features": 0}, {"norm": "max"}, {"ngram_range": (2, 1)}, {"n_jobs": 1.5}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            HashingVectorizer(**wrong).fit(["a"])
    with pytest.raises(ValueError, match="ngram_range"):
        HashingVectorizer(ngram_range=(2, 1)).transform(["a"])


@pytest.mark.parametrize("n_features", [0, -3])
def test_columns_are_checked_without_fit(n_features):
    """scikit-learn's class ends the process here: it divides by 0."""
    with pytest.raises(ValueError, match="'n_features' parameter of HashingVectorizer must be"):
        HashingVectorizer(n_features=n_features).transform(["a text"])
    with pytest.raises(ValueError, match="'n_features' parameter of HashingVectorizer must be"):
        MinHash().fit_any_width().encode_texts(HashingVectorizer(n_features=n_features), ["a text"])
