"""Bias, variance and distribution of each map's kernel estimates, for pairs of rows.

`of_pairs` gives the moments of a map's estimates for pairs of rows, `of_any_pair` for a grid that
holds the worst pair. `Moments` has the variance and the coverage at each size of the map, which is
its number of components, hashes or grids.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from sparsemaps.maps._sampled_map import SampledMap
from sparsemaps.maps.count_sketch import CountSketch
from sparsemaps.maps.fastfood import MAX_DENSE_WIDTH, Fastfood
from sparsemaps.maps.kernel_product import KernelProduct
from sparsemaps.maps.minhash import MinHash
from sparsemaps.maps.random_fourier import RandomFourier
from sparsemaps.maps.random_maclaurin import RandomMaclaurin
from sparsemaps.maps.sign_projection import SignProjection
from sparsemaps.maps.tensor_sketch import TensorSketch
from sparsemaps.maps.weighted_sampling import ConsistentWeightedSampling

Array = npt.NDArray[np.float64]

_N_GRID = 1001

_N_PRODUCT_GRID = 101
"""Kernel values of each factor of a product: all pairs of them make the grid."""

_NONE = np.zeros(1)


@dataclass(frozen=True)
class Pairs:
    """What the formulas need of pairs (x, y) of rows: arrays of one shape."""

    kernel: Array
    """The exact kernel."""
    doubled: Array = field(default_factory=_NONE.copy)
    """The exact kernel of (2 x, 2 y)."""
    inner: Array = field(default_factory=_NONE.copy)
    """The inner product."""
    square_x: Array = field(default_factory=_NONE.copy)
    """The squared length of x."""
    square_y: Array = field(default_factory=_NONE.copy)
    """The squared length of y."""
    overlap: Array = field(default_factory=_NONE.copy)
    """The sum of x_i^2 y_i^2."""
    peak: Array = field(default_factory=_NONE.copy)
    """The sum of v_i^4 over the squared sum of v_i^2, with v = x - y: from 0, spread out, to 1."""
    longest: Array = field(default_factory=lambda: np.full(1, np.inf))
    """The largest |x_i| times the largest |y_i|."""
    measured: Array = field(default_factory=_NONE.copy)
    """What is known by measurement alone. Of ConsistentWeightedSampling, the rate at which i*
    agrees and t* does not; of SignProjection, the rate of agreement less the kernel."""
    factors: tuple["Pairs", ...] = ()
    """For KernelProduct, the same for its two maps."""


Law = Literal["binomial", "gamma", "normal", "jumps"]


@dataclass(frozen=True)
class Moments:
    """The distribution of a map's estimates for pairs of rows: arrays of one shape, or numbers.

    The estimate is a mean of components. Those of paired Fourier features are the cosines of
    differences, of which ``size // 2`` count whole, and that of the last column, if it has no
    partner, half.
    """

    kernel: Array
    """The exact kernel."""
    unit: Array
    """The size times the variance, for independent components."""
    law: Law
    """The distribution of the estimate. "binomial": it is a mean of independent bits. "gamma": one
    minus the estimate is gamma distributed. "normal": its error is normal. "jumps": its error is
    the sum of one jump for each two columns that share a bucket, which may be few."""
    bias: Array = field(default_factory=_NONE.copy)
    """The mean error."""
    span: float = 1.0
    """For "binomial", the difference of the two values of a component: the larger one is 1."""
    jump: Array = field(default_factory=lambda: np.full(1, np.inf))
    """For "jumps", the size of the largest one; infinite where it is not known."""
    paired: bool = False
    """Whether components are cosines of differences."""
    single: Array = field(default_factory=_NONE.copy)
    """If `paired`, the variance of the last component of an odd number, as if it were whole."""
    common: Array = field(default_factory=_NONE.copy)
    """If `paired`, the covariance of two cosines of one block."""
    block: Array = field(default_factory=_NONE.copy)
    """If `common` is not 0, the cosines of a block."""

    def variance(self, size: int) -> Array:
        """The variance at a size."""
        if not self.paired:
            return self.unit / size
        whole, odd = divmod(size, 2)
        alone = (self.unit * 2 * whole + self.single * odd) / size**2
        if not self.common.any():
            return alone
        # Ordered pairs of different cosines of one block. The last one of an odd number counts half
        # in the mean, and so in the pairs that it is part of.
        full, rest = np.divmod(whole + odd, self.block)
        n_pairs = full * self.block * (self.block - 1) + rest * (rest - 1)
        n_pairs = n_pairs - odd * (np.where(rest > 0, rest, self.block) - 1)
        return alone + 4 * self.common * n_pairs / size**2

    def coverage(self, size: int, error: float) -> Array:
        """How likely the estimate is within `error` of the kernel, at a size."""
        if self.law == "binomial":
            return self._binomial_coverage(size, error / self.span)
        variance = self._largest_variance(size)
        if self.law == "normal":
            return _normal_coverage(variance, error)
        if self.law == "jumps":
            # Of jumps of one size, the sum is normal after the correction for continuity. Where
            # they are larger than the error, Chebyshev's inequality is the best that can be said.
            by_chebyshev = 1 - np.minimum(variance / error**2, 1)
            corrected = error - self.jump / 2
            by_jumps = _normal_coverage(variance, np.maximum(corrected, 0))
            return np.where(self.jump <= error, np.maximum(by_chebyshev, by_jumps), by_chebyshev)
        # The cosine of close rows is nearly 1 - z^2 / 2, with z normal for "rbf", so that the mean
        # of several z^2 / 2 is gamma distributed. Of rows that are far apart the gamma distribution
        # is close to the normal one at all but the smallest sizes.
        mean = np.maximum(1 - self.kernel, 1e-300)
        scale = np.maximum(variance, 1e-300) / mean
        above = special.gammainc(mean / scale, (mean + error) / scale)
        below = special.gammainc(mean / scale, np.maximum(mean - error, 0) / scale)
        return np.asarray(above - below)

    def _largest_variance(self, size: int) -> Array:
        """An upper bound of the variance that falls with the size: blocks count as whole ones, and
        components of negative covariance as independent."""
        if not self.paired:
            return self.variance(size)
        others = np.minimum(size / 2, self.block) - 1
        return (self.unit + 2 * others * np.maximum(self.common, 0)) / size

    def _binomial_coverage(self, size: int, error: float) -> Array:
        kernel = 1 - (1 - self.kernel) / self.span
        rate = np.clip(kernel + self.bias / self.span, 0, 1)
        slack = 1e-9 * size  # an error that is exactly allowed counts as allowed
        most = np.minimum(np.floor(size * (kernel + error) + slack), size)
        least = np.ceil(size * (kernel - error) - slack)
        below = np.where(least > 0, special.bdtr(np.maximum(least - 1, 0), size, rate), 0.0)
        return np.asarray(special.bdtr(np.maximum(most, 0), size, rate) - below)


def _normal_coverage(variance: Array, error: float | Array) -> Array:
    return np.asarray(special.erf(error / np.sqrt(2 * np.maximum(variance, 1e-300))))


class UnknownVarianceError(ValueError):
    """There is no variance formula for a map with these parameters."""


def of_pairs(random_map: Any, pairs: Pairs) -> Moments:
    """The moments of the estimate for each of `pairs`.

    Raises UnknownVarianceError where there is no formula.
    """
    for cls, formula in _FORMULAS.items():
        if isinstance(random_map, cls):
            return formula(random_map, pairs)
    raise UnknownVarianceError(f"there is no variance formula for {type(random_map).__name__}")


def of_any_pair(random_map: Any) -> Moments:
    """The moments over a grid of pairs of rows of unit length.

    The grid runs over all kernel values, or inner products, that a map's formula depends on; what
    else it depends on has its least favourable value.
    """
    if isinstance(random_map, Fastfood) and random_map._n_columns is None:
        # All widths in one: each has another covariance.
        widths = [2**k for k in range(1, int(MAX_DENSE_WIDTH).bit_length())]
        moments = [_fastfood(random_map, _grid(random_map), width) for width in widths]
        return Moments(
            kernel=np.concatenate([one.kernel for one in moments]),
            unit=np.concatenate([one.unit for one in moments]),
            law="gamma",
            paired=True,
            common=np.concatenate([one.common for one in moments]),
            block=np.repeat(np.asarray(widths, float), _N_GRID),
        )
    return of_pairs(random_map, _grid(random_map))


def _grid(random_map: Any) -> Pairs:
    if isinstance(random_map, KernelProduct):
        values = np.linspace(0.0, 1.0, _N_PRODUCT_GRID)
        kernels = np.repeat(values, _N_PRODUCT_GRID), np.tile(values, _N_PRODUCT_GRID)
        first, second = random_map._factors
        if isinstance(first, KernelProduct) or isinstance(second, KernelProduct):
            raise UnknownVarianceError("for the product of a KernelProduct give X")
        factors = (
            Pairs(kernels[0], measured=_largest_measured(first, kernels[0])),
            Pairs(kernels[1], measured=_largest_measured(second, kernels[1])),
        )
        return Pairs(kernels[0] * kernels[1], factors=factors)
    dense_signs = isinstance(random_map, SignProjection) and random_map.dense_output
    kernel = np.linspace(-1.0 if dense_signs else 0.0, 1.0, _N_GRID)
    ones = np.ones(_N_GRID)
    doubled = kernel  # of a kernel that falls with the distance this is the upper bound
    if isinstance(random_map, RandomFourier):
        if random_map.kernel == "laplacian":
            doubled = kernel**2
        elif random_map.kernel == "rbf":
            doubled = kernel**4
    return Pairs(
        kernel=kernel,
        doubled=doubled,
        inner=np.linspace(-1.0, 1.0, _N_GRID),
        square_x=ones,
        square_y=ones,
        overlap=0 * ones,
        peak=0 * ones,
        measured=_largest_measured(random_map, kernel),
    )


def _largest_measured(random_map: Any, kernel: Array) -> Array:
    """The least favourable value of `Pairs.measured`, or an error where it is not known."""
    if isinstance(random_map, ConsistentWeightedSampling):
        return 1 - kernel  # rows of one column: i* is always the same
    if is_approximate(random_map):
        name = "distribution='rademacher'" if random_map.distribution else f"{random_map.kernel!r}"
        raise UnknownVarianceError(
            f"the rate at which signs agree is the kernel only nearly for {name}; how nearly "
            "depends on the rows: give X"
        )
    return np.zeros_like(kernel)


def factors(random_map: Any) -> list[Any]:
    """The maps of a product, or the map itself."""
    if not isinstance(random_map, KernelProduct):
        return [random_map]
    return [factor for part in random_map._factors for factor in factors(part)]


def is_approximate(random_map: Any) -> bool:
    """Whether signs agree at a rate that is the kernel only nearly."""
    return isinstance(random_map, SignProjection) and (
        random_map.kernel == "acos_chi2" or random_map.distribution is not None
    )


# ---- codes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bias:
    """The parts of the mean error whose causes are known."""

    chance: Array
    """Different samples whose codes are the same."""
    zero_bit: Array
    """Samples of the same i* and another t* whose codes are the same."""
    approximate: Array
    """Signs of vectors for which the kernel is an approximation."""


def biases(random_map: Any, pairs: Pairs) -> Bias:
    """The mean errors of the estimates for `pairs`, by their causes."""
    rates = _rates(random_map, pairs)
    return Bias(*(after - before for before, after in itertools.pairwise(rates)))


def _rates(random_map: Any, pairs: Pairs) -> list[Array]:
    """Means of the estimate: the kernel; with chance agreements; with those of samples that differ
    in t* alone; with the kernel's own error."""
    if isinstance(random_map, KernelProduct):
        first, second = map(_rates, random_map._factors, pairs.factors)
        return [one * other for one, other in zip(first, second, strict=True)]
    kernel = pairs.kernel
    chance = np.full_like(kernel, random_map._chance if isinstance(random_map, SampledMap) else 0)
    if isinstance(random_map, (ConsistentWeightedSampling, MinHash)):
        chance *= pairs.longest > 0  # rows without entries have no samples
    with_chance = kernel + (1 - kernel) * chance
    with_zero_bit, total = with_chance, with_chance
    if isinstance(random_map, ConsistentWeightedSampling):
        total = with_zero_bit = with_chance + pairs.measured * (2.0**-random_map.t_bits - chance)
    elif is_approximate(random_map):
        total = with_chance + pairs.measured
    return [kernel, with_chance, with_zero_bit, total]


def _sampled(random_map: Any, pairs: Pairs) -> Moments:
    """The mean of independent bits. For MinHash their variance is at most this."""
    span = 2.0 if isinstance(random_map, SignProjection) and random_map.dense_output else 1.0
    known = biases(random_map, pairs)
    bias = known.chance + known.zero_bit + known.approximate
    mean = pairs.kernel + bias
    unit = np.maximum((mean - 1 + span) * (1 - mean), 0)
    return Moments(pairs.kernel, unit, "binomial", bias=bias, span=span)


def _product(product: Any, pairs: Pairs) -> Moments:
    if not product.has_codes:
        raise UnknownVarianceError(
            "there is no variance formula for KernelProduct with a map of dense output"
        )
    return _sampled(product, pairs)


# ---- Fourier features ----------------------------------------------------------------------------


def _fourier(fourier: Any, pairs: Pairs) -> Moments:
    k, doubled = pairs.kernel, pairs.doubled
    if fourier.kernel == "folded_rbf":
        return Moments(k, _folded(float(_gamma_of(fourier)), pairs), "normal")
    offset = 1 + doubled / 2 - k**2
    if fourier.form == "offset":
        return Moments(k, offset, "normal")
    return Moments(k, 1 + doubled - 2 * k**2, "gamma", paired=True, single=offset)


def _gamma_of(random_map: Any) -> float:
    """The gamma in use, or the parameter of a map that is not fitted."""
    gamma = random_map._parameters_in_use()["gamma"]
    if isinstance(gamma, str):
        raise ValueError(f"the map must be fitted first, as its gamma is {gamma!r}")
    return float(gamma)


def _folded(gamma: float, pairs: Pairs) -> Array:
    """cos <w, x> cos <w, y> for normal w of variance gamma: the second moment is a sum of four."""
    squares = pairs.square_x + pairs.square_y
    near, far = squares - 2 * pairs.inner, squares + 2 * pairs.inner
    kernel = (np.exp(-gamma * near / 2) + np.exp(-gamma * far / 2)) / 2
    second = (1 + np.exp(-2 * gamma * pairs.square_x) + np.exp(-2 * gamma * pairs.square_y)) / 4
    second = second + (np.exp(-2 * gamma * near) + np.exp(-2 * gamma * far)) / 8
    return np.asarray(second - kernel**2)


def _fastfood(fastfood: Any, pairs: Pairs, width: int | None = None) -> Moments:
    if fastfood._parameters_in_use()["hash_dim"] is not None:
        raise UnknownVarianceError(
            "there is no variance formula for Fastfood where hash_dim shortens rows first"
        )
    if fastfood.kernel != "rbf":
        raise UnknownVarianceError(
            f"there is no variance formula for Fastfood with kernel={fastfood.kernel!r}"
        )
    if width is None:
        width = fastfood._padded_width(fastfood._n_columns)
    k = pairs.kernel
    return Moments(
        k,
        (1 - k**2) ** 2,
        "gamma",
        paired=True,
        single=1 + k**4 / 2 - k**2,
        common=_covariance_in_block(k, pairs.peak, width),
        block=np.full_like(k, width),
    )


_N_TERMS = 200
"""Terms of a series in x of at most `_LARGEST_EXPONENT`; the later ones are below 1e-30."""

_LARGEST_EXPONENT = 50.0
"""-log of the kernel. Kernels of rows that are farther apart are 0 up to 1e-21."""

_N_ORDERS = 12


def _covariance_in_block(kernel: Array, peak: Array, width: int) -> Array:
    r"""Covariance of two cosines of one of Fastfood's blocks, for the Gaussian kernel.

    Let v be the difference of the rows, times the root of 2 gamma, d the width, h = d / 2, and
    x = |v|^2 / 2, so that the kernel is exp(-x). Two projections are the products of independent
    lengths, chi distributed, with the inner products of a vector g, uniform on the sphere, and two
    vectors of length |v| whose cosine r depends on the signs B and the permutation. Averaged over g
    and the lengths, the product of their cosines is

        sum over m = 0, 1, ... of (2 x r)^(2 m) (h)_m^2 / ((2 m)! (h)_2m)
                                  * 1F1(2 h + 2 m, h + 2 m, -x),

    with (h)_m the rising factorial. The mean of r^2 is s = (2 - 2 peak) / (d - 1). The higher
    moments of r are taken as those of a normal number, at most s, as \|r\| <= 1. The covariance is
    exact where the rows differ in one column, or d is 2 and the columns differ alike, and otherwise
    too large by terms of order s^2.
    """
    x = -np.log(np.maximum(kernel, np.exp(-_LARGEST_EXPONENT)))
    half = width / 2
    square = (2 - 2 * np.maximum(peak, 1 / width)) / (width - 1)
    covariance = _kummer(x, half, 0, less_kernel=True)
    factor, normal_moment = np.ones_like(x), np.ones_like(x)
    for m in range(1, _N_ORDERS + 1):
        # (h)_m^2 / (h)_2m, (2 x)^2m / (2 m)! and the moment of r of order 2 m, from the last ones.
        of_lengths = (half + m - 1) ** 2 / ((half + 2 * m - 2) * (half + 2 * m - 1))
        factor = factor * of_lengths * (2 * x) ** 2 / ((2 * m - 1) * (2 * m))
        normal_moment = normal_moment * (2 * m - 1) * square
        term = factor * _kummer(x, half, m)
        if m > 1:
            term = np.maximum(term, 0)
        covariance = covariance + term * np.minimum(normal_moment, square)
    return covariance


def _kummer(x: Array, half: float, m: int, less_kernel: bool = False) -> Array:
    """1F1(2 h + 2 m, h + 2 m, -x); with `less_kernel`, less exp(-2 x), to full relative precision.

    By Kummer's transformation it is exp(-x) 1F1(-h, h + 2 m, x).
    """
    term, ratio, total = np.exp(-x), 1.0, np.zeros_like(x)
    for n in range(_N_TERMS):
        total += term * (ratio - 1 if less_kernel else ratio)
        ratio *= (half - n) / (half + 2 * m + n)
        term = term * (-x) / (n + 1)
    return total


# ---- sketches ------------------------------------------------------------------------------------


def _count_sketch(_: Any, pairs: Pairs) -> Moments:
    lengths = pairs.square_x * pairs.square_y
    unit = lengths + pairs.inner**2 - 2 * pairs.overlap
    return Moments(pairs.kernel, unit, "jumps", jump=2 * pairs.longest)


def _tensor_sketch(sketch: Any, pairs: Pairs) -> Moments:
    """The variance of the sketch by fully random hashes, up to terms of 1 / n_components^2.

    In the second moment each factor contributes the same pair twice (`same`), or two different
    columns of x with two of y in one of two ways (`straight`, `crossed`). Products in which all
    factors are `same` always count; others if their one sum of hashes is 0.
    """
    gamma, coef0, degree = sketch.gamma, sketch.coef0, sketch.degree
    inner = gamma * pairs.inner + coef0
    lengths = (gamma * pairs.square_x + coef0) * (gamma * pairs.square_y + coef0)
    overlap = gamma**2 * pairs.overlap + coef0**2
    same, straight, crossed = inner**2, lengths - overlap, inner**2 - overlap
    unit = (same + straight) ** degree + (same + crossed) ** degree - 2 * same**degree
    # Two columns that meet in one factor change as much as in a count sketch, times what the other
    # factors have.
    longest = gamma * pairs.longest + coef0
    jump = 2 * longest * np.sqrt(lengths) ** (degree - 1)
    return Moments(pairs.kernel, unit, "jumps", jump=jump)


def _maclaurin(maclaurin: Any, pairs: Pairs) -> Moments:
    series = maclaurin._series()
    first = 2 if maclaurin.h01 else 0
    degrees = first + np.flatnonzero(series[first:] > 0)
    odds = 2.0 ** -(degrees - degrees[:1]).astype(float)
    probabilities = odds / odds.sum()
    product = pairs.square_x * pairs.square_y + 2 * pairs.inner**2 - 2 * pairs.overlap
    second, mean = np.zeros_like(product), np.zeros_like(product)
    for degree, probability in zip(degrees, probabilities, strict=True):
        second += series[degree] ** 2 / probability * product**degree
        mean += series[degree] * pairs.inner**degree
    return Moments(pairs.kernel, second - mean**2, "jumps")


_FORMULAS: dict[type, Callable[[Any, Pairs], Moments]] = {
    KernelProduct: _product,
    SampledMap: _sampled,
    CountSketch: _count_sketch,
    Fastfood: _fastfood,
    RandomFourier: _fourier,
    RandomMaclaurin: _maclaurin,
    TensorSketch: _tensor_sketch,
}
