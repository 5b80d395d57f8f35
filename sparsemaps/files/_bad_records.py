"""Records that a job sets aside: the table of them, and the end of a job that has no others."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from sparsemaps._io import _output_files
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import Input, is_standard
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._typing import Destination, StrPath
from sparsemaps.records._table import format_by_name

MOST = 1000
"""If so many records are bad before the first good one, the job ends."""

HEADER = b"file\tline\treason\trecord\n"

TABLE = "the file of bad records"
"""Words for the table in errors about names."""


def bad_lines(input: Input, n_before: int, bad: Any) -> Iterator[bytes]:
    """Yield lines of the table: file, line and reason, and the whole line. `n_before` lines of the
    file come before the lines that are numbered in `bad`. A record of several lines becomes one, in
    which backslashes and line ends are escaped."""
    name = name_in_table(input)
    for number, reason, line in bad:
        reason = escaped(" ".join(reason.lstrip(":, ").split()))
        head = f"\t{n_before + number + 1}\t{reason}\t"
        record = line.rstrip(b"\r\n")
        if b"\n" in record:
            record = record.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
        yield name + head.encode("utf-8", "surrogateescape") + record + b"\n"


def name_in_table(input: Input) -> bytes:
    """Return what the table calls an input."""
    given = getattr(input, "given", getattr(input, "path", input))
    name = "" if hasattr(given, "read") else str(given)
    name = "standard input" if name == "-" else name
    return escaped(name).encode("utf-8", "surrogateescape")


class BadRecords:
    """The counts of good and bad records of a job, or of its beginning.

    `add` counts the records of a block or of a part, and raises a ValueError as soon as the first
    `MOST` records are all bad. `finish` raises one if no record was good. An input of another
    format, or a field that is spelt wrongly, is such a case: the output would be empty. Without
    `is_whole`, the records are a part of the job's, and `n_leading` is for those who join parts.
    """

    def __init__(self, is_whole: bool = True) -> None:
        self.is_whole = is_whole
        self.n_leading = 0
        """The number of bad records before the first good one."""
        self._n_good = 0
        self._first = b""

    def add(self, n_good: int, n_leading: int, first: bytes) -> None:
        """Count good records, and the bad ones before the first of them; `first` is the line of the
        table about the first bad one, or empty."""
        self._first = self._first or first
        self.n_leading += 0 if self._n_good else n_leading
        self._n_good += n_good
        if self.is_whole and self.n_leading >= MOST:
            raise ValueError(f"the first {MOST:,} records are all bad; {self._said()}")

    def finish(self) -> None:
        """Raise a ValueError if there were bad records, and no good one."""
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

    ``write(lines)`` appends to it. Without `is_whole`, it has only a part of the job's
    records, and all of them may be bad.
    """

    def __init__(self, write: Callable[[bytes], object], is_whole: bool = True) -> None:
        self._write = write
        self._counts = BadRecords(is_whole)
        self.n_bad = 0
        """The number of its records so far."""

    @property
    def n_leading(self) -> int:
        """The number of its records before the first good one."""
        return self._counts.n_leading

    def begin(self) -> None:
        """Begin with the records of other inputs, which must not be all bad either."""
        self._counts = BadRecords()

    def add(self, input: Input, n_before: int, bad: object, n_good: int, n_leading: int) -> None:
        """Write the bad records of a block of an input, after `n_before` lines of it, and count the
        good ones; `n_leading` bad ones come before these."""
        lines = []
        if bad:
            lines = list(bad_lines(input, n_before + getattr(input, "lines_before", 0), bad))
        self.n_bad += len(lines)
        self._counts.add(n_good, n_leading, lines[0] if lines else b"")
        if lines:
            self._write(b"".join(lines))

    @contextlib.contextmanager
    def attempt(self) -> Iterator["BadTable"]:
        """Yield a table whose records come into this one at the end, unless there is an error: the
        inputs can be read again then."""
        with tempfile.TemporaryFile() as file:
            table = BadTable(file.write)
            yield table
            file.seek(0)
            for block in iter(partial(file.read, 2**20), b""):
                self._write(block)
        self.n_bad, self._counts = self.n_bad + table.n_bad, table._counts

    def finish(self) -> None:
        """Raise a ValueError if there were bad records, and no good one."""
        self._counts.finish()


@contextlib.contextmanager
def opened_table(path: StrPath | None) -> Iterator[BadTable | None]:
    """Yield the table at a path, which appears when the job is complete; None without a path."""
    if path is None:
        yield None
        return
    with _output_files.atomic_output(path) as file:
        file.write(HEADER)
        yield BadTable(file.write)


def join_tables(path: StrPath, parts: list[str]) -> int:
    """Write a table of the lines of several files, with or without a header. Files may be missing.
    Return the number of bad records."""
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
    """Raise a ValueError if a table cannot be written beside an output."""
    if path is not None and is_standard(path) and is_standard(output):
        raise ValueError(f"the output and {TABLE} are both standard output")
