"""Random projections keep inner products, with the published variance; Cauchy ones, distances."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import reference, theorems
from scipy import stats

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    MinHash,
    RandomProjection,
)
from sparsemaps._input import _sparse
from sparsemaps._tools import _seeding
from sparsemaps.approximation import _error, kernel_error

N = 100_000
N_ENTRIES = 12


def values():
    """Rows whose pairs have inner products of both signs, zero and large."""
    rows = np.random.default_rng(SEED).normal(size=(4, N_ENTRIES))
    rows[1] = rows[0] + 0.3 * rows[1]
    rows[2, ::2] = 0
    rows[3] = 1
    return rows


def project(columns, distribution):
    indptr = np.arange(5) * N_ENTRIES
    X = sp.csr_array((values().ravel(), np.tile(columns, 4), indptr), shape=(4, 2**62))
    projection = RandomProjection(n_components=N, distribution=distribution, random_state=SEED)
    return projection.fit_transform(X)


def assert_theorem(Z, distribution):
    """Each component by itself has the mean and the variance of one; `Z` has N of them."""
    x, y = (values()[rows] for rows in np.triu_indices(4))
    inner = (x * y).sum(axis=1)
    variance = (x**2).sum(axis=1) * (y**2).sum(axis=1) + inner**2
    if distribution == "rademacher":
        variance -= 2 * ((x * y) ** 2).sum(axis=1)
    one, other = np.triu_indices(4)
    found = N * (Z[one] * Z[other]).T
    theorems.assert_mean(found, inner)
    theorems.assert_variance(found, variance, heavy=True)


@pytest.mark.parametrize("distribution", ["gaussian", "rademacher"])
@theorems.each_structure(N_ENTRIES)
def test_theorem(columns, distribution):
    assert_theorem(project(columns, distribution), distribution)


def assert_cauchy(Z):
    """Differences are Cauchy numbers times the sum of absolute differences."""
    one, other = np.triu_indices(4, 1)
    for i, j in zip(one, other, strict=True):
        distance = abs(values()[i] - values()[j]).sum()
        theorems.assert_uniform(stats.cauchy.cdf((Z[i] - Z[j]) / distance))


@theorems.each_structure(N_ENTRIES)
def test_theorem_of_cauchy_vectors(columns):
    assert_cauchy(project(columns, "cauchy"))


MUTANTS = {
    "scaled": lambda W: 1.1 * W,
    "no sign": np.abs,
    "neighbours share their entries": lambda W: W[np.arange(N_ENTRIES) // 2],
    "entries of another distribution": lambda W: np.clip(W, -1.5, 1.5),
}


@pytest.mark.parametrize("distribution", ["gaussian", "cauchy"])
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_are_rejected(name, distribution):
    rng = np.random.default_rng(SEED)
    W = (rng.normal if distribution == "gaussian" else rng.standard_cauchy)(size=(N_ENTRIES, N))

    def assert_law(W):
        if distribution == "gaussian":
            assert_theorem(values() @ W / np.sqrt(N), distribution)
        else:
            assert_cauchy(values() @ W)

    assert_law(W)
    with pytest.raises(AssertionError):
        assert_law(MUTANTS[name](W))


def test_estimates_of_distances():
    """Medians of absolute differences, with the error that the docstring says. A median of an odd
    number of them is too large as often as too small."""
    n, n_seeds = 401, 400
    X = sp.csr_array(values())
    found = []
    for seed in range(n_seeds):
        cauchy = RandomProjection(
            n_components=n, distribution="cauchy", random_state=SEED + seed
        ).fit(X)
        found.append(cauchy.approximate_l1(cauchy.transform(X))[np.triu_indices(4, 1)])
    exact = abs(values()[:, None] - values()).sum(axis=2)[np.triu_indices(4, 1)]
    relative = np.array(found) / exact
    theorems.assert_rate(relative.T > 1, 0.5)
    ratio = relative.std(axis=0) / (np.pi / 2 / np.sqrt(n))
    assert (abs(ratio - 1) < 5 / np.sqrt(2 * n_seeds)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_medians(dtype):
    X = random_csr(30, dtype=dtype)
    for n in (7, 8):
        cauchy = RandomProjection(n_components=n, distribution="cauchy", random_state=SEED)
        Z = cauchy.fit_transform(X)
        expected = np.median(abs(Z[:, None] - Z[3:10]), axis=2)
        np.testing.assert_array_equal(cauchy.approximate_l1(Z, Z[3:10]), expected, strict=True)
        np.testing.assert_array_equal(cauchy.approximate_l1(Z)[:, 3:10], expected)


def test_distances_to_more_rows_than_fit_in_scratch_memory():
    cauchy = RandomProjection(n_components=256, distribution="cauchy", random_state=SEED)
    Z, W = np.split(cauchy.fit_transform(random_csr(3002)), [2])
    expected = np.median(abs(Z[:, None] - W), axis=2)
    np.testing.assert_array_equal(cauchy.approximate_l1(Z, W), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("distribution", ["gaussian", "rademacher", "cauchy"])
def test_against_reference(distribution, dtype):
    """Bit by bit, scaled by one multiplication."""
    X = sp.csr_array(random_csr(9, 100, 0.2, dtype))
    n = 70
    key = _seeding.keys(SEED + 3, "random_projection", 1, distribution)[0]
    found = RandomProjection(n_components=n, distribution=distribution, random_state=SEED + 3)
    factor = dtype(1 if distribution == "cauchy" else 1 / np.sqrt(n))
    name = "normal" if distribution == "gaussian" else distribution
    for row, z in zip(reference.rows_of(X), found.fit_transform(X), strict=True):
        expected = reference.project(key, *row, n, name) * factor
        np.testing.assert_array_equal(z, expected, strict=True)


def test_what_cauchy_projections_refuse():
    X = random_csr()
    cauchy = RandomProjection(distribution="cauchy", random_state=SEED).fit(X)
    for refused in (lambda: cauchy.exact_kernel(X), lambda: kernel_error(cauchy, X)):
        with pytest.raises(ValueError, match="have no mean, and therefore no exact kernel"):
            refused()
    with pytest.raises(ValueError, match=r"shape \(n, 1024\).* got float64 of shape \(40, 300\)"):
        cauchy.approximate_l1(X.toarray())
    gaussian = RandomProjection().fit(X)
    with pytest.raises(ValueError, match="distribution='cauchy', got distribution='gaussian'"):
        gaussian.approximate_l1(gaussian.transform(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be from 1 to 2147483647, got 0"),
        ({"distribution": None}, "distribution must be 'gaussian' or 'rademacher' or 'cauchy'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomProjection(**parameters).fit(np.ones((2, 4)))


# ---- resemblance times inner product -------------------------------------------------------------


def sets():
    """Rows of unit length that have most of their columns in common."""
    X = values()
    X[2, ::2] = 0.1
    X[0, :4] = 0
    return X / np.linalg.norm(X, axis=1, keepdims=True)


SAMPLED = {
    "MinHash": MinHash(bits=16),
    "MinHash of one bit": MinHash(bits=1),
    "MinHash of two bits": MinHash(bits=2),
    "ConsistentWeightedSampling": ConsistentWeightedSampling(bits=16, t_bits=8),
    "one bit": ConsistentWeightedSampling(bits=1, t_bits=8),
}


@pytest.mark.parametrize("sampled", SAMPLED.values(), ids=SAMPLED.keys())
def test_product_with_resemblance(sampled):
    """The mean is the product of the kernels, with the resemblance that agreements by chance add;
    the variance that of independent samples, at most that for MinHash, whose samples are not."""
    k, n_seeds = 64, 400
    X = sp.csr_array(abs(sets()))
    one, other = np.triu_indices(4, 1)
    found = []
    for seed in range(n_seeds):
        maps = sampled.set_params(n_hashes=k), RandomProjection(n_components=k)
        product = KernelProduct(maps=maps, random_state=SEED + seed).fit(X)
        Z = _sparse.used_columns(product.transform(X))
        found.append((Z @ Z.T).toarray()[one, other])
    resemblance, inner = (part.exact_kernel(X)[one, other] for part in product.maps_)
    bits = sampled.bits + getattr(sampled, "t_bits", 0)
    rate = resemblance + (1 - resemblance) * 2.0**-bits
    theorems.assert_mean(found, rate * inner)
    variance = (rate * (1 + 2 * inner**2) - (rate * inner) ** 2) / k
    independent = isinstance(sampled, ConsistentWeightedSampling)
    theorems.assert_variance(found, variance, at_most=not independent, heavy=True)
    pairs = _error.exact_pairs(product, X)
    moments = product.law.moments(pairs)
    np.testing.assert_allclose(moments.variance(k), variance, rtol=1e-3)
    of_chance = (1 - resemblance) * 2.0**-bits * inner
    np.testing.assert_allclose(product.law.bias(pairs).chance, of_chance, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(moments.bias, (rate - resemblance) * inner, rtol=1e-3, atol=1e-12)


def test_why_a_product_with_a_count_sketch_is_refused():
    """Unbiased, too, but 16 times as many components have nearly the same error."""
    X = sp.csr_array(sets()[:2])
    exact = MinHash().fit(X).exact_kernel(X)[0, 1] * (X @ X.T).toarray()[0, 1]

    def error(other, k):
        found = []
        for seed in range(200):
            agree = MinHash(n_hashes=k, bits=16, random_state=SEED + seed).fit(X).sample(X)
            Z = other.set_params(n_components=k, random_state=SEED + 1000 + seed).fit_transform(X)
            found.append(((agree[0] == agree[1]) * Z[0] * Z[1]).sum() - exact)
        return np.sqrt(np.mean(np.square(found)))

    sketch, projection = CountSketch(dense_output=True), RandomProjection()
    assert error(sketch, 64) / error(sketch, 1024) < 1.5
    assert 2.5 < error(projection, 64) / error(projection, 1024) < 6.5  # 4 expected
