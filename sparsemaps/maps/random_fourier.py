"""Random Fourier features: Gaussian, Laplacian, Cauchy and Matern kernels, and the folded RBF."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops import codes as _codes
from sparsemaps._loops import maps as _loops
from sparsemaps._loops.codes import PACKED
from sparsemaps._tools import _portable_math, _seeding, _sklearn
from sparsemaps._tools._allowed import LARGEST_INT32, About, Choice, Function, NumberOr, Real, Size
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array, Keys, Matrix, RandomState
from sparsemaps.laws._shift_invariant import FourierLaw
from sparsemaps.maps import _bandwidth
from sparsemaps.maps._angles import write_features
from sparsemaps.maps._draw import CodesDraw, Work
from sparsemaps.maps._sampled_map import HasCodes
from sparsemaps.maps._sparse_map import random_map

_KERNELS: dict[str, tuple[int, _bandwidth.Of]] = {
    "rbf": (_loops.NORMAL, "squared"),
    "laplacian": (_loops.CAUCHY, "absolute"),
    "cauchy": (_loops.LAPLACE, "euclidean"),
    "matern": (_loops.NORMAL, "squared"),
    "folded_rbf": (_loops.NORMAL, "squared"),
}
"""Distribution of the random vectors, and the distance that gamma multiplies."""


class FourierDraw(CodesDraw):
    """The random vectors, with their lengths and phases."""

    def prepare(self) -> None:
        self.quantiles = self.law.quantiles

    @property
    def width(self) -> int:
        return self.size

    def _find_samples(self, block: Block, codes: Array, sampled: Array) -> None:
        """Do nothing, because all rows have codes."""

    def _scales(self, key: np.uint64, n: int) -> Array:
        """Return the factors of the projections on each of n vectors, in turns."""
        if self.kernel in ("laplacian", "cauchy") or self.spectrum is not None:
            scale = np.full(n, self.gamma)
        else:
            scale = np.full(n, np.sqrt(self.gamma))
            if self.kernel != "folded_rbf":
                scale *= np.sqrt(2)
        if self.kernel == "matern":
            chi_square = 2 * _portable_math.gamma_quantile(self.nu, _seeding.uniforms(key, n))
            scale *= np.sqrt(2 * float(self.nu) / chi_square)
        return scale / (2 * np.pi)

    def keys(self) -> Keys:
        """Return the keys of the vectors, of their lengths and of the phases."""
        kernel = self.kernel if self.spectrum is None else "spectrum"
        return _seeding.keys(self.seed, "random_fourier", 3, kernel)

    def _features(self, dtype: npt.DTypeLike, n_pairs: int) -> Callable[[Block, Array], None]:
        """Return a function that writes the features of a block: first pairs of cosine and sine,
        then single cosines."""
        n_vectors = self.n_components - n_pairs
        vectors, scales, phases = self.keys()
        folded = self.kernel == "folded_rbf"
        turns = np.zeros(n_vectors) if folded else _seeding.uniforms(phases, n_vectors)
        kind = _KERNELS[self.kernel][0] if self.quantiles is None else _loops.QUANTILES
        factor = np.sqrt((1 if folded else 2) / self.n_components)
        numbers: dict[int, Any] = {8: (self._scales(scales, n_vectors), turns)}
        if dtype == np.float32:
            # Scales may exceed float32: a row with such angles is far.
            is_steep = self.gamma > 1e30 or self.kernel == "matern"
            with np.errstate(over="ignore") if is_steep else nullcontext():
                numbers[4] = tuple(array.astype(dtype) for array in numbers[8])

        def write(block: Block, out: Array) -> Any:
            _loops.project(*block, vectors, kind, n_vectors, out, quantiles=self.quantiles)
            # Features overwrite the projections.
            return _loops.features(out, *numbers[out.itemsize], n_pairs, factor, out)

        return lambda block, out: write_features(block, out, write)

    def transform(self, work: Work) -> Matrix:
        rows = work.rows
        paired = self.form == "paired" and self.kernel != "folded_rbf"
        write = self._features(rows.dtype, self.n_components // 2 if paired else 0)
        out = np.empty((rows.n_rows, self.n_components), rows.dtype)
        work.each_block(write, out)
        return out

    def write(self, block: Block, layout: int, out: Array) -> None:
        dtype = block.values.dtype
        write = self._features(dtype, 0)
        for part, here in block.parts(self.n_components * dtype.itemsize):
            features = np.empty((part.n_rows, self.n_components), dtype)
            write(part, features)
            signs = features >= 0
            if layout == PACKED:  # faster than through int32
                out[here] = np.packbits(signs, axis=1, bitorder="little")
            else:
                _codes.write(signs.astype(np.int32), 1, layout, out[here])


@random_map
class RandomFourier(HasCodes[Array]):
    r"""Random Fourier features of each row: kernels of the difference of two rows, on average.

    A kernel :math:`k(x - y)` is the mean of :math:`\cos \langle \omega, x - y \rangle` over vectors
    :math:`\omega` from its spectral density. Features are cosines and sines of :math:`\langle
    \omega_j, x \rangle`. The entries of a vector are drawn when a row has the column, and are never
    stored.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "cauchy", "matern", "folded_rbf"}, default="rbf"
        Name of the kernel; "rbf" is the Gaussian. With :math:`\Delta = x - y`:

        - "rbf": :math:`\exp(-\gamma \|\Delta\|^2)`;
        - "laplacian": :math:`\exp(-\gamma \|\Delta\|_1)`;
        - "cauchy": :math:`\prod_i 1 / (1 + \gamma^2 \Delta_i^2)`;
        - "matern": the Matern kernel of smoothness `nu` and length scale
          :math:`1 / \sqrt{2 \gamma}`, which for large `nu` becomes "rbf";
        - "folded_rbf": :math:`\frac12 e^{-\gamma (1 - \rho)} + \frac12 e^{-\gamma (1 + \rho)}` for
          rows of unit length and inner product :math:`\rho`. For other rows it is
          :math:`\frac12 e^{-\gamma \|x - y\|^2 / 2} + \frac12 e^{-\gamma \|x + y\|^2 / 2}`.
    spectrum : callable or None, default=None
        Another kernel, :math:`\prod_i \varphi(\gamma (x_i - y_i))` with
        :math:`\varphi(t) = E \cos(t w)`: the quantile function of the random number w, such as
        ``scipy.stats.logistic.ppf``. It is called with an ndarray of 65,536 probabilities, and must
        not fall and be symmetric, with ``spectrum(1 - u) = -spectrum(u)``. Then `kernel` must be
        left out and `gamma` a number, and the map has no ``to_config``. See Notes for the error.
        Maps of two spectra and one seed share their random numbers: give them two seeds.
    gamma : float, "scale" or "median", default=1.0
        Factor of the (squared) distance, [allowed], as in scikit-learn's kernels. "scale" takes
        ``1 / (n_features * X.var())`` of the matrix given to ``fit`` ("laplacian":
        ``1 / (n_features * X.std())``, "cauchy": its root).
        "median" makes the kernel ``exp(-1/2)`` (of squared distances) or ``exp(-1)`` at the median
        distance of a sample of 256 rows. Both are a first guess: search around it.
    nu : float, default=1.5
        Smoothness of "matern", [allowed]: 0.5 is ``exp(-r / l)``, with the
        distance r and the length scale l.
    n_components : int, default=1024
        Width of the output, [allowed]. The standard error of a kernel value k is
        ``(1 - k**2) / sqrt(n_components)`` for "rbf" in the paired form; more components extend
        the first ones, up to the factor.
    form : {"paired", "offset"}, default="paired"
        "paired" for cosines with sines, "offset" for cosines with random phases. "paired" has (cos,
        sin) of each of ``n_components / 2`` vectors, one vector after another; if `n_components` is
        odd, the last component has the offset form. "offset" has ``cos(<omega, x> + b)`` of
        `n_components` vectors, b uniform in a whole turn; its error is larger if ``2 * k(Delta)**2
        > k(2 * Delta)``, for "rbf" everywhere. "folded_rbf" has cosines without b in both forms.
    [random_state, n_jobs, attributes, gamma_]

    See Also
    --------
    RandomBinning : The Laplacian kernel, and other products of one function of each column's
        difference, by `pitch_density`; :doc:`/tuning` says which to take.
    SignProjection : The acos kernel, in bits.
    sklearn.kernel_approximation.RBFSampler : "rbf" in the offset form, by a stored matrix.

    Notes
    -----
    The factor sqrt(2 / n_components) is in the values (1 / sqrt(n_components) for "folded_rbf"), so
    that inner products estimate the kernel directly. The variance of such an estimate is

    - paired, for an even D: :math:`\frac1D P`, with
      :math:`P = 1 + k(2\Delta) - 2 k(\Delta)^2` and D / 2 pairs;
    - offset: :math:`\frac1D Q`, with :math:`Q = 1 + \frac12 k(2 \Delta) - k(\Delta)^2`;
    - paired, for an odd D, whose last component has the offset form:
      :math:`\frac1{D^2} ((D - 1) P + Q)`. For close rows P is small and Q is not, so that an even D
      is much better;
    - folded: :math:`\frac1D (E \cos^2 \cos^2 - K^2)`, K its kernel,

    and an error of at least e has probability at most ``2 exp(-D e**2 / 4)`` in the paired form.

    The spectral densities: "rbf" normal, variance :math:`2 \gamma`; "laplacian" Cauchy, scale
    :math:`\gamma`; "cauchy" Laplace, scale :math:`\gamma`; "matern" multivariate t with 2 nu
    degrees of freedom; "folded_rbf" normal, variance :math:`\gamma`. Equation (11) of [2]_ lacks
    a factor 1/2 for single cosines with an offset, which is the root of 2 in the offset form here.

    Of a `spectrum`, w is drawn on the lines between its quantiles at the middles of 65,536 equal
    parts of (0, 1), rounded to float32; before the first and after the last midpoint, it is the
    quantile at that midpoint, because quantiles may be infinite at 0 and 1. So its distribution
    function is off by at most 2^-16, and :math:`\varphi(t)` by at most 3 * 10^-5 for normal,
    Laplace, logistic and Cauchy numbers, as measured for t up to 300. The exact kernel follows from
    the numbers that are drawn; it costs about 0.1 ms for each different absolute difference of a
    row of X.

    Angles are computed in the precision of the input. In float32 they are off by about 10^-6 for
    each turn. Far float32 rows, such as rows at a large distance from 0, are mapped in float64, and
    have the features of the same numbers in float64. A row is far if more than half of its first 64
    angles are above 4 turns, or more than an eighth above 64 turns. Far rows take two to four times
    as long; subtracting the mean from all rows keeps the kernel. Rows with more than an eighth of
    these angles above 2^44 turns raise an error, because float64 hardly represents their fractions.
    In other rows, vectors with heavy tails may give single angles beyond any precision; angles
    above 2^21 turns (2^50 for float64) count as 0. Cost: O(entries * n_components).

    References
    ----------
    .. [1] A. Rahimi, B. Recht, "Random features for large-scale kernel machines", NIPS 2007,
       section 3.
    .. [2] P. Li, "A comparison study of nonlinear kernels", 2015, section 1.4.
    .. [3] D. Sutherland, J. Schneider, "On the error of random Fourier features", UAI 2015.
    .. [4] M. Raginsky, S. Lazebnik, "Locality-sensitive binary codes from shift-invariant
       kernels", NIPS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from sparsemaps import RandomFourier
    >>> X = np.array([[0.6, 0.8, 0.0], [0.0, 0.8, 0.6]])
    >>> Z = RandomFourier(gamma=0.5, n_components=4096, random_state=0).fit_transform(X)
    >>> Z.shape
    (2, 4096)
    >>> bool(np.allclose(Z @ Z.T, rbf_kernel(X, gamma=0.5), atol=0.05))
    True

    A kernel by its spectrum: uniform numbers from -1 to 1 give a product of ``sin(t) / t``.

    >>> fourier = RandomFourier(spectrum=lambda u: 2 * u - 1, gamma=2.0, random_state=0).fit(X)
    >>> expected = np.sin(2.0 * 0.6) / (2.0 * 0.6)
    >>> bool(np.allclose(fourier.exact_kernel(X)[0, 1], expected**2))
    True
    """

    _about = About(
        command="fourier",
        help="Gaussian, Laplacian, Cauchy, Matern or folded Gaussian kernel",
    )
    law_class = FourierLaw
    draw_class = FourierDraw

    kernel: Literal["rbf", "laplacian", "cauchy", "matern", "folded_rbf"] = Choice(
        "rbf", "laplacian", "cauchy", "matern", "folded_rbf"
    ).default("rbf")
    spectrum: Callable[[Array], Array] | None = Function().default(None)
    gamma: _bandwidth.Gamma = NumberOr("scale", "median").default(1.0)
    nu: float = Real(above=0, most=10_000).default(1.5)
    n_components: int = Size(1, LARGEST_INT32).default(1024)
    form: Literal["paired", "offset"] = Choice("paired", "offset").default("paired")
    random_state: RandomState = None
    n_jobs: int | None = None

    def _check_together(self) -> None:
        if self.spectrum is None:
            return
        if self.kernel != "rbf":
            raise ParameterError("kernel", repr(self.kernel), "left out if a spectrum is given")
        if isinstance(self.gamma, str):
            raise ParameterError("gamma", repr(self.gamma), "a number if a spectrum is given")

    def _learn(self, n_columns: int | None, rows: RowReader | None) -> dict[str, Any]:
        return {"gamma": _bandwidth.choose(self.gamma, _KERNELS[self.kernel][1], rows)}

    encode = _sklearn.available_if(lambda self: self.has_codes)(HasCodes.encode)
    encode_texts = _sklearn.available_if(lambda self: self.has_codes)(HasCodes.encode_texts)
    numbers = _sklearn.available_if(lambda self: self.has_codes)(HasCodes.numbers)
