"""Options that several subcommands have."""

import argparse
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from sparsemaps.cli._options import MAPS, PAIR_MAPS, Kind, Option, integer

_FILE = {
    "bash": "_shtab_compgen_files",
    "zsh": "_files",
    "tcsh": "f",
    "fish": "(__fish_complete_path (commandline -ct))",
}
"""The names of shtab's completions of files."""


def add_kind(
    kinds: Any, name: str, kind: Kind, examples: str, about: str = ""
) -> argparse.ArgumentParser:
    """Return the parser of a map or kernel; `about` says what the command does with it."""
    summary = kind.summary[0].upper() + kind.summary[1:] + "."
    parser: argparse.ArgumentParser = kinds.add_parser(
        name,
        help=kind.summary,
        description=f"{about}\n\n{name}: {summary}" if about else summary,
        epilog=examples.format(name=name),
    )
    for option in kind.options:
        _add_option(parser, option)
    return parser


def parsers_of_maps(
    command: argparse.ArgumentParser, examples: str
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the name and the parser of each map with codes, for a command whose map may be left
    out."""
    names = textwrap.fill(f"MAP is one of {', '.join(PAIR_MAPS)}; minhash if left out.", 100)
    kinds = command.add_subparsers(required=True, metavar="MAP")
    for name in PAIR_MAPS:
        parser = add_kind(kinds, name, MAPS[name], examples, f"{command.description}\n\n{names}")
        parser.set_defaults(map_name=name)
        yield name, parser


def _add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    """Add an option of a map or kernel. Without it the default of the class or function holds."""
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


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_seed(parser: argparse.ArgumentParser, default: Any = 0) -> None:
    parser.add_argument(
        "--seed", type=integer, default=default, help="seed of the random numbers (default: 0)"
    )


def add_path(parser: Any, *names: str, **how: Any) -> None:
    """An argument that is a path, or several, which shells complete."""
    action = parser.add_argument(*names, **how)
    action.complete = _FILE


def add_inputs(parser: argparse.ArgumentParser, text: str) -> None:
    add_path(parser, "inputs", nargs="+", metavar="INPUT", help=text)


def add_output(parser: argparse.ArgumentParser, text: str) -> None:
    add_path(parser, "-o", "--output", required=True, type=non_empty, help=text)


def add_reading(parser: argparse.ArgumentParser, has_indices: bool = True) -> None:
    add_n_jobs(parser)
    if has_indices:
        parser.add_argument(
            "--zero-based", action="store_true",
            help="indices of the input count from 0, not from 1",
        )  # fmt: skip
    parser.add_argument(
        "--max-line-bytes", type=integer, default=2**30, metavar="N",
        help="longest line of an input; a longer one is an error (default: 2**30)",
    )  # fmt: skip


def add_bad_records(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that set aside records."""
    add_path(
        parser, "--bad-records", type=non_empty, metavar="FILE",
        help="set aside records that cannot be read, or are too short or too long, with file, "
        "line and reason; without it, the first is an error",
    )  # fmt: skip
    for side, words in (("min", "fewer"), ("max", "more")):
        parser.add_argument(
            f"--{side}-length", type=integer, metavar="N",
            help=f"a text of {words} characters is a bad record",
        )  # fmt: skip


def add_n_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--n-jobs", type=integer, default=1, metavar="N",
        help="number of threads; -1 is one for each processor (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="show a progress bar on standard error; by default if that is a terminal",
    )
    parser.add_argument("--json", action="store_true", help="print the last line as JSON")


def add_texts(
    parser: argparse.ArgumentParser, has_labels: bool = True, default: str | None = None
) -> None:
    """Options of commands that take raw texts too."""
    group = parser.add_argument_group("raw texts: .txt, .jsonl, .parquet (.gz, .bz2, .xz, .zst)")
    group.add_argument(
        "--texts", metavar="ANALYZER:N[-M]",
        help="the inputs are raw texts, and rows are their n-grams: auto:5, word:5, char:3-5, "
        "char_wb:3, byte:3; auto is words, and characters in scripts without blanks; as sets for "
        "minhash, counts otherwise; lower case, but not for byte"
        + ("" if default is None else f" (default: {default})"),
    )  # fmt: skip
    group.add_argument(
        "--normalize", choices=("nfc", "nfkc", "plain"),
        help="the normal form of Unicode of texts; plain is NFKC in lower case, with punctuation "
        "and runs of blanks as one blank",
    )  # fmt: skip
    add_fields(group, has_labels)


def add_field(group: Any) -> None:
    group.add_argument("--field", help="field or column of the text (default: text)")


def add_text_format(group: Any) -> None:
    group.add_argument(
        "--text-format", choices=("txt", "jsonl", "parquet"),
        help="format of all inputs, where their names do not tell, as for pipes",
    )  # fmt: skip


def add_fields(group: Any, has_labels: bool = True) -> None:
    add_field(group)
    if has_labels:
        group.add_argument(
            "--label-field", metavar="FIELD",
            help="field or column of the label; strings are numbered in sorted order, and the "
            "table is OUTPUT.classes.tsv",
        )  # fmt: skip
    group.add_argument("--id-field", metavar="FIELD", help="field or column of the id")
    group.add_argument(
        "--token-pattern", metavar="REGEX",
        help="what a word is, a regular expression (of --texts: by default, what stands between "
        "blanks)",
    )  # fmt: skip
    add_text_format(group)


def add_many(parser: argparse.ArgumentParser, what: str = "map") -> None:
    """Options of commands that can write one output for each input."""
    fresh = (
        "make all outputs; without it, those are taken that an earlier run of the same "
        f"{what}, options and inputs has made"
    )
    dask = "use a Dask cluster, whose workers reach the inputs and OUTPUT by the same paths"
    add_tasks(parser, "many files, where OUTPUT is a directory", fresh, dask)


def add_tasks(parser: argparse.ArgumentParser, title: str, fresh: str, dask: str) -> None:
    """Options of commands whose jobs are lists of tasks."""
    group = parser.add_argument_group(title)
    group.add_argument("--fresh", dest="resume", action="store_false", help=fresh)
    group.add_argument(
        "--tasks", action="store_true",
        help="print the stages of this command, one a line: name, number of tasks, what they make",
    )  # fmt: skip
    group.add_argument(
        "--stage", metavar="NAME", help="with --task: the stage whose tasks are done, and no other"
    )
    group.add_argument(
        "--task", type=_task, metavar="I/N",
        help="do those tasks of the stage whose numbers, from 0, are I modulo N; the command "
        "without --stage and --task does what is missing",
    )  # fmt: skip
    group.add_argument(
        "--dask", action="store_true",
        help=f"{dask}; without --scheduler, --n-jobs processes of this machine",
    )  # fmt: skip
    group.add_argument(
        "--scheduler", type=non_empty, metavar="ADDRESS",
        help="the Dask cluster by its scheduler's address or file; it implies --dask",
    )  # fmt: skip


def non_empty(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name must not be empty")
    return text


def _task(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not int(match[1]) < int(match[2]):
        raise argparse.ArgumentTypeError(f"expected I/N with 0 <= I < N, got {text!r}")
    return int(match[1]), int(match[2])
