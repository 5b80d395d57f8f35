"""The options of the ``sparsemaps`` command, and its help."""

import argparse
import difflib
import importlib
import itertools
import re
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import sparsemaps
from sparsemaps.cli._options import (
    CONTAINMENT_MAP,
    DEDUP_EXAMPLES,
    DEMO_EXAMPLES,
    FILTER_EXAMPLES,
    INFO_EXAMPLES,
    KERNEL_EXAMPLES,
    KERNELS,
    MAP_EXAMPLES,
    MAPS,
    PAIR_EXAMPLES,
    PAIR_MAPS,
    PREDICT_EXAMPLES,
    SAVED,
    TEXT_EXAMPLES,
    TRAIN_EXAMPLES,
    Kind,
    Option,
    integer,
)

BAD_INPUT = 2
"""Exit status where options, parameters, input or files are bad."""

_FILE = {
    "bash": "_shtab_compgen_files",
    "zsh": "_files",
    "tcsh": "f",
    "fish": "(__fish_complete_path (commandline -ct))",
}
"""How shtab's completions name files."""


class _Parser(argparse.ArgumentParser):
    """Errors are one line that may say what was meant; help keeps the lines of examples."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**options)

    def error(self, message: str) -> NoReturn:
        self._fail(message, self.prog)

    def _fail(self, message: str, command: str) -> NoReturn:
        """Print an error and whose help tells more, and exit."""
        self.exit(BAD_INPUT, f"sparsemaps: {message} (see {command} --help)\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, and refuse what is unknown here: argparse leaves it to the outermost parser."""
        words = sys.argv[1:] if args is None else list(args)
        self._refuse_unknown(words)
        parsed, rest = super().parse_known_args(words, namespace)
        if rest:
            self.error(f"unrecognized arguments: {' '.join(rest)}")
        return parsed, rest

    def _refuse_unknown(self, words: list[str]) -> None:
        """Refuse unknown options, before it is said what is missing."""
        options = [name for action in self._actions for name in action.option_strings]
        commands = _commands_of(self)
        for word in itertools.takewhile(lambda word: word != "--", words):
            if commands and not word.startswith("-"):
                return  # the other words are a subcommand's
            name = word.partition("=")[0]
            if name[:2] != "--" or " " in word or any(one.startswith(name) for one in options):
                continue
            where = f" before {commands.metavar}" if commands else ""
            meant = _closest(name, {option.strip("-"): option for option in options})
            self.error(f"unknown option {name}{where}{_question(meant)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        meant = _closest(str(value), _paths(action.choices))
        about = argparse.ArgumentError(
            action,
            f"invalid choice: {value!r}{_question(meant)} (choose from "
            f"{', '.join(map(str, action.choices))})",
        )
        is_command = meant is not None and isinstance(action.choices, Mapping)
        self._fail(str(about), f"{self.prog} {meant}" if is_command else self.prog)


def _commands_of(parser: argparse.ArgumentParser) -> Any:
    """The action that holds the subcommands of a parser, or None."""
    return next((a for a in parser._actions if isinstance(a.choices, Mapping)), None)


def _paths(choices: Iterable[Any]) -> dict[str, str]:
    """Suggest a command for a wrong choice, by its last word: maps are in commands."""
    paths = {str(name): str(name) for name in choices}
    if isinstance(choices, Mapping):
        for command, parser in choices.items():
            inner = _commands_of(parser)
            for name in inner.choices if inner else ():
                paths.setdefault(name, f"{command} {name}")
    return paths


def _closest(name: str, names: dict[str, str]) -> str | None:
    """The value of the key that is spelt nearly as `name`."""
    plain = name.strip("-").casefold().replace("_", "-")
    close = difflib.get_close_matches(plain, names, n=1)
    return names[close[0]] if close else None


def seems_to_be(name: str, names: Iterable[str]) -> bool:
    """Whether a word is spelt nearly as one of some names."""
    return _closest(name, {one: one for one in names}) is not None


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
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, *rest: Any
    ) -> NoReturn:
        try:
            shtab = importlib.import_module("shtab")
        except ImportError:
            parser.error("--print-completion needs the package shtab: pip install shtab")
        print(shtab.complete(parser, shell=values))
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The parser of the command's options."""
    parser = _Parser(
        prog="sparsemaps",
        description="Random feature maps of sparse data, for linear learners.",
        epilog="Exit status:\n"
        "  0        success\n"
        "  2        bad options, parameters, input or files; one line says what is wrong\n"
        "  128 + n  ended by signal n (130: Ctrl-C, 141: closed pipe, 143: terminated)",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument(
        "--print-completion",
        action=_Completion,
        choices=("bash", "zsh", "fish", "tcsh"),
        help="print a completion script for a shell and exit; needs the package shtab",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        _add_demo, _add_maps, _add_text, _add_kernels, _add_pairs, _add_dedup, _add_train,
        _add_predict, _add_filter, _add_info,
    ):  # fmt: skip
        add(commands)
    return parser


def _add_demo(commands: Any) -> None:
    demo = commands.add_parser(
        "demo",
        help="compare maps and exact kernels, on data that every installation has",
        description="Compare each map with its exact kernel: accuracy, time and size. Needs no "
        "network.",
        epilog=DEMO_EXAMPLES,
    )
    demo.add_argument(
        "-o", "--output", default="sparsemaps-demo", type=_name, metavar="DIRECTORY",
        help="where to write LIBSVM files (default: sparsemaps-demo)",
    )  # fmt: skip
    demo.add_argument(
        "--plot", type=_name, metavar="FILE.svg",
        help="also draw accuracy against bytes a row; needs matplotlib",
    )  # fmt: skip
    demo.set_defaults(run="demo")


def _add_maps(commands: Any) -> None:
    maps = commands.add_parser(
        "map",
        help="map the rows of LIBSVM files",
        description="Map the rows of LIBSVM files. sparsemaps map MAP --help lists the options.",
    )
    kinds = maps.add_subparsers(required=True, metavar="MAP")
    for name, kind in MAPS.items():
        parser = _add_kind(kinds, name, kind, MAP_EXAMPLES)
        _add_map_options(parser)
        _add_seed(parser)
        parser.add_argument(
            "--config", metavar="FILE", help="file of a map that --save-config has written"
        )
        parser.set_defaults(run="map", map_name=name)
    saved = kinds.add_parser(
        SAVED,
        help="the map in a file that --save-config has written; the word saved may be left out",
        description="Use the map in a file that --save-config has written.",
        epilog="examples:\n  sparsemaps map minmax train.svm -o train.mapped --save-config map.json"
        "\n  sparsemaps map --config map.json test.svm -o test.mapped\n",
    )
    saved.add_argument("--config", metavar="FILE", required=True, help="file of the map")
    _add_map_options(saved)
    saved.set_defaults(run="map", map_name=SAVED)


def _add_map_options(parser: argparse.ArgumentParser) -> None:
    """Options of every map."""
    inputs = parser.add_argument(
        "inputs", nargs="+", metavar="INPUT",
        help="LIBSVM file (.gz, .bz2, .xz, .zst), directory, pattern such as 'parts/*.svm', or - "
        "for standard input; labels and qid: are copied to the output, comments are not; with "
        "--texts, raw texts",
    )  # fmt: skip
    inputs.complete = _FILE  # type: ignore[attr-defined]
    _add_output(
        parser,
        "file to write (.gz, .bz2, .xz); or directory, for one output for each input; or - for "
        "standard output",
    )
    _add_reading(parser)
    _add_texts(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "--format", choices=("svmlight", "npy", "npz"), default="svmlight",
        help="LIBSVM text, packed codes as a NumPy array with labels in OUTPUT.labels.npy, or a "
        "CSR matrix of SciPy (default: svmlight)",
    )  # fmt: skip
    group.add_argument(
        "--ones", action="store_true", help="write one-hot features as 1, not as 1/sqrt(samples)"
    )
    group.add_argument(
        "--header",
        action="store_true",
        help="begin with a comment that holds this command; LIBSVM's programs accept no comments",
    )
    group.add_argument("--comments", action="store_true", help="keep the comments of the inputs")
    group.add_argument(
        "--save-config", metavar="FILE", help="write the map to FILE, which --config reads"
    )
    _add_many(parser)


def _add_many(parser: argparse.ArgumentParser) -> None:
    """Options of commands that can write one output for each input."""
    _add_tasks(
        parser,
        "many files, where OUTPUT is a directory",
        "make all outputs; without it, those are taken that an earlier run of the same map, "
        "options and inputs has made",
        "use a Dask cluster, and write one part for each 64 MB of input",
    )


def _add_tasks(parser: argparse.ArgumentParser, title: str, fresh: str, dask: str) -> None:
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
        "--dask", nargs="?", const="", metavar="SCHEDULER",
        help=f"{dask}; SCHEDULER is the scheduler's address or file; without it, --n-jobs "
        "processes of this machine. The option must be the last one, or stand before another one",
    )  # fmt: skip


def _add_texts(
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
    _add_fields(group, has_labels)


def _add_fields(group: Any, has_labels: bool = True) -> None:
    group.add_argument("--field", help="field or column of the text (default: text)")
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
    group.add_argument(
        "--text-format", choices=("txt", "jsonl", "parquet"),
        help="format of all inputs, where their names do not tell, as for pipes",
    )  # fmt: skip


def _add_text(commands: Any) -> None:
    text = commands.add_parser(
        "text",
        help="write hashed n-grams of raw texts as LIBSVM files",
        description="Write the rows of scikit-learn's HashingVectorizer, with its defaults, as "
        "LIBSVM files; or counts of byte n-grams.",
        epilog=TEXT_EXAMPLES,
    )
    inputs = text.add_argument(
        "inputs", nargs="+", metavar="INPUT",
        help="file of texts: a text a line (.txt), JSON Lines (.jsonl), .parquet; the first two "
        "plain or compressed (.gz, .bz2, .xz, .zst); directory, pattern, or - for standard input",
    )  # fmt: skip
    inputs.complete = _FILE
    _add_output(text, "file to write; or directory, for one output for each input; or -")
    text.add_argument(
        "--analyzer", choices=("word", "char", "char_wb", "byte"), default="word",
        help="what n-grams are made of (default: word)",
    )  # fmt: skip
    text.add_argument(
        "--ngram-range", nargs=2, type=integer, metavar=("LOW", "HIGH"), action=_Pair,
        help="least and greatest size of n-grams (default: 1 1; for byte 3 3)",
    )  # fmt: skip
    text.add_argument(
        "--n-features", type=integer, metavar="N", help="number of columns (default: 2**20)"
    )
    text.add_argument("--binary", action="store_true", help="n-grams that occur count as 1")
    _add_fields(text)
    _add_n_jobs(text)
    _add_max_line_bytes(text)
    _add_many(text)
    text.set_defaults(run="text")


class _Pair(argparse.Action):
    def __call__(
        self, parser: argparse.ArgumentParser, namespace: Any, values: Any, *rest: Any
    ) -> None:
        setattr(namespace, self.dest, tuple(values))


def _add_kernels(commands: Any) -> None:
    grams = commands.add_parser(
        "kernel",
        help="write an exact kernel in LIBSVM's precomputed format, for svm-train -t 4",
        description="Write an exact kernel in LIBSVM's precomputed format, for svm-train -t 4.",
    )
    kinds = grams.add_subparsers(required=True, metavar="KERNEL")
    for name, kind in KERNELS.items():
        parser = _add_kind(kinds, name, kind, KERNEL_EXAMPLES)
        train = parser.add_argument(
            "train",
            metavar="TRAIN",
            help="LIBSVM file (.gz, .bz2, .xz), or - for standard input",
        )
        test = parser.add_argument(
            "test", metavar="TEST", nargs="?",
            help="write the kernel of its rows with those of TRAIN; by default TRAIN with itself",
        )  # fmt: skip
        train.complete = test.complete = _FILE  # type: ignore[attr-defined]
        _add_output(parser, "file to write (.gz, .bz2, .xz), or - for standard output")
        _add_reading(parser)
        parser.set_defaults(run="kernel", kernel_name=name)


def _add_pairs(commands: Any) -> None:
    pairs = commands.add_parser(
        "pairs",
        help="find near-duplicates among rows of LIBSVM files, texts or files of codes",
        description="Find near-duplicates: pairs of rows of LIBSVM files, of texts or of files of "
        "codes, whose kernel\nis at least a threshold. Each line of the output has the numbers of "
        "two rows, which count from 1\nthrough all inputs, or their ids, and their similarity, "
        "separated by tabs; and the comments of the\ntwo rows, if the inputs have comments.",
    )
    kinds = pairs.add_subparsers(required=True, metavar="MAP")
    for name in PAIR_MAPS:
        parser = _add_kind(kinds, name, MAPS[name], PAIR_EXAMPLES, _about_maps(pairs.description))
        file = parser.add_argument(
            "inputs", nargs="+", metavar="INPUT",
            help="LIBSVM file (.gz, .bz2, .xz, .zst); file of codes (.npy), whose map is then that "
            "of all inputs; directory, pattern, or - for standard input; with --texts, raw texts",
        )  # fmt: skip
        other = parser.add_argument(
            "--other", nargs="+", metavar="INPUT",
            help="find pairs of a row of the inputs and a row of these; without it, within the "
            "inputs",
        )  # fmt: skip
        file.complete = other.complete = _FILE  # type: ignore[attr-defined]
        _add_output(parser, "file to write (.gz, .bz2, .xz), or - for standard output")
        _add_search(parser)
        parser.add_argument(
            "--exact", action="store_true",
            help="decide by the exact kernel, among pairs whose estimates may be a little lower, "
            "and write its value; reads the inputs again",
        )  # fmt: skip
        if name == CONTAINMENT_MAP:
            parser.add_argument(
                "--containment", action="store_true",
                help="find pairs of which the first set is contained in the second, up to the "
                "threshold; takes many hashes, such as --n-hashes 16384 where the second is 100 "
                "times as large, fewer with --exact; an error says how many",
            )  # fmt: skip
        _add_stages(parser)
        parser.add_argument(
            "--max-bytes", type=integer, default=2**30, metavar="N",
            help="memory for the hashes of rows, 8 bytes each, beside codes; where those of all "
            "rows take more, codes are read several times (default: 2**30)",
        )  # fmt: skip
        _add_seed(parser, argparse.SUPPRESS)  # codes may have another one, unless it is given
        _add_reading(parser)
        _add_texts(parser, has_labels=False)
        parser.set_defaults(run="pairs", map_name=name)


def _add_seed(parser: argparse.ArgumentParser, default: Any = 0) -> None:
    parser.add_argument(
        "--seed", type=integer, default=default, help="seed of the random numbers (default: 0)"
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Options of commands that find near-duplicates."""
    parser.add_argument(
        "--threshold", type=float, default=0.8,
        help="the least similarity, above 0 and at most 1 (default: 0.8)",
    )  # fmt: skip
    parser.add_argument(
        "--recall", type=float, default=0.95,
        help="probability that a pair at the threshold is found; 1 compares all pairs "
        "(default: 0.95)",
    )  # fmt: skip


def _add_stages(parser: argparse.ArgumentParser) -> None:
    _add_tasks(
        parser,
        "stages, whose results are in OUTPUT.stages",
        "make all results; without it, those are taken that an earlier run of the same options "
        "and inputs has made",
        "make codes on a Dask cluster, whose workers reach the inputs and OUTPUT.stages by the "
        "same paths",
    )


def _add_dedup(commands: Any) -> None:
    dedup = commands.add_parser(
        "dedup",
        help="remove the records that are near a record which is kept",
        description="Remove the records that are near a record which is kept before them, of texts "
        "or of rows\nof LIBSVM files; the others are written byte for byte and in their order. MAP "
        "may be left\nout; it is minhash then. Codes and other stages are kept in OUTPUT.stages. "
        "The last line\nsays how many records there are, how many are kept, why others were "
        "removed, how many\nclusters have several records, and how many the largest "
        "has.",
    )
    kinds = dedup.add_subparsers(required=True, metavar="MAP")
    for name in PAIR_MAPS:
        parser = _add_kind(kinds, name, MAPS[name], DEDUP_EXAMPLES, _about_maps(dedup.description))
        inputs = parser.add_argument(
            "inputs", nargs="+", metavar="INPUT",
            help="file of texts (.txt, .jsonl, .ndjson, .parquet) or LIBSVM file, plain or "
            "compressed (.gz, .bz2, .xz, .zst) but for Parquet; directory, pattern, or - for "
            "standard input",
        )  # fmt: skip
        inputs.complete = _FILE  # type: ignore[attr-defined]
        _add_output(
            parser,
            "file to write (.gz, .bz2, .xz, .zst); or directory, for one output for each input; or "
            "- for standard output",
        )
        _add_search(parser)
        _add_seed(parser)
        parser.add_argument(
            "--exact", action="store_true",
            help="decide by the exact kernel, among pairs whose estimates may be a little lower; "
            "reads the inputs again",
        )  # fmt: skip
        parser.add_argument(
            "--rule", choices=("kept", "chain"), default="kept",
            help="what is removed: a record that is near a kept one, or all but one record of each "
            "cluster that chains of pairs join (default: kept)",
        )  # fmt: skip
        parser.add_argument(
            "--keep", type=_name, default="first", metavar="first|longest|FIELD",
            help="which records come first: as they stand; the longest, which have the most "
            "characters of text or the most entries; or those with the largest number in a field "
            "of texts, and last those without one (default: first)",
        )  # fmt: skip
        if name == CONTAINMENT_MAP:
            parser.add_argument(
                "--similarity", choices=("jaccard", "containment"), default="jaccard",
                help="containment removes a record of which a kept one has this share, the "
                "threshold; with --keep longest, parts of longer records; takes many hashes, fewer "
                "with --exact (default: jaccard)",
            )  # fmt: skip
        bad = parser.add_argument(
            "--bad-records", type=_name, metavar="FILE",
            help="set aside records that cannot be read, or are too short or too long, with file, "
            "line and reason; without it, the first is an error",
        )  # fmt: skip
        bad.complete = _FILE  # type: ignore[attr-defined]
        for side, words in (("min", "fewer"), ("max", "more")):
            parser.add_argument(
                f"--{side}-length", type=integer, metavar="N",
                help=f"a text of {words} characters is a bad record",
            )  # fmt: skip
        removals = parser.add_argument(
            "--removed", type=_name, metavar="REMOVED.tsv",
            help="also write each removed record, the kept record that it is near, and their "
            "similarity",
        )  # fmt: skip
        report = parser.add_argument(
            "--report", type=_name, metavar="REPORT.html",
            help="also write a page that shows fifty removals side by side, figures and settings; "
            "it contains texts of records",
        )  # fmt: skip
        removals.complete = report.complete = _FILE  # type: ignore[attr-defined]
        parser.add_argument(
            "--dry-run", action="store_true", help="write tables and the report, but no output",
        )  # fmt: skip
        table = parser.add_argument(
            "--clusters", type=_name, metavar="CLUSTERS.tsv",
            help="also write the number of each record, or its id, and that of its cluster",
        )  # fmt: skip
        codes = parser.add_argument(
            "--against", action="append", type=_name, metavar="FOLDER",
            help="remove what is near a record that an earlier run kept, whose folder is "
            "OUTPUT.stages, that one of a directory of such folders kept, or near a record of a "
            "file of codes; may be given several times",
        )  # fmt: skip
        table.complete = codes.complete = _FILE  # type: ignore[attr-defined]
        _add_stages(parser)
        _add_reading(parser)
        _add_texts(
            parser,
            has_labels=False,
            default="auto:5 if the names of the inputs are those of texts",
        )
        parser.set_defaults(run="dedup", map_name=name)


def _add_train(commands: Any) -> None:
    train = commands.add_parser(
        "train",
        help="train a linear model on the codes of a map, from LIBSVM files, texts or codes",
        description="Train a linear model on the codes of a map. sparsemaps train MAP --help lists "
        "the options.",
    )
    kinds = train.add_subparsers(required=True, metavar="MAP")
    for name in PAIR_MAPS:
        parser = _add_kind(kinds, name, MAPS[name], TRAIN_EXAMPLES, _about_maps(train.description))
        inputs = parser.add_argument(
            "inputs", nargs="+", metavar="INPUT",
            help="LIBSVM file (.gz, .bz2, .xz, .zst); file of codes (.npy) with its labels beside; "
            "directory, pattern, or - for standard input; with --texts, raw texts",
        )  # fmt: skip
        inputs.complete = _FILE  # type: ignore[attr-defined]
        _add_output(parser, "file of the model to write")
        parser.add_argument(
            "--loss", default="squared_hinge",
            choices=("squared_hinge", "hinge", "log_loss", "squared_epsilon_insensitive",
                     "epsilon_insensitive"),
            help="the last two are of regression (default: squared_hinge)",
        )  # fmt: skip
        for option, kind, default, text in (
            ("C", float, 1.0, "weight of the losses; less regularises more"),
            ("epsilon", float, 0.1, "for regression, differences that cost nothing"),
            ("tol", float, 1e-3, "how exact the solution is"),
            ("max-iter", integer, 1000, "largest number of passes"),
        ):
            parser.add_argument(
                f"--{option}", type=kind, default=default, help=f"{text} (default: {default})",
                metavar=option.upper().replace("-", "_"),
            )  # fmt: skip
        parser.add_argument(
            "--balanced", action="store_true", help="weigh classes by their numbers of records"
        )
        held_out = parser.add_argument(
            "--validation", nargs="+", metavar="INPUT",
            help="print accuracy and a table of confusion on these records; for two classes, the "
            "area under the ROC curve too",
        )  # fmt: skip
        held_out.complete = _FILE  # type: ignore[attr-defined]
        _add_seed(parser)
        _add_reading(parser)
        _add_texts(parser)
        parser.set_defaults(run="train", map_name=name)


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser(
        "predict",
        help="write the label and the scores of each record, by a model of sparsemaps train",
        description="Write a line for each record: its number, or its id; its label; and the score "
        "of each\nclass, of two classes that of the second; separated by tabs.",
        epilog=PREDICT_EXAMPLES,
    )
    _add_model_inputs(predict, "or file of codes (.npy), ")
    _add_output(
        predict,
        "file to write (.gz, .bz2, .xz, .zst), - for standard output, or DIRECTORY/ "
        "for an output of each input",
    )
    predict.add_argument("--id-field", metavar="FIELD", help="field or column of the id of a text")
    predict.add_argument(
        "--explain", type=integer, default=0, metavar="N",
        help="of texts, also write the N n-grams that decide, with what they add to the score",
    )  # fmt: skip
    _add_outputs_of_model(predict)
    predict.set_defaults(run="predict")


def _add_filter(commands: Any) -> None:
    chosen = commands.add_parser(
        "filter",
        help="write the records that have a label, by a model of sparsemaps train",
        description="Write the records that have a label, byte for byte and in their order.",
        epilog=FILTER_EXAMPLES,
    )
    _add_model_inputs(chosen, "")
    _add_output(
        chosen,
        "file to write (.gz, .bz2, .xz, .zst), - for standard output, or DIRECTORY/ "
        "for an output of each input",
    )
    chosen.add_argument("--label", required=True, help="the label of the records")
    chosen.add_argument(
        "--min-score", type=float, metavar="S",
        help="least score of that label; without it, it must be the highest",
    )  # fmt: skip
    _add_outputs_of_model(chosen)
    chosen.set_defaults(run="filter")


def _add_outputs_of_model(parser: argparse.ArgumentParser) -> None:
    _add_tasks(
        parser,
        "many files, where OUTPUT is a directory",
        "make all outputs; without it, those are taken that an earlier run of the same model, "
        "options and inputs has made",
        "use a Dask cluster, whose workers reach the inputs and OUTPUT by the same paths",
    )


def _add_model_inputs(parser: argparse.ArgumentParser, more: str) -> None:
    """The model, its inputs, and how they are read."""
    model = parser.add_argument("model", metavar="MODEL", help="file that train has written")
    inputs = parser.add_argument(
        "inputs", nargs="+", metavar="INPUT",
        help="texts (.txt, .jsonl, .parquet) if the model is of texts, and else LIBSVM file, "
        f"{more}as for train; directory, pattern, or - for standard input",
    )  # fmt: skip
    model.complete = inputs.complete = _FILE  # type: ignore[attr-defined]
    parser.add_argument("--field", help="field or column of the text (default: text)")
    parser.add_argument(
        "--text-format", choices=("txt", "jsonl", "parquet"),
        help="format of all inputs, where their names do not tell, as for pipes",
    )  # fmt: skip
    _add_reading(parser)


def _add_info(commands: Any) -> None:
    info = commands.add_parser(
        "info",
        help="print how many rows, columns, entries and labels a file has, and which map made it",
        description="Print how many rows, columns and entries a file has, and which values and "
        "labels; of the\noutputs of sparsemaps, also the map with its parameters, its seed, the "
        "scheme of random numbers,\nthe width of the rows, and the analyzer of texts.",
        epilog=INFO_EXAMPLES,
    )
    file = info.add_argument(
        "input", metavar="FILE",
        help="LIBSVM file (.gz, .bz2, .xz), output of sparsemaps map (.npy, .npz, and the files "
        "beside them), index, saved map, or - for standard input",
    )  # fmt: skip
    file.complete = _FILE
    _add_n_jobs(info)
    info.set_defaults(run="info")


def _add_kind(
    kinds: Any, name: str, kind: Kind, examples: str, about: str = ""
) -> argparse.ArgumentParser:
    """The parser of a map or kernel; `about` says what the command does with it."""
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


def _about_maps(about: str) -> str:
    """The description of a command whose map may be left out, with the names of maps."""
    names = textwrap.fill(f"MAP is one of {', '.join(PAIR_MAPS)}; minhash if left out.", 100)
    return f"{about}\n\n{names}"


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


def _add_output(parser: argparse.ArgumentParser, text: str) -> None:
    output = parser.add_argument("-o", "--output", required=True, type=_name, help=text)
    output.complete = _FILE  # type: ignore[attr-defined]


def _add_reading(parser: argparse.ArgumentParser) -> None:
    _add_n_jobs(parser)
    parser.add_argument(
        "--zero-based", action="store_true", help="indices of the input count from 0, not from 1"
    )
    _add_max_line_bytes(parser)


def _add_max_line_bytes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-line-bytes", type=integer, default=2**30, metavar="N",
        help="longest line of an input; a longer one is an error (default: 2**30)",
    )  # fmt: skip


def _add_n_jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--n-jobs", type=integer, default=1, metavar="N",
        help="number of threads; -1 is one for each processor (default: 1)",
    )  # fmt: skip
    parser.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="show a progress bar on standard error; by default if that is a terminal",
    )


def _name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("the name must not be empty")
    return text


def _task(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not int(match[1]) < int(match[2]):
        raise argparse.ArgumentTypeError(f"expected I/N with 0 <= I < N, got {text!r}")
    return int(match[1]), int(match[2])
