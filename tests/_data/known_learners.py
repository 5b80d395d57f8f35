"""Learners whose scores and costs are known, and a clock that they move."""

import numpy as np
from sklearn.base import BaseEstimator

from _data.chance import SEED
from sparsemaps.comparison._budget import Budget
from sparsemaps.comparison._candidates import Candidate, Preparations
from sparsemaps.comparison._halving import Halving
from sparsemaps.comparison._learners import Goal, Learner


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Known(Learner):
    """A learner whose score and cost are known: the share of right guesses, the seconds of a fit to
    a row."""

    strengths = (1.0, 10.0, 100.0)

    def __init__(self, clock, share, cost, best=10.0):
        self.clock, self.share, self.cost, self.best = clock, share, cost, best
        self.n_rows = []

    def scores(self, goal, Z, y, splits, size, strengths, step):
        found = np.full((len(splits), len(strengths)), np.nan)
        for number, (train, _) in enumerate(splits):
            for place, strength in enumerate(strengths):
                self.clock.now += self.cost * len(train)
                far = abs(np.log10(strength / self.best))
                found[number, place] = self.share - 0.1 * far
                if step.left((number + 1) / len(splits)) < self.cost * len(train):
                    break
        self.n_rows.append(len(Z))
        return found

    def estimator(self, goal, size, strength, vectorizer=None):
        return KnownModel(self.clock, self.share, self.cost, strength)


class KnownModel(BaseEstimator):
    def __init__(self, clock, share, cost, strength):
        self.clock, self.share, self.cost, self.strength = clock, share, cost, strength

    def fit(self, X, y):
        self.clock.now += self.cost * len(y)
        return self

    def predict(self, X):
        """Return the labels, of which a share is right."""
        right = np.arange(len(X)) < round(self.share * len(X))
        return np.where(right, X[:, 0], 1 - X[:, 0])


def search_of(clock, seconds, n_rows=20_000):
    y = np.arange(n_rows) % 2
    rows = y[:, None].astype(float)
    goal = Goal(is_regression=False, n_jobs=None)
    return Halving(
        rows, y, goal, Budget(seconds, clock), Preparations(), np.random.default_rng(SEED)
    )


def candidates(clock):
    """Forty of eight families; one in five is a hundred times as slow."""
    made = []
    for number in range(40):
        cost = 1e-5 * (100 if number % 5 == 4 else 1)
        learner = Known(clock, 0.6 + 0.01 * number, cost)
        made.append(Candidate(f"family {number % 8}", f"number {number}", "", learner))
    return made
