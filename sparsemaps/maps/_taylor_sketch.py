"""Tensor sketches of power series, which combine the sketches of all degrees."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from sparsemaps._input._row_reader import Block, most_entries
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _portable_math, _seeding
from sparsemaps._tools._typing import Array
from sparsemaps.kernels._gram import sums_of_rows, values_of
from sparsemaps.maps._sketch_costs import butterflies, factors_to_sum, join_cost

MOST_DEGREES = 256


def degree_for(mean: float, poisson: bool, tolerance: float) -> int | None:
    """Return the least p for which the sum of mean^n / n! over n > p is at most `tolerance`.

    For `poisson`, the sum is multiplied by e^-mean. Return None if p or the mean exceeds
    `MOST_DEGREES`.
    """
    if mean > MOST_DEGREES:
        return None
    term = math.exp(-mean) if poisson else 1.0
    terms = [term]
    while len(terms) <= 4 * MOST_DEGREES:  # later terms are below 1e-200
        term *= mean / len(terms)
        terms.append(term)
    rest = np.cumsum(terms[::-1])[::-1]  # from each degree on
    enough = np.flatnonzero(rest[1 : MOST_DEGREES + 2] <= tolerance)
    return int(enough[0]) if len(enough) else None


class TaylorSketch:
    """Sketches of a power series, the sum of a_n <x, y>^n.

    With count sketches C_1, C_2, ... and the product F_n of the Fourier transforms of the first n,
    the sketch is the inverse transform of the sum of root(a_n) s_n F_n, where each degree has a
    random sign s_n and is shifted cyclically by a random number of places. Products of different
    degrees therefore vanish on average.

    Keys come from the seed and the `parameters`; rows are multiplied by `scale`. The sketch of x is
    multiplied by ``exp(-damping * |x|**2)``.
    """

    def __init__(
        self,
        seed: int,
        parameters: tuple[Any, ...],
        coefficients: Any,
        scale: float,
        n_components: int,
        method: str,
        damping: float = 0.0,
    ) -> None:
        n = len(coefficients)
        keys = _seeding.keys(seed, "tensor_sketch", 3 * n, *parameters)
        self._keys = keys[: 3 * (n - 1)].reshape(-1, 3)
        signs = np.where(_seeding.uniforms(keys[-2], n) < 0.5, 1.0, -1.0)
        self._weights = signs * np.sqrt(np.asarray(coefficients, float))
        largest = max(1.0, n_components * float(abs(self._weights).sum()))
        self._most_entries = most_entries(n, scale, largest)
        self._shifts = (_seeding.uniforms(keys[-1], n) * n_components).astype(np.int64)
        self._scale = scale
        self._n_components = n_components
        self._method = method
        self._damping = damping

    def max_entries(self, lengths: Array, itemsize: int) -> Array:
        """Return the largest possible number of values in rows of `lengths` entries."""
        tuples, power = np.ones(len(lengths)), np.ones(len(lengths))
        for _ in self._weights[1:]:
            power = np.minimum(power * lengths, self._n_components)
            tuples = np.minimum(tuples + power, self._n_components)
        tuples = tuples.astype(np.int64)
        return np.where(self._is_direct(lengths, itemsize), tuples, self._n_components)

    def may_overflow(self, block: Block) -> bool:
        """Return whether a sketch of a row may exceed the range of its type."""
        return block.powers_may_overflow(self._most_entries)

    @np.errstate(over="ignore", invalid="ignore")
    def write_dense(self, block: Block, out: Array) -> None:
        """Write the sketches of the rows of a block to `out`, which must be zero."""
        direct = self._is_direct(np.diff(block.indptr), out.itemsize)
        for part, here in block.parts(4 * self._n_components * out.itemsize):
            chosen = direct[here]
            if chosen.any():
                self._add_directly(part, chosen, out[here])
            others = np.flatnonzero(~chosen)
            if len(others):
                out[here][others] = self._convolved(part, others, out.dtype)
        if self._damping:
            squares = self._damping * sums_of_rows(block, np.square(values_of(block)))
            factors = _portable_math.exp(-squares)
            # A subnormal factor has lost digits, so it is split into two.
            tiny = np.flatnonzero(factors < np.finfo(out.dtype).tiny)
            halves = _portable_math.exp(-squares[tiny] / 2).astype(out.dtype)[:, None]
            damped = out[tiny] * halves * halves if len(tiny) else None
            out *= factors.astype(out.dtype)[:, None]
            if damped is not None:
                out[tiny] = damped

    def write_csr(self, block: Block, values: Array, columns: Array, lengths: Array) -> int:
        """Write the nonzero values of rows, as in `PolynomialSketch`."""
        n_stored, none = 0, (np.zeros((1, 3), np.uint64), 1.0, 0.0)
        for part, here in block.parts(4 * self._n_components * values.itemsize):
            dense = np.zeros((part.n_rows, self._n_components), values.dtype)
            self.write_dense(part, dense)
            n_summed = np.zeros(part.n_rows, np.int32)
            out = (values[n_stored:], columns[n_stored:], lengths[here])
            n_stored += _loops.sketch_csr(*part, *none, n_summed, dense, *out)
        return n_stored

    def _is_direct(self, lengths: Array, itemsize: int) -> npt.NDArray[np.bool_]:
        """Return, for rows with the given lengths, whether each degree is summed directly."""
        if self._method != "auto":
            return np.full(len(lengths), self._method == "direct")
        join = join_cost(self._n_components, itemsize)
        cost = np.zeros(len(lengths))
        for degree in range(1, len(self._weights)):
            summed, tuples = factors_to_sum(lengths, degree, self._n_components, itemsize)
            cost += tuples + join * (1 + (degree - summed) * lengths)
        transforms = 2 * len(self._weights) * butterflies(self._n_components, itemsize)
        return cost <= transforms

    def _add_directly(self, block: Block, chosen: npt.NDArray[np.bool_], out: Array) -> None:
        lengths = np.diff(block.indptr)
        for degree, (weight, shift) in enumerate(zip(self._weights, self._shifts, strict=True)):
            if weight == 0:
                continue
            of_degree = np.zeros_like(out)
            if degree == 0:
                of_degree[chosen, 0] = 1
            else:
                summed, _ = factors_to_sum(lengths, degree, self._n_components, out.itemsize)
                summed[~chosen] = 0
                factors = self._keys[:degree], self._scale, 0.0
                _loops.sketch_dense(*block, *factors, summed, of_degree)
            of_degree *= out.dtype.type(weight)
            # Add whole arrays, because NumPy crashes if it runs out of memory while it adds slices.
            out += np.roll(of_degree, shift, axis=1)

    def _convolved(self, block: Block, rows: Array, dtype: np.dtype[Any]) -> Array:
        """Return the sketches of some rows of a block, by Fourier transforms."""
        n = self._n_components
        frequencies = np.arange(n // 2 + 1)
        product = total = None
        sketches = np.zeros((1, len(rows), n), dtype)
        for degree, (weight, shift) in enumerate(zip(self._weights, self._shifts, strict=True)):
            if degree:
                sketches[:] = 0
                _loops.count_sketches(
                    *block, self._keys[degree - 1 : degree], self._scale, 0.0, rows, sketches
                )
                factor: Any = scipy.fft.rfft(sketches[0], axis=1)
                if product is None:
                    product = factor
                else:
                    _portable_math.multiply_complex(product, factor)
            turns = -2j * np.pi / n * (frequencies * shift % n)
            shifted = np.exp(turns).astype(np.result_type(dtype, np.complex64))
            shifted *= dtype.type(weight)
            if total is None:  # the transform of degree 0 is 1
                total = np.repeat(shifted[None], len(rows), axis=0)
            elif weight and product is not None:
                of_degree = product.copy()
                _portable_math.multiply_complex(of_degree, shifted)
                total += of_degree
        return np.asarray(scipy.fft.irfft(total, n=n, axis=1, overwrite_x=True))
