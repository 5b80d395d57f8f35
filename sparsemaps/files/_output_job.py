"""The contract of a job that writes one output per input, or one output for all inputs."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, ClassVar, NamedTuple, Self

from sparsemaps._io._sources import BESIDE_ROWS
from sparsemaps._tools._typing import Destination, StrPath
from sparsemaps.files._results import Results
from sparsemaps.files._row_source import Source
from sparsemaps.files._tasks import Stage, TaskRun


class MadeOutput(NamedTuple):
    """An input, its output, the job's counts of its records, and whether the output was already
    complete."""

    input: Any
    output: Any
    numbers: list[int]
    skipped: bool


class OutputJob(ABC):
    """A job that makes an output from some inputs: a `Job`, `Predicting` or `Filtering`."""

    name: ClassVar[str]
    """The name of the stage whose tasks make outputs."""
    source: Source
    """The source that reads records."""
    bad_records: Any
    """The path of the table of bad records; None if bad records raise errors."""

    @property
    def beside(self) -> tuple[str, ...]:
        """Name endings of files that may be written next to an output, or may remain there from an
        earlier run without belonging to this output."""
        return BESIDE_ROWS

    @property
    @abstractmethod
    def n_counts(self) -> int:
        """Number of counts that `run` returns per input."""

    @property
    def needs_all_inputs(self) -> bool:
        """Whether each output depends on all inputs, through earlier stages."""
        return False

    @abstractmethod
    def name_of_output(self, name: str) -> str:
        """Return the name of an output in a directory, given the name of its input."""

    @abstractmethod
    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        """Raise a ValueError if inputs cannot be read, or cannot be written to their output."""

    @abstractmethod
    def recipe(self) -> dict[str, Any]:
        """Return all that determines an output besides its inputs."""

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: ExitStack
    ) -> tuple[Self, list[Any]]:
        """Return the job after a first pass over the inputs, if it needs one, and inputs that can
        be read as often as necessary while `stack` is open."""
        return self, inputs

    def stages_to(self, outputs: Stage, results: Results) -> Iterator[Stage]:
        """Yield the stage of outputs, one per input, after the stages that it needs."""
        yield outputs

    @abstractmethod
    def run(
        self,
        inputs: list[Any],
        output: Destination,
        run: TaskRun,
        bad_records: StrPath | None = None,
    ) -> list[list[int]]:
        """Write the output of some inputs and a table of bad records; return `n_counts` numbers per
        input."""

    @abstractmethod
    def answer(self, made: list[MadeOutput]) -> Any:
        """Return the answer of the job; for a share, about the outputs that it made."""
