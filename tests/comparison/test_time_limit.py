"""The time limit holds, by a clock that learners move: fits are not begun, have fewer rows, or are
stopped."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold

from sparsemaps import MinHash
from sparsemaps.comparison._budget import Budget, Costs, OutOfTime, Step
from sparsemaps.comparison._candidates import Candidate, Preparations
from sparsemaps.comparison._facts import are_neighbours_alike
from sparsemaps.comparison._halving import RUNGS, Found, Halving, strata_of, stretches, warm_up
from sparsemaps.comparison._learners import Goal, Learner, OnCodes, OnFeatures, OnRows
from sparsemaps.comparison._measurement import Entry, Measurement
from sparsemaps.linear import KernelClassifier


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Slow(Learner):
    """A learner whose fits take some seconds a row, those of the measurement by a factor more."""

    strengths = (1.0, 10.0)

    def __init__(self, clock, seconds, factor=1.0):
        self.clock, self.seconds, self.factor = clock, seconds, factor
        self.n_rows = []

    def _path(self, goal, Z, y, train, test, size, strengths, step):
        for _ in strengths:
            self.clock.now += self.seconds * len(train)
            yield y[test]

    def estimator(self, goal, size, strength, vectorizer=None):
        return SlowModel(self)


class SlowModel(BaseEstimator):
    def __init__(self, learner):
        self.learner = learner

    def fit(self, X, y):
        self.learner.n_rows.append(len(y))
        self.learner.clock.now += self.learner.seconds * self.learner.factor * len(y)
        return self

    def predict(self, X):
        return X[:, 0]


def search_of(clock, seconds, n_rows=50_000):
    y = np.arange(n_rows) % 2
    goal = Goal(is_regression=False, n_jobs=None)
    return Halving(y[:, None].astype(float), y, goal, Budget(seconds, clock), Preparations(),
                   np.random.default_rng(SEED))  # fmt: skip


@pytest.mark.parametrize("limit", [10, 60, 300])
@pytest.mark.parametrize("seconds", [1e-6, 1e-4, 5e-4, 1e-3])
@pytest.mark.parametrize("has_test", [False, True])
def test_the_limit_holds_however_slow_the_only_family_is(limit, seconds, has_test):
    """One model is measured in any case, by as many rows as there is time for, and on the test by
    another. Fits to the rows of the first round are made in any case."""
    clock = Clock()
    search = search_of(clock, limit)
    slow = Slow(clock, seconds)
    test = (search.rows[:100], search.y[:100]) if has_test else None
    entries = Measurement(search, test).run(search.run([Candidate("slow", "", "", slow)]))
    least = seconds * RUNGS[0].n_rows * 4
    assert clock.now <= 1.15 * limit + least
    assert entries
    assert all(entry.test for entry in entries) == has_test
    full = 40_000 * seconds * Slow.slower
    assert entries[0].n_train is None or full * (1 + has_test) > limit / 2
    assert entries[0].n_train is not None or full < limit


def test_of_few_rows_there_are_as_many_as_have_time():
    """Of 30 s, 12 are left; a fit to all rows takes 40, twice as many are needed, and the entry
    says how many there were."""
    clock = Clock()
    search = search_of(clock, 30)
    one = Candidate("slow", "", "", Slow(clock, 1e-3))
    search.costs.note(one, 1000, 0.5)  # half as long: the learner expects twice as much
    clock.now = 18.0
    (entry,) = Measurement(search, None).run([Found(one, score=1.0, rung=0)])
    assert entry.n_train == 6_000
    assert one.learner.n_rows == [6_000]
    assert clock.now == pytest.approx(24)


class Endless(KernelClassifier):
    """A model whose training goes on after the time."""

    def fit(self, X, y):
        CLOCK.now += 1000
        return super().fit(X, y)


CLOCK = Clock()


@pytest.mark.parametrize("share", [0.5, 1.0, None])
def test_training_is_stopped(share, monkeypatch):
    """Between passes over the rows. What has to be measured in any case goes on."""
    CLOCK.now = 0.0
    monkeypatch.setattr("sparsemaps.comparison._learners.KernelClassifier", Endless)
    search = search_of(CLOCK, 100, n_rows=60)
    one = Candidate("minhash", "", "", OnCodes(MinHash(bits=8, random_state=0)))
    entry, measurement = Entry(one, 16, 1.0), Measurement(search, None)
    if share is None:
        assert measurement._measure(entry, 0, in_any_case=True)
        return
    assert not measurement._measure(entry, 0, share)
    assert not measurement.entries
    with pytest.raises(OutOfTime):
        Step(search.budget, Costs(), one, end=share).check()
    # It is not begun again, unless there is more time.
    assert measurement._expected(entry) >= 1000
    CLOCK.now = 0.0
    assert not measurement._has_time(entry, 48, 12)


def test_sizes_that_had_no_time_are_named():
    """And of a family that is near the best only."""
    clock = Clock()
    search = search_of(clock, 100, n_rows=1000)
    one = Candidate("minmax", "", "", OnCodes(MinHash(bits=8, random_state=0)))
    search.costs.note(one, one.learner.work(1000, 256, [1.0], 1), 20)
    measurement = Measurement(search, None)
    measurement.run([Found(one, score=1.0, strength=1.0, rung=0)])
    assert measurement.left_out() == ["minmax of 1,024", "minmax of 4,096"]


def test_imports_are_made_before_the_search():
    """Of each family and of each preparation, twice, as long as there is time for it."""
    clock, begun = Clock(), []

    class Importing(Slow):
        def scores(self, *how):
            begun.append(self)
            clock.now += self.seconds

    search = search_of(clock, 100)
    search.preparations.steps = lambda name: []
    names = [("a", ""), ("a", "x"), ("a", "x"), ("b", "x"), ("c", "y"), ("d", "")]
    some = [Candidate(family, "", name, Importing(clock, 4)) for family, name in names]
    warm_up(search, some)
    assert begun == [some[number].learner for number in (0, 0, 1, 1, 3, 3, 4)]
    assert clock.now == 28


def test_the_cost_of_preparation_is_noted():
    """Once for all candidates of a round."""

    class Scaler:
        def fit_transform(self, rows):
            clock.now += 5
            return rows

    clock, prepared = Clock(), {}
    search = search_of(clock, 100, n_rows=1000)
    search.preparations.steps = lambda name: [Scaler()]
    one = Candidate("linear model", "", "scaled", OnRows())
    for _ in range(2):
        search._prepare(one, search.rows, prepared)
    assert clock.now == 5
    assert search.preparing(one, 2000) == 10


def test_preparation_is_expected():
    clock = Clock()
    search = search_of(clock, 100, n_rows=1000)
    one = Candidate("linear model", "", "unit rows", OnRows())
    search.costs.note("unit rows", 100, 1)
    search.costs.note(one, one.learner.work(1000, 1, [1.0], 1), 0)
    assert Measurement(search, None)._expected(Entry(one, 1, 1.0), 800, 200) == 10


def test_the_cost_of_the_largest_fit_is_noted():
    """Those of smaller ones have a larger part that does not grow. One that was stopped says that
    all take longer."""
    search = search_of(Clock(), 100, n_rows=1000)
    measurement = Measurement(search, None)
    one = Candidate("linear model", "", "", OnRows())
    entries = [Entry(one, size, 1.0) for size in (1, 1)]
    entries[0].work, entries[1].work = (lambda n_rows: 100.0), (lambda n_rows: 1000.0)
    for number, seconds, ended, expected in [
        (0, 1, True, 1), (1, 5, True, 0.5), (0, 1, True, 0.5), (1, 6, True, 0.6), (0, 2, False, 2),
    ]:  # fmt: skip
        measurement._note_fit(entries[number], 1000, seconds, ended=ended)
        assert measurement._expected(entries[0]) == pytest.approx(expected)


def test_the_next_strength_is_expected_to_take_twice_as_long():
    clock = Clock()
    learner = Slow(clock, 0.01)
    splits = [(np.arange(75), np.arange(75, 100))]
    goal = Goal(is_regression=False, n_jobs=None)
    for seconds, n in [(2.2, 1), (2.3, 2), (3.1, 3)]:  # .75 for each, and 1.5 for the next
        step = Step(Budget(10, clock), Costs(), None, seconds=seconds)
        rows = np.zeros((100, 1)), np.zeros(100)
        found = learner.scores(goal, *rows, splits, 1, (1, 2, 3), step)
        assert np.isfinite(found).sum() == n


def test_work_of_features_is_that_of_their_inner_products():
    learner = OnFeatures(None)
    work = learner.work(1000, 64, [1.0], 1)
    assert learner.work(1000, 64, [1.0, 2.0, 3.0], 1) == work
    assert learner.work(1000, 128, [1.0], 1) == 4 * work
    assert learner.work(2000, 64, [1.0], 2) == 4 * work


# ---- held-out rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4, 5])
def test_parts_are_stretches_of_rows(n):
    """Those of scikit-learn's folds without shuffling, the last first, but for a row at an end."""
    y = np.repeat([3, 1, 2], [60, 100, 20])[np.random.default_rng(SEED).permutation(180)]
    strata = strata_of(y, is_regression=False)
    part = stretches(strata, n)
    for label in (1, 2, 3):
        own = part[y == label]
        assert (np.diff(own) <= 0).all()
        assert abs(np.bincount(own, minlength=n) - len(own) / n).max() <= 1
    expected = np.empty(180, int)
    for number, (_, test) in enumerate(StratifiedKFold(n).split(y[:, None], y)):
        expected[test] = n - 1 - number
    assert (part == expected).mean() > 0.9


@pytest.mark.parametrize("ordered", [False, True])
def test_rows_that_are_held_out(ordered):
    """Of rows in an order of time the last ones, and else some of all."""
    clock = Clock()
    y = np.arange(1000) % 2
    goal = Goal(is_regression=False, n_jobs=None)
    search = Halving(y[:, None], y, goal, Budget(9, clock), Preparations(),
                     np.random.default_rng(SEED), ordered=ordered)  # fmt: skip
    tests = [test for _, test in Measurement(search, None).folds]
    assert sorted(np.concatenate(tests)) == list(range(1000))
    assert [len(test) for test in tests] == pytest.approx([200] * 5, abs=2)
    assert [y[test].mean() for test in tests] == pytest.approx([0.5] * 5, abs=0.01)
    assert (tests[0].min() >= 799) == ordered
    assert (np.diff(search.some(500)) > 0).all() == ordered


@pytest.mark.parametrize(("ordered", "n"), [(False, 5), (True, 1)])
def test_folds_of_earlier_rows_are_not_measured(ordered, n):
    search = search_of(clock := Clock(), 1000, n_rows=1000)
    search.ordered = ordered
    found = Found(Candidate("slow", "", "", Slow(clock, 1e-6)), score=1.0, rung=0)
    (entry,) = Measurement(search, None).run([found])
    assert len(entry.losses) == n


@pytest.mark.parametrize("kind", ["series", "shuffled", "sorted by class", "alternating"])
@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_that_are_alike(kind, sparse):
    generator = np.random.default_rng(SEED)
    X = np.cumsum(generator.normal(size=(2000, 3)), axis=0)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    if kind != "series":
        order = generator.permutation(2000)
        X, y = X[order], y[order]
    if kind == "sorted by class":
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    if kind == "alternating":
        order = np.argsort(y, kind="stable").reshape(2, 1000).T.reshape(-1)
        X, y = X[order], y[order]
    rows = sp.csr_array(X) if sparse else X
    assert are_neighbours_alike(rows, y) == (kind == "series")


def test_small_strata_are_in_different_parts():
    part = stretches(np.arange(50), 5)
    assert np.bincount(part).max() <= 11


def test_numbers_to_predict_have_strata_by_size():
    y = np.random.default_rng(SEED).permutation(1000) / 7
    strata = strata_of(y, is_regression=True)
    assert np.bincount(strata).tolist() == [100] * 10
    assert max(y[strata == 0]) < min(y[strata == 9])
    assert (np.sort(np.unique(strata)) == np.arange(10)).all()
