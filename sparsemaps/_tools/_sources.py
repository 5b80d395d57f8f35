"""Inputs and outputs as they are given: files, directories, patterns, pipes."""

import glob
import os
import sys
from typing import Any

RECORD = ".json"
"""Ending of the file beside an output that records its map, options and input."""

LABELS, QIDS = ".labels.npy", ".qids.npy"
"""Endings of the names of labels and query ids, which follow the name of the codes."""

_BESIDE = (RECORD, LABELS, QIDS)
"""Endings of files beside an output."""


def is_pipe(path: Any) -> bool:
    """Whether an input or output is standard input or output."""
    return isinstance(path, (str, os.PathLike)) and os.fspath(path) == "-"


def source(path: Any) -> Any:
    """What to read from."""
    if not is_pipe(path):
        return path
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return sys.stdin.buffer


def is_directory(output: Any) -> bool:
    """Whether an output is a directory of outputs: by its name, or because it is there."""
    if hasattr(output, "write"):
        return False
    name = os.fspath(output)
    return name.endswith(("/", os.sep)) or os.path.isdir(name)


def expand(inputs: Any) -> list[Any]:
    """Inputs as a list, with the files of directories and patterns."""
    if isinstance(inputs, (str, os.PathLike)) or hasattr(inputs, "read"):
        inputs = [inputs]
    paths: list[Any] = []
    for given in inputs:
        if hasattr(given, "read"):
            paths.append(given)
            continue
        name = os.fspath(given)
        if os.path.isdir(name):
            found = [entry.path for entry in os.scandir(name) if _is_input(entry)]
        elif glob.has_magic(name) and not os.path.exists(name):
            found = [path for path in glob.glob(name, recursive=True) if os.path.isfile(path)]
        else:
            paths.append(name)
            continue
        if not found:
            raise ValueError(f"{name}: there are no files")
        paths += sorted(found)
    if not paths:
        raise ValueError("there are no inputs")
    return paths


def _is_input(entry: Any) -> bool:
    return entry.is_file() and not entry.name.startswith(".") and not entry.name.endswith(_BESIDE)
