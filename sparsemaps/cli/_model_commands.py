"""The subcommands that apply a model: predict and filter."""

import argparse
from typing import Any

from sparsemaps import files
from sparsemaps._io import _output_files
from sparsemaps._io._sources import expand
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._plurals import counted
from sparsemaps.cli._given import run_outputs, source_of, value_of
from sparsemaps.cli._last_line import say, say_if_empty
from sparsemaps.files._filter import Filtering, label_filter_for
from sparsemaps.files._job_options import Aside, LabelChoice, LineOptions, Texts
from sparsemaps.files._label_lines import form_of
from sparsemaps.files._outputs import OutputPlan, folders_of
from sparsemaps.files._predict import Predicting
from sparsemaps.files._record_labels import Model, label_of, name_of
from sparsemaps.linear import load_model


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
    words = counted(answer.n_records, "records") + _labels_of(answer) + _unknown(answer)
    say(options, f"{words}{negative}{_bad(answer)}", answer)


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
        kept = f"{counted(answer.n_records, 'records')}, {answer.n_kept} kept"
        say(options, f"{kept}{_unknown(answer)}{_bad(answer)}", answer)


_MOST_LABELS = 10
"""Largest number of labels that a line names."""

_LONGEST_LABEL = 40
"""Largest length of a label in a line; longer ones are cut."""


def _labels_of(answer: files.LabelledFile) -> str:
    """Return the words that count labels for the last line, most frequent first."""
    some = list(answer.labels.items())
    words = [f"{_word_for(label)} {n}" for label, n in some[:_MOST_LABELS]]
    if others := sum(n for _, n in some[_MOST_LABELS:]):
        words.append(f"{counted(len(some) - _MOST_LABELS, 'other labels')} {others}")
    return f": {', '.join(words)}" if words else ""


def _word_for(label: object) -> str:
    """Return a label as a short word for the last line, in quotes if it may not look like one."""
    word = escaped(name_of(label))
    if len(word) > _LONGEST_LABEL:
        word = f"{word[: _LONGEST_LABEL - 3]}..."
    return word if word and word.strip() == word and "," not in word else f'"{word}"'


def _unknown(answer: files.LabelledFile | files.FilteredFile) -> str:
    """Return the words about unknown records for the last line; empty if there are none."""
    n, n_empty = answer.n_unknown, getattr(answer, "n_empty", answer.n_unknown)
    if not n_empty:
        return f", {n} unknown" if n else ""
    of_them = "" if n == n_empty else f"{n_empty} "
    return f", {n} unknown ({of_them}without an n-gram or an entry)"


def _bad(answer: files.LabelledFile | files.FilteredFile) -> str:
    """Return the words about bad records for the last line; empty if there are none."""
    return f", {answer.n_bad} bad" if answer.n_bad else ""


def _run_labels(options: argparse.Namespace, plan: OutputPlan) -> Any:
    _output_files.refuse_clashes([options.model], plan.written, folders_of(options.output))
    return run_outputs(options, plan)


def _source_for(options: argparse.Namespace, model: Model) -> Any:
    """Return the kind of the inputs for a model."""
    is_of_texts = getattr(model, "vectorizer_", None) is not None  # replaces the analyzer
    analyzer = Texts.analyzer if is_of_texts else None
    return source_of(options, analyzer, of_rows="is for models of texts")
