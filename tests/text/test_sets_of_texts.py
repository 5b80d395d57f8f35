"""The road from texts to codes: sets of columns without values, by loops that are made once."""

import pickle

import numpy as np
import pytest
from _data.hashed_words import word_of_hash
from _data.strange_texts import strange_texts

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.files import map_files
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.text import ByteNgrams, HashingVectorizer, _inputs
from sparsemaps.text._analyzers import vectorizer_of

TEXTS = [*strange_texts(40), "", "a b a b c", "same words " * 300]


def assert_sets_are_those_of_rows(vectorizer, texts):
    compiled = vectorizer._compiled()
    for first, block in _inputs.blocks(texts, 2000):
        columns, values, ends, _ = compiled.rows(first, block, sets=True)
        assert values is None
        expected, _, expected_ends, _ = compiled.rows(first, block)
        np.testing.assert_array_equal(columns, expected)
        np.testing.assert_array_equal(ends, expected_ends)
        compiled.give_back(columns, values)


@pytest.mark.parametrize(
    "spec", ["word:1", "word:2-3", "auto:2", "code:2", "char:1-5", "char_wb:3-4"]
)
@pytest.mark.parametrize("n_features", [1, 100, 2**20, 2**31 - 2])
def test_sets_have_the_columns_of_rows(spec, n_features):
    assert_sets_are_those_of_rows(vectorizer_of(spec, n_features=n_features), TEXTS)


def test_columns_that_share_a_slot():
    """Few enough for the table, too many for its end, and too many steps: sorted."""
    words = np.array([f"w{number}" for number in range(300_000)])
    order = np.argsort(vectorizer_of("word:1").transform(words).indices)
    low, high, others = words[order[:70]], words[order[-70:]], words[:1500]
    texts = [" ".join(words[:n]) for words in (low, high) for n in (1, 15, 31, 63, 64, 65, 70)]
    texts += [" ".join([*words[:n], *others]) for words in (low, high) for n in (31, 64, 65, 70)]
    texts += [" ".join([*words[::-1], *others]) for words in (low, high)]
    assert_sets_are_those_of_rows(vectorizer_of("word:1"), texts)


def test_long_texts():
    vectorizer = vectorizer_of("word:2", binary=True)
    compiled = vectorizer._compiled()
    compiled._n_characters, compiled._n_shared = 1000, 30
    text = " ".join(f"w{number % 500}" for number in range(2000))
    for block in (["short one", text], [text]):
        columns, _, ends, _ = compiled.rows(0, block, sets=True)
        expected = vectorizer.transform(block)
        np.testing.assert_array_equal(columns, expected.indices)
        np.testing.assert_array_equal(ends, expected.indptr[1:])


def test_sums_that_are_zero_are_no_members():
    """With signs, and without `binary`, the values decide; with `binary`, they do not."""
    plus, minus = word_of_hash(7), word_of_hash(2**32 - 7)
    minhash = MinHash(n_hashes=16, random_state=0).fit_any_width()
    for binary in (False, True):
        vectorizer = HashingVectorizer(norm=None, binary=binary)
        assert vectorizer._compiled().has_sets == binary
        found = minhash.encode_texts(vectorizer, [f"{plus} {minus} word", "word"], packed=True)
        assert (found.sizes == ([2, 1] if binary else [1, 1])).all()
        expected = minhash.encode(vectorizer.transform([f"{plus} {minus} word", "word"]))
        np.testing.assert_array_equal(found.array, expected)


@pytest.mark.parametrize("map", [MinHash(n_hashes=32), ConsistentWeightedSampling(n_hashes=8)])
@pytest.mark.parametrize(
    "vectorizer",
    [vectorizer_of("char:2-3"), ByteNgrams(ngram_range=(2, 2)), vectorizer_of("word:1")],
)
def test_one_encoder_for_many_calls(map, vectorizer):
    fitted = map.set_params(random_state=0).fit_any_width()
    encoder = TextEncoder(fitted, vectorizer)
    expected = fitted.encode(vectorizer.transform(TEXTS), packed=True)
    for each in (encoder, encoder, pickle.loads(pickle.dumps(encoder))):
        found = each.encode(TEXTS, 2, packed=True)
        np.testing.assert_array_equal(found.array, expected.array)
        np.testing.assert_array_equal(found.sampled, expected.sampled)
        np.testing.assert_array_equal(each.encode(TEXTS, packed=False), expected.array)
        assert len(each.encode([], packed=True)) == 0


def test_the_compiled_vectorizer_is_made_once(tmp_path):
    made = []

    class Counted(HashingVectorizer):
        def _compiled(self):
            made.append(self)
            return super()._compiled()

    minhash = MinHash(n_hashes=16, random_state=0).fit_any_width()
    texts = ["some words of a text " * 1000] * 20
    assert len(list(_inputs.blocks(texts))) > 2
    vectorizer = Counted(norm=None, binary=True, alternate_sign=False)
    codes = minhash.encode_texts(vectorizer, texts, packed=True)
    assert len(made) == 1
    encoder = TextEncoder(minhash, vectorizer)
    for text in texts:
        np.testing.assert_array_equal(encoder.encode([text], packed=True).array, codes.array[:1])
    assert len(made) == 2


def test_codes_of_files_are_those_of_texts(tmp_path):
    texts = [text for text in TEXTS if text.isprintable()]
    (tmp_path / "in.txt").write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    minhash = MinHash(n_hashes=16, random_state=0)
    map_files(minhash, tmp_path / "in.txt", tmp_path / "out.npy", source="auto:2", format="npy")
    fitted = minhash.fit_any_width()
    expected = fitted.encode_texts(vectorizer_of("auto:2", binary=True), texts)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)


def test_vectorizers_of_others_are_asked_for_rows():
    """Whatever names their attributes have."""

    class Others:
        n_features = 64
        _compiled = describe = None

        def transform(self, texts):
            return HashingVectorizer(n_features=64, norm=None).transform(texts)

        def get_params(self, deep=True):
            return {}

    minhash = MinHash(n_hashes=16, random_state=0).fit_any_width()
    for Others._compiled in (7, lambda self: 7):
        Others.describe = Others._compiled
        found = minhash.encode_texts(Others(), TEXTS)
        np.testing.assert_array_equal(found, minhash.encode(Others().transform(TEXTS)))
