"""Text files: one text per line."""

from sparsemaps._io._text_input import BadLine
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import BadRecord, Fields
from sparsemaps.records._line_format import MARK, LineFormat, Lines, all_lines, not_utf8


class LineRecords(LineFormat):
    """One text per line; an empty line is an empty text."""

    name, title, endings = "txt", "lines of text", (".txt",)
    has_fields = False
    may_be_rows = True

    def read(self, lines: Lines, fields: Fields, into: Batch) -> None:
        try:
            text = (lines.text.removeprefix(MARK) if lines.is_first else lines.text).decode()
        except UnicodeDecodeError as error:
            raise not_utf8(error, 0) from None
        if not text:
            return
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        texts = text.removesuffix("\n").split("\n")
        try:
            fields.check_lengths(texts)
        except BadRecord as error:
            raise BadLine(error.number + 1, f": {error}", error.is_of_length) from None
        into.texts.extend(texts)
        if fields.records:
            into.records.extend(all_lines(lines))

    def lines_of_records(self, lines: Lines) -> list[bytes]:
        return [] if lines.is_first and lines.text == MARK else all_lines(lines)


FORMAT = LineRecords()
