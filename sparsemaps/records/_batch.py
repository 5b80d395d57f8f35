"""Consecutive records of an input, with their labels, ids and lines."""

import dataclasses
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sparsemaps._io._text_input import LineError
from sparsemaps._loops.text import Utf8Texts
from sparsemaps._tools._typing import Array
from sparsemaps.libsvm._parse import Part, exact_labels, numbered_rows
from sparsemaps.libsvm._write import Heads
from sparsemaps.records._fields import Fields, lengths_of


def as_rows(row: int) -> int:
    """Return the number, from 1, that errors use for a row numbered from 0."""
    return row + 1


NgramSets = tuple[Array, Array]
"""Sets of n-grams of some texts: their columns, and the offsets (int64) that delimit the columns of
each text."""

OF_RECORDS = "texts", "labels", "records", "ids", "keys", "weights"
"""Attributes of a batch that have one value per record or are None."""


@dataclass(slots=True)
class Batch:
    """Consecutive records of one input. A batch unpacks into texts, labels and raw records.

    Attributes
    ----------
    texts : list of str; pyarrow.Array of strings if the input is Parquet or Arrow; `Utf8Texts` if
        a job reads only the texts of JSON Lines
    labels : list of numbers, of str or of bool, or None without `label_field`
        Numbers are float, except that whole numbers from 2**53 on are int, with all digits. Labels
        of CSV are str. A list of labels becomes a tuple.
    records : list of bytes, pyarrow.RecordBatch if the input is Parquet or Arrow, or None if not
        requested. Bytes are whole lines with their line ends; the last line may lack one.
    ids : list of str or int, or None without `id_field`
    input : str or file-like
        The file, "-", or the file object.
    n_bytes : int
        Number of bytes that were read from the file for these records, before decompression.
    """

    texts: Any
    labels: Any = None
    records: Any = None
    ids: Any = None
    input: Any = None
    n_bytes: int = 0
    keys: Any = None
    """The number of each record in two parts (`_whole_numbers.in_two`); NaN if the record has
    none."""
    weights: Any = None
    """The weight of each record as a float; None without a weight field."""
    bad: Any = ()
    """Bad lines or rows: number (from 0), reason, and line."""
    n_lines: int = 0
    """Number of lines or rows read, including bad ones."""
    line_of: Callable[[int], int] = as_rows
    """Map the number of a record (from 0) to the number of its line (from 1)."""

    matrix: Any = None
    """The rows that a job computes from the records: a matrix, or a function from texts to a
    matrix."""
    heads: Any = None
    """The beginnings of the lines of the rows (`Heads`)."""
    has_lists: bool = False
    """Whether any record has a list of labels instead of one label."""
    encoder: Any = None
    """The encoder that makes codes from the texts, if codes are requested."""
    id_columns: list[str] | None = None
    """The ids as columns of a table."""
    text: bytes = b""
    """The lines of a LIBSVM file; `part` has the parsed rows."""
    one_based: bool = True
    part: Part | None = None

    @classmethod
    def empty(cls, fields: Fields) -> "Batch":
        """Return an empty batch, to which records can be appended."""
        batch = cls([], records=[] if fields.records else None)
        for one in fields.besides_text:
            setattr(batch, one.values, [])
        return batch

    def append(self, text: str, values: Mapping[str, Any], record: object = None) -> None:
        """Append a record: its text, and the values of the other fields, by the attributes that
        have them. `record` is the raw record, or None if it is not requested."""
        self.texts.append(text)
        for name, value in values.items():
            getattr(self, name).append(value)
        if record is not None:
            self.records.append(record)

    def __iter__(self) -> Iterator[Any]:
        yield self.texts
        yield self.labels
        yield self.records

    def rows(self, start: int, stop: int) -> "Batch":
        """Return the records from `start` to `stop`. All bad records go with the first part."""
        n = len(self.texts)
        if start == 0 and stop >= n:
            return self
        some = slice(start, stop)
        named = {name: getattr(self, name) for name in OF_RECORDS}
        named = {name: one if one is None else one[some] for name, one in named.items()}
        before = self.line_of(start) - 1 if start else 0
        end = self.line_of(stop) - 1 if stop < n else self.n_lines
        batch = Batch(input=self.input, **named)
        batch.bad = () if start else self.bad
        batch.n_lines = end - before
        batch.line_of = partial(_within, self.line_of, start, before)
        return batch

    # ---- rows of a job ---------------------------------------------------------------------------

    @property
    def X(self) -> Any:
        return self.matrix(self.texts) if callable(self.matrix) else self.matrix

    def some(self, rows: Array) -> Any:
        """Return the given rows. Only their texts are vectorized."""
        if callable(self.matrix):
            return self.matrix([str(self.texts[row]) for row in rows.tolist()])
        return self.matrix[rows]

    @property
    def n_rows(self) -> int:
        return len(self.heads.label_ends)

    @property
    def n_leading_bad(self) -> int:
        """The number of bad records before the first good one."""
        if not self.bad or not self.n_rows:
            return len(self.bad)
        first = self.line_of(0)
        return sum(number + 1 < first for number, *_ in self.bad)

    def bad_and_good(self) -> tuple[Any, int, int, int]:
        """Return the counts for the table of bad records: the bad records, the numbers of lines and
        of good records, and the number of bad records before the first good one."""
        return self.bad, self.n_lines, self.n_rows, self.n_leading_bad

    def exact_heads(self) -> Heads:
        """Return the line beginnings. Labels that are whole numbers have all their digits."""
        heads: Heads = self.heads
        if self.part is None:
            return heads
        return heads._replace(labels=exact_labels(self.text, self.part))

    def without_rows(self) -> "Batch":
        heads = self.exact_heads()
        return dataclasses.replace(self, matrix=None, text=b"", texts=None, heads=heads, part=None)

    def lengths(self) -> Array:
        """Return the lengths of records: characters of texts, or entries of other rows."""
        if self.texts is None:
            return np.diff(self.X.indptr)
        return lengths_of(self.texts)

    def contents(self, rows: Array) -> list[bytes]:
        """Return the contents of the given records: a text, or a line without its end."""
        if not len(rows):
            return []
        if self.texts is None:
            lines = list(self._all_contents())
            return [lines[row] for row in rows]
        texts = (str(self.texts[row]) for row in rows.tolist())
        return [text.encode("utf-8", "surrogatepass") for text in texts]

    def checksums(self) -> Array:
        """Return checksums of the records. Different contents share a checksum with probability
        2^-32."""
        return np.fromiter(map(zlib.crc32, self._all_contents()), np.uint32)

    def _all_contents(self) -> Iterable[Any]:
        """Return the contents of all records: texts as UTF-8, or lines without their ends."""
        if self.texts is None:
            return (line.rstrip(b"\r") for _, line in numbered_rows(self.text))
        if isinstance(self.texts, Utf8Texts):
            pieces: Iterable[Any] = self.texts.pieces()
            return pieces
        texts = self.texts if isinstance(self.texts, list) else self.texts.to_pylist()
        return (text.encode("utf-8", "surrogatepass") for text in texts)

    def counted(self, ngrams: list[NgramSets], checksums: bool) -> "CountedBatch":
        """Return the records without their texts. Whatever jobs write about a record is retained,
        and the n-grams of the texts are added as sets."""
        names = ("ids", "keys", "weights", "input", "n_bytes", "bad", "n_lines", "heads")
        same = {name: getattr(self, name) for name in (*names, "id_columns")}
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(indptr) for _, indptr in ngrams)])
        empty = np.flatnonzero(sizes == 0)
        return CountedBatch(
            None, ngrams=ngrams, known_lengths=self.lengths().astype(np.uint32),
            known_leading_bad=self.n_leading_bad,
            known_checksums=self.checksums() if checksums else None,
            known_contents=dict(zip(empty.tolist(), self.contents(empty), strict=True)), **same,
        )  # fmt: skip

    def error(self, row: int, column: int, message: str) -> LineError:
        """Return an error that names the line, and the index as numbered in the input."""
        index = column + self.one_based
        return LineError(self.line_of(row), message.format(index=index))


@dataclass(slots=True)
class CountedBatch(Batch):
    """Records whose n-grams are in memory, but not their texts."""

    ngrams: list[NgramSets] | None = None
    known_lengths: Any = None
    known_checksums: Any = None
    known_contents: Any = None
    """The contents of the records without n-grams, by record number."""
    known_leading_bad: int = 0

    @property
    def n_leading_bad(self) -> int:
        return self.known_leading_bad

    def lengths(self) -> Array:
        lengths: Array = self.known_lengths
        return lengths

    def checksums(self) -> Array:
        checksums: Array = self.known_checksums
        return checksums

    def contents(self, rows: Array) -> list[bytes]:
        return [self.known_contents[row] for row in rows.tolist()]

    def without_rows(self) -> Batch:
        return dataclasses.replace(self, ngrams=None)


def place_in(places: list[int], record: int) -> int:
    """Return the line or row of a record (from 1), given the places of all records (from 0)."""
    return places[record] + 1


def _within(line_of: Callable[[int], int], start: int, n_before: int, row: int) -> int:
    """Return the line of a record within a part that begins at the record `start`, `n_before` lines
    into the whole."""
    return line_of(start + row) - n_before
