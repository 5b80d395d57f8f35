"""Vectorizers by short descriptions, and what codes know of them."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from _data.strange_texts import strange_texts
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_extraction.text import HashingVectorizer as Theirs

from sparsemaps.files import Texts
from sparsemaps.text import ByteNgrams, HashingVectorizer
from sparsemaps.text._analyzers import as_vectorizer, is_specification, spec_of, vectorizer_of
from sparsemaps.text._descriptions import vectorizer_config

TEXTS = [text for text in strange_texts(40) if text.isprintable()]


@pytest.mark.parametrize(
    ("spec", "analyzer", "ngram_range"),
    [
        ("word:1", "word", (1, 1)),
        ("word:5", "word", (5, 5)),
        ("word:1-3", "word", (1, 3)),
        ("char:3-5", "char", (3, 5)),
        ("char_wb:3", "char_wb", (3, 3)),
    ],
)
@pytest.mark.parametrize("binary", [False, True])
def test_hashed(spec, analyzer, ngram_range, binary):
    theirs = Theirs(
        analyzer=analyzer,
        ngram_range=ngram_range,
        token_pattern=r"\S+",
        norm=None,
        alternate_sign=False,
        binary=binary,
        n_features=2**31 - 2,
    )
    found = vectorizer_of(spec, binary=binary).transform(TEXTS)
    assert found.shape[1] == 2**31 - 2
    assert (found != theirs.transform(TEXTS)).nnz == 0
    assert vectorizer_of(spec, n_features=10, n_jobs=2).transform(TEXTS).shape[1] == 10


def test_others():
    found = vectorizer_of("byte:1-2", binary=True, n_jobs=2)
    assert isinstance(found, ByteNgrams)
    assert (found.ngram_range, found.binary, found.lowercase) == ((1, 2), True, False)
    found = vectorizer_of("word:1", token_pattern=r"\w+", n_features=2**20)
    assert (found.transform(["one, two"]).data == 1).all()
    assert found.token_pattern == r"\w+"


@pytest.mark.parametrize(
    "spec",
    [
        *("", "word", "word:", "word:0", "word:-1", "word:2-1", "word:1-", "word:1-2-3", "words:1"),
        *("char:1.5", " word:1", "word:1\n", "Word:1", "word:٣", "word:1e3", "word:9999999999"),
        *(None, 5, b"word:1", ("word", 1)),
    ],
)
def test_bad_descriptions(spec):
    with pytest.raises(ValueError, match="such as word:5 or char:3-5; got ") as caught:
        vectorizer_of(spec)
    assert repr(spec) in str(caught.value)


def test_other_bad_parameters():
    with pytest.raises(ValueError, match="n-grams of bytes have at most 7, got 'byte:3-8'"):
        vectorizer_of("byte:3-8")
    for spec in ("char:3", "char_wb:3", "byte:3"):
        with pytest.raises(ValueError, match=f"a token pattern is for words, not for '{spec}'"):
            vectorizer_of(spec, token_pattern=r"\w+")
    for pattern in ("(", "(a)(b)", "*", 5):
        with pytest.raises(ValueError, match="the token pattern must be a regular expression"):
            vectorizer_of("word:1", token_pattern=pattern)
        with pytest.raises(ValueError, match=r"token.pattern"):
            HashingVectorizer(token_pattern=pattern).fit(["a"])


def test_configs():
    """Vectorizers with equal rows have one configuration, those with others another."""
    ours = HashingVectorizer(n_features=np.int64(2**20), stop_words=frozenset("hgfedcba"))
    theirs = Theirs(n_features=2**20, stop_words=list("abcdefgh"), dtype=np.float32)
    assert vectorizer_config(ours) == vectorizer_config(theirs)
    made = [
        *map(vectorizer_of, ["word:3", "word:5", "word:3-5", "char:3", "char_wb:3", "byte:3"]),
        vectorizer_of("word:3", token_pattern=r"\w+"),
        vectorizer_of("word:3", n_features=2**20),
        vectorizer_of("byte:2"),
        *(HashingVectorizer(**{name: value}) for name, value in OPTIONS.items()),
        CountVectorizer().fit(["a text"]),
        CountVectorizer().fit(["another text"]),
        TfidfVectorizer().fit(["a text"]),
    ]
    configs = [vectorizer_config(vectorizer) for vectorizer in made]
    texts = [json.dumps(config) for config in configs]
    assert len(set(texts)) == len(texts)
    assert [json.loads(text) for text in texts] == configs
    for spec in ("word:3", "byte:3"):
        one, other = (vectorizer_of(spec, binary=binary) for binary in (False, True))
        assert vectorizer_config(one) != vectorizer_config(other)
        assert vectorizer_config(one, values=False) == vectorizer_config(other, values=False)
        assert vectorizer_config(one) == vectorizer_config(vectorizer_of(spec, n_jobs=2))
    one, other = (HashingVectorizer(analyzer="char", token_pattern=p) for p in (r"\w+", r"\S+"))
    assert vectorizer_config(one) == vectorizer_config(other)


OPTIONS = {
    "encoding": "latin-1",
    "decode_error": "ignore",
    "strip_accents": "ascii",
    "lowercase": False,
    "preprocessor": str.upper,
    "tokenizer": str.split,
    "stop_words": "english",
    "token_pattern": r"\d+",
    "ngram_range": (2, 2),
    "analyzer": "char",
    "n_features": 2**10,
    "binary": True,
    "norm": None,
    "alternate_sign": False,
}


def test_configs_of_sets_and_of_normal_forms():
    """What decides values only is left out of sets; what decides n-grams never is."""
    made = HashingVectorizer(norm=None)
    for other, are_equal in (({"norm": "l1"}, True), ({"binary": True}, True),
                             ({"normalize": "nfc"}, False)):  # fmt: skip
        config = vectorizer_config(HashingVectorizer(**{"norm": None, **other}), values=False)
        assert (config == vectorizer_config(made, values=False)) == are_equal
        assert vectorizer_config(HashingVectorizer(**{"norm": None, **other})) != (
            vectorizer_config(made)
        )


@pytest.mark.parametrize("spec", ["word:2", "auto:2", "char:2"])
def test_the_normal_form_of_each_analyzer(spec):
    assert vectorizer_of(spec, normalize="nfkc").normalize == "nfkc"
    assert vectorizer_of(spec).normalize is None


@pytest.mark.parametrize("normalize", [None, "plain"])
@pytest.mark.parametrize(
    "spec", ["word:1", "auto:2-3", "code:5", "char:3", "char_wb:3-5", "byte:3"]
)
def test_descriptions_are_known_by_their_specs(spec, normalize):
    if spec.startswith("byte") and normalize:
        return
    description = vectorizer_config(vectorizer_of(spec, normalize=normalize), values=False)
    assert spec_of(description) == spec
    assert spec_of({**description, "class": "Another"}) is None
    for name, value in {"lowercase": "maybe", "ngram_range": [3], "analyzer": "words"}.items():
        changed = {**description["parameters"], name: value}
        assert spec_of({**description, "parameters": changed}) is None
    assert spec_of({}) is None


def test_what_says_ngrams():
    assert is_specification("word:1")
    assert is_specification(Texts("word:1"))
    for other in (SimpleNamespace(analyzer="word:1"), HashingVectorizer(), HashingVectorizer, None):
        assert not is_specification(other)


def test_sets_have_no_weights():
    with pytest.raises(ValueError, match="idf weighs values, but the map takes sets"):
        as_vectorizer(Texts("word:1", idf=2.0), binary=True)
