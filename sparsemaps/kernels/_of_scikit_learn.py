"""Scikit-learn's kernels, for matrices whose index arrays have been checked."""

from typing import Any

from sparsemaps import _sklearn
from sparsemaps._typing import Array
from sparsemaps._validation import sound_matrix


def polynomial_kernel(
    X: Any, Y: Any = None, degree: float = 3, gamma: float | None = None, coef0: float = 1
) -> Array:
    """Polynomial kernel ``(gamma <x, y> + coef0) ** degree`` of all pairs of rows, by scikit-learn.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_X, n_features)
        Rows.
    Y : {array-like, sparse matrix} of shape (n_Y, n_features) or None, default=None
        The other rows; None is `X`.
    degree : float, default=3
        The exponent.
    gamma : float or None, default=None
        Factor of the inner product; None is ``1 / n_features``.
    coef0 : float, default=1
        Constant beside the inner product.

    Returns
    -------
    K : ndarray of shape (n_X, n_Y)

    Raises
    ------
    ValueError
        If a sparse matrix is unsound, or as in scikit-learn.

    Examples
    --------
    >>> from sparsemaps.kernels import polynomial_kernel
    >>> polynomial_kernel([[1.0, 2.0]], degree=2, gamma=1).tolist()
    [[36.0]]
    """
    X, Y = _sound_pair(X, Y)
    return _sklearn.polynomial_kernel(X, Y, degree=degree, gamma=gamma, coef0=coef0)


def rbf_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Array:
    """Gaussian kernel ``exp(-gamma ||x - y||^2)`` of all pairs of rows, by scikit-learn.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_X, n_features)
        Rows.
    Y : {array-like, sparse matrix} of shape (n_Y, n_features) or None, default=None
        The other rows; None is `X`.
    gamma : float or None, default=None
        Factor of the squared distance; None is ``1 / n_features``.

    Returns
    -------
    K : ndarray of shape (n_X, n_Y)

    Raises
    ------
    ValueError
        If a sparse matrix is unsound, or as in scikit-learn.

    Examples
    --------
    >>> from sparsemaps.kernels import rbf_kernel
    >>> rbf_kernel([[1.0, 2.0], [1.0, 2.0]]).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    X, Y = _sound_pair(X, Y)
    return _sklearn.rbf_kernel(X, Y, gamma=gamma)


def _sound_pair(X: Any, Y: Any) -> tuple[Any, Any]:
    sound = sound_matrix(X, "X")
    # scikit-learn makes the distance of a row from itself exactly 0 only where both are one object.
    return sound, None if Y is None or Y is X else sound_matrix(Y, "Y")
