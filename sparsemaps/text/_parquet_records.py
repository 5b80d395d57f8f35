"""Records that are rows of Parquet files."""

import itertools
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sparsemaps._io import _text_input
from sparsemaps._tools._extras import library
from sparsemaps.text._fields import RECORD_BYTES, BadRecord, Fields, MixedLabels, Records
from sparsemaps.text._parquet_rows import PART_BYTES, decoded, is_one_of, open_parquet


def of_parquet(
    path: Any, fields: Fields, batch_bytes: int, file_name: str = "", sets_aside: bool = False
) -> Iterator[Records]:
    """Batches of a Parquet file; without the bad rows, if these are set aside."""
    is_path = isinstance(path, (str, os.PathLike))
    name = file_name.removesuffix(": ") or (os.fspath(path) if is_path else "a file object")
    library("pyarrow.parquet", "reading Parquet")
    with _text_input.array_errors_naming(name):
        opened = open_parquet(path, buffer_size=2**20)
    with opened.file:
        wanted = _check_columns(opened.schema, fields, name)
        n_all = max(opened.file.metadata.num_rows, 1)
        batches = opened.batches(batch_bytes, columns=None if fields.records else wanted)
        size = os.stat(path).st_size if is_path else path.seek(0, os.SEEK_END)
        n_rows = position = 0
        for rows in _parts(batches, opened.schema, max(batch_bytes, PART_BYTES), name):
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
            except BadRecord as error:
                row = n_rows + error.number + 1
                raise _text_input.UnreadableRecord(f"{name}: row {row}: {error}", row) from None


def _parts(batches: Any, schema: Any, n_bytes: int, name: str) -> Iterator[Any]:
    """Yield the rows of batches, decoded some at a time."""
    while True:
        with _text_input.array_errors_naming(name):
            rows = next(batches, None)
            if rows is None:
                return
            parts = decoded(rows, schema, n_bytes)
        while True:
            with _text_input.array_errors_naming(name):
                part = next(parts, None)
            if part is None:
                break
            yield part


def _check_columns(schema: Any, fields: Fields, name: str) -> list[str]:
    """Return the columns to read. It is an error if one is missing or of another type."""
    fields_of_all = fields.text, fields.label, fields.id, fields.key
    wanted = list(dict.fromkeys(name for name in fields_of_all if name is not None))
    for column in wanted:
        if schema.names.count(column) != 1:
            columns = ", ".join(map(repr, schema.names[:8])) or "no columns"
            more = ", ..." if len(schema.names) > 8 else ""
            raise ValueError(f"{name}: expected one column {column!r}; found {columns}{more}")
        kind = schema.field(column).type
        roles = (fields.text, is_text), (fields.label, is_label), (fields.id, is_id)
        for role, is_allowed in (*roles, (fields.key, is_number)):
            if column == role and not is_allowed(kind):
                what = ALLOWED_COLUMNS[is_allowed]
                raise ValueError(f"{name}: expected {what} in the column {column!r}; found {kind}")
    return wanted


# ---- types of columns ----------------------------------------------------------------------------

_STRINGS = ("string", "large_string", "string_view")
_BYTES = ("binary", "large_binary", "binary_view")


def is_text(kind: Any) -> bool:
    """Return whether a type of Arrow is one of texts: strings, bytes that are UTF-8, or numbers of
    these in a dictionary. A column of the type null has nulls only."""
    return _is_one_of(kind, (*_STRINGS, *_BYTES, "null"))


def is_number(kind: Any) -> bool:
    """Return whether a type of Arrow is one of numbers."""
    return _is_one_of(kind, ("integer", "floating", "decimal", "null"))


def is_id(kind: Any) -> bool:
    """Return whether a type of Arrow is one of ids: texts or numbers."""
    return is_text(kind) or is_number(kind)


def is_label(kind: Any) -> bool:
    """Return whether a type of Arrow is one of labels: texts, numbers or booleans."""
    return is_id(kind) or _is_one_of(kind, ("boolean",))


ALLOWED_COLUMNS = {
    is_text: "strings",
    is_number: "numbers",
    is_id: "strings or numbers",
    is_label: "strings, numbers or booleans",
}
"""The types of columns, in words."""


def _is_one_of(kind: Any, names: tuple[str, ...]) -> bool:
    types = library("pyarrow", "reading Parquet").types
    return is_one_of(kind.value_type if types.is_dictionary(kind) else kind, names)


# ---- rows ----------------------------------------------------------------------------------------


def _of_rows(rows: Any, fields: Fields, batch_bytes: int) -> Iterator[Records]:
    """Batches of some rows, of `batch_bytes`, nearly. All rows are checked before the first."""
    texts = _strings(rows.column(fields.text), fields.text)
    fields.check_lengths(texts)
    labels = None
    if fields.label is not None:
        labels = _scalars(rows.column(fields.label), fields.check_label)
    batch = Records(texts, labels, rows if fields.records else None)
    if fields.id is not None:
        batch.ids = _scalars(rows.column(fields.id), fields.check_id)
    if fields.key is not None:
        batch.keys = _scalars(rows.column(fields.key), fields.check_key)
    pc = library("pyarrow.compute", "reading Parquet")
    ends = np.cumsum(np.asarray(pc.binary_length(texts)) + RECORD_BYTES)
    start = 0
    while start < len(texts):
        limit = (ends[start - 1] if start else 0) + batch_bytes
        stop = max(start + 1, int(np.searchsorted(ends, limit, "right")))
        yield batch.rows(start, stop)
        start = stop


def bad_rows(rows: Any, fields: Fields) -> list[tuple[int, str]]:
    """Return the rows that are no records, and what is wrong with each."""
    try:
        next(_of_rows(rows, fields, 2**62), None)
        return []
    except MixedLabels:
        raise
    except BadRecord:
        bad = []
    for row in range(len(rows)):
        try:
            next(_of_rows(rows.slice(row, 1), fields, 1), None)
        except MixedLabels as error:
            error.number = row
            raise
        except BadRecord as error:
            bad.append((row, str(error)))
    return bad


def _without(rows: Any, bad: list[tuple[int, str]], fields: Fields) -> Records:
    """Return the records of some rows but for the bad ones; texts are in a list."""
    ends = [-1, *(row for row, _ in bad), len(rows)]
    batch = Records.empty(fields)
    for before, after in itertools.pairwise(ends):
        for some in _of_rows(rows.slice(before + 1, after - before - 1), fields, 2**62):
            batch.texts.extend(some.texts.to_pylist())
            for name in ("labels", "ids", "keys"):
                if getattr(some, name) is not None:
                    getattr(batch, name).extend(getattr(some, name))
    batch.bad = [(row, f": {reason}", b"") for row, reason in bad]
    return batch


def _strings(column: Any, name: str) -> Any:
    """Return a column as Arrow's strings. It is an error if one is null or not UTF-8."""
    pa = library("pyarrow", "reading Parquet")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _is_one_of(column.type, _BYTES):
        column = column.cast(pa.large_binary()).view(pa.large_string())
    elif not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise BadRecord(f"a string in the column {name!r}", "null", row)
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for row, text in enumerate(column):
            try:
                text.as_py()
            except UnicodeDecodeError as error:
                byte = f"byte 0x{error.object[error.start]:02x} as byte {error.start + 1}"
                raise BadRecord("UTF-8", f"{byte} of the text", row) from None
        raise
    return column


def _scalars(column: Any, check: Callable[[Any, str], Any]) -> list[Any]:
    """Return the labels, ids or keys of a column."""
    checked = []
    for row, value in enumerate(column.to_pylist()):
        try:
            checked.append(check(value, "column"))
        except BadRecord as error:
            error.number = row
            raise
    return checked
