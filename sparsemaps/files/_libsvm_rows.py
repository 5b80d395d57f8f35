"""Rows of LIBSVM files, and the comments of their lines."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from sparsemaps._io._sources import Input, spooled
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._parameters import setting
from sparsemaps.files._job_options import Svmlight
from sparsemaps.files._row_source import Piece, Source
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import Fields
from sparsemaps.records.svmlight import SvmlightRecords


@dataclass(frozen=True)
class LibsvmRows(Source):
    """Rows of LIBSVM files with one label each, or with several if allowed."""

    given: Svmlight = Svmlight()  # noqa: RUF009 (an immutable value)
    multilabel: bool | None = True
    """Whether rows may have several labels. None means that the first such row decides
    (`SvmlightRecords`)."""
    sets_aside: bool = False

    @property
    def fields(self) -> Fields:
        return Fields("", None, None, records=False, sets_aside=self.sets_aside)

    def format(self, input: Input) -> SvmlightRecords:
        return SvmlightRecords(self.given.zero_based, self.multilabel)

    def block(self, piece: Piece) -> Batch:
        return piece.format.batch(piece.content, self.fields)

    def texts(self, piece: Piece) -> list[str]:
        """Return the lines that are rows, as text."""
        lines = piece.format.raw(piece.content, self.fields).records
        return [line.rstrip(b"\r\n").decode("utf-8", "backslashreplace") for line in lines]

    def options(self) -> dict[str, Any]:
        return {"zero_based": self.given.zero_based, "sets_aside": self.sets_aside}

    def with_fields(
        self, key: str | None = None, weight: str | None = None, *, sets_aside: bool
    ) -> Self:
        if key is not None:
            raise ValueError(f"{setting('keep', key)} is a field of texts; rows have none")
        if weight is not None:
            raise ValueError(
                f"{setting('weight_field', weight)} is a field of texts; weights of rows are read "
                "from files beside them"
            )
        return replace(self, sets_aside=sets_aside)

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: contextlib.ExitStack
    ) -> tuple[Self, list[Any]]:
        """Return the inputs. Make them rereadable if a row decides whether rows may have several
        labels."""
        return self, spooled(inputs, stack) if self.multilabel is None else inputs


def comments_of(text: bytes) -> Iterator[tuple[int | None, bytes | None]]:
    """Yield the row number (from 0) and the comment of each line that has a row or a comment."""
    row = 0
    for line in text.split(b"\n"):
        content, hash_sign, comment = line.partition(b"#")
        is_row = bool(content.strip())
        if is_row or hash_sign:
            yield row if is_row else None, comment.rstrip(b"\r") if hash_sign else None
        row += is_row


def comments_of_rows(text: bytes) -> Iterator[tuple[int, str]]:
    """Yield the row numbers and comments of the rows with a comment."""
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
