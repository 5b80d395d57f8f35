"""Options of the subcommands of linear models: train, predict and filter."""

import argparse
from functools import partial

from sparsemaps.cli import _shared_options as shared
from sparsemaps.cli._commands import Command
from sparsemaps.cli._help import HelpParser
from sparsemaps.files._job_options import (
    Aside,
    LabelChoice,
    LinearModel,
    LineOptions,
    Texts,
    Training,
)

TRAIN_EXAMPLES = """\
examples:
  sparsemaps train {name} train.svm -o model --validation test.svm
  sparsemaps train {name} texts.jsonl -o model --texts char:1-3 --label-field lang --snippets 4 12
  sparsemaps predict model new.jsonl -o labels.tsv --id-field id
"""

PREDICT_EXAMPLES = """\
examples:
  sparsemaps predict model new.jsonl.zst -o labels.tsv --id-field id
  sparsemaps predict model new.jsonl -o labels.jsonl --top 3 --min-proba 0.1
  sparsemaps predict model new.svm -o -
  sparsemaps predict model new.jsonl -o labels.tsv --explain 5
      with the five n-grams that decide each label
"""

FILTER_EXAMPLES = """\
examples:
  sparsemaps filter model texts.jsonl.zst -o good.jsonl.zst --label good
  sparsemaps filter model parts/*.parquet -o good.parquet --label good --min-score 0.5
  sparsemaps filter model texts.jsonl -o best.jsonl --label good --fraction 0.1
      the tenth with the highest scores
"""


_COMMON_OF_TRAIN = (
    *shared.SIZES, "--C", "--loss", "--class-weight", "--validation", "--calibrate", "--texts",
    "--field", "--label-field", "--snippets", "--idf", "--n-jobs",
)  # fmt: skip

_COMMON_OF_PREDICT = (
    "--id-field", "--field", "--top", "--proba", "--min-score", "--min-proba", "--unknown",
    "--explain", "--n-jobs",
)  # fmt: skip

_COMMON_OF_FILTER = "--min-score", "--min-proba", "--fraction", "--field", "--n-jobs"


def _fill_train(_: str, parser: HelpParser) -> None:
    shared.add_inputs(
        parser,
        "LIBSVM file (.gz, .bz2, .xz, .zst); file of codes (.npy) with its labels beside it; "
        "texts (.jsonl, .csv, .parquet, .arrow); directory, pattern, or - for standard input",
    )
    shared.add_output(parser, "file of the model to write")
    shared.add_values(parser, LinearModel, Training, defaults={"C": "1.0"})
    shared.add_seed(parser, argparse.SUPPRESS)  # codes may have been made with another one
    shared.add_reading(parser)
    shared.add_values(parser, Aside)
    shared.add_texts(parser, but=shared.OF_NEAR, default=shared.LEARNT_BY_NAMES)
    parser.common = _COMMON_OF_TRAIN


TRAIN = Command(
    "train",
    "sparsemaps.cli._train_command:train",
    partial(
        shared.add_maps_with_codes,
        examples=TRAIN_EXAMPLES,
        fill=_fill_train,
        usual="default for texts: minhash",
    ),
    help="train a linear model on the codes of a map, from LIBSVM files, texts or codes",
    description="Train a linear model on the codes of a map. sparsemaps train MAP --help lists "
    "the options.",
)


def _fill_predict(parser: HelpParser) -> None:
    _add_model_and_files(parser, "or file of codes (.npy), ")
    shared.add_values(parser, LineOptions)
    shared.add_many(parser)
    parser.common = _COMMON_OF_PREDICT


PREDICT = Command(
    "predict",
    "sparsemaps.cli._model_commands:predict",
    _fill_predict,
    help="label records with a trained model",
    description="Write a table with a header and a line for each record: its number or id, its "
    "label, and the\nscore of each class, separated by tabs. If the name of the output ends in "
    ".jsonl, write a JSON\nobject for each record.",
    epilog=PREDICT_EXAMPLES,
)


def _fill_filter(parser: HelpParser) -> None:
    _add_model_and_files(parser, "", "id_field")
    parser.add_argument(
        "--label", required=True, action="append",
        help="label of the records to keep; may be given several times, and the highest "
        "score then counts",
    )  # fmt: skip
    shared.add_values(parser, LabelChoice)
    shared.add_many(parser)
    parser.common = _COMMON_OF_FILTER


FILTER = Command(
    "filter",
    "sparsemaps.cli._model_commands:filter",
    _fill_filter,
    help="keep the records to which a trained model assigns a label",
    description="Write the records to which a model assigns a label, unchanged and in order.",
    epilog=FILTER_EXAMPLES,
)


def _add_model_and_files(parser: HelpParser, more: str, *but: str) -> None:
    """Add the model, its inputs, the options for reading them, and the output."""
    shared.add_path(parser, "model", metavar="MODEL", help="file written by train")
    shared.add_inputs(
        parser,
        "texts (.txt, .jsonl, .csv, .parquet, .arrow) if the model was trained on texts; otherwise "
        f"LIBSVM file, {more}as for train; directory, pattern, or - for standard input",
    )
    shared.add_values(
        parser, Texts,
        but=(
            "label_field", "max_line_bytes", "frequencies",
            *shared.OF_ANALYZERS, *shared.OF_NEAR, *shared.OF_WEIGHTS, *but,
        ),
    )  # fmt: skip
    shared.add_reading(parser)
    shared.add_values(parser, Aside)
    shared.add_output(
        parser,
        "file to write (.gz, .bz2, .xz, .zst), - for standard output, or DIRECTORY/ for one output "
        "per input",
    )
