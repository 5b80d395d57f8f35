"""The steps of a search: whether their results are stored, and progress."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from sparsemaps._io import _progress
from sparsemaps._io._array_files import ArrayKind
from sparsemaps._tools import _threads
from sparsemaps._tools._typing import Array


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps whose results are not stored: each result is computed when it is needed. A job over
    files stores them (``files._results.KeptSteps``). `shown` is as in `Progress`. With a `share`,
    only the steps with numbers in this slice are computed."""

    shown: bool | None = field(default=False, kw_only=True)
    share: slice | None = field(default=None, kw_only=True)

    def drawn(self, name: str, make: Callable[[], Any]) -> "tuple[Any, Steps]":
        """Return the JSON value that ``make()`` returns, and the steps whose results depend on
        it."""
        return make(), self

    def within(self, name: str, shown: bool | None = False) -> Self:
        """Return the steps of a part of the search. `shown` is for a search over all stored steps;
        a search over a share shows a bar of its own."""
        return self

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
        """Return the arrays of this kind that ``find(*step)`` returns for all steps, in order. They
        are computed in threads, with a progress bar. If only a share of the steps is computed, the
        search continues with no arrays."""

        def make(*step: int) -> Array:
            return self.array("-".join([name, *map(str, step)]), kind, lambda: find(*step))

        own = steps if self.share is None else steps[self.share]
        arrays = _threads.stream(make, own, n_jobs)
        if own and self.shown is not False:
            arrays = _progress.with_step_bar(arrays, len(own), self.shown, "pairs")
        if self.share is not None:
            deque(arrays, maxlen=0)
            return iter(())
        return arrays


UNKEPT = Steps()
