"""The steps of a job: results that are kept, from which a later run continues, and progress."""

import contextlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from sparsemaps._tools import _output_files, _progress
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._typing import Array

T = TypeVar("T")


class Stages:
    """Steps whose results are not kept: each result is made when it is needed.

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

    def counted(self, results: Iterable[T], total: int) -> Iterator[T]:
        """The results of `total` steps, with a bar."""
        if self._shown is False:
            return iter(results)
        return _progress.counted(results, total, self._shown, "pairs")

    def within(self, name: str) -> "Stages":
        """The steps of a part of the job."""
        return self


NONE = Stages()


class KeptStages(Stages):
    """Steps whose results are files of a folder. A result that is in the folder is not made again,
    unless it is damaged.

    A file appears when it is complete. Any thread may make any result, each result once.
    """

    def __init__(self, folder: str, shown: bool | None = False) -> None:
        super().__init__(shown)
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        _output_files.remove_temporaries(folder)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        path = self.path(name + ".json")
        damage = FileNotFoundError, ValueError, RecursionError
        with contextlib.suppress(*damage), open(path, "rb") as file:
            return json.loads(file.read())
        text = json.dumps(make()).encode()
        with _output_files.atomic_output(path) as file:
            file.write(text)
        return json.loads(text)

    def array(self, name: str, kind: ArrayKind, make: Callable[[], Array]) -> Array:
        path = self.path(name + ".npy")
        with contextlib.suppress(FileNotFoundError, ValueError):
            return read_array(path, kind)
        array = make()
        with _output_files.atomic_output(path) as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
        return array

    def within(self, name: str) -> "KeptStages":
        return KeptStages(self.path(name), self._shown)

    def remove(self) -> None:
        """Remove the folder, after the job is complete."""
        shutil.rmtree(self.folder)
