"""Exact kernels: Gram matrices between the rows of two sparse matrices.

For support vector machines with a precomputed kernel (``SVC(kernel="precomputed")``, LIBSVM's
``-t 4``), and for seeing how near a map comes. Neither matrix is made dense. All functions take `X`
of shape (n_X, d), `Y` of shape (n_Y, d) or None for `X` itself (then at half the cost), and
`n_jobs`; they return an ndarray of shape (n_X, n_Y), float32 if both matrices are, otherwise
float64. Products of kernels are products of these arrays.

`polynomial_kernel` and `rbf_kernel` are scikit-learn's.

>>> import numpy as np
>>> from sparsemaps.kernels import acos_kernel, min_max_kernel
>>> X = np.array([[4.0, 1.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
>>> min_max_kernel(X)
array([[1. , 0.5],
       [0.5, 1. ]])
>>> (min_max_kernel(X) * acos_kernel(X)).round(3)
array([[1.   , 0.422],
       [0.422, 1.   ]])
"""

import numpy as np
import scipy.sparse as sp
from scipy import special

from sparsemaps import _sklearn, _threads, _validation
from sparsemaps._kernels import gram as _kernel
from sparsemaps._sklearn import polynomial_kernel, rbf_kernel

__all__ = [
    "acos_chi2_kernel",
    "acos_kernel",
    "cauchy_kernel",
    "chi2_similarity",
    "folded_rbf_kernel",
    "generalized_min_max_kernel",
    "laplacian_kernel",
    "matern_kernel",
    "min_max_kernel",
    "normalized_rbf_kernel",
    "polynomial_kernel",
    "rbf_kernel",
]

_NONNEGATIVE = "this kernel takes values >= 0"
_BLOCK_ENTRIES = 2**14
_LARGEST_LOOKUP = 2**20
_LARGEST_NU = 50


def min_max_kernel(X, Y=None, *, n_jobs=None):
    r"""Min-max kernel :math:`\sum_i \min(u_i, v_i) / \sum_i \max(u_i, v_i)` of rows >= 0.

    For binary rows it is the Jaccard similarity. An empty row has 0 with any other.
    """
    return _gram(X, Y, n_jobs, _kernel.MINIMUM, _min_max, terms=np.abs, nonnegative=_NONNEGATIVE)


def generalized_min_max_kernel(X, Y=None, *, n_jobs=None):
    """Min-max kernel of rows of both signs: each column becomes one of its positive values and one
    of the sizes of its negative ones."""
    return _gram(X, Y, n_jobs, _kernel.SIGNED_MINIMUM, _min_max, terms=np.abs)


def chi2_similarity(X, Y=None, *, n_jobs=None):
    r"""Chi-square similarity :math:`\sum_i 2 u_i v_i / (u_i + v_i)` of rows >= 0.

    Rows are taken as they are; of rows that sum to 1 it is at most 1.
    """
    return _gram(
        X, Y, n_jobs, _kernel.CHI_SQUARE, lambda sums, u, v: sums, nonnegative=_NONNEGATIVE
    )


def acos_kernel(X, Y=None, *, n_jobs=None):
    r""":math:`1 - \arccos(\rho) / \pi`, :math:`\rho` the cosine of the angle between two rows.

    The cosine with an empty row is 0.
    """
    return _of_cosines(X, Y, n_jobs, _acos, one=True)


def acos_chi2_kernel(X, Y=None, *, n_jobs=None):
    r""":math:`1 - \arccos(\rho) / \pi`, :math:`\rho` the chi-square similarity of the rows scaled
    to sum 1; they must be >= 0. With an empty row :math:`\rho` is 0."""
    return _gram(
        X, Y, n_jobs, _kernel.CHI_SQUARE, lambda sums, u, v: _acos(sums),
        terms=np.abs, nonnegative=_NONNEGATIVE, to_sum_one=True, one=True,
    )  # fmt: skip


def normalized_rbf_kernel(X, Y=None, *, gamma=1.0, n_jobs=None):
    r""":math:`e^{-\gamma (1 - \rho)}`, :math:`\rho` the cosine of the angle between two rows.

    For rows of unit length it is `rbf_kernel` with ``gamma / 2``.
    """
    gamma = _check_gamma(gamma)
    return _of_cosines(X, Y, n_jobs, lambda rho: np.exp(gamma * (rho - 1)), one=True)


def folded_rbf_kernel(X, Y=None, *, gamma=1.0, n_jobs=None):
    r""":math:`\frac12 e^{-\gamma (1 - \rho)} + \frac12 e^{-\gamma (1 + \rho)}`, :math:`\rho` the
    cosine of the angle between two rows."""
    gamma = _check_gamma(gamma)
    return _of_cosines(
        X, Y, n_jobs, lambda rho: (np.exp(gamma * (rho - 1)) + np.exp(-gamma * (rho + 1))) / 2
    )


def laplacian_kernel(X, Y=None, *, gamma=1.0, n_jobs=None):
    r""":math:`e^{-\gamma \|u - v\|_1}`. Note that scikit-learn's default `gamma` is 1 / d."""
    gamma = _check_gamma(gamma)
    return _gram(
        X, Y, n_jobs, _kernel.ABSOLUTE,
        lambda sums, u, v: np.exp(-gamma * np.maximum(u + v + sums, 0)), terms=np.abs, one=True,
    )  # fmt: skip


def cauchy_kernel(X, Y=None, *, gamma=1.0, n_jobs=None):
    r""":math:`\prod_i 1 / (1 + \gamma^2 (u_i - v_i)^2)`."""
    gamma = _check_gamma(gamma)
    return _gram(
        X, Y, n_jobs, _kernel.CAUCHY, lambda sums, u, v: np.exp(-np.maximum(u + v + sums, 0)),
        gamma=gamma, terms=lambda values: np.log1p((gamma * values) ** 2), one=True,
    )  # fmt: skip


def matern_kernel(X, Y=None, *, gamma=1.0, nu=1.5, n_jobs=None):
    r"""Matern kernel of smoothness `nu`, up to 50, and length scale :math:`1 / \sqrt{2 \gamma}`:
    :math:`\frac{2^{1 - \nu}}{\Gamma(\nu)} s^\nu K_\nu(s)` with :math:`s = 2 \sqrt{\nu \gamma} \|u -
    v\|`. For large `nu` it comes near `rbf_kernel`."""
    gamma = _check_gamma(gamma)
    nu = _validation.check_real("nu", nu, 0, open_low=True)
    if nu > _LARGEST_NU:
        raise ValueError(f"nu must be at most {_LARGEST_NU}, got {nu}")

    def finish(sums, u, v):
        return _matern(2 * np.sqrt(nu * gamma * np.maximum(u + v - 2 * sums, 0)), nu)

    return _gram(X, Y, n_jobs, _kernel.DOT, finish, terms=np.square, one=True)


def _check_gamma(gamma):
    return _validation.check_real("gamma", gamma, 0, open_low=True)


def _min_max(least, u, v):
    most = u + v - least
    return np.divide(least, most, out=np.zeros_like(least), where=most > 0)


def _acos(rho):
    return 1 - np.arccos(rho.clip(-1, 1)) / np.pi


def _matern(s, nu):
    if nu in (0.5, 1.5, 2.5):
        polynomial = {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s**2 / 3}[nu]
        return polynomial * np.exp(-s)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        logarithm = (1 - nu) * np.log(2) - special.gammaln(nu) + nu * np.log(s) - s
        K = np.exp(logarithm) * special.kve(nu, s)
    # Where a factor overflows s is so small that two terms of the series are enough.
    return np.where(np.isfinite(K), K, 1 - s**2 / (4 * nu - 4) if nu > 1 else 1.0)


def _of_cosines(X, Y, n_jobs, function, one=False):
    def finish(sums, u, v):
        lengths = np.sqrt(u) * np.sqrt(v)
        return function((sums / np.where(lengths > 0, lengths, 1)).clip(-1, 1))

    return _gram(X, Y, n_jobs, _kernel.DOT, finish, terms=np.square, one=one)


def _gram(
    X, Y, n_jobs, kind, finish, *,
    terms=None, gamma=1.0, nonnegative=None, to_sum_one=False, one=False,
):  # fmt: skip
    """``finish(sums, u, v)`` of the sums over common columns, for all pairs of rows.

    u (a column) and v (a row) are sums of ``terms(values)`` of each row alone; `one` says that the
    diagonal is 1 by definition where rows are not empty, and should not be off by rounding.
    """
    symmetric = Y is None
    X = _open(X, nonnegative)
    Y = X if symmetric else _open(Y, nonnegative)
    if X.n_columns != Y.n_columns:
        raise ValueError(f"X and Y must have as many columns, got {X.n_columns} and {Y.n_columns}")
    u, v = (_row_sums(rows, terms) for rows in (X, Y))
    out = np.empty((X.n_rows, Y.n_rows), np.result_type(X.dtype, Y.dtype))

    def fill(start, stop):
        block = _Columns(X.block(start, stop), X.n_columns, to_sum_one)
        for other, end in _cut(Y):
            if symmetric and other < start:
                continue
            sums = block.sums(kind, gamma, Y.block(other, end))
            out[start:stop, other:end] = finish(sums, u[start:stop, None], v[other:end])

    blocks = _cut(X)
    _threads.run(fill, blocks, n_jobs)
    if symmetric:
        for start, stop in blocks:
            out[start:stop, :start] = out[:start, start:stop].T
        if one:
            filled = np.flatnonzero(u)
            out[filled, filled] = 1.0
    return out


class _Columns:
    """A block of rows with its columns numbered, to be summed with other blocks."""

    def __init__(self, block, n_columns, to_sum_one):
        self._to_sum_one = to_sum_one
        first, last = block.indptr[0], block.indptr[-1]
        columns, places = np.unique(block.indices[first:last], return_inverse=True)
        self._rows = self._values(block), places.astype(np.int32), block.indptr - first
        self._table = np.zeros(_kernel.LANES * max(len(columns), 1))
        self._place = _lookup(columns, n_columns)

    def sums(self, kind, gamma, block):
        """For all pairs of rows, the sum over their common columns."""
        first, last = block.indptr[0], block.indptr[-1]
        places = self._place(block.indices[first:last])
        values = self._values(block)
        known = (places >= 0) & (values != 0)
        if not known.all():
            values, places = values[known], places[known]
        before = np.concatenate([[0], np.cumsum(known)])
        others = values, places, before[block.indptr - first]
        out = np.empty((len(self._rows[2]) - 1, len(block.indptr) - 1))
        _kernel.sum_common(kind, gamma, *self._rows, *others, self._table, out)
        return out

    def _values(self, block):
        values = block.values[block.indptr[0] : block.indptr[-1]].astype(float)
        if self._to_sum_one:
            sums = _block_sums(block, np.abs)
            values /= np.repeat(sums, np.diff(block.indptr))
        return values


def _open(X, nonnegative):
    if sp.issparse(X):
        if X.ndim == 2 and X.shape[1] == 0:
            raise ValueError("X must have at least one column, got none")
        return _validation.open_rows(X, nonnegative)
    X = _sklearn.check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,  # Rows does, and names the row
        ensure_min_samples=0,
    )
    if sp.issparse(X):  # data frames of sparse columns become that
        return _validation.open_rows(X, nonnegative)
    return _validation.Rows(X, nonnegative)


def _cut(rows):
    """Blocks of rows of a bounded number of entries."""
    return _threads.cut_rows(rows.n_rows, rows.work_before, 1, _BLOCK_ENTRIES)


def _lookup(columns, n_columns):
    """A function from columns to their places among `columns`, or -1."""
    if n_columns <= _LARGEST_LOOKUP:
        table = np.full(n_columns, -1, np.int32)
        table[columns] = np.arange(len(columns), dtype=np.int32)
        return lambda indices: table[indices]

    def search(indices):
        if not len(columns):
            return np.full(len(indices), -1, np.int32)
        places = np.searchsorted(columns, indices).clip(max=len(columns) - 1)
        return np.where(columns[places] == indices, places, -1).astype(np.int32)

    return search


def _block_sums(block, terms):
    values = terms(block.values[block.indptr[0] : block.indptr[-1]].astype(float))
    rows = np.repeat(np.arange(len(block.indptr) - 1), np.diff(block.indptr))
    return np.bincount(rows, values, minlength=len(block.indptr) - 1)


def _row_sums(rows, terms):
    """Sums of ``terms(values)`` of all rows; zeros where there are no terms."""
    if terms is None:
        return np.zeros(rows.n_rows)
    return np.concatenate([np.zeros(0), *(_block_sums(rows.block(*b), terms) for b in _cut(rows))])
