"""Snippets of texts: whole words, chosen by the seed and the number of the text."""

import random
import re
import unicodedata

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _data.chance import SEED
from _oracles import theorems
from scipy import stats

from sparsemaps.text import WORDS_AND_CHARACTERS, _inputs, snippets

pa = pytest.importorskip("pyarrow")

LENGTHS = (1, 3, 3, 7)


def is_mark(character):
    """By the running Python: a mark, or one of the few letters that do not stand alone either."""
    return (
        unicodedata.category(character)[0] == "M" or character in "\u200d\u0e33\u0eb3\uff9e\uff9f"
    )


def words(text):
    """The beginnings and ends of the words, by Python: marks belong to the word before them."""
    found = []
    for match in re.finditer(WORDS_AND_CHARACTERS, text):
        start, end = match.span()
        while start < end and found and found[-1][1] == start and is_mark(text[start]):
            found[-1][1] = start = start + 1
        if start < end:
            found.append([start, end])
    return found


def mixed_texts(n):
    """Texts of words and of characters of many scripts, with marks, blanks and halves of pairs."""
    random_state = random.Random(SEED)
    units = [*"ab Z\n\t,", "word", "naïve", "e\u0301\u0323", "東", "京\U000e0100", "　", "が", "ｶﾞ"]
    units += [
        "สั้น",
        "กำ",
        "ညွှန်",
        "ខ្មែរ",
        "한글",
        "\U0001f468\u200d\U0001f469",
        "\U00020000",
        "\ud800x",
        "\xa0",
        "\x1f",
    ]
    for _ in range(n):
        yield "".join(random_state.choices(units, k=random_state.randrange(60)))


def number_of_first(text, n, snippet):
    """The numbers of the words with which a snippet of `n` words may begin."""
    places = words(text)
    return [
        i for i in range(len(places) - n + 1)
        if text[places[i][0] : places[i + n - 1][1]] == snippet
    ]  # fmt: skip


def test_snippets_are_whole_words_and_characters_with_their_marks():
    texts = list(mixed_texts(400))
    found, index = snippets(texts, LENGTHS, random_state=SEED)
    expected = [row for row, text in enumerate(texts) for n in LENGTHS if len(words(text)) >= n]
    assert index.dtype == np.int64
    assert index.tolist() == expected
    pairs = iter(zip(found, index.tolist(), strict=True))
    for row, text in enumerate(texts):
        for n in LENGTHS:
            if len(words(text)) >= n:
                snippet, of = next(pairs)
                assert of == row
                assert number_of_first(text, n, snippet), (text, n, snippet)


@pytest.mark.parametrize(
    ("text", "n", "snippet"),
    [
        ("two cats", 2, "two cats"),
        (" \n two\u2003 cats\t", 2, "two\u2003 cats"),
        ("東京", 2, "東京"),
        ("東\U000e0100", 1, "東\U000e0100"),
        ("กำ", 1, "กำ"),
        ("ｶﾞ", 1, "ｶﾞ"),
        ("e\u0301", 1, "e\u0301"),
        (" \u0e31a", 2, "\u0e31a"),  # a mark that belongs to nothing
        ("a\ud800\ud801 \udfff", 2, "a\ud800\ud801 \udfff"),
        ("x" * 10_000, 1, "x" * 10_000),
        ("\u0e31" * 500, 1, "\u0e31" * 500),
        (b"\xc3\xa9t\xc3\xa9", 1, "été"),
    ],
)  # fmt: skip
def test_texts_with_one_snippet(text, n, snippet):
    for number in range(20):
        assert snippets([text], [n], random_state=number)[0] == [snippet]
    assert snippets([text], [n + 1], random_state=SEED)[0] == []


@pytest.mark.parametrize("text", ["", " ", "\n\u3000\t" * 100])
def test_texts_without_words_have_none(text):
    found, index = snippets([text, "a b", text], [1, 2, 3], random_state=SEED)
    assert (found[1:], index.tolist()) == (["a b"], [1, 1])
    assert snippets([], [1], random_state=SEED)[0] == []


@pytest.mark.parametrize(
    ("text", "n"),
    [("  a  bb cccc\nd ee f", 2), ("a東京 bcd　xสั้นกำ", 3), (" ".join(map(str, range(70))), 60)],
)
def test_a_snippet_begins_with_the_word_of_a_character_that_is_drawn(text, n):
    """A blank is drawn for the word after it."""
    places = words(text)
    last = len(places) - n
    ways = np.diff([0] + [end for _, end in places[: last + 1]])
    number = {text[places[i][0] : places[i + n - 1][1]]: i for i in range(last + 1)}
    found, _ = snippets([text] * 4000, [n], random_state=SEED)
    counts = np.bincount([number[one] for one in found], minlength=last + 1)
    assert stats.chisquare(counts, 4000 * ways / ways.sum()).pvalue > theorems.KS_LEVEL


def test_snippets_are_a_function_of_seed_and_number():
    texts = list(mixed_texts(300))
    found, index = snippets(texts, LENGTHS, random_state=SEED + 5)
    parts = []
    for start, stop in ((0, 1), (1, 120), (120, 120), (120, 300)):
        some, rows = snippets(texts[start:stop], LENGTHS, random_state=SEED + 5, first=start)
        parts += zip(some, (rows + start).tolist(), strict=True)
    assert parts == list(zip(found, index.tolist(), strict=True))


def test_another_seed_number_or_length_is_another_draw():
    text = " ".join(map(str, range(1000)))
    one, same = (snippets([text], (4, 4), random_state=SEED + 7)[0] for _ in range(2))
    assert one == same
    assert one[0] != one[1]
    assert snippets([text], (4,), random_state=SEED + 7)[0] == one[:1]
    assert snippets([text], (4,), random_state=SEED + 8)[0] != one[:1]
    assert snippets([text], (4,), random_state=SEED + 7, first=1)[0] != one[:1]
    assert snippets([text], (4,), random_state=SEED + 7, first=2**63 - 1)[0] != one[:1]


def test_containers(monkeypatch):
    texts = [
        text.rstrip("\0") for text in mixed_texts(200) if text.isascii() or "\ud800" not in text
    ]
    expected, index = snippets(texts, LENGTHS, random_state=SEED + 1)
    monkeypatch.setattr(_inputs.blocks, "__defaults__", (50,))  # characters of a block
    for some in (
        iter(texts), tuple(texts), np.array(texts, object), pd.Series(texts), pl.Series(texts),
        pa.array(texts), pa.chunked_array([texts[:7], texts[7:]]), [one.encode() for one in texts],
    ):  # fmt: skip
        found = snippets(some, LENGTHS, random_state=SEED + 1)
        assert (found[0], found[1].tolist()) == (expected, index.tolist()), type(some)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "text 1: a text must be a str or bytes, got None"),
        (3, "text 1: a text must be a str or bytes, got int"),
        (b"\xff", "text 1: 'utf-8' codec can't decode"),
    ],
)
def test_what_is_no_text(text, message):
    with pytest.raises(ValueError, match=message):
        snippets(["a", text], [1])


def test_a_single_string_is_no_list_of_texts():
    with pytest.raises(ValueError, match="a single str"):
        snippets("two cats", [1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"lengths": []}, r"lengths must be 1 to 64 integers from 1 to 2147483647, got \[\]"),
        ({"lengths": 4}, "lengths must be 1 to 64 integers from 1 to 2147483647, got 4"),
        ({"lengths": "44"}, "lengths must be 1 to 64 integers from 1 to 2147483647, got '44'"),
        ({"lengths": [1] * 65}, "lengths must be 1 to 64 integers"),
        ({"lengths": [4, 0]}, "lengths must be from 1 to 2147483647, got 0"),
        ({"lengths": [4.0]}, "lengths must be an integer from 1"),
        ({"lengths": [True]}, "lengths must be an integer from 1"),
        ({"random_state": -1}, "random_state must be a non-negative integer, got -1"),
        ({"first": -1}, "first must be from 0"),
    ],
)
def test_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        snippets(["a b"], **{"lengths": [1], "random_state": 0} | parameters)
