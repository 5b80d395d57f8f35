"""Tensor sketch: polynomial kernels, in a chosen number of columns."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._tools import _checks, _seeding
from sparsemaps._tools._allowed import (
    LARGEST_INT32,
    About,
    Bool,
    Choice,
    ChoiceOrSeries,
    Int,
    Real,
    Size,
)
from sparsemaps._tools._parameters import ParameterError, absent, setting
from sparsemaps._tools._typing import Matrix, RandomState
from sparsemaps.kernels._gram import sums_of_rows, values_of
from sparsemaps.laws._series import TensorSketchLaw, name_of
from sparsemaps.maps._csr_output import make_csr
from sparsemaps.maps._draw import Draw, Work
from sparsemaps.maps._polynomial_sketch import PolynomialSketch
from sparsemaps.maps._sparse_map import SparseMap, random_map
from sparsemaps.maps._taylor_sketch import MOST_DEGREES, TaylorSketch, degree_for


class TensorSketchDraw(Draw):
    """The column hashes of each factor."""

    def prepare(self) -> None:
        is_power = name_of(self.kernel) == "poly"
        self._sketch = self._of_power() if is_power else self._of_series()

    def _of_power(self) -> PolynomialSketch:
        degree = self.law.degree
        keys = _seeding.keys(self.seed, "tensor_sketch", 3 * degree, degree)
        roots = math.sqrt(self.gamma), math.sqrt(self.coef0)
        return PolynomialSketch(keys.reshape(-1, 3), *roots, self.n_components, self.method)

    def _of_series(self) -> TaylorSketch:
        coefficients, gamma = self.law.coefficients.tolist(), float(self.gamma)
        named = name_of(self.kernel)
        is_rbf = named == "rbf"
        return TaylorSketch(
            self.seed,
            (named, self.law.degree) if named else ("series", *coefficients),
            coefficients,
            math.sqrt((1 + is_rbf) * gamma),
            self.n_components,
            self.method,
            gamma if is_rbf else 0.0,
        )

    def transform(self, work: Work) -> Matrix:
        rows, sketch = work.rows, self._sketch
        if name_of(self.kernel) in ("exp", "rbf") and self.degree is None:
            work.each_block(self._check_lengths)
        if not self.dense_output:
            itemsize = rows.dtype.itemsize
            return make_csr(
                work,
                lambda lengths: sketch.max_entries(lengths, itemsize),
                sketch.write_csr,
                self.n_components,
                sketch.may_overflow,
            )
        out = np.zeros((rows.n_rows, self.n_components), rows.dtype)
        work.fill(sketch.write_dense, out, sketch.may_overflow)
        return out

    def _check_lengths(self, block: Block) -> None:
        """Raise if a row is longer than `max_norm`, for which the degree was chosen."""
        with np.errstate(over="ignore"):
            squares = sums_of_rows(block, np.square(values_of(block)))
        longest = int(np.argmax(squares))
        if squares[longest] > (float(self.max_norm) * (1 + 1e-6)) ** 2:
            length = f"{np.sqrt(squares[longest]):.6g}"
            limit = setting("max_norm", self.max_norm)
            raise block.error(longest, f"the length of the row is {length}, above {limit}")


@random_map
class TensorSketch(SparseMap[Matrix]):
    r"""Tensor sketch of each row: the polynomial kernel, on average.

    The sketch is the count sketch of all products of `degree` entries of a row. The hashes of a
    product are sums and products of the hashes of its entries: :math:`H(i_1, \dots, i_p) = \sum_k
    h_k(i_k) \bmod D` and :math:`S = \prod_k s_k(i_k)`, from `degree` independent pairs. Then

    .. math:: E \langle Cx, Cy \rangle = \kappa(x, y) = (\gamma \langle x, y \rangle + c)^p, \qquad
              \mathrm{Var} \le \frac{2 + 3^p}{D} \kappa(x, x) \kappa(y, y)

    with D `n_components`, p `degree`, c `coef0`, and :math:`\gamma` `gamma`.

    The sketch of a power series :math:`\sum_n a_n (\gamma \langle x, y \rangle)^n` is the sum of
    the sketches of its degrees. Each is multiplied by :math:`\sqrt{a_n}` and by a random sign, and
    is shifted cyclically by a random number of places. Products of different degrees therefore
    vanish on average. The highest degree determines the cost.

    Parameters
    ----------
    kernel : {"poly", "exp", "rbf"} or sequence of float, default="poly"
        Name of the kernel, or coefficients of a power series. "poly" is ``(gamma <x, y> + coef0) **
        degree``, "exp" is ``exp(gamma <x, y>)``, "rbf" the Gaussian kernel ``exp(-gamma |x -
        y|**2)``, and a sequence holds the coefficients ``a_0, a_1, ...`` of ``(gamma <x, y>) **
        n``, at most 257, none negative.
    degree : int or None, default=None
        Highest degree of the polynomial or of the series, [allowed] (256 for a series). None is 2
        for "poly"; for "exp" and "rbf" it is the least degree that leaves an error of at most
        `tolerance` for rows of length `max_norm` or less. The length of a sequence decides its
        degree.
    gamma : float, default=1.0
        Factor of the inner product or of the squared distance, [allowed].
    coef0 : float, default=0.0
        Constant of "poly", [allowed]. It adds one coordinate, of value ``sqrt(coef0)``, to the
        row's coordinates, which are multiplied by ``sqrt(gamma)``.
    n_components : int, default=1024
        Width of the output, [allowed]; it need not be a power of two, but a product of small
        primes transforms faster. For rows of unit length, the error of a kernel value falls as
        ``1 / sqrt(n_components)``, and grows with the degree.
    method : {"auto", "fft", "direct"}, default="auto"
        Algorithm of the sketch. "fft" convolves the count sketches of the factors by Fourier
        transforms; "direct" sums over tuples of entries or entry by entry. "auto" takes, for each
        row, the one that costs less (see Notes). All give the same sketch, up to rounding.
    max_norm : float, default=1.0
        Length of the longest row, [allowed], for which the degree of "exp" and "rbf" is chosen. A
        row that is longer by more than a relative 1e-6 is then an error.
    tolerance : float, default=0.001
        Largest error of a kernel value from the series of "exp" and "rbf" ending at the chosen
        degree, [allowed].
    dense_output : bool, default=True
        Return an ndarray; otherwise CSR without zeros, which is smaller if rows are short and
        n_components is large: a row of m entries has at most ``m ** degree`` values.
    [random_state, n_jobs, attributes]

    See Also
    --------
    CountSketch : Degree 1, the linear kernel.
    sklearn.kernel_approximation.PolynomialCountSketch : The same sketch, with stored hashes and
        dense transforms of all rows at once.

    Notes
    -----
    `scipy.fft` computes the transforms, in the precision of the input. The last bits of
    their rows may change with the version of SciPy. Rows that are summed directly are exact if
    the sums are: integers with ``gamma=1`` and a square `coef0` give integers.

    A row whose products exceed the range of the output's type raises an error: at degree 2, a row
    with values above 10^19 (float32) or 10^154. Scale such rows first, for instance by
    `sklearn.preprocessing.normalize`.

    Directly, the tuples of the first s factors are summed, and the other factors are convolved with
    that sketch, entry by entry. In units of one tuple, each about a nanosecond of a
    core, and with b bytes a value, a row of m entries (coef0's coordinate included) costs

    .. math:: m^s + (p - s) \, m \frac{D b}{96} \quad \text{directly,} \qquad
              (p + 1) D \log_2(2 D) \frac{b}{12} + p m \quad \text{by transforms,}

    where s is the least number with :math:`m^s \ge D b / 96`, at most p. "auto" takes the cheaper
    one. With D = 1024 and p = 2, rows of up to about 270 entries are summed directly.

    The variance of a series by fully random hashes is in ``sparsemaps.approximation``: for "exp"
    with ``gamma=1`` and rows of unit length and many entries, it is 6.8, 9.9, 18.9 and 23.1 over
    n_components, for inner products of .1, .5, .9 and 1, and with `RandomMaclaurin` 7.5, 11.6,
    31.4 and 42.4. Simulated with 1,000 normal entries a row, 256 components and 2,000 seeds, they
    are 6.7, 9.5, 17.5 and 21.7, and 7.6, 11.6, 28.6 and 39.4, with standard errors of 3 and 5 %.
    For rows of 20 entries the formula has up to a tenth less, as equal columns always meet.

    Lemma 6 of [1]_ states the smaller variance
    :math:`(\kappa(x, y)^2 + \kappa(x, x) \kappa(y, y)) / D`, as if the signs of tuples were 4-wise
    independent, which products of signs are not; for equal rows of many entries it is exceeded
    threefold at degree 2 and 31-fold at degree 5. The bound above, which holds, is from [2]_; with
    signs that are 4-wise independent, :math:`2 + 3^p` may be :math:`3^p - 1` [4]_.

    References
    ----------
    .. [1] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
       2013, section 4.
    .. [2] H. Avron, H. Nguyen, D. Woodruff, "Subspace embeddings for the polynomial kernel", NIPS
       2014, lemma 2.
    .. [3] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
       2013, section 7, names the sketch of Taylor series.
    .. [4] N. Pham, R. Pagh, "Tensor sketch: fast and scalable polynomial kernel approximation",
       arXiv 2505.08146, 2025, corrects the lemma.
    .. [5] Y. Cho, L. Saul, "Kernel methods for deep learning", NIPS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import TensorSketch
    >>> X = np.array([[0.6, 0.8, 0.0], [0.0, 0.8, 0.6]])
    >>> sketch = TensorSketch(degree=3, coef0=1.0, n_components=4096, random_state=0)
    >>> Z = sketch.fit_transform(X)
    >>> Z.shape
    (2, 4096)
    >>> exact = (X @ X.T + 1.0) ** 3
    >>> bool(np.allclose(Z @ Z.T, exact, rtol=0.2))
    True

    The arc-cosine kernel of degree 1 [5]_ for rows of unit length, with :math:`\cos \theta` their
    inner product, is :math:`(\sin \theta + (\pi - \theta) \cos \theta) / \pi`. Its coefficients
    (for odd degrees from 3 on they are 0):

    >>> from math import comb, pi
    >>> even = [comb(n, n // 2) / (2**n * (n + 1) * (n + 2) * pi) for n in range(0, 12, 2)]
    >>> arc_cosine = [1 / pi, 0.5] + [a for pair in zip(even, [0.0] * 6) for a in pair]
    >>> sketch = TensorSketch(kernel=arc_cosine, n_components=4096, random_state=0)
    >>> Z = sketch.fit_transform(X)
    >>> angles = np.arccos(np.clip(X @ X.T, -1, 1))
    >>> exact = (np.sin(angles) + (pi - angles) * np.cos(angles)) / pi
    >>> bool(np.allclose(sketch.exact_kernel(X), exact, atol=0.003))
    True
    >>> bool(np.allclose(Z @ Z.T, exact, atol=0.1))
    True
    """

    _about = About(
        command="tensor-sketch",
        help="polynomial kernel or power series, by sketches of tensor products",
    )
    law_class = TensorSketchLaw
    draw_class = TensorSketchDraw

    kernel: Literal["poly", "exp", "rbf"] | Sequence[float] = ChoiceOrSeries(
        "poly", "exp", "rbf", degrees=256
    ).default("poly")
    degree: int | None = Int(1, 1024, none=True).default(None)
    gamma: float = Real(above=0).default(1.0)
    coef0: float = Real(least=0).default(0.0)
    n_components: int = Size(1, LARGEST_INT32).default(1024)
    method: Literal["auto", "fft", "direct"] = Choice("auto", "fft", "direct").default("auto")
    max_norm: float = Real(above=0).default(1.0)
    tolerance: float = Real(above=0).default(1e-3)
    dense_output: bool = Bool(is_option=False).default(True)
    random_state: RandomState = None
    n_jobs: int | None = None

    def _check_together(self) -> None:
        named = name_of(self.kernel)
        if self.degree is not None and named != "poly":
            if not named:
                rule = f"{absent()} for a sequence of coefficients"
                raise ParameterError("degree", str(self.degree), rule)
            _checks.check_int("degree", self.degree, 1, MOST_DEGREES)
        if self.coef0 != 0 and named != "poly":
            raise ParameterError("coef0", str(self.coef0), f"0 without {setting('kernel', 'poly')}")
        if self._degree is None:
            raise ValueError(
                f"no degree up to {MOST_DEGREES} leaves at most "
                f"{setting('tolerance', self.tolerance)} with {setting('gamma', self.gamma)} and "
                f"{setting('max_norm', self.max_norm)}"
            )

    @property
    def _degree(self) -> int | None:
        """Highest degree; None if no degree is sufficient."""
        if not isinstance(self.kernel, str):
            return len(self.kernel) - 1
        if self.degree is not None or self.kernel == "poly":
            return self.degree or 2
        poisson = self.kernel == "rbf"
        mean = (1 + poisson) * float(self.gamma) * float(self.max_norm) ** 2
        return degree_for(mean, poisson, float(self.tolerance))

    def _law_facts(self) -> dict[str, Any]:
        degree, coefficients = self._degree or 0, self.kernel
        if isinstance(coefficients, str):  # the coefficients of exp, for "rbf" too
            coefficients = [1 / math.factorial(n) for n in range(degree + 1)]
        return {
            "degree": degree,
            "factor": float(self.gamma),
            "coefficients": np.array(coefficients, float),
        }
