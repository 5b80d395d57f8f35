"""Records in Arrow columns: the code that Parquet and Arrow share.

Rows are decoded in parts. A column may store a long string once and refer to it from many rows, by
a number or a view, so a small file can expand to texts that exceed the memory.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._io._text_input import UnreadableRecord, array_errors_naming
from sparsemaps._tools._blocks import cut_by_size, sums_of_rows
from sparsemaps._tools._extras import library
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Array
from sparsemaps.records._batch import OF_RECORDS, Batch, place_in
from sparsemaps.records._fields import (
    RECORD_BYTES,
    BadRecord,
    Fields,
    MixedLabels,
    names_for,
    one_column,
    remedy_for,
)
from sparsemaps.records._format import Format, Raw

PART_BYTES = 2**24
"""Bytes of strings that are decoded at once. A longer string is decoded alone."""

STRINGS = "string", "large_string", "string_view", "binary", "large_binary", "binary_view"

_VIEWS = "string_view", "binary_view"

_REPEATED = (*_VIEWS, "dictionary")
"""String types whose rows are numbers or views, so that many rows may share a string."""


class ColumnFormat(Format):
    """A format whose records are Arrow rows. A piece has `rows`, which are None in the first piece,
    and `opened`, which has the `paths` of the fields."""

    unit = "row"
    is_streamed = False
    is_table = True

    def raw(self, piece: Any, fields: Fields) -> Raw:
        if piece.rows is None:
            return Raw(0, (piece, None))
        is_good = good_rows(piece.rows, fields, piece.opened.paths)
        return Raw(int(is_good.sum()), (piece, is_good))


# ---- sizes that are claimed ----------------------------------------------------------------------

EXPANDED_BYTES, TIMES = 2**27, 2**10
"""Compressed bytes may claim to expand to `EXPANDED_BYTES`, or to `TIMES` their size. Real data
stays below both."""


def refuse_expansion(what: str, n_bytes: int, n_packed: int, most: int) -> None:
    """Raise a ValueError if compressed bytes claim an implausible size: more than `most` bytes, the
    limit of a line or row, or far more than compression achieves on data."""
    if n_bytes > most:
        limit = setting("max_line_bytes", most)
        raise ValueError(f"{what} of {n_bytes} bytes is larger than {limit}")
    if n_bytes > max(EXPANDED_BYTES, TIMES * n_packed):
        raise ValueError(
            f"{what} of {n_packed} bytes claims to hold {n_bytes}; {EXPANDED_BYTES} bytes are "
            f"allowed, or {TIMES} times the compressed ones: write the file with less compression"
        )


# ---- types of columns ----------------------------------------------------------------------------


def is_one_of(kind: object, names: tuple[str, ...]) -> bool:
    """Return whether an Arrow type is one of the named ones."""
    types = library("pyarrow", "reading Parquet").types
    tests = (getattr(types, f"is_{name}", None) for name in names)  # older releases lack views
    return any(test is not None and test(kind) for test in tests)


def is_text(kind: object) -> bool:
    """Return whether an Arrow type can hold texts: strings, UTF-8 bytes, dictionaries of these, or
    null."""
    return _holds_one_of(kind, (*STRINGS, "null"))


def is_number(kind: object) -> bool:
    """Return whether an Arrow type can hold numbers."""
    return _holds_one_of(kind, ("integer", "floating", "decimal", "null"))


def is_id(kind: object) -> bool:
    """Return whether an Arrow type can hold ids: texts or numbers."""
    return is_text(kind) or is_number(kind)


def is_label(kind: Any) -> bool:
    """Return whether an Arrow type can hold labels: texts, numbers, booleans, or lists of these."""
    if is_list(kind):
        kind = kind.value_type
    return is_id(kind) or _holds_one_of(kind, ("boolean",))


_LISTS = "list", "large_list", "fixed_size_list", "list_view", "large_list_view"


def is_list(kind: object) -> bool:
    """Return whether an Arrow type is a list."""
    return is_one_of(kind, _LISTS)


_COLUMNS = {"labels": is_label, "ids": is_id, "keys": is_number, "weights": is_number}
"""The types of the columns of each attribute of a batch."""

ALLOWED_COLUMNS = {
    is_text: "strings",
    is_number: "numbers",
    is_id: "strings or numbers",
    is_label: "strings, numbers or booleans, or lists of these,",
}
"""Error messages' words for the types of columns."""


def _holds_one_of(kind: Any, names: tuple[str, ...]) -> bool:
    """Return whether an Arrow type, or the type of the values of a dictionary, is one of the named
    ones."""
    types = library("pyarrow", "reading Parquet").types
    return is_one_of(kind.value_type if types.is_dictionary(kind) else kind, names)


# ---- the columns of fields -----------------------------------------------------------------------


class FieldPath(NamedTuple):
    """The path to a field: the names of the nested columns, outermost first, and the type of the
    values."""

    names: tuple[str, ...]
    kind: Any

    def of(self, rows: Any) -> Any:
        """Return the values of the rows; null if an enclosing column is null."""
        column = rows.column(self.names[0])
        if len(self.names) > 1:
            pc = library("pyarrow.compute", "reading Parquet")
            column = pc.struct_field(column, list(self.names[1:]))
        return column


def _path_of(columns: Any, field: str) -> FieldPath | None:
    """Return the path of a field among columns. A column whose name contains dots takes
    precedence."""
    types = library("pyarrow", "reading Parquet").types
    named = [column for column in columns if column.name == field]
    if named:
        return FieldPath((field,), named[0].type) if len(named) == 1 else None
    for place, character in enumerate(field):
        if character != ".":
            continue
        outer = [column for column in columns if column.name == field[:place]]
        if len(outer) == 1 and types.is_struct(outer[0].type):
            inner = _path_of(list(outer[0].type), field[place + 1 :])
            if inner is not None:
                return FieldPath((field[:place], *inner.names), inner.kind)
    return None


def _inner_names(schema: Any, path: str) -> list[str] | None:
    """Return the names of the fields of a struct; None if the path leads to no struct."""
    found = _path_of(list(schema), path)
    types = library("pyarrow", "reading Parquet").types
    return [one.name for one in found.kind] if found and types.is_struct(found.kind) else None


def paths_of(schema: Any, fields: Fields, name: str) -> dict[str, FieldPath]:
    """Return the paths of all requested fields. Raise ValueError if a column is missing or has the
    wrong type."""
    roles = [(fields.text, is_text)]
    roles += [(one.name, _COLUMNS[one.values]) for one in fields.besides_text]
    paths: dict[str, FieldPath] = {}
    for field, _ in roles:
        if field in paths:
            continue
        path = _path_of(list(schema), field)
        if path is None:
            columns = names_for(field, schema.names, partial(_inner_names, schema)) or "no columns"
            found = f"{columns}{remedy_for(field)}"
            raise ValueError(f"{name}: expected {one_column(field)}; found {found}")
        paths[field] = path
        for role, is_allowed in roles:
            if field == role and not is_allowed(path.kind):
                what = ALLOWED_COLUMNS[is_allowed]
                raise ValueError(
                    f"{name}: expected {what} in the column {field!r}; found {path.kind}"
                )
    return paths


# ---- rows that are decoded -----------------------------------------------------------------------


def errors_named(items: Iterator[Any], name: str) -> Iterator[Any]:
    """Yield the items. Errors of Arrow, which produces them, name the file."""
    while True:
        with array_errors_naming(name):
            item = next(items, None)
        if item is None:
            return
        yield item


def cut(rows: Any, paths: dict[str, FieldPath], n_bytes: int = PART_BYTES) -> Iterator[Any]:
    """Yield the rows in order, in parts of at most `n_bytes` of strings stored as numbers or views.
    A larger row is a part by itself."""
    for start, stop in cut_by_size(string_bytes(rows, paths), n_bytes):
        yield rows.slice(start, stop - start)


def string_bytes(rows: Any, paths: dict[str, FieldPath]) -> Array:
    """Return the number of bytes of each row in strings stored as numbers or views."""
    nested = [path.of(rows) for path in paths.values() if len(path.names) > 1]
    return _string_bytes([*rows.columns, *nested], len(rows))


def _string_bytes(columns: list[Any], n_rows: int) -> Array:
    """Return the number of bytes of each row in strings that numbers or views may repeat."""
    types = library("pyarrow", "reading Parquet").types
    pc = library("pyarrow.compute", "reading Parquet")
    sizes = np.zeros(n_rows, np.int64)
    for column in columns:
        if is_one_of(column.type, _VIEWS):
            sizes += _lengths_of_views(column)
        elif types.is_dictionary(column.type) and is_one_of(column.type.value_type, STRINGS):
            strings = column.dictionary
            if is_one_of(strings.type, _VIEWS):
                own = _lengths_of_views(strings)
            else:
                own = np.asarray(pc.fill_null(pc.binary_length(strings), 0))
            lengths = np.append(own, 0)
            sizes += lengths[np.asarray(pc.fill_null(column.indices, len(strings)), np.int64)]
        elif is_list(column.type) and is_one_of(column.type.value_type, _REPEATED):
            values = column.flatten()  # of all lists, concatenated
            ends = np.cumsum(np.asarray(pc.fill_null(pc.list_value_length(column), 0), np.int64))
            sizes += sums_of_rows(_string_bytes([values], len(values)), ends)
    return sizes


def _lengths_of_views(column: Any) -> Array:
    """Return the lengths of string views. A view has 16 bytes and begins with the length."""
    if not len(column):
        return np.zeros(0, np.int64)
    views = np.frombuffer(column.buffers()[1], "<i4", 4 * len(column), 16 * column.offset)
    return views[::4].astype(np.int64)


# ---- rows ----------------------------------------------------------------------------------------


def batches_of(
    rows: object,
    fields: Fields,
    paths: dict[str, FieldPath],
    n_bytes: int,
    n_before: int,
    name: str,
) -> Iterator[Batch]:
    """Yield batches of about `n_bytes`; `n_before` rows of the file precede the rows. Bad rows are
    set aside or raise an error."""
    try:
        bad = bad_rows(rows, fields, paths) if fields.sets_aside else []
        if bad:
            yield _without(rows, bad, fields, paths)
        else:
            yield from _of_rows(rows, fields, paths, n_bytes)
    except BadRecord as error:
        row = n_before + error.number + 1
        message = f"{name}: {ColumnFormat.unit} {row}: {error}"
        raise UnreadableRecord(message, row, error.is_of_length) from None


def _of_rows(
    rows: Any, fields: Fields, paths: dict[str, FieldPath], n_bytes: int
) -> Iterator[Batch]:
    """Yield batches of about `n_bytes`. All rows are checked before the first batch."""
    texts = _strings(paths[fields.text].of(rows), fields.text)
    fields.check_lengths(texts)
    batch = Batch(texts, records=rows if fields.records else None, n_lines=len(rows))
    for one in fields.besides_text:
        setattr(batch, one.values, _scalars(paths[one.name].of(rows), one.check))
    pc = library("pyarrow.compute", "reading Parquet")
    sizes = np.asarray(pc.binary_length(texts), np.int64) + RECORD_BYTES
    for start, stop in cut_by_size(sizes, n_bytes):
        yield batch.rows(start, stop)


def bad_rows(rows: Any, fields: Fields, paths: dict[str, FieldPath]) -> list[tuple[int, str]]:
    """Return the bad rows with their reasons."""
    try:
        next(_of_rows(rows, fields, paths, 2**62), None)
        return []
    except MixedLabels:
        raise
    except BadRecord:
        bad = []
    for row in range(len(rows)):
        try:
            next(_of_rows(rows.slice(row, 1), fields, paths, 1), None)
        except MixedLabels as error:
            error.number = row
            raise
        except BadRecord as error:
            bad.append((row, str(error)))
    return bad


def good_rows(rows: Any, fields: Fields, paths: dict[str, FieldPath]) -> Array:
    """Return a mask of the rows that are records: all rows, unless bad ones are set aside."""
    is_good = np.ones(len(rows), bool)
    if fields.sets_aside:
        is_good[[row for row, _ in bad_rows(rows, fields, paths)]] = False
    return is_good


def _without(
    rows: Any, bad: list[tuple[int, str]], fields: Fields, paths: dict[str, FieldPath]
) -> Batch:
    """Return the good rows as a batch whose texts are a list."""
    ends = [-1, *(row for row, _ in bad), len(rows)]
    batch, good = Batch.empty(fields), list[int]()
    for before, after in itertools.pairwise(ends):
        good += range(before + 1, after)
        for some in _of_rows(rows.slice(before + 1, after - before - 1), fields, paths, 2**62):
            batch.texts.extend(some.texts.to_pylist())
            for name in OF_RECORDS:
                if name not in ("texts", "records") and getattr(some, name) is not None:
                    getattr(batch, name).extend(getattr(some, name))
    if fields.records:
        batch.records = _some_rows(rows, good)
    batch.bad = [(row, f": {reason}", b"") for row, reason in bad]
    batch.n_lines, batch.line_of = len(rows), partial(place_in, good)
    return batch


def _some_rows(rows: Any, places: list[int]) -> Any:
    """Return the rows at the given places."""
    pa = library("pyarrow", "reading Parquet")
    is_one = np.zeros(len(rows), bool)
    is_one[places] = True
    columns = [column.chunk(0) for column in chosen(rows, is_one).columns]
    return pa.RecordBatch.from_arrays(columns, schema=rows.schema)


def _strings(column: Any, name: str) -> Any:
    """Return a column as Arrow strings. Raise `BadRecord` if a value is null or not UTF-8."""
    pa = library("pyarrow", "reading Parquet")
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if _holds_one_of(column.type, ("binary", "large_binary", "binary_view")):
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


def _scalars(column: object, check: Callable[[Any, str], Any]) -> list[Any]:
    """Return the labels, ids, keys or weights of a column."""
    checked = []
    for row, value in enumerate(_values(column)):
        try:
            checked.append(check(value, "column"))
        except BadRecord as error:
            error.number = row
            raise
    return checked


def _values(column: Any) -> Iterable[Any]:
    """Return the values of a column. The values of lists are generated lazily, since a list may
    repeat a long string many times."""
    if not is_list(column.type):
        return _values_of_scalars(column)
    types = library("pyarrow", "reading Parquet").types
    if not types.is_dictionary(column.type.value_type):
        return (map(_value_of, some.values) if some.is_valid else None for some in column)
    words = dict(enumerate(_values_of_scalars(column.values.dictionary)))  # which has no None
    lists = (some.values.indices.to_pylist() if some.is_valid else None for some in column)
    return (None if some is None else map(words.get, some) for some in lists)


def _values_of_scalars(column: Any) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except UnicodeDecodeError:
        values = list(map(_value_of, column))
    return values


def _value_of(scalar: Any) -> Any:
    """Return the value of an Arrow scalar: of a string that is not UTF-8 the bytes, for which the
    checks of fields raise `BadRecord`."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        return error.object


# ---- rows that are written back ------------------------------------------------------------------


def chosen(rows: Any, kept: Array) -> Any:
    """Return a table of the rows for which `kept` is true."""
    pa = library("pyarrow", "writing Parquet")
    mask = pa.array(kept)

    def some(column: Any) -> Any:
        try:
            return column.filter(mask)
        except pa.ArrowNotImplementedError:  # string views
            return column.cast(_without_views(column.type)).filter(mask).cast(column.type)

    columns = [some(column) for column in rows.columns]
    return pa.Table.from_arrays(columns, schema=rows.schema)


def _without_views(type: Any) -> Any:
    """Return a type with strings in place of string views."""
    pa = library("pyarrow", "writing Parquet")
    types = pa.types

    def inner(field: Any) -> Any:
        return field.with_type(_without_views(field.type))

    if types.is_string_view(type):
        return pa.large_string()
    if types.is_binary_view(type):
        return pa.large_binary()
    if types.is_struct(type):
        return pa.struct([inner(field) for field in type])
    if types.is_map(type):
        return pa.map_(inner(type.key_field), inner(type.item_field))
    if types.is_fixed_size_list(type):
        return pa.list_(inner(type.value_field), type.list_size)
    if types.is_list(type) or types.is_large_list(type):
        make = pa.list_ if types.is_list(type) else pa.large_list
        return make(inner(type.value_field))
    return type
