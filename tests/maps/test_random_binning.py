"""Two rows share a random box with the probability that the kernel says."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from scipy import stats

from sparsemaps import KernelProduct, RandomBinning, RandomFourier, codes
from sparsemaps.maps._sampled_map import SampledMap

N_GRIDS = 100_000
N_BINS = 2**16

DENSITIES = {
    "Laplacian, as it is": None,
    "Laplacian, by its density": lambda p: p * np.exp(-p),
    "(1 + d) exp(-2 d)": lambda p: 4 * p**2 * np.exp(-2 * p),
    # Nearly one pitch, 2: a density cannot be a single point.
    "one hat": lambda p: stats.norm.pdf(p, 2, 0.01),
}


def rows():
    """Rows of different supports, of both signs, near and far; the last is empty."""
    rng = np.random.default_rng(SEED + 3)
    values = rng.normal(size=(6, 6)) / 4
    values[1] = values[0] + rng.normal(size=6) / 200
    values[2, ::2] = 0
    values[3, 1::2] = 0
    values[4] *= 6
    values[5] = 0
    return values


def as_csr(values, columns, zeros=False):
    """The rows in CSR, with their zeros stored or not."""
    stored = np.ones_like(values, bool) if zeros else values != 0
    indptr = np.cumsum([0, *stored.sum(axis=1)])
    indices = np.tile(columns, (len(values), 1))[stored]
    return sp.csr_array((values[stored], indices, indptr), (len(values), int(columns[-1]) + 1))


def boxes(X, gamma=1.0, density=None, seed=0, n_bins=N_BINS):
    """The code of each row in each grid."""
    binning = RandomBinning(
        gamma=gamma, n_grids=N_GRIDS, n_bins=n_bins, pitch_density=density, random_state=SEED + seed
    )
    return codes.unpack(binning.fit(X).encode(X), n_bins.bit_length() - 1)[:, :N_GRIDS]


def exact_kernel(values, gamma=1.0, density=None):
    fitted = RandomBinning(gamma=gamma, pitch_density=density).fit(values)
    return fitted.exact_kernel(values)


def assert_theorem(found, kernel, n_bins=N_BINS):
    """Codes agree at the rate of the kernel, and by chance in one of `n_bins` bins."""
    one, other = np.triu_indices(len(kernel), 1)
    exact = kernel[one, other]
    assert exact.min() < 0.05
    assert exact.max() > 0.9
    theorems.assert_rate(found[one] == found[other], exact + (1 - exact) / n_bins)


@pytest.mark.parametrize("density", DENSITIES.values(), ids=DENSITIES.keys())
def test_theorem(density):
    values = rows()
    kernel = exact_kernel(values, density=density)
    for columns in (np.arange(6), np.arange(6) * 2**37 + 2**39):
        for zeros in (False, True):
            found = boxes(as_csr(values, columns, zeros), density=density)
            assert_theorem(found, kernel)


@theorems.each_structure(6)
def test_theorem_for_structured_columns(columns):
    assert_theorem(boxes(as_csr(rows(), columns)), exact_kernel(rows()))


@pytest.mark.parametrize("gamma", [0.2, 5.0])
def test_gamma_scales(gamma):
    values = rows() / gamma
    found = boxes(as_csr(values, np.arange(6)), gamma)
    assert_theorem(found, exact_kernel(values, gamma))


@pytest.mark.parametrize("n_bins", [2, 8])
def test_few_bins_collide_as_stated(n_bins):
    values = rows()
    found = boxes(as_csr(values, np.arange(6)), n_bins=n_bins)
    assert_theorem(found, exact_kernel(values), n_bins)
    for row in found:  # and all bins are in use
        counts = np.bincount(row, minlength=n_bins)
        assert stats.chisquare(counts).pvalue > theorems.KS_LEVEL


def test_grids_are_independent():
    """Agreements of one grid say nothing about the next one's: their sum over grids has the
    binomial variance over seeds."""
    X = as_csr(rows(), np.arange(6))
    exact = exact_kernel(rows())[2, 3]
    found = []
    for seed in range(2000):
        binning = RandomBinning(n_grids=20, n_bins=2**16, random_state=SEED + seed)
        code = codes.unpack(binning.fit(X).encode(X), 16)
        found.append((code[2] == code[3]).mean())
    theorems.assert_mean(found, exact)
    theorems.assert_variance(found, exact * (1 - exact) / 20)


def test_rows_longer_than_a_group():
    """Rows that are taken run by run, as they have more entries than a group holds."""
    n = 300_000
    X = sp.csr_array(np.outer([0.0, 0.5, 1.2], np.ones(n) / n) + 1 / n)
    binning = RandomBinning(n_grids=500, n_bins=2**16, random_state=SEED).fit(X)
    found = codes.unpack(binning.encode(X), 16)
    exact = binning.exact_kernel(X)
    for one, other in [(0, 1), (1, 2)]:
        theorems.assert_rate(found[one] == found[other], exact[one, other])


MUTANTS = {
    "all alike": lambda found, X, values: 0 * found,
    "never alike": lambda found, X, values: np.arange(6)[:, None] + 0 * found,
    "bandwidth off by 1.05": lambda found, X, values: boxes(X, 1.05),
    "bandwidth off by 2": lambda found, X, values: boxes(X, 2.0),
    "shift left out": lambda found, X, values: floor_codes(values, shifted=False),
    "pitch exponential instead of Gamma(2)": lambda found, X, values: floor_codes(values, shape=1),
    "zeros have no bin": lambda found, X, values: floor_codes(values, zeros=False),
}


def floor_codes(values, shape=2, shifted=True, zeros=True):
    """Plain random binning by NumPy, hashed by Python; or a wrong one."""
    rng = np.random.default_rng(SEED + 1)
    pitches = rng.gamma(shape, size=(6, N_GRIDS))
    shifts = rng.random((6, N_GRIDS)) * shifted
    bins = np.floor(values[:, :, None] / pitches - shifts).astype(np.int64)
    salt = rng.integers(0, 2**63, (6, N_GRIDS), np.int64)
    with np.errstate(over="ignore"):
        hashes = (bins * 2 + 1) * (salt | 1) * np.int64(0x1E3779B97F4A7C15)
        hashes ^= hashes >> 29
        hashes *= salt | 1
        if not zeros:
            hashes *= (values != 0)[:, :, None]
        return hashes.sum(axis=1)


def test_plain_binning_passes():
    assert_theorem(floor_codes(rows()), exact_kernel(rows()))


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    values = rows()
    X = as_csr(values, np.arange(6))
    with pytest.raises(AssertionError):
        assert_theorem(change(boxes(X), X, values), exact_kernel(values))


def test_extreme_values():
    """Bins are defined for every number; equal ones are in one, far ones are not."""
    values = np.array([1e300, 1e300, -1e300, 1e-300, 0.0, np.finfo(float).max, 5e-324])
    found = boxes(sp.csr_array(values[:, None]))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).mean() < 0.01
    for tiny in (3, 6):  # in the box of 0
        assert (found[tiny] == found[4]).all()
    assert (found[5] == found[4]).mean() < 0.01


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_that_overflow_when_scaled_differ(sign):
    values = sign * np.array([1.7e308, 1.6e308, 1e308])
    found = boxes(sp.csr_array(values[:, None]))
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert (found[one] == found[other]).mean() < 0.01


def test_one_hot_output():
    X = random_csr()
    binning = RandomBinning(n_grids=10, n_bins=8, random_state=SEED)
    Z = binning.fit_transform(X)
    assert Z.shape == (40, 80)
    assert (np.diff(Z.indptr) == 10).all()  # empty rows are points, too
    np.testing.assert_allclose(Z.data, 1 / np.sqrt(10))
    found = codes.unpack(binning.encode(X), 3)[:, :10]
    np.testing.assert_array_equal(Z.indices.reshape(40, 10), found + 8 * np.arange(10))


def test_products_with_others():
    """A sampled map among others: times Fourier features it is a product of kernels."""
    assert issubclass(RandomBinning, SampledMap)
    X = as_csr(rows(), np.arange(6))
    maps = RandomBinning(n_grids=2**12, n_bins=2**16), RandomFourier(n_components=2**12, gamma=0.3)
    product = KernelProduct(maps=maps, random_state=SEED).fit(X)
    Z = product.transform(X)
    used, columns = np.unique(Z.indices, return_inverse=True)  # of 2^28
    Z = sp.csr_array((Z.data, columns, Z.indptr), shape=(6, len(used)))
    exact = product.exact_kernel(X)
    assert abs((Z @ Z.T).toarray() - exact).max() < 6 * np.sqrt(2 / 2**12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": 0}, "gamma must be a finite number above 0, got 0"),
        ({"n_grids": 0}, "n_grids must be from 1 to 16777216, got 0"),
        ({"n_bins": 1}, "n_bins must be from 2 to 16777216, got 1"),
        ({"n_bins": 100}, "n_bins must be a power of two, got 100"),
        ({"pitch_density": 3}, "pitch_density must be callable or None, got 3"),
        ({"pitch_density": lambda p: np.exp(-p) * p / 2}, "must integrate to 1, .*integral is 0.5"),
        ({"pitch_density": lambda p: 0.95 * np.exp(-p) * p}, "must integrate .* integral is 0.95"),
        ({"pitch_density": lambda p: 1.05 * np.exp(-p) * p}, "must integrate .* integral is 1.05"),
        ({"pitch_density": lambda p: -p}, "finite number of at least 0 for each pitch"),
        (
            {"pitch_density": lambda p: np.where(p > 1, np.inf, p)},
            "finite number of at least 0 for each pitch",
        ),
        ({"pitch_density": lambda p: 1.0}, "finite number of at least 0 for each pitch"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomBinning(**parameters).fit(np.ones((2, 4)))


@pytest.mark.parametrize("density", DENSITIES.values(), ids=DENSITIES.keys())
def test_gamma_divides_pitches_of_any_density(density):
    """Of a power of two, exactly as rows that are larger by this factor."""
    X = np.random.default_rng(SEED).normal(size=(20, 6))
    found, expected = (
        RandomBinning(gamma=gamma, pitch_density=density, random_state=SEED).fit_transform(rows)
        for gamma, rows in ((4.0, X), (1.0, 4.0 * X))
    )
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_parts_of_a_density_are_taken_at_their_middles():
    """The kernel is off by less than a tenth of the probability of one of 2^16 parts; that of their
    ends would be by half of it."""
    differences = np.array([[0.01], [0.1], [0.5], [1.0]])
    fitted = RandomBinning(pitch_density=lambda p: p * np.exp(-p)).fit(differences)
    found = fitted.exact_kernel(differences, np.zeros((1, 1)))
    np.testing.assert_allclose(found, np.exp(-differences), rtol=2.0**-16 / 10)
