"""Who runs the stages of a job: threads of this process, an engine, or several processes that do
some tasks each."""

import contextlib
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sparsemaps._io._progress import Progress, counted
from sparsemaps._tools import _threads
from sparsemaps.files._job_options import Run
from sparsemaps.files._results import Result, Results
from sparsemaps.files._tasks import Engine, Listing, Made, Stage, Task, TaskRun

_SMALL_BYTES = 2**23
"""Threads divide a task of at least this size among them; of smaller ones each takes its own."""


class JobRun(NamedTuple):
    """How the stages of a job are run, by whom, and which tasks of them."""

    progress: bool | None = None
    resume: bool = True
    engine: Engine | None = None
    """None is threads of this process."""
    share: "Share | None" = None

    @classmethod
    def of(cls, run: Run) -> "JobRun":
        """Return how a job is run, by its options."""
        return cls(run.progress, run.resume, run.engine, run.task and Share(*run.task))

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
        """Run stages, and return the results of each; of a share, only those of its tasks.

        At the end, the results that stay get their plain names in the folder, and results of other
        recipes are removed. A job whose results are in two folders calls this for each."""
        if self.share is not None:
            return _run_share(stages, results, self.share, TaskRun(n_jobs, None, self.progress))
        made, passed = {}, []
        for stage in stages:
            passed.append(stage)
            if not self.resume:
                stage.forget(results)
            if not stage.is_replaced(results):
                stage.remove_other_outputs(results)
                made[stage.name] = self._run_stage(stage, results, n_jobs)
            if stage.removes is not None:
                results.remove(stage.removes)
        _publish(passed, results)
        results.remove_others(
            task.file for stage in passed if stage.part_of is None for task in stage.tasks
        )
        return made

    def _run_stage(self, stage: Stage, results: Results, n_jobs: int | None) -> list[Result]:
        """Return the results of the tasks of a stage, in order. Those that are there are taken."""
        there = ((task, stage.find(task, results)) for task in stage.tasks)
        made = {task.name: result for task, result in there if result is not None}
        to_do = [task for task in stage.tasks if task.name not in made]
        if self.engine is None:
            made |= _by_threads(stage, to_do, results, self.progress, n_jobs)
        else:
            made |= _by_engine(self.engine, stage, to_do, results, self.progress)
        return [made[task.name] for task in stage.tasks]


# ---- threads, engines ----------------------------------------------------------------------------


def _by_threads(
    stage: Stage, tasks: list[Task], results: Results, progress: bool | None, n_jobs: int | None
) -> dict[str, Result]:
    """Make the results of some tasks of a stage by threads of this process."""
    made: dict[str, Result] = {}
    size = sum(task.size for task in tasks)
    # Of a stage without sizes, tasks are counted, and a single one shows a bar of its own.
    shown = progress if size or len(tasks) == 1 else False
    with Progress(size, progress if size else False, stage.name) as bar:

        def one(task: Task, n_jobs: int | None) -> Made:
            result = stage.make_one(task, results, TaskRun(n_jobs, bar, shown))
            stage.deliver(task, results)
            return task.name, result

        for is_small, group in itertools.groupby(tasks, lambda task: task.size < _SMALL_BYTES):
            some: list[Task] = list(group)
            answers: Iterable[Made]
            if is_small and len(some) > 1:
                each = max(1, _threads.resolve_n_jobs(n_jobs) // len(some))
                answers = _threads.stream(one, [(task, each) for task in some], n_jobs)
            else:
                answers = (one(task, n_jobs) for task in some)
            if not size and len(tasks) > 1 and progress is not False:
                answers = counted(answers, len(some), progress, stage.name)
            made |= dict(answers)
    return made


def _by_engine(
    engine: Engine, stage: Stage, tasks: list[Task], results: Results, progress: bool | None
) -> dict[str, Result]:
    """Make the results of some tasks of a stage by an engine. Whoever runs a task holds no lock,
    and may be left over from another run: outputs are delivered here."""
    made: dict[str, Result] = {}
    given = {task.name: task for task in tasks}
    n_jobs = -1 if len(stage.tasks) == 1 else None  # a task of all records has a machine for itself
    make = _Make(stage._replace(tasks=(), part_of=None), results, n_jobs)
    with Progress(sum(task.size for task in tasks), progress, stage.name) as bar:
        try:
            for name, result in engine.run(make, tasks) if tasks else ():
                stage.deliver(given[name], results)
                made[name] = result
                bar.add(given[name].size, result.value if isinstance(result.value, int) else 0)
        except Exception:  # of one task: what others have made is complete
            for task in tasks:
                with contextlib.suppress(ValueError, OSError):
                    stage.deliver(task, results)
            raise
    if len(made) < len(given):
        raise ValueError(
            f"the engine has made {len(made)} of {len(given)} results of the stage {stage.name}"
        )
    return made


@dataclass(frozen=True)
class _Make:
    """The function that an engine calls for each task of a stage."""

    stage: Stage
    results: Results
    n_jobs: int | None

    def __call__(self, task: Task) -> Made:
        return task.name, self.stage.make_one(task, self.results, TaskRun(self.n_jobs))


# ---- some tasks of a stage -----------------------------------------------------------------------


class Share(NamedTuple):
    """The tasks of a stage whose numbers are i modulo n."""

    stage: str
    i: int
    n: int


def _run_share(
    stages: Iterable[Stage], results: Results, share: Share, run: TaskRun
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
                made.append(stage.make_one(task, results, run))
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
