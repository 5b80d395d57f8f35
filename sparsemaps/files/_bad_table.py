"""The table of records that a job sets aside."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from sparsemaps._io import _output_files
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import Input, is_standard
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._typing import Destination, StrPath
from sparsemaps.files._bad_records import BadRecords

HEADER = b"file\tline\treason\trecord\n"

TABLE = "the file of bad records"
"""Words for the table in errors about names."""


def bad_lines(input: Input, n_before: int, bad: Any) -> Iterator[bytes]:
    """Yield lines of the table: file, line and reason, and the line as it stands. `n_before` lines
    of the file stand before those that are numbered in `bad`. A record of several lines becomes
    one, in which backslashes and line ends are escaped."""
    given = getattr(input, "given", getattr(input, "path", input))
    name = "" if hasattr(given, "read") else str(given)
    name = "standard input" if name == "-" else name
    for number, reason, line in bad:
        reason = escaped(" ".join(reason.lstrip(":, ").split()))
        head = f"{escaped(name)}\t{n_before + number + 1}\t{reason}\t"
        record = line.rstrip(b"\r\n")
        if b"\n" in record:
            record = record.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
        yield head.encode("utf-8", "surrogateescape") + record + b"\n"


class BadTable:
    """The table of the records that a job sets aside."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._counts = file, BadRecords()
        self.n_bad = 0
        """The number of its records so far."""

    def begin(self) -> None:
        """Begin with the records of other inputs, which must not be all bad either."""
        self._counts = BadRecords()

    def add(self, input: Input, n_before: int, bad: Any, n_good: int) -> None:
        """Write the bad records of a block of an input, of which `n_before` lines were read before,
        and count the good ones."""
        lines = list(bad_lines(input, n_before, bad))
        self.n_bad += len(lines)
        self._counts.add(n_good, lines)
        self._file.writelines(lines)

    @contextlib.contextmanager
    def attempt(self) -> Iterator["BadTable"]:
        """Yield a table whose records come into this one at the end, unless there is an error: the
        inputs can be read again then."""
        with tempfile.TemporaryFile() as file:
            table = BadTable(file)
            yield table
            file.seek(0)
            shutil.copyfileobj(file, self._file)
        self.n_bad, self._counts = self.n_bad + table.n_bad, table._counts

    def finish(self) -> None:
        """Raise a ValueError if there were bad records, and no good one."""
        self._counts.finish()


@contextlib.contextmanager
def opened_table(path: StrPath | None) -> Iterator[BadTable | None]:
    """Yield the table at a path, which appears when the job is complete; None if there is no
    path."""
    if path is None:
        yield None
        return
    with _output_files.atomic_output(path) as file:
        file.write(HEADER)
        yield BadTable(file)


def join_tables(path: StrPath, parts: list[str]) -> int:
    """Write a table of the lines of several files, with or without a header, of which some may not
    be there. Return the number of bad records."""
    n_lines = 0
    with _output_files.atomic_output(path) as file:
        file.write(HEADER)
        for part in parts:
            with contextlib.suppress(FileNotFoundError), open_regular(part) as lines:
                for line in lines:
                    if line != HEADER:
                        file.write(line)
                        n_lines += 1
    return n_lines


def check_output(path: StrPath | None, output: Destination) -> None:
    """Raise a ValueError where a table cannot stand beside an output."""
    if path is not None and is_standard(path) and is_standard(output):
        raise ValueError(f"the output and {TABLE} are both standard output")
