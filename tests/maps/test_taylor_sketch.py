"""Tensor sketches of power series keep their kernels, with the variance that is derived."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from scipy import stats

from sparsemaps import TensorSketch
from sparsemaps.approximation import _error
from sparsemaps.maps._taylor_sketch import degree_for

N_SEEDS = 1000  # so that large columns share a bucket in tens of them
N_COMPONENTS = 128

SERIES = {
    "exp": {"kernel": "exp"},
    "rbf": {"kernel": "rbf", "gamma": 0.7},
    "coefficients": {"kernel": (0.5, 1.0, 0.0, 0.3), "gamma": 0.9},
    # The arc-cosine kernel of degree 1, for unit rows.
    "arc-cosine": {"kernel": (1 / np.pi, 0.5, 0.5 / np.pi, 0, 1 / (24 * np.pi))},
}
METHODS = ["fft", "direct"]


def rows():
    """Rows of unit length and of less, near and far, with few and many entries."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(4, 12))
    values[1] = values[0] + 0.4 * values[1]
    values[2, 3:] = 0
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    values[3] *= 0.6
    return values


def truncated(parameters, degree):
    """The mean of the sketch: the series up to a degree."""
    X = rows()
    products, gamma = X @ X.T, parameters.get("gamma", 1.0)
    kernel, factor = parameters["kernel"], np.ones(4)
    if isinstance(kernel, str):
        if kernel == "rbf":
            factor = np.exp(-gamma * (X**2).sum(axis=1))
            gamma *= 2
        kernel = [1 / math.factorial(n) for n in range(degree + 1)]
    series = sum(a * (gamma * products) ** n for n, a in enumerate(kernel))
    return factor[:, None] * series * factor


def test_coefficients_may_be_an_array():
    X, coefficients = rows(), (0.5, 1.0)
    of_tuple = TensorSketch(kernel=coefficients, random_state=SEED).fit(X)
    of_array = TensorSketch(kernel=np.array(coefficients), random_state=SEED).fit(X)
    np.testing.assert_array_equal(of_array.transform(X), of_tuple.transform(X))
    np.testing.assert_array_equal(of_array.exact_kernel(X), of_tuple.exact_kernel(X))
    assert of_array.to_config() == of_tuple.to_config()
    with pytest.raises(ValueError, match="degree must be None for a sequence of coefficients"):
        TensorSketch(kernel=np.array(coefficients), degree=1).fit(X)
    with pytest.raises(ValueError, match="coef0 must be 0"):
        TensorSketch(kernel=np.array(coefficients), coef0=1.0).fit(X)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SERIES)
def test_theorem(name, method):
    """The mean, and the variance up to terms of 1 / n_components**2."""
    X, parameters, found = rows(), SERIES[name], []
    one, other = np.triu_indices(4, 1)
    for seed in range(N_SEEDS):
        sketch = TensorSketch(
            **parameters, n_components=N_COMPONENTS, method=method, random_state=SEED + seed
        ).fit(X)
        Z = sketch.transform(X)
        found.append((Z[one] * Z[other]).sum(axis=1))
    theorems.assert_mean(found, truncated(parameters, sketch._degree)[one, other])
    pairs = _error.exact_pairs(sketch, sp.csr_array(X))
    theorems.assert_variance(found, sketch.law.moments(pairs).variance(N_COMPONENTS), heavy=True)


def test_degrees_have_random_signs():
    """A row of zeros has only degree 0."""
    X = np.zeros((1, 2))
    sums = [
        TensorSketch(kernel="exp", n_components=8, random_state=SEED + seed).fit_transform(X).sum()
        for seed in range(400)
    ]
    np.testing.assert_allclose(np.abs(sums), 1.0)
    assert stats.binomtest(int(np.sum(np.greater(sums, 0))), len(sums)).pvalue > 1e-6


@pytest.mark.parametrize("name", ["exp", "rbf"])
@pytest.mark.parametrize("gamma", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-9])
def test_degrees(name, gamma, tolerance):
    """The least one that is enough for rows of `max_norm`."""
    sketch = TensorSketch(kernel=name, gamma=gamma, tolerance=tolerance, max_norm=1.5)
    mean = 1.5**2 * gamma * (2 if name == "rbf" else 1)
    weight = 1 if name == "rbf" else np.exp(mean)
    degree = sketch._degree
    assert weight * stats.poisson.sf(degree, mean) <= tolerance
    assert degree == 0 or weight * stats.poisson.sf(degree - 1, mean) > tolerance
    X = np.array([[1.5, 0.0], [0.9, 1.2]])
    fitted = sketch.set_params(n_components=64, random_state=SEED).fit(X)
    pairs = _error.exact_pairs(fitted, sp.csr_array(X))
    assert 0 <= -fitted.law.moments(pairs).bias[0] <= tolerance


def test_degrees_beyond_the_largest():
    assert degree_for(1000.0, True, 1e-3) is None
    with pytest.raises(ValueError, match=r"no degree up to 256 leaves at most tolerance=0\.001"):
        TensorSketch(kernel="rbf", gamma=500.0).fit(np.eye(2))


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ways_agree(name, dtype):
    """Directly and by transforms, dense and CSR, alone and in blocks."""
    X = random_csr(40, 300, density=0.03, dtype=dtype)
    X /= np.sqrt(X.power(2).sum(axis=1).max())
    found = {}
    for method in ("fft", "direct", "auto"):
        sketch = TensorSketch(
            **SERIES[name], n_components=60, method=method, random_state=SEED
        ).fit(X)
        found[method] = sketch.transform(X)
        csr = sketch.set_params(dense_output=False).fit(X).transform(X)
        assert csr.has_canonical_format
        np.testing.assert_array_equal(csr.toarray(), found[method])
        for row in (0, 3, 39):
            np.testing.assert_array_equal(
                csr[[row]].toarray(), sketch.transform(X[[row]]).toarray()
            )
    assert found["fft"].dtype == dtype
    limit = 50 * np.finfo(dtype).eps
    np.testing.assert_allclose(found["fft"], found["direct"], rtol=0, atol=limit)
    np.testing.assert_allclose(found["auto"], found["direct"], rtol=0, atol=limit)


def test_rows_that_are_too_long():
    X = sp.csr_array([[0.6, 0.8], [1.2, 0.9], [1.0, 0.0]])
    for name in ("exp", "rbf"):
        sketch = TensorSketch(kernel=name, random_state=SEED).fit(X)
        with pytest.raises(ValueError, match=r"row 1, .* is 1\.5, above max_norm=1\.0"):
            sketch.transform(X)
        assert sketch.set_params(max_norm=1.5).fit(X).transform(X).shape == (3, 1024)
        assert sketch.set_params(max_norm=1.0, degree=3).fit(X).transform(X).shape == (3, 1024)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "acos"}, "kernel must be 'poly' or 'exp' or 'rbf', got 'acos'"),
        ({"kernel": (1.0, -1.0)}, "'poly', 'exp', 'rbf' or a sequence of coefficients"),
        ({"kernel": [1.0] * 258}, "kernel must be of at most 257 coefficients, got 258"),
        ({"kernel": (1.0, 2.0), "degree": 2}, "degree must be None for a sequence"),
        ({"kernel": "exp", "degree": 257}, "degree must be from 1 to 256, got 257"),
        ({"kernel": "exp", "coef0": 1.0}, "coef0 must be 0"),
        ({"max_norm": 0}, "max_norm must be a finite number above 0"),
        ({"tolerance": 0}, "tolerance must be a finite number above 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TensorSketch(**parameters).fit(np.ones((2, 4)))
