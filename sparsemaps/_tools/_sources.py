"""Inputs and outputs of a call: files, directories, patterns, pipes."""

import contextlib
import glob
import os
import sys
from collections.abc import Iterator
from typing import Any

from sparsemaps._tools import _text_input

RECORD, LABELS, QIDS, CLASSES, IDS = (
    ".json", ".labels.npy", ".qids.npy", ".classes.tsv", ".ids.txt",
)  # fmt: skip
"""Endings of the names of files beside an output: the record, labels, query ids, the table of
numbers of labels, and ids."""

LENGTHS, DIGESTS = ".lengths.npy", ".digests.npy"
"""The same beside codes of records: their lengths, and digests of those without samples."""


def is_pipe(path: Any) -> bool:
    """Whether an input or output is standard input or output."""
    return isinstance(path, (str, os.PathLike)) and os.fspath(path) == "-"


@contextlib.contextmanager
def open_input(
    input: Any, max_line_bytes: int = _text_input.MAX_LINE_BYTES
) -> Iterator[_text_input.Text]:
    """The text of an input: a path, "-", a file object, or an object that has ``open_text``."""
    if hasattr(input, "open_text"):
        with input.open_text(max_line_bytes) as text:
            yield text
    elif not is_pipe(input):
        with _text_input.open_text(input, max_line_bytes) as text:
            yield text
    elif sys.stdin is None:
        raise ValueError("standard input is closed")
    else:
        file = sys.stdin.buffer
        yield _text_input.Text(file, file, "standard input: ", max_line_bytes)


def is_directory(output: Any) -> bool:
    """Whether an output is a directory: its name ends in a slash, or the directory exists."""
    if hasattr(output, "write"):
        return False
    name = os.fspath(output)
    return name.endswith(("/", os.sep)) or os.path.isdir(name)


def expand(inputs: Any) -> list[Any]:
    """Inputs as a list of files: those of directories and patterns in place of these."""
    if isinstance(inputs, (str, os.PathLike)) or hasattr(inputs, "read"):
        inputs = [inputs]
    paths: list[Any] = []
    for input in inputs:
        if hasattr(input, "read"):
            paths.append(input)
            continue
        name = os.fspath(input)
        if os.path.isdir(name):
            files = [entry.path for entry in os.scandir(name) if _is_input(entry)]
        elif glob.has_magic(name) and not os.path.exists(name):
            files = [path for path in glob.glob(name, recursive=True) if os.path.isfile(path)]
        else:
            paths.append(name)
            continue
        if not files:
            raise ValueError(f"{name}: there are no files")
        paths += sorted(files)
    if not paths:
        raise ValueError("there are no inputs")
    return paths


def _is_input(entry: Any) -> bool:
    return (
        entry.is_file()
        and not entry.name.startswith(".")
        and not entry.name.endswith((RECORD, LABELS, QIDS, CLASSES, IDS))
    )
