"""Mapping blocks of LIBSVM text."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._row_reader import EntryError
from sparsemaps.libsvm._parse import (
    Array,
    LineError,
    Part,
    RowsRead,
    line_of_row,
    parse,
    rows_of,
    width_of,
)
from sparsemaps.libsvm._write import Heads
from sparsemaps.maps._sparse_map import as_fitted


class Block(NamedTuple):
    """Some lines of text and what they hold."""

    X: Any
    heads: Heads
    text: bytes


def read_block(text: bytes, zero_based: bool) -> tuple[Block, int]:
    """Some lines, with one label a row or several, and the number of line ends."""
    try:
        part = parse(text, one_based=not zero_based)
    except LineError:
        part = parse(text, one_based=not zero_based, multilabel=True)
        _check_labels(text, part)
    if len(part.qids) not in (0, part.n_rows):
        _raise_mixed_qids(text)
    rows = RowsRead(np.float64)
    rows.append(part, 1)
    width = width_of(part.largest, not zero_based)
    X, _ = rows.finish(width, not zero_based, multilabel=False, query_id=False)
    return Block(X, Heads(part.labels, part.label_ends, part.qids), text), part.n_lines


def _check_labels(text: bytes, part: Part) -> None:
    """A row without labels begins with a blank; in any other, the label has been forgotten."""
    unlabelled = np.diff(part.label_ends, prepend=0) == 0
    if not unlabelled.any():
        return
    for is_without, (number, line) in zip(unlabelled, rows_of(text), strict=True):
        if is_without and not line[:1].isspace():
            token = line.split()[0].decode("ascii", "backslashreplace")
            raise LineError(number, f", column 1: expected a number as label; found '{token}'")


def _raise_mixed_qids(text: bytes) -> None:
    is_first_with = None
    for number, line in rows_of(text):
        is_with = any(token.startswith(b"qid:") for token in line.split(None, 2)[:2])
        if is_first_with is None:
            is_first_with = is_with
        elif is_with != is_first_with:
            found = "has a qid" if is_with else "has no qid"
            raise LineError(number, f" {found}, unlike the lines before; all or none must have one")


class FittedMap:
    """A map that is applied to one block after the other.

    Parameters
    ----------
    given : map of sparsemaps
        Used as it is if it is fitted; otherwise a copy is fitted for rows of any width.
    """

    def __init__(self, given: Any) -> None:
        self.map: Any = as_fitted(given)
        self.is_one_hot: bool = self.map.is_one_hot
        self.has_codes: bool = self.map.has_codes
        self.n_columns: int | None = self.map._n_columns

    @property
    def bits(self) -> int:
        return int(self.map._code_bits)

    @property
    def code_bytes(self) -> int:
        """Bytes of the packed codes of a row."""
        return int(self.map.encode(sp.csr_array((0, self.n_columns or 1))).shape[1])

    @property
    def width(self) -> int:
        """Width of the output."""
        return int(self.map._n_features_out)

    @property
    def n_values(self) -> int:
        """About how many entries a row of the output has."""
        return int(self.map._size)

    def codes(self, block: Block, zero_based: bool) -> Array:
        """The codes of each row as numbers, -1 in rows without."""
        codes: Array = self._checked(self.map._codes_as_numbers, block, zero_based)
        return codes

    def packed(self, block: Block, zero_based: bool) -> Array:
        """The codes of each row, packed."""
        codes: Array = self._checked(self.map.encode, block, zero_based)
        return codes

    def features(self, block: Block, zero_based: bool) -> Any:
        """The output as CSR."""
        return sp.csr_array(self._checked(self.map.transform, block, zero_based))

    def _checked(self, function: Callable[[Any], Any], block: Block, zero_based: bool) -> Any:
        """``function(X)``, whose errors name the line and the index as they are in the text."""
        X = block.X
        if self.n_columns is not None and X.shape[1] > self.n_columns:
            entry = int(np.argmax(X.indices >= self.n_columns))
            row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
            raise LineError(
                line_of_row(block.text, row),
                f": index {X.indices[entry] + (not zero_based)}, but the map was fitted to "
                f"{self.n_columns} columns",
            )
        if self.n_columns is not None:
            X = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], self.n_columns))
        elif X.shape[1] == 0:  # rows without entries
            X = sp.csr_array((X.shape[0], 1))
        try:
            return function(X)
        except EntryError as error:
            raise LineError(
                line_of_row(block.text, error.row),
                f", index {error.column + (not zero_based)}: {error.found}; {error.rule}",
            ) from error


def with_comments(text: bytes, lines: bytes) -> bytes:
    """The output `lines` of the rows of `text`, with the comments of `text` in their places."""
    rows = iter(lines.split(b"\n"))
    joined = []
    for line in text.split(b"\n"):
        content, hash_sign, comment = line.partition(b"#")
        if content.strip():
            row = next(rows)
            joined.append(row.rstrip(b" ") + b" #" + comment.rstrip(b"\r") if hash_sign else row)
        elif hash_sign:
            joined.append(b"#" + comment.rstrip(b"\r"))
    return b"".join(line + b"\n" for line in joined)
