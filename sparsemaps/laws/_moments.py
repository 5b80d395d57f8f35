"""The errors of a map's estimates: descriptions of pairs of rows, and variances.

`Pairs` describes pairs of rows. `Moments` has the variance of a map's estimates at each size of
the map, which is its number of components, hashes or grids. The method ``moments`` of a law is its
formula.
"""

import itertools
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from sparsemaps._tools._typing import Array

N_GRID = 1001
"""Without rows, a map's error is computed at so many kernel values."""

_NONE = np.zeros(1)


@dataclass(frozen=True)
class Pairs:
    """Quantities of pairs (x, y) of rows that formulas depend on, as arrays of one shape."""

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
    """A rate that has no formula. For ConsistentWeightedSampling, the rate at which i* agrees and
    t* does not; for SignProjection, the rate of agreement less the kernel."""
    rounding: Array = field(default_factory=_NONE.copy)
    """The variance, at most, of the kernel of rows whose values were rounded to whole levels."""
    factors: tuple["Pairs", ...] = ()
    """For KernelProduct, these quantities for each of its two maps."""

    def within(self, angle: float) -> "Pairs":
        """Return the pairs of rows at an angle of at most that, below a right one."""
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

    The estimate is a mean of components. A component of paired Fourier features is the cosine of a
    difference. ``size // 2`` components have weight 1, and if `size` is odd, the last one has
    weight 1/2.
    """

    kernel: Array
    """The exact kernel."""
    unit: Array
    """The size times the variance, for independent components."""
    distribution: Distribution
    """The distribution of the estimate. "binomial" belongs to a mean of independent bits. "gamma"
    says that one minus the estimate is gamma distributed, "normal" that the error is normal.
    "jumps" says that the error is a sum of one number, the jump, for each two columns that share a
    bucket, which may be few."""
    bias: Array = field(default_factory=_NONE.copy)
    """The mean error."""
    span: float = 1.0
    """For "binomial", the difference of the two values of a component: the larger one is 1."""
    jump: Array = field(default_factory=lambda: np.full(1, np.inf))
    """For "jumps", the size of the largest jump; infinite if it is not known."""
    paired: bool = False
    """Whether components are cosines of differences."""
    single: Array = field(default_factory=_NONE.copy)
    """If `paired`, the variance of the last component of an odd number, at weight 1."""
    common: Array = field(default_factory=_NONE.copy)
    """The covariance of two components of one block; if `paired`, of two cosines."""
    block: Array = field(default_factory=_NONE.copy)
    """If `common` is not 0, the number of components of a block; if `paired`, of cosines."""

    def variance(self, size: float) -> Array:
        """Return the variance at a size.

        An estimate is a mean of components, so its variance is the sum of their variances and of
        the covariances of all ordered pairs of them, over the square of the size. Components of one
        block have the covariance `common`; components of different blocks are independent.

        Of paired Fourier features, a component is the cosine of a difference, of two columns of the
        output. Its variance comes from Sutherland & Schneider, "On the error of random Fourier
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
    """Return how many ordered pairs of different components are in one block, of n components in
    blocks of this width, and how many components are in the last block."""
    full, rest = np.divmod(n, width)
    return full * width * (width - 1) + rest * (rest - 1), np.where(rest > 0, rest, width)


class UnknownVarianceError(ValueError):
    """A map with these parameters has no variance formula."""


@dataclass(frozen=True)
class Bias:
    """The parts of the mean error whose causes are known."""

    chance: Array = field(default_factory=_NONE.copy)
    """The part of different samples with equal codes."""
    zero_bit: Array = field(default_factory=_NONE.copy)
    """The part of samples of equal i* and different t*, with equal codes."""
    approximate: Array = field(default_factory=_NONE.copy)
    """The part of an approximate kernel: of signs of projections, or of a series that ends."""

    @property
    def total(self) -> Array:
        """All of them."""
        return self.chance + self.zero_bit + self.approximate

    def means(self, kernel: Array) -> list[Array]:
        """Return the kernel, and the means of the estimate with one, two and all of the causes."""
        return list(itertools.accumulate((kernel, self.chance, self.zero_bit, self.approximate)))
