"""The exact polynomial kernel."""

import numpy as np

from sparsemaps._loops import rows as _common
from sparsemaps._tools import _checks
from sparsemaps._tools._portable_math import power
from sparsemaps._tools._typing import Array, MatrixLike
from sparsemaps.kernels._gram import GramKernel, check_gamma, documented, gram, open_pair


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
    r"""Polynomial kernel :math:`(\gamma \langle u, v \rangle + c)^{degree}`, c being `coef0`.

    The parameters and their defaults are those of scikit-learn's function of this name. With
    ``degree=1, gamma=1, coef0=0`` it is the inner product. A kernel beyond the range of the
    result's type is infinite.

    Parameters
    ----------
    [X, Y]
    degree : int, default=3
        The exponent, at least 1.
    gamma : float or None, default=None
        Factor of the inner product, above 0; None is ``1 / n_features``.
    coef0 : float, default=1
        What is added to the inner product; it may be negative.
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
        _common.DOT, np.square, lambda dots, u, v: power(factor * dots + coef0, degree)
    )
    return gram(pair, n_jobs, kernel)
