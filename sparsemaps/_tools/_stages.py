"""Results of the steps of a job, kept in a folder, from which a later run continues."""

import contextlib
import json
import os
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

from sparsemaps._tools import _output_files
from sparsemaps._tools._typing import Array


class Stages:
    """Steps whose results are not kept: each result is made when it is needed."""

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        """The value that ``make()`` returns, which JSON can hold."""
        return make()

    def array(self, name: str, make: Callable[[], Array]) -> Array:
        """The array that ``make()`` returns."""
        return make()


NONE = Stages()


class KeptStages(Stages):
    """Steps whose results are files of a folder. A result that is in the folder is not made again.

    A file appears when it is complete. Any thread may make any result, each result once.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):  # of a process that was killed
            if name.endswith(".tmp"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self.path(name))

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def value(self, name: str, make: Callable[[], Any]) -> Any:
        path = self.path(name + ".json")
        with contextlib.suppress(FileNotFoundError, ValueError), open(path, "rb") as file:
            return json.loads(file.read())
        text = json.dumps(make()).encode()
        with _output_files.atomic_output(path) as file:
            file.write(text)
        return json.loads(text)

    def array(self, name: str, make: Callable[[], Array]) -> Array:
        path = self.path(name + ".npy")
        with contextlib.suppress(FileNotFoundError, ValueError, EOFError):
            found: Array = np.load(path)
            return found
        array = make()
        with _output_files.atomic_output(path) as file:
            np.lib.format.write_array(file, array, allow_pickle=False)
        return array

    def remove(self) -> None:
        """Remove the folder, after the job is complete."""
        shutil.rmtree(self.folder)
