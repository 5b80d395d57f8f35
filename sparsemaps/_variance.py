"""Bias and variance of each map's kernel estimates, as published, for pairs of rows.

A map's estimate of a kernel value is a mean over its components, so that its variance is
``unit_variance / size`` with `size` the number of components, hashes or grids. `of_pairs` gives the
bias and the unit variance for pairs of rows, `of_any_pair` for a grid that holds the worst pair.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sparsemaps.count_sketch import CountSketch
from sparsemaps.fastfood import Fastfood
from sparsemaps.kernel_product import KernelProduct
from sparsemaps.minhash import MinHash
from sparsemaps.random_binning import RandomBinning
from sparsemaps.random_fourier import RandomFourier
from sparsemaps.random_maclaurin import RandomMaclaurin
from sparsemaps.sign_projection import SignProjection
from sparsemaps.tensor_sketch import TensorSketch
from sparsemaps.weighted_sampling import ConsistentWeightedSampling

Array = npt.NDArray[np.float64]

_N_GRID = 1001


@dataclass(frozen=True)
class Pairs:
    """What the formulas need of pairs (x, y) of rows: arrays of one shape."""

    kernel: Array
    """The exact kernel."""
    doubled: Array
    """The exact kernel of (2 x, 2 y)."""
    inner: Array
    """The inner product."""
    square_x: Array
    """The squared length of x."""
    square_y: Array
    """The squared length of y."""
    overlap: Array
    """The sum of x_i^2 y_i^2."""
    peak: Array
    """The sum of v_i^4 over the squared sum of v_i^2, with v = x - y: from 0, spread out, to 1."""


Moments = tuple[Array, Array]
"""Bias and unit variance of each pair."""


class UnknownVarianceError(ValueError):
    """There is no published variance for a map with these parameters."""


def of_pairs(random_map: Any, pairs: Pairs) -> Moments:
    """Bias and unit variance of the estimate for each of `pairs`.

    Raises UnknownVarianceError where there is no formula.
    """
    for cls, formula in _FORMULAS.items():
        if isinstance(random_map, cls):
            return formula(random_map, pairs)
    raise UnknownVarianceError(f"there is no variance formula for {type(random_map).__name__}")


def of_any_pair(random_map: Any) -> Moments:
    """Bias and unit variance over a grid of pairs of rows of unit length.

    The grid runs over all kernel values, or inner products, that a map's formula depends on; what
    else it depends on has its least favourable value.
    """
    kernel = np.linspace(0.0, 1.0, _N_GRID)
    ones = np.ones(_N_GRID)
    inner = np.linspace(-1.0, 1.0, _N_GRID)
    doubled = kernel  # of a kernel that falls with the distance this is the upper bound
    if isinstance(random_map, (RandomFourier, Fastfood)):
        if random_map.kernel == "laplacian":
            doubled = kernel**2
        elif random_map.kernel == "rbf":
            doubled = kernel**4
    return of_pairs(random_map, Pairs(kernel, doubled, inner, ones, ones, 0 * ones, 0 * ones))


def _sampled(kernel: Array, by_chance: float) -> Moments:
    rate = kernel + (1 - kernel) * by_chance
    return rate - kernel, rate * (1 - rate)


def _weighted_sampling(cws: Any, pairs: Pairs) -> Moments:
    return _sampled(pairs.kernel, chance_of_codes(cws))


def _minhash(minhash: Any, pairs: Pairs) -> Moments:
    """The variance of independent samples; that of MinHash is at most this."""
    return _sampled(pairs.kernel, float(2.0**-minhash.bits))


def chance_of_codes(cws: Any) -> float:
    """How likely the codes of two different samples are the same.

    Bits of t* make that less likely, but by an unknown factor, as t* takes few values: this is
    the chance without them.
    """
    n_columns = cws._n_columns
    if n_columns is not None and n_columns * (2 if cws.signed else 1) <= 2**cws.bits:
        return 0.0
    return float(2.0**-cws.bits)


def _binning(binning: Any, pairs: Pairs) -> Moments:
    return _sampled(pairs.kernel, 1.0 / binning.n_bins)


def _signs(signs: Any, pairs: Pairs) -> Moments:
    if signs.dense_output:  # the kernel is 2 K - 1
        return 0 * pairs.kernel, 1 - pairs.kernel**2
    return _sampled(pairs.kernel, 0.0)


def _fourier(fourier: Any, pairs: Pairs) -> Moments:
    k, doubled = pairs.kernel, pairs.doubled
    if fourier.kernel == "folded_rbf":
        return _folded(float(_gamma_of(fourier)), pairs)
    if fourier.form == "paired":
        return 0 * k, 1 + doubled - 2 * k**2
    return 0 * k, 1 + doubled / 2 - k**2


def _gamma_of(random_map: Any) -> float:
    """The gamma in use, or the parameter of a map that is not fitted."""
    gamma = random_map._parameters_in_use()["gamma"]
    if isinstance(gamma, str):
        raise ValueError(f"the map must be fitted first, as its gamma is {gamma!r}")
    return float(gamma)


def _folded(gamma: float, pairs: Pairs) -> Moments:
    """cos <w, x> cos <w, y> for normal w of variance gamma: the second moment is a sum of four."""
    squares = pairs.square_x + pairs.square_y
    near, far = squares - 2 * pairs.inner, squares + 2 * pairs.inner
    kernel = (np.exp(-gamma * near / 2) + np.exp(-gamma * far / 2)) / 2
    second = (1 + np.exp(-2 * gamma * pairs.square_x) + np.exp(-2 * gamma * pairs.square_y)) / 4
    second = second + (np.exp(-2 * gamma * near) + np.exp(-2 * gamma * far)) / 8
    return 0 * kernel, second - kernel**2


def _fastfood(fastfood: Any, pairs: Pairs) -> Moments:
    """One pair's variance, and for the Gaussian kernel by Hadamard transforms what the pairs of a
    block have in common.

    Two projections of a block have a correlation that is the transform of the squares of a random
    vector. To the leading order in it, the cosines of a whole block add
    ``exp(-v^2) v^4 (1 - 2 peak)``, with v the distance times the root of 2 gamma. This is not
    published; the published bound is many times larger from v = 1/2 on.
    """
    if fastfood._parameters_in_use()["hash_dim"] is not None:
        raise UnknownVarianceError(
            "there is no variance formula for Fastfood where hash_dim shortens rows first"
        )
    independent = 1 + pairs.doubled - 2 * pairs.kernel**2
    if fastfood.kernel != "rbf" or fastfood.transform_type != "hadamard":
        return 0 * pairs.kernel, independent
    squared = pairs.kernel**2  # exp(-v^2)
    logarithm = np.log(squared, out=np.zeros_like(squared), where=squared > 0)
    common = squared * logarithm**2 * (1 - 2 * pairs.peak)
    return 0 * pairs.kernel, independent + _share_of_block(fastfood) * common


def _share_of_block(fastfood: Any) -> float:
    """How many of the other projections of its block a projection meets, as a share of all."""
    n_columns = fastfood._n_columns
    if n_columns is None:
        return 1.0
    width = 1 << max(int(n_columns - 1).bit_length(), 1)
    n_pairs = max(1, fastfood.n_components // 2)
    whole, rest = divmod(n_pairs, width)
    return float((whole * width * (width - 1) + rest * (rest - 1)) / (n_pairs * (width - 1)))


def _count_sketch(_: Any, pairs: Pairs) -> Moments:
    lengths = pairs.square_x * pairs.square_y
    return 0 * lengths, lengths + pairs.inner**2 - 2 * pairs.overlap


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
    return 0 * inner, unit


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
    return 0 * product, second - mean**2


def _product(product: Any, pairs: Pairs) -> Moments:
    """Two sampled maps; the chance agreements of their codes are left out."""
    if not product.has_codes:
        raise UnknownVarianceError(
            "there is no variance formula for KernelProduct with a map of dense output"
        )
    return _sampled(pairs.kernel, 0.0)


_FORMULAS: dict[type, Callable[[Any, Pairs], Moments]] = {
    ConsistentWeightedSampling: _weighted_sampling,
    CountSketch: _count_sketch,
    Fastfood: _fastfood,
    KernelProduct: _product,
    MinHash: _minhash,
    RandomBinning: _binning,
    RandomFourier: _fourier,
    RandomMaclaurin: _maclaurin,
    SignProjection: _signs,
    TensorSketch: _tensor_sketch,
}
