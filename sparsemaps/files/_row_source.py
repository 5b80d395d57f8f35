"""The contract of a kind of inputs, which reads records and makes rows of them."""

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
    """Consecutive records of an input, before they are parsed."""

    format: Format
    content: Any


class Source(ABC):
    """A kind of inputs, as an immutable value: `LibsvmRows` or `TextRows`."""

    given: Texts | Svmlight
    """The user's description of the inputs."""
    sets_aside: bool
    """Whether bad lines or rows are set aside instead of raising an error."""
    has_ngrams: ClassVar[bool] = False
    """Whether rows are n-grams of texts."""
    encoder: TextEncoder | None = None
    """The encoder from texts to the codes of the job's map, if the records are texts and the map
    has codes."""

    @property
    @abstractmethod
    def fields(self) -> Fields:
        """The fields to read from records."""

    @abstractmethod
    def format(self, input: Input) -> Format:
        """Return the format of an input. Raise ValueError if neither the name nor an option
        determines it."""

    def facts(self, input: InputFile) -> list[Any]:
        """Return the facts about an input that determine its records, for a recipe."""
        return [*input.recipe, self.format(input).name]

    @abstractmethod
    def block(self, piece: Piece) -> Batch:
        """Return the records of a piece, with their rows. A `LineError` counts lines from the
        beginning of the piece."""

    @abstractmethod
    def texts(self, piece: Piece) -> Any:
        """Return the records of a piece as text: a list or an Arrow array."""

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Return the options that determine the rows, for a receipt."""

    @abstractmethod
    def with_fields(
        self, key: str | None = None, weight: str | None = None, *, sets_aside: bool
    ) -> Self:
        """Return the source with a field of numbers that order records, a field of weights, and the
        given treatment of bad records."""

    @property
    def texts_to_count(self) -> Texts | None:
        """The description of the inputs if their rows depend on document frequencies, through
        `max_df` or `idf`; otherwise None."""
        return None

    @property
    def has_ids(self) -> bool:
        """Whether records have ids in a field."""
        return False

    @property
    def has_label_field(self) -> bool:
        """Whether labels come from a field and may be strings."""
        return False

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: contextlib.ExitStack
    ) -> tuple[Self, list[Any]]:
        """Return the source after a first pass over the inputs, if it needs one, and inputs that
        can be read as often as necessary while `stack` is open."""
        return self, inputs

    def check_labels(self, inputs: list[Any]) -> None:  # noqa: B027
        """Raise a ValueError if records have no labels to learn from."""

    def named(self, labels: Array) -> Array:
        """Return labels as strings if they are the numbers of strings."""
        return labels

    def classes_table(self) -> bytes:
        """Return a table of the numbers of labels that are strings; empty without such labels."""
        return b""
