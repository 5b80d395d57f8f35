"""The contract of a format of inputs: which functions a file of this folder has.

A format is one object of a class of its own, the ``FORMAT`` of its module, which the folder's
``__init__`` lists. Nothing outside of this folder compares names of formats: what differs between
them is here. Formats whose records are lines derive from `LineFormat` (``_line_format``), those
that Arrow reads take their columns by ``_columns``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import IO, Any, ClassVar, NamedTuple

from sparsemaps._io._text_input import Text
from sparsemaps._tools._typing import Array
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import Fields

PIECE_BYTES = 2**20
"""Bytes of records that a thread takes at a time, unless the format cuts the input itself."""


class Raw(NamedTuple):
    """Consecutive records in the form in which they are written back."""

    n: int
    """The number of good records."""
    records: Any
    """The records in a form that the writer of the format takes."""


class RecordWriter(ABC):
    """It writes records of one format back to one file, byte for byte. `begin` is called before the
    records of each input, and at the end `finish`, or after an error `abandon`."""

    def begin(self) -> None:  # noqa: B027 (most formats need nothing here)
        """Go on with the records of another input."""

    @abstractmethod
    def write(self, raw: Raw, kept: Array) -> None:
        """Write the records for which `kept` is true; it has one truth value for each."""

    def finish(self) -> None:  # noqa: B027
        """End the file."""

    def abandon(self) -> None:  # noqa: B027
        """Release what the writer holds, after an error; the file does not appear."""


class Format(ABC):
    """A format of inputs. All methods may be called from any thread; those that take a `text` read
    it from its beginning, and only one of them is called for a text."""

    name: ClassVar[str]
    """As options name the format, and recipes of results."""
    title: ClassVar[str]
    """As errors name it."""
    endings: ClassVar[tuple[str, ...]]
    """The endings of names of files, in small letters; none belongs to two formats."""
    unit: ClassVar[str] = "line"
    """What errors count from 1."""
    has_fields: ClassVar[bool] = True
    """Whether records have fields beside their texts."""
    is_typed: ClassVar[bool] = True
    """Whether numbers differ from strings. Labels of other formats are strings; they are numbers
    for a job if all of them are."""
    may_be_rows: ClassVar[bool] = False
    """Whether a file of such a name may be LIBSVM text as well."""
    is_cut_by_bytes: ClassVar[bool] = False
    """Whether each line end ends a record, so that several tasks can read ranges of a file."""
    is_streamed: ClassVar[bool] = True
    """Whether it is read from and written to pipes and compressed files."""
    is_table: ClassVar[bool] = False
    """Whether a file has columns, so that records of another format never get its name."""
    is_packed: ClassVar[bool] = False
    """Whether the file itself is compressed."""

    @abstractmethod
    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        """Yield the records of an input in batches of `n_bytes`, nearly. With ``fields.records``,
        they have the raw records; with ``fields.sets_aside``, bad records are in `Batch.bad`, or
        only left out by a format with `pieces` and `batch` of its own. Otherwise they are errors
        that name the file and the line."""

    def pieces(
        self, text: Text, fields: Fields, n_jobs: int | None, max_rows: int | None
    ) -> Iterator[Any]:
        """Yield pieces of an input, of at most `max_rows` records unless that is None. `batch`
        makes batches of them. One thread cuts pieces, several make batches."""
        for batch in self.batches(text, fields, PIECE_BYTES):
            n = len(batch.texts)
            step = max_rows or max(n, 1)
            for start in range(0, max(n, 1), step):  # once if all records are bad
                yield batch.rows(start, start + step)

    def batch(self, piece: Any, fields: Fields) -> Batch:
        """Return the records of a piece. With ``fields.sets_aside``, bad records are in
        `Batch.bad`, and errors otherwise; a `LineError` counts lines from the beginning of the
        piece."""
        batch: Batch = piece
        return batch

    def raw_pieces(self, text: Text, fields: Fields, n_jobs: int | None) -> Iterator[Any]:
        """Yield pieces of an input, for `raw` to make raw records; ``fields.records`` is true. A
        format that has more in a file than records, such as a header, yields at least one piece: so
        a file without records is written with that."""
        return self.pieces(text, fields, n_jobs, None)

    def raw(self, piece: Any, fields: Fields) -> Raw:
        """Return the good records of a piece as the input has them."""
        return Raw(len(piece.texts), piece.records)

    @abstractmethod
    def writer(self, file: IO[bytes]) -> RecordWriter:
        """Return a writer of records to a file."""

    def check(self, inputs: list[Any]) -> None:  # noqa: B027
        """Raise a ValueError if the records of the inputs do not fit in one output, before any
        is read."""


def name_of(text: Text) -> str:
    """Return the name of a file in errors."""
    return text.name.removesuffix(": ") or "a file object"


def other_columns(one: object, other: object) -> ValueError:
    """Return the error of two inputs whose rows do not fit in one file."""
    return ValueError(f"{one} and {other} have different columns; write to a directory")
