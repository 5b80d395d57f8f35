"""`iter_records`: texts, labels and ids from files."""

import os
from collections.abc import Iterator
from typing import Any

from sparsemaps._io import _text_input
from sparsemaps._io._sources import expand, is_regular, is_standard
from sparsemaps._tools import _checks
from sparsemaps.text._fields import Fields, Records
from sparsemaps.text._line_records import of_lines
from sparsemaps.text._parquet_records import of_parquet

TEXT_FORMATS = ("txt", "jsonl", "parquet")

_FORMAT_OF = {
    ".txt": "txt",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}

_TABLES = ".csv", ".tsv"


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
        Files; text and JSON may be compressed (.gz, .bz2, .xz, .zst, .zstd). A directory stands for
        its files in the order of their names, a pattern with ``*``, ``?`` or ``[`` for the files
        that match, and "-" for standard input. Pipes and file objects, which are opened in binary
        mode, are not decompressed.
    field : str, default="text"
        The field of an object, or the column, that holds the text. Lines of text have no fields.
    label_field, id_field : str or None, default=None
        Fields of a label and of an id. Labels are strings, booleans or numbers; ids are strings or
        numbers.
    format : {"txt", "jsonl", "parquet"} or None, default=None
        The format of all inputs. None follows the names: .txt; .jsonl, .ndjson or .json; .parquet,
        in letters of any case. It must be given for pipes, file objects and other names.
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
        does not have the field, or the field is not a string; if an id is neither a string nor a
        finite number, or a label none of these and no boolean, or if labels are of several kinds;
        if a label or an id is a whole number of more than 64 bits. The error names the file, the
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
    "jsonl" are not records. An empty file has no records. NUL is a character like others. NaN and
    Infinity in JSON are numbers. ``"\ud800"`` and other halves of surrogate pairs are not JSON.

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
    paths: list[Any], formats: list[str], fields: Fields, batch_bytes: int, max_line_bytes: int
) -> Iterator[Records]:
    for path, format in zip(paths, formats, strict=True):
        if format == "parquet":
            batches = of_parquet(path, fields, batch_bytes)
        else:
            batches = of_lines(path, format, fields, batch_bytes, max_line_bytes)
        for batch in batches:
            batch.input = path
            yield batch


def format_of(path: Any, format: str | None, fields: Fields) -> str:
    """Return the format of an input, from the option `format` or from its name."""
    is_path = isinstance(path, (str, os.PathLike)) and not is_standard(path)
    name = (
        os.fspath(path) if is_path else "standard input" if is_standard(path) else "a file object"
    )
    base = _text_input.without_compression(name)
    known = format or _FORMAT_OF.get(_text_input.ending_of(base) if is_path else "")
    if known is None and _text_input.ending_of(base) in _TABLES:
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
            ("field", fields.text), ("label_field", fields.label), ("id_field", fields.id),
            ("keep", fields.key),
        ):  # fmt: skip
            if value is not None and (what, value) != ("field", "text"):
                raise ValueError(f"{name}: lines of text have no fields, got {what}={value!r}")
    return known


def is_text_file(path: Any) -> bool:
    """Return whether an input is texts, by its name."""
    if not isinstance(path, (str, os.PathLike)):
        return False
    return name_of_format(os.fspath(path)) is not None


def name_of_format(name: str) -> str | None:
    """Return the format of texts that the name of a file tells; None if it tells none."""
    return _FORMAT_OF.get(_text_input.ending_of(_text_input.without_compression(name)))
