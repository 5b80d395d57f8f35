"""Texts, labels and ids from files: lines of text, JSON Lines, Parquet."""

import importlib
import io
import itertools
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _checks, _text_input
from sparsemaps._tools._extras import library
from sparsemaps._tools._sources import expand, is_regular, is_standard, open_input
from sparsemaps._tools._text_input import LineError
from sparsemaps._tools._typing import Array

TEXT_FORMATS = ("txt", "jsonl", "parquet")

_FORMAT_OF = {".txt": "txt", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}

_TABLES = ".csv", ".tsv"

_PIECE_BYTES = 2**18
"""The number of bytes of a file that are decoded at a time, nearly."""

_RECORD_BYTES = 32
"""The number of bytes that are added to the size of a record, so that batches of many short records
are bounded too."""


class _Batch(NamedTuple):
    texts: Any
    labels: Any
    records: Any


class Records(_Batch):
    """Some consecutive records of one input, in three parts: texts, labels, raw records.

    Attributes
    ----------
    texts : list of str, or pyarrow.Array of strings where the input is Parquet
    labels : list of float, list of str, or None without `label_field`
    records : list of bytes, pyarrow.RecordBatch where the input is Parquet, or None if not asked
        for. Bytes are the lines as they stand, with their ends; the last line may have none.
    ids : list of str or int, or None without `id_field`
    input : str or file-like
        The file, "-", or the file object.
    n_bytes : int
        How many bytes of the file were read for these records, before decompression.
    """

    ids: Any = None
    input: Any = None
    n_bytes: int = 0
    keys: Any = None
    """A number of each record, NaN if it has none."""
    bad: Any = ()
    """Lines or rows that are no records: the number, from 0; what is wrong; and the line."""

    def rows(self, start: int, stop: int) -> "Records":
        """Some of the records."""
        some = slice(start, stop)
        texts, labels, records = (part if part is None else part[some] for part in self)
        some_records = Records(texts, labels, records)
        some_records.ids = None if self.ids is None else self.ids[some]
        some_records.keys = None if self.keys is None else self.keys[some]
        some_records.bad = self.bad if start == 0 else ()
        return some_records


def iter_records(
    inputs: Any,
    *,
    field: str = "text",
    label_field: str | None = None,
    id_field: str | None = None,
    format: str | None = None,
    batch_bytes: int = 2**24,
    records: bool = True,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> Iterator[Records]:
    r"""Read the texts of files, a batch at a time.

    Three formats are read. "txt" has a text a line. "jsonl" (JSON Lines) has a JSON object a line.
    "parquet" has a column for each field. Parquet is read by pyarrow, and .zst by backports.zstd
    before Python 3.14. JSON is read by orjson, or at half the speed by the standard library, with
    the same results. ``pip install "sparsemaps[text]"`` brings these libraries.

    Parameters
    ----------
    inputs : str, path-like, file-like, or a sequence of these
        Files; text and JSON may be compressed (.gz, .bz2, .xz, .zst). A directory stands for its
        files in the order of their names, a pattern with ``*``, ``?`` or ``[`` for the files that
        match, and "-" for standard input. Pipes and file objects, which are opened in binary mode,
        are not decompressed.
    field : str, default="text"
        The field of an object, or the column, that holds the text. Lines of text have no fields.
    label_field, id_field : str or None, default=None
        Fields of a label and of an id.
    format : {"txt", "jsonl", "parquet"} or None, default=None
        The format of all inputs. None follows the names: .txt; .jsonl or .ndjson; .parquet. It must
        be given for pipes, file objects and other names.
    batch_bytes : int, default=2**24
        The number of bytes of records in a batch, nearly. A longer record is a batch by itself. 32
        bytes are added to the size of each record, so that batches of short records are bounded
        too.
    records : bool, default=True
        Whether to return the raw records. For Parquet, all columns are then read.
    max_line_bytes : int, default=2**30
        A longer line is an error: a small compressed file can hold one that fills the memory.

    Yields
    ------
    batch : Records
        ``texts, labels, records = batch``; it has `ids`, `input` and `n_bytes` too. No batch is
        empty, and none has records of two inputs.

    Raises
    ------
    ValueError
        If a parameter is not allowed. If a record is not UTF-8, not JSON or not an object; if it
        does not have the field, or the field is not a string; if a label or an id is neither a
        string nor a finite number, or if labels are of both kinds. The error names the file, the
        line and what was expected. If a compressed or Parquet file is damaged.
    ImportError
        If a library is missing.

    See Also
    --------
    HashingVectorizer, ByteNgrams : Rows of such texts.

    Notes
    -----
    Lines end with ``"\n"`` or ``"\r\n"``; the last line need not have an end. A byte order mark
    before the first line is ignored. An empty line of "txt" is an empty text; blank lines of
    "jsonl" are not records. An empty file has no records. NUL is a character like others.
    ``"\ud800"`` and other halves of surrogate pairs are not JSON.

    The memory is that of two batches; for Parquet, that of a page of each column in addition.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.text import iter_records
    >>> file = BytesIO(b'{"text": "one", "lang": "en"}\n{"text": "deux", "lang": "fr"}\n')
    >>> for texts, labels, records in iter_records(file, label_field="lang", format="jsonl"):
    ...     print(texts, labels, len(records))
    ['one', 'deux'] ['en', 'fr'] 2
    """
    for name, value in (("field", field), ("label_field", label_field), ("id_field", id_field)):
        if not isinstance(value, str) and (value is not None or name == "field"):
            raise ValueError(f"{name} must be a string, got {value!r}")
    if format is not None:
        _checks.check_choice("format", format, TEXT_FORMATS)
    batch_bytes = _checks.check_int("batch_bytes", batch_bytes, 1, _checks.LARGEST_INT)
    _checks.check_int("max_line_bytes", max_line_bytes, 1, _checks.LARGEST_INT)
    fields = Fields(field, label_field, id_field, _checks.check_bool("records", records))
    paths = expand(inputs)
    formats = [format_of(path, format, fields) for path in paths]
    return _iterate(paths, formats, fields, batch_bytes, max_line_bytes)


def _iterate(
    paths: list[Any], formats: list[str], fields: "Fields", batch_bytes: int, max_line_bytes: int
) -> Iterator[Records]:
    for path, format in zip(paths, formats, strict=True):
        if format == "parquet":
            batches = of_parquet(path, fields, batch_bytes)
        else:
            batches = _of_lines(path, format, fields, batch_bytes, max_line_bytes)
        for batch in batches:
            batch.input = path
            yield batch


def format_of(path: Any, format: str | None, fields: "Fields") -> str:
    """The format of an input, from the option `format` or from its name."""
    is_path = isinstance(path, (str, os.PathLike)) and not is_standard(path)
    name = (
        os.fspath(path) if is_path else "standard input" if is_standard(path) else "a file object"
    )
    base = _text_input.without_compression(name)
    known = format or _FORMAT_OF.get(os.path.splitext(base)[1] if is_path else "")
    if known is None and os.path.splitext(base)[1].lower() in _TABLES:
        make = f"pandas.read_csv({base!r}).to_json('x.jsonl', orient='records', lines=True)"
        raise ValueError(f"{name}: tables of CSV are not read; make JSON Lines of it: {make}")
    if known is None:
        raise ValueError(
            f"{name}: format must be given ({' or '.join(TEXT_FORMATS)}), as the name does not end "
            f"in {', '.join(_FORMAT_OF)}"
        )
    is_stream = isinstance(path, (str, os.PathLike)) and not is_regular(path)
    if known == "parquet" and (is_stream or base != name):
        raise ValueError(f"{name}: Parquet is not read from pipes or compressed files")
    if known == "txt":
        for what, value in (
            ("label_field", fields.label), ("id_field", fields.id), ("keep", fields.key),
        ):  # fmt: skip
            if value is not None:
                raise ValueError(f"{name}: lines of text have no fields, got {what}={value!r}")
    return known


def is_text_file(path: Any) -> bool:
    """Whether an input is texts, by its name."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    return os.path.splitext(_text_input.without_compression(os.fspath(path)))[1] in _FORMAT_OF


class _BadRecord(ValueError):
    """An error in a record. The reader of the file adds the line or row."""

    def __init__(self, expected: str, value: str) -> None:
        super().__init__(f"expected {expected}; found {value}")


class Fields:
    """The fields that are read from each record."""

    def __init__(
        self, text: str, label: str | None, id: str | None, records: bool, key: str | None = None
    ) -> None:
        self.text, self.label, self.id, self.records = text, label, id, records
        self.key = key
        self._kind_of_labels: type | None = None

    def take(self, record: Any, into: "_Lists") -> None:
        """Append the fields of a JSON object."""
        if not isinstance(record, dict):
            raise _BadRecord("a JSON object", _kind(record))
        text = _field(record, self.text)
        if not isinstance(text, str):
            raise _BadRecord(f"a string in the field {self.text!r}", _kind(text))
        label = None if self.label is None else self.check_label(_field(record, self.label))
        id = None if self.id is None else self.check_id(_field(record, self.id))
        key = None if self.key is None else self.check_key(record.get(self.key))
        into.texts.append(text)
        if label is not None:
            into.labels.append(label)
        if id is not None:
            into.ids.append(id)
        if key is not None:
            into.keys.append(key)

    def check_label(self, label: Any) -> float | str:
        """A label: numbers as float."""
        _check_scalar(label, self.label)
        kind = str if isinstance(label, str) else float
        if self._kind_of_labels not in (kind, None):
            known = "string" if kind is float else "number"
            raise _BadRecord(f"a {known} as label, as in the records before", _kind(label))
        self._kind_of_labels = kind
        return kind(label)

    def check_key(self, key: Any) -> float:
        """A number as float; NaN if there is none."""
        if key is None:
            return math.nan
        if isinstance(key, bool) or not isinstance(key, (int, float)):
            raise _BadRecord(f"a number in the field {self.key!r}", _kind(key))
        return float(key)

    def check_id(self, id: Any) -> Any:
        _check_scalar(id, self.id)
        return id


def _field(record: dict[str, Any], name: str) -> Any:
    if name not in record:
        names = ", ".join(map(repr, list(record)[:8])) or "an object without fields"
        raise _BadRecord(f"the field {name!r}", names + (", ..." if len(record) > 8 else ""))
    return record[name]


def _check_scalar(value: Any, name: str | None) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not isinstance(value, str) and not (is_number and math.isfinite(value)):
        shown = repr(value) if is_number else _kind(value)
        raise _BadRecord(f"a string or a finite number in the field {name!r}", shown)


def _kind(value: Any) -> str:
    """The name of a value's type in JSON."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


class _Lists:
    """Texts, labels, ids and records, to which records are appended."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.labels: list[Any] = []
        self.ids: list[Any] = []
        self.keys: list[float] = []
        self.records: list[bytes] = []
        self.n_bytes = 0

    def finish(self, fields: Fields, n_bytes: int) -> Records:
        labels = None if fields.label is None else self.labels
        batch = Records(self.texts, labels, self.records if fields.records else None)
        batch.ids = None if fields.id is None else self.ids
        batch.keys = None if fields.key is None else self.keys
        batch.n_bytes = n_bytes
        return batch


# ---- lines ---------------------------------------------------------------------------------------


def _of_lines(
    path: Any, format: str, fields: Fields, batch_bytes: int, max_line_bytes: int
) -> Iterator[Records]:
    """Batches of a file of lines."""
    read = _read_txt if format == "txt" else _json_reader()
    n_lines, batch = 0, _Lists()
    with open_input(path, max_line_bytes) as text:
        position, name = text.position(), text.name
        try:
            for piece in _pieces(text, min(batch_bytes, _PIECE_BYTES)):
                n_more = piece.count(b"\n")
                n_bytes = len(piece) + _RECORD_BYTES * n_more
                if batch.texts and batch.n_bytes + n_bytes > batch_bytes:
                    before, position = position, text.position()
                    yield batch.finish(fields, position - before)
                    batch = _Lists()
                read(piece, n_lines == 0, fields, batch)
                batch.n_bytes += n_bytes
                n_lines += n_more
        except _text_input.LineTooLong as error:
            raise ValueError(f"{name}line {n_lines + 1} is {error}") from error
        except LineError as error:
            raise ValueError(f"{name}{error.after(n_lines)}") from error.__cause__
        if batch.texts:
            yield batch.finish(fields, text.position() - position)


def _pieces(text: _text_input.Text, size: int) -> Iterator[bytes]:
    """A file in pieces of whole lines; a line longer than `size` is one by itself."""
    for block in text.blocks(size):
        end = block.find(b"\n") + 1
        if size < end < len(block):
            yield block[:end]
            block = block[end:]
        yield block


MARK = b"\xef\xbb\xbf"
"""A byte order mark in UTF-8."""


def read_lines(piece: bytes, format: str, fields: Fields, is_first: bool) -> Records:
    """The records of some lines; a `LineError` counts from the beginning of the piece."""
    batch = _Lists()
    read = _read_txt if format == "txt" else _json_reader()
    read(piece, is_first, fields, batch)
    return batch.finish(fields, len(piece))


def read_good_lines(piece: bytes, format: str, fields: Fields, is_first: bool) -> Records:
    """As `read_lines`, without the lines that are no records, which are those that are bad."""
    try:
        return read_lines(piece, format, fields, is_first)
    except LineError:
        pass
    batch, bad = _Lists(), []
    read = _read_txt if format == "txt" else _json_reader()
    for number, line in enumerate(io.BytesIO(piece)):
        try:
            read(line, is_first and number == 0, fields, batch)
        except LineError as error:
            bad.append((number, error.message, line))
    records = batch.finish(fields, len(piece))
    records.bad = bad
    return records


def raw_lines(piece: bytes, format: str, is_first: bool) -> list[bytes]:
    """The lines that are records, as they stand."""
    lines = list(io.BytesIO(piece))
    if format == "txt":
        return [] if is_first and piece == MARK else lines
    if is_first and lines and not lines[0].removeprefix(MARK).strip():
        del lines[0]
    return [line for line in lines if not line.isspace()]


def lengths_of(texts: Any) -> Array:
    """How many characters strings have, in a list or in Arrow's array."""
    if isinstance(texts, list):
        return np.fromiter(map(len, texts), np.int64, len(texts))
    pc = library("pyarrow.compute", "reading Parquet", "text")
    return np.asarray(pc.utf8_length(texts), np.int64)


def _read_txt(piece: bytes, is_first: bool, fields: Fields, into: _Lists) -> None:
    content = piece.removeprefix(MARK) if is_first else piece
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise _not_utf8(error, 0) from None
    if not text:
        return
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    into.texts += text.removesuffix("\n").split("\n")
    if fields.records:
        into.records += io.BytesIO(piece)


def _not_utf8(error: UnicodeDecodeError, n_lines: int) -> LineError:
    before = error.object[: error.start]
    number = n_lines + before.count(b"\n") + 1
    column = error.start - before.rfind(b"\n")
    byte = f"byte 0x{error.object[error.start]:02x} as byte {column} of the line"
    return LineError(number, f": expected UTF-8; found {byte}")


def _json_reader() -> Callable[[bytes, bool, Fields, _Lists], None]:
    loads = _json_loads()

    def read(piece: bytes, is_first: bool, fields: Fields, into: _Lists) -> None:
        for number, line in enumerate(io.BytesIO(piece)):
            content = line.removeprefix(MARK) if is_first and number == 0 else line
            try:
                fields.take(loads(content), into)
            except _BadRecord as error:
                raise LineError(number + 1, f": {error}") from None
            except ValueError as error:
                if content.isspace() or not content:
                    continue
                raise _no_json(error, content, number) from error
            if fields.records:
                into.records.append(line)

    return read


def _json_loads() -> Callable[[bytes], Any]:
    """orjson's ``loads``, or the same by the standard library."""
    try:
        return importlib.import_module("orjson").loads
    except ImportError:
        return _loads


def _loads(line: bytes) -> Any:
    """As orjson reads a line: UTF-8, finite numbers, no halves of surrogate pairs."""
    text = line.decode()
    try:
        if _HALF_PAIRS.search(text):
            json.dumps(_ALL_PAIRS.decode(text), ensure_ascii=False).encode()
        return _DECODER.decode(text)
    except RecursionError:
        raise json.JSONDecodeError("too many levels", text, 0) from None
    except UnicodeEncodeError:
        raise json.JSONDecodeError("half of a surrogate pair", text, 0) from None


def _integer(digits: str) -> float:
    value = int(digits) if len(digits) < _MOST_DIGITS else _number(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise json.JSONDecodeError("a number is not finite", digits, 0)
    return value


def _json_decoder(**hooks: Any) -> json.JSONDecoder:
    # NaN and Infinity are refused as numbers that are not finite.
    return json.JSONDecoder(
        parse_constant=_number, parse_int=_integer, parse_float=_number, **hooks
    )


_MOST_DIGITS = 22  # more than integers of 64 bits have, with a sign
_DECODER, _ALL_PAIRS = _json_decoder(), _json_decoder(object_pairs_hook=list)
_HALF_PAIRS = re.compile(r"\\u[dD][89a-fA-F]")


def _no_json(error: Any, line: bytes, n_lines: int) -> LineError:
    try:
        line.decode()
    except UnicodeDecodeError as undecoded:
        return _not_utf8(undecoded, n_lines)
    reason = f"{error.msg}, at character {error.pos + 1}"
    return LineError(n_lines + 1, f": expected a JSON object; found no JSON: {reason}")


# ---- Parquet -------------------------------------------------------------------------------------


def of_parquet(
    path: Any, fields: Fields, batch_bytes: int, file_name: str = "", sets_aside: bool = False
) -> Iterator[Records]:
    """Batches of a Parquet file; without the bad rows, if these are set aside."""
    parquet = library("pyarrow.parquet", "reading Parquet", "text")
    is_path = isinstance(path, (str, os.PathLike))
    name = file_name.removesuffix(": ") or (os.fspath(path) if is_path else "a file object")
    with _text_input.array_errors_naming(name):
        file = parquet.ParquetFile(path, buffer_size=2**20)
    with file:
        wanted = _check_columns(file.schema_arrow, fields, name)
        n_all = max(file.metadata.num_rows, 1)
        a_row = _content_bytes(file.metadata) // n_all + _RECORD_BYTES
        batches = file.iter_batches(
            max(1, min(batch_bytes // a_row, _MOST_ROWS)),
            columns=None if fields.records else wanted,
        )
        size = os.stat(path).st_size if is_path else path.seek(0, os.SEEK_END)
        n_rows = position = 0
        while True:
            with _text_input.array_errors_naming(name):
                rows = next(batches, None)
            if rows is None:
                return
            try:
                bad = bad_rows(rows, fields) if sets_aside else []
                if bad:
                    yield _without(rows, bad, fields)
                    n_rows += len(rows)
                    continue
                for batch in _of_rows(rows, fields, batch_bytes):
                    n_rows += len(batch.texts)
                    before, position = position, size * n_rows // n_all
                    batch.n_bytes = position - before
                    yield batch
            except _BadRow as error:
                raise ValueError(f"{name}: row {n_rows + error.row + 1}: {error}") from None


_MOST_ROWS = 2**20  # that are decoded at a time


class _BadRow(ValueError):
    """An error in a row, with the row's number."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row = row


def _content_bytes(metadata: Any) -> int:
    """The number of bytes of the columns of a file, decompressed."""
    return sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))


def _check_columns(schema: Any, fields: Fields, name: str) -> list[str]:
    """The columns to read. It is an error if one is missing or of another type."""
    types = library("pyarrow", "reading Parquet", "text").types
    fields_of_all = fields.text, fields.label, fields.id, fields.key
    wanted = list(dict.fromkeys(name for name in fields_of_all if name is not None))
    for column in wanted:
        if schema.names.count(column) != 1:
            columns = ", ".join(map(repr, schema.names[:8])) or "no columns"
            more = ", ..." if len(schema.names) > 8 else ""
            raise ValueError(f"{name}: expected one column {column!r}; found {columns}{more}")
        kind = schema.field(column).type
        kind = kind.value_type if types.is_dictionary(kind) else kind
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        is_number = types.is_integer(kind) or types.is_floating(kind)
        if column == fields.key and not is_number:
            raise ValueError(f"{name}: expected numbers in the column {column!r}; found {kind}")
        if not is_text and (column == fields.text or not is_number):
            allowed = "strings" if column == fields.text else "strings or numbers"
            raise ValueError(f"{name}: expected {allowed} in the column {column!r}; found {kind}")
    return wanted


def _of_rows(rows: Any, fields: Fields, batch_bytes: int) -> Iterator[Records]:
    """Batches of some rows, of `batch_bytes`, nearly. All rows are checked before the first."""
    texts = _strings(rows.column(fields.text), fields.text)
    labels = ids = None
    if fields.label is not None:
        labels = _scalars(rows.column(fields.label), fields.check_label)
    if fields.id is not None:
        ids = _scalars(rows.column(fields.id), fields.check_id)
    keys = None
    if fields.key is not None:
        keys = _scalars(rows.column(fields.key), fields.check_key)
    pc = library("pyarrow.compute", "reading Parquet", "text")
    ends = np.cumsum(np.asarray(pc.binary_length(texts)) + _RECORD_BYTES)
    start = 0
    while start < len(texts):
        limit = (ends[start - 1] if start else 0) + batch_bytes
        stop = max(start + 1, int(np.searchsorted(ends, limit, "right")))
        some = slice(start, stop)
        batch = Records(
            texts[some],
            None if labels is None else labels[some],
            rows[some] if fields.records else None,
        )
        batch.ids = None if ids is None else ids[some]
        batch.keys = None if keys is None else keys[some]
        yield batch
        start = stop


def bad_rows(rows: Any, fields: Fields) -> list[tuple[int, str]]:
    """The rows that are no records, and what is wrong with each."""
    try:
        for _ in _of_rows(rows, fields, 2**62):
            pass
    except _BadRow:
        return list(_each_bad_row(rows, fields))
    return []


def _each_bad_row(rows: Any, fields: Fields) -> Iterator[tuple[int, str]]:
    for row in range(len(rows)):
        try:
            for _ in _of_rows(rows.slice(row, 1), fields, 1):
                pass
        except _BadRow as error:
            yield row, str(error)


def _without(rows: Any, bad: list[tuple[int, str]], fields: Fields) -> Records:
    """The records of some rows but for the bad ones; texts are in a list."""
    ends = [-1, *(row for row, _ in bad), len(rows)]
    batch = _Lists()
    for before, after in itertools.pairwise(ends):
        for some in _of_rows(rows.slice(before + 1, after - before - 1), fields, 2**62):
            batch.texts += some.texts.to_pylist()
            batch.labels += some.labels or []
            batch.ids += some.ids or []
            batch.keys += some.keys or []
    records = batch.finish(fields, 0)
    records.bad = [(row, f": {reason}", b"") for row, reason in bad]
    return records


def _strings(column: Any, name: str) -> Any:
    """A column as Arrow's strings. It is an error if one is null or not UTF-8."""
    pa = library("pyarrow", "reading Parquet", "text")
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise _BadRow(row, f"expected a string in the column {name!r}; found null")
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for row, text in enumerate(column):
            try:
                text.as_py()
            except UnicodeDecodeError as error:
                byte = f"byte 0x{error.object[error.start]:02x} as byte {error.start + 1}"
                raise _BadRow(row, f"expected UTF-8; found {byte} of the text") from None
        raise
    return column


def _scalars(column: Any, check: Callable[[Any], Any]) -> list[Any]:
    """The labels or ids of a column."""
    checked = []
    for row, value in enumerate(column.to_pylist()):
        try:
            checked.append(check(value))
        except _BadRecord as error:
            raise _BadRow(row, str(error)) from None
    return checked
