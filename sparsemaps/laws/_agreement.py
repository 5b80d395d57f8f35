"""Laws of codes: how the kernel follows from the number of agreeing codes of two rows.

`PackedCodes` stores the law of its codes, and files store it by name. `ByChance` is for samples
that agree at the rate of the kernel, whose codes also agree by chance; `BySigns` is for bits of
Fourier features; `ByProduct` is for concatenated codes of several maps.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy
import scipy.sparse as sp

from sparsemaps._tools import _checks
from sparsemaps._tools._allowed import LARGEST_BITS
from sparsemaps._tools._parameters import ParameterError, named_class, setting
from sparsemaps._tools._typing import Array

_ADDED = 2
"""Number of agreements, and of differences, that are added to compute standard errors. Otherwise,
the error would be 0 if no codes agree or all agree (Agresti & Coull 1998)."""


class ProductCounts(NamedTuple):
    """Numbers of agreeing codes for a product of two maps, as counted by `agreements`."""

    both: npt.ArrayLike
    """Joint codes, which agree if the codes of both maps agree."""
    first: npt.ArrayLike
    """Codes of the first map."""
    second: npt.ArrayLike
    """Codes of the second map."""


class AgreementLaw(ABC):
    """The relation between the kernel and the number of agreeing codes of two rows."""

    name: ClassVar[str]
    """Name of the law in files."""

    bits: Any
    """Bits of a code."""

    chance: Any
    """Probability that the codes of different samples agree."""

    parts: Any = ()
    """Law of each map's codes, for concatenated codes of several maps. The first map has the
    highest bits."""

    needs_parts: Any = False
    """Whether the estimate depends on which parts of a code agree."""

    @abstractmethod
    def estimate(
        self, counts: "npt.ArrayLike | ProductCounts", n_hashes: int
    ) -> tuple[Array, Array]:
        """Return kernel estimates from the numbers of agreeing codes, and their standard errors.

        `counts` are `ProductCounts` if the law needs parts.
        """

    def highest(self, counts: npt.ArrayLike, n_hashes: int) -> Array:
        """Return the highest possible estimates for these numbers of agreeing codes."""
        return self.estimate(counts, n_hashes)[0]

    @abstractmethod
    def least_rate(self, kernel: npt.ArrayLike) -> Array:
        """Return the rate at which codes agree if the kernel has this value. For a product, several
        rates are possible; return a lower bound of them."""

    def described(self) -> dict[str, Any]:
        """Return the law as a JSON value, for `law_described_by`."""
        values: Any = self
        return {"name": self.name, **asdict(values)}


@dataclass(frozen=True)
class ByChance(AgreementLaw):
    """The law of samples that agree at the rate of the kernel, with codes that agree by chance.

    Parameters
    ----------
    bits : int
        Bits of a code, 1 to 24.
    chance : float or None, default=None
        Probability that the codes of different samples agree, at least 0 and below 1. None means
        ``2 ** -bits``. It is 0 for `SignProjection`.

    Raises
    ------
    ValueError
        If a parameter is invalid.

    Examples
    --------
    >>> from sparsemaps.codes import ByChance
    >>> ByChance(8)
    ByChance(bits=8, chance=0.00390625)
    """

    bits: int
    chance: float = None  # type: ignore[assignment]  # __post_init__ makes it a number

    name = "by chance"

    def __post_init__(self) -> None:
        bits = _checks.check_int("bits", self.bits, 1, LARGEST_BITS)
        chance = 2.0**-bits if self.chance is None else _checks.check_real("chance", self.chance, 0)
        if chance >= 1:
            raise ParameterError("chance", str(self.chance), "at least 0 and below 1")
        vars(self).update(bits=bits, chance=chance)

    def estimate(
        self, counts: "npt.ArrayLike | ProductCounts", n_hashes: int
    ) -> tuple[Array, Array]:
        chance = self.chance
        counts = _checked(counts, n_hashes)
        std = _error_of_rate(counts, n_hashes)[1]
        return (counts / n_hashes - chance) / (1 - chance), std / (1 - chance)

    def least_rate(self, kernel: npt.ArrayLike) -> Array:
        kernel = np.clip(kernel, 0, 1)
        return np.asarray(kernel + (1 - kernel) * self.chance)


@dataclass(frozen=True)
class BySigns(AgreementLaw):
    """The law of bits of `RandomFourier`, which agree at a rate that is a function of the kernel.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"} or None
        The kernel; None for other kernels, which cannot be estimated from codes.

    Raises
    ------
    ValueError
        If `kernel` has another value.

    Examples
    --------
    >>> from sparsemaps import RandomFourier
    >>> RandomFourier().fit_any_width().encode([[1.0]], packed=True).law
    BySigns(kernel='rbf')
    """

    kernel: Literal["rbf", "laplacian"] | None

    name = "by signs"
    bits = 1
    chance = 0.5

    def __post_init__(self) -> None:
        if self.kernel is not None:
            _checks.check_choice("kernel", self.kernel, ("rbf", "laplacian"))

    def estimate(
        self, counts: "npt.ArrayLike | ProductCounts", n_hashes: int
    ) -> tuple[Array, Array]:
        rates, values = self._table()
        counts = _checked(counts, n_hashes)
        near, std = _error_of_rate(counts, n_hashes)
        slope = np.interp(near, rates, np.gradient(values, rates))
        return np.interp(counts / n_hashes, rates, values), std * slope

    def least_rate(self, kernel: npt.ArrayLike) -> Array:
        rates, values = self._table()
        return np.asarray(np.interp(np.clip(kernel, 0, 1), values, rates))

    def _table(self) -> tuple[Array, Array]:
        if self.kernel is None:
            raise ValueError(
                "these codes have no estimate: their rate of agreement is not a function of the "
                f"kernel alone; {named_class('RandomFourier')} has an estimate with "
                f"{setting('kernel', 'rbf')} and {setting('kernel', 'laplacian')}"
            )
        return signs_table(self.kernel)


@dataclass(frozen=True)
class ByProduct(AgreementLaw):
    """The law of concatenated codes of several maps, whose kernels are multiplied.

    Parameters
    ----------
    parts : sequence of ByChance
        The law of each map's codes: at least two, with at most 24 bits together. The first has the
        highest bits.

    Raises
    ------
    ValueError
        If `parts` is not such a sequence.

    Examples
    --------
    >>> from sparsemaps import KernelProduct
    >>> law = KernelProduct().fit_any_width().encode([[1.0]], packed=True).law
    >>> law.parts
    (ByChance(bits=8, chance=0.00390625), ByChance(bits=1, chance=0.0))
    """

    parts: tuple[ByChance, ...]

    name = "by a product"

    def __post_init__(self) -> None:
        given = self.parts
        parts = tuple(given) if isinstance(given, Sequence) else ()
        if len(parts) < 2 or not all(isinstance(part, ByChance) for part in parts):
            raise ParameterError("parts", repr(given), "at least two laws by chance")
        _checks.check_int("bits of parts", sum(part.bits for part in parts), 2, LARGEST_BITS)
        vars(self)["parts"] = parts

    @property
    def bits(self) -> int:
        return sum(part.bits for part in self.parts)

    @property
    def chance(self) -> float:
        return math.prod(part.chance for part in self.parts)

    @property
    def needs_parts(self) -> bool:
        chances = [part.chance for part in self.parts]
        if len(chances) > 2 and any(chances):
            raise ValueError(
                "products of more than two maps whose codes agree by chance have no estimate"
            )
        return any(chances)

    def estimate(
        self, counts: "npt.ArrayLike | ProductCounts", n_hashes: int
    ) -> tuple[Array, Array]:
        """For two maps, return the mean over samples of a number that depends on which of the two
        codes agree."""
        if not self.needs_parts:
            both = counts.both if isinstance(counts, ProductCounts) else counts
            return ByChance(self.bits, 0.0).estimate(both, n_hashes)
        if not isinstance(counts, ProductCounts):
            raise ValueError(
                "the estimate of a product takes the numbers of joint codes and of codes of each "
                "map that agree: give agreements(A, B)"
            )
        p, q = (part.chance for part in self.parts)
        both = _checked(counts.both, n_hashes, "both")
        first = _checked(counts.first, n_hashes, "first")
        second = _checked(counts.second, n_hashes, "second")
        if (both > np.minimum(first, second)).any() or (first + second - both > n_hashes).any():
            raise ValueError("both, first and second must be counts of the same codes")
        shares = np.stack([both, first - both, second - both, n_hashes - first - second + both])
        numbers = np.array([1.0, -q / (1 - q), -p / (1 - p), p * q / ((1 - p) * (1 - q))])
        numbers = numbers.reshape(4, *[1] * both.ndim)
        kernel = (shares * numbers).sum(axis=0) / n_hashes
        added = np.array([_ADDED, 0, 0, _ADDED]).reshape(numbers.shape)
        shares = (shares + added) / (n_hashes + 2 * _ADDED)
        mean = (shares * numbers).sum(axis=0)
        variance = (shares * (numbers - mean) ** 2).sum(axis=0)
        return kernel, np.sqrt(variance / n_hashes)

    def highest(self, counts: npt.ArrayLike, n_hashes: int) -> Array:
        # It is highest if no part agrees in any other sample.
        agreeing = np.asarray(counts)
        return self.estimate(ProductCounts(agreeing, agreeing, agreeing), n_hashes)[0]

    def least_rate(self, kernel: npt.ArrayLike) -> Array:
        return np.asarray(np.clip(kernel, 0, 1))


_LAWS: tuple[type[AgreementLaw], ...] = ByChance, BySigns, ByProduct


def law_described_by(description: object) -> AgreementLaw:
    """Return the law that `AgreementLaw.described` described. Raise a ValueError if the description
    has another form."""
    if not isinstance(description, dict):
        raise ValueError(f"law must be a dictionary, got {description!r}")
    values = dict(description)
    name = values.pop("name", None)
    law = next((law for law in _LAWS if law.name == name), None)
    if law is None:
        raise ValueError(f"law must have one of the names {[law.name for law in _LAWS]}")
    if law is ByProduct:
        parts = values.get("parts")
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            raise ValueError(f"parts must be dictionaries, got {parts!r}")
        values["parts"] = tuple(_made(ByChance, part) for part in parts)
    return _made(law, values)


def _made(law: Any, values: dict[str, Any]) -> Any:
    names = [field.name for field in fields(law)]
    if sorted(values) != sorted(names) or values.get("chance", 0) is None:
        raise ValueError(f"the law {law.name!r} must have {names}, got {values!r}")
    return law(**values)


def _checked(counts: Any, n_hashes: int, name: str = "counts") -> Array:
    """Return `counts` as float64. Raise unless all are from 0 to `n_hashes`."""
    if sp.issparse(counts):
        raise ValueError(f"{name} must be an array of numbers, got a sparse {counts.format} matrix")
    counts = np.asarray(counts)
    if counts.dtype.kind not in "biuf" and counts.size:
        raise ValueError(f"{name} must be an array of numbers, got one of {counts.dtype}")
    if counts.size and not (counts.min() >= 0 and counts.max() <= n_hashes):
        raise ValueError(
            f"{name} must be from 0 to n_hashes = {n_hashes}, got {counts.min()} to {counts.max()}"
        )
    return counts.astype(np.float64)  # small integer types would overflow in the formulas


def _error_of_rate(counts: Array, n_hashes: int) -> tuple[Array, Array]:
    """Return the rate after adding `_ADDED` agreements and differences, and its standard error."""
    size = n_hashes + 2 * _ADDED
    near, far = (counts + _ADDED) / size, (n_hashes - counts + _ADDED) / size
    return near, np.sqrt(near * far / n_hashes)


@lru_cache
def signs_table(kernel: str) -> tuple[Array, Array]:
    """Return ascending rates at which bits agree, and the value of the kernel at each rate."""
    if kernel == "rbf":  # K(c delta) = K**(c * c)
        roots = np.linspace(5, 0, 5001)
        total = np.zeros(len(roots))
        for odd in range(1, 8001, 2):
            total += np.exp(-((odd * roots) ** 2)) / odd**2
        total[-1] = np.pi**2 / 8
        values = np.exp(-(roots**2))
    else:  # the Laplacian kernel, with K(c delta) = K**c
        values = np.concatenate([np.linspace(0, 0.99, 2000), 1 - np.geomspace(0.0099, 1e-9, 2000)])
        values = np.append(values, 1.0)
        total = (scipy.special.spence(1 - values) - scipy.special.spence(1 + values)) / 2
    return 0.5 + 4 / np.pi**2 * total, values
