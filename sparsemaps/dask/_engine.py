"""Dask as an engine: its workers run the tasks of a stage as they are."""

from typing import Any, NamedTuple

from dask.delayed import delayed

from sparsemaps._tools._progress import Progress
from sparsemaps.dask._graphs import compute_each
from sparsemaps.files._results import Result, Results
from sparsemaps.files._tasks import How, Stage, Task, Threads


class Workers(NamedTuple):
    """Workers that reach inputs and the folder of results by the paths that they have here.

    A worker may be lost, and a task run twice: who runs it again finds or makes the same result.
    """

    client: Any = None

    def run(self, stage: Stage, results: Results, progress: bool | None) -> list[Result]:
        if len(stage.tasks) == 1 and not stage.tasks[0].size:  # of all records, with threads
            return Threads(-1).run(stage, results, progress)
        made: dict[str, Result] = {}
        with Progress(sum(task.size for task in stage.tasks), progress, stage.name) as bar:

            def take(task: Task, result: Result) -> None:
                made[task.name] = result
                bar.add(task.size, result.value if isinstance(result.value, int) else 0)

            own = stage._replace(tasks=(), part_of=None)
            shared = delayed((own, results), traverse=False)
            compute_each(stage.tasks, _make, take, self.client, shared=shared)
        return [made[task.name] for task in stage.tasks]


def _make(task: Task, *, shared: tuple[Stage, Results]) -> Result:
    stage, results = shared
    return stage.make_one(task, results, How())
