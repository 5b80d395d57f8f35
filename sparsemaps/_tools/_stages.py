"""The steps of a search: where their results may be kept, and progress."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from sparsemaps._tools import _progress, _threads
from sparsemaps._tools._array_files import ArrayKind
from sparsemaps._tools._typing import Array

T = TypeVar("T")


class Stages:
    """Steps whose results are not kept: each result is made when it is needed. A job over files
    keeps them (``files._results.Steps``).

    Parameters
    ----------
    shown : bool or None, default=False
        Whether to show a bar of the steps; None shows it if standard error is a terminal.
    """

    def __init__(self, shown: bool | None = False) -> None:
        self._shown = shown

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        """The value that ``make()`` returns, which JSON can hold."""
        return make()

    def array(self, name: str, kind: ArrayKind, make: Callable[[], Array]) -> Array:
        """The array of this kind that ``make()`` returns."""
        return make()

    def run(
        self, step: Callable[..., T], steps: Sequence[tuple[Any, ...]], n_jobs: int | None
    ) -> Iterator[T]:
        """The results of ``step(*one)`` for all steps, which threads make, with a bar."""
        results = _threads.stream(step, steps, n_jobs)
        if self._shown is False:
            return results
        return _progress.counted(results, len(steps), self._shown, "pairs")

    def within(self, name: str) -> "Stages":
        """The steps of a part of the job."""
        return self


NONE = Stages()
