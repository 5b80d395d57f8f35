"""`exact_kernel` of each map against its formula, written out for dense rows."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _data.variants import differences, kernel_by_formula
from scipy import stats

from sparsemaps import RandomBinning, RandomFourier


def test_exact_kernel_is_the_formula(new_map):
    X = random_csr(n_rows=14, n_columns=40, density=0.4)
    X = X[np.diff(X.indptr) > 0]
    X.data /= 4
    fitted = new_map().fit(X)
    if getattr(fitted, "signed", False):
        X.data[::3] *= -1
    dense = X.toarray()
    expected = kernel_by_formula(fitted, dense[:5], dense[3:])
    found = fitted.exact_kernel(X[:5], X[3:])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    assert np.ptp(found) > 0


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_exact_kernel_of_unsigned_integers(container):
    """The kernel of -Y is part of the folded one: 0 - 3 is -3, not 253."""
    X = np.array([[3, 0, 1], [0, 2, 5]], np.uint8)
    fitted = RandomFourier(kernel="folded_rbf", gamma=0.1).fit(container(X))
    expected = kernel_by_formula(fitted, X.astype(float), X.astype(float))
    np.testing.assert_allclose(fitted.exact_kernel(container(X)), expected, rtol=1e-12)


PITCHES = {
    "Laplacian": (lambda p: p * np.exp(-p), lambda d: np.exp(-d)),
    "(1 + d) exp(-2 d)": (lambda p: 4 * p**2 * np.exp(-2 * p), lambda d: (1 + d) * np.exp(-2 * d)),
    "one hat": (lambda p: stats.norm.pdf(p, 2, 0.01), lambda d: np.maximum(1 - d / 2, 0)),
}


@pytest.mark.parametrize(("density", "factor"), PITCHES.values(), ids=PITCHES.keys())
def test_exact_kernel_of_pitch_densities(density, factor):
    """A column's factor is the mean of max(0, 1 - d / pitch) over the pitches."""
    X = np.random.default_rng(SEED).normal(size=(6, 6)) / 4
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
