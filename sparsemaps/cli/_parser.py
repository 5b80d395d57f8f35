"""The parser of the ``sparsemaps`` command: its subcommands, and errors that suggest the intended
name."""

import argparse
import difflib
import importlib
import itertools
import shlex
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import sparsemaps
from sparsemaps._tools._escapes import terminal_line
from sparsemaps.cli._commands import Commands
from sparsemaps.cli._compare_options import COMPARE
from sparsemaps.cli._help import HelpParser
from sparsemaps.cli._map_options import DEMO, INFO, KERNEL, MAP, TEXT
from sparsemaps.cli._model_options import FILTER, PREDICT, TRAIN
from sparsemaps.cli._near_options import DEDUP, PAIRS
from sparsemaps.cli._options import OTHER_COMMANDS, OTHER_NAMES

BAD_INPUT = 2
"""Exit status for bad options, parameters, input or files."""


class _Parser(HelpParser):
    """A parser whose errors are one line, which may suggest a name."""

    def error(self, message: str, command: str | None = None) -> NoReturn:
        """Print an error, name the command whose help explains more, and exit."""
        said = terminal_line(message)
        texts = [one.help or "" for one in self._actions if one.dest == "output"]
        if "required: " in said and "-o/--output" in said and "- for standard" in "".join(texts):
            said += "; -o - writes to standard output"
        self.exit(BAD_INPUT, f"sparsemaps: {said} (see {command or self.prog} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and reject unknown arguments here. argparse would leave them to the outermost
        parser."""
        words = sys.argv[1:] if args is None else list(args)
        self._refuse_unknown(words)
        parsed, rest = super().parse_known_args(words, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}{self._repeated(words)}")
        return parsed, rest

    def _refuse_unknown(self, words: list[str]) -> None:
        """Report unknown options before missing ones."""
        options = [name for action in self._actions for name in action.option_strings]
        letters = {name[2:].casefold(): name for name in options if len(name) == 3}
        commands = commands_of(self)
        for word in itertools.takewhile(lambda word: word != "--", words):
            if commands and not word.startswith("-"):
                return  # the remaining words belong to a subcommand
            name = word.partition("=")[0]
            letter = letters.get(name.lstrip("-").casefold())
            if letter and name[:1] == "-" and name not in options:  # -c of other commands is --C
                self.error(f"unknown option {name}{_question(letter)}")
            if name[:2] != "--" or " " in word or any(one.startswith(name) for one in options):
                continue
            where = f" before {commands.metavar}" if commands else ""
            meant = closest(name, {option.strip("-"): option for option in options})
            self.error(f"unknown option {name}{where}{_question(meant)}")

    def _repeated(self, words: list[str]) -> str:
        """Return the end of an error about superfluous words: how to give several values to an
        option that takes one value each time, if several follow it."""
        names = {
            name
            for action in self._actions
            if isinstance(action, argparse._AppendAction) and action.nargs is None
            for name in action.option_strings
        }
        for place, word in enumerate(words):
            values = list(itertools.takewhile(lambda one: one[:1] != "-", words[place + 1 :]))
            if word in names and len(values) > 1:
                each = shlex.join(one for value in values for one in (word, value))
                return f"; each value needs its own {word}: {each}"
        return ""

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        names = _paths(action.choices)
        are_commands = isinstance(action.choices, Mapping)
        other = (OTHER_COMMANDS | OTHER_NAMES).get(str(value).casefold(), "")
        is_option = are_commands and other in self._option_string_actions
        meant = other if is_option else names.get(other) or closest(str(value), names)
        about = argparse.ArgumentError(
            action,
            f"invalid choice: {value!r}{_question(meant)} (choose from "
            f"{', '.join(map(str, action.choices))})",
        )
        has_help = are_commands and meant is not None and not is_option
        self.error(str(about), f"{self.prog} {meant}" if has_help else None)


def commands_of(parser: argparse.ArgumentParser) -> Any:
    """Return the action that holds the subcommands of a parser; None if there are none."""
    return next((a for a in parser._actions if isinstance(a.choices, Mapping)), None)


def _paths(choices: Iterable[Any]) -> dict[str, str]:
    """Return commands to suggest by name. Maps are suggested as ``command map``."""
    paths = {str(name): str(name) for name in choices}
    if isinstance(choices, Mapping):
        for command, parser in choices.items():
            inner = commands_of(parser)
            for name in inner.choices if inner else ():
                paths.setdefault(name, f"{command} {name}")
    return paths


_ALIKE = 0.65
"""Least similarity of a suggested name, by difflib; "completion" and "projection" have 0.6."""


def closest(name: str, names: dict[str, str]) -> str | None:
    """Return the value of the key that is spelled most like `name`; None if none is close."""
    plain = name.strip("-").casefold().replace("_", "-")
    close = difflib.get_close_matches(plain, names, n=1, cutoff=_ALIKE)
    return names[close[0]] if close else None


def _question(meant: str | None) -> str:
    return f"; did you mean {meant}?" if meant else ""


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> NoReturn:
        from sparsemaps._tools import _seeding

        version = f"{sparsemaps.__version__} (random numbers: scheme {_seeding.SCHEME})"
        print(f"sparsemaps {version}")
        parser.exit()


class _Completion(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: object, *rest: Any
    ) -> NoReturn:
        try:
            shtab = importlib.import_module("shtab")
        except ImportError:
            parser.error("--print-completion needs the package shtab: pip install shtab")
        print(shtab.complete(parser, shell=values))
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = _Parser(
        prog="sparsemaps",
        description="Train kernel models on sparse data, and remove near-duplicates from texts.",
        epilog="Exit status:\n"
        "  0        success\n"
        "  2        bad options, parameters, input or files; the error is one line\n"
        "  128 + n  ended by signal n (130: Ctrl-C, 141: closed pipe, 143: terminated)",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "fish", "tcsh"),
        help="print a completion script for a shell and exit; needs the package shtab",
    )
    commands: Any = parser.add_subparsers(required=True, metavar="COMMAND", action=Commands)
    for command in (
        DEMO, COMPARE, MAP, TEXT, KERNEL, PAIRS, DEDUP, TRAIN, PREDICT, FILTER, INFO,
    ):  # fmt: skip
        commands.add(command)
    return parser
