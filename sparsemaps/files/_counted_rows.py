"""The n-grams of records that a stage has counted, in memory for the stage that makes codes of
them, so that most records are read once."""

import threading
from typing import Any

from sparsemaps._io._sources import Input, InputFile
from sparsemaps.records._batch import CountedBatch

COUNTED_BYTES = 2**28
"""The most memory for n-grams between the two stages. Records beyond it are read again."""


class CountedRows:
    """Batches of counted records, by the range of an input that they are of.

    `max_rows` is the largest number of records of a batch. Any thread may call all methods. Another
    process has no such rows: it reads records again, and makes the same codes.
    """

    def __init__(self, max_rows: int, max_bytes: int | None = None) -> None:
        self.max_rows = max_rows
        self._left = COUNTED_BYTES if max_bytes is None else max_bytes
        self._parts: dict[Any, list[CountedBatch]] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        return CountedRows, (self.max_rows, 0)

    def add(self, input: Input, batch: CountedBatch) -> bool:
        """Add a batch of the input, and return True. If the memory is full, forget all batches of
        the input, and return False."""
        if not isinstance(input, InputFile):
            return False
        with self._lock:
            some = self._parts.setdefault(_key(input), [])
            if batch.n_held <= self._left:
                some.append(batch)
                self._left -= batch.n_held
                return True
            self._forget(input)
            return False

    def take(self, input: Input) -> list[CountedBatch] | None:
        """Return the batches of an input, and let them go; None if they are not here."""
        with self._lock:
            return self._forget(input)

    def _forget(self, input: Input) -> list[CountedBatch] | None:
        if not isinstance(input, InputFile):
            return None
        some = self._parts.pop(_key(input), None)
        self._left += sum(batch.n_held for batch in some or ())
        return some


def _key(input: InputFile) -> Any:
    return tuple(input.recipe)
