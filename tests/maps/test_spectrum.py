"""`RandomFourier` by a spectrum: unbiased, with the variance of paired and offset features."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import theorems
from scipy import stats
from sklearn.base import clone

from sparsemaps import RandomFourier
from sparsemaps._loops import rows as functions
from sparsemaps.codes import BySigns
from sparsemaps.laws import _spectrum

N_COMPONENTS = 100_000
N_ENTRIES = 5


def uniform(u):
    return 2 * u - 1


def log_odds(u):
    """As the quantiles of the logistic distribution by SciPy, in less time."""
    return np.log(u / (1 - u))


def ends(u):
    """-1 or 1."""
    return np.where(u < 0.5, -1.0, 1.0)


SPECTRA = {
    "normal": (stats.norm.ppf, lambda t: np.exp(-(t**2) / 2)),
    "Laplace": (stats.laplace.ppf, lambda t: 1 / (1 + t**2)),
    "logistic": (stats.logistic.ppf, lambda t: np.pi * t / np.sinh(np.pi * t)),
    "Cauchy": (stats.cauchy.ppf, lambda t: np.exp(-t)),
    "uniform": (uniform, lambda t: np.sin(t) / t),
    "ends": (ends, np.cos),
}
each_spectrum = pytest.mark.parametrize(
    ("quantile", "factor"), SPECTRA.values(), ids=SPECTRA.keys()
)

TABLE_ERROR = 3e-5
"""The largest error of one column's factor, as the docstring says."""


def rows():
    """Rows near and far, of other supports."""
    values = np.random.default_rng(SEED).normal(size=(4, N_ENTRIES)) / 2
    values[1] = values[0] + 0.2 * values[1]
    values[2, ::2] = 0
    return values


ONE, OTHER = np.triu_indices(4, 1)


def as_csr(columns):
    indptr = np.arange(5) * N_ENTRIES
    return sp.csr_array((rows().ravel(), np.tile(columns, 4), indptr), (4, 2**62))


def features(X, quantile, form="paired", n_components=N_COMPONENTS, **parameters):
    fourier = RandomFourier(
        spectrum=quantile, form=form, n_components=n_components, random_state=SEED, **parameters
    )
    return fourier.fit_transform(X)


def kernels_of(factor, scale):
    """The formula's kernel of the pairs of rows, times `scale`."""
    return factor(abs(scale * (rows()[ONE] - rows()[OTHER])) + 1e-12).prod(axis=1)


def assert_paired(Z, factor, gamma=1.0):
    """The table's own error is far below a standard error."""
    Z = (Z * np.sqrt(Z.shape[1] / 2)).reshape(4, -1, 2)
    found = (Z[ONE] * Z[OTHER]).sum(axis=2).T
    k, doubled = (kernels_of(factor, scale * gamma) for scale in (1, 2))
    theorems.assert_mean(found, k)
    theorems.assert_variance(found, (1 + doubled - 2 * k**2) / 2)


@each_spectrum
@pytest.mark.parametrize("gamma", [1.0, 2.5])
def test_theorem_paired(quantile, factor, gamma):
    assert_paired(features(rows(), quantile, gamma=gamma), factor, gamma)


@each_spectrum
def test_theorem_offset(quantile, factor):
    Z = features(rows(), quantile, "offset") * np.sqrt(N_COMPONENTS)
    found = (Z[ONE] * Z[OTHER]).T
    k, doubled = (kernels_of(factor, scale) for scale in (1, 2))
    theorems.assert_mean(found, k)
    theorems.assert_variance(found, 1 + doubled / 2 - k**2)


@theorems.each_structure(N_ENTRIES)
def test_theorem_for_structured_columns(columns):
    quantile, factor = SPECTRA["logistic"]
    assert_paired(features(as_csr(columns), quantile, n_components=20_000), factor)


def test_unbiased_over_seeds():
    found = []
    for seed in range(500):
        fourier = RandomFourier(spectrum=log_odds, n_components=8, random_state=SEED + seed)
        Z = fourier.fit_transform(rows())
        found.append((Z[ONE] * Z[OTHER]).sum(axis=1))
    factor = SPECTRA["logistic"][1]
    k, doubled = (kernels_of(factor, scale) for scale in (1, 2))
    theorems.assert_mean(found, k)
    theorems.assert_variance(found, (1 + doubled - 2 * k**2) / 8)


MUTANTS = {
    "all zeros": lambda Z: 0 * Z,
    "scaled": lambda Z: 1.03 * Z,
    "another bandwidth": lambda Z: features(rows(), stats.logistic.ppf, gamma=1.05),
    "another spectrum": lambda Z: features(rows(), lambda u: 1.8 * stats.norm.ppf(u)),
    "cosines alone": lambda Z: np.where(np.arange(N_COMPONENTS) % 2, 0, Z),
}


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    quantile, factor = SPECTRA["logistic"]
    with pytest.raises(AssertionError):
        assert_paired(change(features(rows(), quantile)), factor)


@each_spectrum
def test_exact_kernel_of_one_column(quantile, factor):
    """Within the error that is stated, for small and large differences."""
    differences = np.geomspace(1e-4, 200, 60)[:, None]
    fitted = RandomFourier(spectrum=quantile).fit(differences)
    found = fitted.exact_kernel(differences, np.zeros((1, 1)))
    np.testing.assert_allclose(found, factor(differences), rtol=0, atol=TABLE_ERROR)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_exact_kernel_of_rows(n_jobs):
    """Products over the columns; equal rows have 1, empty ones are points as others."""
    values = np.vstack([rows(), rows()[:1], np.zeros((1, N_ENTRIES))])
    for gamma in (0.5, 2.0):
        fitted = RandomFourier(spectrum=uniform, gamma=gamma, n_jobs=n_jobs).fit(values)
        t = gamma * abs(values[:, None] - values)
        expected = np.sinc(t / np.pi).prod(axis=-1)
        np.testing.assert_allclose(fitted.exact_kernel(values), expected, rtol=0, atol=1e-7)
        assert fitted.exact_kernel(values)[4, 0] == 1


def test_mean_cosines():
    """Lines of all lengths, and of none, against another formula for the integral."""
    rng = np.random.default_rng(SEED)
    knots = np.concatenate([[0.0, 0.0], np.cumsum(rng.gamma(0.02, 10, 23))])
    weights = rng.random(24)
    x = np.concatenate([[0.0], np.geomspace(1e-6, 3, 30)])
    found = x.copy()
    functions.mean_cosines(found, weights, knots)
    angles = 2 * np.pi * x[:, None] * knots
    middles, widths = (angles[:, 1:] + angles[:, :-1]) / 2, np.diff(angles)
    expected = (np.cos(middles) * np.sinc(widths / (2 * np.pi))) @ weights
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_table():
    """Quantiles at the middles of equal parts, odd, the ends twice."""
    table = _spectrum.table(stats.norm.ppf)
    middles = (np.arange(2**16) + 0.5) / 2**16
    np.testing.assert_allclose(table[1:-1], stats.norm.ppf(middles), rtol=1e-6)
    np.testing.assert_array_equal(table, -table[::-1])
    assert (table[0], table[-1]) == (table[1], table[-2])
    assert table.dtype == np.float32


def test_keys_are_those_of_spectra():
    """No other kernel has them: not the vectors, and not the phases."""
    found = RandomFourier(spectrum=uniform, random_state=SEED).fit(rows()).draw.keys()
    for kernel in ("rbf", "laplacian", "cauchy", "matern", "folded_rbf"):
        others = RandomFourier(kernel=kernel, random_state=SEED).fit(rows()).draw.keys()
        assert set(found.tolist()).isdisjoint(others.tolist())


def test_gamma_multiplies_differences():
    """A power of two exactly as rows that are larger by it."""
    X = rows()
    one = features(X, stats.logistic.ppf, n_components=40, gamma=4.0)
    other = features(4 * X, stats.logistic.ppf, n_components=40)
    np.testing.assert_array_equal(one, other)


def test_codes():
    """Bits are the signs of the offset form; they know no formula for the kernel."""
    fourier = RandomFourier(spectrum=uniform, n_components=40, form="offset", random_state=SEED)
    fourier.fit(rows())
    expected = np.packbits(fourier.transform(rows()) >= 0, axis=1, bitorder="little")
    np.testing.assert_array_equal(fourier.encode(rows()), expected)
    assert fourier.law.codes == BySigns(None)
    with pytest.raises(ValueError, match="spectrum must be a number, a string"):
        fourier.encode(rows(), packed=True)


@pytest.mark.parametrize("quantile", [uniform, stats.norm.ppf], ids=["function", "method"])
def test_copies(quantile):
    """Of a function that can be pickled, the map can be; a change of the function's object after
    ``fit`` changes nothing."""
    fourier = RandomFourier(spectrum=quantile, n_components=10, random_state=SEED).fit(rows())
    expected = fourier.transform(rows())
    again = pickle.loads(pickle.dumps(fourier))
    np.testing.assert_array_equal(again.transform(rows()), expected)
    np.testing.assert_array_equal(again.exact_kernel(rows()), fourier.exact_kernel(rows()))
    np.testing.assert_array_equal(clone(fourier).fit_transform(rows()), expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"spectrum": 3}, "spectrum must be callable or None, got 3"),
        ({"spectrum": "norm"}, "spectrum must be callable or None, got 'norm'"),
        ({"spectrum": uniform, "kernel": "laplacian"}, "kernel must be left out if a spectrum"),
        ({"spectrum": uniform, "gamma": "scale"}, "gamma must be a number if a spectrum"),
        ({"spectrum": uniform, "gamma": 0}, "gamma must be a finite number above 0, got 0"),
        ({"spectrum": lambda u: -uniform(u)}, "never falls, got .* at 7.6.*e-06 and"),
        ({"spectrum": lambda u: u}, r"symmetric about 0, .*got 7.6.*e-06 at 7.6.*e-06 and 0.9999"),
        ({"spectrum": lambda u: uniform(u) * (1 + (u > 0.9))}, "symmetric about 0, "),
        ({"spectrum": lambda u: u * np.nan}, "a number for each probability"),
        ({"spectrum": lambda u: uniform(u) * np.inf}, "a number for each probability"),
        ({"spectrum": lambda u: 1e39 * uniform(u)}, "none above 1e38 in absolute value"),
        ({"spectrum": lambda u: 0.5}, "a number for each probability"),
        ({"spectrum": lambda u: uniform(u)[1:]}, "a number for each probability"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomFourier(**parameters).fit(np.ones((2, 4)))
