"""Exact kernels against plain NumPy."""

import re
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.close_rows import close_pairs
from _data.rows import random_csr
from scipy import integrate, special
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from sparsemaps import kernels


def pairs(X, Y):
    return X[:, None].astype(float), Y[None].astype(float)


def cosines(X, Y):
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)
    return (X @ Y.T) / np.where(lengths > 0, lengths, 1)


def chi2(X, Y):
    u, v = pairs(X, Y)
    return np.divide(2 * u * v, u + v, out=np.zeros_like(u * v), where=u + v > 0).sum(axis=2)


def min_max(X, Y):
    u, v = pairs(X, Y)
    most = np.maximum(u, v).sum(axis=2)
    return np.minimum(u, v).sum(axis=2) / np.where(most > 0, most, 1)


def both_signs(X):
    return np.hstack([np.maximum(X, 0), np.maximum(-X, 0)])


def to_sum_one(X):
    sums = X.sum(axis=1)[:, None]
    return X / np.where(sums > 0, sums, 1)


def acos(rho):
    return 1 - np.arccos(np.clip(rho, -1, 1)) / np.pi


def matern(X, Y, gamma, nu):
    s = 2 * np.sqrt(nu * gamma) * pairwise.euclidean_distances(X, Y)
    s = np.maximum(s, 1e-9)
    return 2 ** (1 - nu) / special.gamma(nu) * s**nu * special.kv(nu, s)


NAIVE = {
    "min_max_kernel": (min_max, {}),
    "generalized_min_max_kernel": (
        lambda X, Y, power: min_max(both_signs(X) ** power, both_signs(Y) ** power), {"power": 0.3},
    ),
    "chi2_similarity": (chi2, {}),
    "acos_kernel": (lambda X, Y: acos(cosines(X, Y)), {}),
    "acos_chi2_kernel": (lambda X, Y: acos(chi2(to_sum_one(X), to_sum_one(Y))), {}),
    "normalized_rbf_kernel": (
        lambda X, Y, gamma: np.exp(-gamma * (1 - cosines(X, Y))), {"gamma": 2.0},
    ),
    "folded_rbf_kernel": (
        lambda X, Y, gamma: (
            np.exp(-gamma * (1 - cosines(X, Y))) + np.exp(-gamma * (1 + cosines(X, Y)))
        ) / 2,
        {"gamma": 2.0},
    ),
    "laplacian_kernel": (
        lambda X, Y, gamma: np.exp(-gamma * abs(X[:, None] - Y).sum(axis=2)), {"gamma": 0.1},
    ),
    "cauchy_kernel": (
        lambda X, Y, gamma: (1 / (1 + gamma**2 * (X[:, None] - Y) ** 2)).prod(axis=2),
        {"gamma": 0.3},
    ),
    "matern_kernel": (matern, {"gamma": 0.05, "nu": 1.5}),
    "polynomial_kernel": (lambda X, Y, gamma: (gamma * X @ Y.T + 1) ** 3, {"gamma": 0.3}),
    "rbf_kernel": (
        lambda X, Y, gamma: np.exp(-gamma * ((X[:, None] - Y) ** 2).sum(axis=2)), {"gamma": 0.03},
    ),
}  # fmt: skip

NONNEGATIVE = {"min_max_kernel", "chi2_similarity", "acos_chi2_kernel"}

each = pytest.mark.parametrize("name", sorted(NAIVE))


def data(name, n_rows=40, seed=0, n_columns=60):
    X = random_csr(n_rows, n_columns, density=0.3, seed=seed)
    if name not in NONNEGATIVE:
        X.data *= np.random.default_rng(SEED + seed).choice([-1.0, 1.0], X.nnz)
    return X


def test_every_kernel_is_tested():
    assert set(NAIVE) == set(kernels.__all__)


def tolerance(name):
    """arccos takes the root of an error near 1."""
    return {"atol": 3e-8 if name.startswith("acos") else 1e-12, "rtol": 1e-12}


@each
def test_against_numpy(name):
    naive, parameters = NAIVE[name]
    X, Y = data(name), data(name, 23, seed=1)
    expected = naive(X.toarray(), Y.toarray(), **parameters)
    found = getattr(kernels, name)(X, Y, **parameters)
    assert found.shape == (40, 23)
    np.testing.assert_allclose(found, expected, **tolerance(name))


@pytest.mark.parametrize("nu", [0.5, 0.8, 1.5, 2.5, 4.0])
def test_matern(nu):
    X, Y = data("matern_kernel"), data("matern_kernel", 23, seed=1)
    expected = matern(X.toarray(), Y.toarray(), 0.02, nu)
    found = kernels.matern_kernel(X, Y, gamma=0.02, nu=nu)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=2e-9)
    smooth = kernels.matern_kernel(X, Y, gamma=0.02, nu=50)
    np.testing.assert_allclose(smooth, kernels.rbf_kernel(X, Y, gamma=0.02), atol=0.02)
    near = kernels.matern_kernel(X, X + 1e-12 * X, gamma=0.02, nu=nu)
    np.testing.assert_allclose(near.diagonal(), 1, rtol=1e-3)
    with pytest.raises(ValueError, match="nu must be at most 10000, got 10001"):
        kernels.matern_kernel(X, nu=10001)


@pytest.mark.parametrize("nu", [33.0, 64.0, 65.0, 200.0, 1999.5, 10_000.0])
def test_matern_of_large_nu(nu):
    """The mean of e^(-q / v), v of the Gamma distribution of shape nu: the quantiles of v are
    scaled so that the interval of 40 standard deviations has no tail to speak of."""
    squares = np.array([1e-3, 0.1, 1.0, 5.0, 20.0, 100.0])

    def mean(square):
        def integrand(z):
            v = nu + z * np.sqrt(nu)
            density = np.exp((nu - 1) * np.log(v) - v - special.gammaln(nu)) * np.sqrt(nu)
            return density * np.exp(-nu * square / v)

        low = max(-20.0, -np.sqrt(nu) * (1 - 1e-9))
        return integrate.quad(integrand, low, 40, epsabs=0, epsrel=1e-11, limit=500)[0]

    found = kernels.matern_kernel(np.sqrt(squares)[:, None], [[0.0]], nu=nu)[:, 0]
    expected = [mean(square) for square in squares]
    # (nu - 1) log v is up to 92,103, of a relative error of 2^-53.
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@each
def test_symmetric(name):
    """Y=None is X against itself: positive semidefinite, with 1 on the diagonal."""
    X = data(name, 70)
    parameters = NAIVE[name][1]
    K = getattr(kernels, name)(X, **parameters)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(K, getattr(kernels, name)(X, X, **parameters), **tolerance(name))
    assert np.linalg.eigvalsh(K).min() > -1e-7
    filled = np.diff(X.indptr) > 0
    if name == "folded_rbf_kernel":
        np.testing.assert_allclose(K.diagonal()[filled], (1 + np.exp(-4)) / 2)
    elif name not in ("chi2_similarity", "polynomial_kernel"):
        np.testing.assert_allclose(K.diagonal()[filled], 1, rtol=1e-14)


@each
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_and_threads(name, n_jobs):
    """Many rows are several blocks on both sides; each pair has the kernel of the two alone."""
    X, Y = data(name, n_columns=20), data(name, 23, seed=1, n_columns=20)
    function = partial(getattr(kernels, name), **NAIVE[name][1])
    many, others = sp.vstack([X] * 13, "csr"), sp.vstack([Y] * 45, "csr")
    expected = np.tile(function(X, Y), (13, 45))
    np.testing.assert_array_equal(function(many, others, n_jobs=n_jobs), expected)
    many = sp.vstack([X] * 26, "csr")
    expected = np.tile(function(X, X), (26, 26))
    np.fill_diagonal(expected, np.tile(function(X).diagonal(), 26))  # a row and itself
    np.testing.assert_array_equal(function(many, n_jobs=n_jobs), expected)


@each
def test_forms(name):
    """Dense, float32, int64 indices, very wide, unsorted with duplicates, no rows."""
    X, Y = data(name), data(name, 23, seed=1)
    parameters = NAIVE[name][1]
    function = getattr(kernels, name)
    expected = function(X, Y, **parameters)
    np.testing.assert_array_equal(function(X.toarray(), Y.tocsc(), **parameters), expected)
    wide = [
        sp.csr_array(
            (Z.data, Z.indices.astype(np.int64) * 2**38, Z.indptr.astype(np.int64)),
            (Z.shape[0], 2**45),
        )
        for Z in (X, Y)
    ]
    np.testing.assert_array_equal(function(*wide, **parameters), expected)
    halves = sp.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape
    )
    np.testing.assert_array_equal(function(halves, Y, **parameters), expected)
    single = function(X.astype(np.float32), Y.astype(np.float32), **parameters)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-4)
    assert function(X[:0], Y, **parameters).shape == (0, 23)
    assert function(X, Y[:0], **parameters).shape == (40, 0)


@each
def test_bad_input(name):
    function = getattr(kernels, name)
    X = data(name)
    with pytest.raises(ValueError, match="as many columns, got 60 and 59"):
        function(X, X[:, :59])
    bad = X.copy()
    bad.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN in row"):
        function(X, bad)
    with pytest.raises(ValueError, match="n_jobs"):
        function(X, n_jobs=0)
    if name in NONNEGATIVE:
        with pytest.raises(ValueError, match="Negative values in data: X has -1"):
            function(-X / X.data[0])
    if "gamma" in NAIVE[name][1]:
        with pytest.raises(ValueError, match="gamma must be a finite number above 0, got -1"):
            function(X, gamma=-1)


@pytest.mark.parametrize("nu", [0.3, 0.5, 1.5, 2.5, 7.0])
@pytest.mark.parametrize("gamma", [5e-324, 1e200, sys.float_info.max])
def test_matern_of_any_gamma(nu, gamma):
    """Where distances times gamma overflow, the kernel of different rows is 0."""
    K = kernels.matern_kernel(np.array([[1.0, 2], [3, 0], [0, 0]]), gamma=gamma, nu=nu)
    np.testing.assert_allclose(K, np.ones((3, 3)) if gamma < 1 else np.eye(3), atol=1e-15)


@pytest.mark.parametrize("nu", [1e-5, 0.02, 0.06])
def test_matern_of_small_nu(nu):
    """The rates of the mixture's exponentials are within float64: there is no warning."""
    X = np.array([[1.0, 2], [3, 0], [0, 0]])
    expected = matern(X, X, 0.05, nu)
    np.fill_diagonal(expected, 1)
    np.testing.assert_allclose(kernels.matern_kernel(X, gamma=0.05, nu=nu), expected, rtol=1e-10)
    far, near, same = kernels.matern_kernel(X[2:], [[1e-6, 0], [1e-153, 0], [0, 0]], nu=nu)[0]
    assert 0 < far <= near <= same == 1


def test_cauchy_of_large_values():
    """The square of one value is within float64, the product of two squares is not."""
    X = np.array([[1e120, 1], [1e120, 3], [-1e120, 1], [0, 1]])
    expected = (1 / (1 + (X[:, None] - X) ** 2)).prod(axis=2)
    found = kernels.cauchy_kernel(X)
    assert found[0, 2] > 0
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    K = kernels.cauchy_kernel([[1e308, 1], [-1e308, 1], [1e308, 2]], gamma=10.0)
    np.testing.assert_allclose(K, [[1, 0, 1 / 101], [0, 1, 0], [1 / 101, 0, 1]], rtol=1e-12)


@pytest.mark.parametrize("n_jobs", [2**63, 10**30, -(10**30)])
def test_any_number_of_threads(n_jobs):
    X = np.ones((3, 2))
    np.testing.assert_array_equal(kernels.min_max_kernel(X, n_jobs=n_jobs), np.ones((3, 3)))


def test_no_columns():
    with pytest.raises(ValueError, match="X must have at least one column, got none"):
        kernels.min_max_kernel(sp.csr_array((3, 0)))


def test_rows_without_entries_among_many_columns():
    """Blocks without any column have no column to look for."""
    X = sp.csr_array((3, 2**40))
    Y = sp.csr_array(([1.0], ([0], [2**39])), shape=(2, 2**40))
    found = kernels.laplacian_kernel(X, Y)
    np.testing.assert_allclose(found, [[np.exp(-1), 1]] * 3, rtol=1e-15)  # exp is our own


def test_data_frames_of_sparse_columns():
    pandas = pytest.importorskip("pandas")
    X = data("min_max_kernel")
    frame = pandas.DataFrame.sparse.from_spmatrix(sp.csr_matrix(X))
    np.testing.assert_array_equal(kernels.min_max_kernel(frame, X), kernels.min_max_kernel(X))


def test_precomputed_kernel():
    rng = np.random.default_rng(SEED)
    X = rng.poisson(1.0, (200, 30)).astype(float)
    y = (X[:, 0] > X[:, 1]).astype(int)
    model = SVC(kernel="precomputed", C=10).fit(kernels.min_max_kernel(X[:150]), y[:150])
    assert model.score(kernels.min_max_kernel(X[150:], X[:150]), y[150:]) > 0.7


MUTANTS = {
    "min_max_kernel": lambda X, Y: chi2(X, Y),
    "acos_chi2_kernel": lambda X, Y: acos(chi2(X, Y)),
    "cauchy_kernel": lambda X, Y, gamma: (1 / (1 + gamma * (X[:, None] - Y) ** 2)).prod(axis=2),
    "normalized_rbf_kernel": lambda X, Y, gamma: np.exp(-gamma / 2 * (1 - cosines(X, Y))),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_rejected(name, monkeypatch):
    monkeypatch.setitem(NAIVE, name, (MUTANTS[name], NAIVE[name][1]))
    with pytest.raises(AssertionError):
        test_against_numpy(name)


def test_tiny_values_of_both_signs():
    """Their products are 0, but their signs are not."""
    X = np.array([[1e-200, -1e-200, 2.0], [3e-200, 1e-200, 0.0], [-1e-200, -5e-200, 1e-200]])
    K = kernels.generalized_min_max_kernel(sp.csr_array(1e-100 * X[1:]))
    np.testing.assert_allclose(K, [[1, 0], [0, 1]])
    K = kernels.generalized_min_max_kernel(sp.csr_array(X[[0, 2], :2]))
    np.testing.assert_allclose(K[0, 1], 1 / 7)


# ---- rows that are close -------------------------------------------------------------------------

DISTANCES = {
    "rbf_kernel": (2, 1, {}),
    "matern_kernel": (2, 0.5, {"nu": 0.5}),  # e^-sqrt(2 gamma d)
    "laplacian_kernel": (1, 1, {}),
}


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_close_rows(name, dtype):
    """The docstrings' bounds, against fractions: 2^-20 of the distance, and 2^-1040."""
    power, root, parameters = DISTANCES[name]
    for x, y in close_pairs():
        x = np.clip(x, -1e38, 1e38).astype(dtype)  # converted exactly; the result is float64
        exact = sum(
            abs(Fraction(u) - Fraction(v)) ** power
            for u, v in zip(x.astype(float).tolist(), y.tolist(), strict=True)
        )
        largest = Fraction(sys.float_info.max)
        gamma = float(min(1 / exact, largest)) if exact else sys.float_info.max
        if gamma == 0:
            continue
        found = getattr(kernels, name)([x], [y], gamma=gamma, **parameters).item()
        argument = Fraction(gamma) * exact
        error = argument / 2**20 + Fraction(gamma) / 2**1040
        low, high = max(argument - error, 0), argument + error
        if root == 0.5:
            low, high = np.sqrt(2 * float(low)), np.sqrt(2 * float(high))
        rounding = 1e-15  # of the kernel, beside that of its argument
        assert np.exp(-float(high)) - rounding <= found <= np.exp(-float(low)) + rounding, (x, y)


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_of_every_nearness(name):
    """2^-20 of the distance, also where a sum would have lost but half of its digits."""
    power, root, parameters = DISTANCES[name]
    rng = np.random.default_rng(SEED)
    x = 1 + rng.random(100)
    for exponent in range(50):
        y = x + 2.0**-exponent * rng.choice([-1, 1], 100)
        exact = sum(
            abs(Fraction(u) - Fraction(v)) ** power
            for u, v in zip(x.tolist(), y.tolist(), strict=True)
        )
        found = getattr(kernels, name)([x], [y], gamma=float(1 / exact), **parameters).item()
        argument = -np.log(found) if root == 1 else np.log(found) ** 2 / 2
        assert abs(argument - 1) < 2.0**-20, exponent


def test_close_rows_of_a_matrix():
    """As in every block and thread; equal rows have the kernel 1, wherever they are."""
    X = np.repeat([[1e8, 1], [1e8, 2], [1e8, 1]], 5, axis=0)
    expected = np.exp(-0.5 * (X[:, None, 1] - X[:, 1]) ** 2)
    np.testing.assert_allclose(kernels.rbf_kernel(X, gamma=0.5), expected, rtol=1e-15)
    np.testing.assert_allclose(kernels.rbf_kernel(X, X, gamma=0.5), expected, rtol=1e-15)
    mixed = sp.csr_array(X)
    mixed.indices = mixed.indices.astype(np.int64)
    np.testing.assert_allclose(kernels.rbf_kernel(mixed, X, gamma=0.5), expected, rtol=1e-15)


@pytest.mark.parametrize("name", ["rbf_kernel", "matern_kernel", "polynomial_kernel"])
def test_values_beyond_the_range(name):
    """Where the sum of squares overflows it is an error, not infinity or NaN."""
    function = getattr(kernels, name)
    assert np.isfinite(function([[1e153, 1.0]], [[-1e153, 2.0]], gamma=1e-306)).all()
    with pytest.raises(ValueError, match=r"row 1 of Y are too large"):
        function([[1.0, 0]], [[1.0, 0], [1e300, 0]])


SCALE_FREE = {
    "acos_kernel", "acos_chi2_kernel", "normalized_rbf_kernel", "folded_rbf_kernel",
}  # fmt: skip
"""Kernels that do not change if a row is multiplied."""


@each
@pytest.mark.parametrize("exponent", [-1060, -600, 400, 511, 600, 1000])
def test_extremes_in_one_matrix(name, exponent):
    """Rows of X and of Y are treated alike: the kernel is that of Y and X, or both are refused."""
    function = partial(getattr(kernels, name), **NAIVE[name][1])
    X, Y = data(name, n_columns=20), data(name, 23, seed=1, n_columns=20)
    Y.data = np.ldexp(Y.data, exponent)
    try:
        expected = function(Y, X)
    except ValueError as error:
        message = str(error).replace("of X", "of Y")
        with pytest.raises(ValueError, match=re.escape(message)):
            function(X, Y)
        return
    np.testing.assert_allclose(function(X, Y), expected.T, rtol=1e-13, atol=1e-300)
    if name in SCALE_FREE and exponent > -1000:  # no value has lost a digit
        Y.data = np.ldexp(Y.data, -exponent)
        np.testing.assert_allclose(function(X, Y), expected.T, rtol=1e-12, atol=1e-12)


# ---- scikit-learn's functions of the same names --------------------------------------------------


@pytest.mark.parametrize("name", ["rbf_kernel", "polynomial_kernel"])
def test_as_in_scikit_learn(name):
    """Defaults, and the order of the parameters."""
    ours, theirs = getattr(kernels, name), getattr(pairwise, name)
    X, Y = data(name), data(name, 23, seed=1)
    arguments = (2, 0.5, -0.25) if name == "polynomial_kernel" else (0.5,)
    for given in ((X,), (X, Y), (X.toarray(), Y), (X, Y, *arguments)):
        np.testing.assert_allclose(ours(*given), theirs(*given), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match=r"gamma must be a finite number above 0, got -1"):
        ours(X, gamma=-1)


@pytest.mark.parametrize("degree", [1, 2, 3, 7, 64, 1000])
def test_powers(degree):
    found = kernels.polynomial_kernel([[1.0]], [[1 + 2.0**-10]], degree, gamma=1.0, coef0=0.0)
    exact = float(Fraction(1025, 1024) ** degree)
    np.testing.assert_allclose(found, exact, rtol=degree * 2.0**-53)


def test_parameters_of_the_polynomial_kernel():
    X = [[1.0, 2.0]]
    for degree in (0, 1.5, "3", None):
        with pytest.raises(ValueError, match="degree must be"):
            kernels.polynomial_kernel(X, degree=degree)
    for coef0 in (np.nan, np.inf, "1", None):
        with pytest.raises(ValueError, match="coef0 must be a finite number, got"):
            kernels.polynomial_kernel(X, coef0=coef0)
    assert kernels.polynomial_kernel([[2.0]], degree=1100, gamma=1.0, coef0=0.0) == np.inf
