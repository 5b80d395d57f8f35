"""Writing of LIBSVM files: formatting rows as lines."""

import contextlib
import io
import itertools
import math
import numbers
from collections.abc import Callable
from importlib import metadata
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._input import _row_reader, _row_values, _sparse
from sparsemaps._input._estimator_input import read_numbers
from sparsemaps._input._sparse import Csr
from sparsemaps._io import _output_files
from sparsemaps._loops import text as _loops
from sparsemaps._tools import _blocks, _sklearn, _threads
from sparsemaps._tools._checks import LARGEST_INT, check_bool
from sparsemaps._tools._typing import Array, Destination, MatrixLike, SparseMatrix
from sparsemaps._tools._whole_numbers import are_equal

_BLOCK_ENTRIES = 2**14
"""Entries formatted at a time, chosen so that the text stays in the cache while it is copied."""

_no_qids = np.empty(0, np.int64)


def dump_svmlight_file(
    X: MatrixLike,
    y: npt.ArrayLike | SparseMatrix,
    f: Destination,
    *,
    zero_based: bool = True,
    comment: str | bytes | None = None,
    query_id: npt.ArrayLike | None = None,
    multilabel: bool = False,
    n_jobs: int | None = None,
) -> None:
    """Write a matrix with labels as a LIBSVM file.

    Every number is written with the fewest digits that read back as the same number of its type, so
    the file loads as the same numbers, bit for bit.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Finite values. For sparse input, every stored entry is written, including zeros; for dense
        input, only nonzero values.
    y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels), or list
        Labels. If `multilabel`, an indicator matrix of 0 and 1 (a row's labels are the numbers of
        the columns in which it has a 1), or a list with one tuple of labels per row, as
        `load_svmlight_file` returns.
    f : str, path-like or file-like
        Path, or file object opened in binary mode. A path that ends in ".gz", ".bz2", ".xz" or
        ".zst" is compressed. A file at a path appears only when it is complete.
    zero_based : bool, default=True
        Whether the indices written count from 0. LIBSVM's own programs need False.
    comment : str or bytes, default=None
        Comment to write first, after two lines that name the writer of the file. LIBSVM's own
        programs cannot read comments.
    query_id : array-like of int, shape (n_samples,), default=None
        Numbers to write as ``qid:``, from -2**63 to 2**63 - 1.
    multilabel : bool, default=False
        Whether rows have any number of labels.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The file does not depend on it.

    Raises
    ------
    ValueError
        If shapes do not match, the arrays of a sparse matrix are invalid, a value is not finite, a
        query id is not an integer, an integer is outside int64, float64 cannot represent an integer
        label exactly, a `multilabel` matrix has a number other than 0 and 1, or a `multilabel` row
        has neither labels nor entries, which the format cannot represent.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.libsvm import dump_svmlight_file
    >>> file = BytesIO()
    >>> dump_svmlight_file([[0.1, 0.0], [2.0, 1e-30]], [1, -1], file, zero_based=False)
    >>> file.getvalue()
    b'1 1:0.1\\n-1 1:2 2:1e-30\\n'
    """
    zero_based = check_bool("zero_based", zero_based)
    multilabel = check_bool("multilabel", multilabel)
    header = format_header(comment, zero_based)
    matrix = _sound_rows(X)
    targets: Any = _label_tuples(y) if multilabel and _are_tuples(y) else _sound_labels(y)
    if multilabel:
        if not isinstance(targets, _LabelTuples):
            _check_indicators(targets)
    elif sp.issparse(targets) and targets.shape[1] != 1:
        raise ValueError(f"expected y of shape (n_samples, 1), got {targets.shape}{_OF_SEVERAL}")
    elif not sp.issparse(targets) and targets.ndim != 1:
        raise ValueError(f"expected y of shape (n_samples,), got {targets.shape}{_OF_SEVERAL}")
    n_rows, n_labels = matrix.shape[0], targets.shape[0]
    if n_rows != n_labels:
        raise ValueError(
            f"X.shape[0] and y.shape[0] should be the same, got {n_rows} and {n_labels} instead."
        )
    qids = _no_qids if query_id is None else _check_query_id(query_id, n_rows)
    _check_integers("X", matrix.values if isinstance(matrix, Csr) else matrix)
    if not multilabel:
        check_labels(targets.data if sp.issparse(targets) else targets)
    width = matrix.shape[1]
    entries_before = matrix.indptr.item if isinstance(matrix, Csr) else lambda row: row * width
    blocks = _blocks.cut_rows(
        n_rows,
        lambda row: row + entries_before(row),
        _threads.resolve_n_jobs(n_jobs),
        _BLOCK_ENTRIES,
    )

    def lines(start: int, stop: int) -> bytes:
        rows = slice(start, stop)
        if isinstance(matrix, Csr):
            values, indices, indptr = matrix.values, matrix.indices, matrix.indptr[start : stop + 1]
        else:
            block = sp.csr_array(np.array(matrix[rows]))  # a copy, because zeros are counted first
            values, indices, indptr = block.data, block.indices, block.indptr
        if isinstance(targets, _LabelTuples):
            heads = targets.heads(start, stop)
        else:
            heads = _labels(targets[rows]) if multilabel else one_label_each(targets[rows])
        if multilabel:
            _check_rows_have_lines(np.diff(heads.label_ends, prepend=0), np.diff(indptr), start)
        return _lines(values, indices, indptr, heads._replace(qids=qids[rows]), zero_based)

    write_lines(f, header, lines, blocks, n_jobs)


_OF_SEVERAL = "; rows of several labels need multilabel=True"


def _sound_rows(X: Any) -> Any:
    """Return valid rows, as `Csr` or as an array."""
    plain = _row_reader.open_plain(X)
    if plain is not None:
        return plain
    X = read_numbers("X", _sparse.sound_matrix(X, "X"), "dump_svmlight_file")
    if sp.issparse(X):
        X = X if X.has_sorted_indices else X.sorted_indices()
        X = Csr(X.data, X.indices, X.indptr.astype(np.int64), X.shape)
    return X


def _sound_labels(y: Any) -> Any:
    """Return labels as an array or as a valid sparse matrix."""
    y = _sparse.sound_matrix(y, "y")
    if _is_plain(y):
        return y
    if sp.issparse(y):
        with np.errstate(all="ignore"):  # sums may overflow although all values are finite
            return _sklearn.check_array(y, accept_sparse="csr", input_name="y")
    return labels_of_rows(y)


def labels_of_rows(y: Any, *, fewest: int = 1) -> Array:
    """Return labels as an array of numbers."""
    y = np.asarray(_row_values.of_rows("y", y))
    if y.dtype == object:
        for row, label in enumerate(y.reshape(-1)):
            if isinstance(label, numbers.Integral):
                _checked_label(label, row)
    with np.errstate(all="ignore"):
        y = _sklearn.check_array(
            _row_values.numbers_of_rows("y", y), ensure_2d=False, ensure_min_samples=fewest,
            ensure_all_finite=False, input_name="y",
        )  # fmt: skip
    _sklearn.check_finite("y", y, "labels")
    return np.asarray(y)


class _LabelTuples(NamedTuple):
    """The labels of all rows, and the end of each row's labels."""

    labels: Array
    ends: Array
    shape: tuple[int, ...]

    def heads(self, start: int, stop: int) -> "Heads":
        """Return the beginnings of the lines of some rows."""
        first = int(self.ends[start - 1]) if start else 0
        ends = self.ends[start:stop]
        last = int(ends[-1]) if len(ends) else first
        return Heads(self.labels[first:last], ends - first, _no_qids)


def _are_tuples(y: object) -> bool:
    """Return whether labels are a list of tuples. Other lists are treated as arrays."""
    return isinstance(y, list) and len(y) > 0 and all(isinstance(row, tuple) for row in y)


def _label_tuples(y: Any) -> _LabelTuples:
    """Return tuples of labels as arrays."""
    counts = np.array([len(row) for row in y], np.int64)
    labels = np.empty(int(counts.sum()))
    place = 0
    for number, row in enumerate(y):
        for label in row:
            labels[place] = _checked_label(label, number)
            place += 1
    return _LabelTuples(labels, np.cumsum(counts), (len(y),))


def _checked_label(label: object, row: int) -> float:
    """Return a label as a float. Raise unless the float equals the label."""
    if isinstance(label, (numbers.Real, np.bool_)):
        with contextlib.suppress(OverflowError):
            number = float(label)
            if math.isfinite(number) and number == label:
                return number
    raise ValueError(
        f"y must have finite numbers that float64 holds exactly, got {label!r} in row {row}"
    )


def _check_indicators(y: Any) -> None:
    """Raise unless multilabel labels are an indicator matrix."""
    if y.ndim != 2:
        raise ValueError(
            "multilabel y must be an indicator matrix of shape (n_samples, n_labels), or a list of "
            f"tuples of labels, got shape {y.shape}"
        )
    if sp.issparse(y):
        y = sp.csr_array(y, copy=True)
        y.sum_duplicates()
        values = y.data
    else:
        values = y.reshape(-1)
    others = (values != 0) & (values != 1)
    if others.any():
        place = int(np.argmax(others))
        row = (
            np.searchsorted(y.indptr, place, "right") - 1 if sp.issparse(y) else place // y.shape[1]
        )
        raise ValueError(
            "a multilabel indicator matrix must have numbers 0 and 1, got "
            f"{values[place]} in row {row}; labels of rows are given as a list of tuples"
        )


def write_lines(
    f: Destination,
    header: bytes,
    lines: Callable[[int, int], bytes],
    blocks: list[tuple[int, int]],
    n_jobs: int | None,
) -> None:
    """Write `header`, then ``lines(start, stop)`` for each block, to a path or file object."""
    with _output_files.atomic_output(f) as file:
        file.write(header)
        for text in _threads.stream(lines, blocks, n_jobs):
            file.write(text)


class Heads(NamedTuple):
    """The beginnings of lines: labels of all rows, the end of each row's labels, and qids. Labels
    are float64, int64 or uint64."""

    labels: Array
    label_ends: Array
    qids: Array


def one_label_each(y: Any) -> Heads:
    """Return the beginnings of lines with one label each."""
    y = y.toarray().ravel() if sp.issparse(y) else y
    dtype = y.dtype if y.dtype in (np.int64, np.uint64) else np.float64
    labels = np.ascontiguousarray(y, dtype)
    return Heads(labels, np.arange(1, len(labels) + 1), _no_qids)


def has_one_label_each(heads: Heads) -> bool:
    """Return whether each row has exactly one label."""
    ends = heads.label_ends
    return bool(np.array_equal(ends, np.arange(1, len(ends) + 1)))


def format_rows(X: Any, heads: Heads, *, zero_based: bool = False) -> bytes:
    """Return the lines of a CSR block."""
    return _lines(X.data, X.indices, X.indptr, heads, zero_based)


def format_codes(
    codes: Array, bits: int, heads: Heads, *, zero_based: bool = False, ones: bool = False
) -> bytes:
    """Return the lines of rows of codes as one-hot features. With `ones`, every value is written as
    1.

    `codes` is int32; the first code of a row without codes is -1.
    """
    value = 1.0 if ones else 1 / np.sqrt(codes.shape[1])
    lines = _loops.format_codes(codes, bits, value, *_of_floats(heads), 0 if zero_based else 1)
    return _with_whole_labels(lines, heads)


def _of_floats(heads: Heads) -> Heads:
    """Return the beginnings of lines as compiled code writes them: without labels if these are
    integers."""
    if heads.labels.dtype.kind == "f":
        labels = np.ascontiguousarray(heads.labels, np.float64)
        return Heads(labels, heads.label_ends.astype(np.int64), heads.qids)
    return Heads(np.empty(0), np.zeros(len(heads.label_ends), np.int64), heads.qids)


def _with_whole_labels(lines: bytes, heads: Heads) -> bytes:
    """Return lines with integer labels prepended, if labels are integers."""
    if heads.labels.dtype.kind == "f":
        return lines
    labels = heads.labels.tolist()
    ends = itertools.pairwise([0, *heads.label_ends.tolist()])
    texts = (",".join(map(str, labels[start:stop])).encode() for start, stop in ends)
    return b"".join(text + line for text, line in zip(texts, io.BytesIO(lines), strict=True))


def _lines(values: Array, indices: Array, indptr: Array, heads: Heads, zero_based: bool) -> bytes:
    """Return the lines of the rows that `indptr` delimits."""
    number_type: Any
    if values.dtype.kind in "iub":
        number_type = np.int64
    else:
        number_type = np.float32 if values.dtype == np.float32 else np.float64
    index_type = np.int32 if indices.dtype == np.int32 else np.int64
    indptr = indptr.astype(np.int64)  # a private copy, checked below
    if values.dtype != number_type or indices.dtype != index_type:  # convert these rows only
        here = slice(indptr[0], indptr[-1])
        values, indices, indptr = values[here], indices[here], indptr - indptr[0]
    labels, label_ends, qids = _of_floats(heads)
    lines = _loops.format_rows(
        np.ascontiguousarray(values, number_type),
        np.ascontiguousarray(indices, index_type),
        indptr,
        labels,
        label_ends,
        np.ascontiguousarray(qids, np.int64),
        0 if zero_based else 1,
    )
    return _with_whole_labels(lines, heads)


def _is_plain(y: Any) -> bool:
    """Return whether labels are an array of finite numbers, one per row."""
    is_array = type(y) is np.ndarray and y.ndim == 1 and y.size > 0 and y.dtype.kind in "iuf"
    return is_array and bool(np.isfinite(y).all())


def _labels(y: Any) -> Heads:
    """Return the beginnings of lines with a label for each column in which a row is nonzero."""
    if sp.issparse(y):
        y = sp.csr_array(y, copy=True)
        y.sum_duplicates()
        y.eliminate_zeros()
    else:  # copy the marks, because another thread may change y between SciPy's steps
        y = sp.csr_array(y.reshape(len(y), -1) != 0)
    return Heads(y.indices.astype(np.float64), y.indptr[1:], _no_qids)


def _check_query_id(query_id: object, n_rows: int) -> Array:
    """Return `query_id` as int64. Raise if an id does not fit into int64."""
    ids = np.asarray(_row_values.of_rows("query_id", query_id))
    if ids.shape != (n_rows,):
        raise ValueError(f"expected query_id of shape (n_samples,), got {ids.shape}")
    if ids.dtype.kind == "f":
        whole = np.isfinite(ids) & (np.floor(ids) == ids)
        whole &= (ids >= -(2.0**63)) & (ids < 2.0**63)
    elif ids.dtype.kind in "iub":
        whole = np.ones(n_rows, bool) if ids.dtype != np.uint64 else ids <= np.uint64(LARGEST_INT)
    else:
        raise ValueError(f"query_id must be integers in int64, got {ids.dtype}")
    if not whole.all():
        row = int(np.argmin(whole))
        raise ValueError(
            f"query_id must be whole numbers from -2**63 to 2**63 - 1, got {ids[row]} in row {row}"
        )
    return np.ascontiguousarray(ids, np.int64)


def _check_integers(name: str, values: Array) -> None:
    """Raise for unsigned integers beyond int64."""
    if values.dtype == np.uint64 and values.size and int(values.max()) > LARGEST_INT:
        raise ValueError(f"{name} must have integers of at most 2**63 - 1, got {values.max()}")


def check_labels(y: Array) -> None:
    """Raise for integer labels that float64 cannot represent exactly."""
    _check_integers("y", y)
    if y.dtype.kind in "iu" and y.dtype.itemsize == 8 and y.size:
        changed = ~are_equal(y, y.astype(np.float64))
        if changed.any():
            raise ValueError(
                f"y must have labels that float64 holds exactly, got {y[changed].flat[0]}"
            )


def _check_rows_have_lines(n_labels: Array, n_entries: Array, first_row: int) -> None:
    nothing = (n_labels == 0) & (n_entries == 0)
    if nothing.any():
        raise ValueError(
            f"row {first_row + int(np.argmax(nothing))} has neither labels nor entries, and "
            "cannot be written as LIBSVM text"
        )


def format_header(comment: str | bytes | None, zero_based: bool) -> bytes:
    """Return the comment at the beginning of a file, as bytes."""
    if comment is None:
        return b""
    if isinstance(comment, bytes):
        comment.decode("ascii")  # raises if it is not ASCII
    else:
        comment = comment.encode("utf-8")
    if b"\0" in comment:
        raise ValueError("comment string contains NUL byte")
    if not comment:
        return b""
    base, version = "zero" if zero_based else "one", metadata.version("scikit-learn")
    lines = [
        f"# Generated by sparsemaps in the format of scikit-learn {version}".encode(),
        f"# Column indices are {base}-based".encode(),
        b"#",
        *(b"# " + line for line in comment.splitlines()),
    ]
    return b"\n".join(lines) + b"\n"
