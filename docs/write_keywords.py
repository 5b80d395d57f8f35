"""Writes the types of the keywords of jobs, which type checkers read, from the options of jobs.

    python docs/write_keywords.py

A test asserts that they are current.
"""

import ast
import inspect
from pathlib import Path

from sparsemaps._tools._option_fields import Values
from sparsemaps.files import _job_options

FILE = Path(__file__).parents[1] / "sparsemaps" / "files" / "_keywords.py"

HEAD = '''\
"""The keywords of jobs, for type checkers. ``docs/write_keywords.py`` writes this file from the
options (``_job_options``)."""

import os
from collections.abc import Sequence
from typing import Any, TypedDict

from sparsemaps.files._tasks import Engine
'''


def annotations():
    """The types of the fields of each value, as they stand in the source."""
    tree = ast.parse(inspect.getsource(_job_options))
    return {
        node.name: {
            ast.unparse(field.target): ast.unparse(field.annotation).strip("'")
            for field in node.body
            if isinstance(field, ast.AnnAssign)
        }
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def values():
    """The values of all jobs, each after those whose options it has too."""
    some = (base for values in _job_options.JOBS.values() for cls in values for base in bases(cls))
    return dict.fromkeys(some)


def bases(cls):
    """A value and those that it derives from, the first ones first."""
    return [base for base in reversed(cls.__mro__) if issubclass(base, Values) and base != Values]


def text():
    """The file: a type for each value, and for each job one with the keywords of its values."""
    known, lines = annotations(), [HEAD]
    for cls in values():
        own = [base.__name__ for base in cls.__bases__ if base is not Values]
        lines += declaration(cls.__name__, own, cls.__name__)
        lines += ["", *(f"    {name}: {kind}" for name, kind in known[cls.__name__].items()), ""]
    for function, some in _job_options.JOBS.items():
        name = "".join(word.capitalize() for word in function.split("_"))
        lines += [*declaration(name, [cls.__name__ for cls in some], function), ""]
    return "\n".join(lines)


def declaration(name, of, what):
    """The first lines of a type: SimilarPairsOfFilesKeywords of similar_pairs_of_files."""
    parts = [f"{one}Keywords" for one in of] or ["TypedDict"]
    line = f"class {name}Keywords({', '.join(parts)}, total=False):"
    lines = [line] if len(line) <= 100 else [
        f"class {name}Keywords(", f"    {', '.join(parts)}, total=False", "):",
    ]  # fmt: skip
    return ["", *lines, f'    """Keywords of `{what}`."""']


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
