"""Progress bars for the bytes and rows of several files, and for the steps of a job."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from tqdm import tqdm

from sparsemaps._io._sources import are_files, n_bytes_of
from sparsemaps._io._text_input import Text

T = TypeVar("T")


class Bar(tqdm):  # type: ignore[misc]  # tqdm has no annotations
    """A bar without tqdm's monitor thread: tqdm would warn if the thread cannot be started."""

    monitor_interval = 0

    def __init__(self, shown: bool | None, **options: Any) -> None:
        """Create a bar. If `shown` is None, show it if standard error is a terminal."""
        super().__init__(disable=None if shown is None else not shown, **options)


class Progress(contextlib.AbstractContextManager["Progress"]):
    """A bar over `total` bytes (None if unknown), with rows per second and the remaining time."""

    def __init__(self, total: int | None, shown: bool | None = None, title: str = "") -> None:
        self._bar: Any = Bar(
            shown, total=total, unit="B", unit_scale=True, unit_divisor=1024, smoothing=0.1,
            desc=title, miniters=1,  # without the thread, each update must look at the clock
        )  # fmt: skip
        self._n_rows = 0
        self._start = time.monotonic()
        self._lock = threading.Lock()

    def __exit__(self, *error: object) -> None:
        self._bar.close()

    def add(self, n_bytes: int, n_rows: int) -> None:
        """Add bytes and rows to the bar. Any thread may call this."""
        if self._bar.disable:
            return
        with self._lock:
            self._n_rows += n_rows
            seconds = max(time.monotonic() - self._start, 1e-9)
            self._bar.set_postfix_str(f"{self._n_rows / seconds:.3g} rows/s", refresh=False)
            self._bar.update(n_bytes)

    def reading(self, text: Text) -> Callable[[int], None]:
        """Return a function that adds rows to the bar, and the bytes read since its last call. The
        first call adds the bytes since the first line of the text, which may be a range of a
        file."""
        position: int | None = None

        def update(n_rows: int) -> None:
            nonlocal position
            before = text.first_byte if position is None else position
            position = text.position()
            self.add(position - before, n_rows)

        return update


class FileProgress(Progress):
    """A bar over all inputs of a job. The sizes of files and of their ranges are known; the sizes
    of pipes are not."""

    def __init__(self, inputs: Sequence[Any], shown: bool | None = None, title: str = "") -> None:
        total = n_bytes_of(inputs) if are_files(inputs) else None
        super().__init__(total, shown, title)


@contextlib.contextmanager
def training(shown: bool | None) -> Iterator[Callable[[int, int, int], None]]:
    """Yield a function that updates a bar of models. Call it with the number of solved models, of
    all models, and of passes so far."""
    bar_format = "{desc}: {n_fmt}/{total_fmt} models [{elapsed}{postfix}]"
    with Bar(shown, desc="training", bar_format=bar_format) as bar:

        def update(n_solved: int, n_models: int, n_passes: int) -> None:
            bar.n, bar.total = n_solved, n_models
            bar.set_postfix_str(f"pass {n_passes}" if n_passes else "")

        yield update


def with_step_bar(results: Iterable[T], total: int, shown: bool | None, title: str) -> Iterator[T]:
    """Yield the results of `total` steps, with a bar of the number of completed steps."""
    with Bar(shown, total=total, unit=" steps", desc=title, miniters=1) as bar:
        for result in results:
            bar.update()
            yield result
