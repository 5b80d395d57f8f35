"""Stages that divide a search among tasks.

A search consists of independent steps: one for each part of each band of codes, or for each range
of rows if all rows are compared. The search has three stages. The first draws the keys of hashes,
which every step needs; for pairs of one set, it also finds rows that have too many copies. (The
search of `dedup` does not need such rows, and has no steps at recall 1.) Each task of the second
stage makes some of the steps. The task of the third stage runs the whole search, reusing the
results of existing steps and making the missing ones. All tasks call the same function, with
different steps to make. A search that is not divided consists of the third stage alone, which
stores no results of steps.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from sparsemaps._io._sources import n_bytes_of
from sparsemaps.files import _coded_records
from sparsemaps.files._results import KeptSteps, files_named
from sparsemaps.files._tasks import Stage, Task, TaskRun

_MOST_TASKS = 64
"""Largest number of tasks of a search."""


def search_stages(last: Stage, inputs: Sequence[Any]) -> Iterator[Stage]:
    """Yield the stages of a search over the rows of inputs, divided among as many tasks as the
    inputs have ranges.

    `last` is the stage as if one task made the whole search: ``last.make(*task.of, path, run)``
    searches, and writes the result of the task. Tasks of a divided search also pass `steps`. If
    only some of these are to be made (`KeptSteps.share`), the function ends after them and writes
    nothing. Results whose names begin with "search-", including those of steps, are removed after
    the last stage, unless processes share the folder.
    """
    (task,) = last.tasks
    of_steps = files_named("search-.*")
    n_ranges = -(-n_bytes_of(inputs) // _coded_records.RANGE_BYTES)
    n_tasks = min(max(1, n_ranges), _MOST_TASKS)
    if n_tasks == 1:
        yield last._replace(removes=of_steps)
        return
    search = last.make, task
    recipe = {"search": task.recipe, "tasks": n_tasks}
    first = Task("search-first", recipe, (*search, slice(0)))
    shares = [
        Task(f"search-share-{i:06d}", recipe, (*search, slice(i, None, n_tasks)))
        for i in range(n_tasks)
    ]
    of_part: Any = partial(Stage, make=_make, results=last.results, endings=(), part_of=last,
                           stays=False)  # fmt: skip
    about = "keys of hashes; of pairs, rows with many copies"
    yield of_part("search-keys", [first], about=about, scratch=of_steps)
    yield of_part("search", shares, about="rows that share a band of codes")
    yield last._replace(tasks=[task._replace(of=(*search, None))], make=_make, removes=of_steps)


def _make(
    search: Callable[..., Any],
    task: Task,
    share: slice | None,
    path: str,
    run: TaskRun,
) -> Any:
    """Make the steps of a search that belong to a share, and return True. Without a share, make all
    steps and the result of the search, and return its value."""
    shown = False if share is None else run.progress
    steps = KeptSteps(run.results, "search-", task.recipe, shown=shown, share=share)
    value = search(*task.of, path, run, steps)
    return value if share is None else True
