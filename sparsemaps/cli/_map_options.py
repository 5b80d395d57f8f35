"""Options of the subcommands map, text, kernel, info and demo."""

import argparse
from functools import partial

from sparsemaps.cli import _shared_options as shared
from sparsemaps.cli._commands import Command
from sparsemaps.cli._help import HelpParser
from sparsemaps.cli._options import KERNELS, MAPS, SAVED, integer
from sparsemaps.files._job_options import Aside, MappedRows, Texts

MAP_EXAMPLES = """\
examples:
  sparsemaps map {name} train.svm -o train.mapped
      with the same options and seed, the test file is mapped in the same way
  zcat big.svm.gz | sparsemaps map {name} - -o - | xz > big.mapped.xz
      from standard input to standard output
  sparsemaps map {name} parts/ -o mapped/ --stage map --task 0/8
      one output per input, for an eighth of the inputs; finished outputs are skipped
  sparsemaps map {name} parts/ -o mapped/ --scheduler tcp://scheduler:8786
      on a Dask cluster; workers may fail meanwhile
  sparsemaps map {name} --texts word:3 texts.jsonl -o texts.mapped
      sets or counts of runs of three words
"""

TEXT_EXAMPLES = """\
examples:
  sparsemaps text pages.jsonl.xz -o pages.svm --label-field language --ngram-range 1 2
  sparsemaps text texts/ -o rows/ --analyzer byte
"""

KERNEL_EXAMPLES = """\
examples:
  sparsemaps kernel {name} train.svm -o train.kernel
  sparsemaps kernel {name} train.svm test.svm -o test.kernel
  svm-train -t 4 train.kernel model && svm-predict test.kernel model predicted
"""

INFO_EXAMPLES = """\
examples:
  sparsemaps info train.svm.xz
  sparsemaps info codes.npy
  sparsemaps info model
"""

DEMO_EXAMPLES = """\
examples:
  sparsemaps demo
  sparsemaps demo -o /tmp/demo
"""


_COMMON = (
    *shared.SIZES, "--bits", "--gamma", "--kernel", "--degree", "--method",
    "--texts", "--format", "--seed", "--save-config", "--config", "--n-jobs",
)  # fmt: skip

_COMMON_OF_TEXT = (
    "--analyzer", "--ngram-range", "--n-features", "--binary", "--field", "--label-field",
    "--n-jobs",
)  # fmt: skip


def _fill_demo(parser: HelpParser) -> None:
    parser.add_argument(
        "-o", "--output", default="sparsemaps-demo", type=shared.non_empty, metavar="DIRECTORY",
        help="where to write LIBSVM files (default: sparsemaps-demo)",
    )  # fmt: skip
    shared.add_path(
        parser, "--plot", type=shared.non_empty, metavar="FILE.svg",
        help="also draw accuracy against bytes per row; needs matplotlib",
    )  # fmt: skip
    shared.add_json(parser)
    parser.set_defaults(ordered=False)  # the tables advise this option of compare


DEMO = Command(
    "demo",
    "sparsemaps.cli._map_commands:demo",
    _fill_demo,
    help="compare models and maps on data that every installation has",
    description="Run compare on handwritten digits and on texts, find the near-duplicates "
    "among the texts,\nand write LIBSVM files. It takes a minute and needs no network.",
    epilog=DEMO_EXAMPLES,
)


def _add_maps(parser: HelpParser) -> None:
    shared.add_kinds(parser, MAPS, MAP_EXAMPLES, _fill_map).add(_SAVED)


MAP = Command(
    "map",
    "sparsemaps.cli._map_commands:map",
    _add_maps,
    help="map the rows of LIBSVM files",
    description="Map the rows of LIBSVM files. sparsemaps map MAP --help lists the options.",
)


def _fill_map(name: str, parser: HelpParser) -> None:
    _add_map_options(parser)
    shared.add_seed(parser, argparse.SUPPRESS)  # the file of --config has one
    text = "file of a map written by --save-config"
    shared.add_path(parser, "--config", metavar="FILE", help=text)
    parser.common = _COMMON


def _fill_saved(parser: HelpParser) -> None:
    shared.add_path(parser, "--config", metavar="FILE", required=True, help="file of the map")
    _add_map_options(parser)
    parser.common = _COMMON
    parser.set_defaults(map_name=SAVED)


_SAVED = Command(
    SAVED,
    MAP.run,
    _fill_saved,
    help="a map from a file written by --save-config; the word saved may be omitted",
    description="Use a map from a file written by --save-config.",
    epilog="examples:\n  sparsemaps map minmax train.svm -o train.mapped --save-config map.json\n"
    "  sparsemaps map --config map.json test.svm -o test.mapped\n",
)


def _add_map_options(parser: HelpParser) -> None:
    shared.add_inputs(
        parser,
        "LIBSVM file (.gz, .bz2, .xz, .zst), directory, pattern such as 'parts/*.svm', or - "
        "for standard input; labels and qid: are copied to the output, comments are not; with "
        "--texts, raw texts",
    )
    shared.add_output(
        parser,
        "file to write (.gz, .bz2, .xz, .zst); or directory, for one output per input; or - "
        "for standard output",
    )
    shared.add_reading(parser)
    shared.add_values(parser, Aside)
    shared.add_texts(parser, but=shared.OF_NEAR)
    group = parser.add_argument_group("output")
    shared.add_values(group, MappedRows)
    shared.add_path(
        group, "--save-config", metavar="FILE", help="write the map to FILE, which --config reads"
    )
    shared.add_many(parser)


def _fill_text(parser: HelpParser) -> None:
    shared.add_inputs(
        parser,
        "file of texts: one per line (.txt), JSON Lines (.jsonl), .csv, .parquet, .arrow; the "
        "first three plain or compressed (.gz, .bz2, .xz, .zst); directory, pattern, or - for "
        "standard input",
    )
    shared.add_output(parser, "file to write; or directory, for one output per input; or -")
    parser.add_argument(
        "--analyzer", choices=("word", "char", "char_wb", "byte"), default="word",
        help="unit of the n-grams (default: word)",
    )  # fmt: skip
    parser.add_argument(
        "--ngram-range", nargs=2, type=integer, metavar=("LOW", "HIGH"),
        help="minimum and maximum size of n-grams (default: 1 1; for byte 3 3)",
    )  # fmt: skip
    parser.add_argument(
        "--n-features", type=integer, metavar="N", help="number of columns (default: 2**20)"
    )
    parser.add_argument("--binary", action="store_true", help="count each n-gram that occurs as 1")
    but = ("analyzer", "normalize", "max_line_bytes", "frequencies")
    shared.add_values(parser, Texts, but=(*but, *shared.OF_NEAR, *shared.OF_WEIGHTS))
    shared.add_reading(parser, Texts)
    shared.add_values(parser, Aside)
    shared.add_many(parser)
    parser.common = _COMMON_OF_TEXT


TEXT = Command(
    "text",
    "sparsemaps.cli._map_commands:text",
    _fill_text,
    help="write hashed n-grams of raw texts as LIBSVM files",
    description="Write the rows of scikit-learn's HashingVectorizer, with its defaults, as "
    "LIBSVM files; or counts of byte n-grams.",
    epilog=TEXT_EXAMPLES,
)


def _fill_kernel(name: str, parser: HelpParser) -> None:
    shared.add_path(
        parser,
        "train",
        metavar="TRAIN",
        help="LIBSVM file (.gz, .bz2, .xz, .zst), or - for standard input",
    )
    shared.add_path(
        parser, "test", metavar="TEST", nargs="?",
        help="write the kernel of its rows and the rows of TRAIN; by default, of TRAIN and "
        "itself",
    )  # fmt: skip
    shared.add_output(parser, "file to write (.gz, .bz2, .xz, .zst), or - for standard output")
    shared.add_reading(parser)


KERNEL = Command(
    "kernel",
    "sparsemaps.cli._map_commands:kernel",
    partial(
        shared.add_kinds,
        kinds=KERNELS,
        examples=KERNEL_EXAMPLES,
        fill=_fill_kernel,
        metavar="KERNEL",
    ),
    help="write an exact kernel in LIBSVM's precomputed format, for svm-train -t 4",
    description="Write an exact kernel in LIBSVM's precomputed format, for svm-train -t 4.",
)


def _fill_info(parser: HelpParser) -> None:
    shared.add_path(
        parser, "input", metavar="FILE",
        help="LIBSVM file (.gz, .bz2, .xz, .zst), codes or index (.npy), model, table of "
        "frequencies, or - for standard input",
    )  # fmt: skip
    shared.add_reading(parser, None)


INFO = Command(
    "info",
    "sparsemaps.cli._map_commands:info",
    _fill_info,
    help="summarize a file: rows, columns and labels, or a model and its map",
    description="Print how many rows, columns and entries a file has, and its values and labels. "
    "For files that\nsparsemaps has written, also print the map with its parameters, the seed, the "
    "scheme of random\nnumbers, the width of the rows, and the analyzer of texts. For models, also "
    "print when they were\ntrained, on how many records, and how accurate they were.",
    epilog=INFO_EXAMPLES,
)
