"""Snippets: short parts of texts that consist of whole words."""

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
from sparsemaps.text._vectorizer import WITHOUT_BLANKS, WORDS_AND_CHARACTERS

LENGTHS = Ints(1, LARGEST_INT32, MOST_SNIPPETS)
"""Allowed lengths of snippets."""

_MARKS = (
    "\u0300-\u036f\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ece\u102b-\u103e"
    "\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f"
    "\u109a-\u109d\u17b4-\u17d3\u17dd\u1ab0-\u1aff\u1dc0-\u1dff\u200d\u20d0-\u20ff\u302a-\u302f"
    "\u3099\u309a\ua9e5\uaa7b-\uaa7d\ufe00-\ufe0f\ufe20-\ufe2f\uff9e\uff9f\U000e0100-\U000e01ef"
)
"""Characters that belong to the character before them: combining marks, including those of the
scripts without spaces."""

_WORD = re.compile(rf"(?:{WORDS_AND_CHARACTERS})[{_MARKS}]*")
_MARK = re.compile(f"[{_MARKS}]")
_BLANK = re.compile(r"\s")
_NOT_OF_RUN = re.compile(rf"[\s{WITHOUT_BLANKS}]")

_WINDOW = 10
"""Number of characters per word in the first window that is searched backward."""


def snippets(
    texts: Iterable[Any],
    lengths: Sequence[int],
    *,
    random_state: RandomState = None,
    first: int = 0,
) -> tuple[list[str], Array]:
    """Cut a random short part from each text, one for each length.

    A model that is trained on whole texts is less accurate on short ones. Add snippets of its
    texts, with their labels, to the training data.

    Parameters
    ----------
    texts : iterable of texts
        Texts as for `HashingVectorizer`: str, or bytes that are UTF-8.
    lengths : sequence of int
        Lengths of the snippets in words, or in characters with their marks in scripts without
        spaces between words (`WORDS_AND_CHARACTERS`). A length may occur several times.
    random_state : int, RandomState, Generator or None, default=None
        An int gives the same snippets on each call.
    first : int, default=0
        Number of the first text. The snippets of a text depend on its number, the lengths and the
        seed, so batches of texts give the same snippets as one call.

    Returns
    -------
    snippets : list of str
        The snippets of the first text in the order of `lengths`, then of the next text. A text with
        fewer words than a length has no snippet of that length.
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
    The method draws a random character that comes before the end of the last word with enough words
    from there on. The snippet begins with the word that contains this character or follows it, so
    longer words are more likely to begin a snippet. The snippet keeps the spaces between its words.
    The time depends on the length of the snippet, not of the text.

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
    """Return `n` consecutive words of a text, chosen by the random 64-bit `word`; None if the text
    has fewer words."""
    end = _last_beginning(text, n)
    if end is None:
        return None
    start = _beginning_at(text, end * word >> 64)
    for match in islice(_WORD.finditer(text, start), n):
        end = match.end()
    return text[start:end]


def _last_beginning(text: str, n: int) -> int | None:
    """Return the end of the first of the last `n` words; None if the text has fewer words."""
    for low in _windows(len(text), _WINDOW * n):
        ends = [match.end() for match in _WORD.finditer(text, low)]  # including a word cut by `low`
        if len(ends) >= n:
            return ends[-n]
    return None


def _beginning_at(text: str, place: int) -> int:
    """Return the beginning of the word that contains the character at `place` or follows it."""
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
    """Return the beginning of the run of characters around `place` that are neither whitespace nor
    single-character words."""
    for low in _windows(place, _WINDOW):
        ends = [match.end() for match in _NOT_OF_RUN.finditer(text, low, place)]
        if ends:
            return ends[-1]
    return 0


def _windows(place: int, size: int) -> Iterator[int]:
    """Yield the beginnings of windows that end at `place`. Each window is four times as long as the
    one before; the last begins at 0."""
    while size < place:
        yield place - size
        size *= 4
    yield 0
