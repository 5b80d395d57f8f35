"""The Matern kernel as a function of distances, with the same bits on every platform."""

import math
from collections.abc import Callable

import numpy as np

from sparsemaps._loops import rows as _loops
from sparsemaps._tools import _checks
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._portable_math import exp
from sparsemaps._tools._typing import Array

LARGEST_NU = 10_000
"""Beyond this value, the kernel differs from the Gaussian kernel by less than 2e-5."""


def check_nu(nu: object) -> float:
    """Return `nu` as a float. Raise unless it is above 0 and at most LARGEST_NU."""
    nu = _checks.check_real("nu", nu, 0, open_low=True)
    if nu > LARGEST_NU:
        value = f"{nu:g} (with larger ones the kernel is nearly the Gaussian kernel, 'rbf')"
        raise ParameterError("nu", value, f"at most {LARGEST_NU}")
    return nu


def matern(nu: float) -> Callable[[Array], Array]:
    """Return the Matern kernel as a function of q = nu * gamma * (squared distance)."""
    if nu in (0.5, 1.5, 2.5):

        def closed_form(q: Array) -> Array:
            s = 2 * np.sqrt(np.minimum(q, 1e6))  # from q = 1e6 on, e^-s is 0
            return exp(-s) * {0.5: 1, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu]

        return closed_form
    weights, rates = matern_mixture(nu)

    def mixture(q: Array) -> Array:
        same = q == 0
        _loops.mixture(q.reshape(-1), weights, rates)
        q[same] = 1
        return q

    return mixture


def matern_mixture(nu: float) -> tuple[Array, Array]:
    r"""Return weights and rates of exponentials of -q whose weighted sum is the Matern kernel.

    The kernel is a mixture of Gaussians: the mean of :math:`e^{-q / v}` over v, gamma distributed
    with shape nu. As an integral over t = ln v, it is summed by the trapezoidal rule, whose error
    falls exponentially as the step decreases.
    """
    # The width of the integrand is about 1 / sqrt(nu), if that is below 1.
    halvings = max(math.frexp(nu / 8)[1], 0)
    step = 2.0 ** (-3 - (halvings + 1) // 2)
    low, high = -708.0, 8.0  # so that the least v and the largest rate are within float64
    if nu > 64:  # in float64, the integrand is 0 except near ln(nu)
        near = 0.693 * math.frexp(nu)[1]
        low, high = near - 8.0, near + 6.0
    t = step * np.arange(math.ceil(low / step), math.floor(high / step) + 1)
    v = exp(t.copy())
    exponents = nu * t - v
    peak = int(np.argmax(exponents))
    exponents -= exponents[peak]
    # If the kernel is small, the terms of large v are the largest, so they are kept.
    kept = exponents > np.where(np.arange(len(t)) > peak, -740.0, -46.0)
    weights, rates = exp(exponents[kept]), 1 / v[kept]
    total = math.fsum(weights)
    if kept[0]:  # terms below t[0], nonzero only for q = 0, form a geometric series
        ratio = float(exp(np.array([-nu * step]))[0])
        total += weights[0] * ratio / (1 - ratio) if ratio < 1 else math.inf
    padding = -len(weights) % 8
    weights = np.concatenate([np.zeros(padding), weights / total])
    return weights, np.concatenate([np.full(padding, rates[0]), rates])
