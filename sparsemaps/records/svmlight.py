"""LIBSVM text: one row per line, a label and index:value pairs."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from sparsemaps._io._text_input import BadLine, LineError, Text
from sparsemaps.libsvm._parse import (
    Part,
    RowsRead,
    has_qid,
    line_of_row,
    numbered_rows,
    parse,
    width_of,
)
from sparsemaps.libsvm._write import Heads, has_one_label_each
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import Fields
from sparsemaps.records._line_format import CutByLines, Lines


class SeveralLabels(Exception):
    """A row has several labels, and it is not yet known whether rows may have several."""


_SEVERAL = re.compile(rb"^[-+.0-9eE]+(?:,[-+.0-9eE]+)+[ \t]+[^\s#:]+:", re.MULTILINE)
"""The beginning of a row with several labels, followed by an entry or a qid. CSV never matches."""


@dataclass(frozen=True)
class SvmlightRecords(CutByLines):
    """Rows with one label each, or with several if allowed. Indices count from 0 or from 1.

    If `multilabel` is None, each row must have one label. Rows with several raise `SeveralLabels`,
    so that the caller can read all rows again.
    """

    zero_based: bool = False
    multilabel: bool | None = True

    name, title, endings = "svmlight", "LIBSVM text", ()
    has_fields = False

    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        for piece in self.pieces(text, fields, None, None):
            yield self.batch(piece, fields)

    def batch(self, piece: Lines, fields: Fields) -> Batch:
        one_based = not self.zero_based
        text, bad = self._rows(piece.text, fields)
        try:
            part = parse(text, one_based=one_based)
        except LineError:
            self._refuse_several(text)
            if not self.multilabel:
                raise
            part = parse(text, one_based=one_based, multilabel=True)
            _check_labels(text, part)
        if len(part.qids) not in (0, len(part.entry_ends)):
            _raise_mixed_qids(text)
        rows = RowsRead(np.float64)
        rows.append(part, 1)
        width = width_of(part.largest, one_based)
        X, _ = rows.finish(width, one_based, multilabel=False, query_id=False)
        heads = Heads(part.labels, part.label_ends, part.qids)
        line_of = partial(line_of_row, text)
        return Batch(
            None, bad=bad, n_lines=part.n_lines, line_of=line_of, matrix=X, heads=heads, text=text,
            one_based=one_based, part=part, has_lists=not has_one_label_each(heads),
        )  # fmt: skip

    def _rows(self, lines: bytes, fields: Fields) -> tuple[bytes, list[tuple[int, str, bytes]]]:
        """Return the lines, with empty lines in place of bad ones, and the bad lines."""
        if not fields.sets_aside or self._error(lines) is None:
            return lines, []
        self._refuse_several(lines)
        good, bad = [], []
        for number, line in enumerate(io.BytesIO(lines)):
            error = self._error(line)
            good.append(line if error is None else b"\n")
            if error is not None:
                bad.append((number, error.message, line))
        return b"".join(good), bad

    def _error(self, lines: bytes) -> BadLine | None:
        """Return the error of the first line that cannot be read; None if all can be read."""
        try:
            part = parse(lines, one_based=not self.zero_based, multilabel=bool(self.multilabel))
            _check_labels(lines, part)
        except BadLine as error:
            return error
        return None

    def _refuse_several(self, text: bytes) -> None:
        if self.multilabel is None and _SEVERAL.search(text):
            raise SeveralLabels

    def lines_of_records(self, lines: Lines) -> list[bytes]:
        return [line for line in io.BytesIO(lines.text) if line.partition(b"#")[0].strip()]

    def good_lines(self, piece: Lines, fields: Fields) -> bytes:
        return self._rows(piece.text, fields)[0]


def _check_labels(text: bytes, part: Part) -> None:
    """Raise `BadLine` if a row without labels does not begin with a blank, since its label is
    missing."""
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
