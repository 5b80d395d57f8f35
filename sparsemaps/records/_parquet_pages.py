"""Checks of Parquet page headers, before Arrow allocates memory for the pages.

A header is a struct in Thrift's compact protocol. Its second field is the uncompressed size of the
page, its third the size in the file.
"""

import os
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

from sparsemaps.records._columns import refuse_expansion

_LEAST_READ, _LONGEST_HEADER = 2**8, 2**24
"""Initial and largest number of bytes read for a header, which may contain the smallest and largest
string of a page."""

_DEPTH = 16
"""Largest depth of nested structs and lists."""


def check_pages(
    file: IO[bytes], about: Any, is_wanted: Callable[[str], bool], most: int, name: str
) -> None:
    """Raise a ValueError if a page of a wanted column claims more bytes than are allowed or than
    the file has. `about` is the metadata of the file."""
    place = file.tell()
    size = file.seek(0, os.SEEK_END)
    for group in range(about.num_row_groups):
        chunks = about.row_group(group)
        for number in range(chunks.num_columns):
            chunk = chunks.column(number)
            if not is_wanted(chunk.path_in_schema):
                continue
            where = f"{name}: row group {group + 1}, column {chunk.path_in_schema!r}"
            try:
                for page in _pages_of(file, chunk, size):
                    refuse_expansion("a page", page.n_bytes, page.n_packed, most)
            except IndexError as error:
                raise ValueError(f"{where}: the header of a page is damaged: {error}") from None
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
    file.seek(place)


class _Page(NamedTuple):
    n_bytes: int
    n_packed: int
    n_header: int


def _pages_of(file: IO[bytes], chunk: Any, size: int) -> Iterator[_Page]:
    """Yield the pages of a column in a row group; there are none if it has no rows."""
    offsets = chunk.dictionary_page_offset, chunk.data_page_offset
    start = min((one for one in offsets if one), default=0)  # 0 means that there is no such page
    end = start + chunk.total_compressed_size
    if not 0 <= start <= end <= size:
        raise ValueError(f"expected bytes {start} to {end}; the file has {size}")
    while start < end:
        page = _page_at(file, start, end)
        if page.n_packed < 0 or page.n_bytes < 0 or page.n_packed > end - start - page.n_header:
            raise ValueError(
                f"a page claims {page.n_packed} bytes, and {end - start - page.n_header} are left"
            )
        yield page
        start += page.n_header + page.n_packed


def _page_at(file: IO[bytes], start: int, end: int) -> _Page:
    """Return the page whose header begins at `start`."""
    n_read = _LEAST_READ
    while True:
        n_read = min(n_read, end - start, _LONGEST_HEADER)
        file.seek(start)
        data = file.read(n_read)
        try:
            return _Compact(data).page()
        except IndexError:
            if n_read in (end - start, _LONGEST_HEADER) or len(data) < n_read:
                raise
        n_read *= 16


class _Compact:
    """A reader of Thrift's compact protocol. Reading past the bytes raises an IndexError."""

    def __init__(self, data: bytes) -> None:
        self._data, self._place = data, 0

    def page(self) -> _Page:
        sizes = {2: -1, 3: -1}
        for field, kind in self._fields():
            if field in sizes and kind in _INTEGERS:
                sizes[field] = self._integer()
            else:
                self._skip(kind, _DEPTH)
        return _Page(sizes[2], sizes[3], self._place)

    def _fields(self) -> Iterator[tuple[int, int]]:
        """Yield the number and the type of each field of a struct. The caller must consume each
        field before it asks for the next."""
        field = 0
        while (head := self._byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self._integer()
            yield field, head & 15

    def _skip(self, kind: int, depth: int) -> None:
        if not depth:
            raise IndexError("it has too many levels")
        if kind in _FIXED:
            self._move(_FIXED[kind])
        elif kind in _INTEGERS:
            self._unsigned()
        elif kind == _BINARY:
            self._move(self._unsigned())
        elif kind in _LISTS:
            head = self._byte()
            n = head >> 4 if head >> 4 < 15 else self._unsigned()
            for _ in range(n):
                self._skip_element(head & 15, depth - 1)
        elif kind == _STRUCT:
            for _, inner in self._fields():
                self._skip(inner, depth - 1)
        else:
            raise IndexError(f"it has a field of the type {kind}")

    def _skip_element(self, kind: int, depth: int) -> None:
        """Skip an element of a list. A boolean takes a byte in a list, but none as a field."""
        if kind in _BOOLEANS:
            self._move(1)
        else:
            self._skip(kind, depth)

    def _byte(self) -> int:
        byte = self._data[self._place]
        self._place += 1
        return byte

    def _move(self, n: int) -> None:
        self._place += n
        if self._place > len(self._data):
            raise IndexError("it does not end")

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            if byte < 128:
                return number
            shift += 7
            if shift > 63:
                raise IndexError("a number has more than 64 bits")

    def _integer(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)


_BOOLEANS = 1, 2
_FIXED = {1: 0, 2: 0, 3: 1, 7: 8, 13: 16}
"""Sizes of fixed-size values by type: booleans, a byte, a double and a UUID."""

_INTEGERS, _BINARY, _LISTS, _STRUCT = (4, 5, 6), 8, (9, 10), 12
