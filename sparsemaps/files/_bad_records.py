"""Records that are set aside: a job whose records are all bad writes nothing."""

from collections.abc import Iterable

MOST = 1000
"""If so many records are bad before the first good one, the job ends."""


class BadRecords:
    """The counts of good and bad records of a job, or of its beginning.

    `add` counts the records of a block or of a file, and raises a ValueError as soon as the first
    `MOST` records are all bad. `finish` raises one if no record was good. An input of another
    format, or a field that is spelt wrongly, is such a case: the output would be empty.
    """

    def __init__(self) -> None:
        self._n_good = self._n_leading = 0
        self._first = b""
        self._next = b"", 1

    def add(self, n_good: int, lines: Iterable[bytes]) -> None:
        """Count good records, and lines of a table of bad ones: file, line, reason, record."""
        for line in lines:
            self._first = self._first or line
            name, number = line.split(b"\t", 2)[:2]
            is_next = int(number) == 1 or (name, int(number)) == self._next
            if self._n_good or (n_good and not is_next):  # a good record may stand before it
                break
            self._n_leading += 1
            self._next = name, int(number) + 1
            if self._n_leading >= MOST:
                raise ValueError(f"the first {MOST:,} records are all bad; {self._said()}")
        self._n_good += n_good

    def finish(self) -> None:
        """Raise a ValueError if there were bad records, and no good one."""
        if self._first and not self._n_good:
            raise ValueError(f"all records are bad; {self._said()}")

    def _said(self) -> str:
        name, number, reason = self._first.split(b"\t", 3)[:3]
        place = f"{name.decode('utf-8', 'surrogateescape')}: line {number.decode()}"
        reason_text = reason.decode("utf-8", "surrogateescape")
        return f"no output is written. The first one is {place}: {reason_text}"
