"""What all maps share: scikit-learn's estimator API, the doors, threads, and output containers.

Two kinds of maps stand on it. A plain `SparseMap` says in ``_map`` what its output is. A
`SampledMap` draws `n_hashes` small integers for each row, and has one-hot and packed output from
here.
"""

from abc import ABC, abstractmethod
from collections import deque

import numpy as np
import scipy.sparse as sp

from sparsemaps import _seeding, _sklearn, _threads, _validation
from sparsemaps._arrays import GrowingArray
from sparsemaps._kernels import projection as _projection
from sparsemaps._kernels.code_output import NUMBERS, ONE_HOT_COLUMNS, PACKED

_CHUNK_BYTES = 2**21
"""Largest size of what a thread holds of its rows before it writes them."""

_PART_SIZE = 2**18
"""Entries of CSR output that a thread writes before they go to their place."""


class SparseMap(
    _sklearn.ClassNamePrefixFeaturesOutMixin,
    _sklearn.TransformerMixin,
    _sklearn.BaseEstimator,
    ABC,
):
    """A random feature map: a pure function of (seed, row), the same for every row.

    ``fit`` looks at the shape and checks the data; it learns nothing from them, unless a parameter
    asks for it (``_learn``). A subclass has

    - ``_check_parameters()``, which raises where a parameter is not what is allowed;
    - ``_n_features_out``, the width of the output;
    - ``_map(rows)``, the output for a `sparsemaps._validation.Rows`;
    - ``_nonnegative``, where it takes no negative values, the sentence that says how to go on;
    - ``_shares_columns``, whether larger blocks make its rows cheaper.
    """

    _nonnegative = None
    _shares_columns = False

    def fit(self, X, y=None):
        """Check parameters and data, and draw the seed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Only its number of columns is kept.
        y : None
            Ignored; here for scikit-learn's pipelines.

        Returns
        -------
        self : object
            The fitted map.

        Raises
        ------
        ValueError
            If a parameter is not one of the allowed, or X is not finite, sound and, where the
            kernel needs it, non-negative.
        """
        self._check_parameters()
        rows = self._open(X, reset=True)
        self._run(rows, lambda block, start, stop: None)
        self._learn(rows)
        return self._draw()

    def transform(self, X):
        """Map each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with int32 or int64 indices is read in place; other formats are converted.

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_features_out)
            float32 if `X` is float32, otherwise float64. Sparse output is CSR: a ``csr_array`` if
            `X` is a sparse array or scikit-learn's ``sparse_interface`` asks for it, otherwise a
            ``csr_matrix``.

        Raises
        ------
        ValueError
            As in ``fit``, and if the number of columns is another.
        """
        return self._align(self._map(self._open_fitted(X)), X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self._nonnegative is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @abstractmethod
    def _check_parameters(self):
        """Raise a ValueError that names the parameter which is not allowed."""

    @property
    @abstractmethod
    def _n_features_out(self):
        """Width of the output."""

    @abstractmethod
    def _map(self, rows):
        """Output for `rows`: an ndarray or a csr_array."""

    def _fit_any_width(self):
        """Like ``fit``, with no matrix to look at: for streams, whose width nobody knows."""
        self._check_parameters()
        self._learn(None)
        return self._draw()

    def _learn(self, rows):
        """Keep of `rows`, or of None where there is no matrix, what a parameter asks for."""

    def _transform_any_width(self, X, first_row=0):
        """The output for a CSR block; errors count its rows from `first_row`."""
        return self._map(_validation.open_rows(X, self._nonnegative, first_row))

    def _draw(self):
        self.seed_ = _seeding.draw_seed(self.random_state)
        return self

    def _open(self, X, *, reset):
        """`X`, checked as scikit-learn does, as Rows."""
        if sp.issparse(X):
            rows = _validation.open_rows(X, self._nonnegative)
            self._check_shape(X, reset)
            return rows
        X = _sklearn.validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",  # data frames of sparse columns become that
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,  # Rows does, and names the row
            ensure_min_samples=1 if reset else 0,
        )
        if sp.issparse(X):
            return _validation.open_rows(X, self._nonnegative)
        return _validation.Rows(X, self._nonnegative)

    def _check_shape(self, X, reset):
        """What scikit-learn asks of the shape of a sparse matrix."""
        for length, what, least in zip(
            X.shape, ("sample(s)", "feature(s)"), (int(reset), 1), strict=True
        ):
            if length < least:
                raise ValueError(
                    f"Found array with {length} {what} (shape={X.shape}) while a minimum of "
                    f"{least} is required by {type(self).__name__}."
                )
        _sklearn.validate_data(self, X, reset=reset, skip_check_array=True)

    def _open_fitted(self, X):
        _sklearn.check_is_fitted(self)
        self._check_parameters()  # they may have been set since
        return self._open(X, reset=False)

    def _run(self, rows, function):
        """Call ``function(block, start, stop)`` for blocks of `rows`; results in order."""
        return _threads.run(
            lambda start, stop: function(rows.block(start, stop), start, stop),
            self._cut(rows),
            self.n_jobs,
        )

    def _run_csr(self, rows, most, write, width=None):
        """CSR output whose rows have as many entries as ``write`` finds.

        ``write(block, values, columns, lengths)`` fills rows one behind the other and returns how
        many entries there are; ``most(lengths)`` says how many rows of so many input entries have
        at most; `width` is that of the output, if it is not ``_n_features_out``.
        """
        width = self._n_features_out if width is None else width
        blocks = [
            (start + first, start + last)
            for start, stop in self._cut(rows)
            for first, last in _cut_by_size(most(rows.lengths(start, stop)))
        ]
        sizes = [int(most(rows.lengths(*block)).sum()) for block in blocks]
        at_most = sum(sizes)
        index_type = _validation.index_type(max(at_most, width))
        values, columns = GrowingArray(rows.dtype, at_most), GrowingArray(index_type, at_most)
        indptr = np.zeros(rows.n_rows + 1, index_type)
        parts = deque()  # arrays that are free again: new ones would cost their pages each time

        def write_block(start, stop):
            block = rows.block(start, stop)
            if most(np.diff(block.indptr)).sum() > max(sizes):
                raise ValueError("X has got more entries while it was mapped")
            try:
                part = parts.pop()
            except IndexError:
                part = np.empty(max(sizes), rows.dtype), np.empty(max(sizes), index_type)
            return part, write(block, *part, indptr[1 + start : 1 + stop])

        for part, n in _threads.stream(write_block, blocks, self.n_jobs):
            values.append(part[0][:n])
            columns.append(part[1][:n])
            parts.append(part)
        np.cumsum(indptr, out=indptr)
        arrays = values.finish(), columns.finish(), indptr
        return sp.csr_array(arrays, shape=(rows.n_rows, width))

    def _cut(self, rows):
        """The blocks (start, stop) of `rows` that ``_run`` takes."""
        n_jobs = _threads.resolve_n_jobs(self.n_jobs)
        at_most = _threads.BLOCK_ENTRIES * (2 if self._shares_columns else 1)
        return _threads.cut_rows(rows.n_rows, rows.work_before, n_jobs, at_most)

    @staticmethod
    def _align(output, X):
        """A sparse `output` in the container that belongs to `X`."""
        if not sp.issparse(output):
            return output
        if _sklearn.sparse_arrays_asked() or isinstance(X, sp.sparray):
            return output
        return sp.csr_matrix(output)


class SampledMap(SparseMap):
    """A map that draws `n_hashes` codes of a few bits for each row, such that the rate at which two
    rows' codes agree is the kernel.

    A subclass has, beside what `SparseMap` says,

    - ``_code_bits``, the number of bits of a code;
    - ``_write_codes(block, layout, out)``, which writes the codes of a block's rows in one of three
      layouts: ``PACKED`` into bytes, all 0 in a row that has no sample; ``NUMBERS``, the codes as
      int32; ``ONE_HOT_COLUMNS``, of int32 or int64, ``j * 2**bits + code`` for code j. Numbers and
      columns are -1 in a row that has no sample.
    """

    @property
    @abstractmethod
    def _code_bits(self):
        """Bits of one code."""

    @abstractmethod
    def _write_codes(self, block, layout, out):
        """Write the codes of a block's rows into `out`."""

    @property
    def _n_features_out(self):
        return self.n_hashes << self._code_bits

    def encode(self, X):
        """Map each row of `X` to packed codes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in ``transform``.

        Returns
        -------
        codes : ndarray of uint8, shape (n_samples, ceil(n_hashes * bits / 8))
            The codes of a row one behind the other, lowest bit first, as
            ``np.packbits(..., bitorder="little")`` lays them out; `bits` includes `t_bits` where a
            map has them. A row that has no sample is all zeros: drop such rows before comparing.
        """
        rows = self._open_fitted(X)
        bits = self._code_bits
        out = np.empty((rows.n_rows, (self.n_hashes * bits + 7) // 8), np.uint8)

        self._run(
            rows, lambda block, start, stop: self._write_codes(block, PACKED, out[start:stop])
        )
        return out

    def _codes_any_width(self, X, first_row=0):
        """The codes of a CSR block as numbers, -1 in rows without; errors count its rows from
        `first_row`."""
        rows = _validation.open_rows(X, self._nonnegative, first_row)
        out = np.empty((rows.n_rows, self.n_hashes), np.int32)
        self._run(
            rows, lambda block, start, stop: self._write_codes(block, NUMBERS, out[start:stop])
        )
        return out

    def _map(self, rows):
        columns, indptr, _ = self._one_hot(rows)
        values = np.full(len(columns), 1 / np.sqrt(self.n_hashes), rows.dtype)
        return sp.csr_array((values, columns, indptr), shape=(rows.n_rows, self._n_features_out))

    def _one_hot(self, rows):
        """Where the output's entries stand, as CSR's columns and indptr; which rows have any."""
        width, n_stored = self._n_features_out, rows.n_rows * self.n_hashes
        index_type = _validation.index_type(max(width, n_stored))
        columns = np.empty((rows.n_rows, self.n_hashes), index_type)
        self._run(
            rows,
            lambda block, start, stop: self._write_codes(
                block, ONE_HOT_COLUMNS, columns[start:stop]
            ),
        )
        sampled = columns[:, 0] >= 0
        indptr = np.zeros(rows.n_rows + 1, index_type)
        np.cumsum(sampled, out=indptr[1:])
        indptr *= self.n_hashes
        return keep_rows(columns, sampled).reshape(-1), indptr, sampled


def chunks(n_rows, row_bytes):
    """Ranges of rows, for which scratch of `row_bytes` each stays small."""
    step = max(1, _CHUNK_BYTES // max(row_bytes, 1))
    for first in range(0, n_rows, step):
        yield first, min(first + step, n_rows)


def uniforms(key, n):
    """Uniform numbers in (0, 1), one for each component."""
    words = np.empty(n, np.uint64)
    _projection.random_words(key, words)
    return ((words >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52


def _cut_by_size(sizes):
    """Ranges of rows whose `sizes` add up to at most `_PART_SIZE`, or of one row."""
    before = np.concatenate([[0], np.cumsum(sizes)])
    start = 0
    while start < len(sizes):
        stop = np.searchsorted(before, before[start] + _PART_SIZE, side="right") - 1
        stop = max(int(stop), start + 1)
        yield start, stop
        start = stop


def keep_rows(array, kept, step=4096):
    """``array[kept]``, moved up within `array` so that no second one is held."""
    n_kept = int(np.count_nonzero(kept))
    if n_kept < len(array):
        end = 0
        for start in range(0, len(array), step):
            moving = array[start : start + step][kept[start : start + step]]
            array[end : end + len(moving)] = moving
            end += len(moving)
    return array[:n_kept]
