"""The base class of laws."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.laws._agreement import AgreementLaw
from sparsemaps.laws._moments import N_GRID, Bias, Moments, Pairs, UnknownVarianceError

ONE_NUMBER_RULE = "give codes or one number for each component"
"""The rule of maps that give neither, which cannot be the second one of a product."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Law(ABC):
    """The law of a map with given parameters: facts about its estimates, at any size.

    A law has ``exact_kernel``; and, if the definition here does not suit it, what else stands
    here.
    """

    is_of_inner_products: ClassVar[bool] = False
    """Whether the kernel of rows of unit length is a function of their inner product."""

    shares_buckets: ClassVar[bool] = False
    """Whether columns are hashed to buckets that several of them share."""

    is_of_sets: ClassVar[bool] = False
    """Whether a row is the set of columns that are not 0, whatever their values. Packed codes keep
    the sizes of sets."""

    @property
    def nonnegative_rule(self) -> str | None:
        """The rule in the error for negative values; None if the kernel takes them."""
        return None

    @property
    def codes(self) -> AgreementLaw | None:
        """The law of codes, which `PackedCodes` keep; None if rows have no codes."""
        return None

    @property
    def is_one_hot(self) -> bool:
        """Whether the output is these codes as one-hot features."""
        return False

    @property
    def why_not_second(self) -> str | None:
        """The rule that the map breaks as the second one of a product; None if it may be second.

        The error says "must" before the rule. Dense output of a map that may be the second one has
        one number for each component.
        """
        return None

    @abstractmethod
    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        """Return the kernel of the rows of `X` and of `Y`, which is None for `X` itself.

        Sparse matrices are sound.
        """

    def moments(self, pairs: Pairs) -> Moments:
        """Return mean and variance of the estimates, and how they are distributed, for pairs of
        rows.

        Raises UnknownVarianceError without a formula.
        """
        raise UnknownVarianceError(f"{type(self).__name__} has no variance formula")

    def bias(self, pairs: Pairs) -> Bias:
        """Return the mean error by its causes."""
        return Bias()

    def safe_peak(self, size: int) -> float | None:
        """Return the largest ``max(abs(x)) / norm(x)`` of rows whose squared lengths are kept up to
        a tenth in 95 % of the seeds; None if nothing is known of it."""
        return None

    # ---- pairs of rows ---------------------------------------------------------------------------

    @property
    def least_kernel(self) -> float:
        """The least value of the kernel."""
        return 0.0

    @property
    def uses_peaks(self) -> bool:
        """Whether the moments depend on the largest differences of rows, ``Pairs.peak``."""
        return False

    @property
    def uses_doubled_rows(self) -> bool:
        """Whether the moments depend on the kernel of the rows times 2."""
        return False

    def largest_doubled(self, kernel: Array) -> Array:
        """Return the largest kernel of rows times 2, for the kernels of the rows themselves."""
        return kernel

    @property
    def measured(self) -> str:
        """The rates that have no formula, and are measured with the map: "zero bits", of samples
        that agree in i* alone; "signs", by how much their agreement differs from the kernel; or ""
        if there are none."""
        return ""

    def rounding(self, rows: object, kernel: Array) -> Array:
        """Return the variance, at most, of the kernel of rows that are rounded to whole levels, for
        all pairs of different rows of a CSR matrix, whose exact kernel is given."""
        return np.zeros_like(kernel)

    def common_variance(self, pairs: Pairs) -> Array:
        """Return the part of the variance that all components share, so that no size makes it
        smaller."""
        return pairs.rounding

    def worst_measured(self, kernel: Array) -> Array:
        """Return the least favourable rates that have no formula. UnknownVarianceError if
        unknown."""
        return np.zeros_like(kernel)

    @property
    def factors(self) -> "tuple[Law, ...]":
        """The laws that a product is made of."""
        return ()

    def leaves(self) -> "list[Law]":
        """Return the laws that a product of products is made of, or the law itself."""
        return [leaf for law in self.factors for leaf in law.leaves()] or [self]

    def any_pairs(self) -> Pairs:
        """Return pairs of rows of unit length, over a grid of the kernel values, or inner products,
        that the moments depend on. Other quantities have their least favourable value."""
        kernel = np.linspace(self.least_kernel, 1.0, N_GRID)
        ones = np.ones(N_GRID)
        return Pairs(
            kernel=kernel,
            doubled=self.largest_doubled(kernel),
            inner=np.linspace(-1.0, 1.0, N_GRID),
            square_x=ones,
            square_y=ones,
            overlap=0 * ones,
            peak=0 * ones,
            measured=self.worst_measured(kernel),
        )

    def moments_of_any_pair(self) -> Moments:
        """Return the moments of `any_pairs`."""
        return self.moments(self.any_pairs())
