"""Laws of samples and signs that agree at the rate of the kernel."""

import functools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sparsemaps import kernels
from sparsemaps._tools import _sklearn
from sparsemaps._tools._parameters import offered
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.laws._agreement import ByChance
from sparsemaps.laws._block_covariance import covariance_of_signs
from sparsemaps.laws._law import Law
from sparsemaps.laws._moments import Bias, Moments, Pairs, UnknownVarianceError


def moments_of_agreements(law: Law, pairs: Pairs) -> Moments:
    """Return the moments of a mean of independent bits. With `MinHash`, the variance is at most
    this."""
    span = 1.0 - law.least_kernel
    bias = law.bias(pairs).total
    mean = pairs.kernel + bias
    unit = np.maximum((mean - law.least_kernel) * (1 - mean), 0)
    moments = Moments(pairs.kernel, unit, "binomial", bias=bias, span=span)
    return with_common(moments, law.common_variance(pairs))


def with_common(moments: Moments, variance: Array) -> Moments:
    """Return the moments plus a variance that all components share. Errors are then normal."""
    if not variance.any():
        return moments
    return replace(moments, distribution="normal", common=variance, block=_ONE_BLOCK)


_ONE_BLOCK = np.full(1, 2.0**62)
"""Size of a block that contains all components."""


def _scaled() -> str:
    """Return the end of an error about negative values: how to scale columns. Empty in the
    command."""
    clip = offered("clip", True)
    return "" if clip is None else f"; MinMaxScaler({clip}) of scikit-learn scales them from 0 to 1"


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledLaw(Law):
    """Base of the laws of codes that may agree by chance if samples differ."""

    bits: int
    """Bits of a code."""

    samples_empty_rows: ClassVar[bool] = True
    """Whether rows without entries have samples."""

    @functools.cached_property
    def codes(self) -> ByChance:
        return ByChance(self.bits)

    @property
    def is_one_hot(self) -> bool:
        return True

    def bias(self, pairs: Pairs) -> Bias:
        return Bias(chance=(1 - pairs.kernel) * self._chance_of(pairs))

    def _chance_of(self, pairs: Pairs) -> Array:
        chance = np.full_like(pairs.kernel, self.codes.chance)
        return chance if self.samples_empty_rows else chance * (pairs.longest > 0)

    def moments(self, pairs: Pairs) -> Moments:
        return moments_of_agreements(self, pairs)


@dataclass(frozen=True, kw_only=True, eq=False)
class JaccardLaw(SampledLaw):
    """The law of `MinHash`."""

    samples_empty_rows = False
    is_of_sets = True

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        return kernels.min_max_kernel(
            _members(X), None if Y is None else _members(Y), n_jobs=n_jobs
        )


def _members(X: MatrixLike) -> Any:
    """Return `X` as CSR with each nonzero entry replaced by 1."""
    X = _sklearn.check_array(
        X, accept_sparse="csr", dtype=float, ensure_min_samples=0, input_name="X"
    )
    sets = sp.csr_array(X, dtype=float, copy=True)
    sets.sum_duplicates()
    sets.data = (sets.data != 0).astype(float)
    return sets


@dataclass(frozen=True, kw_only=True, eq=False)
class MinMaxLaw(SampledLaw):
    """The law of `ConsistentWeightedSampling`."""

    t_bits: int
    signed: bool
    power: float
    method: str = "icws"
    resolution: float = 1.0

    samples_empty_rows = False

    @property
    def measured(self) -> str:
        return "" if self.method == "levels" else "zero bits"

    @property
    def nonnegative_rule(self) -> str | None:
        if self.signed:
            return None
        rule = "the min-max kernel takes values >= 0"
        if (signed := offered("signed", True)) is not None:
            rule += f"; {signed} allows both signs (generalized min-max kernel)"
        if (unsigned := offered("alternate_sign", False)) is not None:
            return f"{rule}{_scaled()}; with {unsigned}, HashingVectorizer has no negative values"
        texts = offered("texts", "word:1")  # in the command
        return rule if texts is None else f"{rule}; {texts} counts the n-grams of raw texts"

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        kernel = kernels.generalized_min_max_kernel if self.signed else kernels.min_max_kernel
        return kernel(X, Y, power=self.power, n_jobs=n_jobs)

    def bias(self, pairs: Pairs) -> Bias:
        if not self.measured:
            return super().bias(pairs)
        zero_bit = pairs.measured * (2.0**-self.t_bits - self._chance_of(pairs))
        return replace(super().bias(pairs), zero_bit=zero_bit)

    def worst_measured(self, kernel: Array) -> Array:
        if self.method == "levels":
            raise UnknownVarianceError(
                "the error of rounding to whole levels depends on the rows: give X"
            )
        return 1 - kernel  # rows with a single column, where i* always agrees

    def rounding(self, rows: Any, kernel: Array) -> Array:
        """Return an upper bound: the variance of the fractions over the squared sum of the larger
        levels.

        Levels are right on average, and so are the sums of the smaller and of the larger levels of
        two rows. To first order, the error of their quotient, the kernel K, is the error of the sum
        of the smaller levels minus K times the error of the sum of the larger levels, divided by
        the latter sum. A column with fractions f and g adds at most f (1 - f) + g (1 - g) to the
        variance of this error.
        """
        if self.method != "levels":
            return super().rounding(rows, kernel)
        levels = rows.copy()
        levels.data = self.resolution * abs(levels.data) ** self.power
        total = np.asarray(levels.sum(axis=1)).reshape(-1)
        levels.data = levels.data % 1 * (1 - levels.data % 1)
        variance = np.asarray(levels.sum(axis=1)).reshape(-1)
        first, second = np.triu_indices(rows.shape[0], 1)
        larger = (total[first] + total[second]) / (1 + kernel)
        largest = 0.25  # variance of a number between 0 and 1
        of_pairs = variance[first] + variance[second]
        bound = np.where(of_pairs > 0, largest, 0.0)
        is_small = of_pairs < largest * larger**2
        return np.divide(of_pairs, larger**2, out=bound, where=is_small)


@dataclass(frozen=True, kw_only=True, eq=False)
class SignsLaw(SampledLaw):
    """The law of `SignProjection`."""

    bits: int = 1
    kernel: str
    distribution: str | None
    dense_output: bool
    width: int | None = None
    """Width of a block of orthogonal vectors; None without blocks, or if it is unknown."""

    @property
    def nonnegative_rule(self) -> str | None:
        if self.kernel == "acos":
            return None
        rule = "the acos-chi-square kernel takes values >= 0"
        if (acos := offered("kernel", "acos")) is not None:
            rule += f" ({acos} allows both signs)"
        return f"{rule}{_scaled()}"

    @property
    def is_one_hot(self) -> bool:
        return not self.dense_output

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        kernel = kernels.acos_kernel if self.kernel == "acos" else kernels.acos_chi2_kernel
        agreement = kernel(X, Y, n_jobs=n_jobs)
        return 2 * agreement - 1 if self.dense_output else agreement

    @functools.cached_property
    def codes(self) -> ByChance:
        return ByChance(self.bits, chance=0.0)  # bits agree at the rate of the kernel

    @property
    def least_kernel(self) -> float:
        return -1.0 if self.dense_output else 0.0

    @property
    def measured(self) -> str:
        return "signs" if self.kernel == "acos_chi2" or self.distribution == "rademacher" else ""

    def bias(self, pairs: Pairs) -> Bias:
        return Bias(approximate=pairs.measured) if self.measured else Bias()

    def moments(self, pairs: Pairs) -> Moments:
        moments = super().moments(pairs)
        if self.width is None:
            return moments
        rate = (pairs.kernel - self.least_kernel) / moments.span
        common = moments.span**2 * covariance_of_signs(rate, self.width)
        return replace(moments, common=common, block=np.full(1, float(self.width)))

    def worst_measured(self, kernel: Array) -> Array:
        if not self.measured:
            return super().worst_measured(kernel)
        name = "distribution='rademacher'" if self.distribution else repr(self.kernel)
        raise UnknownVarianceError(
            f"for {name}, the rate at which signs agree only approximates the kernel, with an "
            "error that depends on the rows: give X"
        )
