"""The table of records that a job sets aside, and the errors of jobs without good records."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sparsemaps._io import _output_files
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import Input
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._typing import StrPath
from sparsemaps.records._table import format_by_name

MOST = 1000
"""The job ends with an error if the first `MOST` records are all bad."""

HEADER = b"file\tline\treason\trecord\n"

TABLE = "the file of bad records"
"""The name of the table in errors."""


def bad_lines(input: Input, n_before: int, bad: Any) -> Iterator[bytes]:
    """Yield lines of the table: file, line, reason, and the whole record. `n_before` lines of the
    file precede the lines that `bad` numbers. A record of several lines becomes one line, with
    escaped backslashes and line ends."""
    name = name_in_table(input)
    for number, reason, line in bad:
        reason = escaped(" ".join(reason.lstrip(":, ").split()))
        head = f"\t{n_before + number + 1}\t{reason}\t"
        record = line.rstrip(b"\r\n")
        if b"\n" in record:
            record = record.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
        yield name + head.encode("utf-8", "surrogateescape") + record + b"\n"


def name_in_table(input: Input) -> bytes:
    """Return the name of an input in the table."""
    given = getattr(input, "given", getattr(input, "path", input))
    name = "" if hasattr(given, "read") else str(given)
    name = "standard input" if name == "-" else name
    return escaped(name).encode("utf-8", "surrogateescape")


class BadRecords:
    """The counts of good and bad records of a job or a part of it.

    `add` counts the records of a block or of a part, and raises a ValueError once the first `MOST`
    records are all bad. `finish` raises one if no record was good. The cause may be an input of
    another format or a misspelled field; the output would be empty. Without `is_whole`, the records
    are a part of the job's, no error is raised, and `n_leading` is for the code that joins the
    parts.
    """

    def __init__(self, is_whole: bool = True) -> None:
        self.is_whole = is_whole
        self.n_leading = 0
        """Number of bad records before the first good one."""
        self._n_good = 0
        self._first = b""

    def add(self, n_good: int, n_leading: int, first: bytes) -> None:
        """Count good records, and the bad ones before the first of them. `first` is the table's
        line about the first bad record, or empty."""
        self._first = self._first or first
        self.n_leading += 0 if self._n_good else n_leading
        self._n_good += n_good
        if self.is_whole and self.n_leading >= MOST:
            raise ValueError(f"the first {MOST:,} records are all bad; {self._said()}")

    def finish(self) -> None:
        """Raise a ValueError if there were bad records and no good one."""
        if self.is_whole and self._first and not self._n_good:
            raise ValueError(f"all records are bad; {self._said()}")

    def _said(self) -> str:
        name, number, reason = self._first.split(b"\t", 3)[:3]
        path = name.decode("utf-8", "surrogateescape")
        known = format_by_name(path)
        place = f"{path}: {known.unit if known else 'line'} {number.decode()}"
        reason_text = reason.decode("utf-8", "surrogateescape")
        return f"no output is written. The first one is {place}: {reason_text}"


class BadTable:
    """The table of the records that a job sets aside.

    ``write(lines)`` appends to the table. Without `is_whole`, it has only a part of the job's
    records, which may all be bad.
    """

    def __init__(self, write: Callable[[bytes], object], is_whole: bool = True) -> None:
        self._write = write
        self._counts = BadRecords(is_whole)
        self.n_bad = 0
        """Number of records in the table so far."""

    @property
    def n_leading(self) -> int:
        """Number of bad records before the first good one."""
        return self._counts.n_leading

    def begin(self) -> None:
        """Begin with other inputs, whose records must not be all bad either."""
        self._counts = BadRecords()

    def add(self, input: Input, n_before: int, bad: object, n_good: int, n_leading: int) -> None:
        """Write the bad records of a block, which begins after `n_before` lines of the input, and
        count the good ones. `n_leading` bad records precede the first good one."""
        lines = []
        if bad:
            lines = list(bad_lines(input, n_before + getattr(input, "lines_before", 0), bad))
        self.n_bad += len(lines)
        self._counts.add(n_good, n_leading, lines[0] if lines else b"")
        if lines:
            self._write(b"".join(lines))

    @contextlib.contextmanager
    def attempt(self) -> Iterator["BadTable"]:
        """Yield a table whose records are added to this one at the end. After an error they are
        dropped, so that the inputs can be read again."""
        with tempfile.TemporaryFile() as file:
            table = BadTable(file.write)
            yield table
            file.seek(0)
            for block in iter(partial(file.read, 2**20), b""):
                self._write(block)
        self.n_bad, self._counts = self.n_bad + table.n_bad, table._counts

    def finish(self) -> None:
        """Raise a ValueError if there were bad records and no good one."""
        self._counts.finish()


@contextlib.contextmanager
def opened_table(path: StrPath | None) -> Iterator[BadTable | None]:
    """Yield the table at a path; None without a path. It appears at the end, unless all records are
    bad, which raises a ValueError."""
    if path is None:
        yield None
        return
    with _output_files.atomic_output(path) as file:
        file.write(HEADER)
        table = BadTable(file.write)
        yield table
        table.finish()


def join_tables(path: StrPath, parts: list[str]) -> int:
    """Join the lines of several files, with or without headers, into one table. Files may be
    missing. Return the number of bad records."""
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
