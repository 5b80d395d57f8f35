"""Errors of kernel estimates: measured against theory, and sizes against simulation."""

import numpy as np
import pytest
import scipy.sparse as sp
import theorems
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import normalize

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    Fastfood,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    RandomMaclaurin,
    SignProjection,
    TensorSketch,
    _kernel_error,
    _variance,
)
from sparsemaps.approximation import KernelApproximationDisplay, kernel_error, min_components

N_COLUMNS = 400
N_STANDARD_ERRORS = theorems.N_STANDARD_ERRORS


def rows(n=40, seed=0):
    """Rows of unit length with values >= 0, close and far ones."""
    rng = np.random.default_rng(seed)
    base = rng.gamma(0.3, size=N_COLUMNS) * (rng.random(N_COLUMNS) < 0.4)
    others = rng.gamma(0.3, size=(n, N_COLUMNS)) * (rng.random((n, N_COLUMNS)) < 0.4)
    weights = np.linspace(0, 1, n)[:, None]
    return sp.csr_array(normalize(weights * base + (1 - weights) * others))


MAPS = {
    "cws": ConsistentWeightedSampling(n_hashes=128, bits=9, t_bits=8),
    "signs": SignProjection(n_hashes=128),
    "dense signs": SignProjection(n_hashes=128, dense_output=True),
    "binning": RandomBinning(n_grids=128, n_bins=16, gamma=0.2),
    "paired": RandomFourier(n_components=128, gamma=0.7),
    "offset": RandomFourier(n_components=128, gamma=0.7, form="offset"),
    "laplacian": RandomFourier(n_components=128, gamma=0.1, kernel="laplacian"),
    "cauchy": RandomFourier(n_components=128, gamma=0.5, kernel="cauchy"),
    "matern": RandomFourier(n_components=128, gamma=0.5, kernel="matern"),
    "folded": RandomFourier(n_components=128, gamma=2.0, kernel="folded_rbf"),
    "fastfood": Fastfood(n_components=128, gamma=0.7),
    "fastfood, whole blocks": Fastfood(n_components=1024, gamma=0.7),
    "count sketch": CountSketch(n_components=128),
    "tensor sketch 2": TensorSketch(n_components=128),
    "tensor sketch 3": TensorSketch(n_components=512, degree=3, coef0=1.0, gamma=0.5),
    "maclaurin": RandomMaclaurin(n_components=128, degree=2, coef0=1.0),
    "h01": RandomMaclaurin(n_components=128, degree=3, coef0=1.0, h01=True),
    "product": KernelProduct(
        maps=(
            ConsistentWeightedSampling(n_hashes=64, bits=9, t_bits=8),
            SignProjection(n_hashes=64),
        )
    ),
}


class Scaled(BaseEstimator):
    """A wrong map: its estimates are too large by a tenth."""

    def __init__(self, inner=None, random_state=None):
        self.inner, self.random_state = inner, random_state

    def fit(self, X):
        self.fitted_ = clone(self.inner).set_params(random_state=self.random_state).fit(X)
        return self

    def transform(self, X):
        return np.sqrt(1.1) * self.fitted_.transform(X)

    def exact_kernel(self, X, Y=None):
        return (X @ X.T).toarray()

    @property
    def n_components(self):
        return self.inner.n_components

    def get_params(self, deep=True):
        return {"inner": self.inner, "random_state": self.random_state}


@pytest.mark.parametrize("name", MAPS)
def test_deviation_and_bias_are_those_of_theory(name):
    n_seeds = 60 if name in ("cws", "product") else 120
    found = kernel_error(MAPS[name], rows(), n_seeds=n_seeds, random_state=0)
    # Fastfood's formula is the leading term of a series.
    slack = 0.05 * found.theory_std if name.startswith("fastfood") else 0.0
    assert abs(found.std - found.theory_std) < N_STANDARD_ERRORS * found.std_std_error + slack
    assert abs(found.bias - found.theory_bias) < N_STANDARD_ERRORS * found.bias_std_error + 1e-12


def test_minhash_is_at_most_as_variable_as_independent_samples():
    found = kernel_error(MinHash(n_hashes=64, bits=16), rows(), n_seeds=50, random_state=0)
    assert found.std - found.theory_std < N_STANDARD_ERRORS * found.std_std_error
    assert abs(found.bias - found.theory_bias) < N_STANDARD_ERRORS * found.bias_std_error


def test_a_wrong_map_has_a_bias():
    X = rows()
    good = kernel_error(CountSketch(n_components=1024), X, n_seeds=50, random_state=0)
    wrong = Scaled(CountSketch(n_components=1024))
    fitted = clone(wrong).set_params(random_state=0).fit(X)
    estimates = _kernel_error.estimates(fitted, X, range(50))
    exact = _kernel_error.upper(fitted.exact_kernel(X))
    of_seeds = (estimates - exact).mean(axis=1)
    error = of_seeds.std(ddof=1) / np.sqrt(50)
    assert abs(of_seeds.mean()) > N_STANDARD_ERRORS * error
    assert abs(good.bias) < N_STANDARD_ERRORS * good.bias_std_error


def test_chance_agreements_show():
    cws = ConsistentWeightedSampling(n_hashes=2048, bits=2)
    found = kernel_error(cws, rows(), random_state=0)
    assert found.theory_bias > 0.1
    assert found.rms_bias > 5 * found.std


def test_the_bias_of_samples_without_bits_of_t_shows():
    X = np.random.default_rng(0).gamma(1.0, size=(40, 4))
    # With a code for each of four columns nothing agrees by chance.
    found = kernel_error(ConsistentWeightedSampling(n_hashes=512, bits=2), X, random_state=0)
    assert found.theory_bias == 0
    assert found.bias > N_STANDARD_ERRORS * found.bias_std_error
    whole = ConsistentWeightedSampling(n_hashes=512, bits=2, t_bits=8)
    found = kernel_error(whole, X, random_state=0)
    assert abs(found.bias) < N_STANDARD_ERRORS * found.bias_std_error


def coverage(random_map, X, exact, error, n=4000):
    """How often the estimate for the first two rows of X is within `error`, and its deviation."""
    within = 0
    random_map = clone(random_map)
    for seed in range(n):
        random_map.random_state = seed
        Z = random_map.fit_transform(X)
        product = Z @ Z.T
        within += abs(product[0, 1] - exact) <= error
    return within / n, np.sqrt(0.05 * 0.95 / n)


def pair(cosine):
    """Two rows of unit length and many entries."""
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(60, 2)))
    return np.array([basis[:, 0], cosine * basis[:, 0] + np.sqrt(1 - cosine**2) * basis[:, 1]])


WORST = {
    "signs": (SignProjection(), 0.0, lambda c: 1 - np.arccos(c) / np.pi),
    "fourier": (RandomFourier(gamma=8.0), -1.0, lambda c: np.exp(-8 * (2 - 2 * c))),
    "offset": (RandomFourier(gamma=8.0, form="offset"), -1.0, lambda c: np.exp(-16 * (1 - c))),
    "count sketch": (CountSketch(), 0.999999, lambda c: c),
    "tensor sketch": (TensorSketch(degree=2), 0.999999, lambda c: c**2),
    "maclaurin": (RandomMaclaurin(degree=2), 0.999999, lambda c: c**2),
}


@pytest.mark.parametrize("name", WORST)
def test_min_components_is_enough_and_the_least(name):
    random_map, cosine, kernel = WORST[name]
    error = 0.25
    size = min_components(random_map, error)
    parameter = "n_hashes" if isinstance(random_map, SignProjection) else "n_components"
    X = pair(cosine)
    n = 800 if name == "signs" else 400
    found, std_error = coverage(
        clone(random_map).set_params(**{parameter: size}), X, kernel(cosine), error, n
    )
    # The normal distribution stands for that of some tens of components: within 3 points.
    assert found > 0.95 - 0.03 - 5 * std_error
    half = max(2, size // 4)
    found, std_error = coverage(
        clone(random_map).set_params(**{parameter: half}), X, kernel(cosine), error, n
    )
    assert found < 0.95 - 5 * std_error


def test_min_components_by_hand():
    # 1.96^2 / 4 / 0.05^2 of the worst rate 1/2.
    assert min_components(SignProjection(), 0.05) == 385
    assert min_components(SignProjection(n_hashes=7), 0.05) == 385
    assert min_components(SignProjection(), 0.05, confidence=0.99) == 664
    assert min_components(RandomFourier(), 0.05) == 1538  # 1.96^2 / 0.05^2, even
    # Chance agreements take a part of the error.
    plain = min_components(ConsistentWeightedSampling(bits=16), 0.05)
    few_bits = min_components(ConsistentWeightedSampling(bits=5), 0.05)
    assert 385 <= plain < few_bits


def test_min_components_of_rows():
    X = rows()
    worst = min_components(ConsistentWeightedSampling(bits=16), 0.05)
    found = min_components(ConsistentWeightedSampling(bits=16), 0.05, X=X[:8])
    assert 1 <= found <= worst
    longer = min_components(CountSketch(), 0.1, X=3 * X)
    assert longer == pytest.approx(81 * min_components(CountSketch(), 0.1, X=X), rel=0.01)


def test_gamma_scale_is_learnt_from_all_rows():
    X = rows()
    by_name = kernel_error(RandomFourier(gamma="scale", n_components=64), X, random_state=0)
    gamma = RandomFourier(gamma="scale").fit(X).gamma_
    by_value = kernel_error(RandomFourier(gamma=gamma, n_components=64), X, random_state=0)
    assert by_name == by_value
    assert min_components(RandomFourier(gamma="scale"), 0.1, X=X) >= 2


def test_summary():
    found = kernel_error(MAPS["cws"], rows(), random_state=0)
    assert "root mean square" in str(found)
    assert f"{found.n_pairs} pairs" in str(found)
    unknown = kernel_error(Fastfood(n_components=32, hash_dim=16), rows(), random_state=0)
    assert unknown.theory_std is None
    assert "unknown" in str(unknown)


PRODUCT_WITH_VALUES = SignProjection(n_hashes=16), RandomFourier(n_components=16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernel_error(CountSketch(), rows(), n_pairs=0), "n_pairs must be an int of"),
        (lambda: kernel_error(CountSketch(), rows(), n_seeds=1), "n_seeds must be an int of"),
        (lambda: kernel_error(CountSketch(), rows()[:1]), "X must have at least two rows, got 1"),
        (lambda: min_components(CountSketch(), 0), "error must be a finite number above 0"),
        (lambda: min_components(CountSketch(), np.nan), "error must be a finite number above 0"),
        (lambda: min_components(CountSketch(), 0.1, confidence=1), "confidence must be above 0"),
        (lambda: min_components(RandomBinning(n_bins=16), 0.05), "error must be above 0.0625"),
        (lambda: min_components(Fastfood(hash_dim=64), 0.05), "no variance formula for Fastfood"),
        (lambda: min_components(RandomFourier(n_components=0), 0.05), "n_components must be"),
        (
            lambda: min_components(RandomFourier(kernel="folded_rbf", gamma="scale"), 0.05),
            "the map must be fitted first, as its gamma is 'scale'",
        ),
        (lambda: min_components(KernelProduct(maps=PRODUCT_WITH_VALUES), 0.05), "of dense output"),
        (lambda: _variance.of_pairs(object(), None), "no variance formula for object"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_display():
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    cws = ConsistentWeightedSampling(n_hashes=32)
    display = KernelApproximationDisplay.from_estimator(cws, rows(), sizes=[8, 32], random_state=0)
    assert [error.size for error in display.errors] == [8, 32]
    assert display.errors[0].rmse > display.errors[1].rmse
    assert len(display.axes_) == 2
    assert display.axes_[0].get_xlabel() == "exact kernel"
    figure, ax = plt.subplots()
    again = display.plot(ax=ax)
    assert again.figure_ is figure
    with pytest.raises(ValueError, match="one Axes or two"):
        display.plot(ax=[ax, ax, ax])
    plt.close("all")


def test_display_of_a_product():
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    display = KernelApproximationDisplay.from_estimator(
        MAPS["product"], rows(), sizes=[16, 64], n_seeds=3, random_state=0
    )
    assert [error.size for error in display.errors] == [16, 64]
    plt.close("all")
