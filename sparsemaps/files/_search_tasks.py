"""Stages that share the steps of a search among tasks.

A search of bands has a step for each band of codes, and several where the keys of a band are too
many for the memory; a comparison of all rows has a step for each range of rows. What a step finds
depends on no other step. The first stage draws the keys of hashes and finds rows of equal codes. A
task of the second stage makes each n-th step. The task that comes next runs the search once more:
it finds the results of all steps, and makes those that are missing.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from sparsemaps.files import _coded_records
from sparsemaps.files._results import Results, Steps
from sparsemaps.files._tasks import How, Stage, Task

_MOST_TASKS = 64
"""Tasks among which a search is shared, at most."""


class SharedSearch(NamedTuple):
    """A search whose steps tasks make."""

    run: Callable[[Any, str, How, Steps], object]
    """``run(of, path, how, steps)`` makes the steps; `path` begins the names of temporary files."""
    of: Any
    recipe: Any
    """What decides the results of steps."""
    prefix: str = "search"
    """What the names of results and of stages begin with."""

    def steps(self, path: str, how: How) -> Steps:
        """The steps, whose results are in the folder of `path`."""
        return Steps(Results(os.path.dirname(path)), f"{self.prefix}-", self.recipe, how.progress)

    def stages(self, n_tasks: int, joined: Task) -> Iterator[Stage]:
        """The stages that make the steps of the search that the task `joined` ends."""
        of_joined = joined.name, joined.recipe
        first = self._task("first", slice(0), n_tasks)
        shares = [
            self._task(f"share-{number:06d}", slice(number, None, n_tasks), n_tasks)
            for number in range(n_tasks)
        ]
        listed = listing(n_tasks, self.prefix)
        for (name, _, about), tasks in zip(listed, ([first], shares), strict=True):
            yield Stage(name, about, tasks, _make_steps, (), of_joined)

    def _task(self, name: str, share: slice, n_tasks: int) -> Task:
        recipe = {"search": self.recipe, "tasks": n_tasks}
        return Task(f"{self.prefix}-{name}", recipe, (self, share))

    def forget(self, results: Results) -> None:
        """Remove the results of the steps, unless other processes may work with them."""
        results.remove(rf"{self.prefix}-.*\.(npy|json)")


def n_tasks_of(inputs: Sequence[Any]) -> int:
    """Among how many tasks a search of the rows of inputs is shared."""
    n_bytes = sum(getattr(input, "n_bytes", 0) for input in inputs)
    return min(max(1, -(-n_bytes // _coded_records.RANGE_BYTES)), _MOST_TASKS)


def listing(n_tasks: int, prefix: str = "search") -> list[tuple[str, int, str]]:
    """Name, number of tasks, and meaning of each stage of a search."""
    return [
        (f"{prefix}-keys", 1, "keys of hashes, and rows of equal codes"),
        (prefix, n_tasks, "rows that share a band of codes"),
    ]


def _make_steps(of: Any, path: str, how: How) -> bool:
    search, share = of
    search.run(search.of, path, how, search.steps(path, how).of_share(share))
    return True
