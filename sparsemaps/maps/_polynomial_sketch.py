"""Tensor sketches of a power of an inner product."""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from sparsemaps._input._row_reader import Block, most_entries
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _portable_math
from sparsemaps._tools._typing import Array, Keys
from sparsemaps.maps._sketch_costs import butterflies, factors_to_sum, join_cost

_CHUNK_BYTES = 2**19
"""Largest size of the dense sketches that are transformed together, so that they stay in cache."""


class PolynomialSketch:
    """Sketches of a power of ``scale**2 * <x, y> + extra**2``, with three words of `keys` per
    factor."""

    def __init__(
        self, keys: Keys, scale: float, extra: float, n_components: int, method: str
    ) -> None:
        self._factors = keys, scale, extra
        # The factors of the product of transforms, plus the sum over all components.
        self._most_entries = most_entries(len(keys) + 1, scale, max(extra, n_components))
        self._n_components = n_components
        self._method = method

    def max_entries(self, lengths: Array, itemsize: int) -> Array:
        """Return the largest possible number of values in rows of `lengths` entries."""
        keys, _, extra = self._factors
        if self._method == "fft":
            return np.full(len(lengths), self._n_components)
        with np.errstate(over="ignore"):
            tuples = (lengths + float(extra != 0)) ** len(keys)
        return np.minimum(tuples, self._n_components).astype(np.int64)

    def may_overflow(self, block: Block) -> bool:
        """Return whether a sketch of a row may exceed the range of its type."""
        return block.powers_may_overflow(self._most_entries)

    def write_dense(self, block: Block, out: Array) -> None:
        """Write the sketches of the rows of a block to `out`, which must be zero."""
        n_summed = self._factors_to_sum(np.diff(block.indptr), out.itemsize)
        _loops.sketch_dense(*block, *self._factors, n_summed, out)
        others = np.flatnonzero(n_summed == 0)
        step = self._chunk_rows(out)
        for first in range(0, len(others), step):
            rows = others[first : first + step]
            out[rows] = self._convolve(block, rows, out.dtype)

    def write_csr(self, block: Block, values: Array, columns: Array, lengths: Array) -> int:
        """Write the nonzero values of the rows of a block to `values` and `columns`, without gaps,
        and the number of values of each row to `lengths`. Return the total number of values."""
        n_summed = self._factors_to_sum(np.diff(block.indptr), values.itemsize)
        n_others = np.cumsum(n_summed == 0)
        step = self._chunk_rows(values)
        # Write rows in order, in ranges with at most `step` rows that are convolved.
        first = n_stored = 0
        while first < len(n_summed):
            before = n_others[first - 1] if first else 0
            last = int(np.searchsorted(n_others, before + step, side="right"))
            part, chosen = block.rows(first, last), n_summed[first:last]
            others = self._convolve(part, np.flatnonzero(chosen == 0), values.dtype)
            out = (values[n_stored:], columns[n_stored:], lengths[first:last])
            n_stored += _loops.sketch_csr(*part, *self._factors, chosen, others, *out)
            first = last
        return n_stored

    def _chunk_rows(self, array: Array) -> int:
        return max(1, _CHUNK_BYTES // (self._n_components * array.itemsize))

    def _factors_to_sum(self, lengths: Array, itemsize: int) -> npt.NDArray[np.int32]:
        """Return, for each row, the number of factors whose tuples are summed, or 0 for Fourier
        transforms."""
        keys, _, extra = self._factors
        longest = int(lengths.max(initial=0))
        rule = len(keys), extra != 0, self._n_components, self._method, itemsize
        if len(lengths) == 1:
            return _factors_for_length(longest, *rule)
        if longest + 1 < len(lengths):  # compute once per length
            return _factors_for_lengths_below(longest + 1, *rule)[lengths]
        return _factors_for_lengths(lengths, *rule)

    def _convolve(self, block: Block, rows: Array, dtype: np.dtype[Any]) -> Array:
        """Return the sketches of some rows of a block, by Fourier transforms."""
        keys, scale, extra = self._factors
        shape = (len(rows), self._n_components)
        if not len(rows):
            return np.empty(shape, dtype)
        product = None
        # Sketch as many factors at a time as fit into a chunk.
        step = max(1, _CHUNK_BYTES // (len(rows) * self._n_components * dtype.itemsize))
        for first in range(0, len(keys), step):
            some = keys[first : first + step]
            sketches = np.zeros((len(some), *shape), dtype)
            _loops.count_sketches(*block, some, scale, extra, rows, sketches)
            for transform in scipy.fft.rfft(sketches, axis=2):
                if product is None:
                    product = transform
                else:
                    _portable_math.multiply_complex(product, transform)
        sketch: Any = scipy.fft.irfft(product, n=self._n_components, axis=1, overwrite_x=True)
        return np.asarray(sketch)


@functools.lru_cache(maxsize=1024)  # takes as long as the other work for one row
def _factors_for_length(length: int, *rule: Any) -> npt.NDArray[np.int32]:
    return _factors_for_lengths(np.array([length]), *rule)


@functools.lru_cache(maxsize=64)  # takes as long as some hundred short rows
def _factors_for_lengths_below(limit: int, *rule: Any) -> npt.NDArray[np.int32]:
    return _factors_for_lengths(np.arange(limit), *rule)


def _factors_for_lengths(
    lengths: Array, degree: int, extra: bool, n_components: int, method: str, itemsize: int
) -> npt.NDArray[np.int32]:
    """Return the number of factors whose tuples are summed, for rows with the given lengths, plus
    one entry if `extra`."""
    lengths = lengths + extra
    if method == "fft":
        return np.zeros(len(lengths), np.int32)
    summed, tuples = factors_to_sum(lengths, degree, n_components, itemsize)
    if method == "auto":
        join = join_cost(n_components, itemsize)
        cost = tuples + (degree - summed) * join * lengths
        transforms = (degree + 1) * butterflies(n_components, itemsize)
        summed[cost > transforms + degree * lengths] = 0
    return summed
