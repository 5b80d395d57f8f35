"""Numbers with their nouns."""

import re

_ENDING = re.compile("(?<=ss|sh)es$|s$")


def counted(n: object, plural: str, form: str = "") -> str:
    """Return a number with its noun, which is singular if the number is 1. The noun is the last
    word of `plural`; `form` formats the number.

    >>> counted(1, "own entries"), counted(1, "passes"), counted(1000, "rows", ",")
    ('1 own entry', '1 pass', '1,000 rows')
    """
    noun = plural if n != 1 else _ENDING.sub("", plural.replace("entries", "entry"))
    return f"{n:{form}} {noun}"
