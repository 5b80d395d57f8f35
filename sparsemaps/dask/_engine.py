"""Dask as an engine: its workers run the tasks of a stage as they are."""

import contextlib
import logging
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from dask.delayed import delayed

from sparsemaps._io._progress import Progress
from sparsemaps._tools import _threads
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
                stage.deliver(
                    task, results
                )  # workers hold no lock, and may be those of another run
                made[task.name] = result
                bar.add(task.size, result.value if isinstance(result.value, int) else 0)

            own = stage._replace(tasks=(), part_of=None)
            shared = delayed((own, results), traverse=False)
            try:
                compute_each(stage.tasks, _make, take, self.client, shared=shared)
            except ValueError:  # of one task: what others have made is complete
                for task in stage.tasks:
                    with contextlib.suppress(ValueError, OSError):
                        stage.deliver(task, results)
                raise
        return [made[task.name] for task in stage.tasks]


@contextlib.contextmanager
def connect(scheduler: str, n_jobs: int) -> Iterator[Workers]:
    """Yield the workers of the scheduler at an address or in a file; of a new cluster if that is
    empty. An error that only Dask raises becomes a ValueError."""
    import distributed

    with contextlib.ExitStack() as stack:
        if not scheduler:
            cluster = distributed.LocalCluster(
                n_workers=_threads.resolve_n_jobs(n_jobs),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # any port that is free
                silence_logs=logging.CRITICAL,  # the command reports errors, once
            )
            how = {"address": stack.enter_context(cluster)}
        else:
            how = {"scheduler_file" if os.path.isfile(scheduler) else "address": scheduler}
        try:
            yield Workers(stack.enter_context(distributed.Client(**how)))
        except distributed.KilledWorker as error:
            raise ValueError(str(error)) from error


def _make(task: Task, *, shared: tuple[Stage, Results]) -> Result:
    stage, results = shared
    return stage.make_one(task, results, How())
