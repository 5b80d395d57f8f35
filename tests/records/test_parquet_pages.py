"""Headers of Parquet's pages: every one of a wanted column is read, whatever stands in it."""

import io
import random
from types import SimpleNamespace

import pytest
from _data.chance import named

from sparsemaps.records import _parquet_pages
from sparsemaps.records._parquet_pages import check_pages

MOST = 10**6


# ---- Thrift's compact protocol -------------------------------------------------------------------


def varint(number):
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def zigzag(number):
    return varint(number << 1 if number >= 0 else (-number << 1) - 1)


KINDS = {
    "true": 1, "false": 2, "byte": 3, "i16": 4, "i32": 5, "i64": 6, "double": 7, "binary": 8,
    "list": 9, "set": 10, "struct": 12, "uuid": 13,
}  # fmt: skip


def value_of(draw, kind, depth, is_element=False):
    """Bytes of a value of a type."""
    if kind in ("true", "false"):  # whose value is the type, but in lists
        return bytes([draw.choice([1, 2])]) if is_element else b""
    if kind in ("i16", "i32", "i64"):
        return zigzag(draw.choice([0, -1, 63, -64, 2**15, -(2**31), 2**62]))
    if kind == "binary":
        n = draw.choice([0, 1, 130, 700])
        return varint(n) + bytes(draw.randrange(256) for _ in range(n))
    if kind == "struct":
        return struct_of(draw, [], depth - 1)
    if kind in ("list", "set"):
        element = draw.choice(list(KINDS) if depth else ["true", "i32", "binary"])
        n = draw.choice([0, 1, 14, 15, 16, 200])
        head = bytes([n << 4 | KINDS[element]]) if n < 15 else bytes([0xF0 | KINDS[element]])
        values = (value_of(draw, element, min(depth - 1, 0), is_element=True) for _ in range(n))
        return head + (varint(n) if n >= 15 else b"") + b"".join(values)
    return bytes(draw.randrange(256) for _ in range({"byte": 1, "double": 8, "uuid": 16}[kind]))


def struct_of(draw, given, depth=2):
    """Bytes of a struct: fields that are given as (number, type, bytes), and others."""
    kinds = [kind for kind in KINDS if depth > 0 or kind not in ("list", "set", "struct")]
    others = draw.sample([1, *range(4, 15), 20, 40, 300], draw.randrange(5))
    fields = [*given]
    for number in others:
        kind = draw.choice(kinds)
        fields.append((number, kind, value_of(draw, kind, depth)))
    before, parts = 0, []
    for number, kind, value in sorted(fields):
        step = number - before
        if 0 < step < 16 and draw.random() < 0.8:
            parts.append(bytes([step << 4 | KINDS[kind]]))
        else:
            parts.append(bytes([KINDS[kind]]) + zigzag(number))
        parts.append(value)
        before = number
    return b"".join(parts) + b"\0"


def header_of(draw, n_bytes, n_packed):
    return struct_of(draw, [(2, "i32", zigzag(n_bytes)), (3, "i32", zigzag(n_packed))])


# ---- files ---------------------------------------------------------------------------------------


class File:
    """Groups of columns of pages, one of which may be bad, and what describes them."""

    def __init__(self, draw, n_groups, names, bad=None):
        self.file, self.groups = io.BytesIO(), []
        self.file.write(b"PAR1")
        for group in range(n_groups):
            self.groups.append([self._chunk(draw, name, bad == (group, name)) for name in names])
        self.file.write(b"the end")

    def _chunk(self, draw, name, is_bad):
        start, n_pages = self.file.tell(), draw.randrange(1, 5)
        first = draw.choice([0, 1])  # a dictionary comes before
        places = []
        bad = draw.randrange(n_pages) if is_bad else None
        for number in range(n_pages):
            n_packed = draw.choice([0, 1, 40, 300])
            n_bytes = draw.choice([0, 5, MOST]) if number != bad else 2 * MOST
            places.append(self.file.tell())
            self.file.write(header_of(draw, n_bytes, n_packed) + draw.randbytes(n_packed))
        dictionary, data = (places[0], places[1]) if first and n_pages > 1 else (None, places[0])
        return SimpleNamespace(
            path_in_schema=name, dictionary_page_offset=dictionary, data_page_offset=data,
            total_compressed_size=self.file.tell() - start,
        )  # fmt: skip

    @property
    def num_row_groups(self):
        return len(self.groups)

    def row_group(self, number):
        chunks = self.groups[number]
        return SimpleNamespace(num_columns=len(chunks), column=chunks.__getitem__)


@pytest.mark.parametrize("number", range(60))
def test_every_page_of_a_wanted_column_is_looked_at(number):
    draw = random.Random(named(f"pages {number}"))
    names, n_groups = ["a", "b.c", "d"], draw.randrange(1, 4)
    bad = draw.choice([None, *((group, name) for group in range(n_groups) for name in names)])
    file = File(draw, n_groups, names, bad)
    wanted = draw.sample(names, draw.randrange(1, 4))
    file.file.seek(17)
    if bad is not None and bad[1] in wanted:
        group, name = bad
        rule = rf"in: row group {group + 1}, column {name!r}: a page of 2000000 bytes is larger"
        with pytest.raises(ValueError, match=rule):
            check_pages(file.file, file, wanted.__contains__, MOST, "in")
    else:
        check_pages(file.file, file, wanted.__contains__, MOST, "in")
        assert file.file.tell() == 17


@pytest.mark.parametrize(
    ("n_bytes", "n_packed", "message"),
    [
        (10, 301, "a page claims 301 bytes, and 300 are left"),
        (10, -1, "a page claims -1 bytes"),
        (-1, 10, "a page claims 10 bytes"),
        (10, 299, "the header of a page is damaged"),  # that of a page of 1 byte behind it
    ],
)
def test_pages_that_are_longer_than_their_column(n_bytes, n_packed, message):
    draw = random.Random(named("longer pages"))
    file = File(draw, 1, ["a"])
    header = struct_of(draw, [(2, "i32", zigzag(n_bytes)), (3, "i32", zigzag(n_packed))])
    file.file = io.BytesIO(b"PAR1" + header + b"\xff" * 400)
    file.groups[0][0] = SimpleNamespace(
        path_in_schema="a", dictionary_page_offset=None, data_page_offset=4,
        total_compressed_size=len(header) + 300,
    )  # fmt: skip
    with pytest.raises(ValueError, match=f"row group 1, column 'a': {message}"):
        check_pages(file.file, file, "a".__eq__, MOST, "in")


@pytest.mark.parametrize(("place", "size"), [(4, 10**6), (10**6, 5), (-8, 4), (4, -2)])
def test_columns_that_are_not_in_the_file(place, size):
    file = File(random.Random(named("columns")), 1, ["a"])
    chunk = file.groups[0][0]
    chunk.dictionary_page_offset, chunk.data_page_offset = None, place
    chunk.total_compressed_size = size
    with pytest.raises(ValueError, match=rf"column 'a': expected bytes {place} to {place + size};"):
        check_pages(file.file, file, "a".__eq__, MOST, "in")


@pytest.mark.parametrize("n_header", [2**8, 2**12, 2**16, 2**16 + 1])
def test_headers_of_any_length(n_header):
    """They are read again, and more of them, until they end."""
    draw = random.Random(named("headers"))
    start = [(2, "i32", zigzag(5)), (3, "i32", zigzag(3))]
    text = bytes(n_header)
    header = struct_of(draw, [*start, (5, "binary", varint(len(text)) + text)], depth=0)
    file = File(draw, 1, ["a"])
    chunk = file.groups[0][0]
    chunk.dictionary_page_offset, chunk.data_page_offset = None, 1
    file.file = io.BytesIO(b"x" + header + b"abc")
    chunk.total_compressed_size = len(header) + 3
    check_pages(file.file, file, "a".__eq__, MOST, "in")
    chunk.total_compressed_size -= 4  # without the end of the header
    with pytest.raises(ValueError, match=r"header of a page is damaged|are left"):
        check_pages(file.file, file, "a".__eq__, MOST, "in")


def test_headers_that_nest_without_end():
    deep = bytes([0x1C]) * 100 + b"\0" * 100
    with pytest.raises(IndexError, match="too many levels"):
        _parquet_pages._Compact(deep).page()
    with pytest.raises(IndexError, match="type 11"):
        _parquet_pages._Compact(b"\x1b\0\0").page()
    with pytest.raises(IndexError, match="more than 64 bits"):
        _parquet_pages._Compact(b"\x15" + b"\xff" * 12).page()
