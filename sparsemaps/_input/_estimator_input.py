"""Reading the matrix of an estimator, with scikit-learn's checks."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._input import _row_reader
from sparsemaps._input._row_reader import RowReader
from sparsemaps._tools import _blocks, _sklearn


def read_input(estimator: Any, X: Any, nonnegative_rule: str | None, reset: bool) -> RowReader:
    """Return a reader of `X`, which checks entries when it reads them.

    If `reset`, the estimator is being fitted, and stores the width and the column names of `X`.
    """
    of_floats = type(X) is np.ndarray and X.dtype in (np.float64, np.float32)
    if sp.issparse(X) or (of_floats and X.ndim == 2):
        # scikit-learn's other checks are not needed here, and take longer than mapping a single
        # row.
        rows = _row_reader.open_matrix(X, nonnegative_rule)
        _check_shape(estimator, X, reset)
        return rows
    with explained(type(estimator).__name__, X), _row_reader.conversion(X, "X"):
        made = _sklearn.validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",  # data frames of sparse columns become CSR
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,  # RowReader checks this and names the row
            ensure_min_samples=1 if reset else 0,
        )
    return _row_reader.open_matrix(made, nonnegative_rule, names=_row_reader.names_of(X))


def read_float64(name: str, X: Any, of: str) -> Any:
    """Return the rows `X` of a function named `of` as CSR or as an array of float64, with all
    entries checked. Error messages call the matrix `name`."""
    return read_numbers(name, X, of, np.float64)


def read_numbers(name: str, X: Any, of: str, dtype: Any = "numeric") -> Any:
    """Return the rows `X` as `read_float64` does, but keep the type of integers, booleans and
    float32 unless `dtype` is given."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        dtype = np.float64
    with explained(of, X), _row_reader.conversion(X, name):
        made = _sklearn.check_array(
            X, accept_sparse="csr", dtype=dtype, input_name=name, ensure_all_finite=False
        )
        if made.dtype.kind not in "biu" and made.dtype not in (np.float32, np.float64):
            made = made.astype(np.float64)
    if not sp.issparse(made):
        made = made.astype(made.dtype.newbyteorder("="), copy=False)
    if made.dtype.kind == "f":
        rows = _row_reader.open_matrix(made, name=name, names=_row_reader.names_of(X))
        row_bytes = 1 if sp.issparse(made) else 12 * made.shape[1]
        for start, stop in _blocks.cut_by_bytes(made.shape[0], row_bytes):
            rows.block(start, stop)
    return made


@contextlib.contextmanager
def explained(name: str, X: Any) -> Iterator[None]:
    """Add advice to errors of functions that take a matrix but got texts or columns of strings."""
    try:
        yield
    except (TypeError, ValueError) as error:
        column = _column_of_strings(X)
        what = f"strings in column {column!r}" if column is not None else _texts_or_tokens(X)
        if not what:
            raise
        cure = _OF_TEXTS if column is None else _OF_COLUMNS
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name} takes a matrix, got {what}: {cure}") from error


_OF_TEXTS = (
    "sparsemaps.text.HashingVectorizer makes rows of texts, and with analyzer=list of sets or "
    'lists of tokens; models of sparsemaps.linear take texts with vectorizer="char:3", for example'
)
_OF_COLUMNS = (
    "sklearn.preprocessing.OneHotEncoder makes columns of categories, and "
    "sparsemaps.text.HashingVectorizer rows of one column of texts"
)


def _check_shape(estimator: Any, X: Any, reset: bool) -> None:
    """Check the shape of a sparse matrix or float array as scikit-learn does."""
    minima = (("sample(s)", int(reset)), ("feature(s)", 1))
    for length, (what, minimum) in zip(X.shape, minima, strict=True):
        if length < minimum:
            raise ValueError(
                f"Found array with {length} {what} (shape={X.shape}) while a minimum of "
                f"{minimum} is required by {type(estimator).__name__}."
            )
    other_width = vars(estimator).get("n_features_in_") not in (None, X.shape[1])
    if reset or other_width or "feature_names_in_" in vars(estimator):
        _sklearn.validate_data(estimator, X, reset=reset, skip_check_array=True)


def _column_of_strings(X: Any) -> Any:
    """Return the name (else the number) of the first column of a table whose first value is a
    string, or None if there is none."""
    if len(getattr(X, "shape", ())) != 2 or not X.shape[0] or sp.issparse(X):
        return None
    try:
        row = np.asarray(X[:1], object)[0]
    except BaseException as raised:  # values that cannot be converted are not strings
        if not _row_reader.is_error(raised):
            raise
        return None
    for number, value in enumerate(row):
        if isinstance(value, (str, bytes)):
            names = _row_reader.names_of(X)
            return number if names is None else names[number]
    return None


def _texts_or_tokens(X: Any) -> str:
    """Return a word for the texts or tokens in `X`, or "" if there are none."""
    if isinstance(X, (str, bytes)):
        return "a text"
    if _row_reader.names_of(X) is not None:  # iterating a table yields its names
        return ""
    try:
        first = next(iter(X))
    except (TypeError, ValueError, StopIteration):
        return ""
    if isinstance(first, (str, bytes)):
        return "texts"
    if isinstance(first, (set, frozenset)):
        return "sets"
    if isinstance(X, (list, tuple)) and isinstance(first, (list, tuple, np.ndarray)):
        if len(first) and isinstance(first[0], (str, bytes)):
            return "lists of tokens"
        if len({len(row) for row in X if hasattr(row, "__len__")}) > 1:
            return "lists of different lengths"
    return ""
