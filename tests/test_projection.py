"""The random vectors: their distributions, and their sums bit by bit."""

import numpy as np
import pytest
import reference
import scipy.sparse as sp
import theorems
from scipy import stats

from sparsemaps._kernels import projection
from sparsemaps._rows import open_rows

DISTRIBUTIONS = {
    "normal": (projection.NORMAL, stats.norm.cdf),
    "cauchy": (projection.CAUCHY, stats.cauchy.cdf),
    "laplace": (projection.LAPLACE, stats.laplace.cdf),
}


def entries(distribution, column, n=2**17, key=11):
    out = np.empty(n, np.float32)
    projection.draw(key, distribution, column, out)
    return out.astype(float)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("column", [0, 1, 2**40])
def test_distribution(name, column):
    distribution, cdf = DISTRIBUTIONS[name]
    found = entries(distribution, column)
    assert np.isfinite(found).all()
    theorems.assert_uniform(cdf(found))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_mutant_distributions_are_rejected(name):
    distribution, cdf = DISTRIBUTIONS[name]
    with pytest.raises(AssertionError):
        theorems.assert_uniform(cdf(1.1 * entries(distribution, 0)))


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_components_and_columns_are_independent(name):
    """Ranks of neighbouring components, of the two halves of a tile and of columns do not
    correlate."""
    distribution, cdf = DISTRIBUTIONS[name]
    one, other = (12 * (cdf(entries(distribution, column)) - 0.5) for column in (6, 7))
    tiles = one.reshape(-1, 64)
    for a, b in (
        (one, other),
        (one[:-1], one[1:]),
        (tiles[:, :32], tiles[:, 32:]),
        (abs(tiles[:, :32]), abs(tiles[:, 32:]) - 3),
    ):
        theorems.assert_mean((a * b).ravel() if a is one else (a * (b - b.mean())).ravel(), 0.0)


def test_rademacher():
    found = entries(projection.RADEMACHER, 3)
    assert set(found) == {-1.0, 1.0}
    theorems.assert_rate(found > 0, 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "rademacher"])
def test_against_reference(name, dtype):
    """Bit by bit, with shared columns and a row longer than what is gathered at once."""
    rng = np.random.default_rng(0)
    lengths = [0, 3, 70_000, 1, 40] if name == "rademacher" else [0, 3, 400, 1, 40]
    columns = [np.sort(rng.choice(2**45, n, replace=False)) for n in lengths]
    columns[4][:3] = columns[1]
    columns[4].sort()
    indptr = np.cumsum([0, *lengths])
    values = rng.normal(size=indptr[-1]).astype(dtype)
    X = sp.csr_array((values, np.concatenate(columns), indptr), shape=(5, 2**45))
    n = 70
    out = np.empty((5, n), dtype)
    kind = getattr(projection, name.upper())
    projection.project(*open_rows(X).block(0, 5), 13, kind, out.shape[1], out)
    for row, found in zip(reference.rows_of(X), out, strict=True):
        np.testing.assert_array_equal(found, reference.project(13, *row, n, name), strict=True)
