"""Tensor sketch: polynomial kernels, in a chosen number of columns."""

import functools
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt
import scipy.fft

from sparsemaps import kernels
from sparsemaps._input import _sparse
from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops import tensor_sketch as _kernel
from sparsemaps._tools import _checks, _portable_math, _seeding
from sparsemaps._tools._typing import Array, CsrMatrix, Keys, Matrix, Output, RandomState
from sparsemaps.maps._csr_output import make_csr
from sparsemaps.maps._moments import Moments, Pairs
from sparsemaps.maps._sparse_map import SparseMap

_Factors: TypeAlias = tuple[Keys, float, float]
"""The keys of the factors, the square roots of gamma and coef0."""

LARGEST_DEGREE = 1024

_CHUNK_BYTES = 2**19
"""Largest size of the dense sketches that are transformed at once: they stay in the cache."""

_BYTES_PER_TUPLE = 96
"""Bytes of a sketch that are rotated and added in the time of one tuple."""

_BUTTERFLY_BYTES_PER_TUPLE = 12
"""Bytes of the n log2(2 n) steps of a Fourier transform in that time."""


class TensorSketch(SparseMap[Output]):
    r"""Tensor sketch of each row: the polynomial kernel, on average.

    The sketch is the count sketch of all products of `degree` entries of a row, by hashes that are
    sums of the entries' own: :math:`H(i_1, \dots, i_p) = \sum_k h_k(i_k) \bmod D` and
    :math:`S = \prod_k s_k(i_k)`, from `degree` independent pairs. Then

    .. math:: E \langle Cx, Cy \rangle = \kappa(x, y) = (\gamma \langle x, y \rangle + c)^p, \qquad
              \mathrm{Var} \le \frac{2 + 3^p}{D} \kappa(x, x) \kappa(y, y)

    with D `n_components`, p `degree`, c `coef0`, and :math:`\gamma` `gamma`.

    Parameters
    ----------
    degree : int, default=2
        Degree of the polynomial, 1 to 1024.
    gamma : float, default=1.0
        Factor of the inner product, above 0.
    coef0 : float, default=0.0
        Constant of the polynomial, at least 0. It is one more coordinate, of value
        ``sqrt(coef0)``, beside the row's, which are multiplied by ``sqrt(gamma)``.
    n_components : int, default=1024
        Width of the output, 1 to 2**31 - 1; it need not be a power of two, but a product of small
        primes transforms faster. For rows of unit length, the error of a kernel value falls as
        ``1 / sqrt(n_components)``, and grows with the degree.
    method : {"auto", "fft", "direct"}, default="auto"
        How the sketch is computed. "fft" convolves the count sketches of the factors by Fourier
        transforms; "direct" sums over tuples of entries or entry by entry. "auto" takes, for each
        row, the one that costs less (see Notes). All give the same sketch, up to rounding.
    dense_output : bool, default=True
        Return an ndarray; otherwise CSR without zeros, which is smaller where rows are short and
        n_components is large: a row of m entries has at most ``m ** degree`` values.
    [random_state, n_jobs]

    Attributes
    ----------
    [n_features_in_, feature_names_in_, seed_]

    See Also
    --------
    CountSketch : Degree 1, the linear kernel.
    sklearn.kernel_approximation.PolynomialCountSketch : The same sketch, with stored hashes and
        dense transforms of all rows at once.

    Notes
    -----
    The transforms are those of `scipy.fft`, in the precision of the input. The last bits of their
    rows may change with the version of SciPy. Rows that are summed directly are exact where the
    sums are: integers with ``gamma=1`` and a square `coef0` give integers.

    Products beyond the range of the output's type become infinite or NaN, without an error: at
    degree 2 those of values above 10^19 (float32) or 10^154. Scale such rows first, for instance
    by `sklearn.preprocessing.normalize`.

    Directly, the tuples of the first s factors are summed, and the other factors are convolved with
    that sketch, entry by entry. In units of one tuple, of which a core does about one in a
    nanosecond, and with b bytes a value, a row of m entries (coef0's coordinate included) costs

    .. math:: m^s + (p - s) \, m \frac{D b}{96} \quad \text{directly,} \qquad
              (p + 1) D \log_2(2 D) \frac{b}{12} + p m \quad \text{by transforms,}

    where s is the least for which :math:`m^s \ge D b / 96`, at most p. "auto" takes what is less.
    With D = 1024 and p = 2, rows of up to about 270 entries are summed directly.

    Lemma 6 of [1]_ states the smaller variance
    :math:`(\kappa(x, y)^2 + \kappa(x, x) \kappa(y, y)) / D`, as if the signs of tuples were 4-wise
    independent, which products of signs are not; it is exceeded 1.7-fold at degree 2 and 5-fold at
    degree 5. The bound above, which holds, is from [2]_.

    References
    ----------
    .. [1] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
       2013, section 4.
    .. [2] H. Avron, H. Nguyen, D. Woodruff, "Subspace embeddings for the polynomial kernel", NIPS
       2014, lemma 2.

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
    """

    _summary = "polynomial", "dense or CSR"
    _command = "tensor-sketch", "polynomial kernel, by sketches of tensor products"
    _demo = "polynomial", {"degree": 3, "coef0": 1.0}

    _sparse_components = True

    @overload
    def __init__(
        self: "TensorSketch[Array]",
        *,
        degree: int = ...,
        gamma: float = ...,
        coef0: float = ...,
        n_components: int = ...,
        method: Literal["auto", "fft", "direct"] = ...,
        dense_output: Literal[True] = ...,
        random_state: RandomState = ...,
        n_jobs: int | None = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: "TensorSketch[CsrMatrix]",
        *,
        degree: int = ...,
        gamma: float = ...,
        coef0: float = ...,
        n_components: int = ...,
        method: Literal["auto", "fft", "direct"] = ...,
        dense_output: Literal[False],
        random_state: RandomState = ...,
        n_jobs: int | None = ...,
    ) -> None: ...

    @overload
    def __init__(
        self: "TensorSketch[Array | CsrMatrix]",
        *,
        degree: int = ...,
        gamma: float = ...,
        coef0: float = ...,
        n_components: int = ...,
        method: Literal["auto", "fft", "direct"] = ...,
        dense_output: bool,
        random_state: RandomState = ...,
        n_jobs: int | None = ...,
    ) -> None: ...

    def __init__(
        self,
        *,
        degree: int = 2,
        gamma: float = 1.0,
        coef0: float = 0.0,
        n_components: int = 1024,
        method: Literal["auto", "fft", "direct"] = "auto",
        dense_output: bool = True,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_components = n_components
        self.method = method
        self.dense_output = dense_output
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        _checks.check_int("degree", self.degree, 1, LARGEST_DEGREE)
        _checks.check_real("gamma", self.gamma, 0, open_low=True)
        _checks.check_real("coef0", self.coef0, 0)
        _checks.check_int("n_components", self.n_components, 1, _sparse.LARGEST_INT32)
        _checks.check_choice("method", self.method, ("auto", "fft", "direct"))
        _checks.check_bool("dense_output", self.dense_output)

    @property
    def _width(self) -> int:
        return self.n_components

    def _factors(self) -> _Factors:
        """The factors as the kernels take them."""
        keys = _seeding.keys(self.seed_, "tensor_sketch", 3 * self.degree, self.degree)
        keys = keys.reshape(-1, 3)
        return keys, float(np.sqrt(float(self.gamma))), float(np.sqrt(float(self.coef0)))

    def _transform(self, rows: RowReader) -> Matrix:
        factors = self._factors()
        if not self.dense_output:
            return make_csr(
                rows,
                self._cut(rows),
                self._max_entries,
                lambda block, *out: self._sketch_csr(block, factors, *out),
                self.n_components,
                self.n_jobs,
            )
        out = np.zeros((rows.n_rows, self.n_components), rows.dtype)
        self._for_each_block(
            rows, lambda block, start, stop: self._sketch_dense(block, factors, out[start:stop])
        )
        return out

    def _exact_kernel(self, X: Any, Y: Any) -> Array:
        return kernels.polynomial_kernel(
            X,
            Y,
            degree=self.degree,
            gamma=self.gamma,
            coef0=self.coef0,
            n_jobs=self.n_jobs,
        )

    def _moments(self, pairs: Pairs) -> Moments:
        """The variance of the sketch by fully random hashes, up to terms of 1 / n_components^2.

        In the second moment each factor contributes the same pair twice (`same`), or two different
        columns of x with two of y in one of two ways (`straight`, `crossed`). Products in which all
        factors are `same` always count; others if their one sum of hashes is 0.
        """
        gamma, coef0, degree = self.gamma, self.coef0, self.degree
        inner = gamma * pairs.inner + coef0
        lengths = (gamma * pairs.square_x + coef0) * (gamma * pairs.square_y + coef0)
        overlap = gamma**2 * pairs.overlap + coef0**2
        same, straight, crossed = inner**2, lengths - overlap, inner**2 - overlap
        unit = (same + straight) ** degree + (same + crossed) ** degree - 2 * same**degree
        # Two columns that meet in one factor change as much as in a count sketch, times what the
        # other factors have.
        longest = gamma * pairs.longest + coef0
        jump = 2 * longest * np.sqrt(lengths) ** (degree - 1)
        return Moments(pairs.kernel, unit, "jumps", jump=jump)

    def _max_entries(self, lengths: Array) -> Array:
        """The largest possible number of values of rows of so many entries."""
        if self.method == "fft":
            return np.full(len(lengths), self.n_components)
        with np.errstate(over="ignore"):
            tuples = (lengths + float(self.coef0 != 0)) ** self.degree
        return np.minimum(tuples, self.n_components).astype(np.int64)

    def _sketch_dense(self, block: Block, factors: _Factors, out: Array) -> None:
        n_summed = self._factors_to_sum(np.diff(block.indptr), out.itemsize)
        _kernel.sketch_dense(*block, *factors, n_summed, out)
        others = np.flatnonzero(n_summed == 0)
        step = self._chunk_rows(out)
        for first in range(0, len(others), step):
            rows = others[first : first + step]
            out[rows] = self._convolve(block, rows, factors, out.dtype)

    def _sketch_csr(
        self, block: Block, factors: _Factors, values: Array, columns: Array, lengths: Array
    ) -> int:
        n_summed = self._factors_to_sum(np.diff(block.indptr), values.itemsize)
        n_others = np.cumsum(n_summed == 0)
        step = self._chunk_rows(values)
        # Rows are written in order, as many at a time as have `step` convolved ones among them.
        first = n_stored = 0
        while first < len(n_summed):
            before = n_others[first - 1] if first else 0
            last = int(np.searchsorted(n_others, before + step, side="right"))
            part, chosen = block.rows(first, last), n_summed[first:last]
            others = self._convolve(part, np.flatnonzero(chosen == 0), factors, values.dtype)
            out = (values[n_stored:], columns[n_stored:], lengths[first:last])
            n_stored += _kernel.sketch_csr(*part, *factors, chosen, others, *out)
            first = last
        return n_stored

    def _chunk_rows(self, array: Array) -> int:
        return max(1, _CHUNK_BYTES // (self.n_components * array.itemsize))

    def _factors_to_sum(self, lengths: Array, itemsize: int) -> npt.NDArray[np.int32]:
        """For each row, of how many factors tuples are summed; 0 for Fourier transforms."""
        longest = int(lengths.max(initial=0))
        rule = (self.degree, self.coef0 != 0, self.n_components, self.method, itemsize)
        if longest + 1 < len(lengths):  # once for each length
            return _factors_for_lengths_below(longest + 1, *rule)[lengths]
        return _factors_for_lengths(lengths, *rule)

    def _convolve(self, block: Block, rows: Array, factors: _Factors, dtype: Any) -> Array:
        """Sketches of some rows of a block, by Fourier transforms."""
        keys, scale, extra = factors
        shape = (len(rows), self.n_components)
        if not len(rows):
            return np.empty(shape, dtype)
        product = None
        # As many factors at a time as are no more than a chunk.
        step = max(1, _CHUNK_BYTES // (len(rows) * self.n_components * dtype.itemsize))
        for first in range(0, self.degree, step):
            some = keys[first : first + step]
            sketches = np.zeros((len(some), *shape), dtype)
            _kernel.count_sketches(*block, some, scale, extra, rows, sketches)
            for transform in scipy.fft.rfft(sketches, axis=2):
                if product is None:
                    product = transform
                else:
                    _portable_math.multiply_complex(product, transform)
        sketch: Any = scipy.fft.irfft(product, n=self.n_components, axis=1, overwrite_x=True)
        return np.asarray(sketch)


@functools.lru_cache(maxsize=64)  # as it takes as long as some hundred short rows
def _factors_for_lengths_below(limit: int, *rule: Any) -> npt.NDArray[np.int32]:
    return _factors_for_lengths(np.arange(limit), *rule)


def _factors_for_lengths(
    lengths: Array, degree: int, extra: bool, n_components: int, method: str, itemsize: int
) -> npt.NDArray[np.int32]:
    """For rows of these lengths, of how many factors tuples are summed.

    ``extra`` is whether `coef0` adds an entry to each row.
    """
    lengths = lengths + extra
    summed = np.full(len(lengths), degree, np.int32)
    if method == "fft":
        summed[:] = 0
        return summed
    # The cost of adding one entry's product with a sketch, in tuples.
    join = n_components * itemsize / _BYTES_PER_TUPLE
    tuples = lengths.astype(float)
    growing = lengths > 1  # the others have at most one tuple, however high the degree
    for factor in range(1, degree):
        reached = growing & (tuples >= join)
        summed[reached] = factor
        growing &= ~reached
        if not growing.any():
            break
        tuples[growing] *= lengths[growing]
    if method == "auto":
        # The cost of the Fourier transforms of a row, in tuples.
        steps = n_components * np.log2(2 * n_components)
        transforms = (degree + 1) * steps * itemsize / _BUTTERFLY_BYTES_PER_TUPLE
        cost = np.where(summed < degree, tuples + (degree - summed) * join * lengths, tuples)
        summed[cost > transforms + degree * lengths] = 0
    return summed
