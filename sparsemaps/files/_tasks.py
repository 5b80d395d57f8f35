"""The stages of a job, each a list of numbered tasks, and the engines that run them.

A task has a name, a recipe and a pure function from files to files. Whoever finds a result of an
equal recipe in the folder does not make it again. So threads, workers of Dask and processes of a
scheduler run the same tasks, in any order, once or several times, and the results are the same.
"""

import contextlib
import importlib
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from sparsemaps._io._progress import FileProgress, Progress, counted
from sparsemaps._tools import _memory, _threads
from sparsemaps._tools._checks import LARGEST_INT32, check_bool, check_int
from sparsemaps._tools._parameters import ParameterError
from sparsemaps.files._recipes import digest
from sparsemaps.files._results import Result, Results, named

Listing = list[tuple[str, int, str]]
"""Name, number of tasks, and meaning of each stage of a job."""

_SMALL_BYTES = 2**23
"""Threads divide a task of at least this size among them; of smaller ones each takes its own."""


class How(NamedTuple):
    """The threads of a task, a bar of the bytes that the tasks of its stage read, and whether a
    task shows bars of its own."""

    n_jobs: int | None = None
    bar: Progress | None = None
    progress: bool | None = False

    def reading(
        self, inputs: Sequence[Any], title: str = ""
    ) -> contextlib.AbstractContextManager[Progress]:
        """Return the bar of the stage; without one, a bar of its own over these inputs."""
        if self.bar is not None:
            return contextlib.nullcontext(self.bar)
        return FileProgress(inputs, self.progress, title)


class Task(NamedTuple):
    """A result that is to be made: its name, its recipe, and the values it is made of."""

    name: str
    recipe: Any
    of: Any
    size: int = 0
    """The number of bytes of inputs that are read; 0 for a task that takes results of others."""
    output: str | None = None
    """The path of an output, from the folder of results, which has no part of a digest."""

    @property
    def digest(self) -> str:
        return digest(self.recipe)

    @property
    def file(self) -> str:
        """The name of the result in the folder, if it is no output."""
        return named(self.name, self.digest)


class Stage(NamedTuple):
    """Tasks that do not depend on one another."""

    name: str
    tasks: Sequence[Task]
    make: Callable[..., Any]
    """``make(task.of, path, how)`` writes the files of a result, and returns its value."""
    endings: tuple[str, ...] = ("",)
    """Endings of the names of the files of a result."""
    part_of: tuple[str, Any] | None = None
    """Name and recipe of the result that takes the place of these."""
    about: str = ""
    """What its results are, for a listing."""
    scratch: str | None = None
    """Names of files that tasks of this job leave for one another, a regular expression."""
    replaces_all: bool = False
    """Whether outputs of other recipes are removed before the first one is made, so that they never
    stand beside new ones."""

    def find(self, task: Task, results: Results) -> Result | None:
        return results.find(task.name, task.recipe, self.endings, task.output)

    def make_one(self, task: Task, results: Results, how: How) -> Result:
        """Make the result of a task unless it is there, and return it. Any process may do this, at
        any time: names that are not of this recipe alone are left to `deliver`."""
        with _memory.out_of_memory_in(f"the stage {self.name}"):
            return results.made(
                task.name, task.recipe, lambda path: self.make(task.of, path, how), self.endings,
                task.output,
            )  # fmt: skip

    def deliver(self, task: Task, results: Results) -> None:
        """Give the output of a task its name. The process has locked the folder."""
        if task.output is not None:
            results.deliver(task.name, task.recipe, self.endings, task.output)

    def is_replaced(self, results: Results) -> bool:
        """Return whether the result that takes the place of these is there."""
        return self.part_of is not None and results.find(*self.part_of) is not None

    def missing(self, results: Results) -> list[Task]:
        """Return the tasks whose results are not there and still needed."""
        if self.is_replaced(results):
            return []
        return [task for task in self.tasks if self.find(task, results) is None]


def listed(stages: Iterable[Stage]) -> Listing:
    return [(stage.name, len(stage.tasks), stage.about) for stage in stages]


class Engine(Protocol):
    """It runs the tasks of a stage: threads of this process, or workers of a cluster."""

    def run(self, stage: Stage, results: Results, progress: bool | None) -> list[Result]:
        """Return the results of the tasks, in order."""


class Threads(NamedTuple):
    """The threads of this process."""

    n_jobs: int | None

    def run(self, stage: Stage, results: Results, progress: bool | None) -> list[Result]:
        there = {task.name: stage.find(task, results) for task in stage.tasks}
        made = {name: result for name, result in there.items() if result is not None}
        to_do = [task for task in stage.tasks if task.name not in made]
        size = sum(task.size for task in to_do)
        # Of a stage without sizes, tasks are counted, and a single one shows a bar of its own.
        shown = progress if size or len(to_do) == 1 else False
        with Progress(size, progress if size else False, stage.name) as bar:

            def one(task: Task, n_jobs: int | None) -> tuple[str, Result]:
                made = stage.make_one(task, results, How(n_jobs, bar, shown))
                stage.deliver(task, results)
                return task.name, made

            for is_small, group in itertools.groupby(to_do, lambda task: task.size < _SMALL_BYTES):
                some = list(group)
                n_jobs = self.n_jobs
                if is_small and len(some) > 1:
                    n_jobs = max(1, _threads.resolve_n_jobs(self.n_jobs) // len(some))
                    answers = _threads.stream(one, [(task, n_jobs) for task in some], self.n_jobs)
                else:
                    answers = (one(task, n_jobs) for task in some)
                if not size and len(to_do) > 1 and progress is not False:
                    answers = counted(answers, len(some), progress, stage.name)
                made |= dict(answers)
        return [made[task.name] for task in stage.tasks]


# ---- running -------------------------------------------------------------------------------------


class Share(NamedTuple):
    """The tasks of a stage whose numbers are i modulo n."""

    stage: str
    i: int
    n: int


def _run_share(
    stages: Iterable[Stage], results: Results, share: Share, how: How
) -> dict[str, list[Result]]:
    """Make the results of some tasks of a stage, unless it is not needed, as inputs are files of
    codes. It is an error if results of earlier stages are missing."""
    stages, passed = iter(stages), []
    for stage in stages:
        passed.append(stage)
        if stage.name == share.stage:
            own = [] if stage.is_replaced(results) else stage.tasks[share.i :: share.n]
            made = []
            for task in own:
                made.append(stage.make_one(task, results, how))
                stage.deliver(task, results)
            if not stage.missing(results) and next(stages, None) is None:
                _publish(passed, results)
            return {stage.name: made}
        missing = stage.missing(results)
        if missing:
            raise ValueError(
                f"of the stage {stage.name}, {len(missing)} of {len(stage.tasks)} results are "
                f"missing, such as {missing[0].name}; make them before the stage {share.stage}"
            )
    return {}


def _publish(stages: Iterable[Stage], results: Results) -> None:
    """Give the results that stay the names by which users know them."""
    results.publish(
        (task.name, task.file)
        for stage in stages
        if stage.part_of is None and "" in stage.endings
        for task in stage.tasks
        if task.output is None
    )


def _workers_of(client: Any) -> Engine:
    """Return the engine of a client. The folder of Dask stands above this one, and is loaded for a
    client alone."""
    if not hasattr(client, "persist"):
        raise ParameterError("client", repr(client), "a distributed.Client or None")
    workers: Engine = importlib.import_module("sparsemaps.dask._engine").Workers(client)
    return workers


class Running(NamedTuple):
    """How the stages of a job are run, by whom, and which tasks of them."""

    progress: bool | None = None
    resume: bool = True
    engine: Engine | None = None
    """None is threads of this process."""
    share: Share | None = None

    @classmethod
    def of(cls, progress: bool | None, resume: bool, task: Any, client: Any) -> "Running":
        """Return the parameters of a job, after a check."""
        check_bool("resume", resume)
        if task is None:
            return cls(progress, resume, None if client is None else _workers_of(client))
        if client is not None:
            raise ValueError("give task or client, not both")
        if not resume:
            raise ValueError("give task or resume=False, not both")
        try:
            stage, i, n = task
        except (TypeError, ValueError):
            stage = None
        if not isinstance(stage, str):
            raise ParameterError("task", repr(task), "a tuple (stage, i, n)")
        n = check_int("the number of tasks", n, 1, LARGEST_INT32)
        i = check_int("the number of the task", i, 0, n - 1)
        return cls(progress, resume, share=Share(stage, i, n))

    @property
    def is_share(self) -> bool:
        return self.share is not None

    def check(self, listing: Callable[[], Listing], is_shared: bool) -> None:
        """Raise a ValueError if a job has no such stage, or no tasks for several processes."""
        if self.share is None and self.engine is None:
            return
        names = [name for name, _, _ in listing()]
        if self.share is not None and self.share.stage not in names:
            raise ValueError(f"the stage must be {', '.join(names)}, got {self.share.stage!r}")
        if not is_shared:
            raise ValueError("tasks are for inputs and outputs that are files")

    def run(
        self, stages: Iterable[Stage], results: Results, n_jobs: int | None
    ) -> dict[str, list[Result]]:
        """Return the results of each stage; of a share, only those of its tasks."""
        if self.share is not None:
            return _run_share(stages, results, self.share, How(n_jobs, None, self.progress))
        engine, made, passed = self.engine or Threads(n_jobs), {}, []
        for stage in stages:
            passed.append(stage)
            if not self.resume:
                if stage.part_of is not None:
                    results.forget(*stage.part_of)
                for task in stage.tasks:
                    results.forget(task.name, task.recipe, task.output)
                if stage.scratch is not None:
                    results.remove(stage.scratch)
            if stage.is_replaced(results):
                continue
            if stage.replaces_all and len(stage.tasks) > 1:
                for task in stage.missing(results):
                    if task.output is not None:
                        with contextlib.suppress(FileNotFoundError):
                            os.unlink(task.output)
            made[stage.name] = engine.run(stage, results, self.progress)
        _publish(passed, results)
        results.remove_others(
            task.file for stage in passed if stage.part_of is None for task in stage.tasks
        )
        return made
