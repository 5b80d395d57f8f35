"""Exact kernels of the distance between two rows."""

import sys

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import rows as _loops
from sparsemaps._tools._portable_math import exp, log_one_plus_square
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.kernels._gram import (
    GramKernel,
    check_gamma,
    documented,
    gram,
    of_cosines,
    of_distances,
    open_pair,
    values_of,
)
from sparsemaps.kernels._matern import check_nu, matern

_LARGEST_SCALED = 1e300  # so that differences of two such values are finite


@documented
def rbf_kernel(
    X: MatrixLike,
    Y: MatrixLike | None = None,
    gamma: float | None = None,
    *,
    n_jobs: int | None = None,
) -> Array:
    r"""Return the Gaussian kernel :math:`e^{-\gamma \|u - v\|^2}`.

    Parameters and defaults are the same as in scikit-learn's function of this name. Squared
    distances have a relative error below 2^-20, however close the rows are, plus an absolute error
    below 2^-1040.

    Parameters
    ----------
    [X, Y]
    gamma : float or None, default=None
        Factor of the squared distance, above 0; None is ``1 / n_features``.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> rbf_kernel(X, gamma=0.1).round(3)
    array([[1.  , 0.67],
           [0.67, 1.  ]])
    """
    pair = open_pair(X, Y)
    factor = check_gamma(gamma, pair[0].n_columns)
    return of_distances(pair, n_jobs, _loops.DOT, lambda squares: exp(-factor * squares))


@documented
def normalized_rbf_kernel(
    X: MatrixLike, Y: MatrixLike | None = None, *, gamma: float = 1.0, n_jobs: int | None = None
) -> Array:
    r"""Return :math:`e^{-\gamma (1 - \rho)}`, with :math:`\rho` the cosine between two rows.

    For rows of unit length, it equals `rbf_kernel` with ``gamma / 2``. The cosine with an empty row
    is 0. The cosine has an absolute error of at most (n + 8) 2^-52, where n is the number of
    entries of both rows. If `gamma` is 10^9 or more, scale the rows to unit length and use
    `rbf_kernel`.

    Parameters
    ----------
    [X, Y]
    gamma : float, default=1.0
        Above 0.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> normalized_rbf_kernel(X).round(3)
    array([[1.   , 0.889],
           [0.889, 1.   ]])
    """
    gamma = check_gamma(gamma)
    pair = open_pair(X, Y)
    return of_cosines(pair, n_jobs, lambda rho: exp(gamma * (rho - 1)), one_of_itself=True)


@documented
def folded_rbf_kernel(
    X: MatrixLike, Y: MatrixLike | None = None, *, gamma: float = 1.0, n_jobs: int | None = None
) -> Array:
    r"""Return :math:`\frac12 e^{-\gamma (1 - \rho)} + \frac12 e^{-\gamma (1 + \rho)}`.

    :math:`\rho` is the cosine of the angle between two rows. With an empty row it is 0. It has an
    absolute error of at most (n + 8) 2^-52, where n is the number of entries of both rows.

    Parameters
    ----------
    [X, Y]
    gamma : float, default=1.0
        Above 0.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> folded_rbf_kernel(X).round(3)
    array([[0.568, 0.52 ],
           [0.52 , 0.568]])
    """
    gamma = check_gamma(gamma)

    def folded(rho: Array) -> Array:
        return (exp(gamma * (rho - 1)) + exp(-gamma * (rho + 1))) / 2

    return of_cosines(open_pair(X, Y), n_jobs, folded, one_of_itself=False)


@documented
def laplacian_kernel(
    X: MatrixLike, Y: MatrixLike | None = None, *, gamma: float = 1.0, n_jobs: int | None = None
) -> Array:
    r"""Return the Laplacian kernel :math:`e^{-\gamma \|u - v\|_1}`.

    Distances have a relative error below 2^-20, however close the rows are.

    Parameters
    ----------
    [X, Y]
    gamma : float, default=1.0
        Above 0. scikit-learn's default is ``1 / n_features``.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> laplacian_kernel(X).round(3)
    array([[1.   , 0.018],
           [0.018, 1.   ]])
    """
    gamma = check_gamma(gamma)
    pair = open_pair(X, Y)
    return of_distances(pair, n_jobs, _loops.ABSOLUTE, lambda sums: exp(-gamma * sums))


@documented
def cauchy_kernel(
    X: MatrixLike, Y: MatrixLike | None = None, *, gamma: float = 1.0, n_jobs: int | None = None
) -> Array:
    r"""Return the Cauchy kernel :math:`\prod_i 1 / (1 + \gamma^2 (u_i - v_i)^2)`.

    Parameters
    ----------
    [X, Y]
    gamma : float, default=1.0
        Above 0.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> cauchy_kernel(X).round(3)
    array([[1.   , 0.062],
           [0.062, 1.   ]])
    """
    gamma = check_gamma(gamma)

    def scaled(block: Block) -> Array:
        with np.errstate(over="ignore"):  # infinite values are clipped
            return (gamma * values_of(block)).clip(-_LARGEST_SCALED, _LARGEST_SCALED)

    kernel = GramKernel(
        _loops.CAUCHY,
        log_one_plus_square,
        lambda sums, u, v: exp(-np.maximum(u + v + sums, 0)),
        prepare=scaled,
        one_of_itself=True,
    )
    return gram(open_pair(X, Y), n_jobs, kernel)


@documented
def matern_kernel(
    X: MatrixLike,
    Y: MatrixLike | None = None,
    *,
    gamma: float = 1.0,
    nu: float = 1.5,
    n_jobs: int | None = None,
) -> Array:
    r"""Return the Matérn kernel of smoothness `nu` and length scale :math:`1 / \sqrt{2 \gamma}`.

    :math:`\frac{2^{1 - \nu}}{\Gamma(\nu)} s^\nu K_\nu(s)` with :math:`s = 2 \sqrt{\nu \gamma} \|u -
    v\|`. For large `nu`, it approaches `rbf_kernel`. Squared distances have a relative error below
    2^-20, however close the rows are, plus an absolute error below 2^-1040.

    Parameters
    ----------
    [X, Y]
    gamma : float, default=1.0
        Above 0.
    nu : float, default=1.5
        Smoothness, above 0, at most 10,000. 0.5, 1.5 and 2.5 cost least.
    [n_jobs, the matrix and errors]

    [examples, with rows X]
    >>> matern_kernel(X).round(3)
    array([[1.   , 0.044],
           [0.044, 1.   ]])
    """
    gamma = check_gamma(gamma)
    nu = check_nu(nu)
    function = matern(nu)
    factor = min(nu * gamma, sys.float_info.max)
    pair = open_pair(X, Y)
    return of_distances(pair, n_jobs, _loops.DOT, lambda squares: function(factor * squares))


def squared_distances(
    X: MatrixLike, Y: MatrixLike | None = None, *, n_jobs: int | None = None
) -> Array:
    """Return the squared Euclidean distances between the rows of `X` and `Y`, or within `X` if `Y`
    is None."""
    pair = open_pair(X, Y)
    return of_distances(pair, n_jobs, _loops.DOT, lambda squares: squares, one_of_itself=False)
