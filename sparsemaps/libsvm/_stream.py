"""Reading of LIBSVM files block by block."""

from collections.abc import Iterator
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
import numpy.typing as npt

from sparsemaps._io import _text_input
from sparsemaps._tools import _threads
from sparsemaps._tools._checks import LARGEST_INT, check_int
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import CsrMatrix, File, Floats, Rows
from sparsemaps.libsvm import _parse
from sparsemaps.libsvm._pipeline import in_order
from sparsemaps.libsvm._read import Labels, Options, check_options


class StreamOptions(TypedDict, total=False):
    """Options that do not affect the types of the result."""

    block_bytes: int
    n_features: int | None
    dtype: npt.DTypeLike
    zero_based: bool
    n_jobs: int | None
    max_line_bytes: int


@overload
def iter_svmlight_file(
    path: File,
    *,
    multilabel: Literal[False] = ...,
    query_id: Literal[False] = ...,
    **options: Unpack[StreamOptions],
) -> Iterator[tuple[CsrMatrix, Floats]]: ...


@overload
def iter_svmlight_file(
    path: File,
    *,
    multilabel: Literal[False] = ...,
    query_id: Literal[True],
    **options: Unpack[StreamOptions],
) -> Iterator[tuple[CsrMatrix, Floats, Rows]]: ...


@overload
def iter_svmlight_file(
    path: File,
    *,
    multilabel: Literal[True],
    query_id: Literal[False] = ...,
    **options: Unpack[StreamOptions],
) -> Iterator[tuple[CsrMatrix, Labels]]: ...


@overload
def iter_svmlight_file(
    path: File,
    *,
    multilabel: Literal[True],
    query_id: Literal[True],
    **options: Unpack[StreamOptions],
) -> Iterator[tuple[CsrMatrix, Labels, Rows]]: ...


def iter_svmlight_file(
    path: File,
    *,
    block_bytes: int = 2**22,
    n_features: int | None = None,
    dtype: npt.DTypeLike = np.float64,
    multilabel: bool = False,
    zero_based: bool = False,
    query_id: bool = False,
    n_jobs: int | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> Iterator[tuple[Any, ...]]:
    """Read a LIBSVM file block by block, in bounded memory.

    Parameters
    ----------
    path : str, path-like, file-like or int
        As `f` of `load_svmlight_file`; pipes are allowed.
    block_bytes : int, default=2**22
        Approximate number of bytes of text per block. A block has at least one line.
    n_features : int or None, default=None
        Number of columns of every block. With None, each block is as wide as its largest index
        requires. A map fitted by ``fit_any_width()`` accepts such blocks, and its output always has
        the same width. Learners need blocks of equal width.
    dtype : data-type, default=np.float64
        Type of the values.
    multilabel : bool, default=False
        Whether rows have any number of labels.
    zero_based : bool, default=False
        Whether indices count from 0. Unless this is True, an index 0 raises an error. "auto" is not
        allowed, because it would require reading the whole file first.
    query_id : bool, default=False
        Whether to yield the numbers after ``qid:`` too. Every row must then have one.
    n_jobs : int or None, default=None
        Threads, which parse blocks in advance: at most two blocks per thread.
    max_line_bytes : int, default=2**30
        A longer line raises an error. Otherwise, a small compressed file with a very long line
        could fill the memory.

    Yields
    ------
    X, y[, query_id]
        As from `load_svmlight_file`, for consecutive rows.

    Raises
    ------
    ValueError, OSError
        As in `load_svmlight_file`.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.libsvm import iter_svmlight_file
    >>> file = BytesIO(b"1 1:1\\n0 3:1\\n1 2:1 3:5\\n")
    >>> [X.shape for X, y in iter_svmlight_file(file, block_bytes=12, n_features=3)]
    [(2, 3), (1, 3)]

    A map for rows of any width:

    >>> from sparsemaps import CountSketch
    >>> sketch = CountSketch(n_components=8, random_state=0).fit_any_width()
    >>> file = BytesIO(b"1 1:1\\n0 3:1\\n1 2:1 3:5\\n")
    >>> [sketch.transform(X).shape for X, y in iter_svmlight_file(file, block_bytes=12)]
    [(2, 8), (1, 8)]
    """
    options = check_options(n_features, dtype, multilabel, zero_based, query_id, max_line_bytes)
    if isinstance(zero_based, str):
        raise ParameterError("zero_based", "'auto'", "True or False for a stream")
    block_bytes = check_int("block_bytes", block_bytes, 1, LARGEST_INT)
    _threads.resolve_n_jobs(n_jobs)
    return _iterate(path, block_bytes, options, n_jobs)


def _iterate(
    path: File, block_bytes: int, options: Options, n_jobs: int | None
) -> Iterator[tuple[Any, ...]]:
    one_based = not options.zero_based

    def read(text: bytes) -> tuple[list[Any], int]:
        part = _parse.parse(text, options.multilabel, options.dtype, one_based)
        if options.query_id:
            _parse.check_every_qid(text, part)
        width = _parse.width_of(part.largest, one_based)
        n_columns = width if options.n_features is None else options.n_features
        _parse.check_width(n_columns, width)
        rows = _parse.RowsRead(options.dtype)
        rows.append(part, 1)
        block = rows.finish(n_columns, one_based, options.multilabel, options.query_id)
        return block, part.n_lines

    with (
        _text_input.errors_without_advice(),
        _text_input.open_text(path, options.max_line_bytes) as text,
    ):
        for block in in_order(read, text.blocks(block_bytes), n_jobs, text):
            if block[0].shape[0]:
                yield tuple(block)
