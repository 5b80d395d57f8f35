"""Blocks of rows of an input, which threads read, in order; and the rows of LIBSVM files."""

import contextlib
import io
import zlib
from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._row_reader import EntryError
from sparsemaps._io import _text_input
from sparsemaps._io._progress import Progress
from sparsemaps._io._sources import open_input
from sparsemaps._io._text_input import BadLine, LineError
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_table import BadTable
from sparsemaps.files._job_options import Svmlight
from sparsemaps.libsvm._parse import (
    Part,
    RowsRead,
    exact_labels,
    has_qid,
    line_of_row,
    numbered_rows,
    parse,
    width_of,
)
from sparsemaps.libsvm._pipeline import blocks_of, cut_lines, in_order
from sparsemaps.libsvm._write import Heads
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.text._fields import lengths_of

T = TypeVar("T")


class InputBlock(NamedTuple):
    """Some lines of an input, with their rows: a matrix, or a function of texts that makes it."""

    rows: Any
    heads: Heads
    text: bytes
    n_lines: int
    one_based: bool
    line_of: Callable[[int], int]
    ids: list[str] | None = None
    texts: Any = None
    """The texts that the rows are made of: strings in a list or in Arrow's array."""
    keys: Any = None
    """The numbers that order the records."""
    bad: Any = ()
    """Lines that are no records: the number from 0, the reason, and the line."""
    encoder: TextEncoder | None = None
    """It makes codes of the texts, if codes are wanted."""
    given_ids: Any = None
    """The ids as the input has them; `ids` are columns of a table."""
    part: Part | None = None
    """The lines of a LIBSVM file, whose labels are float64."""

    @property
    def X(self) -> Any:
        return self.rows(self.texts) if callable(self.rows) else self.rows

    def some(self, rows: Array) -> Any:
        """Return some rows. Only their texts are vectorized."""
        if callable(self.rows):
            return self.rows([str(self.texts[row]) for row in rows.tolist()])
        return self.rows[rows]

    @property
    def n_rows(self) -> int:
        return len(self.heads.label_ends)

    def exact_heads(self) -> Heads:
        """Return the beginnings of lines. Of labels that are whole numbers, all digits are
        there."""
        return (
            self.heads
            if self.part is None
            else self.heads._replace(labels=exact_labels(self.text, self.part))
        )

    def without_rows(self) -> "InputBlock":
        return self._replace(rows=None, text=b"", texts=None, heads=self.exact_heads(), part=None)

    def _lines(self) -> list[bytes]:
        return [line.rstrip(b"\r") for _, line in numbered_rows(self.text)]

    def lengths(self) -> Array:
        """Return the lengths of records: characters of texts, entries of other rows."""
        if self.texts is None:
            return np.diff(self.X.indptr)
        return lengths_of(self.texts)

    def contents(self, rows: Array) -> list[bytes]:
        """Return the contents of some records: a text, or a line without its end."""
        if not len(rows):
            return []
        if self.texts is None:
            lines = self._lines()
            return [lines[row] for row in rows]
        texts = (str(self.texts[row]) for row in rows.tolist())
        return [text.encode("utf-8", "surrogatepass") for text in texts]

    def checksums(self) -> Array:
        """Return numbers that differ, but by chance of 2^-32, where the contents of records
        differ."""
        if self.texts is None:
            return np.array([zlib.crc32(one) for one in self._lines()], np.uint32)
        texts = self.texts if isinstance(self.texts, list) else self.texts.to_pylist()
        sums = (zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in texts)
        return np.fromiter(sums, np.uint32, len(texts))

    def error(self, row: int, column: int, message: str) -> LineError:
        """Return an error that names the line, and the index as the input numbers it."""
        index = column + self.one_based
        return LineError(self.line_of(row), message.format(index=index))


def read_rows(
    source: Any,
    input: Any,
    convert: Callable[[InputBlock], T],
    *,
    aside: BadTable | None = None,
    **how: Any,
) -> Generator[T, None, None]:
    """Yield the results of `convert` for each block of rows of an input, in order; `how` is as of
    `read_pieces`. Records that the source sets aside go to the table `aside`.

    Threads read and convert blocks. Errors name the input and the line.
    """

    def step(piece: Any) -> tuple[tuple[Any, int], int]:
        block = source.block(piece)
        more = block.bad, block.n_lines, block.n_rows
        return ((convert(block), *more), block.n_rows), block.n_lines

    n_before = 0
    with contextlib.closing(read_pieces(source, input, step, **how)) as pieces:
        for converted, bad, n_lines, n_good in pieces:
            if aside is not None:
                aside.add(input, n_before, bad, n_good)
            n_before += n_lines
            yield converted


def read_pieces(
    source: Any,
    input: Any,
    step: Callable[[Any], tuple[tuple[T, int], int]],
    *,
    n_jobs: int | None = None,
    bar: Progress | None = None,
    max_rows: int | None = None,
) -> Generator[T, None, None]:
    """Yield the results of `step` for each piece of an input, in order. `step` also counts rows,
    for the bar, and line ends.

    `source` cuts the input into pieces: it is `LibsvmRows` or `TextRows`.
    """
    with open_input(input, source.given.max_line_bytes) as text:
        update = None if bar is None else bar.reading(text)
        pieces = source.pieces(input, text, n_jobs, max_rows)
        for found, n_rows in in_order(step, pieces, n_jobs, text):
            yield found
            if update is not None:
                update(n_rows)


def read_each(
    source: Any, input: Any, take: Callable[[Any], Any], **how: Any
) -> Generator[Any, None, None]:
    """Return the records that `take` makes of each piece of an input, in order."""

    def step(piece: Any) -> tuple[tuple[Any, int], int]:
        records = take(piece)
        return (records, len(records)), 0

    return read_pieces(source, input, step, **how)


def apply(map: Any, function: Callable[[Any], T], block: InputBlock) -> T:
    """Return ``function(X)`` for the rows of a block; it may be a method of `map`, which is fitted.

    Errors name the line, and the index as the input numbers it.
    """
    X = block.X
    n_columns = map.n_columns
    if n_columns is not None and X.shape[1] > n_columns:
        entry = int(np.argmax(X.indices >= n_columns))
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        rule = f": index {{index}}, but the map was fitted to {n_columns} columns"
        raise block.error(row, int(X.indices[entry]), rule)
    return of_rows(function, block, X, X.shape[1] if n_columns is None else n_columns)


def codes_of(map: Any, block: InputBlock) -> PackedCodes:
    if block.encoder is not None:
        codes: Any = block.encoder.encode(block.texts, packed=True)
    else:
        codes = apply(map, partial(map.encode, packed=True), block)
    return codes


def of_rows(function: Callable[[Any], T], block: InputBlock, X: Any, width: int) -> T:
    """Return ``function(X)`` for the rows `X` of a block, with `width` columns and at least one."""
    X = with_width(X, max(width, 1))
    try:
        return function(X)
    except EntryError as error:
        message = f", index {{index}}: {error.value}; {error.rule}"
        raise block.error(error.row, error.column, message) from error


def with_width(X: Any, width: int) -> Any:
    """Return rows with another number of columns, which is large enough for their entries."""
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


class LibsvmRows(NamedTuple):
    """The rows of LIBSVM files."""

    given: Svmlight = Svmlight()
    multilabel: bool = True
    sets_aside: bool = False
    """Whether lines that are no rows are set aside, and are no error."""

    def format_of(self, input: Any) -> str:
        """Return the format of an input, by which records are told apart."""
        return "svmlight"

    def pieces(
        self, input: Any, text: _text_input.Text, n_jobs: int | None, max_rows: int | None
    ) -> Iterator[bytes]:
        """Pieces of an input, of at most `max_rows` rows unless that is None."""
        for lines in blocks_of(text, n_jobs):
            if max_rows is None:
                yield lines
            else:
                yield from cut_lines(lines, max_rows)

    def block(self, piece: bytes) -> InputBlock:
        """Return the rows of a piece, with one label each, or several if that is allowed; a
        `LineError` counts lines from the beginning of the piece."""
        one_based = not self.given.zero_based
        piece, bad = self._good(piece)
        try:
            part = parse(piece, one_based=one_based)
        except LineError:
            if not self.multilabel:
                raise
            part = parse(piece, one_based=one_based, multilabel=True)
            _check_labels(piece, part)
        if len(part.qids) not in (0, len(part.entry_ends)):
            _raise_mixed_qids(piece)
        rows = RowsRead(np.float64)
        rows.append(part, 1)
        width = width_of(part.largest, one_based)
        X, _ = rows.finish(width, one_based, multilabel=False, query_id=False)
        heads = Heads(part.labels, part.label_ends, part.qids)
        line_of = partial(line_of_row, piece)
        return InputBlock(X, heads, piece, part.n_lines, one_based, line_of, bad=bad, part=part)

    def _good(self, piece: bytes) -> tuple[bytes, list[tuple[int, str, bytes]]]:
        """Return the lines, with empty ones in place of lines that are set aside; and the lines
        that are set aside."""
        if not self.sets_aside or self._error(piece) is None:
            return piece, []
        good, bad = [], []
        for number, line in enumerate(io.BytesIO(piece)):
            error = self._error(line)
            good.append(line if error is None else b"\n")
            if error is not None:
                bad.append((number, error.message, line))
        return b"".join(good), bad

    def _error(self, lines: bytes) -> BadLine | None:
        """Return the error of the first line that is no row; None if all are rows."""
        try:
            part = parse(lines, one_based=not self.given.zero_based, multilabel=self.multilabel)
            _check_labels(lines, part)
        except BadLine as error:
            return error
        return None

    def records(self, piece: bytes) -> list[bytes]:
        """Return the lines that are rows."""
        piece, _ = self._good(piece)
        return [line for line in io.BytesIO(piece) if line.partition(b"#")[0].strip()]

    def texts(self, piece: bytes) -> list[str]:
        """Return the lines that are rows, as text."""
        lines = self.records(piece)
        return [line.rstrip(b"\r\n").decode("utf-8", "backslashreplace") for line in lines]

    def options(self) -> dict[str, Any]:
        """Return the options that decide the rows, for a record."""
        return {"zero_based": self.given.zero_based, "sets_aside": self.sets_aside}


def _check_labels(text: bytes, part: Part) -> None:
    """Raise if a row without labels does not begin with a blank: its label is missing."""
    unlabelled = np.diff(part.label_ends, prepend=0) == 0
    if not unlabelled.any():
        return
    for is_without, (number, line) in zip(unlabelled, numbered_rows(text), strict=True):
        if is_without and not line[:1].isspace():
            token = line.split()[0].decode("ascii", "backslashreplace")
            raise BadLine(number, f", column 1: expected a number as label; found '{token}'")


def _raise_mixed_qids(text: bytes) -> None:
    is_first_with = None
    for number, line in numbered_rows(text):
        is_with = has_qid(line)
        if is_first_with is None:
            is_first_with = is_with
        elif is_with != is_first_with:
            fact = "has a qid" if is_with else "has no qid"
            raise LineError(number, f" {fact}, unlike the lines before; all or none must have one")


def comments_of(text: bytes) -> Iterator[tuple[int | None, bytes | None]]:
    """Yield the number of the row, from 0, and the comment of each line that has a row or a
    comment."""
    row = 0
    for line in text.split(b"\n"):
        content, hash_sign, comment = line.partition(b"#")
        is_row = bool(content.strip())
        if is_row or hash_sign:
            yield row if is_row else None, comment.rstrip(b"\r") if hash_sign else None
        row += is_row


def comments_of_rows(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield the numbers of rows that have a comment, and the comments."""
    for row, comment in comments_of(text) if b"#" in text else ():
        if row is not None and comment is not None:
            yield row, escaped(" ".join(comment.decode("utf-8", "surrogateescape").split()))


def with_comments(text: bytes, lines: bytes) -> bytes:
    """Return the output `lines` of the rows of `text`, with the comments of `text` at the same
    rows."""
    rows = lines.split(b"\n")
    joined = []
    for row, comment in comments_of(text):
        if row is None:
            joined.append(b"#" + (comment or b""))
        elif comment is None:
            joined.append(rows[row])
        else:
            joined.append(rows[row].rstrip(b" ") + b" #" + comment)
    return b"".join(line + b"\n" for line in joined)
