"""Fourier features estimate each kernel without bias, with its known variance."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from sparsemaps import RandomFourier
from sparsemaps._loops import maps as loops

N_COMPONENTS = 200_000
N_ENTRIES = 5


KERNELS = {
    "rbf": {"gamma": 0.7},
    "rbf, narrow": {"gamma": 3.0},
    "laplacian": {"kernel": "laplacian", "gamma": 0.4},
    "cauchy": {"kernel": "cauchy", "gamma": 0.8},
    "matern 1.5": {"kernel": "matern", "gamma": 0.6},
    "matern 0.5": {"kernel": "matern", "gamma": 0.6, "nu": 0.5},
    "matern, nearly rbf": {"kernel": "matern", "gamma": 0.6, "nu": 1e4},
}


def pairs():
    """Pairs of rows with some differences small and some large; as CSR, and as values."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(4, N_ENTRIES)) / 2
    values[1] = values[0] + 0.2 * values[1]
    values[2, ::2] = 0
    columns = np.arange(N_ENTRIES) * 2**37 + 2**39
    X = sp.csr_array((values.ravel(), np.tile(columns, 4), np.arange(5) * N_ENTRIES), (4, 2**41))
    one, other = np.triu_indices(4, 1)
    return X, values, one, other


def exact_kernels(parameters):
    """The kernel of the pairs of rows, and that of rows twice as far from one another."""
    _, values, one, other = pairs()
    fitted = RandomFourier(**parameters).fit(values)
    return [fitted.exact_kernel(scale * values)[one, other] for scale in (1, 2)]


def assert_paired(Z, parameters):
    """Products of pairs (cos, sin) have the kernel as mean and (1 + k(2 D) - 2 k(D)^2) / 2 as
    variance, of D / 2 pairs."""
    _, _, one, other = pairs()
    Z = (Z * np.sqrt(Z.shape[1] / 2)).reshape(4, -1, 2)
    found = (Z[one] * Z[other]).sum(axis=2).T
    k, k2 = exact_kernels(parameters)
    theorems.assert_mean(found, k)
    theorems.assert_variance(found, (1 + k2 - 2 * k**2) / 2)


def features(parameters, form="paired", **more):
    X, *_ = pairs()
    return RandomFourier(
        n_components=N_COMPONENTS, form=form, random_state=SEED, **{**parameters, **more}
    ).fit_transform(X)


@pytest.mark.parametrize("parameters", KERNELS.values(), ids=KERNELS.keys())
def test_theorem_paired(parameters):
    assert_paired(features(parameters), parameters)


@pytest.mark.parametrize("parameters", KERNELS.values(), ids=KERNELS.keys())
def test_theorem_offset(parameters):
    _, _, one, other = pairs()
    Z = features(parameters, "offset") * np.sqrt(N_COMPONENTS)
    found = (Z[one] * Z[other]).T
    k, k2 = exact_kernels(parameters)
    theorems.assert_mean(found, k)
    theorems.assert_variance(found, 1 + k2 / 2 - k**2)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cauchy", "matern"])
@theorems.each_structure(N_ENTRIES)
def test_theorem_for_structured_columns(columns, kernel):
    _, values, *_ = pairs()
    indptr = np.arange(5) * N_ENTRIES
    X = sp.csr_array((values.ravel(), np.tile(columns, 4), indptr), (4, 2**62))
    parameters = {"kernel": kernel, "gamma": 0.5}
    fourier = RandomFourier(n_components=20_000, random_state=SEED, **parameters)
    assert_paired(fourier.fit_transform(X), parameters)


@pytest.mark.parametrize("gamma", [0.5, 3.0])
def test_theorem_folded(gamma):
    _, values, one, other = pairs()
    values = values / np.linalg.norm(values, axis=1)[:, None]
    folded = RandomFourier(
        kernel="folded_rbf", gamma=gamma, n_components=N_COMPONENTS, random_state=SEED
    )
    Z = folded.fit_transform(values) * np.sqrt(N_COMPONENTS)
    exact = folded.exact_kernel(values)[one, other]
    theorems.assert_mean((Z[one] * Z[other]).T, exact)


MUTANTS = {
    "all zeros": lambda Z, X: 0 * Z,
    "scaled": lambda Z, X: 1.03 * Z,
    "bandwidth off by 2": lambda Z, X: features({"gamma": 1.4}),
    "cosines alone": lambda Z, X: np.where(np.arange(N_COMPONENTS) % 2, 0, Z),
    "cosines without the root of 2": lambda Z, X: features({"gamma": 0.7}, "offset") / np.sqrt(2),
    "sines of other vectors": lambda Z, X: np.where(
        np.arange(N_COMPONENTS) % 2, np.roll(Z, 2, axis=1), Z
    ),
}


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    parameters = KERNELS["rbf"]
    X, *_ = pairs()
    with pytest.raises(AssertionError):
        assert_paired(change(features(parameters), X), parameters)


@pytest.mark.parametrize("n_components", [1, 2, 7, 64, 129])
def test_any_number_of_components(n_components):
    """An odd one at the end is an offset feature; more components extend the first pairs."""
    X = random_csr()
    scaled = np.sqrt(n_components) * RandomFourier(
        n_components=n_components, random_state=SEED
    ).fit_transform(X)
    assert scaled.shape == (40, n_components)
    more = np.sqrt(300) * RandomFourier(n_components=300, random_state=SEED).fit_transform(X)
    even = n_components // 2 * 2
    np.testing.assert_allclose(scaled[:, :even], more[:, :even], atol=1e-12)


def test_odd_number():
    """Unbiased; each of D - 1 columns adds P / D^2 to the variance, and the last one Q / D^2."""
    X, _, one, other = pairs()
    found = []
    for seed in range(3000):
        Z = RandomFourier(gamma=0.7, n_components=3, random_state=SEED + seed).fit_transform(X)
        found.append((Z[one] * Z[other]).sum(axis=1))
    k, doubled = exact_kernels({"gamma": 0.7})[:2]
    theorems.assert_mean(found, k)
    paired, offset = 1 + doubled - 2 * k**2, 1 + doubled / 2 - k**2
    theorems.assert_variance(found, (2 * paired + offset) / 9)
    with pytest.raises(AssertionError):  # as if the last one had a partner
        theorems.assert_variance(found, paired / 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cosines_and_sines(dtype):
    """Accurate to a few units in the last place of the angle, defined for any angle."""
    rng = np.random.default_rng(SEED)
    turns = np.concatenate([
        np.arange(-64, 65) / 8, rng.uniform(-1, 1, 2000), rng.uniform(-2000, 2000, 2000),
    ]).astype(dtype)[None]  # fmt: skip
    n = turns.shape[1]
    ones, out = np.ones(n, dtype), np.empty((1, 2 * n), dtype)
    loops.features(turns, ones, ones, n, 1.0, out)
    angle = 2 * np.pi * (turns.astype(np.longdouble) % 1).astype(float)
    tolerance = 4 * np.finfo(dtype).eps
    np.testing.assert_allclose(out[0, ::2], np.cos(angle)[0], rtol=0, atol=tolerance)
    np.testing.assert_allclose(out[0, 1::2], np.sin(angle)[0], rtol=0, atol=tolerance)
    large = np.array([[1e30, -np.finfo(dtype).max, np.inf]], dtype)
    out = np.empty((1, 6), dtype)
    loops.features(large, ones[:3], ones[:3], 3, 1.0, out)
    assert out.tolist() == [[1, 0, 1, 0, 1, 0]]


def test_an_accurate_map():
    X = random_csr(20, 60, density=0.2)
    for kernel, exact in (("rbf", rbf_kernel), ("laplacian", laplacian_kernel)):
        fitted = RandomFourier(kernel=kernel, gamma=0.1, n_components=2**14, random_state=SEED)
        Z = fitted.fit_transform(X)
        np.testing.assert_allclose(Z @ Z.T, exact(X, gamma=0.1), atol=6 / np.sqrt(2**14))


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_gamma_scale(container):
    """As scikit-learn's RBFSampler has it; and the same whatever the threads."""
    X = random_csr(3000, 30, density=0.3).toarray()
    fitted = RandomFourier(gamma="scale", random_state=SEED).fit(container(X))
    np.testing.assert_allclose(fitted.gamma_, 1 / (30 * X.var()))
    np.testing.assert_allclose(fitted.gamma_, RBFSampler(gamma="scale").fit(X)._gamma)
    assert fitted.set_params(n_jobs=2).fit(container(X)).gamma_ == fitted.gamma_
    assert RandomFourier(gamma="scale").fit(np.ones((3, 4))).gamma_ == 1.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "poly"}, "kernel must be 'rbf' or 'laplacian'"),
        ({"gamma": 0.0}, "gamma must be a finite number above 0, got 0.0"),
        ({"gamma": "auto"}, "gamma must be 'scale', 'median' or a finite number above 0"),
        ({"gamma": None}, "gamma must be a finite number above 0, got None"),
        ({"nu": -1}, "nu must be above 0 and at most 10000, got -1"),
        ({"nu": 10001}, "nu must be above 0 and at most 10000, got 10001"),
        ({"form": "cos"}, "form must be 'paired' or 'offset', got 'cos'"),
        ({"n_components": 0}, "n_components must be from 1 to 2147483647, got 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomFourier(**parameters).fit(np.ones((2, 4)))
