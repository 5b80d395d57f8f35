"""Writes the types of the keywords of jobs, which type checkers read, from the options of jobs.

    python docs/write_keywords.py

A test asserts that they are current.
"""

import ast
import inspect
from pathlib import Path

from sparsemaps._tools._option_fields import options_of
from sparsemaps.files import _job_options

FILE = Path(__file__).parents[1] / "sparsemaps" / "files" / "_keywords.py"

HEAD = '''\
"""The keywords of jobs, for type checkers. ``docs/write_keywords.py`` writes this file from the
options (``_job_options``)."""

import os
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


def types_of(cls, known):
    """The types of all fields of a value, those of its bases included."""
    return {k: v for base in reversed(cls.__mro__) for k, v in known.get(base.__name__, {}).items()}


def text():
    """The file."""
    known, lines = annotations(), [HEAD]
    for function, values in _job_options.JOBS.items():
        lines += ["", f"class {name_of(function)}(TypedDict, total=False):"]
        lines += [f'    """Those of `{function}`."""', ""]
        for cls in values:
            types = types_of(cls, known)
            lines += [f"    {option.name}: {types[option.name]}" for option in options_of(cls)]
        lines.append("")
    return "\n".join(lines)


def name_of(function):
    """The name of the type: SimilarPairsOfFilesKeywords of similar_pairs_of_files."""
    return "".join(word.capitalize() for word in function.split("_")) + "Keywords"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
