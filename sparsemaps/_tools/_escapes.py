"""Texts in tab-separated tables and in lines of a terminal.

A name may contain any characters. All tables are written with `escaped`, and all lines on a
terminal with `print_line`, so that no name can end a column or a line, or move the cursor.
"""

import re
import sys
import unicodedata

_NAMED = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_TEXTS = {escape: text for text, escape in _NAMED.items()}

_IN_TABLES = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that are escaped in tables: the backslash, and those that control a terminal or end a
line for some program."""

_ESCAPE = re.compile(r"\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4})")


def escaped(text: str) -> str:
    r"""Escape a text for one column of one line: a tab becomes ``\t``, a backslash ``\\``, the
    escape character ``\x1b``."""
    return _IN_TABLES.sub(lambda match: _escape_of(match[0]), text)


def unescaped(column: str) -> str:
    """Return the text of an escaped column."""
    return _ESCAPE.sub(lambda match: _text_of(match[0]), column)


def as_column(column: str) -> str:
    """Return a column in the form that `escaped` writes. The column may come from an untrusted
    file."""
    return escaped(unescaped(column)) if _IN_TABLES.search(column) else column


def print_line(line: str, *, error: bool = False) -> None:
    """Print a line to standard output or standard error. Tabs are kept; other characters that are
    not displayed as themselves are escaped."""
    print(terminal_line(line), file=sys.stderr if error else sys.stdout)


def terminal_line(line: str) -> str:
    """Escape a line so that it displays every character and cannot move the cursor."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(
        character if _is_shown(character) else _escape_of(character) for character in line
    )


def _is_shown(character: str) -> bool:
    is_blank = character == "\t" or unicodedata.category(character) == "Zs"
    return is_blank or character.isprintable()


def _escape_of(character: str) -> str:
    code = ord(character)
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _NAMED.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def _text_of(escape: str) -> str:
    return _TEXTS.get(escape) or chr(int(escape[2:], 16))
