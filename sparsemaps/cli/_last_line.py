"""Printing of the last line of a command, in words or as JSON, and of a line about empty inputs."""

import argparse
import json
from collections.abc import Iterable, Mapping
from typing import Any

from sparsemaps._io._sources import is_standard
from sparsemaps._tools._escapes import print_line
from sparsemaps._tools._plurals import counted


def say(options: argparse.Namespace, words: str, answer: object) -> None:
    """Print the last line on standard error: `words`, or with --json the numbers of `answer`, a
    mapping or a named tuple whose fields may begin with ``n_``."""
    print_line(_object_of(answer) if options.json else words, error=True)


def say_if_empty(inputs: Iterable[object], n: int, records: str = "records") -> None:
    """Print a line on standard error if the inputs have no records."""
    if not n:
        names = ("standard input" if is_standard(name) else str(name) for name in inputs)
        print_line(f"sparsemaps: {', '.join(names)}: there are no {records}", error=True)


def _object_of(answer: Any) -> str:
    members = answer if isinstance(answer, Mapping) else answer._asdict()
    return json.dumps(
        {
            name.removeprefix("n_"): _named(value)
            for name, value in members.items()
            if isinstance(value, (int, float, str, Mapping))
        }
    )


def _named(value: object) -> Any:
    """Return a value for JSON. Labels as keys become strings."""
    if not isinstance(value, Mapping):
        return value
    from sparsemaps.files._record_labels import name_of  # slow, since it imports the models

    return {name_of(label): n for label, n in value.items()}


def words_of(figures: Mapping[str, int]) -> str:
    """Return figures with their words: the first figure, and all that are not 0."""
    first = next(iter(figures))
    return ", ".join(counted(n, words) for words, n in figures.items() if n or words == first)
