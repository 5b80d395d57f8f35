"""Options that several subcommands have."""

import argparse
import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from sparsemaps._tools import _allowed
from sparsemaps._tools._option_fields import OptionField, Values, options_of, summary
from sparsemaps.cli._commands import Command, Commands
from sparsemaps.cli._help import HelpParser
from sparsemaps.cli._options import MAPS, PAIR_MAPS, Kind, Option, flag, integer
from sparsemaps.files._job_options import (
    VALUES,
    ClassWeights,
    Inputs,
    Jobs,
    Paths,
    Reading,
    Run,
    Svmlight,
    Texts,
)

_FILE = {
    "bash": "_shtab_compgen_files",
    "zsh": "_files",
    "tcsh": "f",
    "fish": "(__fish_complete_path (commandline -ct))",
}
"""shtab's functions for file completion."""


SIZES = "--n-hashes", "--n-components", "--n-grids"
"""The options for the sizes of maps."""


def add_kinds(
    command: argparse.ArgumentParser,
    kinds: Mapping[str, Kind],
    examples: str,
    fill: Callable[[str, HelpParser], None],
    metavar: str = "MAP",
    about: str = "",
) -> Commands:
    """Add a subcommand for each map or kernel. `about` describes the command. `fill` adds the
    options of the command after the options of the kind. The namespace has the chosen name as
    ``map_name`` or ``kernel_name``."""
    added: Any = command.add_subparsers(required=True, metavar=metavar, action=Commands)
    run, named = command.get_default("run"), f"{metavar.lower()}_name"

    def fill_kind(name: str, parser: HelpParser) -> None:
        parser.set_defaults(**{named: name})
        for option in kinds[name].options:
            _add_option(parser, option)
        fill(name, parser)

    for name, kind in kinds.items():
        summary = kind.summary[0].upper() + kind.summary[1:] + "."
        said = f"{about}\n\n{name}: {summary}" if about else summary
        fill_one, example = partial(fill_kind, name), examples.format(name=name)
        added.add(Command(name, run, fill_one, kind.summary, said, example))
    return added


def add_maps_with_codes(
    command: argparse.ArgumentParser,
    examples: str,
    fill: Callable[[str, HelpParser], None],
    usual: str = "default: minhash",
) -> None:
    """Add a subcommand for each map with codes, to a command whose map may be omitted."""
    names = textwrap.fill(f"MAP is one of {', '.join(PAIR_MAPS)}; {usual}.", 100)
    kinds = {name: MAPS[name] for name in PAIR_MAPS}
    add_kinds(command, kinds, examples, fill, about=f"{command.description}\n\n{names}")


def _add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    """Add an option of a map or kernel. If omitted, the default of the class or function
    applies."""
    text = option.help
    if option.default is not None and option.default is not False:
        text += f" (default: {option.default})"
    how: dict[str, Any] = {"default": argparse.SUPPRESS, "dest": option.name, "help": text}
    if option.kind is bool:
        how["action"] = argparse.BooleanOptionalAction
    elif isinstance(option.kind, tuple):
        how["choices"] = option.kind
    else:
        how |= {"type": option.kind, "metavar": option.name.upper()}
    parser.add_argument(flag(option.name), **how)


def add_seed(parser: argparse.ArgumentParser, default: object = 0) -> None:
    parser.add_argument(
        "--seed", type=integer, default=default, help="seed of the random numbers (default: 0)"
    )


def add_path(parser: argparse._ActionsContainer, *names: str, **how: Any) -> None:
    """Add an argument for one or several paths, which shells complete."""
    action: Any = parser.add_argument(*names, **how)
    action.complete = _FILE


def add_inputs(parser: argparse.ArgumentParser, text: str) -> None:
    add_path(parser, "inputs", nargs="+", metavar="INPUT", help=text)


def add_output(parser: argparse.ArgumentParser, text: str) -> None:
    add_path(parser, "-o", "--output", required=True, type=non_empty, help=text)


def add_values(
    parser: argparse._ActionsContainer,
    *values: type[Values],
    but: Collection[str] = (),
    defaults: Mapping[str, str | None] = {},
) -> None:
    """Add the options of some values, except `but`. Help shows the defaults in `defaults` instead.

    Omitted options are None in the namespace.
    """
    flags = {option.name: option.flag for cls in (*VALUES, *values) for option in options_of(cls)}
    for cls in values:
        for option in options_of(cls):
            if option.flag is not None and option.name not in but:
                shown = option._replace(default=defaults.get(option.name, option.default))
                _add_value(parser, option, summary(shown, flags))


def _add_value(parser: argparse._ActionsContainer, option: OptionField, text: str) -> None:
    allowed, flag = option.allowed, option.flag or ""
    how: dict[str, Any] = {"dest": option.dest, "help": text}
    if isinstance(allowed, _allowed.Bool) and allowed.none:
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, **how)
    elif isinstance(option.default, bool):
        parser.add_argument(flag, action="store_const", const=not option.default, **how)
    elif isinstance(allowed, _allowed.Choice):
        parser.add_argument(flag, choices=allowed.choices, **how)
    else:
        how |= {"type": _TYPE_OF.get(type(allowed), non_empty), "metavar": option.metavar}
        if option.const is not None:
            how |= {"nargs": "?", "const": option.const}
            how["help"] += f"; {option.const:g} if no number follows"
        if isinstance(allowed, (Paths, ClassWeights)):
            how |= {"action": "append", "help": f"{text}; may be given several times"}
        if isinstance(allowed, Inputs):
            how["nargs"] = "+"
        if isinstance(allowed, SEVERAL_NUMBERS):
            how["metavar"] = f"{option.metavar} [{option.metavar} ...]"
        action: Any = parser.add_argument(flag, **how)
        if isinstance(allowed, (_allowed.PathTo, Inputs)):
            action.complete = _FILE


def _integers(text: str) -> list[int]:
    return _several(text, int)


def _numbers(text: str) -> float | list[float]:
    numbers = _several(text, float)
    return numbers if len(numbers) > 1 else numbers[0]


def _several(text: str, kind: Any) -> list[Any]:
    """Return the comma-separated numbers of a text."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid {kind.__name__} value: {text!r}") from None


SEVERAL_NUMBERS = _allowed.Ints, _allowed.Reals
"""Ranges of options with several numbers, given as words or as one word with commas."""

_TYPE_OF: dict[type, Any] = {
    _allowed.Int: integer, _allowed.Ints: _integers, Jobs: integer, _allowed.Real: float,
    _allowed.Reals: _numbers, _allowed.String: str,
}  # fmt: skip
"""Parsers of option values. All other values are non-empty strings."""


def add_reading(parser: argparse.ArgumentParser, source: type[Values] | None = Svmlight) -> None:
    """Add the options for reading inputs: the options of `source` that texts and rows share."""
    add_values(parser, Reading)
    if source is not None:
        add_values(parser, source, but=_OF_TEXTS_ALONE)
    add_json(parser)


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for the format of the last line."""
    parser.add_argument("--json", action="store_true", help="print the last line as JSON")


_OF_TEXTS_ALONE = [option.name for option in options_of(Texts) if option.name != "max_line_bytes"]


OF_NEAR = "max_df", "min_own"
"""Options of `Texts` for near-duplicates."""

OF_WEIGHTS = "idf", "idf_levels"
"""Options of `Texts` for maps and models."""

OF_ANALYZERS = "analyzer", "token_pattern", "normalize"
"""Options of `Texts` that a vectorizer or a model determines itself."""


def add_texts(
    parser: argparse.ArgumentParser, but: Collection[str] = (), default: str | None = None
) -> None:
    """Add the options for raw texts, except `but`. `default` describes --texts when omitted."""
    group = parser.add_argument_group(
        "raw texts: .txt, .jsonl, .csv (.gz, .bz2, .xz, .zst), .parquet, .arrow"
    )
    add_values(group, Texts, but=("max_line_bytes", *but), defaults={"analyzer": default})


LEARNT_BY_NAMES = "char:3 if the inputs are named like texts with fields"
"""The default of --texts in commands that learn labels, in words."""


def add_many(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that can write one output per input."""
    dask = "use a Dask cluster whose workers find the inputs and OUTPUT under the same paths"
    add_tasks(parser, "many files, if OUTPUT is a directory", dask)


def add_tasks(parser: argparse.ArgumentParser, title: str, dask: str) -> None:
    """Add the options of commands whose jobs are lists of tasks."""
    group = parser.add_argument_group(title)
    add_values(group, Run, but=[option.name for option in options_of(Reading)])
    group.add_argument(
        "--tasks", action="store_true",
        help="print the stages of this command, one per line, with the number of tasks and what "
             "they make",
    )  # fmt: skip
    group.add_argument("--stage", metavar="NAME", help="with --task: run tasks of this stage only")
    group.add_argument(
        "--task", type=_task, metavar="I/N",
        help="run the tasks of the stage whose numbers, counted from 0, are I modulo N; without "
             "--stage and --task, the command runs all missing tasks",
    )  # fmt: skip
    group.add_argument(
        "--dask", action="store_true",
        help=f"{dask}; without --scheduler, start --n-jobs processes on this machine",
    )  # fmt: skip
    group.add_argument(
        "--scheduler", action=_Scheduler, type=non_empty, metavar="ADDRESS",
        help="address or file of the scheduler of the Dask cluster; implies --dask",
    )  # fmt: skip


class _Scheduler(argparse.Action):
    """The scheduler of a cluster, which implies --dask."""

    def __call__(
        self, parser: object, namespace: argparse.Namespace, value: object, *rest: object
    ) -> None:
        namespace.scheduler, namespace.dask = value, True


def non_empty(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name must not be empty")
    return text


def _task(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not int(match[1]) < int(match[2]):
        raise argparse.ArgumentTypeError(f"expected I/N with 0 <= I < N, got {text!r}")
    return int(match[1]), int(match[2])
