"""Writing of kept records, byte for byte as in their inputs."""

import os
from typing import IO, Any, NamedTuple

from sparsemaps._io import _text_input
from sparsemaps._io._progress import Progress
from sparsemaps._io._sources import is_standard
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps.files._row_source import Source
from sparsemaps.files._rows import read_raw
from sparsemaps.records._table import format_by_name


class Selection(NamedTuple):
    """An input, and the mask of its kept records."""

    input: Any
    kept: Array


def write_kept(
    source: Source, selections: list[Selection], file: IO[bytes], n_jobs: int | None, bar: Progress
) -> None:
    """Write the kept records of some inputs to one file."""
    writer = source.format(selections[0].input).writer(file)
    try:
        for input, kept in selections:
            n = 0
            for raw in read_raw(source, input, n_jobs, bar):
                writer.write(raw, kept[n : n + raw.n])
                n += raw.n
            if n != len(kept):
                raise ValueError(
                    f"{getattr(input, 'path', input)} changed during the run: it had "
                    f"{counted(len(kept), 'records')}, and now has {n}"
                )
        writer.finish()
    except BaseException:
        writer.abandon()
        raise


def check_outputs(source: Source, outputs: list[tuple[Any, list[Any]]]) -> None:
    """Raise a ValueError if the records of the inputs cannot be written to their output."""
    for output, inputs in outputs:
        formats = {source.format(input): input for input in inputs}
        if len(formats) > 1:
            one, other = list(formats.values())[:2]
            raise ValueError(
                f"{one} and {other} have different formats; write to a directory, or process "
                "one format at a time"
            )
        (format,) = formats
        if is_standard(output) and not format.is_streamed:
            raise ValueError(f"{format.title} is not written to pipes; write to a file")
        if not is_standard(output) and not hasattr(output, "write"):
            name = os.fspath(output)
            said = format_by_name(name)
            is_other = said not in (None, format) and said.has_fields
            if is_other or (
                not format.is_streamed and _text_input.ending_of(name) not in format.endings
            ):
                ending = f"let its name end in {' or '.join(format.endings)}, or in /"
                raise ValueError(
                    f"{name}: the output of {format.title} is {format.title}; "
                    + (f"{ending} for a directory" if format.endings else "give it another name")
                )
        format.check(inputs)
