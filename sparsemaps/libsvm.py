"""Files in LIBSVM's format: load, dump, stream.

The functions have scikit-learn's signatures and behaviour, so that they drop in. What is better is
listed in ``docs/libsvm.md``.
"""

import bz2
import contextlib
import gzip
import itertools
import lzma
import numbers
import os
import sys
import tempfile

import numpy as np
import scipy.sparse as sp

from sparsemaps import _sklearn
from sparsemaps._kernels import libsvm as _kernel

__all__ = [
    "dump_svmlight_file",
    "iter_svmlight_file",
    "load_svmlight_file",
    "load_svmlight_files",
]

_BLOCK_BYTES = 2**23

_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


# ---- loading -------------------------------------------------------------------------------------


def load_svmlight_file(
    f,
    *,
    n_features=None,
    dtype=np.float64,
    multilabel=False,
    zero_based="auto",
    query_id=False,
    offset=0,
    length=-1,
):
    """Load a LIBSVM file.

    Parameters
    ----------
    f : str, path-like, file-like or int
        Path, file object opened in binary mode, or file descriptor. A path that ends in ".gz",
        ".bz2" or ".xz" is decompressed. File objects are read from where they are, and left open.
    n_features : int or None, default=None
        Number of columns; None takes the largest index in the file. More than that is fine, less an
        error.
    dtype : data-type, default=np.float64
        Type of the values. For float32 each value is the float32 nearest to the decimal.
    multilabel : bool, default=False
        Rows have any number of labels, separated by commas.
    zero_based : bool or "auto", default="auto"
        Whether indices count from 0. "auto" takes them to count from 1 if none is 0; with `offset`
        or `length` it is True, as one part of a file cannot tell.
    query_id : bool, default=False
        Return the numbers after ``qid:`` too.
    offset : int, default=0
        Skip that many bytes and what is left of the line there.
    length : int, default=-1
        If positive, read no line that begins after byte ``offset + length``.

    Returns
    -------
    X : csr_matrix of shape (n_samples, n_features)
        A csr_array where scikit-learn's ``sparse_interface`` asks for it. Indices are int32 while
        they fit, else int64.
    y : ndarray of float64, shape (n_samples,), or list of tuples of float
        The labels; a list of ascending tuples if `multilabel`.
    query_id : ndarray of int64, shape (n_samples,)
        Only if `query_id` is True.

    Raises
    ------
    ValueError
        At the first line that is not of the format, with the number of the line (counted from the
        first line read), the column of the token, the token and what was expected; and if a
        parameter is not one of the allowed.
    OSError
        If the file cannot be read.

    See Also
    --------
    load_svmlight_files : Several files, of one width.
    iter_svmlight_file : A file larger than memory.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.libsvm import load_svmlight_file
    >>> X, y = load_svmlight_file(BytesIO(b"1 1:0.5 3:2\\n-1 2:7  # a comment\\n"))
    >>> X.toarray().tolist(), y.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 7.0, 0.0]], [1.0, -1.0])
    """
    return tuple(
        load_svmlight_files(
            [f],
            n_features=n_features,
            dtype=dtype,
            multilabel=multilabel,
            zero_based=zero_based,
            query_id=query_id,
            offset=offset,
            length=length,
        )
    )


def load_svmlight_files(
    files,
    *,
    n_features=None,
    dtype=np.float64,
    multilabel=False,
    zero_based="auto",
    query_id=False,
    offset=0,
    length=-1,
):
    """Load several LIBSVM files, all to the same number of columns.

    Parameters
    ----------
    files : sequence of str, path-like, file-like or int
        As `f` of `load_svmlight_file`.
    n_features, dtype, multilabel, query_id, offset, length
        As there.
    zero_based : bool or "auto", default="auto"
        As there; "auto" looks at all files together.

    Returns
    -------
    list
        ``[X1, y1, X2, y2, ...]``, or ``[X1, y1, query_id1, ...]``.

    Raises
    ------
    ValueError, OSError
        As `load_svmlight_file`.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.libsvm import load_svmlight_files
    >>> train, test = BytesIO(b"1 1:1 9:1\\n"), BytesIO(b"0 2:1\\n")
    >>> X, y, X_test, y_test = load_svmlight_files([train, test])
    >>> X.shape, X_test.shape
    ((1, 9), (1, 9))
    """
    _check_options(n_features, multilabel, zero_based, query_id, offset, length)
    if offset != 0 or length > 0:
        if zero_based == "auto":
            zero_based = True
        if n_features is None:
            raise ValueError("n_features is required when offset or length is specified.")
    parts = []
    for f in files:
        with _open_to_read(f) as (file, name):
            blocks = _read_blocks(file, _BLOCK_BYTES, offset, length)
            parsed = [
                _parse(text, first_line, name, multilabel, dtype, zero_based is False)
                for text, first_line in blocks
            ]
        parts.append(_Parsed.concatenate(parsed))
    one_based = zero_based is False or (
        zero_based == "auto" and all(len(p.indices) and p.indices.min() > 0 for p in parts)
    )
    width = max((int(p.indices.max(initial=-1)) + 1 - one_based for p in parts), default=0)
    if n_features is None:
        # As in scikit-learn, no entries at all still make one column, unless they count from 1.
        n_features = max(width, 1 - one_based, 0)
    elif n_features < width:
        raise ValueError(
            f"n_features was set to {n_features}, but input file contains {width} features"
        )
    result = []
    for p in parts:
        result += p.finish(n_features, one_based, multilabel, dtype, query_id)
    return result


def iter_svmlight_file(
    path,
    *,
    block_bytes=2**22,
    n_features=None,
    dtype=np.float64,
    multilabel=False,
    zero_based=False,
    query_id=False,
):
    """Read a LIBSVM file block by block, in bounded memory.

    Parameters
    ----------
    path : str, path-like, file-like or int
        As `f` of `load_svmlight_file`; a pipe is fine.
    block_bytes : int, default=2**22
        About how much text makes a block. At least one line always does.
    n_features : int or None, default=None
        Number of columns of every block. None gives each block the width that it needs: then blocks
        differ in width, which the maps here do not mind once fitted for a stream, but learners do.
    dtype : data-type, default=np.float64
        Type of the values.
    multilabel : bool, default=False
        Rows have any number of labels.
    zero_based : bool, default=False
        Whether indices count from 0. A stream cannot know before its end, so there is no "auto"
        here: an index 0 is an error unless this is True.
    query_id : bool, default=False
        Yield the numbers after ``qid:`` too.

    Yields
    ------
    X, y[, query_id]
        As from `load_svmlight_file`, for consecutive rows.

    Raises
    ------
    ValueError, OSError
        As `load_svmlight_file`.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps.libsvm import iter_svmlight_file
    >>> file = BytesIO(b"1 1:1\\n0 3:1\\n1 2:1 3:5\\n")
    >>> [X.shape for X, y in iter_svmlight_file(file, block_bytes=12, n_features=3)]
    [(2, 3), (1, 3)]
    """
    _check_options(n_features, multilabel, zero_based, query_id, 0, -1)
    if zero_based == "auto":
        raise ValueError("zero_based must be True or False for a stream, got 'auto'")
    _check_integer("block_bytes", block_bytes, 1)
    return _iterate(path, block_bytes, n_features, dtype, multilabel, zero_based, query_id)


def _iterate(path, block_bytes, n_features, dtype, multilabel, zero_based, query_id):
    with _open_to_read(path) as (file, name):
        for text, first_line in _read_blocks(file, block_bytes, 0, -1):
            part = _parse(text, first_line, name, multilabel, dtype, not zero_based)
            width = max(int(part.indices.max(initial=-1)) + zero_based, 0)
            if n_features is not None and n_features < width:
                raise ValueError(
                    f"n_features was set to {n_features}, but input file contains {width} features"
                )
            if len(part.entry_ends):
                shape = width if n_features is None else n_features
                yield tuple(part.finish(shape, not zero_based, multilabel, dtype, query_id))


def _check_options(n_features, multilabel, zero_based, query_id, offset, length):
    if n_features is not None:
        _check_integer("n_features", n_features, 1)
    _check_integer("offset", offset, 0)
    _check_integer("length", length, None)
    for name, value in (("multilabel", multilabel), ("query_id", query_id)):
        if not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{name} must be True or False, got {value!r}")
    if not isinstance(zero_based, (bool, np.bool_)) and not (
        isinstance(zero_based, str) and zero_based == "auto"
    ):
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}")


def _check_integer(name, value, low):
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if low is not None and value < low:
        raise ValueError(f"{name} must be at least {low}, got {value}")


@contextlib.contextmanager
def _open_to_read(f):
    """The file object and the name that errors give it."""
    if hasattr(f, "read"):
        yield f, ""
        return
    if isinstance(f, numbers.Integral):
        file, name = open(f, "rb", closefd=False), ""  # noqa: SIM115 (closed below)
    elif isinstance(f, (str, os.PathLike)):
        path = os.fspath(f)
        file = _OPENERS.get(os.path.splitext(path)[1], open)(path, "rb")
        name = f"{path}: "
    else:
        raise TypeError(f"expected a path, a file object or a file descriptor, got {type(f)}")
    with file:
        yield file, name


def _read_blocks(file, block_bytes, offset, length):
    """Pieces of the file that end at line ends, each with the number of its first line."""
    if offset > 0:
        file.seek(offset)
        file.readline()  # the rest of a line that belongs to whoever reads the bytes before
    left = None
    if length > 0:
        # Lines count that begin no later than this; the first always does.
        left = offset + length - file.tell()
    line, carried = 1, b""
    while True:
        size = block_bytes if left is None else min(block_bytes, max(left + 1, 0))
        text = file.read(size) if size else b""
        if not isinstance(text, (bytes, bytearray, memoryview)):
            raise TypeError(f"the file must be opened in binary mode; it gives {type(text)}")
        if left is not None:
            left -= len(text)
        if not text:
            break
        text = carried + text
        end = text.rfind(b"\n") + 1
        carried = text[end:]
        if end:
            yield memoryview(text)[:end], line
            line += text.count(b"\n")
    if left is not None and (carried or left >= 0):
        carried += file.readline()
    if carried:
        yield carried, line


class _Parsed:
    """Arrays of some lines."""

    def __init__(self, labels, label_ends, values, indices, entry_ends, qids):
        self.labels, self.label_ends = labels, label_ends
        self.values, self.indices, self.entry_ends = values, indices, entry_ends
        self.qids = qids

    @classmethod
    def concatenate(cls, parts):
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(*(np.empty(0, t) for t in "fqdqqq"))
        for name, ends in (("labels", "label_ends"), ("indices", "entry_ends")):
            before = 0
            for part in parts:
                shifted = getattr(part, ends)
                shifted += before
                before += len(getattr(part, name))
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    def finish(self, n_features, one_based, multilabel, dtype, query_id):
        indices = self.indices
        if one_based:
            indices -= 1
        narrow = max(n_features, len(indices)) <= np.iinfo(np.int32).max
        index_type = np.int32 if narrow else np.int64
        indptr = np.zeros(len(self.entry_ends) + 1, index_type)
        indptr[1:] = self.entry_ends
        arrays = (self.values.astype(dtype, copy=False), indices.astype(index_type), indptr)
        container = sp.csr_array if _sklearn.sparse_arrays_asked() else sp.csr_matrix
        X = container(arrays, shape=(len(indptr) - 1, n_features))
        result = [X, self._label_tuples() if multilabel else self.labels]
        if query_id:
            result.append(self.qids)
        return result

    def _label_tuples(self):
        ends = [0, *self.label_ends.tolist()]
        labels = self.labels.tolist()
        return [tuple(sorted(labels[a:b])) for a, b in itertools.pairwise(ends)]


def _parse(text, first_line, name, multilabel, dtype, one_based):
    """The lines of `text` as arrays, or the error that says where."""
    to_float = np.dtype(dtype) == np.float32
    arrays, error = _kernel.parse(text, bool(multilabel), to_float)
    if error is None and one_based:
        indices = arrays[3]
        if len(indices) and indices.min() == 0:
            raise _first_zero(text, first_line, name)
    if error is not None:
        raise _error(text, first_line, name, *error)
    if to_float:
        with np.errstate(over="ignore"):  # to infinity, as Python's float does
            arrays[2] = arrays[2].astype(np.float32)
    return _Parsed(*arrays)


def _error(text, first_line, name, at, token, expected):
    before = bytes(text[:at])
    line = first_line + before.count(b"\n")
    column = at - before.rfind(b"\n")
    shown = repr(token[:40])[2:-1] + ("..." if len(token) > 40 else "")
    return ValueError(f"{name}line {line}, column {column}: {expected}; found '{shown}'")


def _first_zero(text, first_line, name):
    """The error for an index 0 where they count from 1."""
    lines = bytes(text).split(b"\n")
    for number, line in enumerate(lines):
        content = line.split(b"#")[0]
        for token in content.split():
            index, colon, _ = token.partition(b":")
            if colon and index.isdigit() and int(index) == 0:
                at = sum(map(len, lines[:number])) + number + content.index(token)
                expected = "indices count from 1 unless zero_based=True"
                return _error(text, first_line, name, at, token, expected)
    raise AssertionError


# ---- dumping -------------------------------------------------------------------------------------


def dump_svmlight_file(X, y, f, *, zero_based=True, comment=None, query_id=None, multilabel=False):
    """Write a matrix with labels as a LIBSVM file.

    Every number is written with the fewest digits that read back as the same number of its type, so
    that what is dumped loads bit for bit.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Finite values. Of sparse input every stored entry is written, zeros too; of dense input what
        is not zero.
    y : {array-like, sparse matrix} of shape (n_samples,) or (n_samples, n_labels)
        Labels; if `multilabel`, an indicator matrix, of whose rows the columns are written that are
        not zero.
    f : str, path-like or file-like
        Path, or file object opened in binary mode. A path that ends in ".gz", ".bz2" or ".xz" is
        compressed. A path appears only when it is complete.
    zero_based : bool, default=True
        Whether the indices written count from 0. LIBSVM's own programs want False.
    comment : str or bytes, default=None
        Comment to put first, after two lines that say what wrote the file. LIBSVM's own programs do
        not read comments.
    query_id : array-like of int, shape (n_samples,), default=None
        Numbers to write as ``qid:``.
    multilabel : bool, default=False
        Rows have any number of labels.

    Raises
    ------
    ValueError
        If shapes do not fit, a value is not finite, or a row of `multilabel` data has neither
        labels nor entries: no line stands for it.
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
    header = _header(comment, zero_based)
    with np.errstate(all="ignore"):  # its sums may overflow where no value has
        y = _sklearn.check_array(y, accept_sparse="csr", ensure_2d=False)
        X = _sklearn.check_array(X, accept_sparse="csr")
    if not multilabel:
        if sp.issparse(y) and y.shape[1] != 1:
            raise ValueError(f"expected y of shape (n_samples, 1), got {y.shape}")
        if not sp.issparse(y) and y.ndim != 1:
            raise ValueError(f"expected y of shape (n_samples,), got {y.shape}")
    if X.shape[0] != y.shape[0]:
        raise ValueError(
            f"X.shape[0] and y.shape[0] should be the same, got {X.shape[0]} and {y.shape[0]} "
            "instead."
        )
    if query_id is not None:
        query_id = np.asarray(query_id)
        if query_id.shape != (X.shape[0],):
            raise ValueError(f"expected query_id of shape (n_samples,), got {query_id.shape}")
    if sp.issparse(X) and not X.has_sorted_indices:
        X = X.sorted_indices()
    with contextlib.ExitStack() as stack:
        file = f if hasattr(f, "write") else stack.enter_context(atomic_output(f))
        file.write(header)
        for start in range(0, X.shape[0], 4096):
            rows = slice(start, start + 4096)
            block = X[rows] if sp.issparse(X) else sp.csr_array(X[rows])
            labels, label_ends = _labels(y[rows], multilabel)
            if multilabel:
                _check_rows_have_lines(np.diff(label_ends, prepend=0), np.diff(block.indptr), start)
            qids = None if query_id is None else query_id[rows]
            file.write(_format(block, labels, label_ends, qids, zero_based, ones=False))


def format_rows(X, y, *, zero_based=False, ones=False):
    """Lines of a CSR block, as bytes; `ones` writes every value as 1."""
    ends = np.arange(1, X.shape[0] + 1)
    return _format(X, np.asarray(y, np.float64), ends, None, zero_based, ones)


def _format(X, labels, label_ends, qids, zero_based, ones):
    values = X.data
    if values.dtype.kind in "iub":
        values = values.astype(np.int64)
    elif values.dtype != np.float32:
        values = values.astype(np.float64)
    indices = X.indices if X.indices.dtype == np.int32 else X.indices.astype(np.int64)
    qids = np.empty(0, np.int64) if qids is None else np.ascontiguousarray(qids, np.int64)
    return _kernel.format_rows(
        np.ascontiguousarray(values),
        np.ascontiguousarray(indices),
        X.indptr.astype(np.int64),
        labels,
        label_ends.astype(np.int64),
        qids,
        0 if zero_based else 1,
        ones,
    )


def _labels(y, multilabel):
    """Labels of all rows one behind the other, and where each row's end."""
    if sp.issparse(y):
        y = y.toarray()
        y = y if multilabel else y.ravel()
    if not multilabel:
        return np.ascontiguousarray(y, np.float64), np.arange(1, len(y) + 1)
    y = y.reshape(len(y), -1)
    return np.nonzero(y)[1].astype(np.float64), np.cumsum(np.count_nonzero(y, axis=1))


def _check_rows_have_lines(n_labels, n_entries, first_row):
    nothing = (n_labels == 0) & (n_entries == 0)
    if nothing.any():
        raise ValueError(
            f"row {first_row + int(np.argmax(nothing))} has neither labels nor entries, and the "
            "format has no line for that"
        )


def _header(comment, zero_based):
    if comment is None:
        return b""
    if isinstance(comment, bytes):
        comment.decode("ascii")  # for its exception
    else:
        comment = comment.encode("utf-8")
    if b"\0" in comment:
        raise ValueError("comment string contains NUL byte")
    if not comment:
        return b""
    base = "zero" if zero_based else "one"
    lines = [
        f"# Generated by sparsemaps, in the manner of scikit-learn {_sklearn.version()}".encode(),
        f"# Column indices are {base}-based".encode(),
        b"#",
        *(b"# " + line for line in comment.splitlines()),
    ]
    return b"\n".join(lines) + b"\n"


@contextlib.contextmanager
def atomic_output(path):
    """A binary file object for `path`, which appears only when all went well; "-" is a pipe.

    The name's ending says whether it is compressed.
    """
    path = os.fspath(path)
    if path == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:  # a device or a named pipe: nothing to rename
            yield file
        return
    ending = os.path.splitext(path)[1]
    folder, name = os.path.split(os.path.realpath(path))
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=ending, dir=folder)
    try:
        os.close(descriptor)
        with _OPENERS.get(ending, open)(temporary, "wb") as file:
            yield file
        os.chmod(temporary, _mode(path))
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path):
    """Permissions that `path` has, or would be made with."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
