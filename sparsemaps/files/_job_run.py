"""Runners of the stages of a job: threads of this process, an engine, or several processes with a
share of the tasks each."""

import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sparsemaps._io._progress import Progress, with_step_bar
from sparsemaps._tools import _threads
from sparsemaps._tools._parameters import Wording, current_wording, wording_settings
from sparsemaps._tools._plurals import counted
from sparsemaps.files._job_options import Run
from sparsemaps.files._results import Result, Results
from sparsemaps.files._tasks import Made, Stage, Task, TaskRun

T = TypeVar("T")
Item = TypeVar("Item")

_SMALL_BYTES = 2**23
"""Tasks and items of at least this size are large."""


def run_stages(stages: Iterable[Stage], how: Run) -> dict[str, list[Result]]:
    """Run stages, and return the results of each needed stage.

    `stages` may compute a stage from the results of earlier stages. At the end, permanent results
    get their plain names in the folder. Results of other recipes and of temporary stages are
    removed.
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
    _complete(passed)
    return made


def _run_stage(stage: Stage, how: Run) -> list[Result]:
    """Return the results of the tasks of a stage, in order. Existing results are reused."""
    there = ((task, stage.results.find(stage.place(task))) for task in stage.tasks)
    made = {task.name: result for task, result in there if result is not None}
    to_do = [task for task in stage.tasks if task.name not in made]
    if stage.replaces_all and len(stage.tasks) > 1:
        stage.results.remove_outputs(task.output for task in to_do if task.output is not None)
    made |= _by_threads(stage, to_do, how) if how.engine is None else _by_engine(stage, to_do, how)
    return [made[task.name] for task in stage.tasks]


# ---- threads, engines ----------------------------------------------------------------------------


def _by_threads(stage: Stage, tasks: list[Task], how: Run) -> dict[str, Result]:
    """Make the results of some tasks of a stage in threads of this process."""
    size, progress, n_jobs = sum(task.size for task in tasks), how.progress, how.n_jobs
    # In a stage without sizes, tasks are counted, and a single task shows its own progress bar.
    shown = progress if size or len(tasks) == 1 else False
    with Progress(size, progress if size else False, stage.name) as bar:

        def one(task: Task, n_jobs: int | None) -> Made:
            result = stage.make_one(task, TaskRun(n_jobs, bar, shown))
            stage.deliver(task)
            return task.name, result

        answers: Iterable[Made] = by_threads(one, tasks, lambda task: task.size, n_jobs)
        if not size and len(tasks) > 1 and progress is not False:
            answers = with_step_bar(answers, len(tasks), progress, stage.name)
        return dict(answers)


def by_threads(
    function: Callable[[Item, int | None], T],
    items: Iterable[Item],
    size: Callable[[Item], int],
    n_jobs: int | None,
) -> Iterator[T]:
    """Yield ``function(item, n_jobs)`` for each item, in order. Threads share the work of a large
    item; consecutive small items run in parallel."""
    for is_small, group in itertools.groupby(items, lambda item: size(item) < _SMALL_BYTES):
        some = list(group)
        if is_small and len(some) > 1:
            each = max(1, _threads.resolve_n_jobs(n_jobs) // len(some))
            yield from _threads.stream(function, [(item, each) for item in some], n_jobs)
        else:
            for item in some:
                yield function(item, n_jobs)


def _by_engine(stage: Stage, tasks: list[Task], how: Run) -> dict[str, Result]:
    """Make the results of some tasks of a stage by an engine. Its workers hold no lock and may be
    left over from another run, so outputs are delivered here."""
    assert how.engine is not None
    made: dict[str, Result] = {}
    given = {task.name: task for task in tasks}
    n_jobs = -1 if len(stage.tasks) == 1 else None  # a task on all records has a machine of its own
    make = _Make(stage._replace(tasks=(), part_of=None), n_jobs, current_wording())
    with Progress(sum(task.size for task in tasks), how.progress, stage.name) as bar:
        try:
            for name, result in how.engine.run(make, tasks) if tasks else ():
                stage.deliver(given[name])
                made[name] = result
                bar.add(given[name].size, result.value if isinstance(result.value, int) else 0)
        except Exception:  # one task has failed: the results of the others are complete
            for task in tasks:
                with contextlib.suppress(ValueError, OSError):
                    stage.deliver(task)
            raise
    if len(made) < len(given):
        raise ValueError(
            f"the engine has made {len(made)} of {counted(len(given), 'results')} of the stage "
            f"{stage.name}"
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
    """Make the results of a share of a stage's tasks, and return them; return none if the stage is
    not needed. `share` is (stage, i, n), for the tasks whose numbers are i modulo n. Raise
    ValueError if results of earlier stages are missing. The process that completes the last stage
    gives the results their plain names."""
    name, i, n = share
    passed: list[Stage] = []
    for stage in stages:
        passed.append(stage)
        if stage.name == name:
            break
        missing = stage.missing()
        if missing:
            raise ValueError(
                f"the stage {stage.name} lacks {len(missing)} of "
                f"{counted(len(stage.tasks), 'results')}, such as {missing[0].name}; run it before "
                f"the stage {name}"
            )
    made = []
    stage = stage._replace(maker=secrets.token_hex(8))  # other processes may run the same tasks
    for task in stage.tasks[i::n] if stage.is_needed() else ():
        made.append(stage.make_one(task, TaskRun(how.n_jobs, None, how.progress)))
        stage.deliver(task)
    if is_last and not stage.missing():
        _complete(passed)
    return {stage.name: made}


def _complete(stages: list[Stage]) -> None:
    """Give the permanent results except outputs the names that users know, and remove others."""
    found: dict[Results, dict[str, str]] = {}
    for stage in stages:
        stay = [task for task in stage.tasks if stage.stays and task.output is None]
        found.setdefault(stage.results, {}).update({task.name: task.file for task in stay})
    for results, names in found.items():
        results.complete(names)
