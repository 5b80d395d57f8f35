"""Random Maclaurin features: dot-product kernels without bias, with their known variance."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import reference, theorems

from sparsemaps import RandomMaclaurin
from sparsemaps._tools import _portable_math, _seeding

N_COMPONENTS = 100_000
N_ENTRIES = 6

KERNELS = {
    "homogeneous, degree 1": {"degree": 1},
    "homogeneous, degree 2": {},
    "homogeneous, degree 4": {"degree": 4, "gamma": 0.7},
    "polynomial": {"degree": 3, "coef0": 0.5, "gamma": 1.5},
    "exponential": {"kernel": "exp"},
    "exponential, gamma": {"kernel": "exp", "gamma": 0.6},
    "coefficients": {"kernel": (0.5, 0.0, 0.2, 0.4), "gamma": 1.2},
    "a constant": {"kernel": (2.0,)},
}


def coefficients(kernel="poly", degree=2, gamma=1.0, coef0=0.0):
    if kernel == "poly":
        a = [math.comb(degree, n) * coef0 ** (degree - n) for n in range(degree + 1)]
    elif kernel == "exp":
        a = [1 / math.factorial(n) for n in range(40)]
    else:
        a = kernel
    return np.array(a) * gamma ** np.arange(len(a))


def rows(columns=None):
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(4, N_ENTRIES)) / 3
    values[1] = values[0] + 0.2 * values[1]
    values[2, ::2] = 0
    values[3] = 0.4
    columns = np.arange(N_ENTRIES) * 2**37 if columns is None else columns
    X = sp.csr_array(
        (values.ravel(), np.tile(columns, 4), np.arange(5) * N_ENTRIES), (4, int(columns[-1]) + 1)
    )
    return X, values


def real_map(kernel, X, seed=0, **parameters):
    features = RandomMaclaurin(
        n_components=N_COMPONENTS, random_state=SEED + seed, **kernel, **parameters
    )
    return features.fit_transform(X)


def assert_theorem(features, kernel, h01=False, columns=None):
    """Products of single features have the kernel as their mean, and the variance of the docstring.

    One map of many components, as these are independent.
    """
    X, values = rows(columns)
    one, other = np.triu_indices(4)
    Z = features(kernel, X)
    found = N_COMPONENTS * (Z[one] * Z[other]).T
    inner = (values @ values.T)[one, other]
    a = coefficients(**kernel)
    expected = RandomMaclaurin(**kernel).fit(values).exact_kernel(values)[one, other]
    if h01:
        expected = expected - a[0] - (a[1] * inner if len(a) > 1 else 0)
        a[:2] = 0
    n = np.flatnonzero(a)
    p = 2.0**-n / (2.0**-n).sum()
    squares = (values**2).sum(axis=1)
    both = (values**2 @ (values**2).T)[one, other]
    second = squares[one] * squares[other] + 2 * inner**2 - 2 * both
    variance = (a[n] ** 2 / p * second[:, None] ** n).sum(axis=1) - expected**2
    theorems.assert_mean_of_variance(found, expected, variance)
    of_squares = fourth_moments(values, a[n], p, n)[one, other] - variance**2
    theorems.assert_mean_of_variance((found - expected) ** 2, variance, of_squares)


def fourth_moments(values, a, p, n):
    """Fourth central moments of the products, by all vectors of signs.

    Far off, a sample does not see them: the kurtosis of a product of n projections is that of one
    to the power n, here up to 3,700.
    """
    signs = np.array(list(itertools.product([-1, 1], repeat=N_ENTRIES)))
    projections = values @ signs.T
    products = projections[:, None] * projections
    first, second, third, fourth = (
        (p * (a / p) ** k * (products**k).mean(axis=2)[..., None] ** n).sum(axis=2)
        for k in (1, 2, 3, 4)
    )
    return fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_theorem(kernel):
    assert_theorem(real_map, kernel)


@theorems.each_structure(N_ENTRIES)
def test_theorem_for_structured_columns(columns):
    assert_theorem(real_map, {"degree": 1, "coef0": 0.5}, columns=columns)


@pytest.mark.parametrize(
    "kernel", [{"degree": 3, "coef0": 0.5}, {"kernel": "exp"}, {"degree": 2}], ids=str
)
def test_theorem_of_h01(kernel):
    """The random part is the series from degree 2 on; the rest is exact."""
    X, values = rows(np.arange(N_ENTRIES))
    Z = real_map(kernel, X, h01=True)
    assert Z.shape == (4, 1 + N_COMPONENTS + N_ENTRIES)
    a = coefficients(**kernel)
    exact = Z[:, [0, *range(1 + N_COMPONENTS, Z.shape[1])]].toarray()
    np.testing.assert_allclose(exact[:, 0], np.sqrt(a[0]))
    np.testing.assert_allclose(exact[:, 1:], np.sqrt(a[1]) * values)
    assert_theorem(lambda *_: Z[:, 1 : 1 + N_COMPONENTS].toarray(), kernel, h01=True)


def test_h01_of_a_linear_kernel_is_exact():
    X = random_csr(10, 20, density=0.4)
    Z = RandomMaclaurin(degree=1, coef0=3.0, h01=True, random_state=SEED).fit_transform(X)
    np.testing.assert_allclose((Z @ Z.T).toarray(), (X @ X.T).toarray() + 3)


def fully_random(change):
    """Features with NumPy's random numbers, after `change` has had its way with them."""

    def features(kernel, X):
        rng = np.random.default_rng(SEED)
        _, values = rows()
        a = coefficients(**kernel)
        degrees = np.flatnonzero(a)
        p = 2.0**-degrees / (2.0**-degrees).sum()
        drawn = rng.choice(degrees, N_COMPONENTS, p=p)
        signs = rng.choice([-1.0, 1.0], (degrees.max(), N_ENTRIES, N_COMPONENTS))
        a, signs, values = change(a, signs, values)
        Z = np.sqrt(a[drawn] / p[np.searchsorted(degrees, drawn)] / N_COMPONENTS)
        Z = np.tile(Z, (4, 1))
        for level, sign in enumerate(signs):
            Z = np.where(level < drawn, Z * (values @ sign), Z)
        return Z

    return features


MUTANTS = {
    "all zeros": lambda a, s, x: (0 * a, s, x),
    "divided by n! once more": lambda a, s, x: (
        a / [math.factorial(n) for n in range(len(a))], s, x,
    ),
    "one vector for all levels": lambda a, s, x: (a, s[[0] * len(s)], x),
    "no gamma": lambda a, s, x: (a, s, x / np.sqrt(1.5)),
    "neighbouring columns share signs": lambda a, s, x: (a, s[:, [0, 0, 2, 2, 4, 4]], x),
}  # fmt: skip


def test_fully_random_features_pass():
    assert_theorem(fully_random(lambda *same: same), {"degree": 3, "coef0": 0.5, "gamma": 1.5})


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    with pytest.raises(AssertionError):
        assert_theorem(fully_random(change), {"degree": 3, "coef0": 0.5, "gamma": 1.5})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", [{"degree": 3}, {"kernel": "exp"}], ids=str)
def test_against_reference(dtype, kernel):
    """Bit by bit, with rows longer than what is gathered at once."""
    rng = np.random.default_rng(SEED)
    lengths = [0, 3, 20_000, 1, 40]
    columns = [np.sort(rng.choice(2**45, n, replace=False)) for n in lengths]
    columns[4][:3] = columns[1]
    columns[4].sort()
    indptr = np.cumsum([0, *lengths])
    values = rng.normal(size=indptr[-1]).astype(dtype)
    X = sp.csr_array((values, np.concatenate(columns), indptr), shape=(5, 2**45))
    features = RandomMaclaurin(**kernel, n_components=50, random_state=SEED + 3).fit(X)
    factors, firsts = features.draw.factors.astype(dtype), features.draw.firsts
    key = features.draw.keys()[0]
    expected = [
        reference.random_maclaurin(key, *row, factors, firsts) for row in reference.rows_of(X)
    ]
    np.testing.assert_array_equal(features.transform(X), np.stack(expected), strict=True)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
def test_more_components_extend_the_first(kernel):
    X = random_csr(10, 50, density=0.2)
    few, many = (
        np.sqrt(n)
        * RandomMaclaurin(**kernel, n_components=n, random_state=SEED + 1).fit_transform(X)
        for n in (70, 200)
    )
    np.testing.assert_allclose(many[:, :70], few)


def test_degrees_are_geometric():
    features = RandomMaclaurin(kernel="exp", n_components=2**16, random_state=SEED).fit(np.eye(2))
    degrees = np.diff(features.draw.firsts)
    counts = np.bincount(degrees)
    for n in range(6):
        theorems.assert_rate(degrees == n, 2.0 ** -(n + 1))
    assert counts.sum() == 2**16


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rbf"}, "kernel must be 'poly' or 'exp', got 'rbf'"),
        ({"kernel": 3}, "kernel must be 'poly', 'exp' or a sequence of coefficients"),
        ({"kernel": []}, "kernel must be 'poly', 'exp' or a sequence of coefficients"),
        ({"kernel": [1.0, -1.0]}, "none negative"),
        ({"kernel": [1.0, np.inf]}, "finite"),
        ({"kernel": [0.0, 0.0]}, "kernel must be a sequence with a positive coefficient"),
        ({"kernel": [1.0] * 2000}, "at most 1025 coefficients, got 2000"),
        ({"degree": 0}, "degree must be from 1 to 1024, got 0"),
        ({"degree": 1000, "coef0": 2.0}, "coefficients must be finite"),
        ({"gamma": -1.0}, "gamma must be a finite number above 0, got -1.0"),
        ({"coef0": "a"}, "coef0 must be a finite number of at least 0, got 'a'"),
        ({"n_components": 0}, "n_components must be from 1 to 2147483647, got 0"),
        ({"h01": None}, "h01 must be True or False, got None"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomMaclaurin(**parameters).fit(np.ones((2, 4)))


@pytest.mark.parametrize("x", [0.0, 5e-324, 1e-20, 0.1, 0.7, 1.0, 1.1, 3.0, 1e10, 1.7e308], ids=str)
def test_powers_are_correctly_rounded(x):
    for n, power in enumerate(_portable_math.powers(x, 80)):
        exact = Fraction(x) ** n
        assert power == (float(exact) if exact < 2**1024 - 2**970 else np.inf)


def test_degrees_have_a_key_of_their_own():
    """They rise with the uniform numbers of the second key; the first one is that of signs."""
    fitted = RandomMaclaurin(kernel="exp", n_components=200, random_state=SEED).fit(np.ones((1, 2)))
    key = _seeding.keys(SEED, "random_maclaurin", 2, "exp")[1]
    order = np.argsort(_seeding.uniforms(key, 200))
    degrees = np.diff(fitted.draw.firsts)[order]
    assert degrees[0] < degrees[-1]
    assert (np.diff(degrees) >= 0).all()
