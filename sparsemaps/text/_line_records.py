"""Records that are lines: a text a line, or JSON Lines."""

import functools
import importlib
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

from sparsemaps._io import _text_input
from sparsemaps._io._sources import open_input
from sparsemaps._io._text_input import BadLine, LineError
from sparsemaps.text._fields import RECORD_BYTES, BadRecord, Fields, MixedLabels, Records

_PIECE_BYTES = 2**18
"""The number of bytes of a file that are decoded at a time, nearly."""

MARK = b"\xef\xbb\xbf"
"""A byte order mark in UTF-8."""


def of_lines(
    path: Any, format: str, fields: Fields, batch_bytes: int, max_line_bytes: int
) -> Iterator[Records]:
    """Batches of a file of lines."""
    read = _reader(format)
    n_lines, size, batch = 0, 0, Records.empty(fields)
    with open_input(path, max_line_bytes) as text:
        position, name = text.position(), text.name
        try:
            for piece in _pieces(text, min(batch_bytes, _PIECE_BYTES)):
                n_more = piece.count(b"\n")
                n_bytes = len(piece) + RECORD_BYTES * n_more
                if batch.texts and size + n_bytes > batch_bytes:
                    before, position = position, text.position()
                    batch.n_bytes = position - before
                    yield batch
                    size, batch = 0, Records.empty(fields)
                read(piece, n_lines == 0, fields, batch)
                size += n_bytes
                n_lines += n_more
        except _text_input.LineTooLong as error:
            raise ValueError(f"{name}line {n_lines + 1} is {error}") from error
        except LineError as error:
            raise ValueError(f"{name}{error.after(n_lines)}") from error.__cause__
        if batch.texts:
            batch.n_bytes = text.position() - position
            yield batch


def _pieces(text: _text_input.Text, size: int) -> Iterator[bytes]:
    """Yield a file in pieces of whole lines; a line longer than `size` is one by itself."""
    for block in text.blocks(size):
        end = block.find(b"\n") + 1
        if size < end < len(block):
            yield block[:end]
            block = block[end:]
        yield block


def read_lines(piece: bytes, format: str, fields: Fields, is_first: bool) -> Records:
    """Return the records of some lines; a `BadLine` counts from the beginning of the piece."""
    batch = Records.empty(fields)
    _reader(format)(piece, is_first, fields, batch)
    batch.n_bytes = len(piece)
    return batch


def read_good_lines(piece: bytes, format: str, fields: Fields, is_first: bool) -> Records:
    """As `read_lines`, without the lines that are no records; `bad` has these."""
    try:
        return read_lines(piece, format, fields, is_first)
    except BadLine:
        pass
    read, batch, bad = _reader(format), Records.empty(fields), []
    for number, line in enumerate(io.BytesIO(piece)):
        try:
            read(line, is_first and number == 0, fields, batch)
        except BadLine as error:
            bad.append((number, error.message, line))
    batch.n_bytes, batch.bad = len(piece), bad
    return batch


def raw_lines(piece: bytes, format: str, is_first: bool) -> list[bytes]:
    """Return the lines that are records, as they stand."""
    lines = list(io.BytesIO(piece))
    if format == "txt":
        return [] if is_first and piece == MARK else lines
    if is_first and lines and not lines[0].removeprefix(MARK).strip():
        del lines[0]
    return [line for line in lines if not line.isspace()]


def _read_txt(piece: bytes, is_first: bool, fields: Fields, into: Records) -> None:
    content = piece.removeprefix(MARK) if is_first else piece
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(error, 0) from None
    if not text:
        return
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    texts = text.removesuffix("\n").split("\n")
    try:
        fields.check_lengths(texts)
    except BadRecord as error:
        raise BadLine(error.number + 1, f": {error}") from None
    into.texts.extend(texts)
    if fields.records:
        into.records.extend(io.BytesIO(piece))


def _not_utf8(error: UnicodeDecodeError, n_lines: int) -> BadLine:
    before = error.object[: error.start]
    number = n_lines + before.count(b"\n") + 1
    column = error.start - before.rfind(b"\n")
    byte = f"byte 0x{error.object[error.start]:02x} as byte {column} of the line"
    return BadLine(number, f": expected UTF-8; found {byte}")


def _read_json(
    loads: Callable[[bytes], Any], piece: bytes, is_first: bool, fields: Fields, into: Records
) -> None:
    for number, line in enumerate(io.BytesIO(piece)):
        content = line.removeprefix(MARK) if is_first and number == 0 else line
        try:
            fields.take(loads(content), into, functools.partial(_loads, content, _EXACT))
        except BadRecord as error:
            kind = LineError if isinstance(error, MixedLabels) else BadLine
            hint = _hint(content) if is_first and number == 0 else ""
            raise kind(number + 1, f": {error}{hint}") from None
        except ValueError as error:
            if content.isspace() or not content:
                continue
            wrong = _no_json(error, content, number)
            if is_first and number == 0:
                wrong = BadLine(wrong.line, wrong.message + _hint(content))
            raise wrong from error
        if fields.records:
            into.records.append(line)


def _hint(line: bytes) -> str:
    """A hint at how JSON Lines are made, if the first line of a file begins an array, or an object
    of several lines."""
    content = line.strip()
    if content.startswith(b"["):
        return "; an object a line is expected, and jq -c '.[]' FILE makes such lines of an array"
    if content == b"{":
        return "; an object a line is expected, and jq -c . FILE makes such lines"
    return ""


def _reader(format: str) -> Callable[[bytes, bool, Fields, Records], None]:
    """Return the function that reads lines: JSON by orjson, or the same by the standard library."""
    if format == "txt":
        return _read_txt
    try:
        orjson = importlib.import_module("orjson")
    except ImportError:
        return functools.partial(_read_json, _loads)
    return functools.partial(_read_json, functools.partial(_loads_fast, orjson.loads))


def _loads_fast(loads: Callable[[bytes], Any], line: bytes) -> Any:
    """As orjson reads a line; by the standard library if it has NaN or Infinity."""
    try:
        return loads(line)
    except ValueError:
        if b"NaN" in line or b"Infinity" in line:
            return _loads(line)
        raise


def _loads(line: bytes, decoder: json.JSONDecoder | None = None) -> Any:
    """As orjson reads a line: UTF-8, no infinite decimals, no halves of surrogate pairs; but NaN,
    Infinity and -Infinity are numbers, as Python's json writes them."""
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
    value = int(digits) if len(digits) < _MOST_DIGITS else _number(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


def _exact_integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _MOST_EXACT_DIGITS else _number(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise json.JSONDecodeError("a number is not finite", digits, 0)
    return value


def _json_decoder(parse_int: Callable[[str], Any] = _integer, **hooks: Any) -> json.JSONDecoder:
    return json.JSONDecoder(parse_int=parse_int, parse_float=_number, **hooks)


_MOST_DIGITS = 22  # more than integers of 64 bits have, with a sign
_MOST_EXACT_DIGITS = 400  # float64 holds none of so many
_DECODER, _ALL_PAIRS = _json_decoder(), _json_decoder(object_pairs_hook=list)
_EXACT = _json_decoder(_exact_integer)
"""Whole numbers have all their digits."""

_HALF_PAIRS = re.compile(r"\\u[dD][89a-fA-F]")


def _no_json(error: Any, line: bytes, n_lines: int) -> BadLine:
    try:
        line.decode()
    except UnicodeDecodeError as undecoded:
        return _not_utf8(undecoded, n_lines)
    reason = f"{error.msg}, at character {error.pos + 1}"
    return BadLine(n_lines + 1, f": expected a JSON object; found no JSON: {reason}")
