"""Our own functions against those of NumPy and SciPy, and against formulas where there are some."""

import numpy as np
import pytest
from scipy import special

from sparsemaps._tools import _portable_math

# One minus each of them is exact too.
LOW = np.array([2**-40, 2**-17, 1 / 32, 3 / 16, 0.5 - 2**-12, 0.5])
PROBABILITIES = np.concatenate([LOW, 1 - LOW])


def test_exp():
    x = np.concatenate([np.linspace(-745, 709, 10_001), [0.0, -0.0, 1e-300]])
    np.testing.assert_array_max_ulp(_portable_math.exp(x), np.exp(x), maxulp=2)
    assert _portable_math.exp([-1e300, 1e300]).tolist() == [0.0, np.inf]


def test_acos():
    x = np.concatenate([np.linspace(-1, 1, 10_001), [1e-300, 1 - 1e-16, 1e-16 - 1]])
    np.testing.assert_array_max_ulp(_portable_math.acos(x), np.arccos(x), maxulp=3)


def test_log_one_plus_square():
    x = np.concatenate([np.linspace(-30, 30, 1001), [1e-200, 9e99, -9e99]])
    np.testing.assert_allclose(
        _portable_math.log_one_plus_square(x), np.log1p(x * x), rtol=1e-15, atol=2**-52
    )
    large = np.array([1e100, -1e100, 1e160, 1e308])  # of which the squares are not all finite
    np.testing.assert_allclose(
        _portable_math.log_one_plus_square(large), 2 * np.log(abs(large)), rtol=1e-15
    )


@pytest.mark.parametrize("p", [0.1, 0.5, 1, 2, 3.7])
def test_real_powers(p):
    x = np.concatenate(
        [np.linspace(-30, 30, 1000), [1e-80, -9e79, 1.0, -1.0, 5e-324 if p <= 1 else 1]]
    )
    found = _portable_math.real_power(x, p)
    np.testing.assert_allclose(found, np.sign(x) * abs(x) ** p, rtol=2e-13)
    assert found[-3:-1].tolist() == [1, -1]
    for beyond in (1e-200, -1e200):
        with pytest.raises(ValueError, match=r"the value -?1e.200 to the power of 2 is beyond"):
            _portable_math.real_power(np.array([3.0, beyond]), 2)


@pytest.mark.parametrize("shape", [0.25, 0.5, 1, 3.7, 16, 1000])
def test_gamma_quantiles(shape):
    x = _portable_math.gamma_quantile(shape, PROBABILITIES)
    np.testing.assert_allclose(special.gammainc(shape, x), PROBABILITIES, rtol=1e-10)
    np.testing.assert_allclose(special.gammaincc(shape, x), 1 - PROBABILITIES, rtol=1e-10)


@pytest.mark.parametrize("dimension", [3, 5, 64, 4096])
def test_cosine_quantiles(dimension):
    """Half of one plus the cosine has a beta distribution of two equal shapes."""
    cosine = _portable_math.cosine_quantile(dimension, LOW)
    m = (dimension - 1) / 2
    np.testing.assert_allclose(special.betainc(m, m, (1 + cosine) / 2), LOW, rtol=1e-9)
    np.testing.assert_array_equal(_portable_math.cosine_quantile(dimension, 1 - LOW), -cosine)


def test_cosine_quantiles_of_known_formulas():
    """A point of a circle; and of a sphere, each coordinate of which is uniform."""
    p = PROBABILITIES
    circle = _portable_math.cosine_quantile(2, p)
    np.testing.assert_allclose(circle, -np.cos(np.pi * p), rtol=1e-15, atol=4e-16)
    np.testing.assert_allclose(_portable_math.cosine_quantile(3, p), 2 * p - 1, rtol=1e-11)
