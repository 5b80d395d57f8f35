"""`train_files`: training of a model on the records of files, for ``sparsemaps train``."""

import contextlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from sparsemaps._io import _output_files
from sparsemaps._io._progress import training as bar_of_training
from sparsemaps._io._sources import expand, known_inputs
from sparsemaps._tools import _memory, _seeding, _sklearn
from sparsemaps._tools._checks import finite_or_none
from sparsemaps._tools._option_fields import takes
from sparsemaps._tools._parameters import ParameterError, named, offered, setting
from sparsemaps._tools._typing import Array, Inputs, StrPath
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_records import TABLE, BadTable, opened_table
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
from sparsemaps.files._labelled_rows import KindOfLabels, LabelledRows, read_labelled
from sparsemaps.files._record_labels import Labels, Model, as_lists, label_of, values_of
from sparsemaps.files._validation import Validation, comparable, validation
from sparsemaps.linear import KernelClassifier, KernelRegressor, _model_file
from sparsemaps.linear._indicators import LabelLists
from sparsemaps.linear._model import watched
from sparsemaps.linear._model_checks import check_parameters, map_of
from sparsemaps.linear._path_of_C import (
    Fold,
    HeldOut,
    UnfitFold,
    are_all_equal,
    scores_of_values,
)
from sparsemaps.linear._solver import Watch
from sparsemaps.linear._training_facts import TrainingFacts, date_of_training
from sparsemaps.records._table import holds_codes


class ScoreOfC(NamedTuple):
    """The score of models with a given C on records that they were not trained on."""

    C: float
    score: float
    """The accuracy, or R2 for regression, on the records of `validation`, or the mean over
    folds."""
    error: float
    """Standard error of the score."""
    seconds: float
    """Training time."""


class TrainedModel(NamedTuple):
    """A model that was trained on files."""

    model: Model
    n_records: int
    """Number of training records."""
    n_bad: int = 0
    """Number of records that were set aside."""
    weight: float | None = None
    """Sum of the weights of records; None without weights."""
    validation: Validation | None = None
    """The evaluation on the records of `validation`."""
    scores: tuple[ScoreOfC, ...] = ()
    """The scores of several values of C. The model has the best C."""


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
        The model to train. A copy is trained, with the number of threads of its own `n_jobs`. With
        a `vectorizer`, inputs are texts.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts (.txt, .jsonl, .csv, .parquet, .arrow), or files of packed codes of
        the model's map (.npy) with their labels next to them, as `map_files` writes them;
        directories and patterns. The codes of all records are held in memory, except that a single
        file of codes is memory-mapped.
    output : str or path-like
        The file of the model, for `KernelClassifier.load`.
    source : Texts, Svmlight or None, default=None
        Kind of the inputs. For texts, the model's vectorizer is the analyzer, and `label_field` is
        required.
    [options]

    Returns
    -------
    trained : TrainedModel
        The model; the number of records (`n_records`) and the sum of their weights (`weight`); the
        evaluation on the records of `validation` (`validation`, with a `score`); and, for several
        values of C, their scores (`scores`, each with `C`, `score`, `error` and `seconds`).

    Raises
    ------
    ValueError
        If a parameter is not allowed, the inputs have no records or only one class, codes are of
        another map, or a line does not have the format.
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
    training, aside = Training.of(options), Aside.of(options).aside
    paths, reading = expand(inputs), Reading.of(options)
    return train(model, paths, output, training, source, aside, reading)


def train(
    model: Model,
    inputs: list[Any],
    output: StrPath,
    training: Training,
    source: GivenSource,
    aside: StrPath | None,
    reading: Reading,
    weights_of_labels: Mapping[str, float] = {},
) -> TrainedModel:
    """Train a copy of a model and save it, like `train_files`, with weights of labels that are
    given as text. The records of `validation` are read before training, so that errors in them are
    reported first."""
    Cs: list[float] = [] if training.C is None else np.unique(training.C).tolist()
    model = _checked_copy(model, training, Cs)
    date = date_of_training()
    unseen = [] if training.validation is None else expand(training.validation)
    known = known_inputs([*inputs, *unseen])
    inputs, unseen = known[: len(inputs)], known[len(inputs) :]
    written: list[tuple[Any, str]] = [(output, _output_files.OUTPUT)]
    if aside is not None:
        written.append((aside, TABLE))
    _output_files.refuse_clashes(inputs, written)
    _output_files.refuse_clashes(unseen, written)
    check_parameters(model)
    with _model_file.new_file(output) as file:  # fails early if the output cannot be written
        with opened_table(aside) as table, _memory.out_of_memory_in("reading"):
            rows, others = _read_all(model, inputs, unseen, training, source, reading, table)
        _check_labels(model, rows.labels)
        others = others and comparable(model, rows.labels, others)
        if weights_of_labels:
            classes = np.unique(values_of(rows.labels))
            named = {label_of(classes, name): n for name, n in weights_of_labels.items()}
            model.set_params(class_weight=named)
        scores = _fit(model, rows, others, Cs, reading.progress, calibrate=training.calibrate)
        weight = None if rows.weights is None else float(rows.weights[: rows.n_records].sum())
        n_bad = 0 if table is None else table.n_bad
        tried = None if others is None else validation(model, others)
        done = TrainedModel(model, rows.n_records, n_bad, weight, tried, scores)
        model._facts = _facts_of(done, training, date)
        file.writelines(_model_file.content_of(model))
    return done


def _checked_copy(model: Model, training: Training, Cs: list[float]) -> Model:
    """Return a copy of the model with the first value of C, after checking the options."""
    if not isinstance(model, (KernelClassifier, KernelRegressor)):
        raise ParameterError("model", repr(model), "a KernelClassifier or a KernelRegressor")
    if training.calibrate and not isinstance(model, KernelClassifier):
        raise ValueError(f"{setting('calibrate', True)} is for classifiers, not for regression")
    copy: Model = _sklearn.clone(model)
    return copy.set_params(C=Cs[0]) if Cs else copy


def _read_all(
    model: Model,
    inputs: list[Any],
    unseen: list[Any],
    training: Training,
    source: GivenSource,
    reading: Reading,
    table: BadTable | None,
) -> tuple[LabelledRows, LabelledRows | None]:
    """Return the records to train on, and the records to evaluate on, if any. Both use the same
    weights of n-grams, counted on the training records."""
    coded = [path for path in inputs if holds_codes(path)]
    map = map_of(model, PackedCodes.load(coded[0])) if coded else model.map.fit_any_width()
    how: dict[str, Any] = {"source": source, "reading": reading, "aside": table}
    how |= {"vectorizer": model.vectorizer, "weight_field": training.weight_field}
    snippets = None
    if training.snippets is not None:
        snippets = tuple(training.snippets), _seeding.draw_seed(model.random_state)
    of_rows: KindOfLabels = "numbers" if isinstance(model, KernelRegressor) else "classes"
    rows = read_labelled(map, inputs, snippets=snippets, labels=of_rows, **how)
    if not unseen:
        return rows, None
    how["vectorizer"] = rows.vectorizer or model.vectorizer
    of_others: KindOfLabels = "lists" if isinstance(rows.labels, LabelLists) else of_rows
    return rows, read_labelled(map, unseen, labels=of_others, **how)


def _fit(
    model: Model,
    rows: LabelledRows,
    others: LabelledRows | None,
    Cs: list[float],
    progress: bool | None,
    *,
    calibrate: bool,
) -> tuple[ScoreOfC, ...]:
    """Fit the model to rows, in place, calibrate it if requested, and return the scores of several
    values of C. The model gets the best C."""
    scores: tuple[ScoreOfC, ...] = ()
    seed = _seeding.draw_seed(model.random_state)
    asked, at_work = model.vectorizer, _memory.out_of_memory_in("training")
    with bar_of_training(progress) as watch, watched(model, watch), at_work:
        try:
            model.vectorizer = rows.vectorizer or asked  # its weights are fitted
            if len(Cs) > 1:
                if isinstance(model, KernelRegressor):
                    _refuse_equal(rows, others, Cs)
                scores = _scores_of(model, rows, _folds(rows, others, seed), Cs, watch)
                model.set_params(C=max(scores, key=lambda one: one.score).C)
            labels: Any = rows.labels
            model.fit(rows.codes, labels, sample_weight=rows.weights)
        finally:
            model.vectorizer = asked
        if calibrate and isinstance(model, KernelClassifier):
            if others is None:
                _calibrate_by_folds(model, rows, seed, watch)
            else:
                _calibrate(model, others)
    return scores


def _calibrate(model: KernelClassifier, rows: LabelledRows) -> None:
    """Calibrate the model in place, on rows of its classes with positive weights."""
    known = np.ones(len(rows.labels), bool)
    if not isinstance(rows.labels, LabelLists):
        known = np.isin(rows.labels, model.classes_)
    known &= True if rows.weights is None else rows.weights > 0
    if not known.any():
        raise ValueError(
            f"{setting('calibrate', True)} needs records of the classes of the model, got none "
            f"among {len(known)}"
        )
    rows = rows.some(known)
    model.calibrate(rows.codes, rows.labels, rows.weights)


def _calibrate_by_folds(
    model: KernelClassifier, rows: LabelledRows, seed: int, watch: Watch
) -> None:
    """Calibrate the model in place, by out-of-fold scores of the rows that it was fitted to."""
    folds = _folds(rows, None, seed, with_snippets=True)
    folds = [fold for fold in folds if len(fold.held_out)]  # with few records, some folds are empty
    with _unfit_folds("calibrate", True):
        labels, weights = model._known_labels(rows.labels, rows.weights)
        model._calibrate_by_folds(rows.codes, labels, weights, folds, watch)


def _facts_of(done: TrainedModel, training: Training, date: str) -> TrainingFacts:
    """Return the facts about the training for the model's file. They omit durations, so with the
    same date, the same records make the same file."""
    names = "calibrate", "snippets", "weight_field"
    given = {name: getattr(training, name) for name in names}
    options = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value
    }
    scores = tuple((one.C, one.score, finite_or_none(one.error)) for one in done.scores)
    tried = done.validation
    found = None if tried is None or finite_or_none(tried.score) is None else tried[:2]
    return TrainingFacts(date, done.n_records, done.weight, options, found, scores)


_N_FOLDS = 5
"""Number of folds for the choice of C and for calibration."""


def _folds(
    rows: LabelledRows, others: LabelledRows | None, seed: int, *, with_snippets: bool = False
) -> list[Fold]:
    """Return one fold that is evaluated on the other records, or several folds of the records
    themselves. The snippets of a record are in the same fold, and are only scored with
    `with_snippets`."""
    costs = np.ones(len(rows.codes)) if rows.weights is None else rows.weights
    if others is not None:
        has_lists = isinstance(rows.labels, LabelLists)
        labels = as_lists(others.labels) if has_lists else values_of(others.labels)
        held_out = HeldOut(others.codes, None, labels, others.weights)
        return [Fold(lambda: costs, held_out, "fold 1 of 1")]
    key = _seeding.keys(seed, "linear", 3)[2]
    counts = costs[: rows.n_records] > 0  # others get no random number
    number = np.zeros(rows.n_records)
    number[counts] = np.floor(_N_FOLDS * _seeding.uniforms(key, int(counts.sum())))
    of_rows = number if rows.records is None else number[rows.records]
    n_scored = len(rows.codes) if with_snippets else rows.n_records
    folds = []
    for fold in range(_N_FOLDS):
        own = np.flatnonzero((of_rows == fold) & (costs > 0))
        own = own[own < n_scored]
        of_own = None if rows.weights is None else rows.weights[own]
        held_out = HeldOut(rows.codes, own, rows.labels[own], of_own)
        outside, name = partial(_outside, costs, of_rows, fold), f"fold {fold + 1} of {_N_FOLDS}"
        folds.append(Fold(outside, held_out, name))
    return folds


@contextlib.contextmanager
def _unfit_folds(name: str, value: object) -> Iterator[None]:
    """Raise a ValueError that names the required parameter if a fold has too few rows."""
    try:
        yield
    except UnfitFold as error:
        said = f"{setting(name, value)} without {setting('validation', 'INPUT')}"
        raise ValueError(f"{error}: {said} needs more records") from None


def _outside(costs: Array, of_rows: Array, fold: int) -> Array:
    """Return the weights of the rows for training without a fold."""
    return np.asarray(costs * (of_rows != fold))


def _scores_of(
    model: Model, rows: LabelledRows, folds: list[Fold], Cs: list[float], watch: Watch
) -> tuple[ScoreOfC, ...]:
    """Return the scores of several values of C."""
    with _unfit_folds("C", tuple(Cs)):
        found = scores_of_values(model, rows.codes, rows.labels, rows.weights, folds, Cs, watch)
    parts = Cs, found.means.tolist(), found.errors.tolist(), found.seconds.tolist()
    return tuple(map(ScoreOfC, *parts))


def _refuse_equal(rows: LabelledRows, others: LabelledRows | None, Cs: list[float]) -> None:
    """Raise a ValueError if R2 is undefined on the records that decide C."""
    deciding = rows if others is None else others
    if are_all_equal(values_of(deciding.labels), deciding.weights):
        where = "" if others is None else f" with {named('validation')}"
        raise ValueError(
            f"{setting('C', tuple(Cs))}{where} needs different labels: R2 of equal labels is "
            "undefined"
        )


def _check_labels(model: Model, labels: Labels) -> None:
    """Raise ValueError unless the model accepts the labels."""
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
