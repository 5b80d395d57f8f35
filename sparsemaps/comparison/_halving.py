"""The search: successive halving of the candidates over rows and sizes."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools._typing import Array
from sparsemaps.comparison._budget import Budget, Costs, OutOfTime, Step
from sparsemaps.comparison._candidates import LINEAR, Candidate, Preparations, neighbours_of
from sparsemaps.comparison._learners import Goal


class Rung(NamedTuple):
    """A round of the search: the largest number of rows, the size of maps, the number of splits,
    the share of the whole time after which no step begins, and the share that a step may take."""

    n_rows: int
    size: int
    n_splits: int
    end: float
    step: float


RUNGS = (
    Rung(1500, 128, 2, 0.20, 0.03),
    Rung(4000, 256, 2, 0.35, 0.06),
    Rung(12000, 512, 2, 0.50, 0.10),
)

_PARTS = 4
"""Number of parts of the rows. One part is the test of a split."""

_STRATA = 10
"""Regression targets are divided into this number of strata by value. Each stratum is represented
in every test."""

_GOLDEN = 0.618
_FINER = 10**0.5

_EQUAL = 0.25
"""Among strengths whose scores are within this number of standard errors of the best, choose the
one nearest to that of the previous round, or the fewest trees."""

_FIRST = 0.5
"""Share of the time in which each family gets a first run, regardless of the time of others.

Linear models get a first run for each preparation: they are cheap, and the best preparation is
unknown.
"""

_WARM, _FEW_ROWS, _FEW_SAMPLES = 0.25, 64, 16
"""Largest share of the time for imports, and the number of rows and size of maps for the trial
runs."""

_SHORT = 0.05
"""Overhead in seconds of a run on few rows that says nothing about more rows."""

_HOPELESS = 0.1
"""Families this far behind are no longer searched."""


@dataclass
class Found:
    """The state of the search for one candidate."""

    candidate: Candidate
    score: float = -np.inf
    strength: float = 1.0
    rung: int = -1
    strengths: tuple[float, ...] = field(default=())
    problem: str = ""
    """Why the candidate cannot take the rows."""

    def rank(self) -> tuple[int, float]:
        return self.rung, self.score


class Halving:
    """The search, with the rows, the time limit, and the costs so far."""

    def __init__(
        self, rows: Any, y: Array, goal: Goal, budget: Budget, preparations: Preparations,
        generator: np.random.Generator, *, ordered: bool = False,
    ) -> None:  # fmt: skip
        self.rows, self.y, self.goal, self.budget = rows, y, goal, budget
        self.preparations = preparations
        self.costs = Costs()
        self.order = generator.permutation(len(y))
        self.ordered = ordered

    def run(self, candidates: Sequence[Candidate], rungs: Sequence[Rung] = RUNGS) -> list[Found]:
        """Return the candidates, best first."""
        alive = [Found(one, strengths=one.learner.strengths) for one in _in_turns(candidates)]
        done: list[Found] = []
        for number, rung in enumerate(rungs):
            self._run_rung(number, rung, alive)
            alive.sort(key=Found.rank, reverse=True)
            is_last = number + 2 == len(rungs)
            kept = [one for one in _kept(alive, len(alive) // 2, is_last) if one.rung >= 0]
            if is_last:  # the measurement tries more and fewer trees
                kept = [one for one in kept if not one.candidate.learner.of_trees]
            done += [one for one in alive if one not in kept]
            alive = kept
            if number + 1 < len(rungs):
                for one in alive:
                    one.strengths = _around(one, finer=number + 2 == len(rungs))
                alive = _with_neighbours(alive) if number == 0 else _beyond(alive, done)
        return sorted([*alive, *done], key=Found.rank, reverse=True)

    def _run_rung(self, number: int, rung: Rung, alive: list[Found]) -> None:
        some = self.some(rung.n_rows)
        rows, y = self.rows[some], self.y[some]
        splits = _splits(strata_of(y, self.goal.is_regression), rung.n_splits)
        prepared: dict[str, Any] = {}
        tried: set[str] = set()
        for place, one in enumerate(alive):
            family = one.candidate.family
            is_new = number == 0 and family not in tried
            is_first = is_new or (number == 0 and family == LINEAR)
            tried.add(family)
            learner = one.candidate.learner
            size = learner.components(rung.size, searched=True)
            least = one.strengths[: 1 if learner.of_trees else None]  # more trees need not be tried
            work = learner.work(len(some), size, least, rung.n_splits)
            expected = self.costs.expected(one.candidate if one.rung >= 0 else family, work)
            if one.candidate.preparation not in prepared:
                expected += self.preparing(one.candidate, len(some))
            step = rung.step * self.budget.seconds
            end = _FIRST if is_first else rung.end
            is_late = self.budget.left(end) < expected or (expected > step and not is_first)
            has_any = any(other.rung >= 0 for other in alive)  # the first one always has time
            if is_late and has_any:
                continue
            where = f"search {number + 1}: {place + 1} of {len(alive)}"
            self.budget.watch(f"{where}, {one.candidate.name}")
            try:
                self._prepare(one.candidate, rows, prepared)
                start = self.budget.spent()
                scores = self._scores(one, rung, y, splits, prepared, _FIRST if has_any else None)
            except ValueError as error:  # the map does not support the rows, or a class is missing
                one.problem = str(error)
                continue
            self._take(one, scores, number, len(splits[0][1]))
            done = [one.strengths[: max(1, n)] for n in np.isfinite(scores).sum(axis=1)]
            work = sum(learner.work(len(some), size, strengths, 1) for strengths in done)
            for key in (one.candidate, family):
                self.costs.note(key, work, self.budget.spent() - start)

    def some(self, n_rows: int) -> Array:
        """Return the numbers of randomly chosen rows; sorted if the order of rows matters."""
        chosen: Array = self.order[:n_rows]
        return np.sort(chosen) if self.ordered else chosen

    def parts(self, n: int) -> Array:
        """Return the part, from 0 to n - 1, of each row."""
        order = self.some(len(self.y))
        found = np.empty(len(order), np.intp)
        found[order] = stretches(strata_of(self.y[order], self.goal.is_regression), n)
        return found

    def preparing(self, candidate: Candidate, n_rows: int) -> float:
        """Return the expected seconds to prepare some rows."""
        return self.costs.expected(candidate.preparation, n_rows)

    def _prepare(self, candidate: Candidate, rows: Any, prepared: dict[str, Any]) -> None:
        """Prepare rows for a candidate, unless they are already in `prepared`, and note the
        cost."""
        name = candidate.preparation
        if name not in prepared:
            start = self.budget.spent()
            prepared[name] = prepare(self.preparations.steps(name), rows)
            self.costs.note(name, rows.shape[0], self.budget.spent() - start)

    def _scores(
        self, one: Found, rung: Rung, y: Array, splits: Any, prepared: dict[str, Any],
        end: float | None,
    ) -> Array:  # fmt: skip
        """Return the scores of a candidate in a round. `prepared` has the rows by preparation, and
        `end` is the share of the time at which fits are stopped."""
        candidate, seconds = one.candidate, rung.step * self.budget.seconds
        step = Step(self.budget, self.costs, candidate, seconds=seconds, end=end)
        rows = prepared[candidate.preparation]
        try:
            return candidate.learner.scores(
                self.goal, rows, y, splits, rung.size, one.strengths, step
            )
        except OutOfTime:
            return np.full((len(splits), len(one.strengths)), np.nan)

    def _take(self, one: Found, scores: Array, number: int, n_test: int) -> None:
        complete = np.isfinite(scores).all(axis=0)
        if complete.any():
            means = scores[:, complete].mean(axis=0)
            top = float(means.max())
            error = np.sqrt(max(top * (1 - top), 0) / (len(scores) * n_test))
            strengths = np.array(one.strengths)[complete]
            usual = strengths.min() if one.candidate.learner.of_trees else one.strength
            far = np.where(means >= top - _EQUAL * error, abs(np.log(strengths / usual)), np.inf)
            best = int(far.argmin())
            one.score, one.rung = float(means[best]), number
            one.strength = float(strengths[best])


def warm_up(search: Halving, candidates: Sequence[Candidate]) -> None:
    """Run the first candidate of each family and of each preparation on few rows, for at most a
    quarter of the time.

    These runs keep imports and other start-up out of the costs of candidates and preparations. A
    second run finds families that are slow even on few rows.
    """
    some = search.order[:_FEW_ROWS]
    rows, y = search.rows[some], search.y[some]
    strata = strata_of(y, search.goal.is_regression)
    more = search.y[search.order[: RUNGS[0].n_rows]]
    share = 1.0 if search.goal.is_regression else len(np.unique(y)) / len(np.unique(more))
    first: dict[str, Candidate] = {}
    for one in candidates:
        first.setdefault(one.family, one)
        first.setdefault(f" + {one.preparation}", one)
    for one in dict.fromkeys(first.values()):
        learner = one.learner
        how = _splits(strata, 1), _FEW_SAMPLES, learner.strengths[:1]
        with contextlib.suppress(ValueError, OutOfTime):  # the search will report these
            for is_second in (False, True):
                if search.budget.left(_WARM) < 0:
                    return
                Z = prepare(search.preparations.steps(one.preparation), rows)
                step = Step(search.budget, Costs(), one, end=_FIRST)
                learner.scores(search.goal, Z, y, *how, step)
                if is_second and step.spent() > _SHORT:
                    size = learner.components(_FEW_SAMPLES, searched=True)
                    work = share * learner.work(len(some), size, learner.strengths[:1], 1)
                    search.costs.note(one.family, work, step.spent() - _SHORT)


def _in_turns(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the first candidate of each family, then the second of each, and so on; all linear
    models come with the first."""
    turns: Counter[str] = Counter()
    placed = []
    for one in candidates:
        placed.append((0 if one.family == LINEAR else turns[one.family], one))
        turns[one.family] += 1
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


def prepare(steps: Sequence[Any], rows: Any) -> Any:
    """Return rows transformed by steps that are fitted to them."""
    for step in steps:
        rows = step.fit_transform(rows)
    return rows


def strata_of(y: Array, is_regression: bool) -> Array:
    """Return the class of each row as a number, or for regression the tenth of the sorted targets
    that contains its own."""
    if not is_regression:
        return np.unique(y, return_inverse=True)[1].reshape(-1)
    ranks = np.empty(len(y), np.intp)
    ranks[np.argsort(y, kind="stable")] = np.arange(len(y))
    return ranks * _STRATA // len(y)


def stretches(strata: Array, n: int) -> Array:
    """Return the part, from 0 to n - 1, of each row. The rows of each stratum are cut in their
    order, and the last rows are in part 0."""
    order = np.argsort(strata, kind="stable")
    sizes = np.bincount(strata)
    places = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shifts = np.arange(len(sizes)) * _GOLDEN % 1  # distribute small strata over the parts
    part = ((places + np.repeat(shifts, sizes)) * n / np.repeat(sizes, sizes)).astype(np.intp)
    found = np.empty(len(strata), np.intp)
    found[order] = n - 1 - part
    return found


def _splits(strata: Array, n_splits: int) -> list[tuple[Array, Array]]:
    """Return splits whose tests are disjoint; at most `_PARTS` exist."""
    part, numbers = stretches(strata, _PARTS), np.arange(len(strata))
    return [(numbers[part != number], numbers[part == number]) for number in range(n_splits)]


def _kept(ranked: list[Found], n: int, is_last: bool) -> list[Found]:
    """Return the best candidates, and the best of each family unless it is hopeless. Of boosted
    trees, only the best of its family is included; in the last round, the same holds for all slow
    learners."""
    families: set[str] = set()
    kept = []
    for place, one in enumerate(ranked):
        leads = one.candidate.family not in families and one.score > ranked[0].score - _HOPELESS
        learner = one.candidate.learner
        is_other = place < n and not (learner.of_trees or (is_last and learner.takes_long))
        if is_other or leads:
            kept.append(one)
        families.add(one.candidate.family)
    return kept


def _with_neighbours(alive: list[Found]) -> list[Found]:
    """Return the candidates. The best of each family and preparation is followed by its neighbours
    with other gammas.

    For slow learners, only the best of the family has neighbours. These neighbours, and all
    candidates without neighbours, come last, so that the others have their turn.
    """
    found: set[tuple[str, str]] = set()
    made: list[Found] = []
    last: list[Found] = []
    for one in alive:
        candidate, takes_long = one.candidate, one.candidate.learner.takes_long
        key = candidate.family, "" if takes_long else candidate.preparation
        if key in found:
            last.append(one)
            continue
        found.add(key)
        made.append(one)
        others = neighbours_of(candidate)
        new = [Found(other, strengths=_around(one, finer=False)) for other in others]
        (last if takes_long else made).extend(new)
    return [*made, *last]


def _beyond(alive: list[Found], done: Sequence[Found]) -> list[Found]:
    """Return the candidates. The best of each family is followed by a candidate with twice or half
    its gamma if its gamma is the largest or smallest tried, since the best gamma grows with the
    number of rows.

    New candidates of slow learners come last.
    """
    families: set[str] = set()
    made: list[Found] = []
    last: list[Found] = []
    for one in alive:
        made.append(one)
        candidate = one.candidate
        if candidate.family not in families:
            families.add(candidate.family)
            others = _beyond_tried(candidate, [*alive, *done])
            new = [Found(other, strengths=_around(one, finer=True)) for other in others]
            (last if candidate.learner.takes_long else made).extend(new)
    return [*made, *last]


def _beyond_tried(candidate: Candidate, found: Sequence[Found]) -> list[Candidate]:
    """Return the candidate with twice or half the gamma if the gamma of `candidate` is the largest
    or smallest tried; otherwise none."""
    gamma = candidate.gamma
    if gamma is None:
        return []
    key = candidate.family, candidate.preparation
    tried = [
        other.candidate.gamma or gamma
        for other in found
        if (other.candidate.family, other.candidate.preparation) == key and other.rung >= 0
    ]
    factors = [2.0] if gamma >= max(tried) else [0.5] if gamma <= min(tried) else []
    return neighbours_of(candidate, factors)


def _around(one: Found, *, finer: bool) -> tuple[float, ...]:
    """Return the strengths around the best one."""
    if one.rung < 0:
        return one.strengths
    factor = 2.0 if one.candidate.learner.of_trees else _FINER if finer else 10.0
    return tuple(float(f"{one.strength * f:.2g}") for f in (1 / factor, 1.0, factor))
