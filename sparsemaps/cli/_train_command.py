"""The subcommand train."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from sparsemaps import files, from_config
from sparsemaps._io._sources import expand
from sparsemaps._tools._checks import finite_or_none
from sparsemaps._tools._escapes import print_line
from sparsemaps.cli._given import make_map, refuse_other_options, source_to_learn, value_of
from sparsemaps.cli._last_line import say, words_of
from sparsemaps.codes import PackedCodes
from sparsemaps.files import _learning
from sparsemaps.files._job import vectorizer_for
from sparsemaps.files._job_options import Aside, LinearModel, Reading, Training
from sparsemaps.files._kinds_of_inputs import texts_in
from sparsemaps.files._record_labels import name_of_score
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.records._table import holds_codes


def train(options: argparse.Namespace) -> None:
    asked, training = value_of(options, LinearModel), value_of(options, Training)
    paths = expand(options.inputs)
    coded = [path for path in paths if holds_codes(path)]
    source = source_to_learn(options, [path for path in paths if path not in coded])
    texts = texts_in(source)
    if coded:
        refuse_other_options(options, coded[0])
    elif options.has_no_map and texts is None:
        raise ValueError(
            "train needs a map for LIBSVM files, such as minmax or binning; "
            f"sparsemaps compare {options.inputs[0]} measures which one suits"
        )
    fitted = from_config(PackedCodes.load(coded[0]).config) if coded else make_map(options)
    parameters = asked.parameters()
    parameters |= {"random_state": getattr(options, "seed", 0), "n_jobs": options.n_jobs}
    if texts is not None:  # use the rows that other commands make of texts for this map
        parameters["vectorizer"] = vectorizer_for(fitted, texts)
    kind: Any = KernelRegressor if asked.is_regression else KernelClassifier
    trained = _learning.train(
        kind(fitted, **parameters), paths, options.output, training, source,
        value_of(options, Aside).aside, value_of(options, Reading), asked.weights_of_labels,
    )  # fmt: skip
    by_default = texts.analyzer if texts is not None and options.texts is None else None
    _say_trained(options, trained, by_default)


def _say_trained(
    options: argparse.Namespace, trained: files.TrainedModel, analyzer: str | None
) -> None:
    """Print the table of C values, the evaluation and the last line. `analyzer` is the analyzer of
    texts that the call did not give."""
    n_passes = trained.model.n_iter_
    figures: Any = {"records": trained.n_records, "passes": n_passes, "bad": trained.n_bad}
    words = words_of(figures)
    if trained.weight is not None:
        figures |= {"weight": trained.weight}
        words += f", weights of {trained.weight:.6g} in all"
    if trained.scores:
        scores = {f"{one.C:g}": finite_or_none(one.score) for one in trained.scores}
        figures |= {"C": trained.model.C, "scores": scores}
        words += f", C of {trained.model.C:g}"
        for line in _table_of(name_of_score(trained.model)[0], trained.scores):
            print_line(line, error=True)
    if analyzer is not None:
        figures |= {"texts": analyzer}
        words += f", by --texts {analyzer}"
    if trained.validation is not None:
        seen = {name: finite_or_none(n) for name, n in trained.validation.figures.items()}
        figures |= {"validation": {"records": trained.validation.n_records, **seen}}
        for line in trained.validation.lines:
            print_line(line)
        sys.stdout.flush()  # here, because main reports its errors
    say(options, words, figures)


def _table_of(score: str, scores: Iterable[Any]) -> Iterator[str]:
    """Yield the lines of the table of C values."""
    yield f"{'C':>9}  {score:>9}  {'error':>7}  {'seconds':>8}"
    for one in scores:
        yield f"{one.C:>9g}  {one.score:>9.4f}  {one.error:>7.4f}  {one.seconds:>8.2f}"
