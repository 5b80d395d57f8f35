"""Loading of whole LIBSVM files."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from sparsemaps._io import _text_input
from sparsemaps._tools._checks import LARGEST_INT, check_bool, check_int
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import CsrMatrix, File, Floats, Rows
from sparsemaps.libsvm import _parse
from sparsemaps.libsvm._pipeline import blocks_of, in_order

_MARGIN = 1.1
"""Factor by which arrays are allocated larger than the part of the file read so far suggests.
Memory that is never written costs nothing, whereas growing an array again copies it."""


Labels: TypeAlias = list[tuple[float, ...]]
"""The labels of each row."""


class Options(NamedTuple):
    """Validated options of the functions here."""

    n_features: int | None
    dtype: np.dtype[Any]
    multilabel: bool
    zero_based: bool | Literal["auto"]
    query_id: bool
    max_line_bytes: int
    offset: int
    length: int


class LoadOptions(TypedDict, total=False):
    """Options that do not affect the types of the result."""

    n_features: int | None
    dtype: npt.DTypeLike
    zero_based: bool | Literal["auto"]
    offset: int
    length: int
    n_jobs: int | None
    max_line_bytes: int


@overload
def load_svmlight_file(
    f: File,
    *,
    multilabel: Literal[False] = ...,
    query_id: Literal[False] = ...,
    **options: Unpack[LoadOptions],
) -> tuple[CsrMatrix, Floats]: ...


@overload
def load_svmlight_file(
    f: File,
    *,
    multilabel: Literal[False] = ...,
    query_id: Literal[True],
    **options: Unpack[LoadOptions],
) -> tuple[CsrMatrix, Floats, Rows]: ...


@overload
def load_svmlight_file(
    f: File,
    *,
    multilabel: Literal[True],
    query_id: Literal[False] = ...,
    **options: Unpack[LoadOptions],
) -> tuple[CsrMatrix, Labels]: ...


@overload
def load_svmlight_file(
    f: File,
    *,
    multilabel: Literal[True],
    query_id: Literal[True],
    **options: Unpack[LoadOptions],
) -> tuple[CsrMatrix, Labels, Rows]: ...


def load_svmlight_file(
    f: File,
    *,
    n_features: int | None = None,
    dtype: npt.DTypeLike = np.float64,
    multilabel: bool = False,
    zero_based: bool | Literal["auto"] = "auto",
    query_id: bool = False,
    offset: int = 0,
    length: int = -1,
    n_jobs: int | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> tuple[Any, ...]:
    """Load a LIBSVM file.

    Parameters
    ----------
    f : str, path-like, file-like or int
        Path, file object opened in binary mode, or file descriptor. A path that ends in ".gz",
        ".bz2", ".xz" or ".zst" is decompressed. File objects are read from their current position,
        and left open.
    n_features : int or None, default=None
        Number of columns; None takes the least number that the indices in the file allow. A smaller
        number raises an error.
    dtype : data-type, default=np.float64
        Type of the values. With float32, each value is the float32 nearest to the decimal.
    multilabel : bool, default=False
        Whether rows have any number of labels, separated by commas.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0. "auto" is False if no index is 0, and True otherwise. With
        `offset` or `length`, it is True, because the indices of the other parts are unknown.
    query_id : bool, default=False
        Whether to return the numbers after ``qid:`` too. Every row must then have one.
    offset : int, default=0
        Skip that many bytes and the rest of the line in which they end.
    length : int, default=-1
        If positive, read no line that begins after byte ``offset + length``.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The result does not depend on it.
    max_line_bytes : int, default=2**30
        A longer line raises an error. Otherwise, a small compressed file with a very long line
        could fill the memory.

    Returns
    -------
    X : csr_matrix of shape (n_samples, n_features)
        A csr_array if scikit-learn's ``sparse_interface`` requests it. Indices are int32 if they
        fit, else int64.
    y : ndarray of float64, shape (n_samples,), or list of tuples of float
        The labels, or a list of ascending tuples if `multilabel`. As in scikit-learn, an integer
        beyond 2**53 is rounded to the nearest float64; `sparsemaps.files` keeps all digits.
    query_id : ndarray of int64, shape (n_samples,)
        Only if `query_id` is True.

    Raises
    ------
    ValueError
        If a line is malformed. The error names the first such line by its number (counted from the
        first line read or, with `offset`, from the first line of the file), the column of the
        token, the token, and the expected form. Also if a parameter is invalid.
    OSError
        If the file cannot be read.

    See Also
    --------
    load_svmlight_files : Load several files, with the same width.
    iter_svmlight_file : Read a file larger than memory.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.libsvm import load_svmlight_file
    >>> X, y = load_svmlight_file(BytesIO(b"1 1:0.5 3:2\\n-1 2:7  # a comment\\n"))
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 7.0, 0.0]], [1.0, -1.0])
    """
    options = check_options(
        n_features, dtype, multilabel, zero_based, query_id, max_line_bytes, offset, length
    )
    return tuple(_loaded([f], options, n_jobs))


def load_svmlight_files(
    files: Sequence[File],
    *,
    n_features: int | None = None,
    dtype: npt.DTypeLike = np.float64,
    multilabel: bool = False,
    zero_based: bool | Literal["auto"] = "auto",
    query_id: bool = False,
    offset: int = 0,
    length: int = -1,
    n_jobs: int | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> list[Any]:
    """Load several LIBSVM files, all with the same number of columns.

    Parameters
    ----------
    files : sequence of str, path-like, file-like or int
        As `f` of `load_svmlight_file`.
    n_features, dtype, multilabel, query_id, offset, length, n_jobs, max_line_bytes
        As in `load_svmlight_file`.
    zero_based : bool or "auto", default="auto"
        As in `load_svmlight_file`; "auto" considers all files together.

    Returns
    -------
    list
        ``[X1, y1, X2, y2, ...]``, or ``[X1, y1, query_id1, ...]``.

    Raises
    ------
    ValueError, OSError
        As in `load_svmlight_file`.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.libsvm import load_svmlight_files
    >>> train, test = BytesIO(b"1 1:1 9:1\\n"), BytesIO(b"0 2:1\\n")
    >>> X, y, X_test, y_test = load_svmlight_files([train, test])
    >>> X.shape, X_test.shape
    ((1, 9), (1, 9))
    """
    options = check_options(
        n_features, dtype, multilabel, zero_based, query_id, max_line_bytes, offset, length
    )
    return _loaded(files, options, n_jobs)


def _loaded(files: Sequence[File], options: Options, n_jobs: int | None) -> list[Any]:
    """Load files as `load_svmlight_files` does, with validated options."""
    zero_based = options.zero_based
    if options.offset != 0 or options.length > 0:
        if zero_based == "auto":
            zero_based = True
        if options.n_features is None:
            raise ValueError("n_features is required when offset or length is specified.")
    loaded = [_load(f, options, zero_based is False, n_jobs) for f in files]
    one_based = zero_based is False or (
        zero_based == "auto" and all(rows.largest >= 0 and rows.smallest > 0 for rows in loaded)
    )
    width = _parse.width_of(max((rows.largest for rows in loaded), default=-1), one_based)
    # As in scikit-learn, files without entries have one column, unless indices count from 1.
    n_columns = max(width, 1 - one_based) if options.n_features is None else options.n_features
    _parse.check_width(n_columns, width)
    result: list[Any] = []
    for rows in loaded:
        result += rows.finish(n_columns, one_based, options.multilabel, options.query_id)
    return result


def check_options(
    n_features: int | None,
    dtype: npt.DTypeLike,
    multilabel: bool,
    zero_based: bool | Literal["auto"],
    query_id: bool,
    max_line_bytes: int,
    offset: int = 0,
    length: int = -1,
) -> Options:
    if isinstance(zero_based, np.bool_):
        zero_based = bool(zero_based)
    if not isinstance(zero_based, (bool, str)) or zero_based not in (True, False, "auto"):
        raise ParameterError("zero_based", repr(zero_based), "True, False or 'auto'")
    return Options(
        None if n_features is None else check_int("n_features", n_features, 1, LARGEST_INT),
        np.dtype(dtype),
        check_bool("multilabel", multilabel),
        zero_based,
        check_bool("query_id", query_id),
        check_int("max_line_bytes", max_line_bytes, 1, LARGEST_INT),
        check_int("offset", offset, 0, LARGEST_INT),
        check_int("length", length, -LARGEST_INT, LARGEST_INT),
    )


def _load(f: File, options: Options, one_based: bool, n_jobs: int | None) -> _parse.RowsRead:
    """Return the rows of a file."""

    def parse(text: bytes) -> tuple[tuple[_parse.Part, int], int]:
        part = _parse.parse(text, options.multilabel, options.dtype, one_based)
        if options.query_id:
            _parse.check_every_qid(text, part)
        return (part, len(text)), part.n_lines

    rows = _parse.RowsRead(options.dtype)
    limits = options.max_line_bytes, options.offset, options.length
    with _text_input.errors_without_advice(), _text_input.open_text(f, *limits) as text:
        size, n_read = text.length(), 0
        for part, n_bytes in in_order(parse, blocks_of(text, n_jobs), n_jobs, text):
            n_read += n_bytes
            rows.append(part, _MARGIN * size / n_read if size else 2)
    return rows
