"""Texts in tables whose columns tabs separate: a tab is written as ``\\t``, and so on."""

import re

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_TABLE = str.maketrans(_ESCAPES)
_TEXTS = {escape: text for text, escape in _ESCAPES.items()}


def escaped(text: str) -> str:
    """A text in one column of one line."""
    return text.translate(_TABLE)


def unescaped(column: str) -> str:
    """The text of a column."""
    return re.sub(r"\\[\\tnr]", lambda match: _TEXTS[match[0]], column)
