"""The n-grams of records that a stage has counted, in a temporary file. The stage that makes codes
takes them from there, so that records are read only once."""

import contextlib
import os
import pickle
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from typing import IO, Any

from sparsemaps._io._output_files import errors_naming
from sparsemaps._io._sources import Input, InputFile
from sparsemaps.records._batch import CountedBatch

COUNTED_BYTES = 2**36
"""Approximate limit of the size of the file. Records beyond it are read again."""

_SHARE = 4
"""The file takes at most one part in `_SHARE` of the free space of its disk."""


class CountedRows:
    """Batches of counted records, by ranges of inputs.

    `max_rows` is the largest number of records of a batch. The file is in `folder`. It has no name,
    so it disappears with the process and is invisible to others, which read the records again and
    make the same codes. All methods are thread-safe.
    """

    def __init__(self, max_rows: int, folder: str, max_bytes: int | None = None) -> None:
        self.max_rows, self._folder = max_rows, folder
        self._max_bytes = COUNTED_BYTES if max_bytes is None else max_bytes
        self._file: IO[bytes] | None = None
        self._places: dict[Any, list[int]] = {}
        self._n_waiting = 0
        """Number of batches that have not been read yet."""
        self._lock = threading.Lock()

    def __reduce__(self) -> Any:
        return CountedRows, (self.max_rows, self._folder, 0)

    def add(self, batch: CountedBatch) -> int | None:
        """Append a batch to the file and return its place, or None if the file is full. If the disk
        is full, the file is removed."""
        with self._lock:
            try:
                if (file := self._opened()) is None:
                    return None
                place = file.seek(0, os.SEEK_END)
                if place >= self._max_bytes:
                    return None
                pickle.dump(batch, file, pickle.HIGHEST_PROTOCOL)
                file.flush()
                return place
            except OSError:
                self._places, self._n_waiting, self._max_bytes = {}, 0, 0
                self._close()
                return None

    def keep(self, input: Input, places: list[int]) -> None:
        """Register the places of all batches of an input."""
        assert isinstance(input, InputFile)
        with self._lock:
            if self._file is not None:
                self._n_waiting += len(places) - len(self._places.get(_key(input), ()))
                self._places[_key(input)] = places

    def take(self, input: Input) -> Iterator[CountedBatch] | None:
        """Return the batches of an input and forget them; None if they are not in the file."""
        with self._lock:
            places = self._places.pop(_key(input), None) if isinstance(input, InputFile) else None
            self._close_after_use()
        return None if places is None else map(self._read, places)

    def _read(self, place: int) -> CountedBatch:
        with self._lock, errors_naming(self._folder):
            assert self._file is not None
            self._file.seek(place)
            batch: CountedBatch = pickle.load(self._file)
            self._n_waiting -= 1
            self._close_after_use()
        return batch

    def _opened(self) -> IO[bytes] | None:
        """Return the file, which is opened for the first batch; None if it must stay empty."""
        if self._file is None and self._max_bytes:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
            weakref.finalize(self, self._file.close)
            free = shutil.disk_usage(self._folder).free
            self._max_bytes = min(self._max_bytes, free // _SHARE)
        return self._file

    def _close_after_use(self) -> None:
        if not self._n_waiting:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # closing tries to write the data that had no room
                self._file.close()
            self._file = None


def _key(input: InputFile) -> Any:
    return tuple(input.recipe)
