"""Byte order marks, and the bytes of each batch, of files that are read in pieces."""

import io

import pytest

from sparsemaps._io._text_input import BadLine
from sparsemaps.records._fields import Fields
from sparsemaps.records._line_format import Lines
from sparsemaps.records.jsonl import JsonRecords
from sparsemaps.records.lines import LineRecords
from sparsemaps.text import iter_records

FORMATS = {"txt": LineRecords(), "jsonl": JsonRecords()}


def texts_of(content, format):
    return [
        text for some in iter_records(io.BytesIO(content), format=format) for text in some.texts
    ]


@pytest.mark.parametrize("format", ["txt", "jsonl"])
def test_a_mark_may_begin_a_file_only(format):
    """In a later line it is a character of the text, or no JSON."""
    mark = b"\xef\xbb\xbf"
    lines = [mark + line for line in (b'{"text": "a"}\n', b'{"text": "b"}\n')]
    if format == "txt":
        assert texts_of(mark + b"a\n" + mark + b"b\n", format) == ["a", "\ufeffb"]
    else:
        with pytest.raises(ValueError, match="line 2: expected a JSON object"):
            texts_of(b"".join(lines), format)
    fields = Fields("text", None, None, records=False, sets_aside=True)
    batch = FORMATS[format].batch(Lines(b"".join([*lines, b"{}\n"]), True), fields)
    good = 3 if format == "txt" else 1
    assert len(batch.texts) == good
    assert [number for number, _, _ in batch.bad] == list(range(good, 3))


@pytest.mark.parametrize("format", ["txt", "jsonl"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("first", [b"", b"\n", b" \t\n"])
@pytest.mark.parametrize(
    "rest", [b"", b'{"text": "a"}\n', b'\r\n{"text": "a"}\n \n\n{"text": "b"}']
)
def test_raw_lines_are_those_of_the_records(format, mark, first, rest):
    """Of a piece that begins a file, with blank lines and a mark."""
    piece, fields = Lines(mark + first + rest, True), Fields("text", None, None, records=True)
    records = FORMATS[format].batch(piece, fields)
    raw = FORMATS[format].raw(piece, fields)
    assert (raw.n, raw.records) == (len(records.records), records.records)
    assert len(records.records) == len(records.texts)


def test_bytes_of_batches_are_those_of_the_file():
    content = b"one\ntwo\nthree\nfour\nfive\n"
    batches = list(iter_records(io.BytesIO(content), format="txt", batch_bytes=1))
    assert len(batches) == 5
    assert sum(batch.n_bytes for batch in batches) == len(content)


@pytest.mark.parametrize(("mark", "is_first"), [(b"", True), (b"", False), (b"\xef\xbb\xbf", True)])
@pytest.mark.parametrize("first", [b"", b"\n", b" \r\n"])
def test_lines_of_records_after_a_mark(mark, is_first, first):
    """A line of a mark alone is no record where the file begins."""
    piece = Lines(mark + first + b'{"text": "a"}\n\n{"text": "b"}\n', is_first)
    batch = JsonRecords().batch(piece, Fields("text", None, None, records=False))
    n_before = len(first.splitlines())
    assert [batch.line_of(row) for row in (0, 1)] == [n_before + 1, n_before + 3]


def test_a_mark_within_a_file_is_no_json():
    piece = Lines(b'\xef\xbb\xbf{"text": "a"}\n', False)
    with pytest.raises(BadLine, match=r"byte order mark|Expecting value, at character 1"):
        JsonRecords().batch(piece, Fields("text", None, None, records=False))
