"""Rows of texts of many millions of characters, whose n-grams are counted piece by piece.

A text T is cut at two blanks p <= q. A run of tokens that is contained neither in T[:q] nor in
T[p:] includes all tokens of T[p:q] and at least one more at each end. So if T[p:q] has at least n -
1 tokens, where n is the size of the longest n-gram, every n-gram of T is in T[:q] or in T[p:]. The
counts of T are then the counts of T[:q] plus those of T[p:], minus those of T[p:q], which both
parts include.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools._typing import Array

PIECE_CHARACTERS = 2**20
OVERLAP_CHARACTERS = 2**12
"""Least number of characters that consecutive pieces share."""

# A single blank between two tokens: a cut here changes no token, no lowered letter and no run of
# blanks. Stripping accents and normal forms turn some characters into blanks, so such texts are cut
# only between ASCII letters and digits.
_BLANK = re.compile(r"\S\s\S")
_PLAIN_BLANK = re.compile(r"[0-9A-Za-z]\s[0-9A-Za-z]")


class Counts(NamedTuple):
    """Columns in ascending order, the sum of each column, and the total number of n-grams."""

    columns: Array
    sums: Array
    n_ngrams: int


class PiecewiseVectorizer:
    """A `_loops.text.Vectorizer` that processes texts of more than two pieces piecewise.

    `make` makes a Vectorizer; keyword arguments override its parameters. `longest` is the number of
    tokens of the longest n-gram. If `plain`, cut only between ASCII letters and digits.
    """

    def __init__(self, make: Callable[..., Any], longest: int, plain: bool) -> None:
        self._make, self._loops, self._longest = make, make(), longest
        self._blank = _PLAIN_BLANK if plain else _BLANK
        self._n_characters, self._n_shared = PIECE_CHARACTERS, OVERLAP_CHARACTERS
        self.has_sets = self._loops.has_sets

    def rows(
        self, first: int, texts: Iterable[Any], sets: bool = False
    ) -> tuple[Array, Any, Array, int]:
        """Return the same as `Vectorizer.rows`. Only the last text of a block can be long."""
        text = self._long_text(texts)
        counts = None if text is None else self._count(text)
        if counts is None:
            return self._loops.rows(first, texts, sets)
        columns, values, ends, n_ngrams = self._loops.rows(first, _without_last(texts), sets)
        if not sets:
            own_values = self._loops.values_of(counts.sums.astype(np.int32))
            values = np.concatenate((values, own_values))
        columns = np.concatenate((columns, counts.columns))
        return columns, values, np.append(ends, len(columns)), n_ngrams + counts.n_ngrams

    def give_back(self, columns: Array, values: object) -> None:
        """Lend the arrays of `rows` to the next call, unless they are concatenated ones."""
        if columns.base is not None:
            self._loops.give_back(columns, values)

    def _long_text(self, texts: Iterable[Any]) -> str | None:
        """Return the last text of a block if it is long; otherwise None."""
        if isinstance(texts, list):
            text = texts[-1] if texts else None
            return text if type(text) is str and len(text) > 2 * self._n_characters else None
        chunk, _, stop = texts
        try:
            if chunk.n_bytes(stop - 1) > 2 * self._n_characters:
                text = chunk.item(stop - 1)
                return text if isinstance(text, str) else None
        except ValueError:  # includes UnicodeDecodeError: the loops name the text
            pass
        return None

    def _count(self, text: str) -> Counts | None:
        """Return the counts of a text; None if it cannot be cut or has an error, which the loops
        will raise."""
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
        """Yield the beginning and end of each piece, and the sign with which its n-grams count."""
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
        """Return the first possible cut from `place` on, or the end of the text."""
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
    order = np.argsort(columns, kind="stable")  # linear, since parts are sorted
    columns = columns[order]
    sums = np.concatenate([part.sums for part in parts])[order]
    if len(columns):
        starts = np.flatnonzero(np.diff(columns, prepend=-1))
        columns, sums = columns[starts], np.add.reduceat(sums, starts)
    return Counts(columns, sums, sum(part.n_ngrams for part in parts))
