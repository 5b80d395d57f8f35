"""Orthogonal vectors: Gaussian and acos kernels without bias, and with less variance."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from scipy import special
from scipy.linalg import hadamard

from sparsemaps import Fastfood, KernelProduct, MinHash, SignProjection
from sparsemaps.approximation import _error
from sparsemaps.laws._block_covariance import covariance_of_signs
from sparsemaps.maps import _orthogonal

WIDTH = 128
N_SEEDS = 1500
LENGTHS = [0.25, 1.0, 2.0]


def differences():
    """Rows of a single entry, of two, and of many, of each length."""
    rng = np.random.default_rng(SEED)
    kinds = np.zeros((3, WIDTH - 3))
    kinds[0, 5] = 1
    kinds[1, [7, 90]] = 1
    kinds[2] = rng.normal(size=WIDTH - 3)
    kinds /= np.linalg.norm(kinds, axis=1, keepdims=True)
    return np.concatenate([length * kinds for length in LENGTHS])


def variance(v, d, s):
    """Of the mean over s vectors of a block of d, for uniform directions."""
    alone = (1 - np.exp(-(v**2))) ** 2 / 2
    common = special.hyp1f1(d, d / 2, -(v**2) / 2) - np.exp(-(v**2))
    return (alone + (s - 1) * common) / s


def features_by(blocks, seed):
    """Cosines of the differences by vectors of random lengths, from ``blocks(signs)``."""
    rng = np.random.default_rng(SEED + seed)
    signs = rng.choice([-1.0, 1.0], (3, WIDTH))
    lengths = np.sqrt(rng.chisquare(WIDTH, WIDTH) / WIDTH)
    rows = np.zeros((9, WIDTH))
    rows[:, : WIDTH - 3] = differences()
    return np.cos(rows @ (blocks(signs) * lengths[:, None]).T).mean(axis=1)


H = hadamard(WIDTH) / np.sqrt(WIDTH)


def blocks_of(n_matrices):
    """The vectors of a block, of length root(WIDTH), by so many sign matrices."""

    def make(signs):
        product = np.sqrt(WIDTH) * np.eye(WIDTH)
        for one in signs[:n_matrices]:
            product = H @ (one[:, None] * product)
        return product

    return make


def assert_theorem(found):
    """The mean is the kernel; the variance at most 1.1 times that of uniform directions."""
    v = np.repeat(LENGTHS, 3)
    theorems.assert_mean(found, np.exp(-(v**2) / 2))
    theorems.assert_variance(found, 1.1 * variance(v, WIDTH, WIDTH), at_most=True)


def test_fastfood():
    rows = np.vstack([np.zeros(WIDTH - 3), differences()])
    found = []
    for seed in range(N_SEEDS):
        fastfood = Fastfood(
            gamma=0.5, n_components=2 * WIDTH, transform_type="orthogonal", random_state=SEED + seed
        )
        Z = fastfood.fit_transform(rows)
        found.append(Z[1:] @ Z[0])
    assert_theorem(np.array(found))


def test_fastfood_of_few_columns():
    """Blocks have 128 vectors at least, so that what holds for 125 columns holds for 5."""
    rows = np.zeros((4, 5))
    rows[1, 2], rows[2, [0, 4]], rows[3] = 1, 0.5**0.5, 0.2**0.5
    found = []
    for seed in range(N_SEEDS):
        fastfood = Fastfood(
            gamma=0.5, n_components=2 * WIDTH, transform_type="orthogonal", random_state=SEED + seed
        )
        Z = fastfood.fit_transform(rows)
        found.append(Z[1:] @ Z[0])
    theorems.assert_mean(found, np.exp(-1 / 2))
    theorems.assert_variance(found, 1.1 * variance(1.0, WIDTH, WIDTH), at_most=True)


def test_variance_is_that_of_the_formula():
    """Of `approximation`, at any number of features; it is what the docstring says."""
    rows = np.vstack([np.zeros(WIDTH - 3), differences()])
    for s in (40, WIDTH, 4 * WIDTH):
        fastfood = Fastfood(gamma=0.5, n_components=2 * s, transform_type="orthogonal").fit(rows)
        pairs = _error.exact_pairs(fastfood, sp.csr_array(rows))
        found = fastfood.law.moments(pairs).variance(2 * s)[:9]
        expected = variance(np.repeat(LENGTHS, 3), WIDTH, min(s, WIDTH)) / max(1, s // WIDTH)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    ratios = [variance(v, WIDTH, WIDTH) * 2 * WIDTH / (1 - np.exp(-(v**2))) ** 2 for v in (1, 1.5)]
    np.testing.assert_allclose(ratios, [0.088, 0.332], rtol=0.01)


def rows_at(angle, n_entries):
    """Two rows of the same `n_entries` columns of WIDTH, at that angle."""
    rng = np.random.default_rng(SEED + n_entries)
    columns = rng.choice(WIDTH, n_entries, replace=False)
    u, v = np.linalg.qr(rng.normal(size=(n_entries, 2)))[0].T
    rows = np.zeros((2, WIDTH))
    rows[:, columns] = u, np.cos(angle) * u + np.sin(angle) * v
    return rows


@pytest.mark.parametrize("angle", [0.3, 1.0, np.pi / 2, 2.4])
@pytest.mark.parametrize("width", [5, 16, 128, 256])
def test_covariance_of_signs(angle, width):
    """Of vectors that are exactly uniform, by NumPy's orthogonal matrices."""
    u, v = np.zeros((2, width))
    u[0], v[:2] = 1, (np.cos(angle), np.sin(angle))
    rng = np.random.default_rng(SEED)
    n = 40_000 if width < 100 else 4_000
    g = rng.normal(size=(n, width, 2 if width < 100 else 16))
    vectors = np.linalg.qr(g)[0]
    agree = np.einsum("nwk,w->nk", vectors, u) * np.einsum("nwk,w->nk", vectors, v) > 0
    rate, k = 1 - angle / np.pi, agree.shape[1]
    squares = (agree - rate).sum(axis=1) ** 2 - k * rate * (1 - rate)  # up to a mean of 0
    squares -= (1 - 2 * rate) * (agree - rate).sum(axis=1)
    theorems.assert_mean(squares / (k * (k - 1)), covariance_of_signs(rate, width))


@pytest.mark.parametrize("n_hashes", [WIDTH, 300])
@pytest.mark.parametrize("angle", [0.5, np.pi / 2])
def test_variance_of_signs(angle, n_hashes):
    """The moments of a fitted map, as seen over seeds; of both forms of output."""
    rows = rows_at(angle, WIDTH)
    found = []
    for seed in range(1000):
        signs = SignProjection(
            n_hashes=n_hashes, distribution="orthogonal", random_state=SEED + seed
        )
        first, second = np.unpackbits(signs.fit(rows).encode(rows), axis=1)[:, :n_hashes]
        found.append((first == second).mean())
    for dense_output, scale in ((False, 1), (True, 2)):
        signs.set_params(dense_output=dense_output).fit(rows)
        pairs = _error.exact_pairs(signs, sp.csr_array(rows))
        moments = signs.law.moments(pairs)
        theorems.assert_variance(scale * np.array(found), moments.variance(n_hashes))
        assert moments.variance(n_hashes)[0] < 0.9 * moments.unit[0] / n_hashes


def test_mutants_are_rejected():
    """With two matrices, by the variance for differences of two columns."""
    assert_theorem(np.array([features_by(blocks_of(3), seed) for seed in range(600)]))
    two = np.array([features_by(blocks_of(2), seed) for seed in range(600)])
    with pytest.raises(AssertionError, match="variance"):
        theorems.assert_variance(two[:, 7], 1.1 * variance(2.0, WIDTH, WIDTH), at_most=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [128, 1024])
def test_blocks_are_those_of_the_formula(dtype, width):
    """Exactly: all sums are of whole numbers."""
    blocks = _orthogonal.OrthogonalBlocks(5, 3 * width - 7, width)
    rows = np.random.default_rng(SEED).integers(-2, 3, (3, width)).astype(dtype)
    found = blocks.multiply(rows).reshape(3, 3, width)
    assert len(np.unique(blocks.signs.reshape(9, width), axis=0)) == 9
    for number, signs in enumerate(blocks.signs):
        expected = rows
        for one in signs:
            expected = (expected * one) @ hadamard(width)
        np.testing.assert_array_equal(found[:, number], expected)


# ---- signs ---------------------------------------------------------------------------------------


def sign_rows():
    rng = np.random.default_rng(SEED + 1)
    X = np.zeros((6, 100))
    X[0, 3] = 1
    X[1, [3, 50]] = 1
    X[2] = rng.normal(size=100)
    X[3] = X[2] + 0.3 * rng.normal(size=100)
    X[4] = X[2] + 3 * rng.normal(size=100)
    X[5] = -X[3]
    return X


def test_signs():
    """They agree at the rate of the kernel, and vary less than independent ones."""
    X, n = sign_rows(), 128
    one, other = np.triu_indices(6, 1)
    found = []
    for seed in range(800):
        signs = SignProjection(n_hashes=n, distribution="orthogonal", random_state=SEED + seed)
        bits = np.unpackbits(signs.fit(X).encode(X), axis=1, bitorder="little")
        found.append((bits[one] == bits[other]).mean(axis=1))
    exact = signs.exact_kernel(X)[one, other]
    opposite = (one == 3) & (other == 5)
    assert exact[opposite] < 1e-7  # the root of a rounding error
    exact[opposite] = 0
    theorems.assert_mean(found, exact)
    theorems.assert_variance(found, exact * (1 - exact) / n, at_most=True)
    assert np.var(found, axis=0).sum() < 0.95 * (exact * (1 - exact) / n).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_of_signs_agree(dtype):
    X = random_csr(40, 300, dtype=dtype)
    X.data[::2] *= -1
    parameters = {"n_hashes": 150, "distribution": "orthogonal", "random_state": 0}
    signs = SignProjection(**parameters).fit(X)
    bits = np.unpackbits(signs.encode(X), axis=1, bitorder="little")[:, :150]
    np.testing.assert_array_equal(signs.transform(X).indices.reshape(40, -1) % 2, bits)
    dense = SignProjection(**parameters, dense_output=True).fit_transform(X)
    np.testing.assert_array_equal(dense > 0, bits == 1)
    blocks = _orthogonal.OrthogonalBlocks(int(signs.draw.vectors[0]), 150, 512)
    padded = np.zeros((40, 512), dtype)
    padded[:, :300] = X.toarray()
    np.testing.assert_array_equal(blocks.multiply(padded)[:, :150] >= 0, bits == 1)


def test_what_is_refused():
    X = random_csr(4, 8193)
    for refused in (
        Fastfood(transform_type="orthogonal"),
        SignProjection(distribution="orthogonal"),
    ):
        with pytest.raises(
            ValueError, match="more than 8192 columns, got 'orthogonal' for rows of 8193"
        ):
            refused.fit(X)
        with pytest.raises(ValueError, match="for rows of any number of columns"):
            refused.fit_any_width()
        refused.fit(X[:, :8192])
    with pytest.raises(ValueError, match="transform_type='orthogonal' is for kernel='rbf' only"):
        Fastfood(kernel="matern", transform_type="orthogonal").fit(X)
    with pytest.raises(ValueError, match="distribution='orthogonal' is for kernel='acos' only"):
        SignProjection(kernel="acos_chi2", distribution="orthogonal").fit(X)


def test_in_a_product():
    X = random_csr(10, 200)
    maps = MinHash(n_hashes=64), SignProjection(n_hashes=64, distribution="orthogonal")
    product = KernelProduct(maps=maps, random_state=SEED).fit(X)
    assert product.transform(X).shape == (10, 64 * 512)
