"""The factor `gamma` of a distance, computed from the data: gamma="scale" and gamma="median"."""

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._row_reader import RowReader
from sparsemaps._tools import _blocks
from sparsemaps._tools._typing import Array

Gamma = float | Literal["scale", "median"]

Of = Literal["squared", "euclidean", "absolute"]
"""The distance that gamma multiplies: the squared Euclidean distance, the Euclidean distance, or
the sum of absolute differences."""

_MAX_ROWS = 256
"""Largest number of rows in the sample whose median distance is taken."""


def choose(gamma: Gamma, of: Of, rows: RowReader | None) -> float:
    """gamma as a number.

    "scale" is 1 / (columns * variance of all values) for squared distances, as in scikit-learn's
    RBFSampler, and the same quantity in their units for other distances. "median" makes the kernel
    e^(-1/2) (of squared distances) or e^-1 at the median distance of a sample of rows. The sample
    does not depend on the seed. If all rows are equal, both are 1.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    if rows is None:
        raise ValueError(
            f"gamma={gamma!r} is computed from data, and there are none here: fit the map to a "
            "matrix, or give a number"
        )
    if gamma == "scale":
        variance = _variance(rows)
        if of == "squared":
            unit = rows.n_columns * variance
        elif of == "euclidean":
            unit = np.sqrt(rows.n_columns * variance)
        else:
            unit = rows.n_columns * np.sqrt(variance)
    else:
        distance = _median(rows, of)
        unit = 2 * distance**2 if of == "squared" else distance
    return float(1.0 / unit) if unit > 0 else 1.0


def _variance(rows: RowReader) -> float:
    """Variance of all values of a matrix, zeros included.

    The same parts are summed at every call, so that the result has the same bits.
    """
    total = squares = 0.0
    for start, stop in _blocks.ranges(0, rows.n_rows, 1024):
        block = rows.block(start, stop)
        values = block.values[block.indptr[0] : block.indptr[-1]].astype(float)
        total += values.sum()
        squares += (values**2).sum()
    size = rows.n_rows * rows.n_columns
    return float(max(squares / size - (total / size) ** 2, 0.0))


def _median(rows: RowReader, of: Of) -> float:
    """The median distance of the pairs of a sample of rows."""
    sample = _sample(rows)
    distances = []
    for row in range(1, sample.shape[0]):
        difference = sp.csr_array(sample[:row] - sample[[row] * row])
        if of == "absolute":
            distances.append(abs(difference).sum(axis=1))
        else:
            distances.append(np.sqrt(difference.power(2).sum(axis=1)))
    return float(np.median(np.concatenate(distances))) if distances else 0.0


def _sample(rows: RowReader) -> Any:
    """At most `_MAX_ROWS` rows, as float64 CSR, without the columns that none of them has."""
    chosen: Array = np.arange(rows.n_rows)
    if rows.n_rows > _MAX_ROWS:
        chosen = np.sort(np.random.default_rng(0).choice(rows.n_rows, _MAX_ROWS, replace=False))
    values, columns, lengths = [], [], [0]
    for row in chosen.tolist():
        block = rows.block(row, row + 1)
        entries = slice(block.indptr[0], block.indptr[-1])
        values.append(block.values[entries].astype(float))
        columns.append(block.indices[entries])
        lengths.append(len(values[-1]))
    # After the columns are numbered anew, none is out of range, even if another thread changes X.
    used, numbers = np.unique(np.concatenate(columns), return_inverse=True)
    arrays = np.concatenate(values), numbers, np.cumsum(lengths)
    return sp.csr_array(arrays, shape=(len(chosen), max(len(used), 1)))
