"""Raw text at the edges of registers, slots, pages and buffers.

Each of these kills a change of the source that other tests let pass (tests/mutants).
"""

import itertools

import numpy as np
import pytest
from _oracles.hashed_texts import assert_equal, compare

from sparsemaps.text import ByteNgrams, HashingVectorizer
from sparsemaps.text._csr import make_rows


def test_words_and_spaces_at_the_ends_of_registers():
    """A word of one character, and two spaces, at every place around bytes 64 and 128."""
    places = [*range(56, 72), *range(120, 136)]
    texts = ["w" * (n - 1) + " y" + end for n in places for end in ("", " zz", "  zz")]
    texts += ["w" * n + "  " + "語" * 3 for n in places]
    compare(texts, ngram_range=(1, 2))
    compare(texts, token_pattern=r"\w+")
    compare(texts, analyzer="char", ngram_range=(1, 3))
    compare(texts, analyzer="char_wb", ngram_range=(1, 3))


def test_stop_words_that_share_a_slot():
    words = ["".join(letters) for letters in itertools.product("abcdefghij", repeat=3)]
    for step in (2, 3, 7):
        compare([" ".join(words), *words[:30]], stop_words=words[::step], ngram_range=(1, 2))


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_bits_of_long_ngrams(analyzer):
    """N-grams of more characters than a word of bits has."""
    words = [chr(97 + n % 26) * n + "é" for n in range(40, 210, 7)]
    for ngram_range in ((60, 70), (126, 131), (200, 205)):
        compare([" ".join(words), " ".join("xy" * 150)], analyzer=analyzer, ngram_range=ngram_range)


def test_utf8_that_python_does_not_decode():
    """Every first byte, with those behind it at the ends of what may follow it."""
    seconds = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
    ends = [b"\x80\x80", b"\x7f\x80", b"\x80\xc0", b"\xbf\xbf"]
    vectorizer = HashingVectorizer(analyzer="char")
    sound = []
    for first, second, end in itertools.product(range(0x80, 0x100), seconds, ends):
        for text in (bytes([first, second]) + end, bytes([first, second]) + end[:1]):
            try:
                text.decode()
            except UnicodeDecodeError:
                with pytest.raises(UnicodeDecodeError, match=r"\(text 0\)"):
                    vectorizer.transform([text + b" and more"])
            else:
                sound.append(text)
    assert len(sound) > 100
    compare(sound, analyzer="char")


def test_ngrams_are_counted_before_equal_ones_are_summed():
    """scikit-learn's index type depends on their number in all blocks."""
    vectorizer = HashingVectorizer()._compiled()
    assert vectorizer.rows(0, ["aa bb aa", "", "cc"])[3] == 4

    class OneEntry:
        """Rows of one entry that is said to be of 2^30 n-grams."""

        def rows(self, first, texts):
            n = len(texts)
            return np.zeros(n, np.int32), np.ones(n), np.arange(1, n + 1), 2**30

        def give_back(self, columns, values):
            pass

    for n_blocks, index_type in ((1, np.int32), (2, np.int64), (3, np.int64)):
        blocks = [(number, ["text"]) for number in range(n_blocks)]
        found = make_rows(OneEntry(), blocks, 0, 5, np.float64, None)
        assert found.indices.dtype == found.indptr.dtype == index_type
        assert found.toarray().tolist() == [[1, 0, 0, 0, 0]] * n_blocks


def test_errors_name_texts_of_any_block():
    pa = pytest.importorskip("pyarrow")
    long = "some words " * 20_000
    for texts in ([long, "short", long, None], pa.array([long, "short", long, None])):
        for vectorizer in (HashingVectorizer(), ByteNgrams(ngram_range=(1, 1))):
            with pytest.raises((ValueError, AttributeError), match=r"\(text 3\)"):
                vectorizer.transform(texts)


def test_arrays_of_many_texts():
    texts = [f"text {n}" for n in range(3000)]
    expected = HashingVectorizer().transform(texts)
    for array in (np.array(texts), np.array(texts, object)):
        assert_equal(HashingVectorizer().transform(array), expected)


# ---- Arrow ---------------------------------------------------------------------------------------


def test_nulls_of_each_place():
    pa = pytest.importorskip("pyarrow")
    for place in range(20):
        array = pa.array(["before"] * 3 + [None if i == place else "text" for i in range(20)])[3:]
        for vectorizer in (HashingVectorizer(), ByteNgrams()):
            with pytest.raises(ValueError, match=rf"\(text {place}\)"):
                vectorizer.transform(array)


def test_views_of_every_length():
    """Short strings lie in their views, longer ones in one of several buffers."""
    pa = pytest.importorskip("pyarrow")
    parts = [["abcdefghijklmnopqrstuvwxyz"[start:][:n] for n in range(26)] for start in range(3)]
    views = pa.concat_arrays([pa.array(part).cast(pa.string_view()) for part in parts])
    texts = list(itertools.chain(*parts))
    for vectorizer in (HashingVectorizer(analyzer="char", ngram_range=(1, 3)), ByteNgrams()):
        assert_equal(vectorizer.transform(views), vectorizer.transform(texts))


def test_a_character_that_is_cut_between_two_texts():
    pa = pytest.importorskip("pyarrow")
    offsets = pa.py_buffer(np.array([0, 2, 3], np.int32))
    array = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer("aé".encode())])
    with pytest.raises(UnicodeDecodeError, match=r"\(text 0\)"):
        HashingVectorizer(analyzer="char").transform(array)
