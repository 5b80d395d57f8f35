"""The stages of a job, each a list of numbered tasks.

A task has a name, a recipe and a pure function from files to files. Whoever finds a result of an
equal recipe in the folder does not make it again. So threads, workers of a cluster and processes of
a scheduler run the same tasks, in any order, once or several times, and the results are the same.
"""

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from sparsemaps._io._progress import FileProgress, Progress
from sparsemaps._tools import _memory
from sparsemaps.files._recipes import digest
from sparsemaps.files._results import NOWHERE, Place, Result, Results

Listing = list[tuple[str, int, str]]
"""Name, number of tasks, and meaning of each stage of a job."""


class TaskRun(NamedTuple):
    """The threads of a task, a bar of the bytes that the tasks of its stage read, and whether a
    task shows bars of its own."""

    n_jobs: int | None = None
    bar: Progress | None = None
    progress: bool | None = False
    results: Results = NOWHERE
    """The results of the job, among which a task keeps the steps of a search."""

    def reading(
        self, inputs: Sequence[Any], title: str = ""
    ) -> contextlib.AbstractContextManager[Progress]:
        """Return the bar of the stage; without one, a bar of its own over these inputs."""
        if self.bar is not None:
            return contextlib.nullcontext(self.bar)
        return FileProgress(inputs, self.progress, title)


class Task(NamedTuple):
    """A result that is to be made: its name, its recipe, and the values it is made of, which are
    the first arguments of `Stage.make`."""

    name: str
    recipe: Any
    of: tuple[Any, ...]
    size: int = 0
    """The number of bytes of inputs that are read; 0 for a task that takes results of others."""
    output: str | None = None
    """The path of an output, from the folder of results, which has no part of a digest."""

    @property
    def digest(self) -> str:
        return digest(self.recipe)

    @property
    def file(self) -> str:
        """The name of the result in the folder, unless it is an output."""
        return Place.of(self.name, self.recipe).file


class Stage(NamedTuple):
    """Tasks that do not depend on one another."""

    name: str
    tasks: Sequence[Task]
    make: Callable[..., Any]
    """``make(*task.of, path, run)`` writes the files of a result, and returns its value."""
    results: Results
    """Those of the folder that the results of the tasks are in."""
    endings: tuple[str, ...] = ("",)
    """Endings of the names of the files of a result."""
    part_of: "Stage | None" = None
    """The stage for which alone these results are made: they are not needed if its are there."""
    about: str = ""
    """What its results are, for a listing."""
    stays: bool = True
    """Whether its results stay at the end of the job."""
    scratch: str | None = None
    """Names of files that tasks of this job leave for one another, a regular expression."""
    removes: str | None = None
    """Names of files, a regular expression, that are not needed once its results are there."""
    replaces_all: bool = False
    """Whether outputs of other recipes are removed before the first one is made, so that they are
    never beside new ones."""

    maker: str | None = None
    """The name of a process that makes and delivers outputs beside others that do the same."""

    def place(self, task: Task) -> Place:
        return Place.of(task.name, task.recipe, self.endings, task.output, self.maker)

    def make_one(self, task: Task, run: TaskRun) -> Result:
        """Make the result of a task unless it is there, and return it. Any process may do this, at
        any time: names that are not of this recipe alone are left to `deliver`."""
        own = run._replace(results=self.results)
        with _memory.out_of_memory_in(f"the stage {self.name}"):
            return self.results.made(self.place(task), lambda path: self.make(*task.of, path, own))

    def deliver(self, task: Task) -> None:
        """Give the output of a task its name. The process has locked the folder."""
        if task.output is not None:
            self.results.deliver(self.place(task))

    def is_needed(self) -> bool:
        return self.part_of is None or bool(self.part_of.missing())

    def missing(self) -> list[Task]:
        """Return the tasks whose results are not there and still needed."""
        if not self.is_needed():
            return []
        return [task for task in self.tasks if self.results.find(self.place(task)) is None]

    def forget(self) -> None:
        """Let all results of the stage count as not there, and remove what tasks have left for one
        another."""
        if self.part_of is not None:
            self.part_of.forget()
        for task in self.tasks:
            self.results.forget(self.place(task))
        if self.scratch is not None:
            self.results.remove(self.scratch)


Made = tuple[str, Result]
"""The name of a task, and its result."""


class Engine(Protocol):
    """What runs the tasks of a job, on this machine or on others that reach the same files.

    Any object with this method is an engine, such as `sparsemaps.dask.Workers`.
    """

    def run(self, make: Callable[[Task], Made], tasks: Sequence[Task]) -> Iterable[Made]:
        """Yield ``make(task)`` of each task, in any order. A task may run twice, or after this call
        has ended. `make` and the tasks can be pickled."""
