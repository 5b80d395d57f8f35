"""Texts in tables whose columns tabs separate, and in lines of a terminal.

A name may have any characters. All tables are written by `escaped`, and all lines of a terminal by
`print_line`, so that no name ends a column or a line, or moves the cursor.
"""

import re
import sys
import unicodedata

_NAMED = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_TEXTS = {escape: text for text, escape in _NAMED.items()}

_IN_TABLES = re.compile("[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""The characters that are escaped in tables: the backslash, and those that control a terminal or
end a line for some program."""

_ESCAPE = re.compile(r"\\(?:[\\tnr]|x[0-9a-f]{2}|u[0-9a-f]{4})")


def escaped(text: str) -> str:
    r"""Return a text as one column of one line: a tab is ``\t``, a backslash ``\\``, the escape
    character ``\x1b``."""
    return _IN_TABLES.sub(lambda match: _escape_of(match[0]), text)


def unescaped(column: str) -> str:
    """Return the text of a column."""
    return _ESCAPE.sub(lambda match: _text_of(match[0]), column)


def as_column(column: str) -> str:
    """Return a column as `escaped` writes it, of a file that anybody may have written."""
    return escaped(unescaped(column)) if _IN_TABLES.search(column) else column


def print_line(line: str, *, error: bool = False) -> None:
    """Print a line to standard output or standard error. Tabs stay; other characters that are not
    shown as themselves are escaped."""
    print(terminal_line(line), file=sys.stderr if error else sys.stdout)


def terminal_line(line: str) -> str:
    """Return a line that shows each character and moves no cursor."""
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
