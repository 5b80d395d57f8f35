"""A job over files as a value: what it does, whether the tasks of it can be shared, and its run."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from sparsemaps.files._job_options import Run
from sparsemaps.files._job_run import run_share, run_stages
from sparsemaps.files._results import NOWHERE, Result, Results
from sparsemaps.files._tasks import Listing, Stage


class Plan(ABC):
    """A job after a check of its options, and of the names of all files that it reads and writes.

    A plan is made by its class method ``of``. Nothing has been written before `run`.
    """

    @property
    @abstractmethod
    def can_be_shared(self) -> bool:
        """Whether several processes can do tasks of it."""

    @abstractmethod
    def stages(self, results: Results) -> Iterable[Stage]:
        """Return the stages, one after the other. A stage may be made of the results of earlier
        ones. `results` are the results in the folder of stages; NOWHERE, for a listing."""

    @abstractmethod
    def run(self, how: Run) -> Any:
        """Run all tasks, or the tasks of a share, and return the answer of the job."""

    def listing(self) -> Listing:
        """Return name, number of tasks and meaning of each stage."""
        return [(stage.name, len(stage.tasks), stage.about) for stage in self.stages(NOWHERE)]

    def check(self, how: Run) -> None:
        """Raise a ValueError if the stage is unknown, or has no tasks for several processes."""
        if how.task is None and how.engine is None:
            return
        names = [name for name, _, _ in self.listing()]
        if how.task is not None and how.task[0] not in names:
            raise ValueError(f"the stage must be {', '.join(names)}, got {how.task[0]!r}")
        if not self.can_be_shared:
            raise ValueError("tasks are for inputs and outputs that are files")

    def make(self, results: Results, how: Run) -> dict[str, list[Result]]:
        """Make the results of all stages, or of a share of tasks, and return them."""
        if how.task is None:
            return run_stages(self.stages(results), how)
        is_last = self.listing()[-1][0] == how.task[0]
        return run_share(self.stages(results), how.task, how, is_last=is_last)
