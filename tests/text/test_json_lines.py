"""Texts that compiled loops take from JSON Lines: those of Python's reader, and its errors."""

import io
import itertools
import json
import random

import numpy as np
import pytest
from _data.chance import SEED
from _data.strange_texts import strange_texts

from sparsemaps import MinHash
from sparsemaps._loops import text as _loops
from sparsemaps.files import Texts, deduplicate_files
from sparsemaps.records._fields import Fields
from sparsemaps.records._line_format import LineFormat, Lines
from sparsemaps.records.jsonl import FORMAT
from sparsemaps.text import HashingVectorizer, _inputs

TAKEN = [
    b'{"text": "a"}',
    b'{"text":"","n":1}',
    b' \t{ "a\\u0062" : null ,\t"text" : "b\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00" } \r',
    b'{"n": [1, -0, 0.5, -2.5e+3, 1E-4, 999999999999999999], "o": {"text": "", "": []}, "text":""}',
    b'{"tex\\u0074": "\\u0000\\u007f\\u0080\\u07ff\\u0800\\uffff", "t": true, "f": false, "x": {}}',
    '{"é": "語", "text": "ё語\U0001f600 \x7f"}'.encode(),
    b'{"text": "' + b"long " * 40 + b'\\n", "x": [[[[]]], {"a": {}}]}',
]
"""Records that the loops take."""

LEFT = [
    b'{"text": "a", "text": "b"}',
    b'{"doc.text": "a", "text": "b", "n": 1e100}',
    b'{"text": "a", "n": 1234567890123456789}',
    b'{"text": "a", "n": [NaN, Infinity]}',
    b'{"text": "a", "n": ' + b"[" * 40 + b"]" * 40 + b"}",
    b" \x0b\x0c",
]
"""Lines that Python reads, and that are no errors."""

BAD = [
    b"{}",
    b"[]",
    b'"text"',
    b'{"text": 1}',
    b'{"other": "a"}',
    b'{"text": "a"} x',
    b'{"text": "a",}',
    b'{"text": "\\ud800"}',
    b'{"text": "\\udc00\\ud800"}',
    b'{"text": "\\ud83d\\u0041"}',
    b'{"text": "\\udc00\\udc00"}',
    b'{"text": "\\u00g0"}',
    b'{"text": "\\x"}',
    b'{"text": "a',
    b'{"text": "\x01"}',
    b'{"text": "\t"}',
    b'{"text": "a", "n": 01}',
    b'{"text": "a", "n": 1.}',
    b'{"text": "a", "n": +1}',
    b'{"text": "a", "n": nul}',
    b'{"text": "a" "n": 1}',
    b'{"text"}',
    b'{"text": "a", "n": [1 2]}',
    b'{"text": "\xff"}',
    b'{"n": "\xed\xa0\x80", "text": ""}',
    b'{"text": "a"}\x00',
    b'{"text": "\x1f"}',
    b'{"text": "a", "n": [1,]}',
    b'{"text": "a", "n": {"a": 1,}}',
]
"""Lines that are errors."""

BYTES = [
    *b'{}[],:"\\/eE+-.0123456789untrfalsdx \t\n\r\x00\x0b\x1f\x7f',
    *b"\x80\xc3\xa9\xed\xa0\xef\xbb\xbf\xff",
]


def fields(name="text", **more):
    return Fields(name, None, None, records=False, **more)


def read(lines, by_loops, is_first=True, **more):
    """The texts of a piece, or its error."""
    records = type(FORMAT).records if by_loops else LineFormat.records
    try:
        batch = records(FORMAT, Lines(lines, is_first), fields(**more))
    except ValueError as error:
        return str(error)
    assert isinstance(batch.texts, _loops.Utf8Texts) == by_loops
    return list(batch.texts)


def left(lines, name=b"text"):
    """The numbers of the lines that the loops leave to Python; None if the lines are not UTF-8."""
    numbers = []
    texts = _loops.texts_of_json(
        lines, name, lines.count(b"\n") + 1, lambda n, _: numbers.append(n)
    )
    return None if texts is None else numbers


@pytest.mark.parametrize("line", TAKEN)
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_lines_that_the_loops_take(line, end):
    assert left(line + end) == left(b"\n \n" + line + end + b"  ") == []
    assert read(line + end, True) == read(line + end, False) == [json.loads(line)["text"]]


@pytest.mark.parametrize("line", [*LEFT, *BAD])
def test_lines_that_are_left_to_python(line):
    is_text = left(line) is not None
    assert left(line) == ([0] if is_text else None)
    lines = b"\n".join([TAKEN[0], b"", line, TAKEN[1], b""])
    assert left(lines) == ([2] if is_text else None)
    for is_first in (False, True):
        for piece in (line, lines):
            expected = read(piece, False, is_first)
            assert read(piece, True, is_first) == expected
            assert isinstance(expected, str) == (line in BAD), expected


@pytest.mark.parametrize("name", ["text", "doc.text", "n", "", "é", 'a"b', "text\ud800"])
def test_changed_lines(name):
    """Of several lines, a mark at the beginning, and limits of lengths."""
    kinds = set()
    for seed in range(600):
        draw = random.Random(SEED + seed)
        lines = [
            bytearray(draw.choice([*TAKEN, *TAKEN, *LEFT])) for _ in range(draw.randrange(1, 4))
        ]
        for _ in range(draw.choice([0, 1, 1, 2])):
            line = draw.choice(lines)
            at = draw.randrange(len(line) + 1)
            new = bytes(draw.choices(BYTES, k=draw.randrange(3)))
            line[at : at + draw.choice([0, 1, 1, 9])] = new
        piece = draw.choice([b"", b"", b"\xef\xbb\xbf"]) + b"\n".join(lines)
        how = {
            "is_first": draw.random() < 0.5,
            "name": name,
            "lengths": draw.choice([(None, 40), (None, None)]),
        }
        expected = read(piece, False, **how)
        assert read(piece, True, **how) == expected, piece
        kinds.add(type(expected))
    assert str in kinds
    assert list in kinds or name != "text"


def test_bytes_that_are_not_utf8():
    edges = b"a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf"
    edges += b"\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff"
    draw = random.Random(SEED)
    several = itertools.chain(
        itertools.product(edges, repeat=2), itertools.product(edges, repeat=3),
        (draw.choices(edges, k=draw.choice([4, 5])) for _ in range(5000)),
        (draw.choices(b"\xf0\xf1\xf4\x80\x8f\x90\xbf", k=4) for _ in range(3000)),
    )  # fmt: skip
    n_valid = 0
    for some in several:
        line = b" " * draw.choice([0, 12, 13, 14, 15, 29, 30, 31, 60, 61, 62, 63, 64]) + bytes(some)
        line += b" " * draw.choice([0, 0, 1, 64])
        try:
            line.decode()
            valid = True
        except UnicodeDecodeError:
            valid = False
        assert (left(line) is not None) == valid, line
        n_valid += valid
    assert 200 < n_valid < 10_000


@pytest.mark.parametrize("ascii", [True, False])
def test_texts_of_any_characters(ascii):
    texts = [*strange_texts(60), "", "a" * 63, "é" * 64, "\U0001f600" * 65, *strange_texts(60, 5)]
    lines = "".join(
        json.dumps({"id": 1, "text": text}, ensure_ascii=ascii) + "\n" for text in texts
    ).encode()
    assert left(lines) == []
    found = _loops.texts_of_json(lines, b"text", len(texts) + 1, None)
    assert list(found) == [found[i] for i in range(len(texts))] == texts
    assert list(found[3:9]) == texts[3:9]
    assert list(found[3:9][1:4]) == texts[4:7]
    assert list(found[7:3]) == []
    assert found[-1] == texts[-1]
    np.testing.assert_array_equal(found.lengths(), list(map(len, texts)))
    np.testing.assert_array_equal(found[5:].lengths(), list(map(len, texts[5:])))
    assert [bytes(piece) for piece in found[2:].pieces()] == [text.encode() for text in texts[2:]]
    vectorizer = HashingVectorizer(ngram_range=(1, 2))
    blocks = list(_inputs.blocks(found, 500))
    assert [text for _, block in blocks for text in _inputs.as_list(block)] == texts
    assert len(blocks) > 5
    assert (vectorizer.transform(found) != vectorizer.transform(texts)).nnz == 0
    for number in (len(texts), -len(texts) - 1):
        with pytest.raises(IndexError, match=f"there are {len(texts)} texts"):
            found[number]
    with pytest.raises(ValueError, match="one after the other"):
        found[::2]


def test_a_job_reads_both_ways():
    """With an id, objects are made of the lines."""
    records = [{"id": n, "text": text} for n, text in enumerate(strange_texts(80))]
    content = "\n".join(map(json.dumps, records * 2)).encode()
    kept = []
    for id_field in (None, "id"):
        output = io.BytesIO()
        done = deduplicate_files(
            MinHash(random_state=0), io.BytesIO(content), output,
            source=Texts("auto:2", format="jsonl", id_field=id_field),
        )  # fmt: skip
        kept.append((output.getvalue(), done[:4]))
    assert kept[0] == kept[1]
    assert kept[0][1][1] <= len(records)
