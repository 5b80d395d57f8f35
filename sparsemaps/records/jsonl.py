"""JSON Lines: one JSON object per line."""

import contextlib
import functools
import importlib
import io
import json
import re
from collections.abc import Callable
from typing import Any

from sparsemaps._io._text_input import BadLine, LineError
from sparsemaps._loops import text as _loops
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import BadRecord, Fields, MixedLabels
from sparsemaps.records._line_format import (
    MARK,
    LineFormat,
    Lines,
    all_lines,
    not_utf8,
)


class JsonRecords(LineFormat):
    """One JSON object per line; blank lines are not records."""

    name, title, endings = "jsonl", "JSON Lines", (".jsonl", ".ndjson", ".json")

    def read(self, lines: Lines, fields: Fields, into: Batch) -> None:
        loads = _loader()
        for number, line in enumerate(io.BytesIO(lines.text)):
            is_first = lines.is_first and number == 0
            is_record = _read_line(loads, number, line, is_first, fields, into)
            if is_record and fields.records:
                into.records.append(line)

    def records(self, piece: Lines, fields: Fields) -> Batch:
        """Return the records of a piece. If only texts are read, compiled loops extract them, and
        only lines that the loops do not handle are parsed to objects."""
        texts = self._texts(piece, fields) if fields.are_texts else None
        return super().records(piece, fields) if texts is None else Batch(texts)

    def _texts(self, piece: Lines, fields: Fields) -> Any:
        """Return the texts of a piece in one block of memory; None if a record is bad."""
        loads, text = _loader(), piece.text

        def by_python(number: int, line: bytes) -> Any:
            some = Batch.empty(fields)
            _read_line(loads, number, line, piece.is_first and number == 0, fields, some)
            return some.texts[0] if some.texts else None

        name, n_lines = fields.text.encode("utf-8", "surrogatepass"), _loops.count_line_ends(text)
        try:
            texts = _loops.texts_of_json(text, name, n_lines + 1, by_python)
            if texts is not None:
                fields.check_lengths(texts)
        except (BadLine, BadRecord):
            return None
        return texts

    def lines_of_records(self, lines: Lines) -> list[bytes]:
        found = all_lines(lines)
        if lines.is_first and found and not found[0].removeprefix(MARK).strip():
            del found[0]
        return [line for line in found if not line.isspace()]


FORMAT = JsonRecords()


def _read_line(
    loads: Callable[[bytes], Any],
    number: int,
    line: bytes,
    is_first: bool,
    fields: Fields,
    into: Batch,
) -> bool:
    """Append the fields of a line, numbered from 0, and return whether it is a record. The first
    line of a file may have a byte order mark, and an error in it a hint."""
    content = line.removeprefix(MARK) if is_first else line
    try:
        fields.take(loads(content), into, functools.partial(_loads, content, _EXACT))
    except BadRecord as error:
        if isinstance(error, MixedLabels):
            raise LineError(number + 1, f": {error}") from None
        hint = _hint(content) if is_first else ""
        message = f": {error}{hint}"
        raise BadLine(number + 1, message, error.is_of_length, error.remedy) from None
    except ValueError as error:
        if content.isspace() or not content:
            return False
        wrong = _no_json(error, content, number)
        if is_first:
            wrong = BadLine(wrong.line, wrong.message + _hint(content))
        raise wrong from error
    return True


@functools.cache
def _loader() -> Callable[[bytes], Any]:
    """Return the function that parses a line: orjson if installed, or an equivalent of the standard
    library."""
    try:
        orjson = importlib.import_module("orjson")
    except ImportError:
        return _loads
    return functools.partial(_loads_fast, orjson.loads)


def _hint(line: bytes) -> str:
    """Return a hint on how to make JSON Lines if the first line of a file begins an array or an
    object that spans several lines."""
    content = line.strip()
    if content.startswith(b"["):
        return "; an object a line is expected, and jq -c '.[]' FILE makes such lines of an array"
    if content == b"{":
        return "; an object a line is expected, and jq -c . FILE makes such lines"
    return ""


def _loads_fast(loads: Callable[[bytes], Any], line: bytes) -> Any:
    """Parse a line by orjson, or by the standard library if it has numbers that are not finite."""
    try:
        return loads(line)
    except ValueError as error:
        with contextlib.suppress(ValueError):
            return _loads(line)
        raise error


def _loads(line: bytes, decoder: json.JSONDecoder | None = None) -> Any:
    """Parse a line like orjson: as UTF-8, without unpaired surrogates. Unlike orjson, accept NaN,
    Infinity and -Infinity, as Python's json writes them; numbers beyond float64 are infinite."""
    text = line.decode()
    try:
        if _HALF_PAIRS.search(text):
            json.dumps(_ALL_PAIRS.decode(text), ensure_ascii=False).encode()
        return (decoder or _DECODER).decode(text)
    except RecursionError:
        raise json.JSONDecodeError("too many levels", text, 0) from None
    except UnicodeEncodeError:
        raise json.JSONDecodeError("half of a surrogate pair", text, 0) from None


def _integer(digits: str) -> float:
    value = int(digits) if len(digits) < _MOST_DIGITS else float(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


def _exact_integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _MOST_EXACT_DIGITS else float(digits)


def _json_decoder(parse_int: Callable[[str], Any] = _integer, **hooks: Any) -> json.JSONDecoder:
    return json.JSONDecoder(parse_int=parse_int, **hooks)


_MOST_DIGITS = 22  # more than 64-bit integers have, with a sign
_MOST_EXACT_DIGITS = 400  # larger integers exceed float64
_DECODER, _ALL_PAIRS = _json_decoder(), _json_decoder(object_pairs_hook=list)
_EXACT = _json_decoder(_exact_integer)
"""A decoder that preserves all digits of whole numbers."""

_HALF_PAIRS = re.compile(r"\\u[dD][89a-fA-F]")


def _no_json(error: Any, line: bytes, n_lines: int) -> BadLine:
    try:
        line.decode()
    except UnicodeDecodeError as undecoded:
        return not_utf8(undecoded, n_lines)
    reason = f"{error.msg}, at character {error.pos + 1}"
    return BadLine(n_lines + 1, f": expected a JSON object; found no JSON: {reason}")
