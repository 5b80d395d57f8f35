"""Texts in any language: normal forms, and words or single characters by the script."""

import random
import re
import sys
import unicodedata

import numpy as np
import pytest
from _data.chance import SEED
from sklearn.feature_extraction.text import HashingVectorizer as Theirs

from sparsemaps import MinHash
from sparsemaps.text import WORDS_AND_CHARACTERS, WORDS_AND_SIGNS, HashingVectorizer, normalize
from sparsemaps.text._analyzers import vectorizer_of
from sparsemaps.text._csr import make_rows
from sparsemaps.text._descriptions import vectorizer_config
from sparsemaps.text._normal_forms import (
    _CHANGING,
    _IGNORABLE,
    _PUNCTUATION,
    _SPACES,
    FORMS,
    _characters,
)

CHANGING, PUNCTUATION, SPACES = map(_characters, (_CHANGING, _PUNCTUATION, _SPACES))
IGNORABLE = _characters(_IGNORABLE)
EVERY = [chr(code) for code in range(sys.maxunicode + 1)]
MARKS = [character for character in EVERY if unicodedata.combining(character)]
_BLANKS = re.compile("[" + "".join(map(re.escape, sorted(PUNCTUATION | SPACES))) + "]+")


def by_python(text, form):
    """The definition, by the running Python, for texts without characters newer than Unicode 14."""
    if form != "plain":
        return unicodedata.normalize(form.upper(), text)
    text = "".join(character for character in text if character not in IGNORABLE)
    folded = unicodedata.normalize("NFKD", text).casefold()
    return _BLANKS.sub(" ", unicodedata.normalize("NFKC", folded))


def hard_texts(n):
    """Texts of letters, marks, Hangul, variants and punctuation, in any order."""
    random_state = random.Random(SEED)
    variants = [c for c in sorted(CHANGING) if unicodedata.normalize("NFKD", c) != c]
    hangul = [*map(chr, range(0x1100, 0x1200)), *"가각갛힣"]
    marks = [c for c in MARKS if c in CHANGING]
    others = [*"aA ,;Σας\u0345\u0390\u1fb3", *"漢\U0001f600\ud800\u200d\xad\U000e0100\u3164"]
    for _ in range(n):
        kinds = random_state.choices((variants, hangul, marks, others), (2, 2, 4, 2), k=20)
        yield "".join(map(random_state.choice, kinds[: random_state.randrange(21)]))


@pytest.mark.parametrize("form", FORMS)
def test_every_character(form):
    """Those that change are as Python has them. All others stay, or are blanks."""
    for character in CHANGING:
        assert normalize(character, form) == by_python(character, form), hex(ord(character))
    blanks = PUNCTUATION | SPACES if form == "plain" else frozenset()
    others = [character for character in EVERY if character not in CHANGING]
    dropped = IGNORABLE if form == "plain" else frozenset()
    stay = "x".join(
        " " if character in blanks else "" if character in dropped else character
        for character in others
    )
    assert normalize("x".join(others), form) == stay


def test_the_tables_are_those_of_the_running_python():
    """With Unicode 14.0 all that can change is in the tables. Later versions say the same of it."""
    assert set(filter(str.isspace, EVERY)) == SPACES
    assert all(unicodedata.category(character) != "Cn" for character in CHANGING)
    if unicodedata.unidata_version == "14.0.0":
        changing = {c for c in EVERY if unicodedata.normalize("NFKD", c.casefold()) != c}
        assert (changing | set(MARKS)) - set(map(chr, range(0xAC00, 0xD7A4))) <= CHANGING
        assert {c for c in EVERY if unicodedata.category(c)[0] == "P"} == PUNCTUATION


@pytest.mark.parametrize("form", FORMS)
def test_texts_against_python(form):
    for text in hard_texts(4000):
        found = normalize(text, form)
        assert found == by_python(text, form), ascii(text)
        assert normalize(found, form) == found


def test_characters_that_nobody_sees():
    """As NFKC_Casefold has it: they are left out, and do not part what belongs together."""
    assert len(IGNORABLE) == 4174  # as Unicode's file says
    assert not IGNORABLE & (PUNCTUATION | SPACES)
    for some in ("\xad", "\u200b", "\ufeff", "\U000e0041", "\ufe0f\u200d", "\u2066\u2069"):
        assert normalize(some, "plain") == ""
        assert normalize(some, "nfkc") == some
        assert normalize(f"so{some}ft e{some}\u0301 ,{some} x", "plain") == "soft é x"
    assert normalize("\u200d" * 200_000 + "e" + "\u200d" * 200_000 + "\u0301") == "é"


def test_texts_that_look_alike_are_equal():
    texts = ["“Ça”, naïve… ﬁn", "ça  naïve\tFIN", "ÇA -- NAÏVE! fin"]
    forms = [unicodedata.normalize(form, text) for text in texts for form in ("NFC", "NFD")]
    assert {normalize(text).strip() for text in forms} == {"ça naïve fin"}
    assert normalize("ＡＢＣ、ｶﾞ") == "abc ガ"


def test_a_text_that_stays_is_not_copied():
    for text in ("ascii, Only", "déjà vu", "漢字", "\ud800"):
        assert normalize(text, "nfc") is text


def test_marks_without_end():
    """Their number costs time in proportion, not its square."""
    text = "a" + "\u0301\u0323" * 200_000
    assert normalize(text, "nfc") == "ạ" + "\u0323" * 199_999 + "\u0301" * 200_000
    assert normalize("\u0301" * 200_000, "plain") == "\u0301" * 200_000


@pytest.mark.parametrize("form", ["NFC", "", None, 5, b"nfc"])
def test_forms_that_do_not_exist(form):
    with pytest.raises(ValueError, match="form must be 'nfc' or 'nfkc' or 'plain', got"):
        normalize("text", form)


def mixed_texts(n):
    random_state = random.Random(SEED + 1)
    letters = "ab Z_7(+-\n\t\x1c\x85東京、　ｶ，สวéညမြ한글 \U00020000\U0001f600\u2e7f\u3130"
    for _ in range(n):
        yield "".join(random_state.choices(letters, k=random_state.randrange(150)))


@pytest.mark.parametrize("ngram_range", [(1, 1), (2, 3)])
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("token_pattern", [WORDS_AND_CHARACTERS, WORDS_AND_SIGNS])
def test_words_and_single_characters_against_python(token_pattern, ngram_range, lowercase):
    texts = [*mixed_texts(300), "\U00020000" * 300, "東" * 130 + "a"]
    texts += ["x" * n + sign + "y" * n for n in range(58, 70) for sign in "東(—"]
    texts += ["(" * 200, "—" * 70]
    parameters = {"ngram_range": ngram_range, "lowercase": lowercase, "norm": None}
    theirs = Theirs(token_pattern=token_pattern, **parameters).transform(texts)
    ours = HashingVectorizer(token_pattern=token_pattern, **parameters)
    assert ours._is_compiled()
    for given in (texts, [text.encode() for text in texts]):
        found = ours.transform(given)
        assert (found != theirs).nnz == 0
        assert np.array_equal(found.indptr, theirs.indptr)


def test_auto_is_words_where_there_are_blanks():
    texts = ["I like Tokyo very much", "de l'été, déjà", "한국어 낱말 사이"]
    words, auto = (vectorizer_of(f"{kind}:2").transform(texts) for kind in ("word", "auto"))
    assert (words != auto).nnz == 0
    assert vectorizer_of("auto:1").build_analyzer()("Go to 東京、or ไทย") == [
        *("go", "to", "東", "京", "、", "or", "ไ", "ท", "ย")
    ]


def test_every_character_is_a_word_or_a_sign_as_in_python():
    of_utf8 = [character for character in EVERY if not "\ud800" <= character <= "\udfff"]
    words = [f"a{character}b" for character in of_utf8]
    texts = [" ".join(words[first : first + 500]) for first in range(0, len(words), 500)]
    theirs = Theirs(token_pattern=WORDS_AND_SIGNS, norm=None).transform(texts)
    ours = HashingVectorizer(token_pattern=WORDS_AND_SIGNS, norm=None).transform(texts)
    assert (ours != theirs).nnz == 0


def test_blanks_around_signs_do_not_matter_to_code():
    code = vectorizer_of("code:3")
    texts = ["if(a==b):x+=f(é_1)", "if (a == b):\n\tx += f( é_1 )"]
    one, other = code.transform(texts)
    assert one.nnz > 10
    assert (one != other).nnz == 0
    assert code.build_analyzer()("x+=y[1]") == ["x + =", "+ = y", "= y [", "y [ 1", "[ 1 ]"]
    given = vectorizer_of("word:3", token_pattern=WORDS_AND_SIGNS)
    assert vectorizer_config(given) == vectorizer_config(code)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "parameters",
    [
        {"analyzer": "word", "token_pattern": r"\S+", "ngram_range": (2, 2)},
        {"analyzer": "word", "token_pattern": WORDS_AND_CHARACTERS},
        {"analyzer": "word", "token_pattern": WORDS_AND_SIGNS},
        {"analyzer": "word", "token_pattern": r"[a-zé]+", "stop_words": ["fin"]},
        {"analyzer": "char", "ngram_range": (3, 4)},
        {"analyzer": "char_wb", "ngram_range": (3, 3), "strip_accents": "unicode"},
        {"analyzer": "word", "preprocessor": str.title},
    ],
    ids=str,
)
def test_vectorizers_take_the_form(form, parameters):
    texts = [*hard_texts(60), *mixed_texts(20), "“Ça”, naïve… ﬁn", "ASCII, Only;  fin", ""]
    texts = [text.replace("\ud800", "") for text in texts]
    vectorizer = HashingVectorizer(normalize=form, norm=None, n_jobs=2, **parameters)
    theirs = Theirs(norm=None, **parameters).transform([normalize(text, form) for text in texts])
    for given in (texts, [text.encode() for text in texts], np.array(texts, object)):
        assert (vectorizer.fit(given).transform(given) != theirs).nnz == 0
    by_their_way = Theirs(analyzer=vectorizer.build_analyzer(), norm=None).transform(texts)
    assert (by_their_way != theirs).nnz == 0


@pytest.mark.parametrize("analyzer", ["char", "word"])
def test_long_texts_take_the_form(analyzer):
    text = "Ça, (va) naïve -- word Word,word ﬁn e\u0301t " * 400
    how = {"analyzer": analyzer, "ngram_range": (2, 3), "norm": None}
    theirs = Theirs(**how).transform([normalize(text)])
    pieces = HashingVectorizer(normalize="plain", **how)._compiled()
    pieces._n_characters, pieces._n_shared = 1000, 30
    found = make_rows(pieces, [(0, [text])], 1, theirs.shape[1], float, None)
    assert (found != theirs).nnz == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"normalize": "NFC"}, "normalize must be None or 'nfc' or .*got 'NFC'"),
        ({"normalize": 1}, "normalize must be None or 'nfc' or .*got 1"),
        ({"normalize": "nfc", "analyzer": str.split}, "None if the analyzer is a function"),
    ],
)
def test_forms_of_vectorizers_that_are_not_allowed(parameters, message):
    for method in ("fit", "transform"):
        with pytest.raises(ValueError, match=message):
            getattr(HashingVectorizer(**parameters), method)(["text"])


def test_descriptions():
    with pytest.raises(ValueError, match="normalize must be None for 'byte:3', got 'nfc'"):
        vectorizer_of("byte:3", normalize="nfc")
    with pytest.raises(ValueError, match="a token pattern is for words"):
        vectorizer_of("auto:3", token_pattern=r"\w+")
    made = [vectorizer_of("auto:5", normalize=form) for form in (None, *FORMS)]
    configs = list(map(vectorizer_config, made))
    assert [config["parameters"].get("normalize") for config in configs] == [None, *FORMS]
    assert "normalize" not in configs[0]["parameters"]


def test_codes_of_other_forms_do_not_compare():
    minhash = MinHash(n_hashes=64, random_state=0).fit_any_width()
    plain, other = (
        minhash.encode_texts(vectorizer_of("auto:1", normalize=form), ["Ａ 東京", "b"], packed=True)
        for form in ("plain", "nfc")
    )
    assert (plain.array != other.array).any()
    with pytest.raises(ValueError, match="text"):
        type(plain).concatenate([plain, other])
