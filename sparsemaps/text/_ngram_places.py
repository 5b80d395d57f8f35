"""The positions of n-grams in a text.

A vectorizer hashes tokens (words, characters, bytes) of a normalized text, in which letters are
lowered and marks may be composed. Here the text is cut so that the concatenated tokens of the
pieces are the tokens of the whole text. So each token belongs to a piece of the original text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, Vectorizer
from sparsemaps.text._byte_ngrams import ByteNgrams
from sparsemaps.text._vectorizer import WORDS_AND_CHARACTERS, WORDS_AND_SIGNS, HashingVectorizer

_CUTS = tuple(map(re.compile, (rf"{WORDS_AND_CHARACTERS}|\s+", r"\S+|\s+", r"\w+|\W+")))
"""Ways to cut a text. The first one whose pieces have the tokens of the text is used."""

_SIGNS = re.compile(rf"{WORDS_AND_SIGNS}|\s+")
"""The first way to cut source code."""

_MOST_TOKENS = 2**25
"""Largest number of tokens in all n-grams of a text, about 300 MB. The n-grams of 1 to 20
characters of a text of 2**17 characters have a fifth fewer and take four seconds."""


class Ngrams(NamedTuple):
    """The n-grams of a text, ordered by size and then by place."""

    pieces: list[str]
    """The pieces of the text."""
    columns: Array
    """The column of each n-gram. An n-gram that occurs twice is listed twice."""
    first: Array
    """The piece in which each n-gram begins."""
    last: Array
    """The piece in which each n-gram ends."""


def ngrams_of(vectorizer: Vectorizer, text: str) -> Ngrams | None:
    """Return the n-grams of a text with their places. Return None if no cut preserves the tokens,
    because the normal form joins characters across cuts, or if the n-grams would take too much
    memory."""
    of = _kind_of(vectorizer)
    tokens = of.tokens(text)
    low, high = of.sizes[0], min(of.sizes[1], len(tokens))
    if len(tokens) * (high - low + 1) * (low + high) > 2 * _MOST_TOKENS:
        return None
    of_code = getattr(vectorizer, "token_pattern", None) == WORDS_AND_SIGNS
    for cut in (_SIGNS, *_CUTS) if of_code else _CUTS:
        pieces = cut.findall(text)
        of_pieces = [of.tokens(piece) for piece in pieces]
        if [token for some in of_pieces for token in some] == list(tokens):
            break
    else:
        return None
    place = np.repeat(np.arange(len(pieces)), [len(some) for some in of_pieces])
    names: list[Any] = []
    first, last = [place[:0]], [place[:0]]
    for n in range(low, high + 1):
        starts = range(len(tokens) - n + 1)
        names.extend(of.joint(tokens[start : start + n]) for start in starts)
        first.append(place[: len(starts)])
        last.append(place[n - 1 :])
    return Ngrams(
        pieces, columns_of(vectorizer, names), np.concatenate(first), np.concatenate(last)
    )


class _Kind(NamedTuple):
    """A function from texts to tokens, a function that joins tokens to an n-gram, and the sizes of
    n-grams."""

    tokens: Callable[[str], Sequence[Any]]
    joint: Callable[[Sequence[Any]], Any]
    sizes: tuple[int, int]


def _kind_of(vectorizer: Any) -> _Kind:
    if isinstance(vectorizer, ByteNgrams):
        return _Kind(partial(_bytes_of, vectorizer.lowercase), bytes, vectorizer.ngram_range)
    if vectorizer.analyzer == "char_wb":  # its n-grams do not cross blanks
        return _Kind(vectorizer.build_analyzer(), "".join, (1, 1))
    prepare = vectorizer.build_preprocessor()
    if vectorizer.analyzer == "char":
        return _Kind(
            lambda text: re.sub(r"\s\s+", " ", prepare(text)), "".join, vectorizer.ngram_range
        )
    tokenize = vectorizer.build_tokenizer()
    return _Kind(lambda text: tokenize(prepare(text)), " ".join, vectorizer.ngram_range)


def _bytes_of(lowercase: bool, text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return data.lower() if lowercase else data


def columns_of(vectorizer: Vectorizer, ngrams: Sequence[Any]) -> Array:
    """Return the columns of n-grams, given as strings, or as bytes for `ByteNgrams`."""
    if isinstance(vectorizer, ByteNgrams):
        return np.fromiter(_exact_columns(vectorizer, ngrams), np.int64, len(ngrams))
    one_each = HashingVectorizer(
        token_pattern=r"(?s).+",
        lowercase=False,
        n_features=width_of(vectorizer),
        norm=None,
        alternate_sign=False,
    )
    found: Array = one_each.transform(ngrams).indices
    return found


def _exact_columns(vectorizer: ByteNgrams, ngrams: Sequence[bytes]) -> Iterator[int]:
    low, high = vectorizer.ngram_range
    before = {n: sum(256**shorter for shorter in range(low, n)) for n in range(low, high + 1)}
    return (int.from_bytes(ngram, "big") + before[len(ngram)] for ngram in ngrams)
