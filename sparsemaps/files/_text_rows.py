"""Rows of raw texts: of lines, JSON Lines and Parquet."""

import contextlib
import hashlib
import io
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._io import _text_input
from sparsemaps._io._sources import spooled
from sparsemaps._io._text_input import LineError
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array
from sparsemaps._tools._whole_numbers import MixedNumbers, array_of
from sparsemaps.files._job_options import Texts
from sparsemaps.files._rows import InputBlock, LibsvmRows, read_pieces
from sparsemaps.libsvm._pipeline import blocks_of, cut_lines
from sparsemaps.libsvm._write import one_label_each
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.text import _line_records, _parquet_records
from sparsemaps.text._fields import KINDS_OF_LABELS, Fields, Records, kind_of_label
from sparsemaps.text._records import format_of

_BATCH_BYTES = 2**20  # of rows of Parquet that are vectorized at a time


class TextRows(NamedTuple):
    """The rows that a vectorizer makes of texts; it takes the place of their analyzer.

    Labels that are strings or booleans have their numbers by `classes`, the sorted labels of all
    inputs.
    """

    vectorizer: Any
    given: Texts = Texts()
    classes: dict[Any, int] | None = None
    key_field: str | None = None
    """The field of a number that orders the records."""
    sets_aside: bool = False
    """Whether lines or rows that are no records are set aside, and are no error."""
    encoder: TextEncoder | None = None
    """From texts to the codes of the job's map, if it has codes."""

    def format_of(self, input: Any) -> str:
        """Return the format of an input. It is an error if neither the name nor an option tells
        it."""
        return format_of(getattr(input, "path", input), self.given.format, self._taken())

    def pieces(
        self, input: Any, text: _text_input.Text, n_jobs: int | None, max_rows: int | None
    ) -> Iterator[Any]:
        format = self.format_of(input)
        if format == "parquet":
            how = self._taken(), _BATCH_BYTES, text.name, self.sets_aside
            for batch in _parquet_records.of_parquet(text.file, *how):
                text.advance(batch.n_bytes)
                step = max_rows or max(len(batch.texts), 1)
                for start in range(0, max(len(batch.texts), 1), step):
                    yield batch.rows(start, start + step)
            return
        is_first = text.is_beginning
        for lines in blocks_of(text, n_jobs):
            for some in [lines] if max_rows is None else cut_lines(lines, max_rows):
                yield _Lines(some, format, is_first)
                is_first = False

    def block(self, piece: Any) -> InputBlock:
        batch, n_lines = self._records(piece)
        labels = self._labels(batch, piece)
        rows = partial(_rows_of, self.vectorizer)
        ids = None if batch.ids is None else [escaped(str(id)) for id in batch.ids]
        heads = one_label_each(labels)
        line_of = partial(_line_of, piece)
        beside = ids, batch.texts, batch.keys, batch.bad, self.encoder
        return InputBlock(rows, heads, b"", n_lines, True, line_of, *beside, given_ids=batch.ids)

    def records(self, piece: Any) -> list[bytes]:
        """Return the lines that are records. Rows of Parquet are taken by groups, and not here."""
        text = piece.text
        if self.sets_aside:
            bad = {number for number, _, _ in self._records(piece)[0].bad}
            lines = enumerate(io.BytesIO(text)) if bad else ()
            text = b"".join(line for number, line in lines if number not in bad) if bad else text
        return _line_records.raw_lines(text, piece.format, piece.is_first)

    def good_rows(self, rows: Any) -> Array:
        """Return which rows of a batch of Parquet are records."""
        is_good = np.ones(len(rows), bool)
        if self.sets_aside:
            is_good[[row for row, _ in _parquet_records.bad_rows(rows, self._taken())]] = False
        return is_good

    def texts(self, piece: Any) -> Any:
        """Return the texts of the records, a list or an array of Arrow."""
        return self._records(piece)[0].texts

    def options(self) -> dict[str, Any]:
        names = "field", "label_field", "id_field", "min_length", "max_length"
        given = {name: getattr(self.given, name) for name in names}
        labels = None
        if self.classes is not None:
            text = "\n".join(map(str, self.classes)).encode("utf-8", "surrogatepass")
            labels = hashlib.sha256(text).hexdigest()[:16]
        own = {"key_field": self.key_field, "sets_aside": self.sets_aside, "labels": labels}
        return {**given, **own}

    def classes_table(self) -> bytes:
        """Return the numbers of labels that are strings, as a table; empty if there are none."""
        classes = self.classes or {}
        if self._kind is bool:  # their numbers are 0 and 1, as everywhere
            return b""
        lines = (f"{number}\t{escaped(name)}\n" for name, number in classes.items())
        return "".join(lines).encode("utf-8", "surrogatepass")

    def _taken(self) -> Fields:
        given = self.given
        names = given.field, given.label_field, given.id_field
        lengths = given.min_length, given.max_length
        return Fields(*names, records=False, key=self.key_field, lengths=lengths)

    def _records(self, piece: Any) -> tuple[Records, int]:
        if isinstance(piece, Records):
            return piece, len(piece.texts) + len(piece.bad)
        read = _line_records.read_good_lines if self.sets_aside else _line_records.read_lines
        records = read(piece.text, piece.format, self._taken(), piece.is_first)
        return records, piece.text.count(b"\n")

    def _labels(self, batch: Records, piece: Any) -> Array:
        """Return the labels as numbers; 0 for inputs without labels."""
        if batch.labels is None:
            return np.zeros(len(batch.texts))
        wanted = self._kind
        for row, label in enumerate(batch.labels):
            if (kind := kind_of_label(label)) is not wanted:
                expected = f"expected {KINDS_OF_LABELS[wanted]} as label, as in the first record"
                found = KINDS_OF_LABELS[kind]
                raise LineError(_line_of(piece, row), f": {expected}; found {found}")
            if self.classes is not None and label not in self.classes:
                raise LineError(_line_of(piece, row), f": the label {label!r} is new: has the "
                                "input changed?")  # fmt: skip
        if self.classes is not None:
            numbers = map(self.classes.__getitem__, batch.labels)
            return np.fromiter(numbers, np.float64, len(batch.texts))
        try:
            return array_of(batch.labels)
        except MixedNumbers as error:
            raise LineError(_line_of(piece, error.row), f": {error}") from None

    @property
    def _kind(self) -> type:
        """The kind of the labels."""
        return float if self.classes is None else kind_of_label(next(iter(self.classes)))

    def distinct_labels(self, piece: Any) -> tuple[tuple[set[Any], int], int]:
        """Return the labels of a piece, and how many records and lines it has."""
        batch, n_lines = self._records(piece)
        return (set(batch.labels or ()), len(batch.texts)), n_lines


Source = LibsvmRows | TextRows
"""A kind of inputs: it cuts an input into pieces, and makes the rows of a piece."""


class _Lines(NamedTuple):
    text: bytes
    format: str
    is_first: bool


def _line_of(piece: Any, row: int) -> int:
    """Return the line of a record; records are numbered from 0, lines from 1."""
    if isinstance(piece, _Lines) and piece.format == "jsonl":
        text = piece.text.removeprefix(_line_records.MARK) if piece.is_first else piece.text
        lines = (n for n, line in enumerate(text.split(b"\n"), 1) if line.strip())
        return next(n for record, n in enumerate(lines) if record == row)
    return row + 1


def _rows_of(vectorizer: Any, texts: Any) -> Any:
    if not len(texts):
        return sp.csr_array((0, width_of(vectorizer)))
    return sp.csr_array(vectorizer.transform(texts))


# ---- labels that are strings ---------------------------------------------------------------------


def number_labels(
    source: TextRows, inputs: list[Any], n_jobs: int | None, stack: contextlib.ExitStack
) -> tuple[TextRows, list[Any]]:
    """Return the source with the classes of labels that are strings, and the inputs to read.

    The numbers depend on the labels of all inputs, so the inputs are read once more. Those that can
    be read once are spooled for it, as long as `stack` is open.
    """
    if source.given.label_field is None:
        return source, inputs
    inputs = spooled(inputs, stack)
    labels: set[Any] = set()
    for input in inputs:
        with contextlib.closing(
            read_pieces(source, input, source.distinct_labels, n_jobs=n_jobs)
        ) as pieces:
            for some in pieces:
                labels |= some
                if any(kind_of_label(label) is float for label in some):
                    return source, inputs
    return with_classes(source, labels), inputs


def with_classes(source: TextRows, labels: set[Any]) -> TextRows:
    """Return the source with classes for those of the labels that are strings; without strings, for
    booleans."""
    names: list[Any] = sorted(label for label in labels if isinstance(label, str))
    if not names and any(isinstance(label, bool) for label in labels):
        names = [False, True]
    return source._replace(classes={name: n for n, name in enumerate(names)}) if names else source
