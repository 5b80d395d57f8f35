"""Subcommands whose parsers are created on demand: all of them together have 1,400 options."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from sparsemaps.cli._help import HelpParser


class Command(NamedTuple):
    """A subcommand: its name, ``module:name`` of the function to call, the function that adds its
    options to a parser, a line of help, and the texts before and after the options."""

    name: str
    run: str
    fill: Callable[[HelpParser], object]
    help: str
    description: str
    epilog: str | None = None


class Commands(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The subcommands of the program, or the maps or kernels of a subcommand."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.choices = self._name_parser_map = _MadeLater()

    def add(self, command: Command) -> None:
        """Add a subcommand."""
        name, run, fill, help, description, epilog = command

        def parser_of_command() -> argparse.ArgumentParser:
            prog = f"{self._prog_prefix} {name}"
            parser = self._parser_class(prog=prog, description=description, epilog=epilog)
            parser.set_defaults(run=run)
            fill(parser)
            return parser

        self._choices_actions.append(self._ChoicesPseudoAction(name, (), help))
        self._name_parser_map[name] = parser_of_command


class _MadeLater(dict[str, Any]):
    """A dictionary whose values are created on first access, by functions."""

    def __getitem__(self, key: str) -> Any:
        found = super().__getitem__(key)
        if not isinstance(found, argparse.ArgumentParser):
            found = self[key] = found()
        return found

    def values(self) -> Any:
        return {key: self[key] for key in self}.values()

    def items(self) -> Any:
        return {key: self[key] for key in self}.items()
