"""The base class of laws."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.laws._agreement import AgreementLaw
from sparsemaps.laws._moments import N_GRID, Bias, Moments, Pairs, UnknownVarianceError

ONE_NUMBER_RULE = "give codes or one number for each component"
"""Rule of maps with neither codes nor one number per component. They cannot be second in a
product."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Law(ABC):
    """The law of a map with given parameters: facts about its estimates, at any size.

    A subclass must define ``exact_kernel``, and may override everything else here.
    """

    is_of_inner_products: ClassVar[bool] = False
    """Whether the kernel of unit-length rows is a function of their inner product."""

    shares_buckets: ClassVar[bool] = False
    """Whether columns are hashed to buckets that several columns share."""

    is_of_sets: ClassVar[bool] = False
    """Whether a row is the set of its nonzero columns, whatever their values. Packed codes then
    store the set sizes."""

    @property
    def nonnegative_rule(self) -> str | None:
        """Rule in the error about negative values; None if the kernel accepts them."""
        return None

    @property
    def codes(self) -> AgreementLaw | None:
        """Law of the codes, which `PackedCodes` stores; None if rows have no codes."""
        return None

    @property
    def is_one_hot(self) -> bool:
        """Whether the output is the codes as one-hot features."""
        return False

    @property
    def why_not_second(self) -> str | None:
        """Rule that prevents the map from being second in a product; None if it can be.

        In the error, the rule follows "must". If a map with dense output can be second, its output
        has one number per component.
        """
        return None

    @abstractmethod
    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None, n_jobs: int | None) -> Array:
        """Return the kernel of the rows of `X` and `Y`, or of `X` and itself if `Y` is None.

        Sparse matrices must be valid.
        """

    def moments(self, pairs: Pairs) -> Moments:
        """Return the mean, variance and distribution of the estimates for pairs of rows.

        Raises UnknownVarianceError if the formula is unknown.
        """
        raise UnknownVarianceError(f"{type(self).__name__} has no variance formula")

    def bias(self, pairs: Pairs) -> Bias:
        """Return the mean error, by cause."""
        return Bias()

    def safe_peak(self, size: int) -> float | None:
        """Return the largest ``max(abs(x)) / norm(x)`` of rows whose squared lengths are preserved
        within a tenth for 95 % of the seeds; None if it is unknown."""
        return None

    # ---- pairs of rows ---------------------------------------------------------------------------

    @property
    def least_kernel(self) -> float:
        """Least value of the kernel."""
        return 0.0

    @property
    def uses_peaks(self) -> bool:
        """Whether the moments depend on ``Pairs.peak``."""
        return False

    @property
    def uses_doubled_rows(self) -> bool:
        """Whether the moments depend on the kernel of the doubled rows."""
        return False

    def largest_doubled(self, kernel: Array) -> Array:
        """Return the largest kernel of doubled rows, given the kernel of the rows themselves."""
        return kernel

    @property
    def measured(self) -> str:
        """The rates that have no formula and must be measured with the map: "zero bits", the rate
        of samples that agree in i* alone; "signs", the difference of the rate of agreement from the
        kernel; or "" if there are none."""
        return ""

    def rounding(self, rows: object, kernel: Array) -> Array:
        """Return an upper bound of the kernel's variance from rounding rows to whole levels, for
        all pairs of different rows of a CSR matrix with the given exact kernel."""
        return np.zeros_like(kernel)

    def common_variance(self, pairs: Pairs) -> Array:
        """Return the part of the variance that is common to all components and does not fall with
        the size."""
        return pairs.rounding

    def worst_measured(self, kernel: Array) -> Array:
        """Return the least favourable values of the rates that have no formula. Raise
        UnknownVarianceError if they are unknown."""
        return np.zeros_like(kernel)

    @property
    def factors(self) -> "tuple[Law, ...]":
        """Laws of the factors of a product."""
        return ()

    def leaves(self) -> "list[Law]":
        """Return the laws at the leaves of a product of products, or the law itself."""
        return [leaf for law in self.factors for leaf in law.leaves()] or [self]

    def any_pairs(self) -> Pairs:
        """Return pairs of unit-length rows over a grid of kernel values or inner products. Other
        quantities have their least favourable values."""
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
