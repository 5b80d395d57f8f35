"""Laws of features whose kernel is a function of the difference between two rows."""

import functools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy
import scipy.sparse as sp

from sparsemaps import kernels
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.kernels._column_products import product_kernel
from sparsemaps.kernels._distance import squared_distances
from sparsemaps.laws import _pitches, _spectrum
from sparsemaps.laws._agreement import BySigns
from sparsemaps.laws._block_covariance import covariance_in_block
from sparsemaps.laws._law import Law
from sparsemaps.laws._moments import N_GRID, Moments, Pairs, UnknownVarianceError
from sparsemaps.laws._sampled import SampledLaw


def _known(gamma: float | str) -> float:
    if isinstance(gamma, str):
        raise ValueError(f"the map must be fitted first, because its gamma is {gamma!r}")
    return float(gamma)


@dataclass(frozen=True, kw_only=True, eq=False)
class FourierLaw(Law):
    """The law of `RandomFourier`."""

    kernel: str
    gamma: float | str
    """A number, or the name of a rule by which `fit` computes it from the data."""
    nu: float
    form: str
    spectrum: _spectrum.Quantile | None
    """A spectrum that replaces the kernel."""

    @functools.cached_property
    def quantiles(self) -> Array | None:
        """The table of quantiles of the spectrum."""
        return None if self.spectrum is None else _spectrum.table(self.spectrum)

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        gamma = _known(self.gamma)
        if self.quantiles is not None:
            return product_kernel(X, Y, _spectrum.factor(self.quantiles, gamma), n_jobs)
        if self.kernel == "laplacian":
            return kernels.laplacian_kernel(X, Y, gamma=gamma, n_jobs=n_jobs)
        if self.kernel == "cauchy":
            return kernels.cauchy_kernel(X, Y, gamma=gamma, n_jobs=n_jobs)
        if self.kernel == "matern":
            return kernels.matern_kernel(X, Y, gamma=gamma, nu=self.nu, n_jobs=n_jobs)
        if self.kernel == "folded_rbf":
            # For rows of any length; `kernels.folded_rbf_kernel` scales rows to length 1.
            near = kernels.rbf_kernel(X, Y, gamma=gamma / 2, n_jobs=n_jobs)
            Y = X if Y is None else Y
            other: Any = Y if sp.issparse(Y) else np.asarray(Y)
            if other.dtype.kind != "f":  # integers may be unsigned
                other = other.astype(float)
            far = kernels.rbf_kernel(X, -other, gamma=gamma / 2, n_jobs=n_jobs)
            return (near + far) / 2
        return kernels.rbf_kernel(X, Y, gamma=gamma, n_jobs=n_jobs)

    bits: ClassVar[int] = 1
    """Bits of a code, which is a sign."""

    @functools.cached_property
    def codes(self) -> BySigns | None:
        if self.kernel == "folded_rbf":
            return None
        is_known = self.spectrum is None and self.kernel in ("rbf", "laplacian")
        kernel: Any = self.kernel if is_known else None
        return BySigns(kernel)

    @property
    def uses_doubled_rows(self) -> bool:
        return self.kernel != "folded_rbf"

    @property
    def least_kernel(self) -> float:
        return 0.0 if self.spectrum is None else -1.0

    def largest_doubled(self, kernel: Array) -> Array:
        if self.spectrum is not None:
            return np.ones_like(kernel)
        if self.kernel == "laplacian":
            return kernel**2
        return kernel**4 if self.kernel == "rbf" else kernel

    def moments(self, pairs: Pairs) -> Moments:
        k, doubled = pairs.kernel, pairs.doubled
        if self.kernel == "folded_rbf":
            return Moments(k, self._folded_unit(pairs), "normal")
        offset = 1 + doubled / 2 - k**2
        if self.form == "offset":
            return Moments(k, offset, "normal")
        square = (1 - k) * (1 + k)  # 1 - k**2 without cancellation
        if self.kernel == "rbf" and self.spectrum is None:  # the kernel of doubled rows is k**4
            unit = square**2
        else:
            unit = np.maximum(2 * square - (1 - doubled), 0)
        return Moments(k, unit, "gamma", paired=True, single=offset)

    def _folded_unit(self, pairs: Pairs) -> Array:
        """Return the variance of cos <w, x> cos <w, y>, with w normal of variance gamma. Both
        moments are computed minus 1, because they are close to 1 for short rows."""
        gamma, squares = _known(self.gamma), pairs.square_x + pairs.square_y
        near, far = squares - 2 * pairs.inner, squares + 2 * pairs.inner
        mean = (np.expm1(-gamma * near / 2) + np.expm1(-gamma * far / 2)) / 2
        second = (np.expm1(-2 * gamma * pairs.square_x) + np.expm1(-2 * gamma * pairs.square_y)) / 4
        second = second + (np.expm1(-2 * gamma * near) + np.expm1(-2 * gamma * far)) / 8
        return np.asarray(np.maximum(second - 2 * mean - mean**2, 0))


@dataclass(frozen=True, kw_only=True, eq=False)
class FastfoodLaw(Law):
    """The law of `Fastfood`."""

    kernel: str
    gamma: float | str
    degree: int
    is_orthogonal: bool
    is_hashed: bool
    """Whether rows are count-sketched first."""
    widths: tuple[int, ...]
    """Width of blocks or, if it is unknown, all possible widths."""

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        gamma = _known(self.gamma)
        if self.kernel == "rbf":
            return kernels.rbf_kernel(X, Y, gamma=gamma, n_jobs=n_jobs)
        # With h = d' / 2, Gamma(h + 1) (2 / z)^h J_h(z) equals 0F1(h + 1, -z^2 / 4).
        argument = -gamma * squared_distances(X, Y, n_jobs=n_jobs) / 2
        one_point = scipy.special.hyp0f1(self.widths[0] / 2 + 1, argument)
        return np.asarray(one_point**self.degree)

    @property
    def uses_peaks(self) -> bool:
        return not self.is_orthogonal and not self.is_hashed and self.kernel == "rbf"

    def moments(self, pairs: Pairs) -> Moments:
        return self._moments_at(pairs, self.widths[0])

    def _moments_at(self, pairs: Pairs, width: int) -> Moments:
        if self.is_hashed:
            raise UnknownVarianceError(
                "Fastfood has no variance formula if hash_dim shortens rows first"
            )
        if self.kernel != "rbf":
            raise UnknownVarianceError(
                f"Fastfood has no variance formula with kernel={self.kernel!r}"
            )
        k = pairs.kernel
        # Orthogonal blocks have the covariance of rows that differ in one column.
        peak = np.ones_like(k) if self.is_orthogonal else pairs.peak
        return Moments(
            k,
            ((1 - k) * (1 + k)) ** 2,
            "gamma",
            paired=True,
            single=1 + k**4 / 2 - k**2,
            common=covariance_in_block(k, peak, width),
            block=np.full_like(k, width),
        )

    def moments_of_any_pair(self) -> Moments:
        if len(self.widths) == 1:
            return super().moments_of_any_pair()
        # Combine all widths, because each has another covariance.
        moments = [self._moments_at(self.any_pairs(), width) for width in self.widths]
        return Moments(
            kernel=np.concatenate([one.kernel for one in moments]),
            unit=np.concatenate([one.unit for one in moments]),
            distribution="gamma",
            paired=True,
            common=np.concatenate([one.common for one in moments]),
            block=np.repeat(np.asarray(self.widths, float), N_GRID),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class BinningLaw(SampledLaw):
    """The law of `RandomBinning`."""

    gamma: float | str
    pitch_density: _pitches.Density | None
    """Density of pitches that replaces the Laplacian's."""

    @functools.cached_property
    def inverse_pitches(self) -> Array | None:
        """Inverses of equally likely pitches; None without a density of pitches."""
        return None if self.pitch_density is None else _pitches.inverses(self.pitch_density)

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        gamma = _known(self.gamma)
        if self.inverse_pitches is None:
            return kernels.laplacian_kernel(X, Y, gamma=gamma, n_jobs=n_jobs)
        return product_kernel(X, Y, _pitches.hat_mixture(self.inverse_pitches, gamma), n_jobs)
