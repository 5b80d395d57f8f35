"""Training on files: `train_files`, and how well a model does on records with labels."""

import contextlib
import dataclasses
import io
import math
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from sparsemaps._io import _output_files, _urls
from sparsemaps._io._progress import FileProgress
from sparsemaps._io._progress import training as bar_of_training
from sparsemaps._io._regular_files import open_regular
from sparsemaps._io._sources import (
    CLASSES,
    LABELS,
    expand,
    known_inputs,
    refuse_changes,
    spooled,
)
from sparsemaps._tools import _memory, _seeding, _sklearn
from sparsemaps._tools._checks import LARGEST_REAL
from sparsemaps._tools._escapes import escaped, unescaped
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import ParameterError, offered, setting
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Array, Inputs, StrPath
from sparsemaps._tools._whole_numbers import are_equal
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_table import TABLE, BadTable, opened_table
from sparsemaps.files._job import refuse_limits, refuse_weights, refuse_weights_of_sets
from sparsemaps.files._job_options import (
    JOBS,
    Aside,
    GivenSource,
    Reading,
    Svmlight,
    Texts,
    Training,
)
from sparsemaps.files._keywords import TrainFilesKeywords
from sparsemaps.files._kinds_of_inputs import as_source
from sparsemaps.files._record_labels import (
    Labels,
    as_lists,
    figures_of_lists,
    joined_labels,
    labels_beside,
    values_of,
    with_values,
)
from sparsemaps.files._record_weights import joined_weights, weights_beside
from sparsemaps.files._rows import LibsvmRows, codes_of, read_rows
from sparsemaps.files._snippet_rows import SnippetRows
from sparsemaps.files._tasks import TaskRun
from sparsemaps.files._text_rows import Source, TextRows
from sparsemaps.linear import KernelClassifier, KernelRegressor, _model_file
from sparsemaps.linear._indicators import LabelLists
from sparsemaps.linear._model import watched
from sparsemaps.linear._model_checks import check_parameters, map_of
from sparsemaps.linear._path_of_C import Fold, HeldOut, UnfitFold, scores_of_values
from sparsemaps.linear._training_facts import TrainingFacts, date_of_training
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.records._batch import Batch
from sparsemaps.records._table import cannot_be_rows, holds_codes
from sparsemaps.records.svmlight import SeveralLabels
from sparsemaps.text._frequencies import Frequencies

Model = KernelClassifier | KernelRegressor


class Validation(NamedTuple):
    """How well a model does on records that it was not trained on."""

    n_records: int
    score: float
    """The accuracy; micro F1, if records have lists of labels; or of regression R2."""
    lines: list[str]
    """The figures as text, and the table of confusion if there are few classes."""


class ScoreOfC(NamedTuple):
    """How well models of a C do on records that they are not trained on."""

    C: float
    score: float
    """The accuracy, or of regression R2: that on the records of `validation`, or the mean over
    folds."""
    error: float
    """The standard error of the score."""
    seconds: float
    """The time that training took."""


class TrainedModel(NamedTuple):
    """A model that was trained on files."""

    model: Model
    n_records: int
    """Records that it was trained on."""
    n_bad: int = 0
    """Records that were set aside."""
    weight: float | None = None
    """The sum of the weights of records; None if they have none."""
    validation: Validation | None = None
    """How well it does on the records of `validation`."""
    scores: tuple[ScoreOfC, ...] = ()
    """The scores of several values of C. The model has the best one."""


class LabelledRows(NamedTuple):
    """Codes of records, and their labels."""

    codes: PackedCodes
    labels: Labels
    vectorizer: Any = None
    """That of the texts, if its weights were counted in these records."""
    weights: Array | None = None
    """The weights of the records; None if they have none."""
    records: Array | None = None
    """The number of the record of each row, if there are rows of snippets, which are the last."""

    @property
    def n_records(self) -> int:
        return len(self.codes) if self.records is None else int(self.records.max()) + 1

    def some(self, rows: Array) -> "LabelledRows":
        """Return those of the rows that a mask chooses."""
        weights = None if self.weights is None else self.weights[rows]
        return LabelledRows(self.codes[rows], self.labels[rows], weights=weights)


# ---- reading -------------------------------------------------------------------------------------


def read_labelled(
    map: SparseMap,
    inputs: Inputs,
    *,
    vectorizer: object = None,
    source: Texts | Svmlight | str | None = None,
    weight_field: str | None = None,
    reading: Reading | None = None,
    aside: BadTable | None = None,
    snippets: tuple[tuple[int, ...], int] | None = None,
    may_lack_labels: bool = False,
) -> LabelledRows:
    """Return the codes of the records of some inputs, and their labels: numbers, or strings of
    texts. Those of `snippets` of texts, by their lengths and a seed, follow. Rows of LIBSVM files
    without a label are errors, unless one has several labels, or they may lack labels.

    A file of codes alone is mapped into memory; codes of other inputs are in memory.
    """
    paths, reading = expand(inputs), reading or Reading()
    coded = [path for path in paths if holds_codes(path)]
    if coded:
        _check_snippets(snippets, None)
        if len(coded) < len(paths):
            raise ValueError(
                f"{coded[0]} has codes, and other inputs do not: take one or the other"
            )
        LibsvmRows().weighted_by(weight_field)  # which is an error if a field is given
        parts = [_coded_and_labelled(path) for path in coded]
        strings = {
            values_of(part.labels).dtype.kind == "U": path
            for part, path in zip(parts, coded, strict=True)
        }
        if len(strings) > 1:
            raise ValueError(
                f"the labels of {strings[True]} are strings, those of {strings[False]} numbers"
            )
        codes = parts[0].codes
        if len(parts) > 1:
            codes = PackedCodes.concatenate([part.codes for part in parts])
        labels = joined_labels(coded, [part.labels for part in parts])
        weights = _weights_of(coded, [part.weights for part in parts])
        return LabelledRows(codes, labels, weights=weights)
    rows: Any = rows_of(
        map, vectorizer, source, paths, multilabel=may_lack_labels or None, learns=True
    )
    rows = rows._replace(sets_aside=aside is not None).weighted_by(weight_field)
    rows.check_labels()
    _check_snippets(snippets, rows)
    with contextlib.ExitStack() as stack:
        known: list[Any] = known_inputs(paths)
        counted = None
        if rows.has_ngrams and _weights_to_count(rows) is not None:
            known = spooled(known, stack)
            rows = _with_weights(map, rows, known, reading.n_jobs, reading.progress)
            counted = rows.vectorizer
        rows, known = rows.prepared(known, reading.n_jobs, stack)
        encoder = rows.encoder if isinstance(rows, TextRows) else None
        short = None
        if snippets is not None and encoder is not None:
            short = SnippetRows(*snippets, encoder)
        try:
            blocks, weights_of_inputs = _read_blocks(map, rows, known, short, reading, aside)
        except SeveralLabels:
            rows = rows._replace(multilabel=True)
            blocks, weights_of_inputs = _read_blocks(map, rows, known, short, reading, aside)
        refuse_changes(known)
    if aside is not None:
        aside.finish()
    if not any(len(block.codes) for block in blocks):
        raise ValueError(f"{', '.join(str(path) for path in paths)}: there are no records")
    weights = _weights_of(known, weights_of_inputs)
    labels = joined_labels(paths, [block.labels for block in blocks])
    labels = with_values(labels, rows.named(values_of(labels)))
    codes = PackedCodes.concatenate([block.codes for block in blocks])
    labelled = LabelledRows(codes, labels, counted, weights)
    return labelled if short is None else _with_snippets(labelled, short)


def _read_blocks(
    map: SparseMap,
    rows: Source,
    inputs: list[Any],
    short: SnippetRows | None,
    reading: Reading,
    aside: BadTable | None,
) -> tuple[list[LabelledRows], list[Array | None]]:
    """Return the records of inputs, some at a time, and the weights of records. Snippets of texts
    are added to `short`."""
    n_jobs = reading.n_jobs
    blocks: list[LabelledRows] = []
    weights: list[Array | None] = []
    convert: Any = partial(_labelled if short is None else _labelled_with_texts, map)
    attempt = contextlib.nullcontext() if aside is None else aside.attempt()
    with FileProgress(inputs, reading.progress, "codes") as bar, attempt as table:
        for input in inputs:
            n_before = len(blocks)
            read: Any = read_rows(rows, input, convert, n_jobs=n_jobs, bar=bar, aside=table)
            blocks += read if short is None else short.take(read, n_jobs)
            some = blocks[n_before:]
            if not rows.has_ngrams:
                weights.append(weights_beside(input, sum(len(part.codes) for part in some)))
            elif any(part.weights is not None for part in some):
                weights += [part.weights for part in some]
    return blocks, weights


def _with_snippets(rows: LabelledRows, short: SnippetRows) -> LabelledRows:
    """Return the rows of records with those of their snippets behind them."""
    codes, records = short.after(rows.codes)
    weights = None if rows.weights is None else rows.weights[records]
    return rows._replace(codes=codes, labels=rows.labels[records], weights=weights, records=records)


def _weights_of(inputs: list[Any], weights: list[Array | None]) -> Array | None:
    """Return the weights of all records; a ValueError if all of them are 0."""
    joined = joined_weights(inputs, weights)
    if joined is not None and not joined.any():
        raise ValueError(f"{', '.join(map(str, inputs))}: all records have the weight 0")
    return joined


def _check_snippets(snippets: tuple[tuple[int, ...], int] | None, rows: Source | None) -> None:
    """Raise a ValueError if snippets are asked for, and rows are not of texts. None are codes."""
    if snippets is not None and (rows is None or not rows.has_ngrams):
        said, found = setting("snippets", snippets[0]), "codes" if rows is None else "rows"
        raise ValueError(f"{said} is for raw texts, and the inputs are {found}")


def _weights_to_count(rows: Any) -> tuple[Any, Any] | None:
    """Return a vectorizer and the weights that are not fitted yet; None if there are no weights, or
    fitted ones."""
    from sparsemaps.text._weighted_ngrams import to_fit

    return to_fit(rows.vectorizer)


def _with_weights(
    map: Any, rows: Any, inputs: list[Any], n_jobs: int | None, progress: bool | None
) -> TextRows:
    """Return the rows of texts whose n-grams are weighted by how many records of the inputs, or of
    a given table, have them."""
    from sparsemaps.files._frequency_stages import add_records
    from sparsemaps.text._idf import IdfWeights
    from sparsemaps.text._weighted_ngrams import NgramsByTable, WeightedNgrams

    parts = _weights_to_count(rows)
    assert parts is not None
    inner, asked = parts
    if rows.given.frequencies is not None:
        table = os.fspath(rows.given.frequencies)
        weights = NgramsByTable(inner, table, asked.power, asked.levels).weights
    else:
        weights = _sklearn.clone(asked)
        counts = Frequencies(weights.n_buckets)
        plain = rows._replace(vectorizer=inner, encoder=None)
        with FileProgress(inputs, progress, "frequencies") as bar:
            for input in inputs:
                add_records(counts, plain, input, TaskRun(n_jobs, bar))
        weights = IdfWeights.of_frequencies(
            counts, width_of(inner), power=asked.power, levels=asked.levels,
            sublinear_tf=asked.sublinear_tf,
        )  # fmt: skip
    vectorizer = WeightedNgrams(inner, weights)
    return rows._replace(vectorizer=vectorizer, encoder=TextEncoder(map, vectorizer))


def _labelled(map: SparseMap, block: Batch) -> LabelledRows:
    weights = None if block.weights is None else np.array(block.weights, np.float64)
    heads = block.exact_heads()
    labels: Labels = np.array(heads.labels)
    if block.has_lists:
        labels = LabelLists(np.array(heads.labels), np.array(heads.label_ends))
    return LabelledRows(codes_of(map, block), labels, weights=weights)


def _labelled_with_texts(map: SparseMap, block: Batch) -> tuple[LabelledRows, Any]:
    return _labelled(map, block), block.texts


def _coded_and_labelled(path: StrPath) -> LabelledRows:
    codes = PackedCodes.load(path)
    beside = os.fspath(path) + LABELS
    if not _urls.exists(beside):
        raise ValueError(f"{path}: its labels are not in {beside}")
    labels = labels_beside(path, len(codes))
    if _urls.exists(os.fspath(path) + CLASSES):
        names, values = _names_in(os.fspath(path) + CLASSES), values_of(labels)
        if not np.isin(values, np.arange(len(names))).all():
            raise ValueError(f"{beside}: not all labels are in the table {path}{CLASSES}")
        labels = with_values(labels, np.array(names)[values.astype(np.intp)])
    return LabelledRows(codes, labels, weights=weights_beside(path, len(codes)))


def _names_in(path: str) -> list[str]:
    """Return the labels of a table, which are numbered from 0."""
    names = []
    with open_regular(path) as raw, io.TextIOWrapper(raw, "utf-8", newline="\n") as file:
        for number, line in enumerate(file):
            first, tab, text = line.removesuffix("\n").partition("\t")
            if first != str(number) or not tab:
                raise ValueError(f"{path}: line {number + 1}: expected {number}, a tab and a label")
            names.append(unescaped(text))
    return names


# ---- training ------------------------------------------------------------------------------------


@takes(*JOBS["train_files"])
def train_files(
    model: Model,
    inputs: Inputs,
    output: StrPath,
    *,
    source: Texts | Svmlight | None = None,
    **options: Unpack[TrainFilesKeywords],
) -> TrainedModel:
    r"""Train a model on files, and save it.

    The command ``sparsemaps train`` calls this function.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        The model to train, with threads by its own `n_jobs`. With a `vectorizer`, inputs are texts.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts (.txt, .jsonl, .csv, .parquet, .arrow), or files of packed codes of
        the model's map (.npy) with their labels beside, as `map_files` writes them; directories and
        patterns. The codes of all records are kept in memory; one file of codes alone is mapped
        into it.
    output : str or path-like
        The file of the model, which `KernelClassifier.load` reads.
    source : Texts, Svmlight or None, default=None
        What the inputs are; of texts, the model's vectorizer is the analyzer, and a `label_field`
        is needed.
    [options]

    Returns
    -------
    trained : TrainedModel
        The model; the number of records (`n_records`) and the sum of their weights (`weight`); how
        well it does on those of `validation` (`validation`, with a `score`); and of several values
        of C, the scores (`scores`, each with `C`, `score`, `error` and `seconds`).

    Raises
    ------
    ValueError
        If a parameter is not allowed, there are no records or only one class, codes are of another
        map, or a line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import train_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> rows = BytesIO(b"1 1:1 3:1\n0 2:1\n1 1:1 4:1\n")
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     train_files(model, rows, f"{folder}/model").n_records
    3
    """
    return train(
        model, inputs, output, Training.of(options), source, Aside.of(options).aside,
        Reading.of(options),
    )  # fmt: skip


def train(
    model: Model,
    inputs: Inputs,
    output: StrPath,
    training: Training,
    source: GivenSource,
    aside: StrPath | None,
    reading: Reading,
    weights_of_labels: Mapping[str, float] = {},
) -> TrainedModel:
    """Train a model and save it, as `train_files` does, with weights of labels that are given as
    text. The records of `validation` are read before the work, so that what is wrong with them is
    known."""
    if not isinstance(model, (KernelClassifier, KernelRegressor)):
        raise ParameterError("model", repr(model), "a KernelClassifier or a KernelRegressor")
    if training.calibrate and not isinstance(model, KernelClassifier):
        raise ValueError(f"{setting('calibrate', True)} is for classifiers, not for regression")
    Cs: list[float] = [] if training.C is None else np.unique(training.C).tolist()
    if Cs:
        model.set_params(C=Cs[0])
    date = date_of_training()
    paths = expand(inputs)
    unseen = [] if training.validation is None else expand(training.validation)
    written: list[tuple[Any, str]] = [(output, _output_files.OUTPUT)]
    if aside is not None:
        written.append((aside, TABLE))
    _output_files.refuse_clashes(paths, written)
    _output_files.refuse_clashes(unseen, written)
    check_parameters(model)
    coded = [path for path in paths if holds_codes(path)]
    fitted = map_of(model, PackedCodes.load(coded[0])) if coded else model.map.fit_any_width()
    progress = reading.progress
    how: dict[str, Any] = {"source": source, "reading": reading}
    how |= {"vectorizer": model.vectorizer, "weight_field": training.weight_field}
    snippets = None
    if training.snippets is not None:
        snippets = tuple(training.snippets), _seeding.draw_seed(model.random_state)
    with _model_file.new_file(output) as file:  # an output that cannot be written is known first
        with opened_table(aside) as table, _memory.out_of_memory_in("reading"):
            rows = read_labelled(fitted, paths, aside=table, snippets=snippets, **how)
            if rows.vectorizer is not None:
                how["vectorizer"] = rows.vectorizer
            how["may_lack_labels"] = isinstance(rows.labels, LabelLists)
            others = read_labelled(fitted, unseen, aside=table, **how) if unseen else None
        _check_labels(model, rows.labels)
        if len(Cs) > 1 and isinstance(rows.labels, LabelLists):
            raise ValueError(
                f"{setting('C', tuple(Cs))} is for records of one label each, got lists of labels: "
                "give one value of C"
            )
        if others is not None:
            others = _comparable(model, rows.labels, others)
        if weights_of_labels:
            classes = np.unique(values_of(rows.labels))
            named = {label_of(classes, name): n for name, n in weights_of_labels.items()}
            model.set_params(class_weight=named)
        held_out = np.zeros(len(rows.codes), bool)
        if training.calibrate and others is None:
            held_out = _held_out(rows.n_records)
            held_out = held_out if rows.records is None else held_out[rows.records]
        for_training = rows.weights
        if held_out.any():
            for_training = ~held_out * (1.0 if rows.weights is None else rows.weights)
        at_work = _memory.out_of_memory_in("training")
        scores: tuple[ScoreOfC, ...] = ()
        with bar_of_training(progress) as watch, watched(model, watch), at_work:
            asked = model.vectorizer
            try:
                model.vectorizer = how["vectorizer"]
                if len(Cs) > 1:
                    folds = _folds(
                        rows, for_training, others, _seeding.draw_seed(model.random_state)
                    )
                    scores = _scores_of(model, rows, for_training, folds, Cs, watch)
                    model.set_params(C=max(scores, key=lambda one: one.score).C)
                labels: Any = rows.labels
                model.fit(rows.codes, labels, sample_weight=for_training)
            finally:
                model.vectorizer = asked
        if training.calibrate and isinstance(model, KernelClassifier):
            of = others or rows.some(held_out)
            known = np.ones(len(of.labels), bool)
            if not isinstance(of.labels, LabelLists):
                known = np.isin(of.labels, model.classes_)
            known &= True if of.weights is None else of.weights > 0
            if not known.any():
                raise ValueError(
                    f"{setting('calibrate', True)} needs records of the classes of the model, got "
                    f"none among {len(known)}"
                )
            of = of.some(known)
            model.calibrate(of.codes, of.labels, of.weights)
        weight = None if rows.weights is None else float(rows.weights[: rows.n_records].sum())
        n_bad = 0 if table is None else table.n_bad
        tried = None if others is None else validation(model, others)
        done = TrainedModel(model, rows.n_records, n_bad, weight, tried, scores)
        model._facts = _facts_of(done, training, date)
        file.writelines(_model_file.content_of(model))
    return done


def _facts_of(done: TrainedModel, training: Training, date: str) -> TrainingFacts:
    """Return what the file of a model says about its training. Seconds are not there: with the same
    date, the same records make the same file."""
    names = "calibrate", "snippets", "weight_field"
    given = {name: getattr(training, name) for name in names}
    options = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value
    }
    scores = tuple((one.C, one.score, _finite(one.error)) for one in done.scores)
    tried = done.validation
    found = None if tried is None or _finite(tried.score) is None else tried[:2]
    return TrainingFacts(date, done.n_records, done.weight, options, found, scores)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


_HELD_OUT = 0.2
"""The share of records that are held out for a calibration."""


def _held_out(n_records: int) -> Array:
    """Return which records are held out: a function of their numbers."""
    key = _seeding.keys(0, "linear", 1)[0]
    return _seeding.uniforms(key, n_records) < _HELD_OUT


_N_FOLDS = 5
"""Folds of records by which C is chosen."""


def _folds(
    rows: LabelledRows, weights: Array | None, others: LabelledRows | None, seed: int
) -> list[Fold]:
    """Return the folds by which C is chosen: one that is scored on other records, or several of the
    records themselves. A fold of records is that of their snippets, which are not scored."""
    costs = np.ones(len(rows.codes)) if weights is None else np.asarray(weights, np.float64)
    if others is not None:
        held_out = HeldOut(others.codes, None, values_of(others.labels), others.weights)
        return [Fold(lambda: costs, held_out)]
    key = _seeding.keys(seed, "linear", 3)[2]
    number = np.floor(_N_FOLDS * _seeding.uniforms(key, rows.n_records))
    of_rows = number if rows.records is None else number[rows.records]
    folds = []
    for fold in range(_N_FOLDS):
        own = np.flatnonzero((number == fold) & (costs[: rows.n_records] > 0))
        of_own = None if rows.weights is None else rows.weights[own]
        held_out = HeldOut(rows.codes, own, values_of(rows.labels)[own], of_own)
        folds.append(Fold(partial(_outside, costs, of_rows, fold), held_out))
    return folds


def _outside(costs: Array, of_rows: Array, fold: int) -> Array:
    """Return how much each row counts, if those of a fold are left out."""
    return np.asarray(costs * (of_rows != fold))


def _scores_of(
    model: Model,
    rows: LabelledRows,
    weights: Array | None,
    folds: list[Fold],
    Cs: list[float],
    watch: Any,
) -> tuple[ScoreOfC, ...]:
    """Return the scores of several values of C."""
    try:
        labels = values_of(rows.labels)
        found = scores_of_values(model, rows.codes, labels, weights, folds, Cs, watch)
    except UnfitFold as error:
        said = setting("validation", "INPUT")
        raise ValueError(f"{error}: several values of C need more records, or {said}") from None
    parts = Cs, found.means.tolist(), found.errors.tolist(), found.seconds.tolist()
    return tuple(map(ScoreOfC, *parts))


def _comparable(model: Model, labels: Labels, others: LabelledRows) -> LabelledRows:
    """Return records to compare with, whose labels are such as those of training: lists where these
    are, and strings where these are."""
    if isinstance(others.labels, LabelLists) and not isinstance(labels, LabelLists):
        raise ValueError(
            "the records to compare with must have one label each, as those of training have, got "
            "lists of labels"
        )
    wants = isinstance(model, KernelClassifier) and values_of(labels).dtype.kind in "UO"
    found = values_of(others.labels)
    has = found.dtype.kind in "UO"
    if has != wants and len(found):
        kinds = "numbers", "strings"
        raise ValueError(
            f"the labels to compare with must be {kinds[wants]}, as those of the model are, got "
            f"{kinds[has]}"
        )
    if isinstance(model, KernelRegressor):
        most = np.abs(found.astype(np.float64)).max(initial=0)
        if most > LARGEST_REAL:
            raise ValueError(
                f"the labels to compare with must be from {-LARGEST_REAL:g} to {LARGEST_REAL:g}, "
                f"got numbers of up to {most:g}"
            )
    if isinstance(labels, LabelLists):
        return others._replace(labels=as_lists(others.labels))
    return others


def _check_labels(model: Model, labels: Labels) -> None:
    """Raise unless labels are such as the model takes."""
    values = values_of(labels)
    if isinstance(model, KernelRegressor):
        if isinstance(labels, LabelLists) or values.dtype.kind == "U":
            found = "lists of labels" if isinstance(labels, LabelLists) else "strings"
            raise ValueError(f"a regressor needs labels that are numbers, got {found}")
    elif values.dtype.kind == "f" and (fractions := values[values % 1 != 0]).size:
        of_regression = offered("loss", KernelRegressor._LOSSES[0])
        advice = f"; {of_regression} is for regression" if of_regression else ""
        raise ValueError(
            f"a classifier needs labels that are whole numbers or strings, got {fractions[0]:g}"
            f"{advice}"
        )


def rows_of(
    map: SparseMap,
    vectorizer: Any,
    source: GivenSource,
    paths: list[Any],
    *,
    multilabel: bool | None = True,
    learns: bool = False,
) -> Source:
    """Return the rows of the inputs of a model: of texts, if it has a vectorizer, or of LIBSVM
    files. Weights of a model that `learns` are counted from the inputs."""
    given = as_source(source)
    refuse_limits(given)
    if not learns:
        refuse_weights(given)
    if vectorizer is None:
        if isinstance(given, Texts):
            raise ValueError("the model has no vectorizer: its inputs are not texts")
        for path in paths:
            if cannot_be_rows(path):
                raise ValueError(f"{path} is a file of texts, and the model has no vectorizer")
        return LibsvmRows(given or Svmlight(), multilabel)
    if isinstance(given, Svmlight):
        raise ValueError("the model has a vectorizer: its inputs are texts, not LIBSVM files")
    from sparsemaps.text._analyzers import as_vectorizer, vectorizer_config, vectorizer_of
    from sparsemaps.text._weighted_ngrams import plain as without_weights

    vectorizer = as_vectorizer(vectorizer, binary=map.law.is_of_sets)
    given = given or Texts()
    inner = without_weights(vectorizer)
    if learns and given.idf is not None and inner is vectorizer:
        from sparsemaps.text._idf import IdfWeights
        from sparsemaps.text._weighted_ngrams import WeightedNgrams

        refuse_weights_of_sets(map, given)
        weights = IdfWeights(power=given.idf, levels=given.idf_levels)
        vectorizer = WeightedNgrams(inner, weights)
    plain: dict[str, Any] = {"analyzer": Texts.analyzer, "token_pattern": None, "normalize": None}
    if given != dataclasses.replace(given, **plain):
        said = vectorizer_of(
            given.analyzer, token_pattern=given.token_pattern, normalize=given.normalize
        )
        one, other = (vectorizer_config(each, values=False) for each in (said, inner))
        if one != other:
            raise ValueError(f"the model has another vectorizer than that of {given.analyzer}")
    return TextRows(vectorizer, given, encoder=TextEncoder(map, vectorizer))


def name_of(label: object) -> str:
    """Return a label as text: whole numbers have no point, booleans are those of JSON."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return f"{label:.17g}" if isinstance(label, float) else str(label)


def label_of(classes: Array, text: str) -> Any:
    """Return the class that a text names, as the data have it; the text itself if there is none.
    Numbers are compared by their values."""
    labels = classes.tolist()
    for label in labels:
        if name_of(label) == text:
            return label
    if classes.dtype.kind in "iuf":
        for number in (int, float):
            with contextlib.suppress(ValueError):
                return number(text)
    return text


# ---- validation ----------------------------------------------------------------------------------


def validation(model: Model, rows: LabelledRows) -> Validation:
    """Return how well a model does on records with labels."""
    if isinstance(rows.labels, LabelLists):
        figures = figures_of_lists(model, rows.codes, rows.labels, rows.weights)
        line = f"{_counted(rows)}, {figures.line()}"
        return Validation(len(rows.codes), figures.micro_f1, [line])
    known = np.zeros(0) if isinstance(model, KernelRegressor) else model.classes_
    rows = _comparable(model, known, rows)
    if isinstance(model, KernelRegressor):
        labels, weights = values_of(rows.labels).astype(np.float64), rows.weights
        squares = (labels - model.predict(rows.codes)) ** 2
        mean = float(np.average(squares, weights=weights))
        around = (labels - np.average(labels, weights=weights)) ** 2
        spread = float(np.average(around, weights=weights))
        share = 1 - mean / spread if spread else float("nan")
        line = f"{_counted(rows)}, root mean square error {mean**0.5:.6g}, R2 {share:.4f}"
        return Validation(len(labels), share, [line])
    found = model.predict(rows.codes)
    labels = values_of(rows.labels)
    right = float(np.average(are_equal(found, labels), weights=rows.weights))
    lines = [f"{_counted(rows)}, accuracy {right:.4f}"]
    classes = model.classes_
    if len(classes) == 2:
        scores = model.decision_function(rows.codes)
        share = area_under_curve(scores, are_equal(labels, classes[1:]), rows.weights)
        lines[0] += f", area under the ROC curve {share:.4f}"
    if len(classes) <= _TABLE:
        lines += _confusion(classes, rows, found)
    return Validation(len(found), right, lines)


_TABLE = 12
"""The largest number of classes of which a table of confusion is printed."""


def _counted(rows: LabelledRows) -> str:
    """Return how many records there are, and the sum of their weights."""
    words = f"{len(rows.codes)} records"
    return words if rows.weights is None else f"{words} of weight {rows.weights.sum():.6g}"


def area_under_curve(scores: Array, positive: Array, weights: Array | None = None) -> float:
    """Return the probability that a positive record has a higher score than another record; equal
    scores count half. Records are drawn by their weights."""
    _, place = np.unique(scores, return_inverse=True)
    weights = np.ones(len(scores)) if weights is None else weights
    ours, others = np.bincount(place, weights * positive), np.bincount(place, weights * ~positive)
    below = np.cumsum(others) - others / 2
    n_pairs = float(ours.sum()) * float(others.sum())
    return float(ours @ below) / n_pairs if n_pairs else float("nan")


def _confusion(classes: Array, rows: LabelledRows, found: Array) -> list[str]:
    """Return a row for each class that there is, a column for each class that is predicted: numbers
    of records, or sums of their weights."""
    labels, known = values_of(rows.labels), classes.tolist()
    names = known + sorted(set(labels.tolist()) - set(known))
    number = {label: n for n, label in enumerate(names)}
    counts = np.zeros((len(names), len(known)), np.int64 if rows.weights is None else np.float64)
    where = [number[label] for label in labels.tolist()], [number[one] for one in found.tolist()]
    np.add.at(counts, where, 1 if rows.weights is None else rows.weights)
    shown = [escaped(name_of(label)) for label in names]
    lines = ["\t".join(["label \\ predicted", *shown[: len(known)]])]
    for name, row in zip(shown, counts.tolist(), strict=True):
        lines.append(
            "\t".join([name, *(f"{n:.6g}" if isinstance(n, float) else str(n) for n in row)])
        )
    return lines
