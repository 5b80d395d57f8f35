"""Packed codes (.npy), which a job takes instead of records.

They have no `Format`, because records cannot be read from codes.
"""

from typing import Any

from sparsemaps._io._paths import exists
from sparsemaps._io._sources import COMMENTS, IDS, InputFile

ENDINGS = (".npy",)
"""The endings of the names of files of codes, in small letters."""


def recipe_of(input: InputFile) -> list[Any]:
    """Return the facts that decide a file of codes, and the ids and comments of its rows."""
    paths = [input.path + ending for ending in (IDS, COMMENTS)]
    beside = [InputFile(path).recipe for path in paths if exists(path)]
    return [input.recipe, *beside]
