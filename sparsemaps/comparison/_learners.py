"""Training of candidates: linear models on codes, features or rows, SVMs, and boosted trees.

A learner scores held-out rows for several values of its strength, which is C or the number of
trees. It also makes the unfitted estimator for one strength.
"""

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools import _sklearn, _threads
from sparsemaps._tools._typing import Array, Vectorizer
from sparsemaps.comparison._budget import OutOfTime, Step
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    KernelRegressorCV,
)
from sparsemaps.linear._model import watched

Splits = Sequence[tuple[Array, Array]]
"""Pairs of row numbers: to train on, and to score."""

TOLERANCE = 0.01
"""Tolerance of linear models. Smaller tolerances take longer and are no more accurate."""


MOST_SAMPLES = 2**13
"""Largest number of codes per row."""

MOST_FEATURES = 2**25
"""Largest number of dense features of all rows."""

_NEXT = 2.0
"""Factor between the durations of consecutive strengths: the number of trees doubles, and a larger
C converges later."""

_PORTION = 0.25
"""Largest share of the remaining time for the next trees, if more trees follow."""

_MOST_ITERATIONS = 2**30

_SLOWER, _TRIED = 10, 3
"""An iteration of LinearSVC may take longer than in the search by this factor, because scikit-learn
counts the iterations of the slowest class only. If all iterations might then take too long, a few
are made first."""

_FIRST_ITERATIONS = 100
"""Largest number of iterations of a solver per row, while their duration is unknown."""


@dataclass(frozen=True)
class Goal:
    """The learning task and its resources."""

    is_regression: bool
    n_jobs: int | None
    n_threads_of_trees: int = 1


def score_of(goal: Goal, found: Any, y: Array) -> float:
    """Return the accuracy, or R2 for regression."""
    if goal.is_regression:
        return 1 - float(((found - y) ** 2).sum() / max(((y - y.mean()) ** 2).sum(), 1e-300))
    return float((found == y).mean())


def _outwards(n: int) -> list[int]:
    """Return the places of `n` things from the middle one outwards."""
    return sorted(range(n), key=lambda place: (abs(place - n // 2), -place))


class Learner:
    """The base class of learners. The training time grows with the number of rows to the power
    `exponent`. The work that all fits share takes the time of `shared` fits. A final fit takes
    `slower` times the time of a fit in the search, which may end before convergence. A fit begins
    only if `margin` times its expected duration is left, because it cannot be stopped."""

    strengths: tuple[float, ...]
    exponent: float = 1.0
    shared: float = 0.0
    slower: float = 2.0
    margin = 2.0
    of_trees = False
    takes_long = False
    """Whether only the best candidate of the family enters the last round of the search."""
    has_map = False

    def components(self, size: int, *, searched: bool) -> int:
        """Return the number of components of a map of the given size, in the search or
        afterwards."""
        return 1

    def work(
        self, n_rows: int, components: int, strengths: Sequence[float], n_splits: int
    ) -> float:
        """Return the work of fits, in units of this learner."""
        n_fits = n_splits * (max(strengths) if self.of_trees else len(strengths))
        return (self.shared + n_fits) * float(n_rows) ** self.exponent * components

    def has_room(self, n_rows: int, size: int) -> bool:
        """Return whether the rows fit in memory at the given size."""
        return True

    def variants(self, strength: float) -> list[tuple[int, float]]:
        """Return the (size, strength) pairs to measure. The first one that has time is measured
        before the others."""
        return [(1, strength)]

    def scores(
        self, goal: Goal, Z: Any, y: Array, splits: Splits, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Array:  # fmt: skip
        """Return the scores (splits, strengths); NaN if time ran out.

        The middle strength, which is the usual or the best so far, comes first, unless trees are
        added to earlier ones.
        """
        found = np.full((len(splits), len(strengths)), np.nan)
        places = range(len(strengths)) if self.of_trees else _outwards(len(strengths))
        some = [strengths[place] for place in places]
        for number, (train, test) in enumerate(splits):
            path = self._path(goal, Z, y, train, test, size, some, step)
            before = step.spent()
            with contextlib.suppress(OutOfTime):
                for place, guess in zip(places, path, strict=False):
                    found[number, place] = score_of(goal, guess, y[test])
                    before, last = step.spent(), step.spent() - before
                    if step.left((number + 1) / len(splits)) < _NEXT * last:
                        break
        return found

    def _path(
        self, goal: Goal, Z: Any, y: Array, train: Array, test: Array, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Iterator[Array]:  # fmt: skip
        """Yield the predictions for the test rows, for each strength."""
        raise NotImplementedError

    def fit(self, model: Any, X: Any, y: Array, step: Step, strength: float) -> None:
        """Fit an estimator of this learner, or a pipeline that ends with it.

        Raises
        ------
        OutOfTime
            If there is not enough time.
        """
        model.fit(X, y)

    def estimator(
        self, goal: Goal, size: int, strength: float, vectorizer: Vectorizer | None = None
    ) -> Any:
        """Return the unfitted estimator for prepared rows."""
        raise NotImplementedError

    def row_bytes(self, Z: Any, size: int) -> float:
        """Return the bytes of a training row."""
        n_rows, n_columns = Z.shape
        entries = Z.nnz if sp.issparse(Z) else np.count_nonzero(Z)
        return min(n_columns * 8.0, entries / n_rows * 12.0)


@dataclass(frozen=True, eq=False)
class _OnMap(Learner):
    """A linear model on the output of a map."""

    map: Any

    has_map = True

    def map_of(self, size: int, *, searched: bool = False) -> Any:
        """Return the unfitted map of the given size."""
        map = _sklearn.clone(self.map)
        map.set_size(self.components(size, searched=searched))
        return map


@dataclass(frozen=True, eq=False)
class OnCodes(_OnMap):
    """A linear model on the codes of a map."""

    bits: int = 8
    """Bits per code. The number of bytes of a row equals the size."""

    strengths = (0.3, 3.0, 30.0)
    shared = 1.0
    margin = 1.0

    @property
    def slower(self) -> float:  # type: ignore[override]
        """The factor for final fits. It is large for one-bit codes, which converge slowly."""
        return 2.0 if self.bits == 8 else 8.0

    def components(self, size: int, *, searched: bool) -> int:
        """Return the number of codes; fewer in the search if many codes of few bits would be
        slow."""
        samples = size * 8 // self.bits
        return max(size, samples // 4) if searched else samples

    def variants(self, strength: float) -> list[tuple[int, float]]:
        sizes = (256, 1024, 4096, 64)
        return [
            (size, strength)
            for size in sizes
            if self.components(size, searched=False) <= MOST_SAMPLES
        ]

    def scores(
        self, goal: Goal, Z: Any, y: Array, splits: Splits, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Array:  # fmt: skip
        """Return the scores. All splits and strengths share the codes.

        Each C starts from the solution for the previous C.
        """
        map = self.map_of(size, searched=True).set_params(n_jobs=goal.n_jobs)
        codes = map.fit(Z).encode(Z, packed=True)
        how: Any = {"Cs": list(strengths), "cv": list(splits), "refit": False}
        how |= {"tol": TOLERANCE, "max_iter": 30, "random_state": 0, "n_jobs": goal.n_jobs}
        kind: Any = KernelRegressorCV if goal.is_regression else KernelClassifierCV
        if goal.is_regression:
            how["epsilon"] = 0.0
        model = kind(map, **how)
        with _no_warnings(), watched(model, lambda *_: step.check()):
            return np.asarray(model.fit(codes, y).scores_)

    def fit(self, model: Any, X: Any, y: Array, step: Step, strength: float) -> None:
        """Fit, and stop between two passes over the rows if time runs out."""
        with watched(_last(model), lambda *_: step.check()):
            model.fit(X, y)

    def estimator(
        self, goal: Goal, size: int, strength: float, vectorizer: Vectorizer | None = None
    ) -> Any:
        how: dict[str, Any] = {"C": strength, "tol": TOLERANCE, "random_state": 0}
        if vectorizer is not None:
            how["vectorizer"] = vectorizer
        if goal.is_regression:
            return KernelRegressor(self.map_of(size), epsilon=0.0, **how)
        return KernelClassifier(self.map_of(size), **how)

    def row_bytes(self, Z: Any, size: int) -> float:
        map = self.map_of(size).fit(Z[:1])
        return float(map.encode(Z[:1]).nbytes)


@dataclass(frozen=True, eq=False)
class OnFeatures(_OnMap):
    """Least squares on the dense features of a map."""

    strengths = (1.0, 10.0, 100.0, 1000.0, 10000.0)

    def components(self, size: int, *, searched: bool) -> int:
        return size

    def work(
        self, n_rows: int, components: int, strengths: Sequence[float], n_splits: int
    ) -> float:
        """Return the work, mostly of inner products of features, which all strengths share."""
        return n_splits * float(n_rows) * components**2

    def has_room(self, n_rows: int, size: int) -> bool:
        return n_rows * size <= MOST_FEATURES

    def variants(self, strength: float) -> list[tuple[int, float]]:
        return [(size, strength) for size in (1024, 2048, 256)]

    def scores(
        self, goal: Goal, Z: Any, y: Array, splits: Splits, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Array:  # fmt: skip
        map = self.map_of(size).set_params(n_jobs=goal.n_jobs)
        return super().scores(goal, map.fit_transform(Z), y, splits, size, strengths, step)

    def _path(
        self, goal: Goal, Z: Any, y: Array, train: Array, test: Array, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Iterator[Array]:  # fmt: skip
        """Yield the predictions. One eigendecomposition serves all strengths."""
        A, B = Z[train], Z[test]
        means = A.mean(axis=0)
        A, B = A - means, B - means
        classes, targets = _targets(goal, y[train])
        middle = targets.mean(axis=0)
        values, vectors = np.linalg.eigh(A.T @ A)
        values = np.maximum(values, 0)
        rotated, moments = B @ vectors, vectors.T @ (A.T @ (targets - middle))
        for strength in strengths:
            found = rotated @ (moments / (values + 1 / strength)[:, None]) + middle
            yield found[:, 0] if classes is None else _winners(classes, found)

    def estimator(
        self, goal: Goal, size: int, strength: float, vectorizer: Vectorizer | None = None
    ) -> Any:
        kind = _sklearn.Ridge if goal.is_regression else _sklearn.RidgeClassifier
        return _sklearn.make_pipeline(self.map_of(size), kind(alpha=rounded_inverse(strength)))

    def row_bytes(self, Z: Any, size: int) -> float:
        return float(self.map_of(size).fit(Z[:1]).transform(Z[:1]).nbytes)


def _last(model: Any) -> Any:
    """Return an estimator itself, or the last step of a pipeline."""
    return model[-1] if isinstance(model, _sklearn.Pipeline) else model


def rounded_inverse(strength: float) -> float:
    return float(f"{1 / strength:.6g}")


def _targets(goal: Goal, y: Array) -> tuple[Array | None, Array]:
    """Return the classes and a column of -1 and 1 for each, or None and the regression targets."""
    if goal.is_regression:
        return None, np.asarray(y, float)[:, None]
    classes, numbers = np.unique(y, return_inverse=True)
    return classes, np.where(numbers[:, None] == np.arange(len(classes)), 1.0, -1.0)


def _winners(classes: Array, scores: Array) -> Array:
    found: Array = classes[scores.argmax(axis=1)]
    return found


class _Bounded(Learner):
    """The base class of scikit-learn's SVMs, which cannot be stopped. Their iterations are limited
    to the remaining time. A fit that ends at this limit early is repeated with more iterations."""

    def fit(self, model: Any, X: Any, y: Array, step: Step, strength: float) -> None:
        last = _last(model)
        if not isinstance(last, (_sklearn.LinearSVC, _sklearn.SVC, _sklearn.SVR)):
            model.fit(X, y)  # least squares, whose duration is predictable
            return
        usual = last.max_iter if last.max_iter > 0 else _MOST_ITERATIONS
        rest, of_one = step.rest(), step.iteration(strength, len(y))
        most = rest / of_one if of_one else _FIRST_ITERATIONS * len(y)
        if isinstance(last, _sklearn.LinearSVC) and 0 < most < _SLOWER * usual:
            most = _TRIED
        while True:
            if rest < np.inf:
                last.set_params(max_iter=int(min(max(most, 1.0), usual)))
            start = step.spent()
            model.fit(X, y)
            seconds, n_made = step.spent() - start, int(np.max(last.n_iter_))
            step.note_iterations(strength, len(y), n_made, seconds)
            if rest == np.inf or n_made < last.max_iter or last.max_iter == usual:
                return
            rest = step.rest()
            if rest < 2 * seconds:
                raise OutOfTime
            most = n_made * rest / seconds


@dataclass(frozen=True, eq=False)
class OnRows(_Bounded):
    """A linear model on the rows themselves."""

    strengths = (0.01, 0.1, 1.0, 10.0, 100.0)

    def _path(
        self, goal: Goal, Z: Any, y: Array, train: Array, test: Array, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Iterator[Array]:  # fmt: skip
        A, B = Z[train], Z[test]
        for strength in strengths:
            model = self.estimator(goal, size, strength)
            if not goal.is_regression:
                model.set_params(tol=1e-2, max_iter=200)
            with _no_warnings():
                self.fit(model, A, y[train], step, strength)
            yield model.predict(B)

    def estimator(
        self, goal: Goal, size: int, strength: float, vectorizer: Vectorizer | None = None
    ) -> Any:
        if goal.is_regression:
            return _sklearn.Ridge(alpha=rounded_inverse(strength))
        return _sklearn.LinearSVC(C=strength, random_state=0)


@dataclass(frozen=True, eq=False)
class ByKernel(_Bounded):
    """An SVM with an exact kernel, given as a function of two matrices."""

    kernel: Callable[..., Array]

    strengths = (1.0, 10.0, 100.0)
    exponent = 2.0
    shared = 1.0

    def scores(
        self, goal: Goal, Z: Any, y: Array, splits: Splits, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Array:  # fmt: skip
        return super().scores(goal, self.kernel(Z, Z), y, splits, size, strengths, step)

    def _path(
        self, goal: Goal, Z: Any, y: Array, train: Array, test: Array, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Iterator[Array]:  # fmt: skip
        A, B = Z[np.ix_(train, train)], Z[np.ix_(test, train)]
        for strength in strengths:
            model = self._model(goal, "precomputed", strength)
            self.fit(model, A, y[train], step, strength)
            yield model.predict(B)

    def _model(self, goal: Goal, kernel: Any, strength: float) -> Any:
        if goal.is_regression:
            return _sklearn.SVR(kernel=kernel, C=strength)
        return _sklearn.SVC(kernel=kernel, C=strength)

    def estimator(
        self, goal: Goal, size: int, strength: float, vectorizer: Vectorizer | None = None
    ) -> Any:
        return self._model(goal, self.kernel, strength)

    def row_bytes(self, Z: Any, size: int) -> float:
        return 8.0 * Z.shape[0]


@dataclass(frozen=True, eq=False)
class ByRbf(_Bounded):
    """An SVM with the Gaussian kernel on many rows, whose matrix is not held in memory. Fits in the
    search converge, and the number of iterations limits the time of a fit."""

    gamma: float

    strengths = ByKernel.strengths
    exponent = 2.0
    slower = 1.0
    margin = 1.0
    takes_long = True

    def _path(
        self, goal: Goal, Z: Any, y: Array, train: Array, test: Array, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Iterator[Array]:  # fmt: skip
        for strength in strengths:
            model = self.estimator(goal, size, strength)
            self.fit(model, Z[train], y[train], step, strength)
            yield model.predict(Z[test])

    def estimator(
        self, goal: Goal, size: int, strength: float, vectorizer: Vectorizer | None = None
    ) -> Any:
        kind = _sklearn.SVR if goal.is_regression else _sklearn.SVC
        return kind(gamma=self.gamma, C=strength)

    def row_bytes(self, Z: Any, size: int) -> float:
        return 8.0 * Z.shape[0]


@dataclass(frozen=True, eq=False)
class ByTrees(Learner):
    """Boosted trees; the strength is their number."""

    parameters: tuple[tuple[str, Any], ...] = ()

    strengths = (6.0, 12.0, 25.0, 50.0, 100.0, 200.0, 400.0)
    exponent = 0.6
    slower = 1.0
    margin = 1.0
    of_trees = True

    def variants(self, strength: float) -> list[tuple[int, float]]:
        """Return the best number of trees of the search, and others: the search may end early."""
        return [(1, strength * factor) for factor in (4, 2, 1, 8)]

    def _path(
        self, goal: Goal, Z: Any, y: Array, train: Array, test: Array, size: int,
        strengths: Sequence[float], step: Step,
    ) -> Iterator[Array]:  # fmt: skip
        """Yield the predictions. Trees are added to the existing ones."""
        model = self.estimator(goal, size, strengths[0])
        A, B = Z[train], Z[test]
        for strength in strengths:
            with _threads.libraries_take(goal.n_threads_of_trees):
                model.set_params(max_iter=int(strength))
                self.fit(model, A, y[train], step, strength)
                found = model.predict(B)
            yield found

    def fit(self, model: Any, X: Any, y: Array, step: Step, strength: float) -> None:
        """Add trees to the model, as many at a time as surely fit into the remaining time."""
        n_trees, n_made = model.max_iter, getattr(model, "n_iter_", 0)
        size = float(len(y)) ** self.exponent
        of_one = step.iteration(strength, size)
        model.set_params(warm_start=True)
        while n_made < n_trees:
            rest, n_left = step.rest(), n_trees - n_made
            if rest < 0:
                raise OutOfTime
            if rest < np.inf:
                n_left = min(n_left, max(1, int(_PORTION * rest / of_one)) if of_one else 1)
            start = step.spent()
            model.set_params(max_iter=n_made + n_left).fit(X, y)
            of_one = (step.spent() - start) / n_left
            n_made += n_left
            step.note_iterations(strength, size, n_left, step.spent() - start)
            # A single tree takes longer, because some work is done only once.
            if n_left > 1 and (n_trees - n_made) * of_one > step.rest():
                raise OutOfTime(n_trees * of_one)

    def estimator(
        self, goal: Goal, size: int, strength: float, vectorizer: Vectorizer | None = None
    ) -> Any:
        name = "HistGradientBoosting" + ("Regressor" if goal.is_regression else "Classifier")
        how = {"max_iter": int(strength), "early_stopping": False, **dict(self.parameters)}
        return getattr(_sklearn, name)(random_state=0, **how)


def threads_of_trees(n_threads: int) -> int:
    """Return the number of threads for training trees: one if more are slower, as on a busy
    machine."""
    if n_threads == 1:
        return 1
    X = np.random.default_rng(0).random((2000, 16))
    y = X[:, 0] > X[:, 1]
    seconds = []
    for tried in (1, 1, n_threads):  # the first run imports modules and starts threads
        start = time.perf_counter()
        with _threads.libraries_take(tried):
            _sklearn.HistGradientBoostingClassifier(max_iter=3, early_stopping=False).fit(X, y)
        seconds.append(time.perf_counter() - start)
    return n_threads if seconds[-1] < 2 * seconds[1] else 1


def _no_warnings() -> Any:
    """Return a context that suppresses convergence warnings."""
    return warnings.catch_warnings(action="ignore", category=_sklearn.ConvergenceWarning)
