"""`iter_records`: texts, labels and ids from files."""

from collections.abc import Iterator
from typing import Any

from sparsemaps._io import _text_input
from sparsemaps._io._sources import expand, open_input
from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Inputs
from sparsemaps.records import TEXT_FORMATS
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import Fields
from sparsemaps.records._format import Format
from sparsemaps.records._table import format_of


def iter_records(
    inputs: Inputs,
    *,
    field: str = "text",
    label_field: str | None = None,
    id_field: str | None = None,
    format: str | None = None,
    batch_bytes: int = 2**24,
    records: bool = True,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
    bad_records: str = "error",
) -> Iterator[Batch]:
    r"""Read the texts of files in batches.

    "txt" has one text per line, and "jsonl" (JSON Lines) one JSON object per line. "csv" has a
    header and comma-separated fields. "parquet" and "arrow" have a column for each field and are
    read with pyarrow. JSON is read with orjson, or at half the speed with the standard library,
    with the same results. Before Python 3.14, .zst is read with backports.zstd. Install these
    libraries with ``pip install "sparsemaps[text]"``.

    Parameters
    ----------
    inputs : str, path-like, file-like, or a sequence of these
        Files; text, JSON and CSV may be compressed (.gz, .bz2, .xz, .zst, .zstd). A directory is
        read as its files in the order of their names. A pattern with ``*``, ``?`` or ``[`` matches
        files, and "-" is standard input. Pipes and file objects, which must be in binary mode, are
        not decompressed.
    field : str, default="text"
        The field of an object, or the column, that holds the text. "doc.text" is the field "text"
        within "doc", unless a field has this name. Lines of text have no fields.
    label_field, id_field : str or None, default=None
        Fields of a label and of an id. Labels are strings, booleans or numbers; ids are strings or
        numbers. In CSV, both are strings.
    format : {"txt", "jsonl", "csv", "parquet", "arrow"} or None, default=None
        The format of all inputs. None follows the file names in any case: .txt; .jsonl, .ndjson or
        .json; .csv; .parquet; .arrow or .feather. Required for pipes, file objects and other names.
    batch_bytes : int, default=2**24
        Approximate number of bytes of the records in a batch. A longer record is a batch by itself.
        32 bytes are added to the size of each record, to bound batches of short records.
    records : bool, default=True
        Whether to return the raw records. For Parquet and Arrow, this reads all columns.
    max_line_bytes : int, default=2**30
        Limit of the length of a line, of a CSV record, and of a compressed Arrow record batch.
        Larger ones raise an error, since a small file can expand to fill the memory.
    bad_records : {"error", "skip"}, default="error"
        Whether a record that cannot be read raises an error or is skipped.

    Yields
    ------
    batch : Batch
        ``texts, labels, records = batch`` unpacks it; it also has `ids`, `input` and `n_bytes`. No
        batch is empty, and no batch has records of two inputs.

    Raises
    ------
    ValueError
        If a parameter is not allowed. Unless bad records are skipped: if a record is not UTF-8, not
        JSON or not an object; if the field is missing or not a string; if an id is neither a string
        nor a finite number, or a label is neither of these nor a boolean; or if a label or an id is
        a whole number of more than 64 bits. If labels are of several kinds. If a compressed or
        Parquet file is damaged. The error names the file, the line and the expected form.
    ImportError
        If a library is missing.

    See Also
    --------
    HashingVectorizer, ByteNgrams : Compute rows of such texts.

    Notes
    -----
    Lines end with ``"\n"`` or ``"\r\n"``; the last line may lack a line end. A byte order mark
    before the first line is ignored. An empty line of "txt" is an empty text; blank lines of
    "jsonl" are not records. An empty file has no records. NUL is an ordinary character. NaN and
    Infinity in JSON are numbers. ``"\ud800"`` and other unpaired surrogates are not valid JSON.

    CSV is parsed by Python's csv module. An error names the line in which the record begins. Blank
    lines are not records.

    It takes the memory of two batches, plus a page of each column for Parquet, or a record batch
    for Arrow.

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
    _checks.check_choice("bad_records", bad_records, ("error", "skip"))
    fields = Fields(field, label_field, id_field, _checks.check_bool("records", records))
    fields.sets_aside = bad_records == "skip"
    paths = expand(inputs)
    formats = [format_of(path, format, fields) for path in paths]
    return _iterate(paths, formats, fields, batch_bytes, max_line_bytes)


def _iterate(
    inputs: list[Any], formats: list[Format], fields: Fields, n_bytes: int, max_line_bytes: int
) -> Iterator[Batch]:
    for input, format in zip(inputs, formats, strict=True):
        with open_input(input, max_line_bytes) as text:
            try:
                for batch in format.batches(text, fields, n_bytes):
                    batch.input = input
                    if len(batch.texts):
                        yield batch
            except _text_input.UnreadableRecord as error:  # its advice is for jobs
                raise ValueError(error.message) from error
