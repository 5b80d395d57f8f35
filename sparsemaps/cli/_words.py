"""Completion of the words of a call: an omitted map, and omitted numbers of options."""

import argparse
import os
from collections import deque
from collections.abc import Collection, Sequence

from sparsemaps._tools._option_fields import options_of
from sparsemaps.cli._options import MAPS, OTHER_NAMES, PAIR_MAPS, SAVED
from sparsemaps.cli._parser import closest, commands_of
from sparsemaps.cli._shared_options import SEVERAL_NUMBERS
from sparsemaps.files._job_options import VALUES

WITHOUT_MAP = ("dedup", "pairs", "train")
"""Commands whose map defaults to minhash; train requires a map for LIBSVM files."""

WEIGHED = ("map", "train")
"""Commands whose map defaults to min-max by levels if n-grams are weighted."""


def completed(parser: argparse.ArgumentParser, words: Sequence[str]) -> tuple[list[str], bool]:
    """Return the words of a call for the parser, and whether the map was omitted.

    Numbers of an option are joined to its word. The map, even if omitted, follows the command.
    """
    command = words[0] if words else ""
    if command in WITHOUT_MAP:
        words = _with_map_first(parser, words)
    rest = _with_numbers(words[1:])
    is_weighed = command in WEIGHED and any(word.startswith("--idf=") for word in rest)
    maps = (*MAPS, SAVED) if command == "map" else PAIR_MAPS
    if (command not in WITHOUT_MAP and not is_weighed) or _names_a_map(rest, maps):
        return [*words[:1], *rest], False
    made = ["minmax", "--method", "levels"] if is_weighed else ["minhash"]
    return [command, *made, *rest], True


def _with_map_first(parser: argparse.ArgumentParser, words: Sequence[str]) -> Sequence[str]:
    """Return the words of a command, with the map moved before options that take no value."""
    command = commands_of(parser).choices[words[0]]
    options = commands_of(command).choices["minhash"]._option_string_actions
    place = 1
    while place < len(words) and words[place] in options and options[words[place]].nargs == 0:
        place += 1
    if words[place : place + 1] and words[place] in PAIR_MAPS:
        return [words[0], words[place], *words[1:place], *words[place + 1 :]]
    return words


def _names_a_map(words: Sequence[str], names: Collection[str]) -> bool:
    """Return whether the first word is a map or seems to be a misspelled map or another name of
    one. Names of files are not maps."""
    word = words[0] if words else "."
    if word in names or "." in word or os.path.exists(word):
        return word in names
    near = closest(word, {name: name for name in names})
    return OTHER_NAMES.get(word.casefold()) in names or near is not None


def _with_numbers(words: Sequence[str]) -> list[str]:
    """Return the words of a command, with numbers joined to their options: the number of an option
    that may come without one, and all numbers of an option that takes several."""
    options = [option for cls in VALUES for option in options_of(cls)]
    known = {option.flag: option.const for option in options if option.const is not None}
    several = {o.flag for o in options if isinstance(o.allowed, SEVERAL_NUMBERS)}
    found: list[str] = []
    left = deque(words)
    while left:
        word, numbers = left.popleft(), list[str]()
        most = len(left) if word in several else int(word in known)
        while len(numbers) < most and left and _is_number(left[0]):
            numbers.append(left.popleft())
        if word in known and not numbers:
            numbers = [f"{known[word]:g}"]
        found.append(f"{word}={','.join(numbers)}" if numbers else word)
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
