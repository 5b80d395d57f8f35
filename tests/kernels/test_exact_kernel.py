"""`exact_kernel` of each map against its formula, written out for dense rows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.rows import random_csr
from scipy import special, stats

from sparsemaps import RandomBinning, RandomFourier


def differences(X, Y):
    return abs(X[:, None] - Y)


def count_sketch(fitted, X, Y):
    return X @ Y.T


def tensor_sketch(fitted, X, Y):
    if fitted.kernel == "rbf":
        return np.exp(-fitted.gamma * (differences(X, Y) ** 2).sum(axis=-1))
    if fitted.kernel != "poly":
        return sum(a * (fitted.gamma * X @ Y.T) ** n for n, a in enumerate(fitted.kernel))
    return (fitted.gamma * X @ Y.T + fitted.coef0) ** (fitted.degree or 2)


def random_maclaurin(fitted, X, Y):
    products = X @ Y.T
    if fitted.kernel == "exp":
        return np.exp(fitted.gamma * products)
    if fitted.kernel == "poly":
        return (fitted.gamma * products + fitted.coef0) ** fitted.degree
    return sum(a * (fitted.gamma * products) ** n for n, a in enumerate(fitted.kernel))


def random_fourier(fitted, X, Y):
    d, gamma = differences(X, Y), fitted.gamma_
    squares = (d**2).sum(axis=-1)
    if fitted.spectrum is not None:
        return np.sinc(gamma * d / np.pi).prod(axis=-1)
    if fitted.kernel == "laplacian":
        return np.exp(-gamma * d.sum(axis=-1))
    if fitted.kernel == "cauchy":
        return (1 / (1 + gamma**2 * d**2)).prod(axis=-1)
    if fitted.kernel == "matern":
        assert fitted.nu == 1.5
        z = np.sqrt(6 * gamma * squares)
        return (1 + z) * np.exp(-z)
    if fitted.kernel == "folded_rbf":
        far = ((X[:, None] + Y) ** 2).sum(axis=-1)
        return (np.exp(-gamma / 2 * squares) + np.exp(-gamma / 2 * far)) / 2
    return np.exp(-gamma * squares)


def fastfood(fitted, X, Y):
    squares = (differences(X, Y) ** 2).sum(axis=-1)
    if fitted.kernel == "rbf":
        return np.exp(-fitted.gamma_ * squares)
    assert fitted.hash_dim == 32
    h, z = 32 / 2, np.maximum(np.sqrt(2 * fitted.gamma_ * squares), 1e-3)
    return (special.gamma(h + 1) * (2 / z) ** h * special.jv(h, z)) ** fitted.degree


def random_binning(fitted, X, Y):
    d = fitted.gamma_ * differences(X, Y)
    if fitted.pitch_density is None:
        return np.exp(-d.sum(axis=-1))
    return ((1 + d) * np.exp(-2 * d)).prod(axis=-1)


def sign_projection(fitted, X, Y):
    if fitted.kernel == "acos":
        cosines = [a / np.linalg.norm(a, axis=1, keepdims=True) for a in (X, Y)]
        similarity = cosines[0] @ cosines[1].T
    else:
        u, v = (a / a.sum(axis=1, keepdims=True) for a in (X, Y))
        u, v = u[:, None], v[None]
        similarity = (2 * u * v / np.where(u + v > 0, u + v, 1)).sum(axis=-1)
    agreement = 1 - np.arccos(similarity.clip(-1, 1)) / np.pi
    return 2 * agreement - 1 if fitted.dense_output else agreement


def consistent_weighted_sampling(fitted, X, Y):
    if fitted.signed:
        X, Y = (np.hstack([np.maximum(a, 0), np.maximum(-a, 0)]) for a in (X, Y))
    u, v = X[:, None] ** fitted.power, Y[None] ** fitted.power
    return np.minimum(u, v).sum(axis=-1) / np.maximum(u, v).sum(axis=-1)


def min_hash(fitted, X, Y):
    u, v = X[:, None] != 0, Y[None] != 0
    return (u & v).sum(axis=-1) / (u | v).sum(axis=-1)


def kernel_product(fitted, X, Y):
    sampled, other = fitted.maps_
    return formula(sampled)(sampled, X, Y) * formula(other)(other, X, Y)


def formula(fitted):
    return {
        "ConsistentWeightedSampling": consistent_weighted_sampling,
        "CountSketch": count_sketch,
        "Fastfood": fastfood,
        "KernelProduct": kernel_product,
        "MinHash": min_hash,
        "RandomBinning": random_binning,
        "RandomFourier": random_fourier,
        "RandomMaclaurin": random_maclaurin,
        "RandomProjection": count_sketch,
        "SignProjection": sign_projection,
        "TensorSketch": tensor_sketch,
    }[type(fitted).__name__]


def test_exact_kernel_is_the_formula(new_map):
    X = random_csr(n_rows=14, n_columns=40, density=0.4)
    X = X[np.diff(X.indptr) > 0]
    X.data /= 4
    fitted = new_map().fit(X)
    if getattr(fitted, "signed", False):
        X.data[::3] *= -1
    dense = X.toarray()
    expected = formula(fitted)(fitted, dense[:5], dense[3:])
    found = fitted.exact_kernel(X[:5], X[3:])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert np.ptp(found) > 0


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_exact_kernel_of_unsigned_integers(container):
    """The kernel of -Y is part of the folded one: 0 - 3 is -3, not 253."""
    X = np.array([[3, 0, 1], [0, 2, 5]], np.uint8)
    fitted = RandomFourier(kernel="folded_rbf", gamma=0.1).fit(container(X))
    expected = random_fourier(fitted, X.astype(float), X.astype(float))
    np.testing.assert_allclose(fitted.exact_kernel(container(X)), expected, rtol=1e-12)


PITCHES = {
    "Laplacian": (lambda p: p * np.exp(-p), lambda d: np.exp(-d)),
    "(1 + d) exp(-2 d)": (lambda p: 4 * p**2 * np.exp(-2 * p), lambda d: (1 + d) * np.exp(-2 * d)),
    "one hat": (lambda p: stats.norm.pdf(p, 2, 0.01), lambda d: np.maximum(1 - d / 2, 0)),
}


@pytest.mark.parametrize(("density", "factor"), PITCHES.values(), ids=PITCHES.keys())
def test_exact_kernel_of_pitch_densities(density, factor):
    """A column's factor is the mean of max(0, 1 - d / pitch) over the pitches."""
    X = np.random.default_rng(0).normal(size=(6, 6)) / 4
    fitted = RandomBinning(gamma=0.5, pitch_density=density).fit(X)
    expected = factor(0.5 * differences(X, X)).prod(axis=-1)
    np.testing.assert_allclose(fitted.exact_kernel(X), expected, atol=2e-5)


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_wide_matrices():
    """No exact kernel takes memory for each column."""
    tests = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "_scripts.wide"],
        cwd=tests,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]
