"""Scikit-learn's kernels, for matrices whose index arrays have been checked."""

from typing import Any

from sparsemaps import _sklearn
from sparsemaps._typing import Array
from sparsemaps._validation import sound_matrix


def polynomial_kernel(
    X: Any, Y: Any = None, degree: float = 3, gamma: float | None = None, coef0: float = 1
) -> Array:
    """scikit-learn's ``polynomial_kernel``; an unsound sparse matrix is a ValueError here."""
    X, Y = _sound_pair(X, Y)
    return _sklearn.polynomial_kernel(X, Y, degree=degree, gamma=gamma, coef0=coef0)


def rbf_kernel(X: Any, Y: Any = None, gamma: float | None = None) -> Array:
    """scikit-learn's ``rbf_kernel``; an unsound sparse matrix is a ValueError here."""
    X, Y = _sound_pair(X, Y)
    return _sklearn.rbf_kernel(X, Y, gamma=gamma)


def _sound_pair(X: Any, Y: Any) -> tuple[Any, Any]:
    sound = sound_matrix(X, "X")
    # scikit-learn makes the distance of a row from itself exactly 0 only where both are one object.
    return sound, None if Y is None or Y is X else sound_matrix(Y, "Y")
