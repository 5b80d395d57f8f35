"""Files in LIBSVM's format: load, dump, stream.

The functions have scikit-learn's signatures and behaviour, so that they drop in. What is better is
listed in ``docs/libsvm.md``.
"""

import contextlib
import itertools
import numbers
from collections import deque

import numpy as np
import scipy.sparse as sp

from sparsemaps import _files, _sklearn, _threads, _validation
from sparsemaps._kernels import libsvm as _kernel

__all__ = [
    "dump_svmlight_file",
    "iter_svmlight_file",
    "load_svmlight_file",
    "load_svmlight_files",
]

_BLOCK_BYTES = 2**19
"""How much text is parsed at a time: it stays in the cache, and its arrays too."""

_LARGEST = np.iinfo(np.int64).max

_BLOCK_ENTRIES = 2**16
"""How many entries are written at a time."""


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
    n_jobs=None,
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
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The result does not depend on it.

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
            n_jobs=n_jobs,
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
    n_jobs=None,
):
    """Load several LIBSVM files, all to the same number of columns.

    Parameters
    ----------
    files : sequence of str, path-like, file-like or int
        As `f` of `load_svmlight_file`.
    n_features, dtype, multilabel, query_id, offset, length, n_jobs
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
    loaded = [
        _load(f, multilabel, dtype, zero_based is False, offset, length, n_jobs) for f in files
    ]
    one_based = zero_based is False or (
        zero_based == "auto" and all(rows.largest >= 0 and rows.smallest > 0 for rows in loaded)
    )
    width = max((rows.largest + 1 - one_based for rows in loaded), default=0)
    if n_features is None:
        # As in scikit-learn, no entries at all still make one column, unless they count from 1.
        n_features = max(width, 1 - one_based, 0)
    _check_width(n_features, width)
    result = []
    for rows in loaded:
        result += rows.finish(n_features, one_based, multilabel, query_id)
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
    n_jobs=None,
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
    n_jobs : int or None, default=None
        Threads, which parse the next blocks meanwhile: two for each are held at most.

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
    _threads.resolve_n_jobs(n_jobs)
    return _iterate(path, block_bytes, n_features, dtype, multilabel, zero_based, query_id, n_jobs)


def _iterate(path, block_bytes, n_features, dtype, multilabel, zero_based, query_id, n_jobs):
    def parse(text, first_line, first_row):
        *block, n_lines = parse_lines(
            text, first_line, zero_based, n_features, dtype, multilabel, query_id
        )
        return tuple(block), n_lines, block[0].shape[0]

    with _files.open_text(path) as text:
        for block in in_order(parse, text.blocks(block_bytes), n_jobs, text.name):
            if block[0].shape[0]:
                yield block


def parse_lines(
    text, first_line, zero_based, n_features=None, dtype=np.float64, multilabel=False,
    query_id=False,
):  # fmt: skip
    """X, labels, perhaps numbers of qid, and the number of line ends of some text.

    Without `n_features`, X has the width that it needs.
    """
    part = _parse(text, first_line, multilabel, dtype, not zero_based)
    width = max(part.largest + zero_based, 0)
    if n_features is None:
        n_features = width
    _check_width(n_features, width)
    rows = _Rows.of(part, dtype).finish(n_features, not zero_based, multilabel, query_id)
    return *rows, part.n_lines


def in_order(convert, texts, n_jobs, name=""):
    """The results of ``convert(text, first_line, first_row)`` for pieces of a file, in order.

    ``convert`` returns its result, the number of line ends and that of rows. Threads do not know
    how many lines and rows are before theirs: what fails there is tried again when that is known,
    so that its error tells the place. `name` goes before the errors.
    """

    def attempt(text):
        try:
            return text, convert(text, 1, 0)
        except ValueError:
            return text, None

    line, row = 1, 0
    for text, done in _threads.stream(attempt, ((text,) for text in texts), n_jobs):
        if done is None:
            try:
                done = convert(text, line, row)
            except ValueError as error:
                raise ValueError(f"{name}{error}") from error
        result, n_lines, n_rows = done
        line += n_lines
        row += n_rows
        yield result


def _check_width(n_features, width):
    if n_features < width:
        raise ValueError(
            f"n_features was set to {n_features}, but input file contains {width} features"
        )


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


def _load(f, multilabel, dtype, one_based, offset, length, n_jobs):
    """The rows of a file."""
    spare = deque()  # arrays that are free again: new ones would cost their pages each time

    def parse(text, first_line, first_row):
        try:
            arrays = spare.pop()
        except IndexError:
            arrays = None
        part = _parse(text, first_line, multilabel, dtype, one_based, arrays)
        return (part, len(text)), part.n_lines, part.n_rows

    rows = _Rows(dtype)
    with _files.open_text(f) as text:
        size, n_read = text.length(), 0
        blocks = text.blocks(_BLOCK_BYTES, offset, length)
        for part, n_bytes in in_order(parse, blocks, n_jobs, text.name):
            n_read += n_bytes
            rows.append(part, size / n_read if size else 2)
            spare.append(part.arrays)
    return rows


class _Part:
    """Arrays of some lines: labels and where each row's end, entries likewise, numbers of qid."""

    def __init__(self, arrays, lengths, n_lines):
        self.arrays = arrays
        self.labels, self.label_ends, self.values, self.indices, self.entry_ends, self.qids = (
            array[:length] for array, length in zip(arrays, lengths, strict=True)
        )
        self.n_lines, self.n_rows = n_lines, len(self.entry_ends)
        self.smallest = int(self.indices.min(initial=_LARGEST))
        self.largest = int(self.indices.max(initial=-1))


class _Rows:
    """Rows to which parts are appended."""

    def __init__(self, dtype):
        self._values, self._indices = _Growing(dtype), _Growing(np.int32)
        self._labels, self._qids = _Growing(np.float64), _Growing(np.int64)
        self._entry_ends, self._label_ends = _Growing(np.int64), _Growing(np.int64)
        self.smallest, self.largest = _LARGEST, -1

    @classmethod
    def of(cls, part, dtype):
        rows = cls(dtype)
        rows.append(part, 1)
        return rows

    def append(self, part, growth):
        """`growth` guesses how many times as much there will be in all."""
        if part.largest > np.iinfo(np.int32).max:
            self._indices.widen(np.int64)
        self._entry_ends.append(part.entry_ends, growth, self._values.n)
        self._label_ends.append(part.label_ends, growth, self._labels.n)
        self._values.append(part.values, growth)
        self._indices.append(part.indices, growth)
        self._labels.append(part.labels, growth)
        self._qids.append(part.qids, growth)
        self.smallest = min(self.smallest, part.smallest)
        self.largest = max(self.largest, part.largest)

    def finish(self, n_features, one_based, multilabel, query_id):
        """X, labels and perhaps numbers of qid."""
        index_type = _validation.index_type(max(n_features, self._values.n))
        indices = self._indices.whole()
        if one_based:
            indices -= 1
        entry_ends = self._entry_ends.whole()
        indptr = np.zeros(len(entry_ends) + 1, index_type)
        indptr[1:] = entry_ends
        container = sp.csr_array if _sklearn.sparse_arrays_asked() else sp.csr_matrix
        X = container(
            (self._values.whole(), indices.astype(index_type, copy=False), indptr),
            shape=(len(entry_ends), n_features),
        )
        y = self._labels.whole()
        if multilabel:
            ends = [0, *self._label_ends.whole().tolist()]
            y = y.tolist()
            y = [tuple(sorted(y[a:b])) for a, b in itertools.pairwise(ends)]
        return [X, y, self._qids.whole()] if query_id else [X, y]


class _Growing:
    """An array to which others are appended."""

    def __init__(self, dtype):
        self._array, self.n = np.empty(0, dtype), 0

    def append(self, more, growth, added=0):
        """Append ``more + added``; where room is made, `growth` times what is needed now."""
        end = self.n + len(more)
        if end > len(self._array):
            # Pages that will not be written to take no memory.
            self._room(int(end * max(growth, 1)) + 1, self._array.dtype)
        here = self._array[self.n : end]
        here[:] = more
        if added:
            here += added
        self.n = end

    def widen(self, dtype):
        if self._array.dtype != dtype:
            self._room(len(self._array), dtype)

    def whole(self):
        """The array; nothing can be appended after this."""
        self._array.resize(self.n, refcheck=False)
        return self._array

    def _room(self, size, dtype):
        before, self._array = self._array, np.empty(size, dtype)
        self._array[: self.n] = before[: self.n]


def _parse(text, first_line, multilabel, dtype, one_based, arrays=None):
    """The lines of `text`, or the error that says where; `arrays` of a part are written over."""
    to_float = np.dtype(dtype) == np.float32
    arrays, lengths, n_lines, error = _kernel.parse(text, bool(multilabel), to_float, arrays)
    if error is not None:
        raise _error(text, first_line, *error)
    part = _Part(arrays, lengths, n_lines)
    if one_based and part.smallest == 0:
        raise _first_zero(text, first_line)
    if to_float:
        with np.errstate(over="ignore"):  # to infinity, as Python's float does
            part.values = part.values.astype(np.float32)
    return part


def _error(text, first_line, at, token, expected):
    before = text[:at]
    line = first_line + before.count(b"\n")
    column = at - before.rfind(b"\n")
    shown = repr(token[:40])[2:-1] + ("..." if len(token) > 40 else "")
    return ValueError(f"line {line}, column {column}: {expected}; found '{shown}'")


def _first_zero(text, first_line):
    """The error for an index 0 where they count from 1."""
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        content = line.split(b"#")[0]
        for token in content.split():
            index, colon, _ = token.partition(b":")
            if colon and index.isdigit() and int(index) == 0:
                at = sum(map(len, lines[:number])) + number + content.index(token)
                expected = "indices count from 1 unless zero_based=True"
                return _error(text, first_line, at, token, expected)
    raise AssertionError


# ---- dumping -------------------------------------------------------------------------------------


def dump_svmlight_file(
    X, y, f, *, zero_based=True, comment=None, query_id=None, multilabel=False, n_jobs=None
):
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
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The file does not depend on it.

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
    header = format_header(comment, zero_based)
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

    def entries_before(row):
        return row + (int(X.indptr[row]) if sp.issparse(X) else row * X.shape[1])

    blocks = _threads.cut_rows(
        X.shape[0], entries_before, _threads.resolve_n_jobs(n_jobs), _BLOCK_ENTRIES
    )

    def lines(start, stop):
        rows = slice(start, stop)
        if sp.issparse(X):
            values, indices, indptr = X.data, X.indices, X.indptr[start : stop + 1]
        else:
            block = sp.csr_array(X[rows])
            values, indices, indptr = block.data, block.indices, block.indptr
        labels, label_ends = _labels(y[rows], multilabel)
        if multilabel:
            _check_rows_have_lines(np.diff(label_ends, prepend=0), np.diff(indptr), start)
        qids = None if query_id is None else query_id[rows]
        return _lines(values, indices, indptr, labels, label_ends, qids, zero_based)

    write_lines(f, header, lines, blocks, n_jobs)


def write_lines(f, header, lines, blocks, n_jobs):
    """Write `header` and then ``lines(start, stop)`` of each block to a path or file object."""
    with contextlib.ExitStack() as stack:
        file = f if hasattr(f, "write") else stack.enter_context(_files.atomic_output(f))
        file.write(header)
        for text in _threads.stream(lines, blocks, n_jobs):
            file.write(text)


def format_rows(X, y, *, zero_based=False):
    """Lines of a CSR block, as bytes."""
    ends = np.arange(1, X.shape[0] + 1)
    y = np.asarray(y, np.float64)
    return _lines(X.data, X.indices, X.indptr, y, ends, None, zero_based)


def format_codes(codes, bits, y, *, zero_based=False, ones=False):
    """Lines of rows of codes as one-hot features, as bytes; `ones` writes every value as 1.

    `codes` is of int32, with -1 first in a row that has none.
    """
    value = 1 / np.sqrt(codes.shape[1])
    y = np.ascontiguousarray(y, np.float64)
    return _kernel.format_codes(codes, bits, 1.0 if ones else value, y, 0 if zero_based else 1)


def _lines(values, indices, indptr, labels, label_ends, qids, zero_based):
    """Lines of the rows that `indptr` delimits."""
    if values.dtype.kind in "iub":
        number_type = np.int64
    else:
        number_type = np.float32 if values.dtype == np.float32 else np.float64
    index_type = np.int32 if indices.dtype == np.int32 else np.int64
    if values.dtype != number_type or indices.dtype != index_type:  # convert these rows only
        here = slice(indptr[0], indptr[-1])
        values, indices, indptr = values[here], indices[here], indptr - indptr[0]
    return _kernel.format_rows(
        np.ascontiguousarray(values, number_type),
        np.ascontiguousarray(indices, index_type),
        indptr.astype(np.int64),
        labels,
        label_ends.astype(np.int64),
        np.empty(0, np.int64) if qids is None else np.ascontiguousarray(qids, np.int64),
        0 if zero_based else 1,
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


def format_header(comment, zero_based):
    """What `comment` puts first, as bytes."""
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
