"""Models along a path of increasing C, or for a single C, and their scores on held-out rows."""

import itertools
import numbers
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._tools import _blocks, _seeding, _sklearn, _threads
from sparsemaps._tools._parameters import ParameterError, named, named_class, setting, shown
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._portable_math import length, weighted_sum
from sparsemaps._tools._typing import Array, Floats
from sparsemaps._tools._whole_numbers import are_equal
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import _solver
from sparsemaps.linear._indicators import LabelLists
from sparsemaps.linear._solver import TrainingRows

_SCORED_ROWS = 2**16
"""Rows scored at a time, because codes may be mapped into memory."""

MOST_BYTES = 2**30
"""Largest size in bytes of the weights and dual variables of folds that are trained together,
unless there is only one fold."""

MOST_SCORES = 2**23
"""Largest number of scores for a calibration (two per row for two classes). If there are more, rows
are sampled. A calibration of this size takes up to 20 seconds and a gigabyte."""


class HeldOut(NamedTuple):
    """Rows on which models are scored: some rows of `codes`, or all if `rows` is None."""

    codes: PackedCodes
    rows: Array | None
    y: Any
    """Labels or lists of labels, or None if rows are not compared with labels."""
    weights: Array | None

    def __len__(self) -> int:
        return len(self.codes) if self.rows is None else len(self.rows)

    def blocks(self) -> Iterator[PackedCodes]:
        """Yield the codes in blocks."""
        for start in range(0, len(self), _SCORED_ROWS):
            some = slice(start, start + _SCORED_ROWS)
            yield self.codes[some if self.rows is None else self.rows[some]]


class Fold(NamedTuple):
    """A model to train: a function that returns the weight of each row (a function, because there
    may be many folds), the rows on which it is scored, and its name in errors."""

    costs: Callable[[], Array]
    held_out: HeldOut
    name: str


class ScoreOfRows(NamedTuple):
    """A score and its standard error, from the contributions of the rows to the mean."""

    value: float
    error: float


class PathScores(NamedTuple):
    """Scores of models along a path."""

    of_folds: Array
    """Of shape (number of folds, number of C)."""
    errors: Array
    """Standard error of the mean score for each C: from the folds, or for a single fold from its
    rows."""
    seconds: Array
    """Training time for each C, for all folds together."""

    @property
    def means(self) -> Array:
        return self.of_folds.mean(axis=0)

    @property
    def best(self) -> int:
        """The place of the C of the highest mean; of equal ones, the smallest."""
        return int(self.means.argmax())


class UnfitFold(ValueError):
    """Raised if a fold has no rows to train on or to be scored on, or only rows of one class."""


def _check_fold(fold: Fold, model: Any, rows: TrainingRows) -> None:
    """Raise an UnfitFold if a fold has no rows to train on or to be scored on, only rows of one
    class, or, with several labels per row, no label."""
    is_there, held_out = fold.costs() > 0, fold.held_out
    is_scored = len(held_out) > 0 and (held_out.weights is None or bool(held_out.weights.any()))
    if not is_scored or not is_there.any():
        part = "rows to train on" if is_scored else "rows"
        raise UnfitFold(f"{fold.name} has no {part}")
    if sp.issparse(rows.labels):
        if not is_there[rows.labels.indices].any():
            raise UnfitFold(f"the rows to train on of {fold.name} have no label")
    elif rows.labels is not None:
        found = np.unique(rows.labels[is_there])
        if len(found) < 2:
            label = model.classes_.tolist()[found[0] + (len(model.classes_) == 2)]
            one = f"one class only: {shown(label)}"
            raise UnfitFold(f"the rows to train on of {fold.name} have {one}")


def folds_of(
    cv: Any, codes: PackedCodes, y: Any, costs: Array | None, *, classes: bool
) -> list[Fold]:
    """Return the folds into which `cv` splits rows, as in scikit-learn. With `classes`, each fold
    has rows of all classes if possible; this does not apply to rows with several labels. If `cv` is
    a number, rows of weight 0 are in no fold."""
    n_rows, labels = len(codes), y if isinstance(y, np.ndarray) else None
    there = np.arange(n_rows)
    if costs is not None and (cv is None or isinstance(cv, numbers.Integral)):
        there = np.flatnonzero(costs > 0)
    of_these = None if labels is None else labels[there]
    splitter = _sklearn.check_cv(cv, of_these, classifier=classes)
    splits = list(splitter.split(np.empty((len(there), 0)), of_these))
    if not splits:
        raise ParameterError("cv", "no fold", "folds")
    folds = []
    for number, split in enumerate(splits):
        train, test = (there[_row_numbers(part, len(there))] for part in split)
        some = None if labels is None else labels[test]
        held_out = HeldOut(codes, test, some, None if costs is None else costs[test])
        of_rows = partial(_costs_of, train, n_rows, costs)
        folds.append(Fold(of_rows, held_out, f"fold {number} of cv"))
    return folds


def _costs_of(train: Array, n_rows: int, costs: Array | None) -> Array:
    """Return the weight of each row, if only the rows with numbers `train` are trained on."""
    times = np.bincount(train, minlength=n_rows)
    return np.asarray(times * (1.0 if costs is None else costs))


def _row_numbers(part: npt.ArrayLike, n_rows: int) -> Array:
    """Return the row numbers of a part of a split, which has numbers or bools."""
    part = np.asarray(part)
    if part.dtype == bool and part.shape == (n_rows,):
        return np.flatnonzero(part)
    if not len(part):
        return np.empty(0, np.intp)
    if part.ndim != 1 or part.dtype.kind not in "iu" or not 0 <= part.min() <= part.max() < n_rows:
        rows = counted(n_rows, "rows")
        raise ParameterError("cv", "a fold with other numbers", f"folds of numbers of the {rows}")
    return part.astype(np.intp)


def scores_out_of_folds(
    model: Any,
    codes: PackedCodes,
    y: Any,
    weights: Array | None,
    folds: Sequence[Fold],
    watch: Callable[[int, int, int], Any] | None = None,
) -> tuple[Array, Floats, Any]:
    """Return the rows that folds hold out (a sample of them, if there would be more than
    `MOST_SCORES` scores), the scores of each row from the model of the other rows, and the classes
    of the models. The labels `y` must have been checked. The fitted model does not change."""
    worker = _like(model, C=model.C)
    rows, names = worker._problems(codes, y, weights)
    n_held_out = sum(len(fold.held_out) for fold in folds)
    share = MOST_SCORES / (max(len(names), 2) * max(n_held_out, 1))
    if share < 1:
        key = _seeding.keys(_seeding.draw_seed(model.random_state), "linear", 4)[3]
        is_taken = _seeding.uniforms(key, len(codes)) < share
        folds = [_with_some(fold, is_taken) for fold in folds]
    found: list[Any] = [None] * len(folds)

    def keep(number: int, one: Any) -> float:
        blocks = folds[number].held_out.blocks()
        parts = [one._of_codes(some, lambda scores: scores) for some in blocks]
        found[number] = np.concatenate([np.empty((0, len(names))), *parts])
        return 0.0

    scores_along(
        worker, rows, len(names), folds, [model.C], lambda C: _like(worker, C=C), keep, watch
    )
    own = [fold.held_out.rows for fold in folds if fold.held_out.rows is not None]
    return np.concatenate(own), np.concatenate(found), worker.classes_


def _with_some(fold: Fold, is_taken: Array) -> Fold:
    """Return a copy of a fold that scores only the rows in `is_taken`."""
    assert fold.held_out.rows is not None
    some = fold.held_out.rows[is_taken[fold.held_out.rows]]
    return fold._replace(held_out=HeldOut(fold.held_out.codes, some, None, None))


def _like(model: Any, **attributes: Any) -> Any:
    """Return a copy of a model with some attributes replaced."""
    made = object.__new__(type(model))
    vars(made).update(vars(model), **attributes)
    return made


def scores_of_values(
    model: Any,
    codes: PackedCodes,
    y: Array | LabelLists,
    weights: Array | None,
    folds: Sequence[Fold],
    Cs: Sequence[float],
    watch: Callable[[int, int, int], Any] | None = None,
) -> PathScores:
    """Return the scores of models with the parameters of `model`, for increasing values of C. The
    model does not change."""

    worker = _like(model, C=Cs[0])
    codes, y, weights = worker._begin(codes, y, weights)
    rows, names = worker._problems(codes, y, weights)
    return scores_along(
        worker, rows, len(names), folds, Cs, lambda C: _like(worker, C=C), watch=watch
    )


def scores_along(
    model: Any,
    rows: TrainingRows,
    n_models: int,
    folds: Sequence[Fold],
    Cs: Sequence[float],
    of_one_C: Callable[[float], Any],
    scorer: Callable[[int, Any], float] | None = None,
    watch: Callable[[int, int, int], Any] | None = None,
) -> PathScores:
    """Train on the rows of each fold, with increasing values of C, and score the held-out rows.

    Parameters
    ----------
    model : CodesModel
        Model with the parameters and the classes of the problems.
    rows : TrainingRows
        All training rows; each fold has its own weights.
    of_one_C : callable
        Called with a C; returns a new model, which gets the weights.
    scorer : callable or None
        Called with the number of a fold and its model; returns the score. None means the accuracy
        or R2.
    watch : callable or None
        Called with the number of trained models, their total number, and 0.
    """
    for fold in folds:
        _check_fold(fold, model, rows)
    shape = len(folds), len(Cs)
    scores, errors, seconds = np.empty(shape), np.full(shape, np.nan), np.zeros(len(Cs))
    unfinished, n_done = set[float](), [0]
    seed, n_jobs = _seeding.draw_seed(model.random_state), _threads.resolve_n_jobs(model.n_jobs)

    def score(number: int, place: int, solutions: Iterable[Any]) -> None:
        """Score the model of a fold at a C."""
        C, held_out = Cs[place], folds[number].held_out
        one = of_one_C(C)
        if one._take(solutions, rows, model._objective(C), n_models):
            unfinished.add(C)
        if scorer is None:
            scores[number, place], errors[number, place] = score_of(one, held_out)
        else:
            scores[number, place] = scorer(number, one)
        n_done[0] += 1
        if watch is not None:
            watch(n_done[0], scores.size, 0)

    matrices = deque[Array]() if len(Cs) > 1 else None
    together = _together(model, rows, folds) if len(folds) > 1 else None
    most = 1  # largest number of folds per path
    if together is not None:
        most = len(folds) if n_models == 1 else _solver.MOST_OF_FLOAT32
    for some in _parts_of(len(folds), n_models, rows):
        paths = []
        for first, stop in _blocks.ranges(some.start, some.stop, most):
            numbers = range(first, stop)
            if together is None:
                of_path = model._weighted(rows, folds[numbers[0]].costs())
            else:
                of_path = together.of_folds(numbers)
            largest = None  # for regression, a single model or a single C, weights are float64
            if of_path.labels is not None and n_models * len(folds) > 1 and len(Cs) > 1:
                largest = (of_path if together is None else together).largest_cost
            path = _solver.Path(
                of_path, model._objective(Cs[0]), n_models * len(numbers), tol=float(model.tol),
                seed=seed, n_jobs=n_jobs, largest_cost=largest, matrices=matrices,
            )  # fmt: skip
            paths.append((path, numbers))
        for place, C in enumerate(Cs):
            start = time.perf_counter()
            jobs = [path.jobs(C, model.max_iter, n_jobs) for path, _ in paths]
            _solver.run_in_turns(itertools.chain.from_iterable(jobs), n_jobs)
            seconds[place] += time.perf_counter() - start
            for path, numbers in paths:
                for part, number in enumerate(numbers):
                    score(number, place, path.solutions(part))
    if unfinished:
        shown = ", ".join(f"{C:.6g}" for C in sorted(unfinished))
        warnings.warn(
            f"{named_class(model)} did not converge with {setting('max_iter', model.max_iter)} "
            f"for C of {shown} in some folds. Increase {named('max_iter')} or "
            f"{named('tol')}, or give smaller values of {named('C')}",
            _sklearn.ConvergenceWarning,
            stacklevel=3,
        )
    of_means = errors[0]
    if len(folds) > 1:
        of_means = scores.std(axis=0, ddof=1) / np.sqrt(len(folds))
    return PathScores(scores, of_means, seconds)


def _parts_of(n_folds: int, n_models: int, rows: TrainingRows) -> list[range]:
    """Return ranges of folds whose models are in memory together."""
    of_a_fold = 8 * n_models * (_solver.check_width(rows.codes) + len(rows.codes))
    n_parts = -(-n_folds // max(1, MOST_BYTES // of_a_fold))
    cuts = [part * n_folds // n_parts for part in range(n_parts + 1)]
    return [range(first, stop) for first, stop in itertools.pairwise(cuts)]


class _Together(NamedTuple):
    """Folds whose models are trained together. They differ in their rows, and in the factors of C
    for the two sides of each model."""

    rows: TrainingRows
    members: list[Array]
    """Rows of each fold, one bit per row."""
    factors: list[Array] | None
    """Factors of each fold."""

    @property
    def largest_cost(self) -> float:
        factors = None if self.factors is None else np.concatenate(self.factors)
        return self.rows._replace(factors=factors).largest_cost

    def of_folds(self, numbers: range) -> TrainingRows:
        """Return the rows for the models of some folds."""
        n, some = len(self.rows.codes), slice(numbers.start, numbers.stop)
        factors = None
        if self.factors is not None:
            factors = np.stack(self.factors[some], axis=1).reshape(-1, 2)
        members = [np.unpackbits(bits, count=n).astype(bool) for bits in self.members[some]]
        return self.rows._replace(members=members, factors=factors)


def _together(model: Any, rows: TrainingRows, folds: Sequence[Fold]) -> _Together | None:
    """Return the folds for training together, or None unless each row has the same weight in all
    folds that train on it."""
    base, members, factors = np.zeros(len(rows.codes)), [], []
    for fold in folds:
        some = model._by_factors(rows, fold.costs())
        own = some.weights
        is_there = own > 0
        if (own != base)[is_there & (base > 0)].any():
            return None
        base[is_there] = own[is_there]
        members.append(np.packbits(is_there))
        factors.append(some.factors)
    has_factors = factors[0] is not None
    return _Together(rows._replace(weights=base), members, factors if has_factors else None)


def score_of(model: Any, held_out: HeldOut) -> ScoreOfRows:
    """Return the score of a model on some rows with its standard error: the accuracy or R2, or for
    lists of labels the micro-averaged F1."""
    if isinstance(held_out.y, LabelLists):
        return _micro_f1(model, held_out, held_out.y)
    found = np.concatenate([model.predict(codes) for codes in held_out.blocks()])
    weights = np.ones(len(found)) if held_out.weights is None else held_out.weights
    total = float(weights.sum())
    if isinstance(model, _sklearn.ClassifierMixin):
        parts = are_equal(found, held_out.y).astype(np.float64)
        score = weighted_sum(weights, parts) / total
        return ScoreOfRows(score, length(weights * (parts - score)) / total)
    y = held_out.y.astype(np.float64)
    squares, around = (y - found) ** 2, (y - weighted_sum(weights, y) / total) ** 2
    mean, spread = weighted_sum(weights, squares) / total, weighted_sum(weights, around) / total
    if are_all_equal(y, weights):
        return ScoreOfRows(0.0 if mean else 1.0, float("nan"))
    # R2 is a ratio of means. To first order, a row adds (share of the spread - squares) / spread.
    parts = (mean / spread * around - squares) / spread
    return ScoreOfRows(1 - mean / spread, length(weights * parts) / total)


def are_all_equal(y: Array, weights: Array | None) -> bool:
    """Return whether the labels of all rows with a positive weight are equal, which leaves R2
    undefined. (Rounded, their variance may be above 0.)"""
    return len(np.unique(y if weights is None else y[weights > 0])) < 2


def _micro_f1(model: Any, held_out: HeldOut, y: LabelLists) -> ScoreOfRows:
    """Return the micro-averaged F1. Labels that the model does not know count as not found."""
    known = model.classes_.tolist()
    unknown = sorted(set(y.values.tolist()).difference(known))
    wanted = y.matrix(np.array([*known, *unknown], object)).astype(np.float64)
    found = sp.vstack([sp.csr_array(model.predict(codes)) for codes in held_out.blocks()])
    weights = np.ones(len(y)) if held_out.weights is None else held_out.weights
    right = wanted[:, : len(known)].multiply(found).sum(axis=1)
    both = wanted.sum(axis=1) + found.sum(axis=1)
    total = weighted_sum(weights, both)
    if not total:
        return ScoreOfRows(0.0, float("nan"))
    score = 2 * weighted_sum(weights, right) / total
    return ScoreOfRows(score, length(weights * (2 * right - score * both)) / total)
