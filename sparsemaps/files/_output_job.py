"""The contract of a job that makes outputs of inputs, one for each or one of all."""

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
    """An input, its output, the numbers of its records that the job counts, and whether the output
    was complete before."""

    input: Any
    output: Any
    numbers: list[int]
    skipped: bool


class OutputJob(ABC):
    """What makes an output of some inputs: a `Job`, `Predicting` or `Filtering`."""

    name: ClassVar[str]
    """The name of the stage whose tasks are outputs."""
    source: Source
    """How records are read."""
    bad_records: Any
    """The path of a table of records that are set aside; None if there is none."""

    @property
    def beside(self) -> tuple[str, ...]:
        """Endings of the names of files that may be written beside an output, or that are there
        from an earlier run and do not belong to this output."""
        return BESIDE_ROWS

    @property
    @abstractmethod
    def n_counts(self) -> int:
        """How many numbers `run` returns for each input."""

    @property
    def needs_all_inputs(self) -> bool:
        """Whether each output depends on all inputs, by the stages before it."""
        return False

    @abstractmethod
    def name_of_output(self, name: str) -> str:
        """Return the name of an output in a directory, by its input's."""

    @abstractmethod
    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        """Raise a ValueError if inputs cannot be read, or cannot go to their output."""

    @abstractmethod
    def recipe(self) -> dict[str, Any]:
        """Return what decides an output beside its inputs."""

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: ExitStack
    ) -> tuple[Self, list[Any]]:
        """Return the job after a first reading of the inputs, if it needs one; and inputs that can
        be read as often as it does, as long as `stack` is open."""
        return self, inputs

    def stages_to(self, outputs: Stage, results: Results) -> Iterator[Stage]:
        """Yield the stage of outputs, one for each input, after those that it needs, whose results
        are others than its own."""
        yield outputs

    @abstractmethod
    def run(
        self,
        inputs: list[Any],
        output: Destination,
        run: TaskRun,
        bad_records: StrPath | None = None,
    ) -> list[list[int]]:
        """Write the output of some inputs, and a table of bad records; return `n_counts` numbers of
        each input."""

    @abstractmethod
    def answer(self, made: list[MadeOutput]) -> Any:
        """Return the answer of the job; for a share, of the outputs that it has made."""
