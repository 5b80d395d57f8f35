"""The search and the measurement keep the time, by a clock that learners move."""

import numpy as np
import pytest
from _data.known_learners import Clock, Known, KnownModel, candidates, search_of

from sparsemaps.comparison._budget import Budget, Costs, OutOfTime, Step
from sparsemaps.comparison._candidates import LINEAR, Candidate, _of_gamma
from sparsemaps.comparison._halving import (
    RUNGS,
    Found,
    _beyond,
    _in_turns,
    _kept,
    _splits,
    _with_neighbours,
)
from sparsemaps.comparison._learners import Goal, Learner
from sparsemaps.comparison._measurement import N_FOLDS, Measurement


@pytest.mark.parametrize("seconds", [3, 10, 30, 100, 1000])
@pytest.mark.parametrize("has_test", [False, True])
def test_the_time_is_kept(seconds, has_test):
    clock = Clock()
    search = search_of(clock, seconds)
    found = search.run(candidates(clock))
    slowest = 2 * 3 * 1e-3 * RUNGS[0].n_rows  # the first step of a candidate is not foreseen
    assert clock.now <= RUNGS[-1].end * seconds + slowest
    test = (search.rows[:100], search.y[:100]) if has_test else None
    entries = Measurement(search, test).run(found)
    assert entries
    assert any(entry.test for entry in entries) == has_test
    assert clock.now <= max(seconds, RUNGS[-1].end * seconds + slowest) + 2  # of one fit each


def test_with_time_the_best_is_found_and_measured_on_all_folds():
    clock = Clock()
    search = search_of(clock, 1e4)
    measurement = Measurement(search, (search.rows[:1000], search.y[:1000]))
    entries = measurement.run(search.run(candidates(clock)))
    best = max(entries, key=lambda entry: entry.outcome().score)
    assert best.candidate.details == "number 39"
    assert best.strength == 10
    assert len(best.losses) == N_FOLDS
    score, error, n = best.outcome()
    assert n == len(search.y)
    assert score == pytest.approx(0.99, abs=1e-3)
    assert error == pytest.approx(np.sqrt(score * (1 - score) / n), rel=0.01)
    assert best.test.score == pytest.approx(0.99)
    families = [entry.candidate.family for entry in entries]
    assert sorted(families) == [f"family {number}" for number in range(8)]


def test_candidates_are_halved():
    clock = Clock()
    search = search_of(clock, 1e4)
    tried = candidates(clock)
    search.run(tried)
    rounds = [sum(len(one.learner.n_rows) > number for one in tried) for number in range(3)]
    assert rounds[0] == 40
    assert 20 <= rounds[1] <= 28
    assert 10 <= rounds[2] <= 18
    best = max(tried, key=lambda one: one.learner.share)
    assert best.learner.n_rows == [rung.n_rows for rung in RUNGS]


def test_a_candidate_that_is_slow_is_left_out():
    """Its first step is taken, and the next one is known to be too long."""
    clock = Clock()
    search = search_of(clock, 20)
    slow = Candidate("slow", "", "", Known(clock, 0.99, 3e-4))
    fast = Candidate("fast", "", "", Known(clock, 0.9, 1e-6))
    search.run([fast, slow])
    assert len(slow.learner.n_rows) == 1
    assert len(fast.learner.n_rows) == 3


def test_each_linear_model_has_a_first_run():
    """Of each preparation, also if it takes longer than a step may, .6 of 20 s."""
    clock = Clock()
    search = search_of(clock, 20)
    tried = [Candidate(LINEAR, f"{n}", "", Known(clock, 0.9, 1e-4)) for n in range(4)]
    search.run(tried)
    assert [one.learner.n_rows[:1] for one in tried] == [[RUNGS[0].n_rows]] * 4


def test_no_step_begins_that_ends_after_its_round():
    """A step of the last round takes .54 of 6 s: of the half of them, .48 are left after one."""
    clock = Clock()
    search = search_of(clock, 6)
    equal = [Candidate(f"family {n}", "", "", Known(clock, 0.9, 1e-5)) for n in range(8)]
    search.run(equal)
    assert clock.now == pytest.approx(8 * 6 * 1e-5 * (1125 + 3000) + 6 * 1e-5 * 9000)
    assert sum(len(one.learner.n_rows) for one in equal) == 8 + 8 + 1


def test_each_family_has_a_first_run():
    """Whatever the others take, until half of the time has gone. Only then are more begun."""
    clock = Clock()
    search = search_of(clock, 12)  # a first run takes .45 of them, the eight 3.6; the round 2.4
    tried = [Candidate(f"family {n % 8}", "", "", Known(clock, 0.9, 2e-4)) for n in range(40)]
    search.run(tried)
    assert [len(one.learner.n_rows) for one in tried] == [1] * 8 + [0] * 32


def test_one_model_is_scored_on_the_test_in_any_case():
    clock = Clock()
    search = search_of(clock, 1e-9)
    measurement = Measurement(search, (search.rows[:100], search.y[:100]))
    (entry,) = measurement.run(search.run(candidates(clock)[:1]))
    assert entry.test.score == pytest.approx(0.6)


def test_rows_that_a_candidate_cannot_take():
    class Refusing(Known):
        def scores(self, *arguments):
            raise ValueError("the rows are too long")

    clock = Clock()
    found = search_of(clock, 100).run(
        [
            Candidate("one", "", "", Refusing(clock, 1.0, 0)),
            Candidate("two", "", "", Known(clock, 0.9, 0)),
        ]
    )
    assert [(one.candidate.family, one.problem) for one in found] == [
        ("two", ""),
        ("one", "the rows are too long"),
    ]


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_rows_that_an_estimator_cannot_take(method, monkeypatch):
    """The others are measured."""
    clock = Clock()

    class Refused(KnownModel):
        pass

    def refuse(self, X, y=None):
        raise ValueError("a row is too long")

    monkeypatch.setattr(Refused, method, refuse)

    class Refusing(Known):
        def estimator(self, *arguments):
            return Refused(self.clock, self.share, self.cost, 1.0)

    search = search_of(clock, 1000)
    candidates = [
        Candidate("one", "", "", Refusing(clock, 1.0, 1e-6)),
        Candidate("two", "", "", Known(clock, 0.9, 1e-6)),
    ]
    measurement = Measurement(search, (search.rows[:100], search.y[:100]))
    entries = measurement.run(search.run(candidates))
    assert [entry.candidate.family for entry in entries] == ["two"]
    assert measurement.problems == {"one": "a row is too long"}


@pytest.mark.parametrize("best", [0.1, 1.0, 30.0, 3000.0])
def test_strengths_move_to_the_best(best):
    clock = Clock()
    (found,) = search_of(clock, 1e4).run([Candidate("one", "", "", Known(clock, 0.9, 0, best))])
    assert abs(np.log10(found.strength / best)) < 0.6


def test_of_equal_strengths_the_usual_stays():
    class Flat(Known):
        def scores(self, goal, Z, y, splits, size, strengths, step):
            return np.ones((len(splits), len(strengths)))

    clock = Clock()
    (found,) = search_of(clock, 1e4).run([Candidate("one", "", "", Flat(clock, 1.0, 0))])
    assert found.strength == 1


def test_turns():
    clock = Clock()
    made = [Candidate(family, "", "", Known(clock, 0, 0)) for family in "aabac"]
    assert [one.family for one in _in_turns(made)] == ["a", "b", "c", "a", "a"]
    made += [Candidate(LINEAR, "", "", Known(clock, 0, 0)) for _ in range(2)]
    linear = [LINEAR, LINEAR]
    assert [one.family for one in _in_turns(made)] == ["a", "b", "c", *linear, "a", "a"]


def test_a_family_that_is_far_behind_is_dropped():
    made = [
        Found(Candidate(family, "", "", Learner()), score=score, rung=0)
        for family, score in (("a", 0.9), ("a", 0.89), ("b", 0.85), ("c", 0.7))
    ]
    assert [one.candidate.family for one in _kept(made, 1, False)] == ["a", "b"]


@pytest.mark.parametrize(
    ("how", "is_last", "n"),
    [
        ({}, True, 3),
        ({"takes_long": True}, False, 3),
        ({"takes_long": True}, True, 1),
        ({"of_trees": True}, False, 1),
    ],
)
def test_learners_that_take_long_go_on_by_their_best_candidate(how, is_last, n):
    learner = type("Some", (Learner,), how)()
    made = [Found(Candidate("a", "", "", learner), score=0.9 - k / 100, rung=0) for k in range(4)]
    assert _kept(made, 3, is_last) == made[:n]


def test_the_time_is_divided_after_imports():
    """They may take most of it on a busy machine."""
    clock = Clock()
    budget = Budget(10, clock)
    clock.now = 4
    assert budget.left(0.5) == 1
    budget.begin()
    assert budget.left(0.5) == 3
    clock.now = 6
    assert (budget.left(0.5), budget.left(), budget.spent()) == (1, 4, 6)


def test_costs():
    costs = Costs()
    assert costs.expected("a", 10) == 0
    costs.note("a", 100, 5)
    assert costs.expected("a", 10) == 0.5
    assert costs.expected("b", 10) == 0


@pytest.mark.parametrize("n_splits", [1, 2, 3, 4])
@pytest.mark.parametrize("n_rows", [4, 21, 1000])
def test_tests_of_splits_have_no_row_in_common(n_rows, n_splits):
    splits = _splits(np.zeros(n_rows, int), n_splits)
    tests = [test for _, test in splits]
    assert len(np.unique(np.concatenate(tests))) == sum(map(len, tests)) >= n_splits
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(n_rows))


def test_neighbours_of_the_best_are_tried(monkeypatch):
    """In the second round, those of the best candidate of each family."""
    clock, asked = Clock(), []

    def neighbours(one):
        asked.append(one.details)
        return [Candidate(one.family, "near", "", Known(clock, 0.95, 1e-6))]

    monkeypatch.setattr("sparsemaps.comparison._halving.neighbours_of", neighbours)
    tried = [Candidate("one", f"{n}", "", Known(clock, n / 10, 1e-6)) for n in range(9)]
    found = search_of(clock, 100).run(tried)
    assert asked == ["8"]
    assert found[0].candidate.details == "near"
    assert found[0].candidate.learner.n_rows == [rung.n_rows for rung in RUNGS[1:]]


def test_candidates_that_take_long_come_behind_the_best(monkeypatch):
    """In the second round, the best candidate of each preparation has neighbours, and of learners
    that take long, the best of the family."""
    clock = Clock()
    quick = Known(clock, 0.8, 1e-6)
    slow = Known(clock, 0.9, 1e-6)
    slow.takes_long = True
    monkeypatch.setattr(
        "sparsemaps.comparison._halving.neighbours_of",
        lambda one: [Candidate(one.family, f"near {one.details}", one.preparation, one.learner)],
    )
    alive = [
        Found(Candidate(family, details, preparation, learner))
        for family, details, preparation, learner in [
            ("slow", "a", "unit", slow), ("slow", "b", "scaled", slow),
            ("quick", "c", "unit", quick), ("quick", "d", "scaled", quick),
            ("quick", "e", "scaled", quick),
        ]
    ]  # fmt: skip
    placed = [one.candidate.details for one in _with_neighbours(alive)]
    assert placed == ["a", "c", "near c", "d", "near d", "near a", "b", "e"]


@pytest.mark.parametrize(("best", "new"), [(4.0, [8.0]), (0.5, [0.25]), (2.0, [])])
def test_gammas_go_beyond_those_of_the_second_round(best, new):
    """In the last round, if the best was the largest or the smallest one of its preparation."""
    clock = Clock()
    tried = [
        Found(_of_gamma(family, preparation, gamma), score=0.9 - abs(gamma - best) / 10, rung=1)
        for family, preparation, gammas in [
            ("binning", "", (0.5, 1.0, 2.0, 4.0)), ("binning", "unit rows", (0.125, 16.0)),
            ("fourier", "", (0.125, 16.0)),
        ]
        for gamma in gammas
    ]  # fmt: skip
    tried.append(Found(Candidate("linear", "", "", Known(clock, 1, 1)), score=0.9, rung=1))
    tried += [Found(_of_gamma("binning", "", gamma)) for gamma in (0.125, 16.0)]  # had no time
    linear = tried[-3]
    ranked = sorted(tried[:4], key=Found.rank, reverse=True)
    made = _beyond([linear, ranked[0], *tried[4:6]], [*ranked[1:], *tried[6:]])
    assert [one.candidate.gamma for one in made if one not in tried] == new
    assert made[:2] == [linear, ranked[0]]


def test_rows_in_an_order_of_time_stay_in_it():
    search = search_of(Clock(), 1)
    chosen = search.some(1000)
    search.ordered = True
    np.testing.assert_array_equal(search.some(1000), np.sort(chosen))
    assert (np.diff(chosen) < 0).any()


def test_a_strength_is_chosen_by_all_splits():
    """The third one's second split had no time."""
    clock = Clock()
    one = Found(Candidate("one", "", "", Known(clock, 1, 1)), strengths=(1.0, 10.0, 100.0))
    search_of(clock, 1)._take(one, np.array([[0.5, 0.6, 0.9], [0.5, 0.7, np.nan]]), 0, 10**6)
    assert (one.strength, one.rung) == (10.0, 0)
    assert one.score == pytest.approx(0.65)


def test_what_never_ran_is_in_no_later_round():
    """Though that one has time: the first round's passes before its second candidate."""
    clock = Clock()
    search = search_of(clock, 1000)

    def watch(line):
        clock.now = max(clock.now, 500 * (RUNGS[0].end + RUNGS[1].end))

    search.budget.watch = watch
    tried = [Candidate("one", f"{n}", "", Known(clock, 0.9, 1e-6)) for n in range(4)]
    search.run(tried)
    rounds = [len(one.learner.n_rows) for one in tried]
    assert sorted(rounds) == [0, 0, 0, 3]


class Watched(Known):
    rounds = ()

    def scores(self, goal, Z, y, splits, size, strengths, step):
        self.rounds = [*self.rounds, strengths]
        return super().scores(goal, Z, y, splits, size, strengths, step)


def test_strengths_are_finer_in_the_last_round_alone():
    learner = Watched(clock := Clock(), 0.9, 1e-6)
    search_of(clock, 1e4).run([Candidate("a family", "one", "", learner)])
    assert learner.rounds[1:] == [(1.0, 10.0, 100.0), (3.2, 10.0, 32.0)]


class Tried(Learner):
    """A learner that has time for two strengths."""

    def _path(self, goal, Z, y, train, test, size, strengths, step):
        self.asked = strengths
        for _ in strengths[:2]:
            yield y[test]
        raise OutOfTime


@pytest.mark.parametrize(
    ("of_trees", "asked"),
    [(False, [1.0, 10.0, 0.1, 100.0, 0.01]), (True, [0.01, 0.1, 1.0, 10.0, 100.0])],
)
def test_the_usual_strength_comes_first(of_trees, asked):
    """With little time, C was the smallest of all; trees are added to those before."""
    learner, y = Tried(), np.arange(10) % 2
    learner.of_trees = of_trees
    splits = [(np.arange(5), np.arange(5, 10))]
    step = Step(Budget(1, Clock()), Costs(), None)
    strengths = (0.01, 0.1, 1.0, 10.0, 100.0)
    found = learner.scores(Goal(False, None), y, y, splits, 1, strengths, step)
    assert learner.asked == asked
    assert [strengths[place] for place in np.flatnonzero(found[0] == 1)] == sorted(asked[:2])


def test_trees_are_in_no_last_round_and_fewest_are_taken():
    """The measurement tries more and fewer of them."""
    learner = Watched(clock := Clock(), 0.9, 1e-6)
    learner.of_trees = True
    [found] = search_of(clock, 1e4).run([Candidate("trees", "one", "", learner)])
    assert len(learner.rounds) == 2
    found.strengths = (40.0, 20.0, 80.0)
    search_of(clock, 1e4)._take(found, np.full((2, 3), 0.8), 0, 100)
    assert found.strength == 20
