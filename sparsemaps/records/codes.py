"""Packed codes (.npy), which a job accepts instead of records.

Codes have no `Format`, because records cannot be recovered from them.
"""

from typing import Any

from sparsemaps._io._paths import exists
from sparsemaps._io._sources import COMMENTS, IDS, InputFile

ENDINGS = (".npy",)
"""File name endings of codes, in lower case."""


def recipe_of(input: InputFile) -> list[Any]:
    """Return the facts that identify a file of codes, including the ids and comments of its
    rows."""
    paths = [input.path + ending for ending in (IDS, COMMENTS)]
    beside = [InputFile(path).recipe for path in paths if exists(path)]
    return [input.recipe, *beside]
