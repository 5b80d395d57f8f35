"""The random vectors: their distributions, and their sums bit by bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import reference, theorems
from scipy import stats

from sparsemaps._input._row_reader import open_matrix
from sparsemaps._loops import maps as loops
from sparsemaps.laws import _spectrum

DISTRIBUTIONS = {
    "normal": (loops.NORMAL, stats.norm.cdf),
    "cauchy": (loops.CAUCHY, stats.cauchy.cdf),
    "laplace": (loops.LAPLACE, stats.laplace.cdf),
    "quantiles": (loops.QUANTILES, stats.logistic.cdf),
}

TABLE = _spectrum.table(stats.logistic.ppf)


def entries(distribution, column, n=2**17, key=11):
    out = np.empty(n, np.float32)
    loops.draw(key, distribution, column, out, TABLE)
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


def unmix64(x):
    """The number of which `reference.mix64` makes x."""
    for shift, factor in ((31, 1), (27, 0x94D049BB133111EB), (30, 0xBF58476D1CE4E5B9)):
        x = x * pow(factor, -1, 2**64) % 2**64
        x ^= (x >> shift) ^ (x >> 2 * shift)
    return x


def normals_of(halves):
    """The normal number of each word of 32 bits, which is made the lower half of the first word of
    column 0 by a suitable key."""
    out = np.empty(64, np.float32)
    found = []
    for half in halves:
        start = unmix64(int(half) | 0x12345678 << 32) - 0x9E3779B97F4A7C15
        key = unmix64(start % 2**64) ^ int(reference.mix64(0))
        loops.draw(key, loops.NORMAL, 0, out)
        found.append(out[0])
    return np.array(found)


def test_normal_numbers_are_quantiles():
    """Within 5e-6, everywhere: also where random numbers hardly ever are."""
    ranks = {2**31 - 1, 2**31 - 63, 2**31 - 64, 0, 1, 2}
    for e in range(1, 31):
        ranks |= {2**e + int(part * 2**e) for part in np.linspace(0, 1, 41)[:-1]}
        ranks |= {2**e - 1, 2**e - 2}
    halves = np.array(sorted(ranks), np.uint32)
    expected = -stats.norm.ppf((halves | 2) * 2.0**-32)
    np.testing.assert_allclose(normals_of(halves), expected, rtol=0, atol=5.2e-6)
    sign = np.uint32(2**31)
    np.testing.assert_array_equal(normals_of(halves | sign), -normals_of(halves))
    np.testing.assert_array_equal(normals_of(halves), reference.normal(halves))


def test_tails_of_normal_numbers():
    """To 5 standard deviations, which one of 1.7 million numbers exceeds in absolute value."""
    found = entries(loops.NORMAL, 3, 2**23)
    for limit in (3, 4, 4.5, 5):
        theorems.assert_rate(found > limit, stats.norm.sf(limit))
        theorems.assert_rate(found < -limit, stats.norm.sf(limit))
    for power, moment in ((1, 0), (2, 1), (4, 3), (6, 15)):
        theorems.assert_mean(found**power, moment)


def test_rademacher():
    found = entries(loops.RADEMACHER, 3)
    assert set(found) == {-1.0, 1.0}
    theorems.assert_rate(found > 0, 0.5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "rademacher"])
def test_against_reference(name, dtype):
    """Bit by bit, with shared columns and a row longer than what is gathered at once."""
    rng = np.random.default_rng(SEED)
    lengths = [0, 3, 70_000, 1, 40] if name == "rademacher" else [0, 3, 400, 1, 40]
    columns = [np.sort(rng.choice(2**45, n, replace=False)) for n in lengths]
    columns[4][:3] = columns[1]
    columns[4].sort()
    indptr = np.cumsum([0, *lengths])
    values = rng.normal(size=indptr[-1]).astype(dtype)
    X = sp.csr_array((values, np.concatenate(columns), indptr), shape=(5, 2**45))
    n = 70
    out = np.empty((5, n), dtype)
    kind = getattr(loops, name.upper())
    block = open_matrix(X).block(0, 5)
    loops.project(*block, 13, kind, out.shape[1], out, quantiles=TABLE)
    for row, found in zip(reference.rows_of(X), out, strict=True):
        np.testing.assert_array_equal(
            found, reference.project(13, *row, n, name, TABLE), strict=True
        )
    part = np.empty((3, n), dtype)
    loops.project(*open_matrix(X).block(2, 5), 13, kind, n, part, quantiles=TABLE)
    np.testing.assert_array_equal(part, out[2:], strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shared_columns(dtype):
    """Bit by bit, where the columns of a group are drawn in several steps."""
    rng = np.random.default_rng(SEED)
    X = sp.csr_array((rng.normal(size=(60, 300)) * (rng.random((60, 300)) < 0.15)).astype(dtype))
    out = np.empty((60, 70), dtype)
    loops.project(*open_matrix(X).block(0, 60), 13, loops.NORMAL, 70, out)
    for row, found in zip(reference.rows_of(X), out, strict=True):
        expected = reference.project(13, *row, 70, "normal", TABLE)
        np.testing.assert_array_equal(found, expected, strict=True)
    part = np.empty((40, 70), dtype)
    loops.project(*open_matrix(X).block(20, 60), 13, loops.NORMAL, 70, part)
    np.testing.assert_array_equal(part, out[20:], strict=True)


def test_drawn_signs_are_those_of_projections():
    """A row of a single 1 has the entries of its column as projections."""
    n = 128
    for name in (*DISTRIBUTIONS, "rademacher"):
        kind = getattr(loops, name.upper())
        out = np.empty((1, n))
        X = sp.csr_array(([1.0], [5], [0, 1]), shape=(1, 6))
        block = open_matrix(X).block(0, 1)
        loops.project(*block, 11, kind, n, out, quantiles=TABLE)
        drawn = np.empty(n, np.float32)
        loops.draw(11, kind, 5, drawn, TABLE)
        np.testing.assert_array_equal(out[0], drawn)
