"""Rows of raw texts, from files of any format."""

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from sparsemaps._io._sources import Input, open_input, spooled
from sparsemaps._io._text_input import LineError
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, Vectorizer
from sparsemaps._tools._whole_numbers import MixedNumbers, array_of, number_of
from sparsemaps.files._job_options import Texts
from sparsemaps.files._row_source import Piece, Source
from sparsemaps.files._rows import read_pieces
from sparsemaps.libsvm._write import one_label_each
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import (
    KINDS_OF_LABELS,
    UNNAMED,
    Fields,
    flat_labels,
    kind_of_label,
    number_in,
)
from sparsemaps.records._format import Format
from sparsemaps.records._table import format_of


class DistinctLabels(NamedTuple):
    """Distinct labels of records: from files whose formats have types, and from others, in which
    labels are strings."""

    typed: set[Any]
    untyped: set[Any]


@dataclass(frozen=True)
class TextRows(Source):
    """The rows that a vectorizer makes from texts. It replaces the analyzer in `given`.

    Labels that are strings or booleans are numbered by `classes`, the sorted labels of all inputs.
    """

    vectorizer: Any
    given: Texts = Texts()  # noqa: RUF009 (an immutable value)
    classes: dict[Any, int] | None = None
    reads_numbers: bool = False
    """Whether labels in untyped files are numbers, because all of them look like numbers."""
    key_field: str | None = None
    """The field of the number that orders records."""
    weight_field: str | None = None
    """The field of the weight of a record."""
    sets_aside: bool = False
    encoder: TextEncoder | None = None
    numbers_labels: bool = True
    """Whether labels are converted to numbers, rather than only read."""
    of_numbers: bool = False
    """Whether labels are regression targets."""
    has_ngrams: ClassVar[bool] = True

    @property
    def fields(self) -> Fields:
        given = self.given
        names = given.field, given.label_field, given.id_field
        lengths = given.min_length, given.max_length
        return Fields(
            *names, records=False, key=self.key_field, weight=self.weight_field, lengths=lengths,
            sets_aside=self.sets_aside, of_numbers=self.of_numbers,
        )  # fmt: skip

    def format(self, input: Input) -> Format:
        return format_of(getattr(input, "path", input), self.given.format, self.fields)

    def block(self, piece: Piece) -> Batch:
        batch = piece.format.batch(piece.content, self.fields)
        if batch.labels is None or not self.numbers_labels:
            batch.heads = one_label_each(np.zeros(len(batch.texts)))
        else:
            self._number_labels(batch, piece.format.is_typed)
        batch.matrix, batch.encoder = partial(_rows_of, self.vectorizer), self.encoder
        if batch.ids is not None:
            batch.id_columns = [escaped(str(id)) for id in batch.ids]
        return batch

    def texts(self, piece: Piece) -> Any:
        return piece.format.batch(piece.content, self.fields).texts

    def options(self) -> dict[str, Any]:
        names = "field", "label_field", "id_field", "min_length", "max_length"
        given = {name: getattr(self.given, name) for name in names}
        labels = None
        if self.classes is not None:
            text = "\n".join(map(str, self.classes)).encode("utf-8", "surrogatepass")
            labels = hashlib.sha256(text).hexdigest()[:16]
        elif self.reads_numbers:
            labels = "numbers"
        own = {"key_field": self.key_field, "sets_aside": self.sets_aside, "labels": labels}
        return {**given, **own}

    @property
    def texts_to_count(self) -> Texts | None:
        given = self.given
        return None if given.max_df is None and given.idf is None else given

    @property
    def has_ids(self) -> bool:
        return self.given.id_field is not None

    @property
    def has_label_field(self) -> bool:
        return self.given.label_field is not None

    def with_fields(
        self, key: str | None = None, weight: str | None = None, *, sets_aside: bool
    ) -> Self:
        return replace(self, key_field=key, weight_field=weight, sets_aside=sets_aside)

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: contextlib.ExitStack
    ) -> tuple[Self, list[Any]]:
        """Return the source with the classes of labels that are strings, and the inputs to read.

        The numbers depend on the labels of all inputs, so this reads the inputs an additional time.
        Inputs that can only be read once are spooled while `stack` is open.
        """
        if not self.has_label_field:
            return self, inputs
        inputs = spooled(inputs, stack)
        labels = DistinctLabels(set(), set())
        for input in inputs:
            with contextlib.closing(
                read_pieces(self, input, self.distinct_labels, n_jobs=n_jobs)
            ) as pieces:
                for some in pieces:
                    labels.typed.update(some.typed)
                    labels.untyped.update(some.untyped)
                    if any(kind_of_label(label) is float for label in some.typed):
                        are_typed = all(self.format(one).is_typed for one in inputs)
                        return replace(self, reads_numbers=not are_typed), inputs
        return self._with_classes(labels), inputs

    def _with_classes(self, labels: DistinctLabels) -> Self:
        """Return the source with classes for labels that are strings, or, without strings, for
        booleans. Untyped labels are numbers if all of them look like numbers."""
        if labels.untyped and not labels.typed and None not in map(number_in, labels.untyped):
            return replace(self, reads_numbers=True)
        every = labels.typed | labels.untyped
        names: list[Any] = sorted(label for label in every if isinstance(label, str))
        if not names and any(isinstance(label, bool) for label in labels.typed):
            names = [False, True]
        if not names:
            return self
        return replace(self, classes={name: n for n, name in enumerate(names)})

    def check_labels(self, inputs: list[Any]) -> None:
        if self.has_label_field:
            return
        fields = replace(self.fields, label=UNNAMED, sets_aside=False)
        for input in inputs:
            if self.format(input).has_fields:
                with open_input(input, self.given.max_line_bytes) as text:
                    for _ in self.format(input).batches(text, fields, 1):
                        pass  # unless it is empty, the first record raises: it lacks the field
        said = setting("label_field", "FIELD")
        raise ValueError(f"texts need {said}, the field of their labels")

    def named(self, labels: Array) -> Array:
        if self.classes is None:
            return labels
        return np.array(list(self.classes))[labels.astype(np.intp)]

    def classes_table(self) -> bytes:
        if self.classes is None or self._kind is bool:  # booleans are always 0 and 1
            return b""
        lines = (f"{number}\t{escaped(name)}\n" for name, number in self.classes.items())
        return "".join(lines).encode("utf-8", "surrogatepass")

    def _number_labels(self, batch: Batch, is_typed: bool) -> None:
        """Set the line beginnings of a batch from its labels, in place."""
        labels, ends = flat_labels(batch.labels)
        if ends is None:
            batch.heads = one_label_each(self._numbers(labels, batch.line_of, is_typed))
            return
        rows = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))

        def line_of(label: int) -> int:
            return batch.line_of(int(rows[label]))

        heads = one_label_each(self._numbers(labels, line_of, is_typed))
        batch.heads, batch.has_lists = heads._replace(label_ends=ends), True

    def _numbers(self, labels: list[Any], line_of: Callable[[int], int], is_typed: bool) -> Array:
        """Return labels as numbers. `line_of` maps a label's position to its line, for errors."""
        if self.reads_numbers and not is_typed:
            labels = [
                label if (n := number_in(label)) is None else number_of(n) for label in labels
            ]
        wanted = self._kind
        for number, label in enumerate(labels):
            if (kind := kind_of_label(label)) is not wanted:
                expected = f"expected {KINDS_OF_LABELS[wanted]} as label, as in the first record"
                found = KINDS_OF_LABELS[kind]
                raise LineError(line_of(number), f": {expected}; found {found}")
            if self.classes is not None and label not in self.classes:
                raise LineError(line_of(number), f": the label {label!r} is new: has the "
                                "input changed?")  # fmt: skip
        if self.classes is not None:
            numbers = map(self.classes.__getitem__, labels)
            return np.fromiter(numbers, np.float64, len(labels))
        try:
            return array_of(labels)
        except MixedNumbers as error:
            raise LineError(line_of(error.row), f": {error}") from None

    @property
    def _kind(self) -> type:
        """The kind of the labels."""
        return float if self.classes is None else kind_of_label(next(iter(self.classes)))

    def distinct_labels(self, piece: Piece) -> tuple[tuple[DistinctLabels, int], int]:
        """Return the labels of a piece, and its numbers of records and lines."""
        batch = piece.format.batch(piece.content, self.fields)
        labels = set(flat_labels(batch.labels or [])[0])
        of_piece = (
            DistinctLabels(labels, set())
            if piece.format.is_typed
            else DistinctLabels(set(), labels)
        )
        return (of_piece, len(batch.texts)), batch.n_lines


def _rows_of(vectorizer: Vectorizer, texts: Sequence[Any]) -> Any:
    if not len(texts):
        return sp.csr_array((0, width_of(vectorizer)))
    return sp.csr_array(vectorizer.transform(texts))
