"""Parsers of maps and kernels, each made when it is first asked for: all have 1,400 options."""

import argparse
from collections.abc import Callable
from typing import Any


class Kinds(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The subcommands of a command, by the names of maps or kernels."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.choices = self._name_parser_map = _MadeLater()

    def add_later(
        self, name: str, fill: Callable[[Any], None], *, help: str, **options: Any
    ) -> None:
        """Add a subcommand; `fill` adds the options to its parser."""

        def parser_of_kind() -> argparse.ArgumentParser:
            parser = self._parser_class(prog=f"{self._prog_prefix} {name}", **options)
            fill(parser)
            return parser

        self._choices_actions.append(self._ChoicesPseudoAction(name, (), help))
        self._name_parser_map[name] = parser_of_kind


class _MadeLater(dict[str, Any]):
    """Values that are functions until they are first asked for."""

    def __getitem__(self, key: str) -> Any:
        found = super().__getitem__(key)
        if not isinstance(found, argparse.ArgumentParser):
            found = self[key] = found()
        return found

    def values(self) -> Any:
        return {key: self[key] for key in self}.values()

    def items(self) -> Any:
        return {key: self[key] for key in self}.items()
