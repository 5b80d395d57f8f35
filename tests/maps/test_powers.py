"""Consistent weighted sampling of values to a power."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.min_max_pairs import METHODS
from _oracles import reference, theorems

from sparsemaps import ConsistentWeightedSampling


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("power", [0.25, 3.0])
def test_theorem_of_powers(power, method):
    """The kernel of values to a power; of values of both signs too."""
    rng = np.random.default_rng(SEED + 5)
    u, v = rng.gamma(1.0, size=(2, 30)) * rng.choice([-1, 1], 30)
    X = sp.csr_array(np.array([u, np.where(rng.random(30) < 0.6, u * rng.random(30), v)]))
    cws = ConsistentWeightedSampling(
        n_hashes=50_000, power=power, signed=True, **method, random_state=SEED
    ).fit(X)
    (i, j), (t, s) = cws.sample(X)
    least, most = np.sort(abs(X.toarray()) ** power, axis=0)
    theorems.assert_rate((i == j) & (t == s), least.sum() / most.sum())
    np.testing.assert_allclose(cws.exact_kernel(X)[0, 1], least.sum() / most.sum())


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_power_is_that_of_the_values(X, method):
    """Codes are those of the values' powers, in blocks, for both types; powers keep draws."""
    for dtype in (np.float32, np.float64):
        rows = X.astype(dtype)
        cws = ConsistentWeightedSampling(n_hashes=40, **method, random_state=SEED).fit(rows)
        expected = cws.encode(rows.astype(float).power(2))
        found = cws.set_params(power=2).fit(rows).encode(rows)
        assert (found == expected).mean() > 0.999  # but where the last bits of a power decide


@pytest.mark.parametrize(
    ("factor", "power"),
    [(1e200, 2), (1e-200, 2), (1e307, 2.5), (1e-300, 2.6), (1e20, 30), (1e-20, 30), (1, 1e-3)],
)
def test_powers_beyond_float64(factor, power):
    """Values are multiplied by a factor, which changes no kernel; powers are out of range."""
    rng = np.random.default_rng(SEED + 1)
    values = rng.integers(8, 16, (2, 12)) / 8
    exact = reference.min_max(*values**power)
    X = sp.csr_array(values * factor)
    cws = ConsistentWeightedSampling(n_hashes=20_000, power=power, random_state=SEED + 4)
    (i, j), (t, s) = cws.fit(X).sample(X)
    theorems.assert_rate((i == j) & (t == s), exact)
    np.testing.assert_allclose(cws.exact_kernel(X)[0, 1], exact, rtol=1e-11)
    np.testing.assert_allclose(cws.exact_kernel(X[[0]], X[[1]]), exact, rtol=1e-11)


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize("power", [1e-320, 1e-30])
def test_least_powers_make_sets_of_rows(power, method):
    """All weights are 1."""
    X = sp.csr_array(np.array([[1e300, 2.0, 1e-300, 0], [1.0, 7.0, 0, 1e5]]))
    cws = ConsistentWeightedSampling(n_hashes=20_000, power=power, **method, random_state=SEED + 4)
    (i, j), (t, s) = cws.fit(X).sample(X)
    theorems.assert_rate((i == j) & (t == s), 0.5)
    assert cws.exact_kernel(X)[0, 1] == 0.5


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_powers_that_are_too_large(method):
    X = sp.csr_array(np.array([[1.0, 1e200]]))
    cws = ConsistentWeightedSampling(power=5, **method).fit(X)
    message = r"1e\+200 in row 0, column 1; to the power of 5 it is beyond e\^2000.*must be smaller"
    for call in (cws.transform, cws.encode, cws.sample):
        with pytest.raises(ValueError, match=message):
            call(X)
    with pytest.raises(ValueError, match=r"to the power of 5(\.0)? is beyond float64"):
        cws.exact_kernel(X)
    ones = sp.csr_array(np.ones((1, 3)))
    again = ConsistentWeightedSampling(power=1e300, **method, random_state=SEED).fit(ones)
    other = ConsistentWeightedSampling(**method, random_state=SEED).fit(ones)
    np.testing.assert_array_equal(again.encode(ones), other.encode(ones))
