"""JSON by the standard library: the values, and the errors, of orjson."""

import random

import pytest
from _data.chance import SEED

from sparsemaps.text._line_records import _loads

orjson = pytest.importorskip("orjson")

LINES = [
    b'{"text": "a \\u00e9\\ud83d\\ude00 b", "n": [1, -2.5e3, true, false, null], "o": {"p": ""}}',
    b"[18446744073709551615, 18446744073709551616, -9223372036854775808, -9223372036854775809]",
    b'["\\ud800", "\\udc00\\ud800", "\\\\ud800", 1e308, 1E-400, -0, -0.0, 0.1]',
    '{"é\\"": "語", "é\\"": 1}'.encode(),
    b'{"a": "\\ud800", "a": 1}',
    b"[1e999, NaN, Infinity, -Infinity, 01, 1., .5, +1, 0x1]",
    *(b"[NaN]", b"[Infinity]", b"[-Infinity]", b"[1e999]", b"[-1e999]"),
    b"1" * 400,
    b"[" * 500 + b"]" * 500,
]
BYTES = [
    *b'{}[],:"\\eE+-.0123456789untrfalsd \t\n\r\x00\x0b\x7f\xc3\xa9\xed\xa0\x80\xef\xbb\xbf\xff'
]


def result(loads, line):
    try:
        return "a value", repr(loads(line))
    except ValueError:
        return "an error", ""


def test_lines():
    for line in LINES:
        assert result(_loads, line) == result(orjson.loads, line), line


def test_changed_lines():
    kinds = set()
    for seed in range(20_000):
        draw = random.Random(SEED + seed)
        line = bytearray(draw.choice(LINES))
        for _ in range(draw.choice([1, 1, 2, 4])):
            at = draw.randrange(len(line) + 1)
            line[at : at + draw.choice([0, 1, 1, 9])] = bytes(
                draw.choices(BYTES, k=draw.randrange(3))
            )
        expected = result(orjson.loads, bytes(line))
        assert result(_loads, bytes(line)) == expected, bytes(line)
        kinds.add(expected[0])
    assert kinds == {"a value", "an error"}


def test_levels_beyond_the_interpreters():
    """orjson has 1,024; either refuses more."""
    line = b"[" * 10**5 + b"]" * 10**5
    assert result(_loads, line) == result(orjson.loads, line) == ("an error", "")
