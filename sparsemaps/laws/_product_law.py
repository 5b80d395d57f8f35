"""The law of a product of a sampled map and another map."""

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.laws._agreement import ByChance, ByProduct
from sparsemaps.laws._inner_products import ProjectionLaw
from sparsemaps.laws._law import ONE_NUMBER_RULE, Law
from sparsemaps.laws._moments import Bias, Moments, Pairs, UnknownVarianceError
from sparsemaps.laws._sampled import moments_of_agreements, with_common

_N_GRID = 101
"""Number of values of each of the two kernels in a grid."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProductLaw(Law):
    """The law of `KernelProduct`: components are products of the components of two maps."""

    sampled: Law
    other: Law

    @property
    def nonnegative_rule(self) -> str | None:
        return self.sampled.nonnegative_rule or self.other.nonnegative_rule

    @functools.cached_property
    def codes(self) -> ByProduct | None:
        if not self.is_one_hot:
            return None
        laws = [leaf.codes for leaf in self.leaves()]
        return ByProduct(tuple(law for law in laws if isinstance(law, ByChance)))

    @property
    def is_one_hot(self) -> bool:
        return self.other.is_one_hot

    @property
    def why_not_second(self) -> str | None:
        return None if self.is_one_hot else ONE_NUMBER_RULE

    @property
    def factors(self) -> tuple[Law, ...]:
        return self.sampled, self.other

    @property
    def bits(self) -> int:
        """Bits of a code, or of the sampled map's code if the other map has none."""
        sampled: Any = self.sampled
        other: Any = self.other
        return int(sampled.bits + (other.bits if self.is_one_hot else 0))

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        product = self.sampled.exact_kernel(X, Y, n_jobs)
        product *= self.other.exact_kernel(X, Y, n_jobs)
        return product

    def bias(self, pairs: Pairs) -> Bias:
        first, second = (
            law.bias(of_factor).means(of_factor.kernel)
            for law, of_factor in zip(self.factors, pairs.factors, strict=True)
        )
        means = [one * other for one, other in zip(first, second, strict=True)]
        return Bias(*(after - before for before, after in itertools.pairwise(means)))

    def common_variance(self, pairs: Pairs) -> Array:
        first, second = (
            law.common_variance(of_factor)
            for law, of_factor in zip(self.factors, pairs.factors, strict=True)
        )
        one, other = (of_factor.kernel for of_factor in pairs.factors)
        return np.asarray(first * (second + other**2) + one**2 * second)

    def moments(self, pairs: Pairs) -> Moments:
        if self.is_one_hot:
            return moments_of_agreements(self, pairs)
        if not isinstance(self.other, ProjectionLaw):
            raise UnknownVarianceError(
                "KernelProduct has no variance formula with a map of dense output other than "
                "RandomProjection"
            )
        # Component j equals the projection's component if sample j agrees, else 0.
        agree, projected = pairs.factors
        rate = agree.kernel + self.sampled.bias(agree).total
        unit = self.other.moments(projected).unit + (1 - rate) * projected.kernel**2
        moments = Moments(
            pairs.kernel,
            rate * unit,
            "normal",
            bias=(rate - agree.kernel) * projected.kernel,
        )
        return with_common(moments, self.common_variance(pairs))

    def any_pairs(self) -> Pairs:
        if any(law.factors for law in self.factors):
            raise UnknownVarianceError("the product of a KernelProduct needs X")
        values = np.linspace(0.0, 1.0, _N_GRID)
        grids = np.repeat(values, _N_GRID), np.tile(values, _N_GRID)
        factors = tuple(
            Pairs(
                kernel,
                inner=kernel,
                square_x=np.ones_like(kernel),
                square_y=np.ones_like(kernel),
                measured=law.worst_measured(kernel),
            )
            for law, kernel in zip(self.factors, grids, strict=True)
        )
        return Pairs(grids[0] * grids[1], factors=factors)
