"""Help of two lengths: ``--help`` shows the common options, ``--help-all`` shows all."""

import argparse
import contextlib
import re
import textwrap
from collections.abc import Collection, Iterator
from typing import Any, NoReturn


class HelpParser(argparse.ArgumentParser):
    """A parser that knows which of its options ``--help`` explains. Help preserves the lines of
    examples."""

    common: Collection[str] = ()
    """Options that ``--help`` explains, besides required ones. If empty, it explains all."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        # Before Python 3.14, argparse takes values such as "-1e-3" and "-1=2" for options.
        self._negative_number_matcher = re.compile(r"-\.?\d")
        self.add_argument("--help-all", action=_HelpAll, nargs=0, help="show all options and exit")

    def rare_options(self) -> list[argparse.Action]:
        """Return the options that only ``--help-all`` explains."""
        if not self.common:
            return []
        always = {*self.common, "--help", "--help-all"}
        return [
            action
            for action in self._actions
            if action.option_strings
            and not action.required
            and always.isdisjoint(action.option_strings)
        ]

    def format_help(self) -> str:
        """Return the short help."""
        with self._without(self.rare_options()):
            return super().format_help()

    def format_help_of_all(self) -> str:
        """Return the full help."""
        return super().format_help()

    @contextlib.contextmanager
    def _without(self, rare: list[argparse.Action]) -> Iterator[None]:
        """Hide the help of rare options, and list their names after the other options."""
        if not rare:
            yield
            return
        before, helps = self.epilog, [action.help for action in rare]
        names = ", ".join(action.option_strings[0] for action in rare)
        named = textwrap.fill(names, 78, initial_indent="  ", subsequent_indent="  ",
                              break_on_hyphens=False)  # fmt: skip
        self.epilog = f"more options, which --help-all explains:\n{named}\n\n{before or ''}"
        for action in rare:
            action.help = argparse.SUPPRESS
        try:
            yield
        finally:
            self.epilog = before
            for action, text in zip(rare, helps, strict=True):
                action.help = text


class _HelpAll(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> NoReturn:
        assert isinstance(parser, HelpParser)
        print(parser.format_help_of_all(), end="")
        parser.exit()
