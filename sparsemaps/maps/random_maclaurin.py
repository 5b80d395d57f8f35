"""Random Maclaurin features: kernels that are power series of the inner product."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from sparsemaps._input._row_reader import Block, most_entries
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _checks, _portable_math, _seeding
from sparsemaps._tools._allowed import LARGEST_INT32, About, Bool, ChoiceOrSeries, Int, Real, Size
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Array, Keys, Matrix, RandomState
from sparsemaps.laws._series import MaclaurinLaw
from sparsemaps.maps._csr_output import make_csr
from sparsemaps.maps._draw import Draw, Work
from sparsemaps.maps._sparse_map import SparseMap, random_map

_TERMS_OF_EXP = 64
"""Degrees of the exponential kernel. Higher degrees would be drawn with probability 2^-64."""


class MaclaurinDraw(Draw):
    """The random degrees of the features, and the signs of their projections."""

    @property
    def width(self) -> int:
        if not self.h01:
            return self.size
        if self.n_columns is None:
            raise ValueError(
                "with h01=True the width of the output depends on the width of the input, which "
                "is unknown after fit_any_width: fit the map to data"
            )
        return 1 + self.size + self.n_columns

    def prepare(self) -> None:
        series = self.law.coefficients
        # The factors of the terms of degree 0 and 1, which `h01` makes exact.
        self._exact = math.sqrt(series[0]), math.sqrt(series[1]) if len(series) > 1 else 0.0
        self._key = self.keys()[0]
        self.factors, self.firsts = self._draw_features(series)
        largest = max(float(self.factors.max()), *self._exact)
        self._most_entries = most_entries(1 + int(np.diff(self.firsts).max()), 1.0, largest)

    def keys(self) -> Keys:
        """Return the keys of the projections and of the degrees."""
        if not isinstance(self.kernel, str):
            parameters: list[_seeding.Parameter] = [float(a) for a in self.kernel]
        elif self.kernel == "poly":
            parameters = ["poly", self.degree]
        else:
            parameters = [self.kernel]
        return _seeding.keys(self.seed, "random_maclaurin", 2, *parameters)

    def _draw_features(self, series: Array) -> tuple[Array, Array]:
        """Return each feature's factor, and the boundaries of its projections."""
        degrees, probabilities = self.law.degrees
        factors = np.zeros(self.n_components)
        firsts = np.zeros(self.n_components + 1, np.int64)
        if len(degrees):
            key = self.keys()[1]
            uniform = _seeding.uniforms(key, self.n_components)
            drawn = np.searchsorted(np.cumsum(probabilities)[:-1], uniform, side="right")
            variances = series[degrees] / probabilities / self.n_components
            factors[:] = np.sqrt(variances)[drawn]
            np.cumsum(degrees[drawn], out=firsts[1:])
        return factors, firsts

    def transform(self, work: Work) -> Matrix:
        rows = work.rows
        if self.h01:
            width = 1 + self.n_components + rows.n_columns
            if width > _checks.LARGEST_INT:
                raise ValueError(
                    f"h01=True takes at most 2**63 - 2 - n_components columns, got {rows.n_columns}"
                )
            return make_csr(
                work,
                lambda lengths: lengths + (1 + self.n_components),
                self._write_h01,
                width,
                self._may_overflow,
            )
        out = np.empty((rows.n_rows, self.n_components), rows.dtype)

        def write(block: Block, out: Array) -> None:
            for part, here in block.parts(self._row_bytes(out)):
                self._write(part, out[here])

        work.fill(write, out, self._may_overflow)
        return out

    def _may_overflow(self, block: Block) -> bool:
        """Return whether a feature of a row may exceed the range of its type."""
        return block.powers_may_overflow(self._most_entries)

    def _write_h01(self, block: Block, values: Array, columns: Array, lengths: Array) -> int:
        n_stored = 0
        for part, here in block.parts(self._row_bytes(values)):
            dense = np.empty((part.n_rows, self.n_components), values.dtype)
            self._write(part, dense)
            out = (values[n_stored:], columns[n_stored:], lengths[here])
            n_stored += _loops.with_exact_terms(*part, *self._exact, dense, *out)
        return n_stored

    def _row_bytes(self, out: Array) -> int:
        return int((self.firsts[-1] + self.n_components) * out.itemsize)

    def _write(self, block: Block, out: Array) -> None:
        """Write the random features of a few rows to `out`."""
        n_projections = self.firsts[-1]
        projections = np.empty((len(out), n_projections), out.dtype)
        _loops.project(*block, self._key, _loops.RADEMACHER, n_projections, projections)
        _loops.products(projections, self.factors.astype(out.dtype, copy=False), self.firsts, out)


@random_map
class RandomMaclaurin(SparseMap[Array]):
    r"""Random Maclaurin features of each row: dot-product kernels, on average.

    Let the kernel be :math:`f(\langle x, y \rangle) = \sum_n a_n \langle x, y \rangle^n` with
    :math:`a_n \ge 0`. Each feature draws a degree N and N vectors :math:`\omega_l` of random signs.
    It is

    .. math:: Z(x) = \sqrt{\frac{a_N}{D \, P(N)}} \prod_{l=1}^N \langle \omega_l, x \rangle,

    with D `n_components`. The mean of :math:`\langle Z(x), Z(y) \rangle` is the kernel.

    Parameters
    ----------
    kernel : {"poly", "exp"} or sequence of float, default="poly"
        Name of the kernel, or the coefficients of a series, such as 0.5,0,2. "poly" is
        ``(gamma <x, y> + coef0) ** degree``, "exp" is ``exp(gamma <x, y>)``, and a sequence holds
        the coefficients ``a_0, a_1, ...`` of ``(gamma <x, y>) ** n``: none may be negative, and at
        least one must be positive.
    degree : int, default=2
        Degree of "poly", [allowed].
    gamma : float, default=1.0
        Factor of the inner product, [allowed].
    coef0 : float, default=0.0
        Constant of "poly", [allowed]. At 0 all features have the degree of the polynomial.
    n_components : int, default=1024
        Number of random features, [allowed]. The error of a kernel value falls as
        ``1 / sqrt(n_components)``; more features extend the first ones, up to the factor.
    h01 : bool, default=False
        Keep the terms of degree 0 and 1 exactly ("H0/1"): the output is then CSR of width
        ``1 + n_components + n_features``, with the root of ``a_0`` in the first column, the random
        features of the degrees from 2 on, and the row itself times the root of ``a_1``. It is
        worth it if those terms are large; the output is then wider than the input.
    [random_state, n_jobs, attributes]

    See Also
    --------
    TensorSketch : Polynomial kernels at less cost, and mostly with less variance.

    Notes
    -----
    The degree n has probability proportional to ``2 ** -(n + 1)`` among those with
    :math:`a_n > 0` (from 2 on with `h01`). [1]_ also draws degrees whose coefficient is 0.
    For homogeneous kernels and finite series, the features here have less variance. With
    :math:`E(x, y) = \|x\|^2 \|y\|^2 + 2 \langle x, y \rangle^2 - 2 \sum_i x_i^2 y_i^2` it is

    .. math:: \frac{1}{D} \Big( \sum_n \frac{a_n^2}{P(n)} E(x, y)^n - f(\langle x, y \rangle)^2
              \Big).

    The signs are bits of a function of (seed, column, component). They are computed once for the
    rows of a group that share a column; nothing is stored. Cost: O(entries * degrees), where
    degrees is the sum of the features' degrees.

    A row whose products exceed the range of the output's type raises an error: at degree 2, a row
    with values above 10^19 (float32) or 10^154. Scale such rows first, for instance by
    `sklearn.preprocessing.normalize`.

    References
    ----------
    .. [1] P. Kar, H. Karnick, "Random feature maps for dot product kernels", AISTATS 2012.
    .. [2] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
       2013, section 6.4 (H0/1).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import RandomMaclaurin
    >>> X = np.array([[0.6, 0.8, 0.0], [0.0, 0.8, 0.6]])
    >>> Z = RandomMaclaurin(kernel="exp", n_components=2**14, random_state=0).fit_transform(X)
    >>> Z.shape
    (2, 16384)
    >>> bool(np.allclose(Z @ Z.T, np.exp(X @ X.T), rtol=0.1))
    True
    """

    _about = About(
        command="maclaurin",
        help="polynomial or exponential kernel, or any power series of the inner product",
    )
    law_class = MaclaurinLaw
    draw_class = MaclaurinDraw

    kernel: Literal["poly", "exp"] | Sequence[float] = ChoiceOrSeries(
        "poly", "exp", degrees=1024
    ).default("poly")
    degree: int = Int(1, 1024).default(2)  # keeps binomial coefficients within float64
    gamma: float = Real(above=0).default(1.0)
    coef0: float = Real(least=0).default(0.0)
    n_components: int = Size(1, LARGEST_INT32).default(1024)
    h01: bool = Bool().default(False)
    random_state: RandomState = None
    n_jobs: int | None = None

    def _check_together(self) -> None:
        if not np.isfinite(self._series()).all():
            raise ValueError(
                f"the kernel's coefficients must be finite: {setting('gamma', self.gamma)} and "
                f"{setting('coef0', self.coef0)} overflow at degree {self.degree}"
            )

    def _series(self) -> Array:
        """Return a_n gamma^n for n = 0, 1, ..."""
        with np.errstate(over="ignore", invalid="ignore"):
            if not isinstance(self.kernel, str):
                a = [float(value) for value in self.kernel]
            elif self.kernel == "exp":
                a = [1.0 / math.factorial(n) for n in range(_TERMS_OF_EXP)]
            else:
                coef0 = _portable_math.powers(self.coef0, self.degree + 1)[::-1]
                a = [float(math.comb(self.degree, n)) * power for n, power in enumerate(coef0)]
            powers = _portable_math.powers(self.gamma, len(a))
            return np.array(
                [value and value * power for value, power in zip(a, powers, strict=True)]
            )

    def _degrees(self, series: Array) -> tuple[Array, Array]:
        """Return the possible degrees of features, and their probabilities."""
        first = 2 if self.h01 else 0
        degrees = first + np.flatnonzero(series[first:] > 0)
        # Relative to the lowest degree, so that high degrees do not underflow.
        odds = 2.0 ** -(degrees - degrees[:1]).astype(float)
        return degrees, odds / odds.sum()

    def _law_facts(self) -> dict[str, Any]:
        series = self._series()
        return {"factor": 1.0, "coefficients": series, "degrees": self._degrees(series)}
