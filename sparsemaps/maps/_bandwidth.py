"""The factor `gamma` of a distance, computed from the data: gamma="scale" and gamma="median"."""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._row_reader import RowReader
from sparsemaps._tools import _blocks
from sparsemaps._tools._portable_math import weighted_sum
from sparsemaps._tools._typing import Array

Gamma = float | Literal["scale", "median"]

Of = Literal["squared", "euclidean", "absolute"]
"""The distance that gamma multiplies: the squared Euclidean distance, the Euclidean distance, or
the sum of absolute differences."""

_MAX_ROWS = 256
"""Largest number of rows in the sample from which the median distance is computed."""


def choose(gamma: Gamma, of: Of, rows: RowReader | None) -> float:
    """Return gamma as a number.

    "scale" is 1 / (columns * variance of all values) for squared distances, as in scikit-learn's
    RBFSampler, and the same quantity in the units of other distances. "median" makes the kernel
    e^(-1/2) (for squared distances) or e^-1 at the median distance of a sample of rows. The sample
    does not depend on the seed. If all rows are equal, both are 1. A row counts as many times as
    its weight.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if rows is None:
        raise ValueError(
            f"gamma={gamma!r} is computed from data, but there is no data: fit the map to a "
            "matrix, or give a number"
        )
    exponent = _exponent(rows)  # values are divided by 2**exponent, so that no square overflows
    if gamma == "scale":
        variance = _variance(rows, exponent)
        if of == "squared":
            unit = rows.n_columns * variance
        elif of == "euclidean":
            unit = np.sqrt(rows.n_columns * variance)
        else:
            unit = rows.n_columns * np.sqrt(variance)
    else:
        distance = _median(rows, of, exponent)
        unit = 2 * distance**2 if of == "squared" else distance
    if not unit > 0:
        return 1.0
    with np.errstate(over="ignore", under="ignore"):
        found = float(np.ldexp(1.0 / unit, -exponent * (2 if of == "squared" else 1)))
    if not 0 < found < np.inf:
        raise ValueError(
            f"gamma={gamma!r} of these rows exceeds float64, because their values are about "
            f"{2.0**exponent:.0e}: scale the rows, or give a number"
        )
    return found


def _blocks_of(rows: RowReader, exponent: int) -> Iterator[tuple[Array, Array | None]]:
    """Yield the values of blocks of rows divided by 2**exponent, and their weights. Every call
    yields the same blocks, so that sums have the same bits."""
    weights = rows.weights
    for start, stop in _blocks.ranges(0, rows.n_rows, 1024):
        block = rows.block(start, stop)
        values = block.values[block.indptr[0] : block.indptr[-1]].astype(float)
        if weights is None:
            yield np.ldexp(values, -exponent), None
            continue
        of_rows = weights[start:stop] / weights.max()
        of_values = np.repeat(of_rows, np.diff(block.indptr))
        counts = of_values > 0
        yield np.ldexp(values[counts], -exponent), of_values[counts]


def _exponent(rows: RowReader) -> int:
    """Return the exponent of the largest absolute value."""
    largest = max((float(np.abs(v).max(initial=0)) for v, _ in _blocks_of(rows, 0)), default=0.0)
    return int(np.frexp(largest)[1])


_LOST_BITS = 4
"""Bits that the variance may lose to cancellation before it is computed again around the mean."""


def _variance(rows: RowReader, exponent: int) -> float:
    """Return the variance of all values of a matrix, including zeros."""
    mean, square = _moments(rows, exponent, 0.0)
    variance = square - mean**2
    if variance < square / 2**_LOST_BITS:
        if _are_equal(rows, exponent):
            return 0.0
        mean, square = _moments(rows, exponent, mean)
        variance = square - mean**2
    return float(max(variance, 0.0))


def _are_equal(rows: RowReader, exponent: int) -> bool:
    """Return whether all values are equal and nonzero."""
    low, high, n_values = float("inf"), float("-inf"), 0
    for values, _ in _blocks_of(rows, exponent):
        low, high = float(values.min(initial=low)), float(values.max(initial=high))
        n_values += len(values)
    n_rows = rows.n_rows if rows.weights is None else int(np.count_nonzero(rows.weights))
    return bool(low == high and n_values == n_rows * rows.n_columns)


def _moments(rows: RowReader, exponent: int, center: float) -> tuple[float, float]:
    """Return the mean and the mean square of all values minus `center`."""
    total = squares = rest = 0.0
    if rows.weights is None:
        size = float(rows.n_rows * rows.n_columns)
    else:
        size = float((rows.weights / rows.weights.max()).sum()) * rows.n_columns
    for values, weights in _blocks_of(rows, exponent):
        values = values - center if center else values
        if weights is None:
            total += values.sum()
            squares += (values**2).sum()
            rest += len(values)
        else:
            total += weighted_sum(weights, values)
            squares += weighted_sum(weights, values**2)
            rest += float(weights.sum())
    n_zeros = max(size - rest, 0.0)
    return (total - n_zeros * center) / size, (squares + n_zeros * center**2) / size


def _median(rows: RowReader, of: Of, exponent: int) -> float:
    """Return the median distance between sampled rows, divided by 2**exponent."""
    sample = _sample(rows, exponent)
    distances = []
    for row in range(1, sample.shape[0]):
        difference = sp.csr_array(sample[:row] - sample[[row] * row])
        if of == "absolute":
            distances.append(abs(difference).sum(axis=1))
        else:
            distances.append(np.sqrt(difference.power(2).sum(axis=1)))
    return float(np.median(np.concatenate(distances))) if distances else 0.0


def _sample(rows: RowReader, exponent: int) -> Any:
    """Return at most `_MAX_ROWS` rows as float64 CSR, without unused columns."""
    values, columns, lengths = [], [], [0]
    for row in _sampled(rows).tolist():
        block = rows.block(row, row + 1)
        entries = slice(block.indptr[0], block.indptr[-1])
        values.append(np.ldexp(block.values[entries].astype(float), -exponent))
        columns.append(block.indices[entries])
        lengths.append(len(values[-1]))
    # The new column numbers are always in range, even if another thread changes X.
    used, numbers = np.unique(np.concatenate(columns), return_inverse=True)
    arrays = np.concatenate(values), numbers, np.cumsum(lengths)
    return sp.csr_array(arrays, shape=(len(lengths) - 1, max(len(used), 1)))


def _sampled(rows: RowReader) -> Array:
    """Return the numbers of the sampled rows. The sample is drawn from a matrix that repeats each
    row as often as its weight. Fractional weights are first rescaled so that this matrix has as
    many rows as there are positive weights."""
    weights, n_rows = rows.weights, rows.n_rows
    if weights is not None:
        ends = np.cumsum(weights)
        is_whole = ends[-1] < 2.0**53 and not (weights % 1).any()
        n_rows = int(ends[-1]) if is_whole else int(np.count_nonzero(weights))
    chosen: Array = np.arange(min(n_rows, _MAX_ROWS))
    if n_rows > _MAX_ROWS:
        chosen = np.sort(np.random.default_rng(0).choice(n_rows, _MAX_ROWS, replace=False))
    if weights is None:
        return chosen
    places = chosen if is_whole else (chosen + 0.5) / n_rows * ends[-1]
    return np.searchsorted(ends, places, "right")
