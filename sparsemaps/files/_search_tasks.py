"""Stages that share the steps of a search among tasks.

A search of bands has a step for each part of each band of codes; a comparison of all rows has a
step for each range of rows. What a step finds depends on no other step. The first stage draws the
keys of hashes and finds rows of equal codes. A task of the second stage makes each n-th step. The
task that comes next runs the search once more: it takes the results that are there, and
makes the missing ones.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sparsemaps._io._sources import n_bytes_of
from sparsemaps.files import _coded_records
from sparsemaps.files._results import KeptSteps, files_named
from sparsemaps.files._tasks import Stage, Task, TaskRun

_MOST_TASKS = 64
"""Tasks among which a search is shared, at most."""


def search_stages(last: Stage, n_tasks: int, prefix: str = "search") -> Iterator[Stage]:
    """Yield the stages of a search whose steps tasks share, and the stage that ends it, of one
    task.

    ``last.make(task.of, path, run, steps)`` searches, and writes the result of the task. With a
    share of the steps (`KeptSteps.is_share`) it ends when these are made, and writes nothing.
    """
    (task,) = last.tasks

    def part(name: str, share: slice) -> Task:
        recipe = {"search": task.recipe, "tasks": n_tasks}
        return Task(f"{prefix}-{name}", recipe, (last.make, task, prefix, share))

    shares = [part(f"share-{i:06d}", slice(i, None, n_tasks)) for i in range(n_tasks)]
    replaced, scratch = (task.name, task.recipe), files_named(rf"{prefix}-.*")
    first, about = [part("first", slice(0))], "keys of hashes, and rows of equal codes"
    yield Stage(f"{prefix}-keys", first, _search, (), replaced, about, scratch)
    yield Stage(prefix, shares, _search, (), replaced, "rows that share a band of codes")
    whole = task._replace(of=(last.make, task, prefix, None))
    yield last._replace(tasks=[whole], make=_search, removes=scratch)


def _search(of: Any, path: str, run: TaskRun) -> Any:
    search, task, prefix, share = of
    shown = False if share is None else run.progress
    steps = KeptSteps(run.results, f"{prefix}-", task.recipe, shown, share)
    value = search(task.of, path, run, steps)
    return value if share is None else True


def n_tasks_of(inputs: Sequence[Any]) -> int:
    """Return among how many tasks a search of the rows of inputs is shared."""
    return min(max(1, -(-n_bytes_of(inputs) // _coded_records.RANGE_BYTES)), _MOST_TASKS)
