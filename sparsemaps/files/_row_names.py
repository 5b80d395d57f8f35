"""Names of rows: ids, and comments of lines, from files next to codes; and tables of them."""

import contextlib
import io
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from sparsemaps._io import _paths
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import COMMENTS, IDS
from sparsemaps._tools._escapes import as_column
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, Bytes, StrPath


@contextlib.contextmanager
def names_of_rows(codes: StrPath, n_rows: int) -> Iterator[Callable[[int], str]]:
    """Yield a function from a row to its id, as a column of a table. Ids are the lines of the file
    of ids, or the row numbers from 1 without such a file. Raise a ValueError unless there is one
    line per row."""
    path = os.fspath(codes) + IDS
    if not _paths.exists(path):
        yield lambda row: str(row + 1)
        return
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open_regular(path))
        size = os.fstat(file.fileno()).st_size
        lines: Any = b""  # an empty file cannot be mapped
        if size:
            lines = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        ends = _ends_of_lines(lines)
        if len(ends) - 1 != n_rows or ends[-1] != len(lines):
            n_lines = len(ends) - 1 + (ends[-1] != len(lines))
            raise ValueError(
                f"{path} must have a line for each row: expected {counted(n_rows, 'lines')}, got "
                f"{n_lines}"
            )
        yield lambda row: as_column(
            lines[ends[row] : ends[row + 1] - 1].decode(errors="surrogateescape")
        )


def _ends_of_lines(lines: Bytes) -> Array:
    parts = [np.zeros(1, np.int64)]
    for start in range(0, len(lines), 2**24):
        block = np.frombuffer(lines[start : start + 2**24], np.uint8)
        parts.append(np.flatnonzero(block == ord("\n")) + (start + 1))
    return np.concatenate(parts)


_LINES = 2**14
"""Number of lines that are written at once."""


def write_table(file: IO[bytes], columns: Sequence[Array], line: Callable[..., str]) -> None:
    """Write ``line(*numbers)`` for each row of numbers in the columns."""
    for start in range(0, len(columns[0]), _LINES):
        numbers = (column[start : start + _LINES].tolist() for column in columns)
        file.write("".join(map(line, *numbers)).encode("utf-8", "surrogateescape"))


def comment_lines(comments: Iterable[tuple[int, str]], first: int) -> bytes:
    """Return lines of row numbers, counted from `first`, and their comments."""
    lines = (f"{first + row}\t{comment}\n" for row, comment in comments)
    return "".join(lines).encode("utf-8", "surrogateescape")


def read_comments(codes: StrPath, n_rows: int) -> list[tuple[int, str]]:
    """Return the rows that have comments, ascending, with the comments."""
    path = os.fspath(codes) + COMMENTS
    if not _paths.exists(path):
        return []
    comments: list[tuple[int, str]] = []
    with open_regular(path) as raw, io.TextIOWrapper(raw, "utf-8", "surrogateescape", "\n") as file:
        for number, line in enumerate(file, 1):
            row, _, text = line.removesuffix("\n").partition("\t")
            least = comments[-1][0] + 1 if comments else 0
            if not row.isdecimal() or not least <= int(row) < n_rows:
                raise ValueError(
                    f"{path}, line {number}: the row must be from {least} to {n_rows - 1}, "
                    f"got {row[:20]!r}"
                )
            comments.append((int(row), as_column(text)))
    return comments
