"""Fastfood features estimate their kernels without bias, with the variance that is proved."""

import functools
import warnings
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from scipy import special, stats
from scipy.linalg import hadamard
from sklearn.metrics.pairwise import rbf_kernel

from sparsemaps import CountSketch, Fastfood
from sparsemaps._input import _row_reader
from sparsemaps._loops import maps as kernel
from sparsemaps._tools import _portable_math, _seeding
from sparsemaps.approximation import _error

WIDTH = 8
N_SEEDS = 400
N_COMPONENTS = 2 * WIDTH  # one block, of as many pairs as it has vectors

TRANSFORMS = ["hadamard", "fft"]


def rows():
    """Rows with few and with many entries, near and far."""
    rng = np.random.default_rng(SEED)
    values = np.zeros((5, WIDTH - 1))
    values[0, 2] = 1.0
    values[1, 2] = 0.7
    values[2, [0, 5]] = 0.6, -0.3
    values[3] = rng.normal(size=WIDTH - 1) / 3
    values[4] = values[3] + rng.normal(size=WIDTH - 1) / 12
    return values


KERNELS = {
    "rbf": {"gamma": 0.7},
    "rbf, wide": {"gamma": 0.05},
    "matern 1": {"kernel": "matern", "degree": 1, "gamma": 4.0},
    "matern 3": {"kernel": "matern", "degree": 3, "gamma": 2.0},
}


@functools.lru_cache
def features(transform_type, n_components, **parameters):
    """The rows' features for each seed."""
    values = rows()
    return np.array([
        Fastfood(
            n_components=n_components, transform_type=transform_type, random_state=SEED + seed,
            **parameters,
        ).fit_transform(values)
        for seed in range(N_SEEDS)
    ])  # fmt: skip


def estimates(parameters, transform_type, n_components=N_COMPONENTS, change=lambda Z: Z):
    """Estimates for pairs of rows over the seeds, and the pairs' distances."""
    values = rows()
    one, other = np.triu_indices(len(values), 1)
    Z = change(features(transform_type, n_components, **parameters))
    found = (Z[:, one] * Z[:, other]).sum(axis=2)
    return found, np.linalg.norm(values[one] - values[other], axis=1)


def exact_kernels(parameters):
    """The kernel of the pairs of rows."""
    values = rows()
    exact = Fastfood(**parameters).fit(values).exact_kernel(values)
    return exact[np.triu_indices(len(values), 1)]


@pytest.mark.parametrize("transform_type", TRANSFORMS)
@pytest.mark.parametrize("parameters", KERNELS.values(), ids=KERNELS.keys())
def test_theorem(parameters, transform_type):
    """Unbiased; for the Gaussian, the variance of a block is within theorem 9's bound."""
    found, distances = estimates(parameters, transform_type)
    theorems.assert_mean(found, exact_kernels(parameters))
    if parameters.get("kernel") != "matern":
        v = np.sqrt(2 * parameters["gamma"]) * distances
        c = 6 * v**4 * (np.exp(-(v**2)) + v**2 / 3)
        bound = (WIDTH / 2 * (1 - np.exp(-(v**2))) ** 2 + WIDTH * c) / WIDTH**2
        theorems.assert_variance(found, bound, at_most=True)


@pytest.mark.parametrize("transform_type", TRANSFORMS)
def test_variance_of_one_pair(transform_type):
    """A pair of features is a Fourier feature: its variance is (1 - exp(-|v|^2))^2 / 2."""
    found, distances = estimates({"gamma": 0.7}, transform_type, n_components=2)
    v = np.sqrt(1.4) * distances
    theorems.assert_variance(found, (1 - np.exp(-(v**2))) ** 2 / 2, heavy=True)


def variance_by_formula(n_components):
    """The variance of the estimates for the pairs of rows, by the map's formula."""
    fitted = Fastfood(gamma=0.7, n_components=n_components, random_state=SEED).fit(rows())
    measured = _error.exact_pairs(fitted, sp.csr_array(rows()))
    return fitted.law.moments(measured).variance(n_components)


@pytest.mark.parametrize("transform_type", TRANSFORMS)
@pytest.mark.parametrize("n_components", [3, 2 * WIDTH, 2 * WIDTH + 5, 6 * WIDTH])
def test_variance_with_the_covariance_in_blocks(n_components, transform_type):
    """Part of a block, one block, and several, which are independent."""
    found, _ = estimates({"gamma": 0.7}, transform_type, n_components)
    theorems.assert_variance(found, variance_by_formula(n_components), at_most=True)
    # The first two rows differ in one column: for these the formula is exact.
    exact = variance_by_formula(n_components)[0]
    theorems.assert_variance(found[:, :1], exact)


def test_variance_of_rows_that_differ_in_one_column():
    """The formula of the documentation, with n pairs of features."""
    v2, n = 1.4 * 0.3**2, 3 * WIDTH
    covariance = special.hyp1f1(WIDTH, WIDTH / 2, -v2 / 2) - np.exp(-v2)
    assert covariance < 0
    expected = ((1 - np.exp(-v2)) ** 2 / 2 + (WIDTH - 1) * covariance) / n
    np.testing.assert_allclose(variance_by_formula(2 * n)[0], expected, rtol=1e-9)
    found, _ = estimates({"gamma": 0.7}, "hadamard", 2 * n)
    theorems.assert_variance(found[:, 0], expected)
    with pytest.raises(AssertionError):  # as if features of a block were independent
        theorems.assert_variance(found[:, 0], (1 - np.exp(-v2)) ** 2 / 2 / n)


@pytest.mark.parametrize("n_components", [1, 3, 19])
def test_odd_numbers_are_unbiased(n_components):
    found, _ = estimates({"gamma": 0.7}, "hadamard", n_components)
    theorems.assert_mean(found, exact_kernels({"gamma": 0.7}))


STRUCTURES = {
    name: columns
    for name, columns in theorems.structured_columns(WIDTH - 1).items()
    if columns[-1] < 2**11  # rows are made dense
}


@pytest.mark.parametrize("columns", STRUCTURES.values(), ids=STRUCTURES.keys())
def test_theorem_for_structured_columns(columns):
    values = rows()
    X = np.zeros((len(values), columns[-1] + 1))
    X[:, columns] = values
    one, other = np.triu_indices(len(values), 1)
    found = []
    for seed in range(N_SEEDS // 2):
        Z = Fastfood(gamma=0.7, n_components=N_COMPONENTS, random_state=SEED + seed).fit_transform(
            X
        )
        found.append((Z[one] * Z[other]).sum(axis=1))
    theorems.assert_mean(found, exact_kernels({"gamma": 0.7}))


@pytest.mark.parametrize("transform_type", TRANSFORMS)
def test_blocks_are_independent(transform_type):
    """Estimates of three blocks are uncorrelated over the seeds, and so are the random numbers that
    they are made of."""
    values = rows()
    Z = features(transform_type, 3 * N_COMPONENTS, gamma=0.7)
    one, other = np.triu_indices(len(values), 1)
    products = (Z[:, one] * Z[:, other]).reshape(N_SEEDS, len(one), 3, N_COMPONENTS).sum(axis=3)
    limit = theorems.N_STANDARD_ERRORS / np.sqrt(N_SEEDS)
    for pair in range(len(one)):
        assert_uncorrelated(products[:, pair].T, limit)

    fitted = Fastfood(transform_type=transform_type, n_components=3 * 1024, random_state=SEED)
    blocks = fitted.fit(np.ones((1, 512))).draw
    limit = theorems.N_STANDARD_ERRORS / np.sqrt(250)  # the least number of entries is 255
    assert len(blocks.signs) == 3
    for numbers in (blocks.signs, blocks.permutations, blocks.normals, blocks.scales):
        assert_uncorrelated(numbers.reshape(3, -1), limit)


def assert_uncorrelated(rows, limit):
    correlations = np.corrcoef(rows)[np.triu_indices(len(rows), 1)]
    assert np.abs(correlations).max() < limit


MUTANTS = {
    "all zeros": ({"gamma": 0.7}, lambda Z: 0 * Z),
    "scaled": ({"gamma": 0.7}, lambda Z: 1.05 * Z),
    "bandwidth off by 2": ({"gamma": 1.4}, lambda Z: Z),
    "cosines alone": ({"gamma": 0.7}, lambda Z: np.where(np.arange(N_COMPONENTS) % 2, 0, Z)),
    "another degree": ({"kernel": "matern", "degree": 2, "gamma": 0.7}, lambda Z: Z),
}


@pytest.mark.parametrize("transform_type", TRANSFORMS)
@pytest.mark.parametrize(("parameters", "change"), MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(parameters, change, transform_type):
    found, _ = estimates(parameters, transform_type, change=change)
    with pytest.raises(AssertionError):
        theorems.assert_mean(found, exact_kernels({"gamma": 0.7}))


@pytest.mark.parametrize("transform_type", TRANSFORMS)
def test_rows_without_random_lengths_are_rejected(transform_type):
    """S is what makes the products normal: with all lengths alike their mean is another kernel. It
    is 12 standard errors off for this pair."""
    values = np.zeros((2, WIDTH - 1))
    values[1, 2] = 1.5
    found = []
    for seed in range(3 * N_SEEDS):
        fitted = Fastfood(
            gamma=0.7,
            n_components=N_COMPONENTS,
            transform_type=transform_type,
            random_state=SEED + seed,
        ).fit(values)
        scales = fitted.draw.scales
        scales[:] = np.sqrt((scales**2).mean())
        Z = fitted.transform(values)
        found.append(Z[0] @ Z[1])
    with pytest.raises(AssertionError):
        theorems.assert_mean(found, np.exp(-0.7 * 1.5**2))


@pytest.mark.parametrize("transform_type", TRANSFORMS)
@pytest.mark.parametrize("n_components", [64, 1000, 2**13])
def test_an_accurate_map(transform_type, n_components):
    """More vectors than columns make several blocks, which are independent."""
    X = random_csr(30, 50, density=0.3)
    X.data /= 4
    Z = Fastfood(
        gamma=0.1, n_components=n_components, transform_type=transform_type, random_state=SEED
    ).fit_transform(X)
    error = abs(Z @ Z.T - rbf_kernel(X, gamma=0.1))
    assert error.max() < 6 / np.sqrt(n_components)


def test_matern_is_close_to_rbf_at_the_bandwidth_that_is_documented():
    X = random_csr(30, 50, density=0.3).toarray()
    X /= np.linalg.norm(X, axis=1).max()
    width, degree = 64, 4
    Z = Fastfood(
        kernel="matern", degree=degree, gamma=0.5 * (width + 2) / degree, n_components=2**14,
        random_state=SEED,
    ).fit_transform(X)  # fmt: skip
    assert abs(Z @ Z.T - rbf_kernel(X, gamma=0.5)).max() < 0.05


# ---- wide rows -----------------------------------------------------------------------------------


def test_wide_rows_are_sketched_and_said_to_be():
    columns = [5, 10**9, 2**40, 5, 7, 2**40]
    X = sp.csr_array((np.ones(6), columns, [0, 3, 6]), (2, 2**41))
    with pytest.warns(UserWarning, match=r"columns will be count-sketched to 16384 first"):
        fitted = Fastfood(gamma=0.3, n_components=2**14, random_state=SEED).fit(X)
    assert fitted.hash_dim_ == 16384
    Z = fitted.transform(X)
    exact = np.exp(-0.3 * np.array([[0, 2], [2, 0]]))
    assert abs(Z @ Z.T - exact).max() < 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = Fastfood(hash_dim=1000, random_state=SEED).fit(X)
    assert fitted.hash_dim_ == 1000


def test_narrow_rows_are_not_sketched():
    fitted = Fastfood(random_state=SEED).fit(np.ones((2, 5)))
    assert fitted.hash_dim_ is None
    assert fitted.draw.dense_width == 8


def test_sketched_rows_have_the_kernel_of_the_sketch():
    """With `hash_dim`, whatever the width; unbiased only up to the sketch's own noise."""
    X = random_csr(density=0.1)
    fitted = Fastfood(gamma=0.01, hash_dim=40, n_components=2**15, random_state=SEED).fit(X)
    Z = fitted.transform(X)
    # The same hashes: a map of the sketch's key, by way of the kernel.
    sketch = fitted.draw._make_dense(_row_reader.open_matrix(X).block(0, 40), np.dtype(float))
    assert sketch.shape == (40, 64)
    assert not sketch[:, 40:].any()
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(sketch, gamma=0.01), atol=6 / np.sqrt(2**15))
    theirs = CountSketch(n_components=40, dense_output=True, random_state=SEED).fit_transform(X)
    np.testing.assert_allclose(abs(sketch).sum(), abs(theirs).sum(), rtol=0.1)


def test_streams_need_a_width():
    with pytest.raises(ValueError, match="hash_dim must be a number if the width"):
        Fastfood(random_state=SEED).fit_any_width()
    Fastfood(hash_dim=16, random_state=SEED).fit_any_width()


# ---- the transform -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("log_size", range(1, 16))
def test_walsh_hadamard(dtype, log_size):
    """Of small integers, exact; against the matrix, and for large sizes by its factors."""
    size = 2**log_size
    rng = np.random.default_rng(SEED + log_size)
    X = rng.integers(-3, 4, (3, size)).astype(dtype)
    found = X.copy()
    kernel.walsh_hadamard(found)
    if log_size <= 11:
        expected = X @ hadamard(size).astype(dtype)
    else:
        high, low = hadamard(size // 1024).astype(dtype), hadamard(1024).astype(dtype)
        expected = (high @ X.reshape(3, -1, 1024) @ low).reshape(3, -1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("hash_dim", [2, 3, 4, 16])
def test_transforms_do_not_depend_on_other_rows(dtype, hash_dim):
    X = random_csr(40, 60, 0.2, dtype)
    fitted = Fastfood(
        n_components=40, gamma=0.1, transform_type="fft", hash_dim=hash_dim, random_state=SEED
    ).fit(X)
    Z = fitted.transform(X)
    for rows in (slice(1, 2), slice(5, 6), slice(10, 13)):
        np.testing.assert_array_equal(fitted.transform(X[rows]), Z[rows])


def test_permutations_are_uniform():
    """All orders of 4 are equally likely."""
    found = np.empty((4800, 4), np.int32)
    for seed in range(len(found)):
        kernel.permute(seed, seed % 3, found[seed])
    assert (np.sort(found, axis=1) == np.arange(4)).all()
    _, counts = np.unique(found @ [64, 16, 4, 1], return_counts=True)
    assert len(counts) == 24
    chi_square = ((counts - 200) ** 2 / 200).sum()
    assert special.chdtrc(23, chi_square) > theorems.KS_LEVEL


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "laplacian"}, "kernel must be 'rbf' or 'matern', got 'laplacian'"),
        ({"gamma": -1}, "gamma must be a finite number above 0, got -1"),
        ({"degree": 0}, "degree must be from 1 to 64, got 0"),
        ({"n_components": 0}, "n_components must be from 1 to 2147483647, got 0"),
        (
            {"transform_type": "dct"},
            "must be 'hadamard' or 'fft' or 'orthogonal', got 'dct'",
        ),
        ({"hash_dim": 0}, "hash_dim must be from 1 to 1048576, got 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Fastfood(**parameters).fit(np.ones((2, 4)))


# ---- blocks --------------------------------------------------------------------------------------


def several_blocks(transform_type="hadamard", width=8, **parameters):
    """A fitted map of four blocks, without a fraction of one."""
    parameters = {"gamma": 0.7, "n_components": 8 * width, "random_state": SEED + 3, **parameters}
    return Fastfood(transform_type=transform_type, **parameters).fit(np.ones((1, width)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("transform_type", TRANSFORMS)
def test_blocks_are_those_of_the_formula(transform_type, dtype):
    """Each block is T G P T B, with its own B, P and G, and its scales divide by its own |G|."""
    width = 8
    blocks = several_blocks(transform_type).draw
    assert len(blocks.signs) == 4
    found = blocks.multiply(np.eye(width, dtype=dtype))
    for number in range(4):
        signs, normals = blocks.signs[number], blocks.normals[number].astype(float)
        order = blocks.permutations[number]
        if transform_type == "hadamard":
            first = hadamard(width) * signs
            expected = hadamard(width) @ (normals[:, None] * first[order])
        else:
            spectrum = np.fft.rfft(np.diag(signs.astype(float)), axis=0)
            inner = (normals[1:-1:2] + 1j * normals[2:-1:2]) * np.sqrt(0.5)
            spectrum[1:-1] = spectrum[1 + order] * inner[:, None]
            spectrum[[0, -1]] *= normals[[0, -1], None]
            expected = width * np.fft.irfft(spectrum, n=width, axis=0)
        part = found[:, number * width : (number + 1) * width].T
        np.testing.assert_allclose(part, expected, atol=40 * np.finfo(dtype).eps)
    # Rows of V are as long as chosen: sqrt(2 gamma) times the root of a chi-square number.
    vectors = (found * blocks.scales).T.reshape(4, width, width)
    lengths = np.linalg.norm(vectors, axis=2) * (2 * np.pi) / np.sqrt(1.4)
    key = _seeding.keys(SEED + 3, "fastfood", 8, "rbf", None, transform_type)[3]
    drawn = np.sqrt(2 * _portable_math.gamma_quantile(width / 2, _seeding.uniforms(key, 4 * width)))
    np.testing.assert_allclose(lengths.ravel(), drawn, rtol=1e-5)


def test_blocks_share_no_numbers():
    """No two blocks share their signs, permutation, normal numbers or lengths."""
    blocks = several_blocks(width=64).draw
    lengths = blocks.scales.reshape(4, 64) * np.linalg.norm(blocks.normals, axis=1)[:, None]
    lengths = np.round(1000 * lengths / lengths.mean())
    for numbers in (blocks.signs, blocks.normals, blocks.permutations, lengths):
        assert len(np.unique(numbers, axis=0)) == 4


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_matern_lengths_are_those_of_sums_of_points_of_the_ball(degree):
    n = 20_000
    fitted = Fastfood(kernel="matern", degree=degree, random_state=SEED).fit(np.ones((1, WIDTH)))
    found = fitted.draw._lengths(np.uint64(5), n)
    rng = np.random.default_rng(SEED)
    points = rng.normal(size=(degree, n, WIDTH))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    points *= rng.random((degree, n, 1)) ** (1 / WIDTH)
    expected = np.linalg.norm(points.sum(axis=0), axis=1)
    assert stats.ks_2samp(found, expected).pvalue > theorems.KS_LEVEL


@pytest.mark.parametrize("transform_type", TRANSFORMS)
def test_variance_of_several_blocks(transform_type):
    """The mean over four blocks has a quarter of one block's variance."""
    values = rows()
    one, other = np.triu_indices(len(values), 1)
    found = []
    for seed in range(N_SEEDS):
        Z = Fastfood(
            gamma=0.7, n_components=4 * N_COMPONENTS, transform_type=transform_type,
            random_state=SEED + seed,
        ).fit_transform(values)  # fmt: skip
        parts = Z.reshape(len(values), 4, -1) * 2
        found.append((parts[one] * parts[other]).sum(axis=2))
    found = np.array(found)
    centred = found - exact_kernels({"gamma": 0.7})[:, None]
    for a, b in combinations(range(4), 2):
        theorems.assert_mean(centred[:, :, a] * centred[:, :, b], 0.0)
