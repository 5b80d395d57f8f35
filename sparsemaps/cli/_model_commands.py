"""The subcommands train, predict and filter."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from sparsemaps import files, from_config
from sparsemaps._io import _output_files
from sparsemaps._io._sources import expand
from sparsemaps._tools._checks import finite_or_none
from sparsemaps._tools._escapes import escaped, print_line
from sparsemaps.cli._given import (
    make_map,
    refuse_other_options,
    run_outputs,
    source_of,
    source_to_learn,
    value_of,
)
from sparsemaps.cli._last_line import say, say_if_empty, words_of
from sparsemaps.codes import PackedCodes
from sparsemaps.files._filter import Filtering, label_filter_for
from sparsemaps.files._job import vectorizer_for
from sparsemaps.files._job_options import (
    Aside,
    LabelChoice,
    LinearModel,
    LineOptions,
    Reading,
    Texts,
    Training,
)
from sparsemaps.files._kinds_of_inputs import texts_in
from sparsemaps.files._label_lines import form_of
from sparsemaps.files._outputs import OutputPlan, folders_of
from sparsemaps.files._predict import Predicting
from sparsemaps.files._record_labels import Model, label_of, name_of, name_of_score
from sparsemaps.linear import load_model
from sparsemaps.records._table import holds_codes


def train(options: argparse.Namespace) -> None:
    from sparsemaps.files import _learning
    from sparsemaps.linear import KernelClassifier, KernelRegressor

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


def predict(options: argparse.Namespace) -> None:
    model: Any = load_model(options.model)
    source, lines = _source_for(options, model), value_of(options, LineOptions)
    paths, bad = expand(options.inputs), value_of(options, Aside).aside
    form = form_of(options.output)
    job = Predicting.of(model, paths, source, bad, lines=lines, form=form)
    answer = _run_labels(options, OutputPlan.of(job, paths, options.output))
    if answer is None:
        return
    say_if_empty(options.inputs, answer.n_records)
    negative = f", {answer.n_negative} with negative scores only" if answer.n_negative else ""
    words = f"{answer.n_records} records{_labels_of(answer)}{_unknown(answer)}{negative}"
    say(options, f"{words}{_bad(answer)}", answer)


def filter(options: argparse.Namespace) -> None:
    model: Any = load_model(options.model)
    source, labels = _source_for(options, model), options.label
    if hasattr(model, "classes_"):
        labels = [label_of(model.classes_, label) for label in labels]
    choice, bad = value_of(options, LabelChoice), value_of(options, Aside).aside
    paths = expand(options.inputs)
    job = Filtering.of(model, paths, source, bad, filter=label_filter_for(model, labels, choice))
    answer = _run_labels(options, OutputPlan.of(job, paths, options.output))
    if answer is not None:
        say_if_empty(options.inputs, answer.n_records)
        kept = f"{answer.n_records} records, {answer.n_kept} kept"
        say(options, f"{kept}{_unknown(answer)}{_bad(answer)}", answer)


_MOST_LABELS = 10
"""Largest number of labels that a line names."""


def _labels_of(answer: files.LabelledFile) -> str:
    """Return the part of a line that counts labels, most frequent first."""
    some = list(answer.labels.items())
    words = [f"{escaped(name_of(label))} {n}" for label, n in some[:_MOST_LABELS]]
    if others := sum(n for _, n in some[_MOST_LABELS:]):
        words.append(f"{len(some) - _MOST_LABELS} other labels {others}")
    return f": {', '.join(words)}" if words else ""


def _unknown(answer: files.LabelledFile | files.FilteredFile) -> str:
    """Return the end of a line about records; empty if none are unknown."""
    n, n_empty = answer.n_unknown, getattr(answer, "n_empty", answer.n_unknown)
    if not n_empty:
        return f", {n} unknown" if n else ""
    of_them = "" if n == n_empty else f"{n_empty} "
    return f", {n} unknown ({of_them}without an n-gram or an entry)"


def _bad(answer: files.LabelledFile | files.FilteredFile) -> str:
    """Return the end of a line about records; empty if none are bad."""
    return f", {answer.n_bad} bad" if answer.n_bad else ""


def _run_labels(options: argparse.Namespace, plan: OutputPlan) -> Any:
    _output_files.refuse_clashes([options.model], plan.written, folders_of(options.output))
    return run_outputs(options, plan)


def _source_for(options: argparse.Namespace, model: Model) -> Any:
    """Return the kind of the inputs for a model."""
    is_of_texts = getattr(model, "vectorizer_", None) is not None  # replaces the analyzer
    analyzer = Texts.analyzer if is_of_texts else None
    return source_of(options, analyzer, of_rows="is for models of texts")
