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
    """A round of the search: the largest number of rows, the size of maps, the splits, the share of
    the whole time after which no step begins, and the share that a step may take."""

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
"""Parts of the rows. The test of a split is one part."""

_STRATA = 10
"""Of numbers to predict, so many parts by size have their share in every test."""

_GOLDEN = 0.618
_FINER = 10**0.5

_EQUAL = 0.25
"""Of strengths whose scores differ by less, in standard errors, the nearest to the one of the round
before is taken, or the fewest trees."""

_FIRST = 0.5
"""The share of the time until which each family has a first run, whatever others took.

Linear models have one for each preparation: they are cheap, and which one suits the rows is not
known.
"""

_WARM, _FEW_ROWS, _FEW_SAMPLES = 0.25, 64, 16
"""The largest share of the time for imports, and the number of rows and the size of the maps that
they are tried with."""

_SHORT = 0.05
"""Seconds of a run on few rows that say nothing about more rows."""

_HOPELESS = 0.1
"""Families this far behind are searched no longer."""


@dataclass
class Found:
    """What the search knows of a candidate."""

    candidate: Candidate
    score: float = -np.inf
    strength: float = 1.0
    rung: int = -1
    strengths: tuple[float, ...] = field(default=())
    problem: str = ""
    """Why it cannot take the rows."""

    def rank(self) -> tuple[int, float]:
        return self.rung, self.score


class Halving:
    """The rows, the time, and the costs so far."""

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
        """Return the candidates, the best first."""
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
            has_any = any(other.rung >= 0 for other in alive)  # the first has time always
            if is_late and has_any:
                continue
            where = f"search {number + 1}: {place + 1} of {len(alive)}"
            self.budget.watch(f"{where}, {one.candidate.name}")
            try:
                self._prepare(one.candidate, rows, prepared)
                start = self.budget.spent()
                scores = self._scores(one, rung, y, splits, prepared, _FIRST if has_any else None)
            except ValueError as error:  # the rows are beyond the map, or a class is missing
                one.problem = str(error)
                continue
            self._take(one, scores, number, len(splits[0][1]))
            done = [one.strengths[: max(1, n)] for n in np.isfinite(scores).sum(axis=1)]
            work = sum(learner.work(len(some), size, strengths, 1) for strengths in done)
            for key in (one.candidate, family):
                self.costs.note(key, work, self.budget.spent() - start)

    def some(self, n_rows: int) -> Array:
        """Return the numbers of some rows chosen at random, in their order if it matters."""
        chosen: Array = self.order[:n_rows]
        return np.sort(chosen) if self.ordered else chosen

    def parts(self, n: int) -> Array:
        """Return in which of `n` parts each row is."""
        order = self.some(len(self.y))
        found = np.empty(len(order), np.intp)
        found[order] = stretches(strata_of(self.y[order], self.goal.is_regression), n)
        return found

    def preparing(self, candidate: Candidate, n_rows: int) -> float:
        """Return the seconds that the preparation of some rows takes."""
        return self.costs.expected(candidate.preparation, n_rows)

    def _prepare(self, candidate: Candidate, rows: Any, prepared: dict[str, Any]) -> None:
        """Prepare rows for a candidate, if they are not yet in `prepared`, and note the cost."""
        name = candidate.preparation
        if name not in prepared:
            start = self.budget.spent()
            prepared[name] = prepare(self.preparations.steps(name), rows)
            self.costs.note(name, rows.shape[0], self.budget.spent() - start)

    def _scores(
        self, one: Found, rung: Rung, y: Array, splits: Any, prepared: dict[str, Any],
        end: float | None,
    ) -> Array:  # fmt: skip
        """Return the scores of a candidate in a round; `prepared` are rows by their preparation,
        and `end` is the share of the time at which fits are stopped."""
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
    """Run the first candidate of each family, and of each preparation, on few rows, for a quarter
    of the time at most.

    What is imported and started meanwhile does not count as the cost of a candidate, or of a
    preparation. A second run says which families take long on few rows already.
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
        with contextlib.suppress(ValueError, OutOfTime):  # which the search says
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
    """Return the first candidate of each family, the second of each, and so on; all linear ones
    with the first."""
    turns: Counter[str] = Counter()
    placed = []
    for one in candidates:
        placed.append((0 if one.family == LINEAR else turns[one.family], one))
        turns[one.family] += 1
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


def prepare(steps: Sequence[Any], rows: Any) -> Any:
    """Return rows by steps that are fitted to them."""
    for step in steps:
        rows = step.fit_transform(rows)
    return rows


def strata_of(y: Array, is_regression: bool) -> Array:
    """Return the class of each row as a number, or which tenth of all numbers its own is in."""
    if not is_regression:
        return np.unique(y, return_inverse=True)[1].reshape(-1)
    ranks = np.empty(len(y), np.intp)
    ranks[np.argsort(y, kind="stable")] = np.arange(len(y))
    return ranks * _STRATA // len(y)


def stretches(strata: Array, n: int) -> Array:
    """Return in which of `n` parts each row is, the last one being 0: the rows of each stratum are
    cut in their order."""
    order = np.argsort(strata, kind="stable")
    sizes = np.bincount(strata)
    places = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shifts = np.arange(len(sizes)) * _GOLDEN % 1  # small strata are in different parts
    part = ((places + np.repeat(shifts, sizes)) * n / np.repeat(sizes, sizes)).astype(np.intp)
    found = np.empty(len(strata), np.intp)
    found[order] = n - 1 - part
    return found


def _splits(strata: Array, n_splits: int) -> list[tuple[Array, Array]]:
    """Return splits whose tests have no row in common, if there are at most four."""
    part, numbers = stretches(strata, _PARTS), np.arange(len(strata))
    return [(numbers[part != number], numbers[part == number]) for number in range(n_splits)]


def _kept(ranked: list[Found], n: int, is_last: bool) -> list[Found]:
    """Return the best ones, and the best of each family; of boosted trees that one alone, and for
    the last round of all learners that take long."""
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
    """Return the candidates, each followed by its neighbours of other gammas if it is the best of
    its family for its preparation.

    Of learners that take long, only the best of the family has neighbours. They and all candidates
    that have none come last, so that the others have their turn.
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
    """Return the candidates, the best of each family followed by one of twice or half its gamma if
    none as large, or as small, was tried: more rows take a larger gamma.

    Those of learners that take long come last.
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
    """Return the candidate with twice or half the gamma of one, if its gamma is the largest or the
    smallest of those tried; otherwise none."""
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
    """Return the strengths around the best."""
    if one.rung < 0:
        return one.strengths
    factor = 2.0 if one.candidate.learner.of_trees else _FINER if finer else 10.0
    return tuple(float(f"{one.strength * f:.2g}") for f in (1 / factor, 1.0, factor))
