"""Facts about the rows that determine the candidates, before anything is trained."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

FEW_COLUMNS = 2000
"""Largest number of columns of rows that are made dense, and of boosted trees."""

_DENSE_NUMBERS = 2**26
"""Largest number of values of rows that are made dense."""

_FEW_VALUES = 32
"""Columns with fewer distinct values may be categorical."""

_SOME_ROWS = 2000
"""Number of rows whose values are examined."""

_PAIRS, _CHANCE = 4000, 5.0
"""Number of compared pairs of neighbouring rows, and the number of standard errors that rules out
chance."""

_MANY_ENTRIES = 100
"""Rows of counts with more entries are sampled by "levels"."""


class Facts(NamedTuple):
    """Facts about rows: numbers, and properties of all values."""

    n_rows: int
    n_columns: int
    entries: float
    """Entries per row."""
    sum_of_row: float
    """Mean over the rows of the sum of absolute values."""
    is_text: bool
    is_narrow: bool
    """Whether rows are made dense."""
    is_nonnegative: bool
    is_binary: bool
    is_whole: bool
    has_few_values: bool
    """Whether every column has few distinct values, and the nonzero values are not all equal."""
    is_regression: bool

    @property
    def are_counts(self) -> bool:
        return self.is_whole and self.is_nonnegative

    @property
    def takes_levels(self) -> bool:
        """Whether "levels" samples these rows faster than "icws"."""
        return self.are_counts and (not self.is_narrow or self.entries > _MANY_ENTRIES)


def facts_of(X: Any, *, is_text: bool, is_regression: bool) -> Facts:
    """Return the facts about the rows of `X`, CSR or dense."""
    n_rows, n_columns = X.shape
    values = X.data if sp.issparse(X) else X[X != 0]
    whole = bool((values == np.rint(values)).all())
    nonnegative = bool((values >= 0).all())
    binary = bool((values == values[:1]).all()) if len(values) else True
    narrow = not is_text and n_columns <= FEW_COLUMNS and n_rows * n_columns <= _DENSE_NUMBERS
    few = narrow and not binary and _has_few_values(X[:_SOME_ROWS])
    return Facts(
        n_rows, n_columns, len(values) / n_rows, float(abs(values).sum()) / n_rows, is_text,
        narrow, nonnegative, binary, whole, few, is_regression,
    )  # fmt: skip


def _has_few_values(X: Any) -> bool:
    rows = np.sort(X.toarray() if sp.issparse(X) else X, axis=0)
    return bool(((np.diff(rows, axis=0) != 0).sum(axis=0) < _FEW_VALUES - 1).all())


def median_distance(X: Any, order: int, seed: int = 0) -> float:
    """Return the median distance of random pairs of rows: the sum of absolute differences to the
    power `order`."""
    generator = np.random.default_rng(seed)
    first, second = generator.integers(X.shape[0], size=(2, 1000))
    different = first != second
    distances = abs(X[first[different]] - X[second[different]]) ** order
    sums = np.asarray(distances.sum(axis=1)).reshape(-1)
    return float(np.median(sums[sums > 0])) if (sums > 0).any() else 1.0


def are_neighbours_alike(X: Any, strata: Any, seed: int = 0) -> bool:
    """Return whether rows are nearer to their successors than to other rows of the successors'
    strata, by more than chance explains. The columns of dense rows are scaled."""
    generator = np.random.default_rng(seed)
    n_rows = X.shape[0]
    rows = generator.integers(n_rows - 1, size=_PAIRS)
    order, sizes, of = np.argsort(strata, kind="stable"), np.bincount(strata), strata[rows + 1]
    first = np.cumsum(sizes) - sizes
    others = order[first[of] + (generator.random(_PAIRS) * sizes[of]).astype(np.intp)]
    scale = 1.0 if sp.issparse(X) else 1 / np.maximum(X.std(axis=0), 1e-300)

    def distances(to: Any) -> Any:
        D = X[rows] - X[to]
        squares = D.multiply(D) if sp.issparse(D) else (D * scale) ** 2
        return np.asarray(squares.sum(axis=1)).reshape(-1)

    near, far = distances(rows + 1), distances(others)
    n = int((near != far).sum())
    return bool((near < far).sum() - n / 2 > _CHANCE * np.sqrt(n) / 2)


def rounded(value: float) -> float:
    """Return a number rounded to two digits, for use in programs."""
    return float(f"{value:.2g}")
