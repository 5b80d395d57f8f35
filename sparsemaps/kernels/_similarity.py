"""Exact kernels of sums over common columns: polynomial, min-max, chi-square and angles."""

import numpy as np

from sparsemaps._input._row_reader import RowReader
from sparsemaps._loops import rows as _loops
from sparsemaps._tools import _blocks, _checks
from sparsemaps._tools._portable_math import acos, real_power
from sparsemaps._tools._portable_math import power as whole_power
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.kernels._gram import (
    GramKernel,
    check_gamma,
    documented,
    gram,
    of_cosines,
    open_pair,
    scaled_to_sum_one,
    values_of,
)

_ROWS_READ = 1024

_NONNEGATIVE = "this kernel takes values >= 0"


@documented
def polynomial_kernel(
    X: MatrixLike,
    Y: MatrixLike | None = None,
    degree: int = 3,
    gamma: float | None = None,
    coef0: float = 1,
    *,
    n_jobs: int | None = None,
) -> Array:
    r"""Return the polynomial kernel :math:`(\gamma \langle u, v \rangle + coef_0)^{degree}`.

    Parameters and defaults are the same as in scikit-learn's function of this name. With
    ``degree=1, gamma=1, coef0=0``, it is the inner product. Kernel values beyond the range of the
    result's type become infinite.

    Parameters
    ----------
    [X, Y]
    degree : int, default=3
        The exponent, at least 1.
    gamma : float or None, default=None
        Factor of the inner product, above 0; None is ``1 / n_features``.
    coef0 : float, default=1
        A term added to the inner product; it may be negative.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> polynomial_kernel(X, degree=2, gamma=1)
    array([[361., 225.],
           [225., 225.]])
    """
    degree = _checks.check_int("degree", degree, 1, _checks.LARGEST_INT32)
    coef0 = _checks.check_real("coef0", coef0)
    pair = open_pair(X, Y)
    factor = check_gamma(gamma, pair[0].n_columns)
    kernel = GramKernel(
        _loops.DOT, np.square, lambda dots, u, v: whole_power(factor * dots + coef0, degree)
    )
    return gram(pair, n_jobs, kernel)


@documented
def min_max_kernel(
    X: MatrixLike,
    Y: MatrixLike | None = None,
    *,
    power: float = 1.0,
    n_jobs: int | None = None,
) -> Array:
    r"""Return :math:`\sum_i \min(u_i, v_i)^p / \sum_i \max(u_i, v_i)^p` for rows >= 0.

    For binary rows it is the Jaccard similarity. The kernel of an empty row with any row is 0.

    Parameters
    ----------
    [X, Y]
    power : float, default=1.0
        Power p, above 0, to which absolute values are raised first. If powers would leave the range
        of float64, all values are divided by a common power of two before that.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> min_max_kernel(X).round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    return _min_max_gram(X, Y, _loops.MINIMUM, power, n_jobs, _NONNEGATIVE)


@documented
def generalized_min_max_kernel(
    X: MatrixLike,
    Y: MatrixLike | None = None,
    *,
    power: float = 1.0,
    n_jobs: int | None = None,
) -> Array:
    r"""Return the min-max kernel for rows with values of both signs.

    Each column becomes two: its positive values, and the absolute values of its negative values.
    The kernel of an empty row with any row is 0.

    Parameters
    ----------
    [X, Y]
    power : float, default=1.0
        Power p, above 0, to which absolute values are raised first. If powers would leave the range
        of float64, all values are divided by a common power of two before that.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> generalized_min_max_kernel(X).round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    return _min_max_gram(X, Y, _loops.SIGNED_MINIMUM, power, n_jobs)


@documented
def chi2_similarity(
    X: MatrixLike, Y: MatrixLike | None = None, *, n_jobs: int | None = None
) -> Array:
    r"""Return the chi-square similarity :math:`\sum_i 2 u_i v_i / (u_i + v_i)` for rows >= 0.

    Rows are not scaled. For rows that sum to 1, it is at most 1.

    Parameters
    ----------
    [X, Y]
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> chi2_similarity(X).round(3)
    array([[6.   , 4.762],
           [4.762, 6.   ]])
    """
    kernel = GramKernel(_loops.CHI_SQUARE, np.abs, lambda sums, u, v: 2 * sums)
    return gram(open_pair(X, Y, _NONNEGATIVE), n_jobs, kernel)


@documented
def acos_kernel(X: MatrixLike, Y: MatrixLike | None = None, *, n_jobs: int | None = None) -> Array:
    r"""Return :math:`1 - \arccos(\rho) / \pi`, with :math:`\rho` the cosine between two rows.

    The cosine with an empty row is 0.

    Parameters
    ----------
    [X, Y]
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> acos_kernel(X).round(3)
    array([[1.   , 0.844],
           [0.844, 1.   ]])
    """
    return of_cosines(open_pair(X, Y), n_jobs, _acos, one_of_itself=True)


@documented
def acos_chi2_kernel(
    X: MatrixLike, Y: MatrixLike | None = None, *, n_jobs: int | None = None
) -> Array:
    r"""Return :math:`1 - \arccos(\rho) / \pi`, :math:`\rho` the chi-square similarity of scaled
    rows.

    Rows are scaled to sum to 1. With an empty row, :math:`\rho` is 0.

    Parameters
    ----------
    [X, Y]
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> acos_chi2_kernel(X).round(3)
    array([[1.   , 0.792],
           [0.792, 1.   ]])
    """
    kernel = GramKernel(
        _loops.CHI_SQUARE,
        np.abs,
        lambda sums, u, v: _acos((2 * sums).clip(max=1)),
        prepare=scaled_to_sum_one,
        one_of_itself=True,
    )
    return gram(open_pair(X, Y, _NONNEGATIVE), n_jobs, kernel)


def _acos(rho: Array) -> Array:
    return 1 - acos(rho) / np.pi


def _min_max_gram(
    X: MatrixLike,
    Y: MatrixLike | None,
    common: int,
    power: float,
    n_jobs: int | None,
    nonnegative: str | None = None,
) -> Array:
    power = _checks.check_real("power", power, 0, open_low=True)
    rows, others = pair = open_pair(X, Y, nonnegative)
    exponent = 0 if power == 1 else _common_exponent(rows, others or rows, power)
    kernel = GramKernel(
        common,
        np.abs,
        _min_max,
        prepare=lambda block: real_power(np.ldexp(values_of(block), -exponent), power),
        one_of_itself=True,
    )
    return gram(pair, n_jobs, kernel)


def _common_exponent(rows: RowReader, others: RowReader, power: float) -> int:
    """Return the exponent of a power of two by which all values are divided. This does not change
    the kernel.

    It is 0 unless powers would exceed 2^900 or fall below 2^-900.
    """
    least, most = np.inf, 0.0
    for matrix in (rows, others):
        for start, stop in _blocks.ranges(0, matrix.n_rows, _ROWS_READ):
            values = abs(values_of(matrix.block(start, stop)))
            least = min(least, float(values.min(initial=np.inf)))
            most = max(most, float(values.max(initial=0.0)))
    if most == 0:
        return 0
    exponents = np.frexp([least, most])[1]
    return int(exponents.sum()) // 2 if power * abs(exponents).max() > 900 else 0


def _min_max(least: Array, u: Array, v: Array) -> Array:
    largest = u + v - least
    return np.divide(least, largest, out=np.zeros_like(least), where=largest > 0)
