"""gamma="scale" and gamma="median"."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from scipy.spatial.distance import pdist

from sparsemaps import Fastfood, RandomBinning, RandomFourier
from sparsemaps.maps import _bandwidth

METRICS = {"squared": "euclidean", "euclidean": "euclidean", "absolute": "cityblock"}
MAPS = {
    "rbf": (RandomFourier(), "squared"),
    "matern": (RandomFourier(kernel="matern"), "squared"),
    "laplacian": (RandomFourier(kernel="laplacian"), "absolute"),
    "cauchy": (RandomFourier(kernel="cauchy"), "euclidean"),
    "fastfood": (Fastfood(), "squared"),
    "binning": (RandomBinning(n_grids=8), "absolute"),
}


def rows(n=60, seed=0):
    rng = np.random.default_rng(SEED + seed)
    return rng.gamma(1.0, size=(n, 7)) * (rng.random((n, 7)) < 0.5)


def by_hand(X, name, of):
    if name == "scale":
        variance = X.var()
        units = {"squared": variance, "euclidean": np.sqrt(variance / 7), "absolute": X.std()}
        return 1 / (7 * units[of])
    median = np.median(pdist(X, METRICS[of]))
    return 1 / (2 * median**2) if of == "squared" else 1 / median


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.coo_matrix])
@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("name", MAPS)
def test_gamma_by_name(name, gamma, container):
    features, of = MAPS[name]
    X = rows()
    fitted = features.set_params(gamma=gamma, random_state=0).fit(container(X))
    np.testing.assert_allclose(fitted.gamma_, by_hand(X, gamma, of))
    again = type(features)(**features.get_params())
    again.set_params(gamma=fitted.gamma_).fit(X)
    Z, expected = fitted.transform(X), again.transform(X)
    assert abs(Z - expected).max() == 0
    np.testing.assert_array_equal(fitted.exact_kernel(X), again.exact_kernel(X))
    assert fitted.to_config() == again.to_config()


def test_the_matern_kernel_of_fastfood_has_the_same_width():
    X = rows()
    rbf = Fastfood(gamma="median", random_state=0).fit(X)
    matern = Fastfood(kernel="matern", degree=3, gamma="median", random_state=0).fit(X)
    assert matern.gamma_ == pytest.approx(rbf.gamma_ * (8 + 2) / 3)
    K, expected = matern.exact_kernel(X), rbf.exact_kernel(X)
    assert np.abs(K - expected)[expected > 0.5].max() < 0.05


def test_median_of_a_sample():
    X = rows(2000)
    found = RandomFourier(gamma="median", random_state=0).fit(X).gamma_
    assert found == RandomFourier(gamma="median", random_state=1).fit(X).gamma_
    assert found == pytest.approx(by_hand(X, "median", "squared"), rel=0.1)


@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("X", [np.ones((5, 3)), np.zeros((4, 3)), np.full((1, 2), 7.0)])
def test_rows_that_are_all_the_same(gamma, X):
    assert RandomFourier(gamma=gamma).fit(X).gamma_ == 1.0


@pytest.mark.parametrize("cls", [RandomFourier, Fastfood, RandomBinning])
def test_errors(cls):
    with pytest.raises(ValueError, match="gamma must be 'scale', 'median' or a finite number"):
        cls(gamma="auto").fit(rows())
    with pytest.raises(ValueError, match="gamma must be"):
        cls(gamma=-1.0).fit(rows())
    more = {"hash_dim": 16} if cls is Fastfood else {}
    with pytest.raises(ValueError, match="gamma='median' is computed from data"):
        cls(gamma="median", **more).fit_any_width()


def test_a_linear_model_of_ten_classes_fits_in_100_megabytes():
    width = RandomBinning().fit(rows()).get_feature_names_out().size
    assert 10 * width * 8 < 100e6


def test_kinds():
    assert set(METRICS) == {"squared", "euclidean", "absolute"}
    assert _bandwidth.choose(2.5, "squared", None) == 2.5


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, -1e7])
@pytest.mark.parametrize("n_zeros", [0, 5])
def test_values_that_are_far_from_0(name, offset, n_zeros):
    """The variance is right to the last bits of the values: no square of the mean is subtracted.
    A few zeros, which are not stored, count too."""
    features, of = MAPS[name]
    X = rows() + offset
    X[:n_zeros, 2] = 0
    found = features.set_params(gamma="scale", random_state=0).fit(sp.csr_array(X)).gamma_
    exact = [Fraction(value) for value in X.ravel().tolist()]
    mean = sum(exact) / len(exact)
    variance = float(sum((value - mean) ** 2 for value in exact) / len(exact))
    units = {"squared": variance, "euclidean": np.sqrt(variance / 7), "absolute": variance**0.5}
    assert found == pytest.approx(1 / (7 * units[of]), rel=1e-12)


@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("name", [name for name in MAPS if name != "fastfood"])  # of float32
def test_values_of_any_size(name, gamma):
    """A factor changes gamma as it changes the unit, or there is an error: squares neither overflow
    nor vanish."""
    features, of = MAPS[name]
    X = rows()
    features.set_params(gamma=gamma, random_state=0)
    expected = features.fit(X).gamma_
    for exponent in (-1000, -600, -300, 300, 600, 1000):
        power = -exponent * (2 if of == "squared" else 1)
        if abs(power) < 1000:
            assert features.fit(np.ldexp(X, exponent)).gamma_ == np.ldexp(expected, power)
        elif abs(power) > 1050:
            with pytest.raises(ValueError, match=f"gamma='{gamma}' of these rows exceeds float"):
                features.fit(np.ldexp(X, exponent))


@pytest.mark.parametrize("value", [0.1, 1e-300, -7.3, 1e200])
def test_equal_values_have_no_variance(value):
    X = np.full((50, 7), value)
    assert RandomFourier(gamma="scale").fit(X).gamma_ == 1.0
