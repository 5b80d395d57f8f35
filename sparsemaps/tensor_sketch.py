"""Tensor sketch: polynomial kernels, in a chosen number of columns."""

import numpy as np
import scipy.fft

from sparsemaps import _seeding, _validation
from sparsemaps._base import SparseMap
from sparsemaps._kernels import tensor_sketch as _kernel

LARGEST_DEGREE = 1024

_CHUNK_BYTES = 2**19
"""Largest size of the dense sketches that are transformed at once: they stay in the cache."""

_TUPLES_PER_BUTTERFLY = 1 / 3
"""What one of the n log2(2 n) steps of a Fourier transform costs, in tuples summed directly."""


class TensorSketch(SparseMap):
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
        "fft" convolves the count sketches of the factors by Fourier transforms; "direct" sums over
        the tuples of entries. "auto" takes, for each row, what costs least (see Notes). All give
        the same sketch, up to rounding.
    dense_output : bool, default=True
        Return an ndarray; otherwise CSR that holds what is not zero, which pays where rows are
        short and n_components is large: a row of m entries has at most ``m ** degree`` values.
    random_state : int, Generator, RandomState or None, default=None
        The seed, or where to draw it from. The same seed gives the same hashes on every platform.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The output does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, where ``fit`` saw names.
    seed_ : int
        The seed in use; as `random_state` it gives this map again.

    See Also
    --------
    CountSketch : Degree 1, the linear kernel.
    sklearn.kernel_approximation.PolynomialCountSketch : The same sketch, with stored hashes and
        dense transforms of all rows at once.

    Notes
    -----
    The transforms are `scipy.fft`'s, in the precision of the input. Rows that are summed directly
    have no rounding but their own: integers with ``gamma=1`` and a square `coef0` give exact
    integers. Otherwise the last bits are those of scipy.fft, which may change with its version.

    Of the p factors, g are summed directly, and the p / g partial sketches (rounded up) convolved.
    In units of one tuple, of which a core does about one in a nanosecond or two, a row of m entries
    (coef0's coordinate included) costs

    .. math:: \lceil p/g \rceil m^g + \frac{1}{3} (\lceil p/g \rceil + 1) D \log_2(2D),

    the latter not for g = p, where there is nothing to convolve. "auto" takes the cheapest g of 1
    to 4 and p. With D = 1024 and p = 2, rows of up to 107 entries are summed directly.

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

    def __init__(
        self,
        *,
        degree=2,
        gamma=1.0,
        coef0=0.0,
        n_components=1024,
        method="auto",
        dense_output=True,
        random_state=None,
        n_jobs=None,
    ):
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.n_components = n_components
        self.method = method
        self.dense_output = dense_output
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self):
        _validation.check_int("degree", self.degree, 1, LARGEST_DEGREE)
        _validation.check_real("gamma", self.gamma, 0, open_low=True)
        _validation.check_real("coef0", self.coef0, 0)
        _validation.check_int("n_components", self.n_components, 1, _validation.LARGEST_INT32)
        _validation.check_choice("method", self.method, ("auto", "fft", "direct"))
        _validation.check_bool("dense_output", self.dense_output)

    @property
    def _n_features_out(self):
        return self.n_components

    @property
    def _factors(self):
        """For the kernels: the keys of the factors, the roots of gamma and coef0."""
        keys = _seeding.keys(self.seed_, "tensor_sketch", 3 * self.degree).reshape(-1, 3)
        return keys, float(np.sqrt(self.gamma)), float(np.sqrt(self.coef0))

    def _map(self, rows):
        factors = self._factors
        if not self.dense_output:
            return self._run_csr(
                rows, self._most, lambda block, *out: self._sketch_csr(block, factors, *out)
            )
        out = np.zeros((rows.n_rows, self.n_components), rows.dtype)
        self._run(
            rows, lambda block, start, stop: self._sketch_dense(block, factors, out[start:stop])
        )
        return out

    def _most(self, lengths):
        """How many values rows of so many entries have at most."""
        if self.method == "fft":
            return np.full(len(lengths), self.n_components)
        with np.errstate(over="ignore"):
            tuples = (lengths + float(self.coef0 != 0)) ** self.degree
        return np.minimum(tuples, self.n_components).astype(np.int64)

    def _sketch_dense(self, block, factors, out):
        block = _without_zeros(block)
        groups = self._choose_groups(np.diff(block.indptr))
        _kernel.sketch_dense(*block, *factors, _bytes(groups == self.degree), out)
        for group in np.unique(groups[groups < self.degree]):
            selected = np.flatnonzero(groups == group)
            for first in range(0, len(selected), self._chunk_rows(out)):
                chunk = selected[first : first + self._chunk_rows(out)]
                out[chunk] = self._convolve(_take(block, chunk), factors, group, out.dtype)

    def _sketch_csr(self, block, factors, values, columns, lengths):
        block = _without_zeros(block)
        groups = self._choose_groups(np.diff(block.indptr))
        n_convolved = np.cumsum(groups < self.degree)
        n_rows = self._chunk_rows(values)
        # Rows go out in order, as many at a time as have n_rows convolved ones among them.
        first = n_stored = 0
        while first < len(groups):
            before = n_convolved[first - 1] if first else 0
            last = int(np.searchsorted(n_convolved, before + n_rows, side="right"))
            part = block.rows(first, last)
            out = (values[n_stored:], columns[n_stored:], lengths[first:last])
            chosen = groups[first:last]
            others = np.empty((n_convolved[last - 1] - before, self.n_components), values.dtype)
            for group in np.unique(chosen[chosen < self.degree]):
                rows = np.flatnonzero(chosen == group)
                others[n_convolved[first + rows] - before - 1] = self._convolve(
                    _take(part, rows), factors, group, values.dtype
                )
            n_stored += _kernel.sketch_csr(
                *part, *factors, _bytes(chosen == self.degree), others, *out
            )
            first = last
        return n_stored

    def _chunk_rows(self, array):
        return max(1, _CHUNK_BYTES // (self.n_components * array.itemsize))

    def _choose_groups(self, lengths):
        """For each row, how many factors are summed directly before the rest is convolved."""
        if self.method == "direct" or self.degree == 1:
            return np.full(len(lengths), self.degree)
        if self.method == "fft":
            return np.zeros(len(lengths), int)
        entries = lengths + float(self.coef0 != 0)
        groups = np.array(sorted({1, 2, 3, 4, self.degree}))
        groups = groups[groups <= self.degree]
        parts = -(-self.degree // groups)
        steps = self.n_components * np.log2(2 * self.n_components)
        transforms = np.where(parts == 1, 0, _TUPLES_PER_BUTTERFLY * (parts + 1) * steps)
        with np.errstate(over="ignore"):
            tuples = parts * entries[:, None] ** groups
        return groups[np.argmin(tuples + transforms, axis=1)]

    def _convolve(self, block, factors, group, dtype):
        """Sketches of a block: `group` factors at a time directly, then by Fourier transforms."""
        keys, scale, extra = factors
        shape = (len(block.indptr) - 1, self.n_components)
        all_rows = np.ones(shape[0], np.uint8)
        sketch = np.empty(shape, dtype)
        product = None
        for first in range(0, self.degree, max(group, 1)):
            sketch[:] = 0
            part = keys[first : first + max(group, 1)]
            _kernel.sketch_dense(*block, part, scale, extra, all_rows, sketch)
            transform = scipy.fft.rfft(sketch, axis=1)
            product = transform if product is None else np.multiply(product, transform, out=product)
        return scipy.fft.irfft(product, n=self.n_components, axis=1, overwrite_x=True)


def _bytes(mask):
    return mask.view(np.uint8)


def _without_zeros(block):
    """The block without explicit zeros, so that they do not sway the choice of the method."""
    first, last = block.indptr[0], block.indptr[-1]
    kept = block.values[first:last] != 0
    if kept.all():
        return block
    before = np.concatenate([[0], np.cumsum(kept)])
    return block._replace(
        values=block.values[first:last][kept],
        indices=block.indices[first:last][kept],
        indptr=before[block.indptr - first],
    )


def _take(block, rows):
    """The given rows of a block, as a block."""
    if len(rows) == len(block.indptr) - 1:
        return block
    lengths = np.diff(block.indptr)[rows]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.arange(indptr[-1]) + np.repeat(block.indptr[rows] - indptr[:-1], lengths)
    return block._replace(
        values=block.values[entries], indices=block.indices[entries], indptr=indptr
    )
