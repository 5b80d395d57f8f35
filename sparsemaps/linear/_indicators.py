"""Several labels per row, as indicator matrices with one column per label, or as lists."""

import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._row_values import of_rows
from sparsemaps._tools import _blocks, _sklearn
from sparsemaps._tools._typing import Array, Floats

Kind = Literal["dense", "matrix", "array"]
"""Type that ``predict`` returns, as seen by ``fit``: a NumPy array, a sparse matrix or a sparse
array."""

KINDS: tuple[Kind, ...] = "dense", "matrix", "array"


@dataclass(frozen=True, slots=True)
class LabelLists:
    """Labels of rows, any number for each, as in files. A row may have the same label twice."""

    values: Array
    """Labels of all rows."""
    ends: Array
    """End of the labels of each row."""

    @classmethod
    def of_one_each(cls, labels: Array) -> "LabelLists":
        """Return the lists for rows with one label each."""
        return cls(labels, np.arange(1, len(labels) + 1))

    @property
    def shape(self) -> tuple[int]:
        return (len(self.ends),)

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, wanted: Array) -> "LabelLists":
        """Return the labels of some rows, given by numbers or by an array of bools."""
        rows = np.arange(len(self))[wanted]
        counts = self._counts()[rows]
        places = _blocks.entries_of(self.ends[rows] - counts, counts)
        return LabelLists(self.values[places], np.cumsum(counts))

    def _counts(self) -> Array:
        return np.diff(self.ends, prepend=0)

    def classes(self, costs: Array | None) -> Array:
        """Return the distinct labels, sorted, of rows with nonzero weight."""
        seen = self if costs is None else self[costs > 0]
        return different(seen.values)

    def matrix(self, classes: Array) -> Any:
        """Return an indicator matrix in CSC format with one column for each of `classes`. Other
        labels are ignored."""
        columns = {label: number for number, label in enumerate(classes.tolist())}
        labels, which = np.unique(self.values, return_inverse=True)
        found = np.array([columns.get(label, -1) for label in labels.tolist()], np.intp)[which]
        rows = np.repeat(np.arange(len(self)), self._counts())[found >= 0]
        found = found[found >= 0]
        matrix = sp.coo_array((np.ones(len(rows)), (rows, found)), (len(self), len(classes)))
        matrix = matrix.tocsc()  # sums duplicates
        matrix.data = np.ones(len(matrix.data), np.int8)
        return matrix


def different(labels: Array) -> Array:
    """Return the distinct labels, sorted. Strings are returned in an array just wide enough for
    them."""
    classes = np.unique(labels)
    return np.array(classes.tolist()) if classes.dtype.kind == "U" else classes


def is_indicator(y: object) -> bool:
    """Return whether rows may have several labels: `y` has lists of labels, is sparse, or is a
    dense matrix that does not have exactly one column."""
    if sp.issparse(y) or isinstance(y, LabelLists):
        return True
    shape = getattr(y, "shape", None)
    if isinstance(y, (list, tuple)) and len(y) and isinstance(y[0], (list, tuple, np.ndarray)):
        lengths = {len(row) if hasattr(row, "__len__") else None for row in y}
        shape = (len(y), lengths.pop()) if len(lengths) == 1 else None
    return shape is not None and len(shape) == 2 and shape[1] != 1


def kind_of(y: object) -> Kind:
    """Return the kind of an indicator matrix, or the kind for lists of labels."""
    if isinstance(y, LabelLists):
        return "array"
    if not sp.issparse(y):
        return "dense"
    return "array" if isinstance(y, sp.sparray) else "matrix"


def checked(y: object) -> Any:
    """Return an indicator matrix in CSC format with one entry per label of a row. Lists of labels
    are returned unchanged.

    Raise a ValueError that names the first value other than 0 and 1.
    """
    if isinstance(y, LabelLists):
        return y
    if sp.issparse(y):
        found = _sklearn.check_array(
            y, accept_sparse="coo", dtype=None, ensure_min_features=0, input_name="y"
        )
        found = sp.coo_array(found)
        if found.data.dtype.kind not in "biuf":
            raise ValueError(f"y must have only 0 and 1, got values of {found.data.dtype}")
        values = found.tocsc()  # sums duplicates
        values.eliminate_zeros()
        entries = values.tocoo()
        rows, columns, values = entries.row, entries.col, entries.data
    else:
        found = of_rows("y", y)
        if isinstance(found, np.ndarray) and found.dtype == object:  # NA cannot be compared
            found = _numbers(found)
        found = _sklearn.check_array(found, dtype=None, ensure_min_features=0, input_name="y")
        rows, columns = (found != 0).nonzero()
        values = found[rows, columns]
    wrong = np.flatnonzero(np.asarray(values != 1))
    if len(wrong):
        first = wrong[np.lexsort((columns[wrong], rows[wrong]))[0]]
        raise _error(values[first : first + 1].tolist()[0], rows[first], columns[first])
    if found.shape[1] < 1:
        raise ValueError("y of two dimensions must have a column for each label, got none")
    return sp.csc_array((np.ones(len(rows), np.int8), (rows, columns)), shape=found.shape)


def _error(value: object, row: int, column: int) -> ValueError:
    rule = "y of two dimensions must have only 0 and 1"
    return ValueError(f"{rule}, got {value!r} in row {row}, column {column}")


def _numbers(y: Array) -> Array:
    """Convert an indicator matrix of objects to numbers."""
    for row, values in enumerate(y.tolist()):
        for column, value in enumerate(values):
            if not isinstance(value, (numbers.Real, np.bool_)) or value not in (0, 1):
                raise _error(value, row, column)
    return y.astype(np.int8)


def balanced_factors(y: Array, costs: Array | None) -> Array:
    """Return, for the rows without and with each label, the total weight divided by twice their
    weight."""
    shares = np.ones(y.shape[0]) if costs is None else costs
    sums = np.stack([_sums_without(y, shares), y.T @ shares], axis=1)
    with np.errstate(over="ignore"):  # infinite factors are rejected later
        return np.divide(shares.sum(), 2 * sums, out=np.ones_like(sums), where=sums > 0)


def _sums_without(y: Array, shares: Array) -> Array:
    """Return the total share of the rows without each label. It is computed as a difference,
    separately for shares of similar size, so that large ones do not round small ones away."""
    sizes = np.frexp(shares)[1] // 10
    sums = np.zeros(y.shape[1])
    for size in np.unique(sizes[shares > 0]):
        some = np.where(sizes == size, shares, 0.0)
        is_some = (some > 0).astype(np.float64)
        n_without = is_some.sum() - y.T @ is_some
        sums += np.where(n_without > 0, some.sum() - y.T @ some, 0.0)
    return sums


def of_scores(scores: Floats, kind: Kind) -> Any:
    """Return the labels of rows: those with scores above 0."""
    if kind == "dense":
        return (scores > 0).astype(np.int64)
    return sp.csr_array(scores > 0).astype(np.int64)


def as_kind(labels: Array, kind: Kind) -> Any:
    """Return labels in the kind of matrix that ``fit`` saw."""
    return sp.csr_matrix(labels) if kind == "matrix" else labels
