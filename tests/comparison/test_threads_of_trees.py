"""The threads of the libraries below scikit-learn: as many as asked for, and fewer if they pay
nothing."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from sparsemaps._tools import _threads
from sparsemaps.comparison import _learners
from sparsemaps.comparison._budget import Budget, Costs, Step
from sparsemaps.comparison._learners import ByTrees, Goal, threads_of_trees


def most_threads():
    return max((one["num_threads"] for one in threadpool_info()), default=1)


def test_libraries_take_some_threads():
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: F401  it loads OpenMP

    before = most_threads()
    with _threads.libraries_take(1):
        assert most_threads() == 1
    assert most_threads() == before


@pytest.mark.parametrize(("slow", "expected"), [(False, 4), (True, 1)])
def test_trees_take_one_thread_if_more_are_slow(slow, expected, monkeypatch):
    """As on a machine that is busy: threads of OpenMP wait for one another."""
    ticks = iter([0, 5, 10, 11, 20, 20 + (3 if slow else 1)])
    monkeypatch.setattr(_learners.time, "perf_counter", lambda: next(ticks))
    assert threads_of_trees(4) == expected
    assert threads_of_trees(1) == 1  # without a try


def test_trees_are_trained_by_so_many_threads(monkeypatch):
    seen = []
    monkeypatch.setattr(
        _learners._threads, "libraries_take", lambda n: (seen.append(n), _threads_of(n))[1]
    )
    X = np.arange(60.0)[:, None]
    splits = [(np.arange(40), np.arange(40, 60))]
    goal = Goal(False, None, n_threads_of_trees=3)
    step = Step(Budget(np.inf), Costs(), None)
    ByTrees().scores(goal, X, X[:, 0] % 2, splits, 1, (1.0, 2.0), step)
    assert seen == [3, 3]


_threads_of = _threads.libraries_take
