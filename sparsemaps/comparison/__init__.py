"""Comparison of models on given rows: linear models, boosted trees, exact kernels and maps.

`compare` tries the models that suit the rows, within a number of seconds, and returns a table.

- This file has `compare`.
- ``_facts`` computes facts about the rows before anything is trained.
- ``_candidates`` chooses candidates that suit such rows. ``_learners`` trains each.
- ``_budget`` tracks the remaining time and predicts the duration of steps.
- ``_halving`` is the successive halving of the candidates. ``_measurement`` measures the best of
  each family on held-out rows.
- ``_comparison`` is the table. ``_programs`` writes estimators as Python text.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._input._estimator_input import read_float64
from sparsemaps._input._row_reader import names_of
from sparsemaps._input._row_values import of_rows
from sparsemaps._tools import _checks, _seeding, _sklearn, _threads
from sparsemaps._tools._parameters import setting, shown
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, MatrixLike, RandomState
from sparsemaps.comparison import _halving, _measurement
from sparsemaps.comparison._budget import Budget
from sparsemaps.comparison._candidates import Preparations, candidates_of
from sparsemaps.comparison._comparison import Comparison, Measured
from sparsemaps.comparison._facts import Facts, are_neighbours_alike, facts_of
from sparsemaps.comparison._learners import Goal, threads_of_trees
from sparsemaps.linear._model_checks import checked_labels, labels_of_one_type

__all__ = ["Comparison", "Measured", "compare"]

_MOST_ROWS = 50_000
_MOST_ENTRIES = 2**25
_FEWEST_ROWS = 20
_MOST_CLASSES = 1000

_MANY_VALUES, _FEW_EACH = 100, 10
"""With more than `_MANY_VALUES` distinct values, and on average fewer than `_FEW_EACH` rows per
value, numbers are regression targets by default."""


def compare(
    X: MatrixLike,
    y: npt.ArrayLike,
    *,
    test: tuple[Any, Any] | None = None,
    vectorizer: Any = None,
    regression: bool | None = None,
    ordered: bool = False,
    seconds: float = 60,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Measure which model suits some rows: linear, boosted trees, exact kernels, or a map.

    The candidates depend on the values of the rows. They are a linear model on rows of unit length,
    on scaled columns, on one-hot columns if these have few values, and on tf-idf of counts; boosted
    trees for at most 2,000 columns; SVMs with exact kernels for at most 5,000 rows, and with only
    the Gaussian kernel for more; and linear models on the maps `MinHash`,
    `ConsistentWeightedSampling`, `RandomBinning`, `RandomFourier`, `SignProjection` and
    `TensorSketch`, on unscaled rows and on scaled columns.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features), or sequence of texts
        The rows; texts if `vectorizer` is given.
    y : array-like of shape (n_samples,)
        The class of each row, or a number to predict.
    test : tuple (X, y) or None, default=None
        Rows that the search does not use. Models trained on all rows of `X` are also scored on
        them.
    vectorizer : str, Texts or None, default=None
        The n-grams of texts, as in `sparsemaps.linear.KernelClassifier`: "word:1-2", "char:3".
    regression : bool or None, default=None
        Whether `y` are numbers to predict. None is True if some of them are fractions, or if they
        have more than 100 distinct values and fewer than 10 rows for each.
    ordered : bool, default=False
        Whether the rows are ordered by time, and new rows come after them. The held-out rows are
        then consecutive rows of each class, the last ones first, instead of random ones.
    seconds : float, default=60
        Time limit of the comparison, above 0. One model is always measured, also on the test;
        without time for all rows, it is trained on some of them.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the order of rows. Maps use the seed 0.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 all processors.

    Returns
    -------
    comparison : Comparison
        A sequence of `Measured`, best first. ``print`` shows it as a table.

    Raises
    ------
    ValueError
        If a parameter is not allowed; if there are fewer than 20 rows, only one class, or more than
        1,000 classes; if lengths differ; or if a value is missing or infinite.

    Notes
    -----
    Candidates are halved three times: on 1,500, 4,000 and 12,000 rows, with 128, 256 and 512 bytes
    of codes or components. The best of each family stays if it is within 10 points of the best. All
    C and all splits share one set of codes, and each C starts from the solution for the previous C.
    In this search, scalers are fitted to the rows of all splits.

    The best of each family is then trained on four fifths of the rows, from preparation to
    prediction, with maps of several sizes. The models near the best are measured on up to five
    folds: first the best and the smallest, then the others. Standard errors are of the mean over
    the held-out rows.

    At most 50,000 random rows are used, and fewer if they have many entries. Which models are
    measured depends on the speed of the machine.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsemaps.comparison import compare
    >>> comparison = compare(*load_wine(return_X_y=True), seconds=1, random_state=0)
    >>> comparison.metric
    'accuracy'
    >>> comparison.choice.row_bytes <= comparison.best.row_bytes
    True
    """
    return compare_by(
        Budget(_checks.check_real("seconds", seconds, 0, open_low=True)), X, y, test=test,
        vectorizer=vectorizer, regression=regression, ordered=ordered, random_state=random_state,
        n_jobs=n_jobs,
    )  # fmt: skip


def compare_by(
    budget: Budget,
    X: Any,
    y: Any,
    *,
    test: tuple[Any, Any] | None = None,
    vectorizer: Any = None,
    regression: bool | None = None,
    ordered: bool = False,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Do the same as `compare`, within a budget that has its own clock and may have begun."""
    is_text = vectorizer is not None
    if regression is not None:
        regression = _checks.check_bool("regression", regression)
    ordered = _checks.check_bool("ordered", ordered)
    y, is_regression = _targets(y, regression)
    names = names_of(X)
    X = _rows("X", X, is_text)
    _refuse_labels(X, y, is_regression)
    if test is not None:
        rows, targets = _rows("test", test[0], is_text), _targets(test[1], is_regression)[0]
        if not is_text and rows.shape[1] != X.shape[1]:
            n_columns = counted(rows.shape[1], "columns")
            raise ValueError(f"test has {n_columns}, but X has {X.shape[1]}")
        _refuse_other_names(names, names_of(test[0]))
        _sklearn.check_consistent_length(rows, targets)
        test = rows, targets
    generator = np.random.default_rng(_seeding.draw_seed(random_state))
    n_rows = len(y)
    used = _some(X, is_text, generator)
    X, y = X[used], y[used]
    facts = _facts_of(X, is_text, is_regression)
    if facts.is_narrow and sp.issparse(X):
        X = X.toarray()
        test = None if test is None else (test[0].toarray(), test[1])
    n_threads = _threads.resolve_n_jobs(n_jobs)
    goal = Goal(is_regression, n_jobs, threads_of_trees(n_threads))
    search = _halving.Halving(
        X, y, goal, budget, Preparations(vectorizer), generator, ordered=ordered
    )
    candidates = candidates_of(facts, X[:1500])
    neighbours_alike = not (ordered or is_text) and are_neighbours_alike(
        X, _halving.strata_of(y, is_regression)
    )
    measurement = _measurement.Measurement(search, test)
    quiet = warnings.catch_warnings(action="ignore")
    with quiet, _threads.libraries_take(n_threads):  # candidates that do not suit the rows warn
        _halving.warm_up(search, candidates)
        budget.begin()
        found = search.run(candidates)
        measurement.run(found)
    rows = measurement.rows()
    families = dict.fromkeys(one.candidate.family for one in found)
    measured = {row.family for row in rows}
    failed = {one.candidate.family: one.problem for one in found if one.problem}
    failed |= measurement.problems
    if not rows:
        raise ValueError(next(iter(failed.values()), "no model had time"))
    return Comparison(
        rows=tuple(rows),
        metric="R2" if is_regression else "accuracy",
        n_rows=n_rows,
        n_used=len(y),
        seconds=budget.spent(),
        neighbours_alike=neighbours_alike,
        untried=(
            *(one for one in families if one not in measured and one not in failed),
            *measurement.left_out(),
        ),
        failed=tuple(f"{one}: {failed[one]}" for one in families if one in failed),
    )


def _targets(y: Any, regression: bool | None) -> tuple[Array, bool]:
    """Return classes or targets, and whether they are regression targets."""
    if regression is None:
        regression = _are_to_predict(labels_of_one_type(of_rows("y", y)))
    y = checked_labels(y, classes=not regression)
    y = np.array(y.tolist()) if y.dtype.kind == "O" else y
    return (y.astype(float) if regression else y), regression


def _are_to_predict(y: Array) -> bool:
    """Return whether labels are regression targets: fractions, or too many distinct values for
    classes."""
    if y.dtype.kind not in "iuf" or y.ndim != 1:
        return False
    n_different = len(np.unique(y))
    many = n_different > _MANY_VALUES and n_different * _FEW_EACH > len(y)
    return many or (y.dtype.kind == "f" and bool((y[np.isfinite(y)] % 1 != 0).any()))


def _rows(name: str, X: Any, is_text: bool) -> Any:
    if not is_text:
        return read_float64(name, X, "compare")
    if isinstance(X, (str, bytes)):
        raise ValueError(f"{name} must be texts, got a single {type(X).__name__}")
    texts = list(X)
    for row, text in enumerate(texts):
        if text is None or isinstance(text, float) or type(text).__name__ == "NAType":
            raise ValueError(
                f"{name} must have a text for each row, got {text!r} in row {row}; leave the row "
                'out, or give the text ""'
            )
    made = np.empty(len(texts), object)
    made[:] = texts
    return made


def _refuse_other_names(names: Any, others: Any) -> None:
    """Raise a ValueError unless two tables have the same column names in the same order."""
    if names is None or others is None:
        return
    for number, (name, other) in enumerate(zip(names, others, strict=True)):
        if name != other:
            raise ValueError(
                f"test must have the columns of X in the same order, got {other!r} as column "
                f"{number} instead of {name!r}"
            )


def _refuse_labels(X: Any, y: Array, is_regression: bool) -> None:
    _sklearn.check_consistent_length(X, y)
    if len(y) < _FEWEST_ROWS:
        raise ValueError(f"compare needs at least {_FEWEST_ROWS} rows, got {len(y)}")
    classes = np.unique(y)
    if is_regression:
        if len(classes) < 2:
            raise ValueError(f"compare needs at least 2 targets, got one only: {y[0]:g}")
        return
    if len(classes) < 2:
        label = shown(classes.tolist()[0])
        raise ValueError(f"compare needs rows of at least 2 classes, got one class only: {label}")
    if len(classes) > _MOST_CLASSES:
        option = setting("regression", True)
        numbers = f"; numbers to predict need {option}" if y.dtype.kind in "iuf" else ""
        raise ValueError(
            f"compare takes at most {_MOST_CLASSES:,} classes, got {len(classes):,}{numbers}"
        )


def _some(X: Any, is_text: bool, generator: np.random.Generator) -> Array:
    """Return the numbers of the rows to use, in order."""
    n_rows, most = X.shape[0], _MOST_ROWS
    if not is_text and sp.issparse(X):
        most = min(most, max(2000, int(_MOST_ENTRIES * n_rows / max(X.nnz, 1))))
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(generator.choice(n_rows, most, replace=False))


def _facts_of(X: Any, is_text: bool, is_regression: bool) -> Facts:
    if is_text:
        X_of_facts: Any = sp.csr_array((len(X), 1))
        return facts_of(X_of_facts, is_text=True, is_regression=is_regression)
    return facts_of(X, is_text=False, is_regression=is_regression)
