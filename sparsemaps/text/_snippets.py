"""Snippets: short parts of texts, which are whole words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from sparsemaps._tools import _checks, _seeding
from sparsemaps._tools._allowed import LARGEST_INT32, MOST_SNIPPETS, Ints
from sparsemaps._tools._checks import LARGEST_INT
from sparsemaps._tools._typing import Array, RandomState
from sparsemaps.text import _inputs
from sparsemaps.text._vectorizer import BLOCKS, WORDS_AND_CHARACTERS

LENGTHS = Ints(1, LARGEST_INT32, MOST_SNIPPETS)
"""The lengths of the snippets of a text."""

_MARKS = (
    "\u0300-\u036f\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ece\u102b-\u103e"
    "\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f"
    "\u109a-\u109d\u17b4-\u17d3\u17dd\u1ab0-\u1aff\u1dc0-\u1dff\u200d\u20d0-\u20ff\u302a-\u302f"
    "\u3099\u309a\ua9e5\uaa7b-\uaa7d\ufe00-\ufe0f\ufe20-\ufe2f\uff9e\uff9f\U000e0100-\U000e01ef"
)
"""Characters that belong to the one before: marks of the scripts without blanks, and of all."""

_WORD = re.compile(rf"(?:{WORDS_AND_CHARACTERS})[{_MARKS}]*")
_MARK = re.compile(f"[{_MARKS}]")
_BLANK = re.compile(r"\s")
_NOT_OF_RUN = re.compile(rf"[\s{BLOCKS}]")

_WINDOW = 10
"""The number of characters for each word, in which words before a place are looked for first."""


def snippets(
    texts: Iterable[Any],
    lengths: Sequence[int],
    *,
    random_state: RandomState = None,
    first: int = 0,
) -> tuple[list[str], Array]:
    """Take a short part of each text at random, one for each length.

    A model that is trained on whole texts knows less of short ones. Snippets of its texts, with
    their labels, teach it these.

    Parameters
    ----------
    texts : iterable of texts
        Texts as for `HashingVectorizer`: str, or bytes that are UTF-8.
    lengths : sequence of int
        The lengths of the snippets of a text, in words; in scripts without blanks between words
        (`WORDS_AND_CHARACTERS`), in characters, each with its marks. A length may occur several
        times.
    random_state : int, RandomState, Generator or None, default=None
        An int gives the same snippets each time.
    first : int, default=0
        The number of the first text. The snippets of a text depend on its number, the lengths and
        the seed, so that texts which come in batches have the snippets that they have together.

    Returns
    -------
    snippets : list of str
        The parts of the first text in the order of lengths, then of the next text. A text has no
        snippet of a length of more words than it has.
    index : ndarray of int64
        For each snippet, the number of its text in `texts`, from 0: ``y[index]`` has their labels.

    Raises
    ------
    ValueError
        If a text is neither str nor bytes, or bytes are not UTF-8; the message has the number of
        the text, from 0. If a parameter is not allowed.

    See Also
    --------
    sparsemaps.linear.KernelClassifier : Linear models of texts.

    Notes
    -----
    A character of the text is drawn. It comes before the end of the last word that has enough
    words from there on. The snippet begins with the word that has this character, or that
    follows it. So long words begin snippets more often. A snippet is cut out of the text with the
    blanks between its words, and takes time by its own length, not by the length of the text.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.linear import KernelClassifier
    >>> from sparsemaps.text import snippets
    >>> texts = ["the cat sat on the mat", "le chat est sur le tapis", "deux chats"]
    >>> y = np.array(["en", "fr", "fr"])
    >>> short, index = snippets(texts, (2, 4), random_state=0)
    >>> short
    ['the mat', 'sat on the mat', 'le tapis', 'est sur le tapis', 'deux chats']
    >>> index.tolist()
    [0, 0, 1, 1, 2]
    >>> model = KernelClassifier(MinHash(random_state=0), vectorizer="char:1-3", random_state=0)
    >>> model.fit(texts + short, np.concatenate([y, y[index]])).predict(["the cat"]).tolist()
    ['en']
    """
    lengths = LENGTHS.check("lengths", lengths)
    if isinstance(texts, (str, bytes)):
        raise ValueError(f"texts must be an iterable of texts, got a single {type(texts).__name__}")
    first = _checks.check_int("first", first, 0, LARGEST_INT)
    keys = _seeding.keys(_seeding.draw_seed(random_state), "snippets", len(lengths))
    found: list[str] = []
    index: list[int] = []
    for before, block in _inputs.blocks(texts):
        some = _inputs.as_list(block)
        words = [_seeding.random_words(key, len(some), first + before).tolist() for key in keys]
        for row, text in enumerate(some):
            text = _as_str(text, before + row)
            for length, of_length in zip(lengths, words, strict=True):
                snippet = _snippet(text, length, of_length[row])
                if snippet is not None:
                    found.append(snippet)
                    index.append(before + row)
    return found, np.array(index, np.int64)


def _as_str(text: object, number: int) -> str:
    if isinstance(text, str):
        return text
    try:
        if isinstance(text, bytes):
            return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"text {number}: {error}") from None
    shown = "None" if text is None else type(text).__name__
    raise ValueError(f"text {number}: a text must be a str or bytes, got {shown}")


def _snippet(text: str, n: int, word: int) -> str | None:
    """Return `n` consecutive words of a text, chosen by a random 64-bit word; None if it has
    fewer."""
    end = _last_beginning(text, n)
    if end is None:
        return None
    start = _beginning_at(text, end * word >> 64)
    for match in islice(_WORD.finditer(text, start), n):
        end = match.end()
    return text[start:end]


def _last_beginning(text: str, n: int) -> int | None:
    """Return the end of the first of the last `n` words; None if there are fewer."""
    for low in _windows(len(text), _WINDOW * n):
        ends = [match.end() for match in _WORD.finditer(text, low)]  # also of a word that is cut
        if len(ends) >= n:
            return ends[-n]
    return None


def _beginning_at(text: str, place: int) -> int:
    """Return the beginning of the word that has the character at a place, or follows it."""
    if _BLANK.match(text, place):
        match = _WORD.search(text, place)
        assert match is not None
        return match.start()
    while True:
        if not _NOT_OF_RUN.match(text, place):
            place = _beginning_of_run(text, place)
        if not place or not _MARK.match(text, place) or _BLANK.match(text, place - 1):
            return place
        place -= 1


def _beginning_of_run(text: str, place: int) -> int:
    """Return the beginning of the run of characters that are neither blank nor words alone."""
    for low in _windows(place, _WINDOW):
        ends = [match.end() for match in _NOT_OF_RUN.finditer(text, low, place)]
        if ends:
            return ends[-1]
    return 0


def _windows(place: int, size: int) -> Iterator[int]:
    """Yield beginnings of parts of a text that end at a place, each part four times as long."""
    while size < place:
        yield place - size
        size *= 4
    yield 0
