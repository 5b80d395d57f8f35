"""Stages of a job, which are lists of numbered tasks.

A task has a name, a recipe and a pure function from files to files. If the folder has a result with
an equal recipe, the task is not run again. So threads, workers of a cluster and processes of a
scheduler can run the same tasks, in any order, once or several times, with the same results.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from sparsemaps._io._progress import FileProgress, Progress
from sparsemaps._tools import _memory
from sparsemaps.files._recipes import digest
from sparsemaps.files._results import NOWHERE, Place, Result, Results

Listing = list[tuple[str, int, str]]
"""The name, the number of tasks, and the description of each stage of a job."""


class TaskRun(NamedTuple):
    """The number of threads of a task, the progress bar of its stage, which counts bytes read, and
    whether the task shows its own bars."""

    n_jobs: int | None = None
    bar: Progress | None = None
    progress: bool | None = False
    results: Results = NOWHERE
    """The results of the job, in which a task stores the steps of a search."""

    def reading(
        self, inputs: Sequence[Any], title: str = ""
    ) -> contextlib.AbstractContextManager[Progress]:
        """Return the bar of the stage; without one, a separate bar for these inputs."""
        if self.bar is not None:
            return contextlib.nullcontext(self.bar)
        return FileProgress(inputs, self.progress, title)


class Task(NamedTuple):
    """A result to make: its name, its recipe, and the values that it is made of, which are the
    first arguments of `Stage.make`."""

    name: str
    recipe: Any
    of: tuple[Any, ...]
    size: int = 0
    """Number of bytes of inputs that are read; 0 for a task that uses results of others."""
    output: str | None = None
    """The path of an output, relative to the folder of results, without a digest."""

    @property
    def digest(self) -> str:
        return digest(self.recipe)

    @property
    def file(self) -> str:
        """The name of the result in the folder, if it is not an output."""
        return Place.of(self.name, self.recipe).file


class Stage(NamedTuple):
    """Tasks that are independent of one another."""

    name: str
    tasks: Sequence[Task]
    make: Callable[..., Any]
    """``make(*task.of, path, run)`` writes the files of a result, and returns its value."""
    results: Results
    """The folder with the results of the tasks."""
    endings: tuple[str, ...] = ("",)
    """Name endings of the files of a result."""
    part_of: "Stage | None" = None
    """The only stage that needs these results: they are not needed once that stage is complete."""
    about: str = ""
    """A description of its results, for a listing."""
    stays: bool = True
    """Whether its results are permanent."""
    scratch: str | None = None
    """A regular expression for names of files that tasks of this job leave for one another."""
    removes: str | None = None
    """A regular expression for names of files that are not needed once this stage is complete."""
    replaces_all: bool = False
    """Whether outputs of other recipes are removed before the first output is made, so that old and
    new outputs are never mixed."""

    maker: str | None = None
    """The name of a process that makes and delivers outputs, concurrently with others."""

    def place(self, task: Task) -> Place:
        return Place.of(task.name, task.recipe, self.endings, task.output, self.maker)

    def make_one(self, task: Task, run: TaskRun) -> Result:
        """Return the result of a task, making it if it is missing. Any process may do this at any
        time: names that do not belong to this recipe alone are left to `deliver`."""
        own = run._replace(results=self.results)
        with _memory.out_of_memory_in(f"the stage {self.name}"):
            return self.results.made(self.place(task), lambda path: self.make(*task.of, path, own))

    def deliver(self, task: Task) -> None:
        """Rename the output of a task to its final name. The process must hold the lock of the
        folder."""
        if task.output is not None:
            self.results.deliver(self.place(task))

    def is_needed(self) -> bool:
        return self.part_of is None or bool(self.part_of.missing())

    def missing(self) -> list[Task]:
        """Return the tasks whose results are missing and still needed."""
        if not self.is_needed():
            return []
        return [task for task in self.tasks if self.results.find(self.place(task)) is None]

    def forget(self) -> None:
        """Make all results of the stage count as missing, and remove the files that tasks have left
        for one another."""
        if self.part_of is not None:
            self.part_of.forget()
        for task in self.tasks:
            self.results.forget(self.place(task))
        if self.scratch is not None:
            self.results.remove(self.scratch)


Made = tuple[str, Result]
"""The name of a task, and its result."""


class Engine(Protocol):
    """An object that runs the tasks of a job, on this machine or on others that can access the same
    files.

    Any object with this method is an engine, such as `sparsemaps.dask.Workers`.
    """

    def run(self, make: Callable[[Task], Made], tasks: Sequence[Task]) -> Iterable[Made]:
        """Yield ``make(task)`` for each task, in any order. A task may run twice, or after this
        call has ended. `make` and the tasks can be pickled."""
