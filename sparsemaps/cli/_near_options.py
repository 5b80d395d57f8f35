"""Options of the subcommands that find near-duplicates: pairs and dedup."""

import argparse
from functools import partial

from sparsemaps.cli import _shared_options as shared
from sparsemaps.cli._commands import Command
from sparsemaps.cli._help import HelpParser
from sparsemaps.cli._options import CONTAINMENT_MAP
from sparsemaps.files._job_options import Aside, PairSearch, Removal, Search, Tables

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
      one output per input; duplicates are found across all of them
  sparsemaps dedup {name} parts/ -o kept/ --threshold 0.9
      with the codes of the previous run
  sparsemaps dedup {name} may.jsonl -o may.kept.jsonl --against april.kept.jsonl.stages/codes.npy
      without the near-duplicates of an earlier run
"""

_RECORDS = (
    "file of texts (.txt, .jsonl, .csv, .parquet, .arrow) or LIBSVM file, plain or compressed "
    "(.gz, .bz2, .xz, .zst), except Parquet and Arrow"
)
"""Files that contain records."""

_TEXTS_BY_NAMES = "auto:5 if the inputs are named like texts"
"""The default of --texts, in words."""


_COMMON_OF_PAIRS = (
    *shared.SIZES, "--other", "--threshold", "--exact", "--containment", "--texts", "--field",
    "--id-field", "--n-jobs",
)  # fmt: skip

_COMMON_OF_DEDUP = (
    *shared.SIZES, "--threshold", "--exact", "--keep", "--against", "--removed", "--report",
    "--texts", "--field", "--max-df", "--n-jobs",
)  # fmt: skip


def _fill_pairs(name: str, parser: HelpParser) -> None:
    shared.add_inputs(
        parser,
        f"{_RECORDS}; file of codes (.npy), whose map then applies to all inputs; directory, "
        "pattern, or - for standard input",
    )
    shared.add_path(
        parser, "--other", nargs="+", metavar="INPUT",
        help="find pairs between the inputs and these files; by default, within the inputs",
    )  # fmt: skip
    shared.add_output(parser, "file to write (.gz, .bz2, .xz, .zst), or - for standard output")
    but = () if name == CONTAINMENT_MAP else ("containment",)
    shared.add_values(parser, PairSearch, Aside, but=but)
    _add_running(parser, argparse.SUPPRESS)  # codes may have another seed, unless it is given
    parser.common = _COMMON_OF_PAIRS


PAIRS = Command(
    "pairs",
    "sparsemaps.cli._near_commands:pairs",
    partial(shared.add_maps_with_codes, examples=PAIR_EXAMPLES, fill=_fill_pairs),
    help="find near-duplicates among rows of LIBSVM files, texts or files of codes",
    description="Find near-duplicates: pairs of rows of LIBSVM files, texts or codes whose kernel "
    "value is at\nleast a threshold. Each line of the output has the numbers of two rows, counted "
    "from 1 over all\ninputs, or their ids, and their similarity, separated by tabs. If the inputs "
    "have comments, those\nof the two rows follow.",
)


def _fill_dedup(_: str, parser: HelpParser) -> None:
    shared.add_inputs(parser, f"{_RECORDS}; directory, pattern, or - for standard input")
    shared.add_output(
        parser,
        "file to write (.gz, .bz2, .xz, .zst), directory for one output per input, or - for "
        "standard output",
    )
    shared.add_values(parser, Search, Removal, Tables)
    _add_running(parser)
    parser.common = _COMMON_OF_DEDUP


DEDUP = Command(
    "dedup",
    "sparsemaps.cli._near_commands:dedup",
    partial(shared.add_maps_with_codes, examples=DEDUP_EXAMPLES, fill=_fill_dedup),
    help="remove near-duplicate records",
    description="Remove near-duplicate records from texts or LIBSVM files. The other records are "
    "written\nunchanged and in order. MAP defaults to minhash. Codes and other results "
    "stay in\nOUTPUT.stages. The last line counts all records, the kept ones, the removed ones by"
    "\nreason, and the clusters.",
)


def _add_running(parser: HelpParser, seed: object = 0) -> None:
    """Add the options that both commands have after their own: seed, stages, reading and texts."""
    shared.add_seed(parser, seed)
    shared.add_tasks(
        parser,
        "stages, whose results are in OUTPUT.stages",
        "run stages with several tasks on a Dask cluster whose workers find the inputs and "
        "OUTPUT.stages under the same paths",
    )
    shared.add_reading(parser)
    shared.add_texts(parser, but=("label_field", *shared.OF_WEIGHTS), default=_TEXTS_BY_NAMES)
