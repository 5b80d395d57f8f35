"""Rows of texts of many millions of characters, whose n-grams are counted a piece at a time.

A text T is cut at two blanks p <= q. A run of tokens that is neither in T[:q] nor in T[p:] has all
tokens of T[p:q], and one more at each end. If T[p:q] has at least as many tokens as the longest
n-gram less one, no n-gram is that long. Then the n-grams of T are the n-grams of T[:q] and of
T[p:], less the n-grams of T[p:q], which both parts have.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools._typing import Array

PIECE_CHARACTERS = 2**20
OVERLAP_CHARACTERS = 2**12
"""The least number of characters that a piece shares with the next."""

# A single blank between two tokens: a cut there changes no token, no lowered letter and no run of
# blanks. Stripping accents and normal forms turn some characters into blanks. So such texts are cut
# between ASCII letters and digits only.
_BLANK = re.compile(r"\S\s\S")
_PLAIN_BLANK = re.compile(r"[0-9A-Za-z]\s[0-9A-Za-z]")


class Counts(NamedTuple):
    """Columns in ascending order, the sum of each column, and the number of all n-grams."""

    columns: Array
    sums: Array
    n_ngrams: int


class PiecewiseVectorizer:
    """A `_loops.text.Vectorizer` that takes texts of more than two pieces a piece at a time.

    `make` makes a Vectorizer, and takes other parameters by keyword. `longest` is the number of
    tokens of the longest n-gram. `plain` cuts between letters and digits of ASCII only.
    """

    def __init__(self, make: Callable[..., Any], longest: int, plain: bool) -> None:
        self._make, self._rows, self._longest = make, make(), longest
        self._blank = _PLAIN_BLANK if plain else _BLANK
        self._n_characters, self._n_shared = PIECE_CHARACTERS, OVERLAP_CHARACTERS
        self.has_sets = self._rows.has_sets

    def rows(
        self, first: int, texts: Iterable[Any], sets: bool = False
    ) -> tuple[Array, Any, Array, int]:
        """Return what `Vectorizer.rows` does. Only the last text of a block can be long."""
        text = self._long_text(texts)
        counts = None if text is None else self._count(text)
        if counts is None:
            return self._rows.rows(first, texts, sets)
        columns, values, ends, n_ngrams = self._rows.rows(first, _without_last(texts), sets)
        if not sets:
            own_values = self._rows.values_of(counts.sums.astype(np.int32))
            values = np.concatenate((values, own_values))
        columns = np.concatenate((columns, counts.columns))
        return columns, values, np.append(ends, len(columns)), n_ngrams + counts.n_ngrams

    def give_back(self, columns: Array, values: object) -> None:
        """Lend the arrays of `rows` to the next call, except joined ones."""
        if columns.base is not None:
            self._rows.give_back(columns, values)

    def _long_text(self, texts: Iterable[Any]) -> str | None:
        """Return the last text of a block, if it is a long one."""
        if isinstance(texts, list):
            text = texts[-1] if texts else None
            return text if type(text) is str and len(text) > 2 * self._n_characters else None
        chunk, _, stop = texts
        try:
            if chunk.n_bytes(stop - 1) > 2 * self._n_characters:
                text = chunk.item(stop - 1)
                return text if isinstance(text, str) else None
        except ValueError:  # as UnicodeDecodeError is one: the loops name the text
            pass
        return None

    def _count(self, text: str) -> Counts | None:
        """Return the counts of a text; None if it cannot be cut or has an error, which the loops
        raise."""
        vectorizer = self._make(binary=False, norm=None, dtype=np.float64)
        counted: Counts | None = None
        waiting: list[Counts] = []
        try:
            for start, stop, sign in self._pieces(text):
                if stop - start == len(text):
                    return None
                waiting.append(_count_piece(vectorizer, text[start:stop], sign))
                n_waiting = sum(len(piece.columns) for piece in waiting)
                if counted is None or n_waiting > len(counted.columns):
                    counted, waiting = _sum([counted, *waiting] if counted else waiting), []
        except ValueError:
            return None
        return _sum([counted, *waiting]) if counted and waiting else counted

    def _pieces(self, text: str) -> Iterator[tuple[int, int, int]]:
        """Yield the beginning and the end of each piece, and the sign of its n-grams in the sum."""
        tokens = self._make(ngram_range=(1, 1))
        start = 0
        while True:
            place = self._cut(text, start + self._n_characters)
            stop = self._cut(text, place + self._n_shared)
            while stop < len(text) and tokens.rows(0, [text[place:stop]])[3] < self._longest - 1:
                stop = self._cut(text, place + 2 * (stop - place))
            yield start, stop, 1
            if stop == len(text):
                return
            yield place, stop, -1
            start = place

    def _cut(self, text: str, place: int) -> int:
        """Return the first place for a cut from `place` on, or the end of the text."""
        blank = self._blank.search(text, place)
        return blank.start() + 1 if blank else len(text)


def _without_last(texts: Iterable[Any]) -> Any:
    if isinstance(texts, list):
        return texts[:-1]
    chunk, start, stop = texts
    return chunk, start, stop - 1


def _count_piece(vectorizer: Any, piece: str, sign: int) -> Counts:
    columns, values, _, n_ngrams = vectorizer.rows(0, [piece])
    counts = Counts(columns.copy(), sign * values.astype(np.int64), sign * n_ngrams)
    vectorizer.give_back(columns, values)
    return counts


def _sum(parts: list[Counts]) -> Counts:
    columns = np.concatenate([part.columns for part in parts])
    order = np.argsort(columns, kind="stable")  # linear, as parts are sorted
    columns = columns[order]
    sums = np.concatenate([part.sums for part in parts])[order]
    if len(columns):
        starts = np.flatnonzero(np.diff(columns, prepend=-1))
        columns, sums = columns[starts], np.add.reduceat(sums, starts)
    return Counts(columns, sums, sum(part.n_ngrams for part in parts))
