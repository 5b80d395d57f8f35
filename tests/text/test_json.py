"""JSON by the standard library and by orjson: the same values, and errors of the same lines."""

import functools
import io
import random
import re

import pytest
from _data.chance import SEED

from sparsemaps.records.jsonl import _loads, _loads_fast
from sparsemaps.text import iter_records

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
fast = functools.partial(_loads_fast, orjson.loads)
NOT_FINITE = re.compile(rb"NaN|Infinity|[eE]\+?[0-9]{3}|[0-9]{300}")

BYTES = [
    *b'{}[],:"\\eE+-.0123456789untrfalsd \t\n\r\x00\x0b\x7f\xc3\xa9\xed\xa0\x80\xef\xbb\xbf\xff'
]


def result(loads, line):
    try:
        return "a value", repr(loads(line))
    except ValueError:
        return "an error", ""


def expected_of(line):
    """Return the result of orjson, or of numbers that it has not, that of both readers."""
    return result(fast if NOT_FINITE.search(line) else orjson.loads, line)


def test_lines():
    for line in LINES:
        assert result(_loads, line) == result(fast, line) == expected_of(line), line


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
        expected, line = expected_of(bytes(line)), bytes(line)
        assert result(_loads, line) == result(fast, line) == expected, line
        kinds.add(expected[0])
    assert kinds == {"a value", "an error"}


def test_levels_beyond_the_interpreters():
    """orjson has 1,024; either refuses more."""
    line = b"[" * 10**5 + b"]" * 10**5
    assert result(_loads, line) == result(fast, line) == ("an error", "")


@pytest.mark.usefixtures("json_library")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "-1e999", "9" * 9000])
def test_numbers_that_are_not_finite(number):
    """In a field that is not read, they do no harm; in others they are no finite numbers."""
    line = f'{{"text": "NaN a", "other": [{number}], "y": 1, "n": {number}}}\n'.encode() * 2
    (batch,) = iter_records(io.BytesIO(line), label_field="y", format="jsonl")
    assert (batch.texts, batch.labels) == (["NaN a"] * 2, [1.0, 1.0])
    assert b"".join(batch.records) == line
    for option in ("label_field", "id_field"):
        with pytest.raises(
            ValueError, match=r"line 1: expected a string.* in the field 'n'; found (?!no JSON)"
        ):
            list(iter_records(io.BytesIO(line), format="jsonl", **{option: "n"}))
