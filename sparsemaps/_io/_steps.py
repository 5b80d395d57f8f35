"""The steps of a search: where their results may be kept, and progress."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sparsemaps._io import _progress
from sparsemaps._io._array_files import ArrayKind
from sparsemaps._tools import _threads
from sparsemaps._tools._typing import Array


class Steps:
    """Steps whose results are not kept: each result is made when it is needed. A job over files
    keeps them (``files._results.KeptSteps``). `shown` is as in `Progress`."""

    def __init__(self, shown: bool | None = False) -> None:
        self._shown = shown

    def drawn(self, name: str, make: Callable[[], Any]) -> "tuple[Any, Steps]":
        """Return the value that ``make()`` returns, which JSON can hold, and the steps whose
        results depend on it."""
        return make(), self

    def array(self, name: str, kind: ArrayKind, make: Callable[[], Array]) -> Array:
        """Return the array of this kind that ``make()`` returns."""
        return make()

    def run(
        self,
        name: str,
        kind: ArrayKind,
        find: Callable[..., Array],
        steps: Sequence[tuple[int, ...]],
        n_jobs: int | None,
    ) -> Iterator[Array]:
        """Return the arrays of this kind that ``find(*step)`` returns for all steps. Threads make
        them, with a bar."""

        def make(*step: int) -> Array:
            return self.array("-".join([name, *map(str, step)]), kind, lambda: find(*step))

        arrays = _threads.stream(make, steps, n_jobs)
        if self._shown is False:
            return arrays
        return _progress.counted(arrays, len(steps), self._shown, "pairs")


UNKEPT = Steps()
