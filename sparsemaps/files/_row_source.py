"""The contract of a kind of inputs: it reads their records, and makes rows of them."""

import contextlib
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

from sparsemaps._io._sources import Input, InputFile
from sparsemaps._tools._typing import Array
from sparsemaps.files._job_options import Svmlight, Texts
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import Fields
from sparsemaps.records._format import Format


class Piece(NamedTuple):
    """Some consecutive records of an input, before they are read."""

    format: Format
    content: Any


class Source(ABC):
    """A kind of inputs: `LibsvmRows` or `TextRows`, an immutable value."""

    given: Texts | Svmlight
    """What users say of the inputs."""
    sets_aside: bool
    """Whether bad lines or rows are set aside instead of raising an error."""
    has_ngrams: ClassVar[bool] = False
    """Whether rows are n-grams of texts."""
    encoder: TextEncoder | None = None
    """From texts to the codes of the job's map, if these are texts and it has codes."""

    @property
    @abstractmethod
    def fields(self) -> Fields:
        """The fields that are read of records."""

    @abstractmethod
    def format(self, input: Input) -> Format:
        """Return the format of an input. It is an error if neither the name nor an option tells
        it."""

    def facts(self, input: InputFile) -> list[Any]:
        """Return the facts about an input that decide its records, for a recipe."""
        return [*input.recipe, self.format(input).name]

    @abstractmethod
    def block(self, piece: Piece) -> Batch:
        """Return the records of a piece, with their rows; a `LineError` counts lines from the
        beginning of the piece."""

    @abstractmethod
    def texts(self, piece: Piece) -> Any:
        """Return the records of a piece as text, a list or an array of Arrow."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Return the options that decide the rows, for a receipt."""

    @abstractmethod
    def with_fields(
        self, key: str | None = None, weight: str | None = None, *, sets_aside: bool
    ) -> Self:
        """Return the source whose records have the numbers that order them, and weights, in fields,
        and which sets bad records aside, or does not."""

    @property
    def needs_counts(self) -> Texts | None:
        """What the inputs are if rows depend on how many records have an n-gram: `max_df` limits
        those that count, or `idf` weighs them; else None."""
        return None

    @property
    def has_ids(self) -> bool:
        """Whether records have ids in a field."""
        return False

    @property
    def has_label_field(self) -> bool:
        """Whether labels are in a field, and may be strings."""
        return False

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: contextlib.ExitStack
    ) -> tuple[Self, list[Any]]:
        """Return the source after a first reading of the inputs, if one is needed; and the inputs
        that can still be read as often as needed, as long as `stack` is open."""
        return self, inputs

    def check_labels(self) -> None:  # noqa: B027
        """Raise a ValueError if records have no labels to learn."""

    def named(self, labels: Array) -> Array:
        """Return labels by their names, if their numbers are of strings."""
        return labels

    def classes_table(self) -> bytes:
        """Return the numbers of labels that are strings, as a table; empty if there are none."""
        return b""
