"""Options of jobs as values: what the inputs are, which records are near, and which are removed."""

import dataclasses
import os
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from sparsemaps._io import _text_input
from sparsemaps._tools._checks import (
    LARGEST_INT,
    LARGEST_INT32,
    check_bool,
    check_choice,
    check_int,
)
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps.neighbors import _hashing, _search
from sparsemaps.records._table import TEXT_FORMATS, cannot_be_rows, is_text_file


@dataclass(frozen=True)
class Texts:
    r"""Inputs that are raw texts. Their rows are n-grams.

    Columns are hashes of n-grams, below ``2**31 - 2``; for "byte" they are exact. Letters are
    lowered, but not for "byte". Rows are sets of n-grams for `MinHash`, and counts without a norm
    for other maps.

    Parameters
    ----------
    analyzer : str, default="auto:5"
        What n-grams are made of, and their sizes: "auto:5", "word:5", "char:3-5", "char_wb:3",
        "byte:3". "auto" is words, and single characters in scripts without blanks between words.
    field : str, default="text"
        The field of a record of .jsonl, or the column of .parquet. In .txt, each line is a text.
    label_field : str or None, default=None
        The field of labels, which are strings, booleans or numbers; without it labels are 0. Labels
        that are strings are numbered from 0 in sorted order; False is 0, and True is 1.
    id_field : str or None, default=None
        The field of ids.
    format : {"txt", "jsonl", "parquet"} or None, default=None
        The format of all inputs. None follows their names; pipes and file objects need it.
    token_pattern : str or None, default=None
        A regular expression for the words of "word"; None is ``\S+``.
    normalize : {"nfc", "nfkc", "plain"} or None, default=None
        The normal form that texts are brought to first, as in `sparsemaps.text.HashingVectorizer`.
    min_length, max_length : int or None, default=None
        The least and the largest number of characters of a text. Another text is a bad record: an
        error, unless the job sets these aside. None is no limit.
    max_df : int or None, default=None
        For near-duplicates: n-grams that more records have do not count in records with at least
        `min_own` others. So a frame that many records share, such as a menu or a licence, does not
        decide. Choose more than the records of a usual family of near copies, and far fewer than
        those of a frame. None counts all n-grams. The inputs are then read once more.
    min_own : int, default=12
        For `max_df`: a record with fewer own n-grams is judged by all of its n-grams. A word that
        differs makes n own n-grams of n words. So more than n times the words that differ between
        near copies keeps these together, however many they are.
    frequencies : str, path-like or None, default=None
        For `max_df`: the table of frequencies of an earlier run, the file ``frequencies.npy`` of
        its folder. None counts the records of the inputs; with `against`, None takes the table of
        the first earlier run.
    max_line_bytes : int, default=2**30
        A longer line is an error: a small compressed file can hold one that fills the memory.

    See Also
    --------
    Svmlight : Inputs that are LIBSVM files.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import Texts, map_files
    >>> lines, out = BytesIO(b'{"page": "a cat sat"}\n'), BytesIO()
    >>> texts = Texts("word:2", field="page", format="jsonl")
    >>> mapped = map_files(MinHash(n_hashes=2, random_state=0), lines, out, source=texts)
    >>> mapped[0].n_rows
    1
    """

    analyzer: str = "auto:5"
    _: KW_ONLY
    field: str = "text"
    label_field: str | None = None
    id_field: str | None = None
    format: str | None = None
    token_pattern: str | None = None
    normalize: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    max_df: int | None = None
    min_own: int = 12
    frequencies: Any = None
    max_line_bytes: int = _text_input.MAX_LINE_BYTES

    def __post_init__(self) -> None:
        names = "analyzer", "field", "label_field", "id_field", "token_pattern"
        for name in names:
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in names[:2]):
                raise ParameterError(name, repr(value), "a string")
        if self.format is not None:
            check_choice("format", self.format, TEXT_FORMATS)
        least = 0
        for name in ("min_length", "max_length"):
            if getattr(self, name) is not None:
                least = check_int(name, getattr(self, name), least, LARGEST_INT)
        check_int("min_own", self.min_own, 1, LARGEST_INT32)
        if self.max_df is not None:
            check_int("max_df", self.max_df, 1, LARGEST_INT32)
        elif self.frequencies is not None:
            raise ParameterError("frequencies", repr(self.frequencies), "None without max_df")
        if not (self.frequencies is None or isinstance(self.frequencies, (str, os.PathLike))):
            raise ParameterError("frequencies", repr(self.frequencies), "a path or None")
        check_int("max_line_bytes", self.max_line_bytes, 1, LARGEST_INT)


@dataclass(frozen=True)
class Svmlight:
    """Inputs that are LIBSVM files.

    Parameters
    ----------
    zero_based : bool, default=False
        Whether indices count from 0.
    max_line_bytes : int, default=2**30
        A longer line is an error: a small compressed file can hold one that fills the memory.

    See Also
    --------
    Texts : Inputs that are raw texts.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import Svmlight, map_files
    >>> rows, out = BytesIO(b"1 0:1 2:1\\n"), BytesIO()
    >>> minhash = MinHash(n_hashes=2, random_state=0)
    >>> map_files(minhash, rows, out, source=Svmlight(zero_based=True))[0].n_rows
    1
    """

    _: KW_ONLY
    zero_based: bool = False
    max_line_bytes: int = _text_input.MAX_LINE_BYTES

    def __post_init__(self) -> None:
        check_bool("zero_based", self.zero_based)
        check_int("max_line_bytes", self.max_line_bytes, 1, LARGEST_INT)


def as_source(source: Any) -> Texts | Svmlight | None:
    """Return the parameter `source` of a job as a value: an analyzer stands for texts; None is left
    to the job."""
    if isinstance(source, str):
        return Texts(source)
    if source is None or isinstance(source, (Texts, Svmlight)):
        return source
    rule = "Texts, Svmlight, an analyzer of texts such as 'auto:5', or None"
    raise ParameterError("source", repr(source), rule)


def by_names(source: Any, paths: Iterable[Any]) -> Texts | Svmlight:
    """Return the kind of the inputs; by their names where `source` is None."""
    given = as_source(source)
    if given is not None:
        return given
    kinds = {is_text_file(path): path for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"{kinds[True]} is a file of texts, and {kinds[False]} is none, by their "
                         "names; take one kind at a time")  # fmt: skip
    return Texts() if True in kinds else Svmlight()


def rows_unless_said(source: Any, paths: Iterable[Any]) -> Texts | Svmlight:
    """Return the kind of the inputs; LIBSVM files where `source` is None, as the analyzer of texts
    decides the rows."""
    given = as_source(source)
    if given is not None:
        return given
    for path in paths:
        if cannot_be_rows(path):
            said = setting("source", Texts.analyzer)
            raise ValueError(f"{os.fspath(path)} is a file of texts: say so by {said}")
    return Svmlight()


# ---- searches ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Search:
    """Which records are near, and how they are found."""

    threshold: float = 0.8
    recall: float = 0.95
    exact: bool = False
    similarity: str = "jaccard"
    max_bytes: int = _hashing.MAX_BYTES
    """For the hashes of rows; it does not change which pairs are found."""

    def __post_init__(self) -> None:
        _search.check_share("threshold", self.threshold)
        _search.check_share("recall", self.recall)
        check_bool("exact", self.exact)
        check_choice("similarity", self.similarity, ("jaccard", "containment"))
        check_int("max_bytes", self.max_bytes, 2**20, LARGEST_INT)

    @property
    def is_containment(self) -> bool:
        return self.similarity == "containment"

    @property
    def recipe(self) -> dict[str, Any]:
        """The options that decide the answer."""
        recipe = dataclasses.asdict(self)
        del recipe["max_bytes"]
        return recipe


class Rule(NamedTuple):
    """Which of the records that are near one another are removed."""

    keep: str = "first"
    """Which records come first: as they stand, the longest, or by a number in this field."""
    against: Any = None
    """Earlier deliveries: paths; in a plan, their codes."""

    @property
    def key_field(self) -> str | None:
        """The field of the number that orders records."""
        return None if self.keep in ("first", "longest") else self.keep
