"""Results of a job in a folder, each with the recipe that it was made by."""

import contextlib
import json
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._locks import one_writer
from sparsemaps._tools._sources import (
    BAD,
    CHECKSUMS,
    CLASSES,
    COMMENTS,
    DIGESTS,
    IDS,
    KEYS,
    LABELS,
    LENGTHS,
    QIDS,
    RECORD,
)
from sparsemaps._tools._stages import Stages
from sparsemaps._tools._typing import Array
from sparsemaps.files._recipes import digest, read_record

BESIDE = LABELS, QIDS, CLASSES, IDS, LENGTHS, DIGESTS, COMMENTS, CHECKSUMS, KEYS, BAD
"""Endings of the names of files that may stand beside the first one of a result."""


class Result(NamedTuple):
    """What a result holds for JSON, a digest of its recipe, and how it came."""

    value: Any
    digest: str
    is_new: bool
    """Whether it was made now, and not there before."""


class Results:
    """Results of a job, as files of a folder. A result is complete or not there.

    Beside the files of a result stands its record, NAME.json: the recipe, the sizes of the files,
    and a value for JSON. The record is removed before the files are written, and written after
    them. A recipe has all that decides a result. So a result of an equal recipe is not made again.

    Parameters
    ----------
    folder : str
        Where the files are.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._is_shared = False

    @contextlib.contextmanager
    def open(self, *, shared: bool = False) -> Iterator[None]:
        """Lock the folder, as `one_writer` does. It is removed at the end if it is empty."""
        self._is_shared = shared
        try:
            with one_writer(self.folder, shared=shared):
                if not shared:
                    _output_files.remove_temporaries(self.folder)
                yield
        finally:
            with contextlib.suppress(OSError):
                os.rmdir(self.folder)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def find(self, name: str, recipe: Any) -> Result | None:
        """A result of an equal recipe whose files have the sizes of then; None if there is none."""
        record = read_record(self.read(name + RECORD))
        if record is None or not isinstance(record.get("files"), dict):
            return None
        recipe = _as_read(recipe)
        if record.get("recipe") != recipe or record.get("value") is None:
            return None
        for path, size in record["files"].items():
            if self._size(path) != size:
                return None
        return Result(record["value"], digest(recipe), is_new=False)

    def made(
        self,
        name: str,
        recipe: Any,
        make: Callable[[str], Any],
        endings: Sequence[str] = ("",),
        output: str | None = None,
    ) -> Result:
        """A result, which is made unless it is there.

        ``make(path)`` writes files to `path` with the `endings`, and returns the value. The path is
        that of `name` in the folder, or that of an output elsewhere.
        """
        found = self.find(name, recipe)
        if found is not None:
            return found
        self._discard(name)
        with self._making(name if output is None else output, endings) as path:
            value = make(path)
        files = {}
        for ending in endings:
            file = (name if output is None else output) + ending
            size = self._size(file)
            if size is not None:
                files[file] = size
        recipe = _as_read(recipe)
        record = {"recipe": recipe, "files": files, "value": value}
        self._write(name + RECORD, json.dumps(record).encode() + b"\n")
        return Result(_as_read(value), digest(recipe), is_new=True)

    def _discard(self, name: str) -> None:
        """Remove the record of an earlier result, and its files beside the first, which another
        recipe may not have."""
        record = read_record(self.read(name + RECORD)) or {}
        self.forget(name)
        files = record.get("files")
        for file in files if isinstance(files, dict) else ():
            if file.startswith(f"{name}.") and file.endswith(BESIDE):
                self._remove(file)

    def forget(self, name: str) -> None:
        """Let a result count as not there."""
        self._remove(name + RECORD)

    def remove(self, names: str) -> None:
        """Remove the files of the folder whose names match a regular expression, unless other
        processes may work with them."""
        for name in [] if self._is_shared else os.listdir(self.folder):
            if re.fullmatch(names, name):
                os.unlink(self.path(name))

    # What follows is another one where the folder is not the operating system's.

    @contextlib.contextmanager
    def _making(self, name: str, endings: Sequence[str]) -> Iterator[str]:
        """The path where the files of a result are written. Those beside it, of an earlier result,
        are removed."""
        for ending in endings:
            if ending:
                self._remove(name + ending)
        yield self.path(name)

    def read(self, name: str) -> bytes:
        """The content of a file of the folder; empty if it is not there."""
        try:
            with open(self.path(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def _write(self, name: str, content: bytes) -> None:
        # A loss of power may leave it empty: the result is not there then.
        with _output_files.atomic_output(self.path(name), synced=False) as file:
            file.write(content)

    def _size(self, name: str) -> int | None:
        try:
            return os.path.getsize(self.path(name))
        except OSError:
            return None

    def _remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(name))


def counts(result: Result, n: int) -> list[int]:
    """The value of a result, which must be `n` counts: a record in a folder may be damaged."""
    value = result.value
    is_list = isinstance(value, list) and len(value) == n
    if not is_list or not all(type(count) is int and count >= 0 for count in value):
        raise ValueError(f"a record is damaged: expected {n} counts; found {value!r}")
    return value


def _as_read(value: Any) -> Any:
    """A value as it is read back."""
    return json.loads(json.dumps(value))


# ---- arrays --------------------------------------------------------------------------------------


def save_array(path: str, array: Array) -> None:
    """Write a NumPy file, which appears when it is complete."""
    array = np.ascontiguousarray(array)
    header = np.lib.format.header_data_from_array_1_0(array)
    with _output_files.atomic_output(path) as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(array.reshape(-1).view(np.uint8).data)


# ---- steps of a search ---------------------------------------------------------------------------


class Steps(Stages):
    """Steps of a search whose results are kept, for ``sparsemaps.neighbors``.

    Parameters
    ----------
    results : Results
        Where results are.
    prefix : str
        What the names of the results begin with.
    recipe : Any
        What decides the results.
    shown : bool or None
        As of `Stages`.
    share : slice or None, default=None
        Only the steps whose numbers are in it are made.
    """

    def __init__(
        self,
        results: Results,
        prefix: str,
        recipe: Any,
        shown: bool | None,
        share: slice | None = None,
    ) -> None:
        super().__init__(shown)
        self._results, self._prefix, self._shown, self._share = results, prefix, shown, share
        self._recipe = recipe

    def of_share(self, share: slice) -> "Steps":
        """These steps for a task that makes only those whose numbers are in `share`."""
        return Steps(self._results, self._prefix, self._recipe, self._shown, share)

    def made(self) -> "Steps":
        """These steps, which tasks have made, without a bar."""
        return Steps(self._results, self._prefix, self._recipe, False)

    def run(
        self,
        name: str,
        kind: ArrayKind,
        find: Callable[..., Array],
        steps: Sequence[tuple[int, ...]],
        n_jobs: int | None,
    ) -> Iterator[Array]:
        """As of `Stages`. Where a share of the steps is made, the search goes on with none."""
        if self._share is None:
            return super().run(name, kind, find, steps, n_jobs)
        own = steps[self._share]
        if own:
            deque(super().run(name, kind, find, own, n_jobs), maxlen=0)
        return iter(())

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        """The value that ``make()`` returns. Arrays that are made later depend on it."""
        value = self._results.made(self._prefix + name, self._recipe, lambda _: make(), ()).value
        self._recipe = [self._recipe, value]
        return value

    def array(self, name: str, kind: ArrayKind, make: Callable[[], Array]) -> Array:
        """The array of this kind that ``make()`` returns, also where that of an earlier run is
        damaged."""
        made: list[Array] = []

        def write(path: str) -> bool:
            made.append(make())
            save_array(path, made[0])
            return True

        name = f"{self._prefix}{name}.npy"
        for _ in range(2):
            self._results.made(name, self._recipe, write)
            if made:
                break
            with contextlib.suppress(FileNotFoundError, ValueError):
                return read_array(self._results.path(name), kind)
            self._results.forget(name)
        return made[0]

    def within(self, name: str) -> "Steps":
        prefix = f"{self._prefix}{name}-"
        return Steps(self._results, prefix, self._recipe, self._shown, self._share)
