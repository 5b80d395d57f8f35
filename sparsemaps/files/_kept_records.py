"""Records of inputs that are kept, byte for byte: lines, and rows of Parquet."""

import itertools
import os
from contextlib import ExitStack
from typing import IO, Any, NamedTuple

from sparsemaps._tools import _output_files, _text_input
from sparsemaps._tools._extras import library
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import is_pipe, open_input
from sparsemaps._tools._typing import Array
from sparsemaps.files._rows import Source, read_counted
from sparsemaps.files._text_rows import TextRows
from sparsemaps.text._records import MARK

PARQUET = "parquet"


class Selection(NamedTuple):
    """An input, and which of its records are kept."""

    input: Any
    kept: Array


def write_kept(
    source: Source,
    selections: list[Selection],
    output: Any,
    n_jobs: int | None,
    bar: FileProgress,
) -> None:
    """Write the records that are kept of some inputs to one output, complete or not at all."""
    is_parquet = format_of(source, selections[0].input) == PARQUET
    with ExitStack() as stack:
        file = output
        if not hasattr(output, "write"):
            file = stack.enter_context(_output_files.atomic_output(output))
        if is_parquet:
            _write_groups(selections, file, bar)
        else:
            _write_lines(source, selections, file, n_jobs, bar)


def format_of(source: Source, input: Any) -> str:
    """The format of an input, by which records are told apart."""
    return source.format_of(input) if isinstance(source, TextRows) else "svmlight"


def check_outputs(source: Source, outputs: list[tuple[Any, list[Any]]]) -> None:
    """Raise a ValueError where records of the inputs of an output cannot go there."""
    for output, inputs in outputs:
        formats = {format_of(source, input): input for input in inputs}
        if len(formats) > 1:
            one, other = list(formats.values())[:2]
            raise ValueError(
                f"{one} and {other} are of different formats; write to a directory, or take one "
                "format at a time"
            )
        _check_name(output, PARQUET in formats)
        if PARQUET in formats:
            _check_schemas(inputs)


def _check_name(output: Any, is_parquet: bool) -> None:
    if hasattr(output, "write"):
        return
    if is_pipe(output):
        if is_parquet:
            raise ValueError("Parquet is not written to pipes; write to a file")
        return
    name = os.fspath(output)
    ends_so = _text_input.without_compression(name).endswith(".parquet")
    if ends_so and not is_parquet:
        raise ValueError(f"{name}: the inputs are no Parquet; give the output another name")
    if is_parquet and not name.endswith(".parquet"):
        raise ValueError(
            f"{name}: the output of Parquet is Parquet; let its name end in .parquet, or be that "
            "of a directory"
        )


def _check_schemas(inputs: list[Any]) -> None:
    """Raise a ValueError where rows of Parquet files cannot stand in one."""
    if len(inputs) == 1:
        return
    parquet = library("pyarrow.parquet", "reading Parquet", "text")
    schemas = []
    for path in inputs:
        with _text_input.arrays_of(str(path)):
            schemas.append(parquet.read_schema(path))
    for path, schema in zip(inputs, schemas, strict=True):
        if not schema.equals(schemas[0]):
            raise ValueError(f"{inputs[0]} and {path} have different columns; write to a directory")


def _check_number(input: Any, n_records: int, n_before: int) -> None:
    if n_records != n_before:
        raise ValueError(
            f"{getattr(input, 'path', input)} has changed meanwhile: it had {n_before} records, "
            f"and has {n_records}"
        )


# ---- lines ---------------------------------------------------------------------------------------


def _write_lines(
    source: Source,
    selections: list[Selection],
    file: IO[bytes],
    n_jobs: int | None,
    bar: FileProgress,
) -> None:
    def take(piece: Any) -> tuple[tuple[list[bytes], int], int]:
        records = source.records(piece)
        return (records, len(records)), 0

    last = b""  # byte that was written
    for input, kept in selections:
        n = 0
        for records in read_counted(source, input, take, n_jobs=n_jobs, bar=bar):
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


def _write_groups(selections: list[Selection], file: IO[bytes], bar: FileProgress) -> None:
    """Groups of rows, each without those that are not kept."""
    parquet = library("pyarrow.parquet", "writing Parquet", "text")
    pa = library("pyarrow", "writing Parquet", "text")
    with ExitStack() as stack:
        writer = None
        for input, kept in selections:
            with open_input(input) as text, _text_input.arrays_of(str(text.name)):
                update = bar.reading(text)
                source = parquet.ParquetFile(text.file)
                if writer is None:
                    writer = stack.enter_context(
                        parquet.ParquetWriter(
                            file, source.schema_arrow, compression=_compression(source.metadata)
                        )
                    )
                n = 0
                for group in range(source.num_row_groups):
                    rows = source.read_row_group(group, use_threads=False)
                    some = rows.filter(pa.array(kept[n : n + len(rows)]))
                    if len(some):
                        writer.write_table(some, row_group_size=len(some))
                    n += len(rows)
                    update(len(rows))
            _check_number(input, n, len(kept))


def _compression(metadata: Any) -> Any:
    """How each column of a file is compressed."""
    if not metadata.num_row_groups:
        return "snappy"
    columns = (metadata.row_group(0).column(i) for i in range(metadata.num_columns))
    return {
        column.path_in_schema: column.compression.replace("UNCOMPRESSED", "NONE")
        for column in columns
    }
