"""The errors of a map's estimates: descriptions of pairs of rows, and variances.

`Pairs` describes pairs of rows. `Moments` has the variance of a map's estimates at each size of the
map (the number of its components, hashes or grids). The method ``moments`` of a law is its formula.
"""

import itertools
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from sparsemaps._tools._typing import Array

N_GRID = 1001
"""Number of kernel values at which a map's error is computed if no rows are given."""

_NONE = np.zeros(1)


@dataclass(frozen=True)
class Pairs:
    """The quantities of pairs (x, y) of rows on which formulas depend, as arrays of one shape."""

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
    """A rate without a formula: for ConsistentWeightedSampling, the rate at which i* agrees and t*
    does not; for SignProjection, the rate of agreement minus the kernel."""
    rounding: Array = field(default_factory=_NONE.copy)
    """Upper bound of the kernel's variance from rounding values to whole levels."""
    factors: tuple["Pairs", ...] = ()
    """For KernelProduct, these quantities for each of its two maps."""

    def within(self, angle: float) -> "Pairs":
        """Return the pairs whose angle is at most `angle`, which must be below a right angle."""
        is_near = self.inner >= np.cos(angle) * np.sqrt(self.square_x * self.square_y)
        return self._only(is_near & (self.square_x * self.square_y > 0))

    def _only(self, chosen: Array) -> "Pairs":
        parts: dict[str, Any] = {
            field.name: getattr(self, field.name)[chosen]
            for field in fields(self)
            if field.name != "factors" and getattr(self, field.name).shape == chosen.shape
        }
        return replace(self, **parts, factors=tuple(pairs._only(chosen) for pairs in self.factors))


Distribution = Literal["binomial", "gamma", "normal", "jumps"]


@dataclass(frozen=True)
class Moments:
    """The distribution of a map's estimates for pairs of rows: arrays of one shape, or numbers.

    The estimate is a mean of components. For paired Fourier features, a component is the cosine of
    a difference: ``size // 2`` components have weight 1, and if `size` is odd, the last one has
    weight 1/2.
    """

    kernel: Array
    """The exact kernel."""
    unit: Array
    """The size times the variance, for independent components."""
    distribution: Distribution
    """Distribution of the estimate. "binomial": the mean of independent bits. "gamma": one minus
    the estimate is gamma distributed. "normal": the error is normal. "jumps": the error is a sum of
    one number, the jump, for each two columns that share a bucket; there may be few of them."""
    bias: Array = field(default_factory=_NONE.copy)
    """The mean error."""
    span: float = 1.0
    """For "binomial", the difference between the two values of a component. The larger one is 1."""
    jump: Array = field(default_factory=lambda: np.full(1, np.inf))
    """For "jumps", the size of the largest jump; infinite if unknown."""
    paired: bool = False
    """Whether components are cosines of differences."""
    single: Array = field(default_factory=_NONE.copy)
    """If `paired`, the variance of the last component of an odd number of them, at weight 1."""
    common: Array = field(default_factory=_NONE.copy)
    """The covariance of two components of one block; if `paired`, of two cosines."""
    block: Array = field(default_factory=_NONE.copy)
    """If `common` is not 0, the number of components (if `paired`, of cosines) in a block."""

    def variance(self, size: float) -> Array:
        """Return the variance at a size.

        An estimate is a mean of components. Its variance is the sum of their variances and of the
        covariances of all ordered pairs of them, divided by the squared size. Components in one
        block have the covariance `common`; components in different blocks are independent.

        For paired Fourier features, a component is the cosine of a difference, from two columns of
        the output. Its variance is from Sutherland & Schneider, "On the error of random Fourier
        features", UAI 2015. If the size is odd, the last column is a component of weight 1/2, and
        its covariances have half the weight.
        """
        if not self.paired:
            n_pairs, _ = _pairs_in_blocks(size, np.maximum(self.block, 1))
            return self.unit / size + self.common * n_pairs / size**2
        whole, odd = divmod(size, 2)
        alone = (self.unit * 2 * whole + self.single * odd) / size**2
        if not self.common.any():
            return alone
        n_pairs, n_last = _pairs_in_blocks(whole + odd, self.block)
        n_pairs = n_pairs - odd * (n_last - 1)
        return alone + 4 * self.common * n_pairs / size**2


def _pairs_in_blocks(n: float, width: Array) -> tuple[Array, Array]:
    """Return the number of ordered pairs of different components that share a block, for n
    components in blocks of `width`, and the number of components in the last block."""
    full, rest = np.divmod(n, width)
    return full * width * (width - 1) + rest * (rest - 1), np.where(rest > 0, rest, width)


class UnknownVarianceError(ValueError):
    """Raised if a map with these parameters has no variance formula."""


@dataclass(frozen=True)
class Bias:
    """The parts of the mean error, by cause."""

    chance: Array = field(default_factory=_NONE.copy)
    """Part from different samples with equal codes."""
    zero_bit: Array = field(default_factory=_NONE.copy)
    """Part from samples with equal codes, equal i* and different t*."""
    approximate: Array = field(default_factory=_NONE.copy)
    """Part from approximating the kernel, by signs of projections or by a truncated series."""

    @property
    def total(self) -> Array:
        """Sum of all parts."""
        return self.chance + self.zero_bit + self.approximate

    def means(self, kernel: Array) -> list[Array]:
        """Return the kernel, and the means of the estimate with the first, the first two and all
        parts of the bias."""
        return list(itertools.accumulate((kernel, self.chance, self.zero_bit, self.approximate)))
