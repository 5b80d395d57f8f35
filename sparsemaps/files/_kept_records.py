"""Records of inputs that are kept, byte for byte: lines, and rows of Parquet."""

import io
import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any, NamedTuple

from sparsemaps._io import _text_input
from sparsemaps._io._progress import Progress
from sparsemaps._io._sources import is_standard, open_input
from sparsemaps._tools._extras import library
from sparsemaps._tools._typing import Array
from sparsemaps.files._rows import read_each
from sparsemaps.files._text_rows import Source, TextRows
from sparsemaps.text._line_records import MARK
from sparsemaps.text._parquet_rows import PART_BYTES, Opened, decoded, open_parquet
from sparsemaps.text._records import name_of_format

PARQUET = "parquet"


class Selection(NamedTuple):
    """An input, and which of its records are kept."""

    input: Any
    kept: Array


def write_kept(
    source: Source, selections: list[Selection], file: IO[bytes], n_jobs: int | None, bar: Progress
) -> None:
    """Write the records that are kept of some inputs to one file."""
    if isinstance(source, TextRows) and source.format_of(selections[0].input) == PARQUET:
        _write_groups(source, selections, file, bar)
    else:
        _write_lines(source, selections, file, n_jobs, bar)


def check_outputs(source: Source, outputs: list[tuple[Any, list[Any]]]) -> None:
    """Raise a ValueError where records of the inputs of an output cannot go there."""
    for output, inputs in outputs:
        formats = {source.format_of(input): input for input in inputs}
        if len(formats) > 1:
            one, other = list(formats.values())[:2]
            raise ValueError(
                f"{one} and {other} are of different formats; write to a directory, or take one "
                "format at a time"
            )
        is_parquet = PARQUET in formats
        if is_standard(output) and is_parquet:
            raise ValueError("Parquet is not written to pipes; write to a file")
        if not is_standard(output) and not hasattr(output, "write"):
            name = os.fspath(output)
            ends_so = name_of_format(name) == PARQUET
            if ends_so and not is_parquet:
                raise ValueError(f"{name}: the inputs are no Parquet; give the output another name")
            if is_parquet and _text_input.ending_of(name) != ".parquet":
                raise ValueError(
                    f"{name}: the output of Parquet is Parquet; let its name end in .parquet, or "
                    "be that of a directory"
                )
        if is_parquet:
            _check_parquet(inputs)


def _check_number(input: Any, n_records: int, n_before: int) -> None:
    if n_records != n_before:
        raise ValueError(
            f"{getattr(input, 'path', input)} has changed meanwhile: it had {n_before} records, "
            f"and has {n_records}"
        )


# ---- lines ---------------------------------------------------------------------------------------


def _write_lines(
    source: Source, selections: list[Selection], file: IO[bytes], n_jobs: int | None, bar: Progress
) -> None:
    last = b""  # byte that was written
    for input, kept in selections:
        n = 0
        for records in read_each(source, input, source.records, n_jobs=n_jobs, bar=bar):
            some = kept[n : n + len(records)]
            lines = b"".join(itertools.compress(records, some))
            if last and n == 0 and some[:1].all():
                lines = lines.removeprefix(MARK)  # which stands at the beginning of files only
            if lines:
                file.write(lines if last in (b"", b"\n") else b"\n" + lines)
                last = lines[-1:]
            n += len(records)
        _check_number(input, n, len(kept))


# ---- Parquet -------------------------------------------------------------------------------------

INT96 = "use_deprecated_int96_timestamps"


def _check_parquet(inputs: list[Any]) -> None:
    """Raise a ValueError where the rows of Parquet files would not be written as they are, or where
    the rows of several cannot stand in one."""
    schemas = []
    for input in inputs:
        if hasattr(input, "read") and not input.seekable():
            return  # its columns are checked when it is read for the output
        with _text_input.array_errors_naming(_name(input)), _opened(input) as source:
            has_int96 = _writer_options(source)[INT96]
            schemas.append((source.schema_arrow, _kinds(source)))
        if has_int96:
            _check_instants(input)
    for input, schema in zip(inputs, schemas, strict=True):
        if not schema[0].equals(schemas[0][0]) or schema[1] != schemas[0][1]:
            raise ValueError(
                f"{_name(inputs[0])} and {_name(input)} have different columns; write to a "
                "directory"
            )


def _name(input: Any) -> str:
    return "a file object" if hasattr(input, "read") else os.fspath(input)


@contextmanager
def _opened(input: Any, **options: Any) -> Iterator[Any]:
    """Yield a file of Parquet; a file object is where it was afterwards."""
    parquet = library("pyarrow.parquet", "reading Parquet")
    place = input.tell() if hasattr(input, "read") else 0
    file = parquet.ParquetFile(input, **options)
    try:
        yield file
    finally:
        file.close()
        if hasattr(input, "read"):
            input.seek(place)


def _writer_options(source: Any) -> dict[str, Any]:
    """Options of a writer by which the columns of a file keep their types; a ValueError if there
    are none.

    Several types of Parquet become one of Arrow, which becomes one of Parquet. So the columns of a
    file without rows, which is written for it, are compared.
    """
    parquet = library("pyarrow.parquet", "writing Parquet")
    kinds = _kinds(source)
    reasons = []
    for version in ("2.6", "1.0"):  # in 1.0, unsigned integers of 32 bits have 64
        options = {
            "version": version,
            "compression": _compression(source.metadata),
            INT96: any(kind.startswith("INT96") for _, kind in kinds),
        }
        trial = io.BytesIO()
        parquet.ParquetWriter(trial, source.schema_arrow, **options).close()
        written = parquet.ParquetFile(trial)
        reason = _difference(kinds, _kinds(written))
        if reason is None and not written.schema_arrow.equals(source.schema_arrow):
            reason = f"{source.schema_arrow} would be read as {written.schema_arrow}"
        if reason is None:
            return options
        reasons.append(reason)
    raise ValueError(f"not all columns would keep their types: {reasons[0]}")


def _kinds(file: Any) -> list[tuple[str, str]]:
    """Return the path and the type of each column of values, the same for types of equal
    meaning."""
    kinds = []
    for i in range(file.metadata.num_columns):
        column = file.schema.column(i)
        kind, meaning = column.physical_type, str(column.logical_type)
        meaning = meaning.partition(", is_from_converted_type")[0]
        if meaning.startswith("Decimal"):  # of integers or of bytes
            kind = ""
        elif kind == "FIXED_LEN_BYTE_ARRAY":
            kind += f" of {column.length} bytes"
        elif meaning in ("Int(bitWidth=32, isSigned=true)", "Int(bitWidth=64, isSigned=true)"):
            meaning = "None"
        kinds.append((column.path, f"{kind} {meaning}"))
    return kinds


def _difference(kinds: list[tuple[str, str]], written: list[tuple[str, str]]) -> str | None:
    """Return words for the first column of another type; names within lists do not matter."""
    if len(kinds) != len(written):
        return f"{len(kinds)} columns of values would be {len(written)}"
    for (path, kind), (_, other) in zip(kinds, written, strict=True):
        if kind != other:
            return f"{path!r} of type {kind.strip()} would be of type {other.strip()}"
    return None


def _check_instants(input: Any) -> None:
    """Raise a ValueError where a time of type INT96 is beyond Arrow's nanoseconds, as it would be
    read as another time."""
    unit = {"coerce_int96_timestamp_unit": "ms"}
    with (
        _text_input.array_errors_naming(_name(input)),
        _opened(input) as source,
        _opened(input, **unit) as in_milliseconds,
    ):
        paths = [path for path, kind in _kinds(source) if kind.startswith("INT96")]
        types: dict[str, list[Any]] = {}  # several columns may have one name
        for field in source.schema_arrow:
            if any(f"{path}.".startswith(f"{field.name}.") for path in paths):
                types.setdefault(field.name, []).append(field.type)
        for group in range(source.num_row_groups):
            for name, own in types.items():
                times = in_milliseconds.read_row_group(group, [name], use_threads=False)
                found = zip(times.column_names, times.columns, strict=True)
                columns = [column for other, column in found if other == name]
                for column, kind in zip(columns, own, strict=True):
                    column.cast(kind)


def _write_groups(
    source: TextRows, selections: list[Selection], file: IO[bytes], bar: Progress
) -> None:
    """Write the kept rows of each group of rows, as several groups if these have many bytes."""
    parquet = library("pyarrow.parquet", "writing Parquet")
    with ExitStack() as stack:
        writer = None
        for input, kept in selections:
            with open_input(input) as text, _text_input.array_errors_naming(str(text.name)):
                update = bar.reading(text)
                opened = open_parquet(text.file)
                if writer is None:
                    options = _writer_options(parquet.ParquetFile(text.file))
                    writer = stack.enter_context(
                        parquet.ParquetWriter(file, opened.schema, **options)
                    )
                n = 0
                for group in range(opened.file.num_row_groups):
                    parts, n_bytes = [], 0
                    for part in _decoded_parts(opened, group):
                        is_kept = source.good_rows(part)
                        n_good = int(is_kept.sum())
                        is_kept[is_kept] = kept[n : n + n_good]
                        n += n_good
                        update(len(part))
                        parts.append(_chosen(part, is_kept))
                        n_bytes += parts[-1].nbytes
                        if n_bytes > _GROUP_BYTES:
                            _write_group(writer, parts)
                            parts, n_bytes = [], 0
                    _write_group(writer, parts)
            _check_number(input, n, len(kept))


def _decoded_parts(opened: Opened, group: int) -> Iterator[Any]:
    """Yield the rows of a group, decoded some at a time."""
    for batch in opened.batches(PART_BYTES, row_groups=[group], use_threads=False):
        yield from decoded(batch, opened.schema)


_GROUP_BYTES = 2**28
"""Bytes of rows that are written as a group."""


def _write_group(writer: Any, parts: list[Any]) -> None:
    """Write tables as a group of rows, unless they have none."""
    pa = library("pyarrow", "writing Parquet")
    some = pa.concat_tables(parts) if parts else ()
    if len(some):
        writer.write_table(some, row_group_size=len(some))


def _chosen(rows: Any, kept: Array) -> Any:
    pa = library("pyarrow", "writing Parquet")
    mask = pa.array(kept)

    def chosen(column: Any) -> Any:
        try:
            return column.filter(mask)
        except pa.ArrowNotImplementedError:  # of views of strings
            return column.cast(_without_views(column.type)).filter(mask).cast(column.type)

    columns = [chosen(column) for column in rows.columns]
    return pa.Table.from_arrays(columns, schema=rows.schema)


def _without_views(type: Any) -> Any:
    """Return a type with strings in place of views of strings."""
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


def _compression(metadata: Any) -> Any:
    if not metadata.num_row_groups:
        return "snappy"
    columns = (metadata.row_group(0).column(i) for i in range(metadata.num_columns))
    return {
        column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE")
        for column in columns
    }
