"""Choice of the format of an input."""

import importlib
import os
from typing import Any

from sparsemaps._io import _text_input
from sparsemaps._io._sources import is_regular, is_standard
from sparsemaps._tools._parameters import named, setting
from sparsemaps.records import TEXT_FORMATS, codes
from sparsemaps.records._fields import Fields
from sparsemaps.records._format import Format

FORMATS: dict[str, Format] = {
    name: importlib.import_module(f"sparsemaps.records.{module}").FORMAT
    for name, module in TEXT_FORMATS.items()
}
"""Text formats by name."""

ENDINGS = {ending: format for format in FORMATS.values() for ending in format.endings}
"""Text formats by file name ending."""


def format_by_name(name: object) -> Format | None:
    """Return the format of a file by its name, ignoring an ending of compression; None for unknown
    endings and objects other than paths."""
    if not isinstance(name, (str, os.PathLike)):
        return None
    return ENDINGS.get(_text_input.ending_of(_text_input.without_compression(os.fspath(name))))


def format_of(input: Any, format: str | None, fields: Fields) -> Format:
    """Return the format of a text input, from the option `format` or else from its name."""
    name, is_stream = "a file object", False
    if isinstance(input, (str, os.PathLike)):
        name = "standard input" if is_standard(input) else os.fspath(input)
        is_stream = not is_regular(input)
    known = format_by_name(input) if format is None else FORMATS[format]
    base = _text_input.without_compression(name)
    if known is None and _text_input.ending_of(base) == ".tsv":
        make = f"pandas.read_csv({name!r}, sep='\\t').to_csv('x.csv', index=False)"
        raise ValueError(f"{name}: tab-separated columns are not read; convert them to CSV: {make}")
    if known is None:
        option = named("text_format", "format")
        formats = " or ".join(TEXT_FORMATS)
        raise ValueError(
            f"{name}: {option} must be given ({formats}), as the name does not end in "
            f"{', '.join(ENDINGS)}"
        )
    if not known.is_streamed and (is_stream or base != name):
        raise ValueError(f"{name}: {known.title} cannot be read from pipes or compressed files")
    if not known.has_fields:
        given = [] if fields.text == "text" else [("field", fields.text)]
        given += [(one.option, one.name) for one in fields.besides_text]
        if given:
            raise ValueError(f"{name}: {known.title} have no fields, got {setting(*given[0])}")
    return known


def cannot_be_rows(path: object) -> bool:
    """Return whether the name of a file rules out LIBSVM text."""
    known = format_by_name(path)
    return known is not None and not known.may_be_rows


def holds_codes(input: object) -> bool:
    """Return whether an input is a file of packed codes, judged by its name."""
    return is_regular(input) and _text_input.ending_of(os.fspath(input)) in codes.ENDINGS
