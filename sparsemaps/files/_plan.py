"""A job over files as a value: what it does, whether the tasks of it can be shared, and its run."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from sparsemaps.files._job_run import JobRun
from sparsemaps.files._results import NOWHERE, Results
from sparsemaps.files._tasks import Listing, Stage, listed


class Plan(ABC):
    """A job after a check of its options, and of the names of all files that it reads and writes.

    A plan is made by its class method ``of``. Nothing has been written before `run`.
    """

    @property
    @abstractmethod
    def is_shared(self) -> bool:
        """Whether several processes can do tasks of it."""

    @abstractmethod
    def stages(self, results: Results) -> Iterable[Stage]:
        """Return the stages, one after the other. A stage may be made of the results of those
        before."""

    def listing(self) -> Listing:
        """Return name, number of tasks and meaning of each stage."""
        return listed(self.stages(NOWHERE))

    @abstractmethod
    def run(self, how: JobRun) -> Any:
        """Run all tasks, or those of a share, and return the answer of the job."""
