"""Laws of sketches and features of power series of the inner product."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from sparsemaps import kernels
from sparsemaps._tools import _portable_math
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.laws._law import ONE_NUMBER_RULE, Law
from sparsemaps.laws._moments import Bias, Moments, Pairs


def name_of(kernel: object) -> str:
    """Return the name of a kernel, or "" for the coefficients of a series, which may be an
    array."""
    return kernel if isinstance(kernel, str) else ""


@dataclass(frozen=True, kw_only=True, eq=False)
class _SeriesLaw(Law):
    is_of_inner_products = True

    kernel: Any
    degree: int
    gamma: float
    coef0: float
    factor: float
    """Factor of inner products in a series."""
    coefficients: Array
    """a_0, a_1, ... of a series; for "rbf", the coefficients of exp."""

    @property
    def _named(self) -> str:
        return name_of(self.kernel)

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        if self._named == "poly":
            return kernels.polynomial_kernel(
                X, Y, degree=self.degree, gamma=self.gamma, coef0=self.coef0, n_jobs=n_jobs
            )
        if self._named == "rbf":
            return kernels.rbf_kernel(X, Y, gamma=self.gamma, n_jobs=n_jobs)
        products = kernels.polynomial_kernel(X, Y, degree=1, gamma=1, coef0=0, n_jobs=n_jobs)
        if self._named == "exp":
            return _portable_math.exp(float(self.gamma) * products).astype(products.dtype)
        arguments = products if self.factor == 1 else self.factor * products
        return np.polyval(self.coefficients[::-1], arguments)


@dataclass(frozen=True, kw_only=True, eq=False)
class MaclaurinLaw(_SeriesLaw):
    """The law of `RandomMaclaurin`."""

    degrees: tuple[Array, Array]
    """Possible degrees of features, and their probabilities."""
    h01: bool
    """Whether the terms of degree 0 and 1 are exact."""

    @property
    def why_not_second(self) -> str | None:
        return ONE_NUMBER_RULE if self.h01 else None

    def moments(self, pairs: Pairs) -> Moments:
        same, crossed = pairs.inner**2, pairs.inner**2 - pairs.overlap
        more = pairs.square_x * pairs.square_y - pairs.overlap + crossed
        degrees, probabilities = self.degrees
        powers = [self.coefficients[degree] * pairs.inner**degree for degree in degrees]
        mean = sum(powers, np.zeros_like(more))
        # The variance within each degree, plus the variance of the means of the degrees.
        unit = np.zeros_like(more)
        for degree, probability, power in zip(degrees, probabilities, powers, strict=True):
            within = self.coefficients[degree] ** 2 * _gain(same, more, degree)
            unit += within / probability + probability * (power / probability - mean) ** 2
        return Moments(pairs.kernel, unit, "jumps")


@dataclass(frozen=True, kw_only=True, eq=False)
class TensorSketchLaw(_SeriesLaw):
    """The law of `TensorSketch`, for one power or for a series."""

    shares_buckets = True

    def moments(self, pairs: Pairs) -> Moments:
        if self._named != "poly":
            gamma, factor = self._scales(pairs)
            unit = unit_variance(self.coefficients, gamma, pairs) * factor**2
            return Moments(pairs.kernel, unit, "jumps", bias=self._left_out(pairs))
        gamma, coef0, degree = self.gamma, self.coef0, self.degree
        inner = gamma * pairs.inner + coef0
        lengths = (gamma * pairs.square_x + coef0) * (gamma * pairs.square_y + coef0)
        overlap = gamma**2 * pairs.overlap + coef0**2
        same, straight, crossed = inner**2, lengths - overlap, inner**2 - overlap
        unit = _gain(same, straight, degree) + _gain(same, crossed, degree)
        # Two columns that collide in one factor change the estimate as in a count sketch, times the
        # other factors.
        longest = gamma * pairs.longest + coef0
        jump = 2 * longest * np.sqrt(lengths) ** (degree - 1)
        return Moments(pairs.kernel, unit, "jumps", jump=jump)

    def bias(self, pairs: Pairs) -> Bias:
        return Bias(approximate=self._left_out(pairs))

    def _scales(self, pairs: Pairs) -> tuple[float, Array]:
        """Return the factor of inner products in a series, and the factor of the series' values."""
        gamma = float(self.gamma)
        if self._named != "rbf":
            return gamma, np.ones(1)
        return 2 * gamma, np.exp(-gamma * (pairs.square_x + pairs.square_y))

    def _left_out(self, pairs: Pairs) -> Array:
        """Return the mean error from truncating a series: minus the terms above its last degree."""
        if self._named in ("poly", ""):
            return np.zeros_like(pairs.kernel)
        gamma, factor = self._scales(pairs)
        product, degree = gamma * pairs.inner, len(self.coefficients)
        first = product**degree / scipy.special.factorial(degree)
        return np.asarray(-first * scipy.special.hyp1f1(1, degree + 1, product) * factor)


def _gain(base: Array, more: Array, degree: int) -> Array:
    """Return ``(base + more) ** degree - base ** degree``, without cancellation if `more` is
    small."""
    gain = np.zeros_like(base)
    for lower in range(degree):
        gain = gain * (base + more) + base**lower
    return gain * more


def unit_variance(coefficients: Any, gamma: float, pairs: Pairs) -> Array:
    """Return the variance of a sketch of a series with fully random hashes, times the number of
    components, up to terms of one over that number.

    The sketch of x is the sum over the degrees m of sqrt(a_m) T_m(x), where T_m is the convolution
    of the first m count sketches. An estimate is therefore the sum over two degrees m, n of
    sqrt(a_m a_n) <T_m(x), T_n(y)>, which has mean 0 unless m = n. Besides the variance of each
    degree alone, its square has these terms for degrees low < high:

    - the products of (low, low) and (high, high), minus the products of their means: `equal`;
    - the products of (low, high) and (high, low): `between`;
    - the squares of (low, high) and of (high, low): `within`.

    In each factor that both degrees share, two columns of x and two of y are in one bucket, with
    signs that cancel if the columns are equal in pairs: each column of x with one of y (`same`, or
    `crossed` with other columns), or both of x and both of y (`straight`, with other columns). In
    `within`, the base is the last kind with any columns, and `crossed` is for x with y of one
    estimate, which has the same value. A factor that only the higher degree has contributes the
    inner product or, in `within`, a squared length.

    The literature bounds the variance of a single power (Avron, Nguyen & Woodruff, "Subspace
    embeddings for the polynomial kernel", NIPS 2014, lemma 2), but not of a series.
    """
    inner, overlap = gamma * pairs.inner, gamma**2 * pairs.overlap
    square_x, square_y = gamma * pairs.square_x, gamma * pairs.square_y
    same, straight, crossed = inner**2, square_x * square_y - overlap, inner**2 - overlap
    unit = np.zeros_like(inner)
    for low, a in enumerate(coefficients):
        equal = _gain(same, straight, low) + _gain(same, crossed, low)
        within = (square_x * square_y + crossed) ** low
        between = (same + crossed) ** low
        unit = unit + a**2 * equal
        for high in range(low + 1, len(coefficients)):
            more, b = high - low, coefficients[high]
            unit = unit + 2 * a * b * inner**more * (equal + between)
            unit = unit + a * b * within * (square_x**more + square_y**more)
    return unit
