"""Document frequencies of columns, in a table of counts by a hash of the column. Tables can be
added.

The size of a table is fixed, whatever the records. Each column has one bucket in each row of the
table, and the count of a bucket is the number of records that have any of its columns. The least
count of a column's buckets is the column's frequency. It is never below the true number of records,
and above it only if other columns share all its buckets. The counts of shards add up to the counts
of the whole, bit for bit.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from sparsemaps._input._row_reader import RowReader
from sparsemaps._io import _array_files, _described_files, _output_files
from sparsemaps._io._regular_files import open_regular
from sparsemaps._loops import text as _text
from sparsemaps._tools import _blocks, _checks, _seeding, _threads
from sparsemaps._tools._typing import Array, StrPath

MARK = b"SMCOUNTS"
_VERSION = 1

LARGEST_N_BUCKETS = 2**32
_LARGEST_N_ROWS = 4

_ESCAPE = 255
"""In a file, a count is a byte. This byte marks a count of at least this value, which follows the
bytes."""

_AT_ONCE = 2**17
"""Number of counts that are processed at once, within the cache."""

KEY: int = _seeding.keys(0, "frequencies", 1)[0].item()
"""The key of the hashes. It is the same for all tables, so that tables of shards can be added."""


class Frequencies:
    """A table of `n_rows` times `n_buckets` counts, of `count_bytes` (1, 2 or 4) bytes each.

    Counts saturate at the largest number of their type.
    """

    def __init__(self, n_buckets: int, *, n_rows: int = 1, count_bytes: int = 4) -> None:
        self.n_records = 0
        self.counts: Array = np.zeros((n_rows, n_buckets), f"u{count_bytes}")

    def add(self, rows: RowReader, n_jobs: int | None = None) -> None:
        """Count the records (rows), in place. The result does not depend on `n_jobs`."""

        def buckets(start: int, stop: int) -> "Buckets":
            block = rows.block(start, stop)
            return self.buckets(block.indices, block.indptr)

        for found in _threads.stream(buckets, rows.blocks(n_jobs), n_jobs):
            self.add_buckets(found)

    def buckets(self, columns: Array, indptr: Array) -> "Buckets":
        """Return the buckets of some records, whose columns `indptr` (int64) delimits.
        Thread-safe."""
        return len(indptr) - 1, _text.record_buckets(self.counts, KEY, columns, indptr)

    def add_buckets(self, found: "Buckets") -> None:
        """Count the records of a result of `buckets`, in place."""
        n_records, of_rows = found
        for counts, of_row in zip(self.counts, of_rows, strict=True):
            _text.add_buckets(counts, of_row)
        self.n_records += n_records

    def merge(self, other: "Frequencies") -> None:
        """Add the counts of other records, in place. Raise ValueError if the tables differ in
        form."""
        if (self.counts.shape, self.counts.dtype) != (other.counts.shape, other.counts.dtype):
            raise ValueError(
                f"tables must have the same form to be added, got {_form(self)} and {_form(other)}"
            )
        _text.merge_counts(self.counts, other.counts)
        self.n_records += other.n_records

    def of(self, columns: Array) -> Array:
        """Return the frequencies (uint32) of columns (int32 or int64)."""
        found = np.empty(len(columns), np.uint32)
        _text.look_up_frequencies(self.counts, KEY, columns, found)
        return found

    def digest(self) -> str:
        """Return a digest that is equal for equal tables and only for these."""
        facts = [*self.counts.shape, self.counts.itemsize, self.n_records]
        found = hashlib.sha256(json.dumps(facts).encode())
        for array in _small_and_large(self.counts):
            for piece in _array_files.pieces_of(array):
                found.update(piece)
        return found.hexdigest()


Buckets = tuple[int, list[Array]]
"""The number of records, and their buckets in each row of a table; each bucket occurs once per
record."""


def _form(table: Frequencies) -> str:
    n_rows, n_buckets = table.counts.shape
    return f"{n_rows} x {n_buckets} counts of {table.counts.itemsize} bytes"


def _small_and_large(counts: Array) -> tuple[Array, Array]:
    """Return the counts as bytes, with `_ESCAPE` in place of large ones, and the large counts in
    order."""
    flat = counts.reshape(-1)
    small = flat
    if flat.itemsize > 1:  # cast in blocks, without another table as large
        small = np.empty(flat.shape, "|u1")
        np.minimum(flat, _ESCAPE, out=small, casting="unsafe")
    return small, flat[_escaped(small)].astype("<u4")


def _escaped(small: Array) -> Array:
    """Return the places of `_ESCAPE`, without allocating a mask as large as the table."""
    ranges = _blocks.ranges(0, len(small), _AT_ONCE)
    some = [start + np.flatnonzero(small[start:stop] == _ESCAPE) for start, stop in ranges]
    return np.concatenate(some)


def facts_of(table: Frequencies) -> dict[str, Any]:
    """Return the facts about a table that `read_before` needs, for JSON."""
    _, large = _small_and_large(table.counts)
    return {
        "shape": list(table.counts.shape),
        "count_bytes": table.counts.itemsize,
        "n_records": table.n_records,
        "n_large": len(large),
    }


def bytes_of(table: Frequencies) -> Iterator[memoryview]:
    """Yield the bytes of a table in a file."""
    for array in _small_and_large(table.counts):
        yield from _array_files.pieces_of(array)


def read_before(file: IO[bytes], facts: dict[str, Any], end: int) -> tuple[Frequencies, int]:
    """Return the table with the given facts that ends before byte `end` of a file, and the place of
    its first byte.

    Raise an error (KeyError, TypeError or ValueError) unless records can have these counts.

    Sizes are checked against the file before memory is allocated.
    """
    n_rows, n_buckets = _checked_shape(facts, end)
    n_records = _checks.check_int("n_records", facts["n_records"], 0, _checks.LARGEST_INT)
    n_large = _checks.check_int("n_large", facts["n_large"], 0, n_rows * n_buckets)
    start = end - n_rows * n_buckets - 4 * n_large
    if start < 0:
        raise ValueError
    file.seek(start)
    small = np.fromfile(file, "|u1", n_rows * n_buckets)
    large = np.fromfile(file, "<u4", n_large)
    table = Frequencies(n_buckets, n_rows=n_rows, count_bytes=facts["count_bytes"])
    table.counts = _counts(table, small, large, n_records)
    table.n_records = n_records
    return table, start


def write(path: StrPath, table: Frequencies, about: Mapping[str, Any]) -> None:
    """Write a table and a description of its owner to a file, which appears when it is complete."""
    description = {**about, "version": _VERSION, **facts_of(table)}
    with _output_files.atomic_output(path) as file:
        file.write(_array_files.header_of("|u1", table.counts.shape))
        file.writelines(bytes_of(table))
        file.write(_described_files.end_of_file(description, MARK))


def read(path: str) -> tuple[Frequencies, dict[str, Any]]:
    """Return the table of a file and its description."""
    with open_regular(path) as file:
        description, end = _described_files.read_description(
            file, path, MARK, "a table of frequencies"
        )
        with _described_files.damage_named(path, "its description"):
            version = description["version"]
        if version != _VERSION:
            raise ValueError(
                f"{path} holds a table of version {version!r}; this version of sparsemaps reads "
                f"version {_VERSION}"
            )
        with _described_files.damage_named(path, "its table"):
            table, start = read_before(file, description, end)
            if not _described_files.has_header(file, "|u1", table.counts.shape, start):
                raise ValueError
    return table, description


def _checked_shape(description: dict[str, Any], end: int) -> tuple[int, int]:
    """Return the shape of a table that ends before byte `end`. Raise an error if it is invalid."""
    n_rows, n_buckets = description["shape"]
    n_rows = _checks.check_int("the number of rows", n_rows, 1, _LARGEST_N_ROWS)
    n_buckets = _checks.check_int("n_buckets", n_buckets, 2, end // n_rows)
    if n_buckets & (n_buckets - 1) or description["count_bytes"] not in (1, 2, 4):
        raise ValueError
    return n_rows, n_buckets


def _counts(table: Frequencies, small: Array, large: Array, n_records: int) -> Array:
    """Return the counts of a file, in the form of `table`. Raise ValueError unless records can have
    these counts."""
    dtype, shape = table.counts.dtype, table.counts.shape
    escaped = _escaped(small)
    most = min(n_records, int(np.iinfo(dtype).max))
    if len(escaped) != len(large):
        raise ValueError
    if most < _ESCAPE and (len(large) or small.max(initial=0) > most):
        raise ValueError
    if len(large) and not _ESCAPE <= large.min() <= large.max() <= most:
        raise ValueError
    flat = small.astype(dtype, copy=False)
    flat[escaped] = large
    return flat.reshape(shape)
