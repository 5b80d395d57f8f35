"""Who runs the stages of a job: threads of this process, an engine, or several processes that do
some tasks each."""

import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sparsemaps._io._progress import Progress, counted
from sparsemaps._tools import _threads
from sparsemaps._tools._parameters import Wording, current_wording, wording_settings
from sparsemaps.files._job_options import Run
from sparsemaps.files._results import Result, Results
from sparsemaps.files._tasks import Made, Stage, Task, TaskRun

T = TypeVar("T")
Item = TypeVar("Item")

_SMALL_BYTES = 2**23
"""What has at least this size is large."""


def run_stages(stages: Iterable[Stage], how: Run) -> dict[str, list[Result]]:
    """Run stages, and return the results of each that is needed.

    `stages` may make a stage from the results of earlier stages. At the end, the results that stay
    get their plain names in the folder. Results of other recipes, and of stages that do not stay,
    are removed.
    """
    made, passed = {}, []
    for stage in stages:
        passed.append(stage)
        if not how.resume:
            stage.forget()
        if stage.is_needed():
            made[stage.name] = _run_stage(stage, how)
        if stage.removes is not None:
            stage.results.remove(stage.removes)
    for results, names in _by_folder(passed).items():
        results.publish(names)
        results.remove_others(names.values())
    return made


def _run_stage(stage: Stage, how: Run) -> list[Result]:
    """Return the results of the tasks of a stage, in order. Those that are there are taken."""
    there = ((task, stage.results.find(stage.place(task))) for task in stage.tasks)
    made = {task.name: result for task, result in there if result is not None}
    to_do = [task for task in stage.tasks if task.name not in made]
    if stage.replaces_all and len(stage.tasks) > 1:
        stage.results.remove_outputs(task.output for task in to_do if task.output is not None)
    made |= _by_threads(stage, to_do, how) if how.engine is None else _by_engine(stage, to_do, how)
    return [made[task.name] for task in stage.tasks]


# ---- threads, engines ----------------------------------------------------------------------------


def _by_threads(stage: Stage, tasks: list[Task], how: Run) -> dict[str, Result]:
    """Make the results of some tasks of a stage by threads of this process."""
    size, progress, n_jobs = sum(task.size for task in tasks), how.progress, how.n_jobs
    # Of a stage without sizes, tasks are counted, and a single one shows a bar of its own.
    shown = progress if size or len(tasks) == 1 else False
    with Progress(size, progress if size else False, stage.name) as bar:

        def one(task: Task, n_jobs: int | None) -> Made:
            result = stage.make_one(task, TaskRun(n_jobs, bar, shown))
            stage.deliver(task)
            return task.name, result

        answers: Iterable[Made] = by_threads(one, tasks, lambda task: task.size, n_jobs)
        if not size and len(tasks) > 1 and progress is not False:
            answers = counted(answers, len(tasks), progress, stage.name)
        return dict(answers)


def by_threads(
    function: Callable[[Item, int | None], T],
    items: Iterable[Item],
    size: Callable[[Item], int],
    n_jobs: int | None,
) -> Iterator[T]:
    """Yield ``function(item, n_jobs)`` of each item, in order. Threads divide a large item among
    them; of successive small ones, each takes its own."""
    for is_small, group in itertools.groupby(items, lambda item: size(item) < _SMALL_BYTES):
        some = list(group)
        if is_small and len(some) > 1:
            each = max(1, _threads.resolve_n_jobs(n_jobs) // len(some))
            yield from _threads.stream(function, [(item, each) for item in some], n_jobs)
        else:
            for item in some:
                yield function(item, n_jobs)


def _by_engine(stage: Stage, tasks: list[Task], how: Run) -> dict[str, Result]:
    """Make the results of some tasks of a stage by an engine. Whoever runs a task holds no lock,
    and may be left over from another run: outputs are delivered here."""
    assert how.engine is not None
    made: dict[str, Result] = {}
    given = {task.name: task for task in tasks}
    n_jobs = -1 if len(stage.tasks) == 1 else None  # a task of all records has a machine for itself
    make = _Make(stage._replace(tasks=(), part_of=None), n_jobs, current_wording())
    with Progress(sum(task.size for task in tasks), how.progress, stage.name) as bar:
        try:
            for name, result in how.engine.run(make, tasks) if tasks else ():
                stage.deliver(given[name])
                made[name] = result
                bar.add(given[name].size, result.value if isinstance(result.value, int) else 0)
        except Exception:  # of one task: what others have made is complete
            for task in tasks:
                with contextlib.suppress(ValueError, OSError):
                    stage.deliver(task)
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
    n_jobs: int | None
    wording: Wording

    def __call__(self, task: Task) -> Made:
        with wording_settings(self.wording):
            return task.name, self.stage.make_one(task, TaskRun(self.n_jobs))


# ---- some tasks of a stage -----------------------------------------------------------------------


def run_share(
    stages: Iterable[Stage], share: tuple[str, int, int], how: Run, *, is_last: bool
) -> dict[str, list[Result]]:
    """Make the results of some tasks of a stage, and return them; none if the stage is not needed.
    It is an error if results of earlier stages are missing. The processes whose tasks end the last
    stage give results their plain names. A `share` has the name of the stage, i and n: its tasks
    are those whose numbers are i modulo n."""
    name, i, n = share
    passed: list[Stage] = []
    for stage in stages:
        passed.append(stage)
        if stage.name == name:
            break
        missing = stage.missing()
        if missing:
            raise ValueError(
                f"of the stage {stage.name}, {len(missing)} of {len(stage.tasks)} results are "
                f"missing, such as {missing[0].name}; make them before the stage {name}"
            )
    made = []
    stage = stage._replace(maker=secrets.token_hex(8))  # others may be at the same tasks
    for task in stage.tasks[i::n] if stage.is_needed() else ():
        made.append(stage.make_one(task, TaskRun(how.n_jobs, None, how.progress)))
        stage.deliver(task)
    if is_last and not stage.missing():
        for results, names in _by_folder(passed).items():
            results.publish(names)
    return {stage.name: made}


def _by_folder(stages: list[Stage]) -> dict[Results, dict[str, str]]:
    """Return the results of each folder that stay, except outputs: the names by which users know
    them, and the names of their files."""
    found: dict[Results, dict[str, str]] = {}
    for stage in stages:
        stay = [task for task in stage.tasks if stage.stays and task.output is None]
        found.setdefault(stage.results, {}).update({task.name: task.file for task in stay})
    return found
