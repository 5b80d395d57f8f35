"""The measurement of the estimators that the search has found, on held-out rows."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _sklearn, _threads
from sparsemaps._tools._typing import Array
from sparsemaps.comparison._budget import OutOfTime, Step
from sparsemaps.comparison._candidates import LINEAR, Candidate
from sparsemaps.comparison._comparison import Measured
from sparsemaps.comparison._halving import RUNGS, Found, Halving, prepare
from sparsemaps.comparison._learners import OnCodes

N_FOLDS = 5

_FIRST, _SIZES = 0.75, 0.8
_SIZES_BEFORE_TEST, _FOLDS_BEFORE_TEST = 0.65, 0.85
"""Shares of the time after which no first entry of a family begins, no entry of another size, and
no further fold. If there is a test, sizes and folds end earlier, until it was measured."""

_PART = 0.1
"""Preferred largest share of the time for the first entry of a family."""

_OTHER_LINEAR = 0.1
"""Share of the time after which each linear model except the first is stopped. It is not begun if
it is expected to take more than half of that."""

_OF_BEST = 0.2
"""Share of the time that another size of the best map may take even if it ends late."""

_NEAR_ERRORS = 2.0
"""Entries within this number of standard errors of the best are measured again."""

_NEAR, _MAY_GAIN = 0.03, 0.1
"""Families within this distance of the best are measured at all sizes. More trees and larger sizes
of the best map may gain more."""


class Outcome(NamedTuple):
    """The score of predictions, and its standard error over the rows."""

    score: float
    error: float
    n_rows: int


@dataclass
class Entry:
    """A row of the table during the measurement."""

    candidate: Candidate
    size: int
    strength: float
    row_bytes: float = 0.0
    losses: list[Array] = field(default_factory=list)
    """For each measured fold, the loss of each row; for regression, in units of the variance of the
    targets."""
    train_seconds: list[float] = field(default_factory=list)
    predict_seconds: list[float] = field(default_factory=list)
    """Per row."""
    test: Outcome | None = None
    n_train: int | None = None
    """Number of training rows if there was no time for all."""

    @property
    def components(self) -> int:
        """The components of the map."""
        return self.candidate.learner.components(self.size, searched=False)

    @property
    def shown_size(self) -> int | None:
        """The number of trees, or of components of the map; None for others."""
        learner = self.candidate.learner
        if learner.of_trees:
            return int(self.strength)
        return self.components if learner.has_map else None

    def work(self, n_rows: int) -> float:
        """Return the work of a fit to `n_rows` rows."""
        return self.candidate.learner.work(n_rows, self.components, [self.strength], 1)

    def cost(self) -> tuple[float, float]:
        """Return the bytes of a row and the seconds of its prediction."""
        return self.row_bytes, float(np.mean(self.predict_seconds))

    def outcome(self) -> Outcome:
        return outcome_of(np.concatenate(self.losses))

    def folds_and_score(self) -> tuple[int, float]:
        """Return the number of folds, and a score on these for ranking: minus the sum of mean
        losses."""
        return len(self.losses), -sum(float(part.mean()) for part in self.losses)


def outcome_of(losses: Array) -> Outcome:
    """Return 1 minus the mean loss. The standard error of an accuracy includes one additional right
    and one wrong row, so it is never 0."""
    n = len(losses)
    is_accuracy = bool(((losses == 0) | (losses == 1)).all())
    some = np.append(losses, [0.0, 1.0]) if is_accuracy else losses
    return Outcome(1 - float(losses.mean()), float(some.std() / np.sqrt(n)), n)


class Gap(NamedTuple):
    """How far an entry's score is below another's, and the standard error of this difference."""

    behind: float
    error: float

    def is_within(self, n_errors: float) -> bool:
        return self.behind <= n_errors * self.error


def gap_of(entry: Entry, best: Entry) -> Gap:
    """Return how far an entry is behind another, on the rows that both have predicted.

    Most rows are easy or hard for both, so the error of the difference is smaller than the errors
    of the scores.
    """
    n_folds = min(len(entry.losses), len(best.losses))
    theirs, its = (np.concatenate(one.losses[:n_folds]) for one in (entry, best))
    differences = theirs - its
    some = np.append(differences, [1.0, -1.0])  # so that the error is never 0
    return Gap(float(differences.mean()), float(some.std() / np.sqrt(len(some))))


class Measurement:
    """Entries that are measured step by step while there is time."""

    def __init__(self, search: Halving, test: tuple[Any, Array] | None) -> None:
        self.search, self.test = search, test
        self.goal, self.budget = search.goal, search.budget
        self.entries: list[Entry] = []
        self.folds = list(_folds(search))
        self.problems: dict[str, str] = {}
        """The reason for each family that cannot take all rows."""
        self.families: dict[str, list[Entry]] = {}
        """The entries of the best candidate of each family, and of all linear models."""
        self._most_work: dict[Candidate, float] = {}
        self._spread = self._spread_of(search.y)

    def run(self, found: Sequence[Found]) -> list[Entry]:
        """Return the measured entries."""
        families = self.families
        for one in found:
            family, learner = one.candidate.family, one.candidate.learner
            if one.rung >= 0 and (family not in families or family == LINEAR):
                made = [Entry(one.candidate, *how) for how in learner.variants(one.strength)]
                families.setdefault(family, []).extend(made)
        # Linear models, with which all others are compared, come first.
        for family, entries in sorted(families.items(), key=lambda item: item[0] != LINEAR):
            part = _PART * self.budget.seconds
            short = [entry for entry in entries if self._expected(entry) <= part]
            for entry in [*short, *entries]:  # until one has time
                if self._measure(entry, 0, _FIRST):
                    break
            if family == LINEAR:  # few rows do not reveal the best preparation for many rows
                for entry in sorted(entries, key=self._expected):
                    end = self.budget.share() + _OTHER_LINEAR
                    self._measure(entry, 0, min(_FIRST, end))
        if not self.entries and families:  # measure one in any case
            every = [entry for entries in families.values() for entry in entries]
            self._measure(min(every, key=self._expected), 0, in_any_case=True)
        early = (_SIZES, 1.0, 1.0)
        if self.test is not None:
            early = (_SIZES_BEFORE_TEST, _FIRST, _FOLDS_BEFORE_TEST)
        for near, (share, late, end) in ((_NEAR, early), (np.inf, (1.0, 1.0, 1.0))):
            first = _best_map(self._best_first())
            for entry in self._unmeasured(near):
                self._settle(share, self._expected(entry) / N_FOLDS)
                may_be_late = self._may_end_late(entry, first)
                self._measure(entry, 0, late if may_be_late else share)
            self._settle(end)
            self._test_near_best()
        for fold in range(1, self._n_folds):  # a single best one, too, in the remaining time
            for entry in self._near_best():
                self._measure(entry, fold)
        if self.test is not None:
            for entry in self._best_first():
                self._measure_test(entry)
            if self.entries and not any(entry.test for entry in self.entries):
                self._measure_test(self._best_first()[0], in_any_case=True)
        return self.entries

    def _unmeasured(self, near: float) -> list[Entry]:
        """Return the other sizes of families within `near` of the best. Sizes of the best map come
        first. Within each group, the fastest come first, so that most are measured."""
        ranked = self._best_first()
        if not ranked:
            return []
        first = _best_map(ranked)
        others = []
        for family, entries in self.families.items():
            may_gain = family == first or entries[0].candidate.learner.of_trees
            limit = max(near, _MAY_GAIN) if may_gain else near
            if any(one.losses and gap_of(one, ranked[0]).behind <= limit for one in entries):
                some = [one for one in entries if not one.losses]
                others += [(family != first, self._expected(one), one) for one in some]
        return [one for *_, one in sorted(others, key=lambda other: other[:2])]

    def _may_end_late(self, entry: Entry, first: str | None) -> bool:
        """Return whether another size may begin although it may end late: a fast one of the best
        map."""
        is_of_best = entry.candidate.family == first
        return is_of_best and self._expected(entry) <= _OF_BEST * self.budget.seconds

    def left_out(self) -> list[str]:
        """Return the names of entries near the best for which there was no time."""
        n_rows = len(self.folds[0][0])
        return [
            entry.candidate.name
            if entry.shown_size is None
            else f"{entry.candidate.family} of {entry.shown_size:,}"
            for entry in self._unmeasured(_NEAR)
            if entry.candidate.learner.has_room(n_rows, entry.size)
            and entry.candidate.family not in self.problems
        ]

    @property
    def _n_folds(self) -> int:
        """The number of folds. If rows are ordered by time, the other folds are earlier rows and
        not used."""
        return 1 if self.search.ordered else N_FOLDS

    def _settle(self, share: float, most: float = np.inf) -> None:
        """Measure entries near the best on more folds, until all were measured on all folds or a
        share of the time is over. Folds that are expected to take more than `most` seconds are left
        out.

        The best entry, and smaller ones that may become the choice, come first. Others may turn out
        to be the best.
        """
        while self._settle_further(share, most) or self._measure_further(share, most):
            pass

    def _settle_further(self, share: float, most: float) -> bool:
        """Measure a fold of one of two entries: the best, and the smallest that may become the
        choice.

        Return whether a fold was measured.
        """
        near = self._near_best()
        if not near:
            return False
        best, *others = near
        smaller = [one for one in others if one.cost() < best.cost()]
        for other in sorted(smaller, key=Entry.cost):
            for entry in sorted((best, other), key=lambda one: len(one.losses)):
                if self._measure_next(entry, share, most):
                    return True
            if gap_of(other, best).is_within(1.0):
                return False
        return False

    def _measure_further(self, share: float, most: float) -> bool:
        """Measure another fold of an entry near the best: the fastest of the entries with the
        fewest folds.

        Return whether a fold was measured.
        """
        near = self._near_best()
        ranked = sorted(near, key=lambda one: (len(one.losses), self._expected(one)))
        return len(near) > 1 and any(self._measure_next(one, share, most) for one in ranked)

    def _measure_next(self, entry: Entry, share: float, most: float) -> bool:
        fold = len(entry.losses)
        is_short = fold < self._n_folds and self._expected(entry) <= most
        return is_short and self._measure(entry, fold, share)

    def _test_near_best(self) -> None:
        """Measure the best entry, the choice, the best linear model and others near the best on the
        test, if there is one."""
        near = self._near_best()
        if self.test is not None and near:
            choices = [one for one in near if gap_of(one, near[0]).is_within(1.0)]
            linear = [one for one in self._best_first() if one.candidate.family == LINEAR]
            for entry in [near[0], min(choices, key=Entry.cost), *linear[:1], *near]:
                self._measure_test(entry)

    def _near_best(self) -> list[Entry]:
        """Return the entries that may be the best one, best first."""
        ranked = self._best_first()
        return [one for one in ranked if gap_of(one, ranked[0]).is_within(_NEAR_ERRORS)]

    def rows(self) -> list[Measured]:
        """Return the rows of the table, best first."""
        scored = self._scored()
        return [self._row(entry, score, scored[0][1]) for score, entry in scored]

    def _row(self, entry: Entry, score: float, best: Entry) -> Measured:
        one, test, gap = entry.candidate, entry.test, gap_of(entry, best)
        return Measured(
            name=one.name, family=one.family, size=entry.shown_size,
            score=score, standard_error=entry.outcome().error,
            behind=gap.behind, behind_error=gap.error, n_folds=len(entry.losses),
            test_score=test.score if test else None, test_error=test.error if test else None,
            train_seconds=float(np.mean(entry.train_seconds)),
            row_seconds=float(np.mean(entry.predict_seconds)), row_bytes=entry.row_bytes,
            takes_dense=isinstance(self.search.rows, np.ndarray) and self.search.rows.ndim == 2,
            estimator=self.estimator(entry), n_train=entry.n_train,
        )  # fmt: skip

    def _scored(self) -> list[tuple[float, Entry]]:
        """Return (score, entry) pairs, best first. Scores are on all folds of the entry with the
        most folds. An entry with fewer folds is assumed to be as far behind on the missing folds as
        on the common ones."""
        most = max(self.entries, key=Entry.folds_and_score, default=None)
        if most is None:
            return []
        score = most.outcome().score
        scored = [(score - gap_of(one, most).behind, one) for one in self.entries]
        return sorted(scored, key=lambda pair: (-pair[0], pair[1].row_bytes))

    def _best_first(self) -> list[Entry]:
        return [entry for _, entry in self._scored()]

    def _expected(self, entry: Entry, n_rows: int | None = None, n_others: int = 0) -> float:
        """Return the expected seconds of a fit to `n_rows` rows, by default the rows of a fold, and
        of predictions for `n_others` rows."""
        if n_rows is None:
            n_rows, n_others = (len(part) for part in self.folds[0])
        costs, one, work = self.search.costs, entry.candidate, entry.work(n_rows)
        expected = costs.expected((one, "measured"), work)
        if not expected:
            preparing = self.search.preparing(one, n_rows + n_others)
            return preparing + costs.expected(one, work) * one.learner.slower
        return expected + costs.expected((one, entry.size, "predictions"), n_others)

    def _has_time(
        self, entry: Entry, n_rows: int, n_others: int, share: float = 1.0
    ) -> bool:  # fmt: skip
        has_room = entry.candidate.learner.has_room(n_rows, entry.size)
        expected = self._expected(entry, n_rows, n_others) * entry.candidate.learner.margin
        return has_room and expected <= self.budget.left(share)

    def _with_time(self, entry: Entry, train: Array, n_others: int, *, n_fits: int = 1) -> Array:
        """Return the training rows that there is time for, `n_fits` times; at least the number of
        the search's first round. If these are fewer than all, set the entry's `n_train`."""
        expected = self._expected(entry, len(train), n_others) * entry.candidate.learner.margin
        left = max(self.budget.left(), 0.0) / n_fits
        if expected <= left:
            return train
        share = (left / expected) ** (1 / entry.candidate.learner.exponent)
        order = self.search.order
        chosen = order[np.isin(order, train)][: max(RUNGS[0].n_rows, int(share * len(train)))]
        if len(chosen) < len(train):
            entry.n_train = len(chosen)
        return np.sort(chosen)

    def _guess(
        self, entry: Entry, train: Array, others: Any, share: float | None
    ) -> tuple[Any, float, float]:
        """Return the predictions for other rows by the entry's estimator, fitted to some rows, with
        the seconds of the fit and of the prediction.

        Raises
        ------
        OutOfTime
            If `share` of the time ends during training. With None, training is never stopped.
        """
        estimator, learner = self.estimator(entry), entry.candidate.learner
        costs, key = self.search.costs, (entry.candidate, entry.size, "predictions")
        with_threads(estimator, self.goal.n_jobs)
        rows, y = self.search.rows[train], self.search.y[train]
        with contextlib.ExitStack() as stack:
            if learner.of_trees:
                stack.enter_context(_threads.libraries_take(self.goal.n_threads_of_trees))
            reserved = costs.expected(key, others.shape[0])
            step = Step(self.budget, costs, entry.candidate, end=share, reserved=reserved)
            try:
                learner.fit(estimator, rows, y, step, entry.strength)
            except OutOfTime as error:  # it takes even longer than this
                seconds = max(step.spent(), error.seconds)
                self._note_fit(entry, len(train), seconds, ended=False)
                raise
            fitted = step.spent()
            self._note_fit(entry, len(train), fitted)
            step.check()
            guess = estimator.predict(others)
            seconds = step.spent() - fitted
        costs.note(key, others.shape[0], seconds)
        return guess, fitted, seconds

    def _note_fit(
        self, entry: Entry, n_rows: int, seconds: float, *, ended: bool = True
    ) -> None:  # fmt: skip
        """Note the cost of a fit, unless a larger fit has completed: the fixed cost of a fit
        distorts small ones."""
        work = entry.work(n_rows)
        if work >= self._most_work.get(entry.candidate, 0.0) or not ended:
            self._most_work[entry.candidate] = work
            self.search.costs.note((entry.candidate, "measured"), work, seconds)

    def _measure(
        self, entry: Entry, fold: int, share: float = 1.0, *, in_any_case: bool = False
    ) -> bool:
        """Measure an entry on a fold if it has time and has not been measured on it. With
        `in_any_case`, use fewer training rows if time is short. Return whether it was measured."""
        train, test = self.folds[fold]
        search = self.search
        if in_any_case:
            n_fits = 1 if self.test is None else 2
            train = self._with_time(entry, train, len(test), n_fits=n_fits)
        elif len(entry.losses) != fold or not self._has_time(entry, len(train), len(test), share):
            return False
        self.budget.watch(f"fold {fold + 1}: {entry.candidate.name}, {entry.size}")
        rows, y = search.rows[test], search.y[test]
        try:
            guess, train_seconds, seconds = self._guess(
                entry, train, rows, None if in_any_case else share
            )
        except OutOfTime:
            return False
        except ValueError as error:  # the map does not support a row that the search has not used
            self.problems[entry.candidate.family] = str(error)
            return False
        entry.train_seconds.append(train_seconds)
        entry.predict_seconds.append(seconds / len(test))
        entry.losses.append(self._losses(guess, y) / self._spread)
        if fold == 0:
            self.entries.append(entry)
            entry.row_bytes = self._row_bytes(entry, rows)
        return True

    def _row_bytes(self, entry: Entry, rows: Any) -> float:
        one, search = entry.candidate, self.search
        Z = prepare(search.preparations.steps(one.preparation), rows[:200])
        if one.learner.exponent > 1:
            return 8.0 * len(search.y)
        return one.learner.row_bytes(Z, entry.size)

    def _losses(self, guess: Any, y: Array) -> Array:
        losses: Array = (guess - y) ** 2 if self.goal.is_regression else (guess != y).astype(float)
        return losses

    def _spread_of(self, y: Array) -> float:
        """Return the divisor of losses: the variance of regression targets, or 1 for classes."""
        return max(float(y.var()), 1e-300) if self.goal.is_regression else 1.0

    def _measure_test(self, entry: Entry, *, in_any_case: bool = False) -> None:
        assert self.test is not None
        search, (rows, y) = self.search, self.test
        train = np.arange(len(search.y))
        if in_any_case:
            train = self._with_time(entry, train, len(y))
        elif entry.test is not None or not self._has_time(entry, len(train), len(y)):
            return
        self.budget.watch(f"test: {entry.candidate.name}, {entry.size}")
        try:
            guess, *_ = self._guess(entry, train, rows, None if in_any_case else 1.0)
        except OutOfTime:
            return
        except ValueError as error:
            self.problems[entry.candidate.family] = str(error)
            return
        entry.test = outcome_of(self._losses(guess, y) / self._spread_of(y))

    def estimator(self, entry: Entry) -> Any:
        """Return the unfitted estimator of an entry, for rows as given by the user."""
        one = entry.candidate
        steps = self.search.preparations.steps(one.preparation)
        make = one.learner.estimator
        analyzer = self.search.preparations.analyzer
        if isinstance(one.learner, OnCodes) and analyzer is not None:
            vectorizer = analyzer if len(steps) == 1 else _sklearn.make_pipeline(*steps)
            return make(self.goal, entry.size, entry.strength, vectorizer)
        model = make(self.goal, entry.size, entry.strength)
        if isinstance(model, _sklearn.Pipeline):
            steps, model = [*steps, *(step for _, step in model.steps[:-1])], model.steps[-1][1]
        return _sklearn.make_pipeline(*steps, model) if steps else model


def _best_map(ranked: Sequence[Entry]) -> str | None:
    """Return the family of the first entry with a map; None if there is no such entry."""
    families = (one.candidate.family for one in ranked if one.candidate.learner.has_map)
    return next(families, None)


def with_threads(estimator: Any, n_jobs: int | None) -> Any:
    """Set the number of threads of all parts of an estimator, in place, and return it."""
    names = [name for name in estimator.get_params() if name.rpartition("__")[2] == "n_jobs"]
    return estimator.set_params(**{name: n_jobs for name in names})


def _folds(search: Halving) -> list[tuple[Array, Array]]:
    """Return the folds. Each class is represented in every fold."""
    fold_of = search.parts(N_FOLDS)
    every = np.arange(len(fold_of))
    return [(every[fold_of != fold], every[fold_of == fold]) for fold in range(N_FOLDS)]
