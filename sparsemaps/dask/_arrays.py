"""Dask arrays of rows, and maps of them block by block."""

from collections.abc import Mapping
from typing import Any

import dask.array as da
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps import libsvm
from sparsemaps._tools._checks import LARGEST_INT, check_bool, check_int
from sparsemaps.dask._graphs import for_each
from sparsemaps.dask._ranges import ByteRange, cut, find_inputs
from sparsemaps.maps._sparse_map import as_fitted

_COUNTED_BYTES = 2**22
"""Bytes of text whose rows are counted at a time."""

_BLANK, _NEWLINE, _HASH = b" \t\r\v\f", ord("\n"), ord("#")


def read_svmlight(
    inputs: Any,
    *,
    n_features: int,
    partition_bytes: int = 2**26,
    dtype: npt.DTypeLike = np.float64,
    zero_based: bool = False,
    count_rows: bool = True,
    storage_options: Mapping[str, Any] | None = None,
) -> tuple[Any, Any]:
    """Dask arrays of the rows of LIBSVM files.

    Parameters
    ----------
    inputs : str, path-like, or a sequence of these
        As in `map_files`.
    n_features : int
        Number of columns.
    partition_bytes : int, default=2**26
        Largest length of the text of a block. Parsed to float64 and int32, an entry takes 12 bytes,
        nearly as many as its text.
    dtype : data-type, default=np.float64
        Type of the values.
    zero_based : bool, default=False
        Whether indices count from 0.
    count_rows : bool, default=True
        Whether to count the rows of every block now, where Dask's tasks run. It takes a quarter of
        the time of parsing, or the time of reading the bytes if this is longer. False leaves the
        lengths of blocks unknown, as Dask's data frames do; operations that need them are an error
        then, until ``X.compute_chunk_sizes()``.
    storage_options : mapping or None, default=None
        Options of fsspec for `inputs`.

    Returns
    -------
    X : dask array of shape (n_samples, n_features)
        A block is a ``csr_matrix``, or a ``csr_array`` where scikit-learn's ``sparse_interface``
        asks for it.
    y : dask array of float64, shape (n_samples,)
        The labels, in the same blocks.

    Raises
    ------
    ValueError
        If a parameter is not allowed. When a block is computed, for a line that is not of the
        format, with file and line.
    OSError
        If a file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sparsemaps.dask import read_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "rows.svm")
    ...     _ = file.write_text("1 1:0.5 3:2\\n-1 2:7\\n1 1:1\\n")
    ...     X, y = read_svmlight(file, n_features=3, partition_bytes=10)
    ...     print(X.chunks, X.compute().toarray().tolist(), y.compute())
    ((1, 1, 1), (3,)) [[0.5, 0.0, 2.0], [0.0, 7.0, 0.0], [1.0, 0.0, 0.0]] [ 1. -1.  1.]
    """
    n_features = check_int("n_features", n_features, 1, LARGEST_INT)
    check_int("partition_bytes", partition_bytes, 1, LARGEST_INT)
    check_bool("zero_based", zero_based)
    dtype = np.dtype(dtype)
    files = find_inputs(inputs, storage_options)
    ranges = cut(files, partition_bytes)
    lengths: tuple[float, ...] = (np.nan,) * len(ranges)
    if count_rows:
        lengths = tuple(for_each(ranges, _count_rows).compute())
        ranges = [part for part, n in zip(ranges, lengths, strict=True) if n] or ranges[:1]
        lengths = tuple(n for n in lengths if n) or (0,)
    pairs = for_each(
        ranges, _load, n_features=n_features, type_of_values=dtype, zero_based=zero_based
    )
    X = pairs.map_blocks(
        _part, number=0, new_axis=1, chunks=(lengths, (n_features,)), dtype=dtype,
        meta=sp.csr_matrix((0, n_features), dtype=dtype),
    )  # fmt: skip
    y = pairs.map_blocks(_part, number=1, chunks=(lengths,), dtype=np.float64, meta=np.empty(0))
    return X, y


def _load(
    part: ByteRange, *, n_features: int, type_of_values: Any, zero_based: bool
) -> tuple[Any, Any]:
    text: Any
    with part.open_text() as text:
        try:
            return libsvm.load_svmlight_file(
                text, n_features=n_features, dtype=type_of_values, zero_based=zero_based
            )
        except ValueError as error:  # that of the width names no file
            name = f"{part.path}: "
            raise ValueError(name + str(error).removeprefix(name)) from error


def _part(pair: Any, *, number: int) -> Any:
    return pair.item()[number]


def _count_rows(part: ByteRange) -> int:
    """The number of lines of a range that are rows: neither empty nor a comment."""
    with part.open_text() as text:
        return sum(map(_count_rows_of_text, text.blocks(_COUNTED_BYTES)))


def _count_rows_of_text(text: bytes) -> int:
    bytes_ = np.frombuffer(text, np.uint8)
    starts = np.flatnonzero(bytes_ == _NEWLINE) + 1
    starts = np.concatenate([[0], starts[starts < len(text)]])
    first = bytes_[starts]
    begins_row = (first > ord(" ")) & (first != _HASH)
    n = int(np.count_nonzero(begins_row))
    for start in starts[~begins_row].tolist():
        stop = text.find(b"\n", start)
        line = text[start : None if stop < 0 else stop].lstrip(_BLANK)
        n += bool(line) and not line.startswith(b"#")
    return n


def transform(map: Any, X: Any) -> Any:
    """Map a Dask array block by block.

    Parameters
    ----------
    map : map of sparsemaps
        A fitted map is used as it is. Of other maps, a copy is fitted for rows of any width; choose
        a `random_state`, so that other arrays are mapped in the same way.
    X : dask array of shape (n_samples, n_features)
        Blocks of CSR or dense rows.

    Returns
    -------
    X_new : dask array of shape (n_samples, n_features_out)
        Each block is the output of ``map.transform`` for a block of `X`. The lengths of blocks may
        be unknown.

    Raises
    ------
    ValueError
        If the map does not take `X`. Values are checked when a block is computed; the error names
        the block.

    See Also
    --------
    encode : Packed codes.

    Examples
    --------
    >>> import dask.array as da
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.dask import transform
    >>> cws = ConsistentWeightedSampling(n_hashes=4, bits=2, random_state=0)
    >>> X = da.ones((6, 5), chunks=(4, 5))
    >>> Z = transform(cws, X)
    >>> Z.shape, Z.compute().nnz
    ((6, 16), 24)
    """
    return _map_blocks(as_fitted(map), "transform", X)


def encode(map: Any, X: Any) -> Any:
    """Packed codes of a Dask array, block by block.

    Parameters
    ----------
    map : sampled map of sparsemaps
        As in `transform`.
    X : dask array of shape (n_samples, n_features)
        Blocks of CSR or dense rows.

    Returns
    -------
    codes : dask array of uint8, shape (n_samples, n_bytes)
        Each block is the output of ``map.encode`` for a block of `X`.

    Raises
    ------
    ValueError
        As in `transform`, and if the map has no codes.

    See Also
    --------
    sparsemaps.files.similar_pairs_of_files : Similar rows of files, by tasks.

    Examples
    --------
    >>> import dask.array as da
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.dask import encode
    >>> cws = ConsistentWeightedSampling(n_hashes=4, bits=8, random_state=0)
    >>> encode(cws, da.ones((6, 5), chunks=(4, 5))).shape
    (6, 4)
    """
    map = as_fitted(map)
    if not map.has_codes:
        raise ValueError(f"{type(map).__name__} has no codes")
    return _map_blocks(map, "encode", X)


def _map_blocks(map: Any, method: str, X: Any) -> Any:
    X, empty = _check_rows(X)
    meta = getattr(map, method)(empty)
    return X.map_blocks(
        _apply,
        map=map,
        method=method,
        chunks=(X.chunks[0], (meta.shape[1],)),
        dtype=meta.dtype,
        meta=meta,
    )


def _check_rows(X: Any) -> tuple[Any, Any]:
    """`X` in blocks of whole rows, and a matrix without rows of the type of its blocks."""
    if not isinstance(X, da.Array) or X.ndim != 2:
        raise ValueError(f"X must be a two-dimensional Dask array, got {type(X).__name__}")
    if np.isnan(X.shape[1]):
        raise ValueError("X must know its number of columns")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    container = sp.csr_array if isinstance(X._meta, sp.sparray) else sp.csr_matrix
    return X, container((0, int(X.shape[1])), dtype=X.dtype)


def _apply(X: Any, *, map: Any, method: str, block_info: Any = None) -> Any:
    try:
        return getattr(map, method)(X)
    except ValueError as error:
        first = block_info[0]["array-location"][0][0]
        where = "" if np.isnan(first) else f", whose first row is {first}"
        number = block_info[0]["chunk-location"][0]
        raise ValueError(f"block {number} of X{where}: {error}") from error
