"""Laws of sketches and projections, whose inner products estimate the inner products of rows."""

from dataclasses import dataclass

import numpy as np

from sparsemaps import kernels
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.laws._law import Law
from sparsemaps.laws._moments import Moments, Pairs, UnknownVarianceError


@dataclass(frozen=True, kw_only=True, eq=False)
class _InnerProductLaw(Law):
    is_of_inner_products = True

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        return kernels.polynomial_kernel(X, Y, degree=1, gamma=1, coef0=0, n_jobs=n_jobs)


@dataclass(frozen=True, kw_only=True, eq=False)
class CountSketchLaw(_InnerProductLaw):
    """The law of `CountSketch`."""

    shares_buckets = True

    @property
    def why_not_second(self) -> str:
        return (
            "not be a count sketch, as the error of the product would not fall with n_components "
            "(RandomProjection has the same kernel)"
        )

    def safe_peak(self, size: int) -> float:
        # Freksen, Kamma & Larsen 2018, theorem 2, with constant 1, relative error 0.1 and
        # probability 0.05; `bits` is lg(1 / probability).
        error, probability = 0.1, 0.05
        bits = -np.log2(probability)
        if size >= 2 / (error**2 * probability):
            return 1.0
        if size <= 2 * (1.96 / error) ** 2:  # even normal errors are too large
            return 0.0
        by_mean = np.log2(error * size / bits) / bits
        by_variance = np.sqrt(np.log2(error**2 * size / bits) / bits)
        return float(min(np.sqrt(error) * min(by_mean, by_variance), 1.0))

    def moments(self, pairs: Pairs) -> Moments:
        lengths = pairs.square_x * pairs.square_y
        unit = lengths + pairs.inner**2 - 2 * pairs.overlap
        return Moments(pairs.kernel, unit, "jumps", jump=2 * pairs.longest)


@dataclass(frozen=True, kw_only=True, eq=False)
class ProjectionLaw(_InnerProductLaw):
    """The law of `RandomProjection`."""

    distribution: str

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        if self.distribution == "cauchy":
            raise ValueError(
                "inner products of Cauchy projections have no mean, and therefore no exact "
                "kernel; approximate_l1 estimates distances from them"
            )
        return super().exact_kernel(X, Y, n_jobs)

    @property
    def least_kernel(self) -> float:
        return -1.0

    @property
    def why_not_second(self) -> str | None:
        no_mean = "have a mean, which Cauchy projections do not"
        return no_mean if self.distribution == "cauchy" else None

    def moments(self, pairs: Pairs) -> Moments:
        if self.distribution == "cauchy":
            raise UnknownVarianceError("inner products of Cauchy projections have no mean")
        unit = pairs.square_x * pairs.square_y + pairs.inner**2
        if self.distribution == "rademacher":
            unit = unit - 2 * pairs.overlap
        return Moments(pairs.kernel, unit, "normal")
