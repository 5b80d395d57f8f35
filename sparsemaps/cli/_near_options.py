"""Options of the subcommands that find near-duplicates: pairs and dedup."""

import argparse
from typing import Any

from sparsemaps.cli import _shared_options as shared
from sparsemaps.cli._options import CONTAINMENT_MAP, integer

PAIR_EXAMPLES = """\
examples:
  sparsemaps pairs {name} texts.jsonl.zst -o pairs.tsv --threshold 0.8
  zcat big.svm.gz | sparsemaps pairs {name} - -o pairs.tsv.gz --threshold 0.9 --exact
  sparsemaps pairs {name} codes/ --other new.npy -o pairs.tsv
      files of codes that sparsemaps map --format npy has written
"""

DEDUP_EXAMPLES = """\
examples:
  sparsemaps dedup {name} texts.jsonl.zst -o kept.jsonl.zst --threshold 0.8
  sparsemaps dedup {name} parts/ -o kept/ --keep longest --clusters clusters.tsv
      one output for each input; duplicates are found across all of them
  sparsemaps dedup {name} parts/ -o kept/ --threshold 0.9
      with the codes of the run before
  sparsemaps dedup {name} may.jsonl -o may.kept.jsonl --against april.kept.jsonl.stages/codes.npy
      without what is near the records of an earlier run
"""

_RECORDS = (
    "file of texts (.txt, .jsonl, .ndjson, .parquet) or LIBSVM file, plain or compressed (.gz, "
    ".bz2, .xz, .zst) but for Parquet"
)
"""The files that hold records."""

_TEXTS_BY_NAMES = "auto:5 if the names of the inputs are those of texts"
"""The default of --texts."""


def add_pairs(commands: Any) -> None:
    pairs = commands.add_parser(
        "pairs",
        help="find near-duplicates among rows of LIBSVM files, texts or files of codes",
        description="Find near-duplicates: pairs of rows of LIBSVM files, of texts or of files of "
        "codes, whose kernel\nis at least a threshold. Each line of the output has the numbers of "
        "two rows, which count from 1\nthrough all inputs, or their ids, and their similarity, "
        "separated by tabs; and the comments of the\ntwo rows, if the inputs have comments.",
    )
    for name, parser in shared.parsers_of_maps(pairs, PAIR_EXAMPLES):
        shared.add_inputs(
            parser,
            f"{_RECORDS}; file of codes (.npy), whose map is then that of all inputs; directory, "
            "pattern, or - for standard input",
        )
        shared.add_path(
            parser, "--other", nargs="+", metavar="INPUT",
            help="find pairs of a row of the inputs and a row of these; without it, within the "
            "inputs",
        )  # fmt: skip
        shared.add_output(parser, "file to write (.gz, .bz2, .xz, .zst), or - for standard output")
        _add_search(parser)
        if name == CONTAINMENT_MAP:
            parser.add_argument(
                "--containment", action="store_true",
                help="find pairs whose first set has at least this share of its members, the "
                "threshold, in the second; needs many hashes, such as --n-hashes 16384 where the "
                "second is 100 times as large, fewer with --exact; an error says how many",
            )  # fmt: skip
        _add_stages(parser)
        parser.add_argument(
            "--max-bytes", type=integer, default=2**30, metavar="N",
            help="memory for the hashes of rows, 8 bytes each, beside codes; where those of all "
            "rows take more, codes are read several times (default: 2**30)",
        )  # fmt: skip
        shared.add_seed(parser, argparse.SUPPRESS)  # codes may have another one, unless it is given
        shared.add_reading(parser)
        shared.add_bad_records(parser)
        shared.add_texts(parser, has_labels=False, default=_TEXTS_BY_NAMES)
        _add_own(parser)
        parser.set_defaults(run="sparsemaps.cli._near_commands:pairs")


def add_dedup(commands: Any) -> None:
    dedup = commands.add_parser(
        "dedup",
        help="remove near-duplicate records",
        description="Remove near-duplicate records of texts or LIBSVM files. The other records are "
        "written\nbyte for byte, in their order. MAP defaults to minhash. Codes and other results "
        "stay in\nOUTPUT.stages. The last line counts the records, those kept, those removed by "
        "reason, and\nthe clusters.",
    )
    for _, parser in shared.parsers_of_maps(dedup, DEDUP_EXAMPLES):
        shared.add_inputs(parser, f"{_RECORDS}; directory, pattern, or - for standard input")
        shared.add_output(
            parser,
            "file to write (.gz, .bz2, .xz, .zst); or directory, for one output for each input; or "
            "- for standard output",
        )
        _add_search(parser)
        shared.add_seed(parser)
        parser.add_argument(
            "--keep", type=shared.non_empty, default="first", metavar="first|longest|FIELD",
            help="which records come first: as they stand; the longest, which have the most "
            "characters of text or the most entries; or those with the largest number in a field "
            "of texts, and last those without one (default: first)",
        )  # fmt: skip
        shared.add_bad_records(parser)
        shared.add_path(
            parser, "--removed", type=shared.non_empty, metavar="REMOVED.tsv",
            help="also write each removed record, the kept record that it is near, and their "
            "similarity",
        )  # fmt: skip
        shared.add_path(
            parser, "--report", type=shared.non_empty, metavar="REPORT.html",
            help="also write a page that shows fifty removals side by side, figures and settings; "
            "it contains texts of records",
        )  # fmt: skip
        parser.add_argument(
            "--dry-run", action="store_true", help="write tables and the report, but no output",
        )  # fmt: skip
        shared.add_path(
            parser, "--clusters", type=shared.non_empty, metavar="CLUSTERS.tsv",
            help="also write the number of each record, or its id, and that of its cluster",
        )  # fmt: skip
        shared.add_path(
            parser, "--against", action="append", type=shared.non_empty, metavar="FOLDER",
            help="remove records that are near a record of an earlier delivery; FOLDER is "
            "OUTPUT.stages of an earlier run, a directory of such folders, or a file of codes; may "
            "be given several times",
        )  # fmt: skip
        _add_stages(parser)
        shared.add_reading(parser)
        shared.add_texts(parser, has_labels=False, default=_TEXTS_BY_NAMES)
        _add_own(parser)
        parser.set_defaults(run="sparsemaps.cli._near_commands:dedup")


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threshold", type=float, default=0.8,
        help="the least similarity, above 0 and at most 1 (default: 0.8)",
    )  # fmt: skip
    parser.add_argument(
        "--recall", type=float, default=0.95,
        help="probability that a pair at the threshold is found; 1 compares all pairs "
        "(default: 0.95)",
    )  # fmt: skip
    parser.add_argument(
        "--exact", action="store_true",
        help="decide by the exact kernel, among pairs whose estimates may be a little lower, and "
        "write its value; reads the inputs again",
    )  # fmt: skip


def _add_own(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("n-grams that many records share")
    group.add_argument(
        "--max-df", type=integer, metavar="T",
        help="n-grams that more than T records have do not count in a record with --min-own "
        "others; so a frame that many records share does not decide",
    )  # fmt: skip
    group.add_argument(
        "--min-own", type=integer, metavar="N",
        help="a record with fewer n-grams of its own is judged by all of them (default: 12)",
    )  # fmt: skip
    shared.add_path(
        group, "--frequencies", type=shared.non_empty, metavar="FILE",
        help="the table of frequencies of an earlier run, frequencies.npy of its folder; without "
        "it, the inputs are counted, or the table of --against is taken",
    )  # fmt: skip


def _add_stages(parser: argparse.ArgumentParser) -> None:
    shared.add_tasks(
        parser,
        "stages, whose results are in OUTPUT.stages",
        "make all results; without it, those are taken that an earlier run of the same options "
        "and inputs has made",
        "run the stages of several tasks on a Dask cluster, whose workers reach the inputs and "
        "OUTPUT.stages by the same paths",
    )
