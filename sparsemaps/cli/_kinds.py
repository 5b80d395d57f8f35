"""Parsers of maps and kernels, each made when it is first asked for: all have 1,400 options."""

import argparse
from collections import UserDict
from collections.abc import Callable
from typing import Any, cast


class Kinds(argparse._SubParsersAction):  # type: ignore[type-arg]
    """The subcommands of a command, by the names of maps or kernels."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.choices = self._name_parser_map = cast(Any, _MadeLater())

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


class _MadeLater(UserDict[str, Any]):
    """Values that are functions until they are first asked for."""

    def __getitem__(self, key: str) -> Any:
        found = self.data[key]
        if not isinstance(found, argparse.ArgumentParser):
            found = self.data[key] = found()
        return found
