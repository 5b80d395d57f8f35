"""Results of a job in a folder, each with the recipe that it was made by."""

import contextlib
import json
import os
import re
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._locks import one_writer
from sparsemaps._tools._sources import BESIDE, RECORD
from sparsemaps._tools._stages import Stages
from sparsemaps._tools._typing import Array
from sparsemaps.files._recipes import digest, read_record

STAGES = ".stages"
"""The ending of the name of the folder of results, after the name of the output."""


class Result(NamedTuple):
    """The value of a result, for JSON, and the digest of its recipe."""

    value: Any
    digest: str
    is_new: bool
    """Whether it was made now, and not there before."""


class Results:
    """Results of a job, as files of a folder. A result is complete or not there.

    Beside the files of a result stands its record, NAME.json: the recipe, the sizes of the files,
    and a value for JSON. The record is removed before the files are written, and written after
    them. A recipe has all that decides a result. So a result of an equal recipe is not made again.
    Where the folder `is_shared`, other processes may work with the files.
    """

    def __init__(self, folder: str, *, is_shared: bool = False) -> None:
        self.folder = folder
        self._is_shared = is_shared

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def find(self, name: str, recipe: Any) -> Result | None:
        """A result of an equal recipe whose files have the sizes of then; None if there is none."""
        record = read_record(self.read(name + RECORD))
        if record is None or not isinstance(record.get("files"), dict):
            return None
        as_read = json.loads(json.dumps(recipe))
        if record.get("recipe") != as_read or record.get("value") is None:
            return None
        if any(self._size(path) != size for path, size in record["files"].items()):
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
        before = (read_record(self.read(name + RECORD)) or {}).get("files")
        self.forget(name)
        target = name if output is None else output
        # Another recipe may not have all files that stand beside the first one.
        beside = {target + ending for ending in endings if ending}
        for file in before if isinstance(before, dict) else ():
            if file.startswith(f"{name}.") and file.endswith(BESIDE):
                beside.add(file)
        for file in beside:
            self._remove(file)
        with self._making(target, endings) as path:
            value = make(path)
        sizes = {target + ending: self._size(target + ending) for ending in endings}
        files = {file: size for file, size in sizes.items() if size is not None}
        record = {"recipe": recipe, "files": files, "value": value}
        self._write(name + RECORD, json.dumps(record).encode() + b"\n")
        return Result(json.loads(json.dumps(value)), digest(recipe), is_new=True)

    def value(self, name: str) -> Any:
        """The value of a result of any recipe; None if it is not there."""
        return (read_record(self.read(name + RECORD)) or {}).get("value")

    def forget(self, name: str) -> None:
        """Let a result count as not there."""
        self._remove(name + RECORD)

    def remove(self, names: str) -> None:
        """Remove the files of the folder whose names match a regular expression, unless it is
        shared."""
        for name in [] if self._is_shared else os.listdir(self.folder):
            if re.fullmatch(names, name):
                os.unlink(self.path(name))

    # The methods below are for files of the operating system; `UrlResults` of Dask has others.

    @contextlib.contextmanager
    def _making(self, name: str, endings: Sequence[str]) -> Iterator[str]:
        """The path where the files of a result are written."""
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


@contextlib.contextmanager
def opened(folder: str | None, *, shared: bool = False) -> Iterator[Results]:
    """The results in a folder, which is locked, as by `writing`, and removed at the end if it is
    empty. None is a temporary folder."""
    if folder is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Results(folder)
        return
    try:
        with writing(folder, shared=shared):
            yield Results(folder, is_shared=shared)
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


@contextlib.contextmanager
def writing(folder: str, *, shared: bool = False) -> Iterator[None]:
    """Lock a folder, as by `one_writer`. Remove the temporary files of killed processes, unless the
    folder is shared: another process may be writing them."""
    with one_writer(folder, shared=shared):
        if not shared:
            _output_files.remove_temporaries(folder)
        yield


NONE = Results("", is_shared=True)
"""No folder, for a listing of stages that are not run."""


def counts(value: Any, n: int) -> list[int]:
    """The value of a result, which must be `n` counts: a record in a folder may be damaged. One
    count may stand without a list."""
    found: list[int] = value if isinstance(value, list) else [value]
    if len(found) != n or not all(type(count) is int and count >= 0 for count in found):
        raise ValueError(f"a record is damaged: expected {n} counts; found {value!r}")
    return found


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
    """Steps of a search whose results are kept, for ``sparsemaps.neighbors``. With a `share`, only
    the steps whose numbers are in it are made."""

    def __init__(
        self,
        results: Results,
        prefix: str,
        recipe: Any,
        shown: bool | None,
        share: slice | None = None,
    ) -> None:
        super().__init__(shown)
        self._results, self._prefix, self._share = results, prefix, share
        self._recipe = recipe
        self.folder = results.folder
        self.is_share = share is not None

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

    def file(self, name: str, make: Callable[[str], object]) -> str:
        """The path of the file that ``make(path)`` writes."""
        name = self._prefix + name
        self._results.made(name, self._recipe, lambda path: make(path) is None)
        return self._results.path(name)

    def within(self, name: str, shown: bool | None = False) -> "Steps":
        """The steps of a part of the search. `shown` is for a search of all steps, as a share shows
        its own bar."""
        shown = self._shown if self._share is not None else shown
        return Steps(self._results, f"{self._prefix}{name}-", self._recipe, shown, self._share)
