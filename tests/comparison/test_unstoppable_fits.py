"""Fits of scikit-learn, which cannot be stopped, end in time: trees are added in portions, and SVMs
get as many iterations as have time. A clock that the fits move says how long they take."""

import numpy as np
import pytest
from _data.chance import SEED
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import SVC, SVR, LinearSVC

from sparsemaps import MinHash
from sparsemaps.comparison import _learners
from sparsemaps.comparison._budget import Budget, Costs, OutOfTime, Step
from sparsemaps.comparison._candidates import LINEAR, Candidate, Preparations
from sparsemaps.comparison._halving import Found, Halving, warm_up
from sparsemaps.comparison._learners import ByKernel, ByRbf, ByTrees, Goal, OnCodes, OnRows
from sparsemaps.comparison._measurement import Entry, Measurement


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


CLOCK = Clock()

SECONDS = {"search": 0.0, "later": 0.0}
"""Of an iteration on 1,000 rows, in the search and after it."""

HARD = {"search": 100, "later": 100}
"""How many iterations an SVM needs."""

STATE = {"now": "search"}


def iterate(model, n, y):
    CLOCK.now += n * SECONDS[STATE["now"]] * len(y) / 1000
    model.classes = np.unique(y)


class Predicting:
    def predict(self, X):
        return np.resize(self.classes, X.shape[0])


class Solver(Predicting):
    """An SVM that needs some iterations."""

    def fit(self, X, y):
        most = self.max_iter if self.max_iter > 0 else 10**9
        self.n_iter_ = min(most, HARD[STATE["now"]])
        iterate(self, self.n_iter_, y)
        return self


class Linear(Solver, LinearSVC):
    pass


class Kernel(Solver, SVC):
    pass


class Numbers(Solver, SVR):
    pass


class Trees(Predicting, HistGradientBoostingClassifier):
    n_iter_ = 0

    def fit(self, X, y):
        n_made = self.n_iter_ if self.warm_start else 0
        assert self.max_iter >= n_made
        iterate(self, self.max_iter - n_made, y)
        self.n_iter_ = self.max_iter
        return self


class Quick(_learners.Learner):
    strengths = (1.0,)

    def scores(self, goal, Z, y, splits, size, strengths, step):
        return np.ones((len(splits), len(strengths)))

    def estimator(self, goal, size, strength, vectorizer=None):
        return DummyClassifier()


@pytest.fixture(autouse=True)
def slow_estimators(monkeypatch):
    CLOCK.now, STATE["now"] = 0.0, "search"
    HARD.update(search=100, later=100)
    fakes = {"LinearSVC": Linear, "SVC": Kernel, "SVR": Numbers,
             "HistGradientBoostingClassifier": Trees}  # fmt: skip
    for name, fake in fakes.items():
        monkeypatch.setattr(_learners._sklearn, name, fake, raising=False)


def step_of(seconds, end=1.0, costs=None):
    return Step(Budget(seconds, CLOCK), costs or Costs(), "one", end=end)


X, Y = np.zeros((1000, 1)), np.arange(1000) % 2
GOAL = Goal(is_regression=False, n_jobs=None)


@pytest.mark.parametrize(
    "learner", [OnRows(), ByKernel(np.dot), ByRbf(1.0)], ids=["rows", "kernel", "rbf"]
)
@pytest.mark.parametrize("is_regression", [False, True])
def test_a_solver_has_as_many_iterations_as_have_time(learner, is_regression):
    if is_regression and isinstance(learner, OnRows):
        return  # least squares
    SECONDS["search"] = 0.01
    HARD["search"], costs = 150, Costs()
    goal = Goal(is_regression, None)
    model = learner.estimator(goal, 1, 1.0)
    learner.fit(model, X, Y, step_of(100, costs=costs), 1.0)
    assert CLOCK.now == pytest.approx(1.5)
    HARD["search"] = 900
    for seconds, is_complete in [(9.1, True), (8.9, False)]:
        CLOCK.now, model = 0.0, learner.estimator(goal, 1, 1.0)
        step = step_of(seconds, costs=costs)
        if is_complete:
            learner.fit(model, X, Y, step, 1.0)
        else:
            with pytest.raises(OutOfTime):
                learner.fit(model, X, Y, step, 1.0)
        tried = 0.03 if isinstance(learner, OnRows) else 0.0  # by LinearSVC
        assert CLOCK.now == pytest.approx(min(9.0 + tried, seconds), abs=0.02)


def test_iterations_of_all_classes_are_measured():
    """LinearSVC counts the iterations of one class. On all rows, more classes may need as many."""
    SECONDS["search"], costs, learner = 0.01, Costs(), OnRows()
    learner.fit(learner.estimator(GOAL, 1, 1.0), X, Y, step_of(100, costs=costs), 1.0)
    assert CLOCK.now == pytest.approx(1.0)
    SECONDS["search"], HARD["search"], CLOCK.now = 0.08, 900, 0.0
    with pytest.raises(OutOfTime):
        learner.fit(learner.estimator(GOAL, 1, 1.0), X, Y, step_of(20, costs=costs), 1.0)
    assert CLOCK.now == pytest.approx(20.0, abs=0.1)


def test_a_solver_that_ends_by_its_own_limit_has_had_its_time():
    SECONDS["search"], HARD["search"] = 1e-3, 10**6
    model = OnRows().estimator(GOAL, 1, 1.0)
    OnRows().fit(model, X, Y, step_of(100), 1.0)
    assert model.n_iter_ == model.max_iter == 1000


def test_a_fit_is_repeated_with_more_iterations():
    """The first fit has a number of them by its rows, the next one as many as have time."""
    SECONDS["search"], HARD["search"] = 1e-6, 10**6
    learner = ByRbf(1.0)
    model = learner.estimator(GOAL, 1, 1.0)
    learner.fit(model, X, Y, step_of(100), 1.0)
    assert model.n_iter_ == 10**6
    assert CLOCK.now == pytest.approx(0.1 + 1.0)


@pytest.mark.parametrize("slower", [1, 10, 100])
def test_iterations_that_take_less_than_in_the_search_go_on(slower):
    """Small fits take most of their time to begin, so their iterations seem to take long."""
    costs, learner = Costs(), OnRows()
    step_of(100, costs=costs).note_iterations(1.0, 1000, 3, 3 * slower * 0.01)
    SECONDS["search"], HARD["search"] = 0.01, 300
    model = learner.estimator(GOAL, 1, 1.0)
    learner.fit(model, X, Y, step_of(20, costs=costs), 1.0)
    assert model.n_iter_ == 300
    assert CLOCK.now == pytest.approx(3.0 + 0.03)


def test_a_fit_is_only_repeated_with_time_for_twice_as_many_iterations():
    costs, learner = Costs(), ByRbf(1.0)
    step_of(100, costs=costs).note_iterations(1.0, 1000, 1, 0.04)
    SECONDS["search"], HARD["search"] = 0.01, 10**6
    with pytest.raises(OutOfTime):
        learner.fit(learner.estimator(GOAL, 1, 1.0), X, Y, step_of(8, costs=costs), 1.0)
    assert CLOCK.now == pytest.approx(2.0 + 6.0)
    CLOCK.now, costs = 0.0, Costs()
    step_of(100, costs=costs).note_iterations(1.0, 1000, 1, 0.016)
    with pytest.raises(OutOfTime):
        learner.fit(learner.estimator(GOAL, 1, 1.0), X, Y, step_of(8, costs=costs), 1.0)
    assert CLOCK.now == pytest.approx(5.0)


def test_iterations_of_the_same_strength_count():
    """With a larger C there are more, and each takes less."""
    costs = Costs()
    step = step_of(10, costs=costs)
    step.note_iterations(1.0, 1000, 10, 1.0)
    step.note_iterations(100.0, 1000, 1000, 1.0)
    assert step.iteration(1.0, 2000) == pytest.approx(0.2)
    assert step.iteration(100.0, 1000) == step.iteration(10.0, 1000) == pytest.approx(1e-3)


def test_a_fit_in_any_case_is_complete():
    SECONDS["search"], HARD["search"] = 1e-3, 10**6
    for learner, strength in [(ByRbf(1.0), 1.0), (ByTrees(), 400.0)]:
        model = learner.estimator(GOAL, 1, strength)
        learner.fit(model, X, Y, step_of(1, end=None), strength)
    assert CLOCK.now == pytest.approx(1000.4)


@pytest.mark.parametrize("seconds", [1e-5, 1e-3, 1e-2])
def test_trees_are_added_in_portions(seconds):
    SECONDS["search"] = seconds
    learner = ByTrees()
    model = learner.estimator(GOAL, 1, 400.0)
    learner.fit(model, X, Y, step_of(10), 400.0)
    assert model.n_iter_ == 400
    assert CLOCK.now == pytest.approx(400 * seconds)


@pytest.mark.parametrize(("seconds", "spent"), [(0.03, 2.6), (1.0, 10.1), (20.0, 20.1)])
def test_trees_end_when_it_is_known_that_they_take_too_long(seconds, spent):
    """A portion has a quarter of what is left, and one tree may be the first."""
    SECONDS["search"] = seconds
    learner = ByTrees()
    with pytest.raises(OutOfTime) as raised:
        learner.fit(learner.estimator(GOAL, 1, 400.0), X, Y, step_of(10), 400.0)
    assert CLOCK.now <= spent
    assert raised.value.seconds in (0, pytest.approx(400 * seconds))


def test_trees_stop_if_the_machine_becomes_slow():
    SECONDS.update(search=0.005, later=0.1)
    learner, costs = ByTrees(), Costs()
    learner.fit(learner.estimator(GOAL, 1, 100.0), X, Y, step_of(100, costs=costs), 100.0)
    CLOCK.now, STATE["now"] = 0.0, "later"
    with pytest.raises(OutOfTime):
        learner.fit(learner.estimator(GOAL, 1, 400.0), X, Y, step_of(4, costs=costs), 400.0)
    assert CLOCK.now <= 20  # of a quarter, which takes twenty times as long


@pytest.mark.parametrize("limit", [10, 60, 300])
@pytest.mark.parametrize(
    ("name", "slower", "harder"),
    [("linear", 1, 8), ("kernel", 1, 100), ("trees", 3, 1), ("linear", 1.5, 3), ("kernel", 2, 3)],
)
def test_the_limit_holds_though_fits_take_longer_than_those_of_the_search(
    name, slower, harder, limit
):
    """The model is measured, or left out."""
    learner = {"linear": OnRows(), "kernel": ByRbf(1.0), "trees": ByTrees()}[name]
    y = np.arange(4000) % 2
    budget = Budget(limit, CLOCK)
    search = Halving(y[:, None] * 1.0, y, GOAL, budget, Preparations(), np.random.default_rng(SEED))
    SECONDS["search"] = 2e-5 * limit
    found = search.run([Candidate(name, "", "", learner)])
    STATE["now"] = "later"
    SECONDS["later"] = slower * SECONDS["search"]
    HARD["later"] = harder * HARD["search"]
    other = Found(Candidate("quick", "", "", Quick()), score=1.0, strength=1.0, rung=2)
    measurement = Measurement(search, (search.rows, y))
    entries = measurement.run([*found, other])
    assert CLOCK.now <= 1.1 * limit
    assert "quick" in [entry.candidate.family for entry in entries]


def test_a_fit_that_cannot_be_stopped_needs_twice_its_time():
    """Except SVMs on many rows, which are expected to take longer than they do."""
    search = Halving(X, Y, GOAL, Budget(10, CLOCK), Preparations(), np.random.default_rng(SEED))
    measurement = Measurement(search, None)
    for learner, needed in [(OnRows(), 2.0), (ByTrees(), 1.0), (ByRbf(1.0), 1.0)]:
        entry = Entry(Candidate("some", "", "", learner), 1, 10.0)
        search.costs.note((entry.candidate, "measured"), entry.work(800), 4.0)
        for left, has_time in [(4 * needed + 0.01, True), (4 * needed - 0.01, False)]:
            CLOCK.now = 10 - left
            assert measurement._has_time(entry, 800, 200) == has_time


def test_predictions_have_time_or_are_not_made():
    SECONDS["search"] = 1e-3
    search = Halving(X, Y, GOAL, Budget(10, CLOCK), Preparations(), np.random.default_rng(SEED))
    measurement = Measurement(search, None)
    one = Candidate("kernel", "", "", ByRbf(1.0))
    search.costs.note((one, 1, "predictions"), 200, 9.95)
    with pytest.raises(OutOfTime):
        measurement._guess(Entry(one, 1, 1.0), np.arange(1000), X[:200], 1.0)
    assert CLOCK.now == pytest.approx(0.1)


def test_what_takes_long_on_few_rows_is_expected_to():
    """By its second run, as the first one imports; and with more classes, longer."""
    SECONDS["search"] = 10.0
    y = np.r_[np.arange(64) % 2, np.arange(9936) % 20]
    search = Halving(y[:, None] * 1.0, y, GOAL, Budget(1e6, CLOCK), Preparations(),
                     np.random.default_rng(SEED))  # fmt: skip
    search.order = np.arange(10_000)
    one = Candidate(LINEAR, "", "", OnRows())
    warm_up(search, [one])
    last = 100 * 10 * 48 / 1000  # iterations on three quarters of the few rows
    expected = search.costs.expected(LINEAR, one.learner.work(64, 1, [1.0], 1))
    assert CLOCK.now == pytest.approx(2 * last)
    assert expected == pytest.approx((last - 0.05) * 10)


def test_the_search_stops_training_on_codes(monkeypatch):
    """At half of the time, but not the first candidate."""

    class Late(_learners.KernelClassifierCV):
        def fit(self, *data):
            CLOCK.now += 6
            return super().fit(*data)

    monkeypatch.setattr(_learners, "KernelClassifierCV", Late)
    search = Halving(X, Y, GOAL, Budget(10, CLOCK), Preparations(), np.random.default_rng(SEED))
    one, other = (
        Candidate(family, "", "", OnCodes(MinHash(bits=8, random_state=0))) for family in "ab"
    )
    (found,) = search.run([one])
    assert found.rung == 0
    CLOCK.now = 0.0
    search.budget = Budget(10, CLOCK)
    found = search.run([Candidate("quick", "", "", Quick()), other])
    assert [one.rung for one in found] == [0, -1]
    work = other.learner.work(1000, 128, other.learner.strengths, 2)
    assert search.costs.expected(other, work) >= 6


def test_training_on_codes_stops_between_passes():
    learner = OnCodes(MinHash(bits=8, random_state=0))
    step = step_of(5)
    learner.fit(learner.estimator(GOAL, 16, 1.0), X, Y, step, 1.0)
    CLOCK.now = 6
    with pytest.raises(OutOfTime):
        learner.fit(learner.estimator(GOAL, 16, 1.0), X, Y, step, 1.0)
