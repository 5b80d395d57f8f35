"""Parsing of lines of text to arrays. Errors name the line."""

import itertools
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._io._text_input import BadLine, LineError
from sparsemaps._loops import text as _loops
from sparsemaps._tools import _sklearn, _whole_numbers
from sparsemaps._tools._checks import LARGEST_INT
from sparsemaps._tools._growing_array import GrowingArray
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Array

_COMPRESSED_HINT = "compressed by {0}: decompress it, or give it as a file whose name ends in {1}"

_BEGINNINGS = {
    b"\x1f\x8b": _COMPRESSED_HINT.format("gzip", ".gz"),
    b"BZh": _COMPRESSED_HINT.format("bzip2", ".bz2"),
    b"\xfd7zXZ": _COMPRESSED_HINT.format("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": _COMPRESSED_HINT.format("Zstandard", ".zst"),
    b"\x93NUMPY": "this is a NumPy array (.npy), not LIBSVM text; numpy.load reads it",
    b"PK\3\4": "this is a zip archive, as .npz files are, not LIBSVM text",
    b"PAR1": "this is Parquet, not LIBSVM text; 'sparsemaps text' reads texts of Parquet",
    b"\xef\xbb\xbf": "the text begins with a byte order mark (UTF-8): save it without one",
    b"\xff\xfe": "the text is UTF-16: save it as ASCII or UTF-8",
    b"\xfe\xff": "the text is UTF-16: save it as ASCII or UTF-8",
}
"""Beginnings of files that are not LIBSVM text, with hints for the error."""


_EXPECTED = "expected a label and index:value pairs, but this looks like"


class Part(NamedTuple):
    """The rows of some lines as arrays: labels and entries with the end of each row, qids, and the
    smallest and the largest index."""

    labels: Array
    label_ends: Array
    values: Array
    indices: Array
    entry_ends: Array
    qids: Array
    n_lines: int
    smallest: int
    largest: int


def parse(
    text: bytes,
    multilabel: bool = False,
    dtype: npt.DTypeLike = np.float64,
    one_based: bool = False,
) -> Part:
    """Return the rows of `text`, with indices as in the text. If indices count from 1, an index 0
    raises an error."""
    to_float = np.dtype(dtype) == np.float32
    found, error = _loops.parse(text, multilabel, to_float)
    if error is not None:
        raise _error(text, *error)
    part = Part(*found)
    if one_based and part.smallest == 0:
        raise _zero_error(text)
    if to_float:
        with np.errstate(over="ignore"):  # the result is infinite, as with Python's float
            part = part._replace(values=part.values.astype(np.float32))
    return part


def _error(text: bytes, at: int, token: bytes, expected: str) -> BadLine:
    before = text[:at]
    column = at - before.rfind(b"\n")
    shown = repr(token[:40])[2:-1] + ("..." if len(token) > 40 else "")
    hint = _hint(text, at, token)
    return BadLine(
        before.count(b"\n") + 1, f", column {column}: {hint or expected}; found '{shown}'"
    )


def _hint(text: bytes, at: int, token: bytes) -> str | None:
    """Return a hint about the format of the text, if its beginning or the wrong token reveals
    it."""
    if not text[:at].strip():
        for beginning, hint in _BEGINNINGS.items():
            if text.startswith(beginning):
                return hint
    if b"\0" in token and (text[:1] == b"\0" or text[1:2] == b"\0"):
        return _BEGINNINGS[b"\xff\xfe"]
    line = text[text.rfind(b"\n", 0, at) + 1 :].partition(b"\n")[0]
    for separator in (b",", b";", b"|"):
        if b":" not in line and len(token.split(separator)) > 2:
            return f"{_EXPECTED} CSV"
    if line.lstrip()[:1] in (b"{", b"["):
        return f"{_EXPECTED} JSON; 'sparsemaps text' reads texts of JSON Lines"
    if b"|" in line.partition(b"#")[0]:
        return f"{_EXPECTED} Vowpal Wabbit's format"
    if not text[:at].strip() and len(line.split()) > 2 and b":" not in line and token.isalpha():
        return f"{_EXPECTED} text; '--texts word:5 --text-format txt' reads lines of text"
    return None


def exact_labels(text: bytes, part: Part) -> Array:
    """Return the labels of a part of `text` with all digits of integers: float64, or int64 or
    uint64. The text is parsed again if a label may have lost digits."""
    labels = part.labels
    if not (np.abs(labels) >= _whole_numbers.FLOAT_HOLDS).any():
        return labels
    numbers: list[int | float] = []
    lines: list[int] = []
    starts = [0, *part.label_ends.tolist()]
    for (start, stop), (line, content) in zip(
        itertools.pairwise(starts), numbered_rows(text), strict=True
    ):
        if start == stop:
            continue
        tokens = content.partition(b"#")[0].split(None, 1)[0].split(b",")
        for token, label in zip(tokens, labels[start:stop].tolist(), strict=True):
            is_whole = _WHOLE.fullmatch(token) is not None
            numbers.append(_whole_label(line, token) if is_whole else label)
            lines.append(line)
    try:
        return _whole_numbers.array_of(numbers)
    except _whole_numbers.MixedNumbers as error:
        raise LineError(lines[error.row], f": {error}") from None


_WHOLE = re.compile(rb"[+-]?[0-9]+")


def _whole_label(line: int, token: bytes) -> int:
    value = int(token) if len(token.lstrip(b"+-0")) < _MOST_DIGITS else None
    if value is None or not _whole_numbers.LEAST <= value <= _whole_numbers.LARGEST:
        shown = token[:40].decode() + ("..." if len(token) > 40 else "")
        expected = "expected a whole number of at most 64 bits as label"
        raise BadLine(line, f", column 1: {expected}; found '{shown}'")
    return value


_MOST_DIGITS = 30  # more than 64-bit numbers have


_ZERO = re.compile(rb"^[^#\n]*?(?<!\S)([+-]?0+:[^\s#]*)", re.MULTILINE)


def _zero_error(text: bytes) -> BadLine:
    """Return the error for an index 0 if indices count from 1."""
    match = _ZERO.search(text)
    assert match is not None  # because the parser has read one
    expected = f"indices count from 1 unless {setting('zero_based', True)}"
    return _error(text, match.start(1), match[1], expected)


def check_every_qid(text: bytes, part: Part) -> None:
    """Raise a `BadLine` unless each row of the text has a qid."""
    if len(part.qids) == len(part.entry_ends):
        return
    line = next(number for number, line in numbered_rows(text) if not has_qid(line))
    raise BadLine(line, f": expected qid:number in each row, as {setting('query_id', True)}")


def has_qid(line: bytes) -> bool:
    """Return whether a line with a row has a qid, which comes first or after the labels."""
    return any(token.startswith(b"qid:") for token in line.split(None, 2)[:2])


def numbered_rows(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that have a row, each with its line number. Lines are numbered from 1."""
    for number, line in enumerate(text.split(b"\n"), 1):
        if line.partition(b"#")[0].strip():
            yield number, line


def line_of_row(text: bytes, row: int) -> int:
    """Return the line number of a row. Rows are numbered from 0, lines from 1."""
    return next(itertools.islice(numbered_rows(text), row, None))[0]


# ---- matrices ------------------------------------------------------------------------------------


class RowsRead:
    """Rows in arrays that grow as parts are appended."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._values, self._indices = GrowingArray(dtype), GrowingArray(np.int32)
        self._labels, self._qids = GrowingArray(np.float64), GrowingArray(np.int64)
        self._entry_ends, self._label_ends = GrowingArray(np.int64), GrowingArray(np.int64)
        self.smallest, self.largest = LARGEST_INT, -1

    def append(self, part: Part, growth: float) -> None:
        """Append a part. `growth` is the estimated ratio of the final size to the present size."""
        if part.largest > np.iinfo(np.int32).max:
            self._indices.widen(np.int64)
        self._entry_ends.append(part.entry_ends, growth, self._values.n)
        self._label_ends.append(part.label_ends, growth, self._labels.n)
        self._values.append(part.values, growth)
        self._indices.append(part.indices, growth)
        self._labels.append(part.labels, growth)
        self._qids.append(part.qids, growth)
        self.smallest = min(self.smallest, part.smallest)
        self.largest = max(self.largest, part.largest)

    def finish(
        self, n_features: int, one_based: bool, multilabel: bool, query_id: bool
    ) -> list[Any]:
        """Return X, the labels and, with `query_id`, the query ids."""
        index_type = _sparse.index_type(max(n_features, self._values.n))
        indices = self._indices.finish()
        if one_based:
            indices -= 1
        entry_ends = self._entry_ends.finish()
        indptr = np.zeros(len(entry_ends) + 1, index_type)
        indptr[1:] = entry_ends
        container = sp.csr_array if _sklearn.sparse_arrays_asked() else sp.csr_matrix
        X = container(
            (self._values.finish(), indices.astype(index_type, copy=False), indptr),
            shape=(len(entry_ends), n_features),
        )
        labels = self._labels.finish()
        y: Any = labels
        if multilabel:  # one ascending tuple of labels per row
            numbers, ends = labels.tolist(), [0, *self._label_ends.finish().tolist()]
            y = [tuple(sorted(numbers[a:b])) for a, b in itertools.pairwise(ends)]
        return [X, y, self._qids.finish()] if query_id else [X, y]


def check_width(n_features: int, width: int) -> None:
    """Raise if the text has more columns than `n_features`."""
    if n_features < width:
        raise ValueError(
            f"n_features was set to {n_features}, but input file contains {width} features"
        )


def width_of(largest: int, one_based: bool) -> int:
    """Return the number of columns, given the largest index."""
    width = max(largest + 1 - one_based, 0)
    if width > LARGEST_INT:
        raise ValueError(
            f"index {largest} counted from 0 needs {width} columns; a matrix has at most 2**63 - 1"
        )
    return width
