"""The base of all jobs over files: a plan with stages, which can run."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from sparsemaps.files._job_options import Run
from sparsemaps.files._job_run import run_share, run_stages
from sparsemaps.files._results import NOWHERE, Result, Results
from sparsemaps.files._tasks import Listing, Stage


class Plan(ABC):
    """A job whose options and file names have been checked.

    The class method ``of`` makes a plan. Nothing is written before `run`.
    """

    @property
    @abstractmethod
    def can_be_shared(self) -> bool:
        """Whether several processes can share the tasks."""

    @abstractmethod
    def stages(self, results: Results) -> Iterable[Stage]:
        """Yield the stages in order. A stage may use the results of earlier stages. `results` is
        the folder of stages, or NOWHERE for a listing."""

    @abstractmethod
    def run(self, how: Run) -> Any:
        """Run all tasks or a share of them, and return the answer of the job."""

    def listing(self) -> Listing:
        """Return the name, the number of tasks and the description of each stage."""
        return [(stage.name, len(stage.tasks), stage.about) for stage in self.stages(NOWHERE)]

    def check(self, how: Run) -> None:
        """Raise a ValueError if the stage is unknown, or if the tasks cannot be shared."""
        if how.task is None and how.engine is None:
            return
        names = [name for name, _, _ in self.listing()]
        if how.task is not None and how.task[0] not in names:
            raise ValueError(f"the stage must be {' or '.join(names)}, got {how.task[0]!r}")
        if not self.can_be_shared:
            raise ValueError("tasks need inputs and outputs that are files")

    def make(self, results: Results, how: Run) -> dict[str, list[Result]]:
        """Make the results of all stages, or of a share of the tasks, and return them."""
        if how.task is None:
            return run_stages(self.stages(results), how)
        is_last = self.listing()[-1][0] == how.task[0]
        return run_share(self.stages(results), how.task, how, is_last=is_last)
