"""The lines of records, which errors name."""

import pytest

from sparsemaps.records import jsonl, lines
from sparsemaps.records._fields import Fields
from sparsemaps.records._line_format import Lines

PIECES = {
    "blank lines": (jsonl.FORMAT, b'\n{"text": "a"}\n \n{"text": "b"}\n', [2, 4]),
    "a mark": (jsonl.FORMAT, b'\xef\xbb\xbf\n{"text": "a"}\n{"text": "b"}', [2, 3]),
    "bad lines": (jsonl.FORMAT, b'\nno\n{"text": "a"}\n{}\n\n{"text": "b"}\n', [3, 6]),
    "bad bytes": (lines.FORMAT, b"\xff\na\n\xff\n\n", [2, 4]),
    "texts": (lines.FORMAT, b"a\n\nb", [1, 2, 3]),
}


@pytest.mark.parametrize("name", PIECES)
def test_the_line_of_a_record(name):
    format, text, numbers = PIECES[name]
    fields = Fields("text", None, None, records=False, sets_aside=True)
    batch = format.batch(Lines(text, True), fields)
    assert [batch.line_of(row) for row in range(len(batch.texts))] == numbers
