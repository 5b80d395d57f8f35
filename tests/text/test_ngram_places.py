"""Which parts of a text its n-grams are."""

import numpy as np
import pytest

from sparsemaps._input._row_reader import RowReader
from sparsemaps._input._sparse import open_sparse
from sparsemaps.text import _frequencies, _ngram_places
from sparsemaps.text._analyzers import vectorizer_of
from sparsemaps.text._ngram_places import ngrams_of
from sparsemaps.text._normal_forms import FORMS
from sparsemaps.text._own_ngrams import OwnNgrams

TEXTS = [
    "Hello  World, this is a\n\n test-case of Ünïcode 東京 and Σας ΣΑΣ foo(bar)",
    "",
    "one",
    " a b c d e f g a b ",
    "İx y ß ﬁne ½",
    "กขค ab漢字cd",
    "\x00\x85\u2028 a\x1fb",
]
MARKED = "a cafe\u0301, and a cafe\u0301s"
"""By characters of the form "plain", no cut has its tokens: a comma and a blank are one blank, and
a letter and its mark one letter."""

SPECS = (
    *("word:1", "word:3", "word:1-2", "auto:2", "code:2", "char:3", "char:3-5"),
    *("char_wb:2-3", "byte:1-3"),
)


def vectorizers():
    for spec in SPECS:
        yield pytest.param(vectorizer_of(spec), id=spec)
        if not spec.startswith("byte"):
            for form in FORMS:
                yield pytest.param(vectorizer_of(spec, normalize=form), id=f"{spec}, {form}")
    for pattern in (r"\w+|[^\w]", r"(?u)\b\w\w+\b", r"(\w)\w+"):
        yield pytest.param(vectorizer_of("word:2", token_pattern=pattern), id=pattern)


@pytest.mark.parametrize("vectorizer", vectorizers())
def test_ngrams_have_the_columns_of_the_row_and_stand_in_their_parts(vectorizer):
    for text in TEXTS:
        found = ngrams_of(vectorizer, text)
        assert found is not None
        assert "".join(found.pieces) == text
        X = vectorizer.transform([text])
        columns, counts = np.unique(found.columns, return_counts=True)
        order = np.argsort(X.indices)
        assert columns.tolist() == X.indices[order].tolist()
        assert counts.tolist() == X.data[order].tolist()
        assert (found.first <= found.last).all()
        # The words of the pieces alone have each n-gram.
        spans = [
            "".join(found.pieces[first : last + 1])
            for first, last in zip(found.first, found.last, strict=True)
        ]
        for column, row in zip(found.columns, vectorizer.transform(spans), strict=True):
            assert column in row.indices


@pytest.mark.parametrize(("spec", "known"), [("word:2", True), ("char:2", False)])
def test_marks_that_join_letters(spec, known):
    assert (ngrams_of(vectorizer_of(spec, normalize="plain"), MARKED) is not None) == known


@pytest.mark.parametrize("spec", ["char:1-2000", "byte:1-7", "word:50-59"])
def test_ngrams_that_take_too_much_memory_have_no_places(spec, monkeypatch):
    text = "a b " * 800
    vectorizer = vectorizer_of(spec)
    if spec.startswith("byte"):  # whose n-grams are short
        monkeypatch.setattr(_ngram_places, "_MOST_TOKENS", 3200 * 28 - 1)
    elif spec.startswith("word"):
        monkeypatch.setattr(_ngram_places, "_MOST_TOKENS", 1600 * 545 - 1)
    assert ngrams_of(vectorizer, text) is None
    assert ngrams_of(vectorizer, text[:30]) is not None
    monkeypatch.setattr(_ngram_places, "_MOST_TOKENS", _ngram_places._MOST_TOKENS + 1)
    assert spec.startswith("char") or ngrams_of(vectorizer, text) is not None


def own_of(spec, texts, path, max_df, **how):
    vectorizer = vectorizer_of(spec, **how)
    table = _frequencies.Frequencies(2**16)
    table.add(RowReader(open_sparse(vectorizer.transform(texts), "X"), None))
    _frequencies.write(path, table, {})
    return OwnNgrams(vectorizer, str(path), max_df, 1)


@pytest.mark.parametrize(("spec", "common"), [
    ("word:3", "the  menu of|the site\nabove"),
    ("char:4", "the  menu of|the site\nabove "),
    ("byte:4", "the  menu of|the site\nabove "),
])  # fmt: skip
def test_the_characters_of_common_ngrams(tmp_path, spec, common):
    """Words of a frame are common, what stands within it is not, nor is what begins in it."""
    texts = [f"{one} the  menu of {one}{one} the site\nabove {one}" for one in ("xq", "yz", "zx")]
    own = own_of(spec, texts, tmp_path / "table", max_df=2)
    for text, word in zip(texts, ("xq", "yz", "zx"), strict=True):
        is_common = own.is_common(text)
        assert is_common.shape == (len(text),)
        shown = "".join(c if pale else "|" for c, pale in zip(text, is_common, strict=True))
        parts = [part.strip(" ") for part in shown.split("|") if part]
        assert parts == [part.strip(" ") for part in common.split("|")]
        assert not any(is_common[place] for place in range(len(text)) if text[place] in word)
        assert not own_of(spec, texts, tmp_path / "all", max_df=3).is_common(text).any()
    assert not own.is_common("").size
    assert not own.is_common("new words are here").any()


def test_where_places_are_not_known_nothing_is_common(tmp_path):
    own = own_of("char:2", [MARKED] * 3, tmp_path / "table", max_df=1, normalize="plain")
    assert not own.is_common(MARKED).any()
    assert own.is_common("and a cafe").all()


def test_own_ngrams_of_rows_are_counted(tmp_path):
    texts = ["a b c d", "a b c e", "a b f", ""]
    own = own_of("word:2", texts, tmp_path / "table", max_df=2)
    X = own.vectorizer.transform(texts)  # "a b" is in three
    assert own.n_own(X.indices, X.indptr[1:]).tolist() == [2, 2, 1, 0]
