"""Options of the subcommand compare."""

from sparsemaps.cli import _shared_options as shared
from sparsemaps.cli._commands import Command
from sparsemaps.cli._help import HelpParser
from sparsemaps.files._job_options import Aside

COMPARE_EXAMPLES = """\
examples:
  sparsemaps compare train.svm --test test.svm
  sparsemaps compare train.svm --seconds 300 --n-jobs -1 --plot compared.svg
  sparsemaps compare table.csv --label-field quality
  sparsemaps compare texts.jsonl --texts char:1-3 --label-field language
"""


_OF_OUTPUTS = "id_field", "frequencies"
"""Options of `Texts` for commands that write records or tables."""


_COMMON = (
    "--test", "--seconds", "--regression", "--ordered", "--plot", "--texts", "--field",
    "--label-field", "--seed", "--n-jobs",
)  # fmt: skip


def _fill(parser: HelpParser) -> None:
    shared.add_path(
        parser, "input", metavar="INPUT",
        help="LIBSVM file (.gz, .bz2, .xz, .zst), CSV file of numbers, or texts (.jsonl, .csv, "
        ".parquet, .arrow), with labels",
    )  # fmt: skip
    shared.add_path(
        parser, "--test", type=shared.non_empty, metavar="FILE",
        help="rows for testing only; models trained on all rows of INPUT are scored on them",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="S",
        help="time limit of the comparison (default: 60)",
    )  # fmt: skip
    parser.add_argument(
        "--regression", action="store_true",
        help="labels are numbers to predict; the default for fractions, and for more than 100 "
        "values with fewer than 10 records each",
    )  # fmt: skip
    parser.add_argument(
        "--ordered", action="store_true",
        help="rows are ordered by time: hold out the last ones instead of random ones",
    )  # fmt: skip
    shared.add_path(
        parser, "--plot", type=shared.non_empty, metavar="FILE.svg",
        help="also plot scores against bytes per row; needs matplotlib",
    )  # fmt: skip
    shared.add_seed(parser)
    shared.add_reading(parser)
    shared.add_values(parser, Aside)
    but = (*shared.OF_NEAR, *shared.OF_WEIGHTS, *_OF_OUTPUTS)
    shared.add_texts(parser, but=but, default=shared.LEARNT_BY_NAMES)
    parser.common = _COMMON


COMPARE = Command(
    "compare",
    "sparsemaps.cli._compare:compare",
    _fill,
    help="compare maps, linear models, trees and exact kernels on a file",
    description="Compare maps, linear models, boosted trees and exact kernels on the rows of a "
    "file. Print a\ntable, and the command that trains the choice.",
    epilog=COMPARE_EXAMPLES,
)
