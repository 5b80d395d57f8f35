"""The contract of an input format.

A format is a singleton of its own class, the ``FORMAT`` of its module, which the folder's
``__init__`` lists. Code outside this folder never compares names of formats; all differences are
here. Formats whose records are lines derive from `LineFormat` (``_line_format``). Formats that
Arrow reads convert columns with ``_columns``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import IO, Any, ClassVar, NamedTuple

from sparsemaps._io._text_input import Text
from sparsemaps._tools._typing import Array
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import Fields

PIECE_BYTES = 2**20
"""Bytes of records per piece, unless the format cuts the input itself."""


class Raw(NamedTuple):
    """Consecutive records in the form in which they are written back."""

    n: int
    """Number of good records."""
    records: Any
    """The records in the form that the writer of the format takes."""
    may_have_mark: bool = False
    """Whether these are the first lines of an input, which may begin with a byte order mark."""


class RecordWriter(ABC):
    """A writer that copies records of one format to one file, byte for byte. Finally, call
    `finish`, or `abandon` after an error."""

    @abstractmethod
    def write(self, raw: Raw, kept: Array) -> None:
        """Write the records for which `kept`, a mask, is true."""

    def finish(self) -> None:  # noqa: B027 (most formats need nothing here)
        """Complete the file."""

    def abandon(self) -> None:  # noqa: B027
        """Release resources after an error; the file does not appear."""


class Format(ABC):
    """An input format. All methods are thread-safe. Methods that take a `text` read it from its
    beginning, so only one of them is called per text."""

    name: ClassVar[str]
    """The name in options and in recipes of results."""
    title: ClassVar[str]
    """The name in error messages."""
    endings: ClassVar[tuple[str, ...]]
    """File name endings in lower case. One is a dot and `name`. No two formats share an ending."""
    unit: ClassVar[str] = "line"
    """The unit that errors count from 1."""
    has_fields: ClassVar[bool] = True
    """Whether records have fields besides their texts."""
    is_typed: ClassVar[bool] = True
    """Whether the format distinguishes numbers from strings. Otherwise labels are strings, which a
    job treats as numbers if all of them are."""
    may_be_rows: ClassVar[bool] = False
    """Whether a file with such a name may also be LIBSVM text."""
    is_cut_by_bytes: ClassVar[bool] = False
    """Whether each line end ends a record, so that several tasks can read ranges of a file."""
    is_streamed: ClassVar[bool] = True
    """Whether the format can be read from and written to pipes and compressed files."""
    is_table: ClassVar[bool] = False
    """Whether files have columns. Records of another format are never written under such a name."""
    is_packed: ClassVar[bool] = False
    """Whether the file itself is compressed."""

    @abstractmethod
    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        """Yield the records of an input in batches of about `n_bytes`. With ``fields.records``,
        batches have the raw records. With ``fields.sets_aside``, bad records are in `Batch.bad`; a
        format with its own `pieces` and `batch` may omit them. Otherwise bad records raise an error
        that names the file and the line."""

    def pieces(
        self, text: Text, fields: Fields, n_jobs: int | None, max_rows: int | None
    ) -> Iterator[Any]:
        """Yield pieces of an input, which `batch` turns into batches. A piece has at most
        `max_rows` records, unless that is None. One thread cuts pieces; several make batches."""
        for batch in self.batches(text, fields, PIECE_BYTES):
            n = len(batch.texts)
            step = max_rows or max(n, 1)
            for start in range(0, max(n, 1), step):  # once if all records are bad
                yield batch.rows(start, start + step)

    def batch(self, piece: Any, fields: Fields) -> Batch:
        """Return the records of a piece. With ``fields.sets_aside``, bad records are in
        `Batch.bad`; otherwise they raise an error. A `LineError` counts lines from the beginning of
        the piece."""
        batch: Batch = piece
        return batch

    def raw_pieces(self, text: Text, fields: Fields, n_jobs: int | None) -> Iterator[Any]:
        """Yield pieces of an input for `raw`; ``fields.records`` is true. A format whose files have
        more than records, such as a header, yields at least one piece, so that this part is written
        even without records."""
        return self.pieces(text, fields, n_jobs, None)

    def raw(self, piece: Any, fields: Fields) -> Raw:
        """Return the good records of a piece in the form of the input."""
        return Raw(len(piece.texts), piece.records)

    @abstractmethod
    def writer(self, file: IO[bytes]) -> RecordWriter:
        """Return a writer that writes records to a file."""

    def check(self, inputs: list[Any]) -> None:  # noqa: B027
        """Raise a ValueError, before any record is read, if the records of the inputs do not fit in
        one output."""


def name_of(text: Text) -> str:
    """Return the name of a file for errors."""
    return text.name.removesuffix(": ") or "a file object"


def other_columns(one: object, other: object) -> ValueError:
    """Return the error about two inputs whose rows do not fit in one file."""
    return ValueError(f"{one} and {other} have different columns; write to a directory")
