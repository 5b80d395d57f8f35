"""The measurement of the best candidates: their order, and the folds that settle the choice."""

import numpy as np
import pytest
from _data.chance import SEED
from _data.known_learners import Clock, Known, KnownModel, search_of

from sparsemaps.comparison._candidates import LINEAR, Candidate
from sparsemaps.comparison._halving import Found
from sparsemaps.comparison._learners import Learner
from sparsemaps.comparison._measurement import Entry, Measurement, gap_of


class Trees(Known):
    """A learner whose fits take time by its strength, and are better with more."""

    of_trees = True
    strengths = (10.0,)

    def variants(self, strength):
        return [(1, strength * factor) for factor in (4, 2, 1, 8)]

    def estimator(self, goal, size, strength, vectorizer=None):
        share, cost = self.share + strength / 1000, self.cost * strength / 10
        return KnownModel(self.clock, share, cost, strength)


@pytest.mark.parametrize(
    ("cost", "first"),
    [(1e-6, 40), (3e-5, 40), (5e-5, 20), (1.2e-4, 10)],  # a fit to 16,000 rows: .1 of 20 s
)
def test_the_first_entry_takes_a_part_of_the_time(cost, first):
    clock = Clock()
    search = search_of(clock, 20)
    measurement = Measurement(search, None)
    learner = Trees(clock, 0.5, cost)
    found = Found(Candidate("trees", "", "", learner), score=0.5, strength=10.0, rung=0)
    search.costs.note(found.candidate, learner.work(1000, 1, [10.0], 1), 1000 * cost)
    learner.slower = 1.0
    assert measurement.run([found])[0].strength == first


@pytest.mark.parametrize(
    ("cost", "n_first"),
    [(1e-6, 4), (6e-5, 4), (7e-5, 3)],  # a fit to 16,000 rows: .05 of 20 s
)
def test_linear_models_of_each_preparation_are_measured(cost, n_first):
    """Before all other models. Only few rows said that one is far behind."""
    clock = Clock()
    search = search_of(clock, 20)
    learners = [Known(clock, 0.6 + 0.1 * n, c) for n, c in enumerate([1e-6, 1e-6, 1e-6, cost])]
    found = [Found(Candidate(LINEAR, f"{n}", "", one), score=0.9 - 0.2 * n, rung=2 - min(n, 2))
             for n, one in enumerate(learners)]  # fmt: skip
    other = Known(clock, 0.5, 1e-6)
    found.append(Found(Candidate("other", "", "", other), score=0.9, rung=2))
    for one in found:
        learner = one.candidate.learner
        learner.slower = 1.0
        search.costs.note(one.candidate, learner.work(1000, 1, [1.0], 1), 1000 * learner.cost)
    entries = Measurement(search, None).run(found)
    details = [entry.candidate.details for entry in entries]
    assert details[:n_first] == ["0", "1", "2", "3"][:n_first]
    assert details[n_first] == ""
    assert sorted(details) == ["", "0", "1", "2", "3"]


def test_linear_models_are_stopped_after_a_part_of_the_time():
    """Even if they were expected to be short: LIBLINEAR may take much longer on all rows."""
    clock = Clock()
    measurement = Measurement(search_of(clock, 100), None)
    shares = []

    def measure(entry, fold, share=1.0):
        if fold or entry.losses:
            return False
        shares.append(share)
        measurement.entries.append(entry)
        entry.losses.append(np.zeros(100))
        entry.predict_seconds.append(1.0)
        clock.now += 20.0
        return True

    measurement._measure = measure
    found = []
    for number in range(4):
        learner = Known(clock, 0.9, 1e-6)
        one = Found(Candidate(LINEAR, f"{number}", "", learner), score=0.9, rung=0)
        measurement.search.costs.note(one.candidate, learner.work(1000, 1, [1.0], 1), 1e-3)
        learner.slower = 1.0
        found.append(one)
    measurement.run(found)
    assert shares == pytest.approx([0.75, 0.3, 0.5, 0.7])


@pytest.mark.parametrize(
    ("n_more", "n_others", "near"),
    [(0, 0, True), (3, 0, True), (20, 0, False), (120, 100, True), (200, 100, False)],
)
def test_differences_are_measured_on_the_same_rows(n_more, n_others, near):
    """The best is wrong in 100 of 1,000 rows, the other one in `n_more` others, and right in
    `n_others` of the 100. By their own errors, 2 % more are within two standard errors."""
    one = Candidate("one", "", "", Learner())
    best, other = (Entry(one, 1, 1.0) for _ in range(2))
    wrong = np.arange(1000)
    losses = (wrong < 100).astype(float)
    best.losses = [losses, np.zeros(1000)]
    other.losses = [((wrong >= n_others) & (wrong < 100 + n_more)).astype(float)]
    gap = gap_of(other, best)
    assert gap.is_within(2) == near
    assert gap.behind == pytest.approx((n_more - n_others) / 1000)
    error = np.sqrt((n_more + n_others + 2) / 1002**2 - gap.behind**2 / 1002)
    assert gap.error == pytest.approx(error, rel=0.01)
    assert gap_of(best, best).is_within(1)


def test_scores_of_fewer_folds_are_those_on_all():
    """A first fold that is easy for all models makes none the best."""
    one = Candidate("one", "", "", Learner())
    measurement = Measurement(search_of(Clock(), 1), None)
    for size, folds in enumerate([[5, 15], [6], [4]]):
        entry = Entry(one, size, 1.0, row_bytes=size)
        entry.losses = [(np.arange(100) < n).astype(float) for n in folds]
        measurement.entries.append(entry)
    ranked = measurement._best_first()
    assert [entry.size for entry in ranked] == [2, 0, 1]
    assert [score for score, _ in measurement._scored()] == pytest.approx([0.91, 0.9, 0.89])


@pytest.mark.parametrize(
    ("wrong", "n_times", "n_folds"),
    [
        ({64: 40, 256: 12, 1024: 10, 4096: 10}, 8, {64: 1, 256: 5, 1024: 5, 4096: 1}),
        ({64: 40, 256: 12, 1024: 10, 4096: 10}, 99, {64: 1, 256: 5, 1024: 5, 4096: 5}),
        ({64: 10, 256: 11, 1024: 9, 4096: 10}, 10, {64: 5, 256: 2, 1024: 5, 4096: 2}),
        ({64: 10, 256: 40, 1024: 12, 4096: 12}, 3, {64: 2, 256: 1, 1024: 2, 4096: 2}),
        ({64: 10, 256: 40, 1024: 40, 4096: 40}, 99, {64: 1, 256: 1, 1024: 1, 4096: 1}),
    ],
)
def test_folds_settle_the_choice(wrong, n_times, n_folds):
    """The best one and the smallest that may be as good are measured on more folds first, then all
    others near the best, in turn. None is if all others are far behind."""
    clock = Clock()
    search = search_of(clock, 1e4, n_rows=1000)
    measurement = Measurement(search, None)
    one = Candidate("one", "", "", Known(clock, 0.9, 1e-6))
    n_left = len(wrong) + n_times

    def measure(entry, fold, share=1.0):
        nonlocal n_left
        n_left -= 1
        if n_left < 0:
            return False
        order = np.random.default_rng([SEED, fold, entry.size]).permutation(200)
        entry.losses.append((order < wrong[entry.size]).astype(float))
        entry.predict_seconds.append(1.0)
        return True

    measurement._measure = measure
    for size in wrong:
        entry = Entry(one, size, 1.0, row_bytes=size)
        measure(entry, 0)
        measurement.entries.append(entry)
    measurement._settle(1.0)
    assert {entry.size: len(entry.losses) for entry in measurement.entries} == n_folds


@pytest.mark.parametrize(
    ("most", "n_folds"), [(0.9, [1, 1, 1]), (2.5, [5, 5, 1]), (9.0, [5, 5, 5])]
)
def test_only_short_folds_come_before_another_size(most, n_folds):
    clock = Clock()
    measurement = Measurement(search_of(clock, 1e4), None)
    for seconds in (1, 2, 4):
        one = Candidate(f"{seconds}", "", "", Known(clock, 0.9, 1e-6))
        entry = Entry(one, 1, 1.0, row_bytes=seconds)
        entry.losses = [(np.arange(100) < 10).astype(float)]
        entry.predict_seconds = [1.0]
        entry.work = lambda n_rows, seconds=seconds: seconds
        measurement.search.costs.note((one, "measured"), 1.0, 1.0)
        measurement.entries.append(entry)

    def measure(entry, fold, share=1.0):
        entry.losses.append(entry.losses[0])
        return True

    measurement._measure = measure
    measurement._settle(1.0, most)
    assert [len(entry.losses) for entry in measurement.entries] == n_folds


def test_sizes_of_the_best_map_come_first():
    """Then those of others, the shortest first; and of boosted trees that are further behind."""
    clock = Clock()
    measurement = Measurement(search_of(clock, 100), None)

    def add(family, score, costs, **how):
        learner = Known(clock, score, 1e-6)
        vars(learner).update(how)
        made = [Entry(Candidate(family, "", "", learner), cost, 1.0) for cost in costs]
        for entry in made:
            entry.work = lambda n_rows, cost=entry.size: cost
            measurement.search.costs.note((entry.candidate, "measured"), 1.0, 1.0)
        made[0].losses = [(np.arange(100) >= 100 * score).astype(float)]
        measurement.families[family] = made
        measurement.entries.append(made[0])

    add("far", 0.7, [1, 2])
    add("trees", 0.82, [1, 3, 9], of_trees=True)
    add("near", 0.89, [1, 4])
    add("best", 0.9, [1, 20, 6], has_map=True)
    sizes = [entry.size for entry in measurement._unmeasured(0.03)]
    assert sizes == [6, 20, 3, 4, 9]
    measurement.families["best"][0].candidate.learner.has_map = False
    assert [entry.size for entry in measurement._unmeasured(0.03)] == [3, 4, 6, 9, 20]
    measurement.families["far"][0].candidate.learner.has_map = True
    assert [entry.size for entry in measurement._unmeasured(0.2)] == [2, 3, 4, 6, 9, 20]


@pytest.mark.parametrize(("family", "cost", "late"), [
    ("best", 20, True), ("best", 21, False), ("near", 4, False)
])  # fmt: skip
def test_a_short_size_of_the_best_map_may_end_with_the_time(family, cost, late):
    measurement = Measurement(search_of(Clock(), 100), None)
    for name, score in (("best", 0.9), ("near", 0.89)):
        one = Candidate(name, "", "", Learner())
        entry = Entry(one, 1, 1.0, losses=[(np.arange(100) >= 100 * score).astype(float)])
        measurement.entries.append(entry)
        if name == family:
            other = Entry(one, 2, 1.0)
    other.work = lambda n_rows: cost
    measurement.search.costs.note((other.candidate, "measured"), 1.0, 1.0)
    assert measurement._may_end_late(other, "best") == late
