"""Errors of kernel estimates: measured against theory."""

import functools

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.close_rows import rows
from _oracles import theorems
from sklearn.base import BaseEstimator, clone

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
)
from sparsemaps.approximation import (
    KernelApproximationDisplay,
    _error,
    kernel_error,
    min_components,
)
from sparsemaps.kernels import min_max_kernel
from sparsemaps.laws._law import Law

N_STANDARD_ERRORS = theorems.N_STANDARD_ERRORS

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
    "paired, odd": RandomFourier(n_components=5, gamma=0.7),
    "fastfood": Fastfood(n_components=128, gamma=0.7),
    "fastfood, odd": Fastfood(n_components=33, gamma=0.7),
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
    found = kernel_error(MAPS[name], rows(), n_seeds=n_seeds, random_state=SEED)
    assert abs(found.std - found.theory_std) < N_STANDARD_ERRORS * found.std_std_error
    assert abs(found.bias - found.theory_bias) < N_STANDARD_ERRORS * found.bias_std_error + 1e-12


def test_minhash_is_at_most_as_variable_as_independent_samples():
    found = kernel_error(MinHash(n_hashes=64, bits=16), rows(), n_seeds=50, random_state=SEED)
    assert found.std - found.theory_std < N_STANDARD_ERRORS * found.std_std_error
    assert abs(found.bias - found.theory_bias) < N_STANDARD_ERRORS * found.bias_std_error


def test_a_wrong_map_has_a_bias():
    X = rows()
    good = kernel_error(CountSketch(n_components=1024), X, n_seeds=50, random_state=SEED)
    wrong = Scaled(CountSketch(n_components=1024))
    fitted = clone(wrong).set_params(random_state=SEED).fit(X)
    estimates = _error.estimates_by_seed(fitted, X, range(50))
    exact = _error.upper(fitted.exact_kernel(X))
    of_seeds = (estimates - exact).mean(axis=1)
    error = of_seeds.std(ddof=1) / np.sqrt(50)
    assert abs(of_seeds.mean()) > N_STANDARD_ERRORS * error
    assert abs(good.bias) < N_STANDARD_ERRORS * good.bias_std_error


def test_chance_agreements_show():
    cws = ConsistentWeightedSampling(n_hashes=2048, bits=2)
    found = kernel_error(cws, rows(), random_state=SEED)
    assert found.theory_bias > 0.1
    assert found.rms_bias > 5 * found.std


def narrow_rows():
    return np.random.default_rng(SEED).gamma(1.0, size=(40, 4))


def test_the_bias_of_samples_without_bits_of_t_shows():
    X = narrow_rows()
    cws = ConsistentWeightedSampling(n_hashes=512, bits=16)
    found = kernel_error(cws, X, random_state=SEED)
    assert found.zero_bit_bias > N_STANDARD_ERRORS * found.bias_std_error
    assert abs(found.other_bias) < N_STANDARD_ERRORS * found.bias_std_error
    assert found.bias == pytest.approx(found.theory_bias + found.other_bias)
    assert found.theory_bias == found.chance_bias + found.zero_bit_bias
    # The mean of the kernel of samples that are 0-bit, without any map: i* agrees.
    i, _ = clone(cws).set_params(n_hashes=2**14, random_state=SEED + 1).fit(X).sample(X)
    first, second = np.triu_indices(len(X), 1)
    exact = min_max_kernel(X)[first, second]
    whole = (i[first] == i[second]).mean() - exact.mean()
    assert abs(found.zero_bit_bias - whole) < N_STANDARD_ERRORS * found.bias_std_error
    # Eight bits of t* leave 2**-8 of it.
    with_t = kernel_error(clone(cws).set_params(t_bits=8), X, random_state=SEED)
    assert with_t.zero_bit_bias == pytest.approx(found.zero_bit_bias / 2**8, rel=1e-3)
    assert abs(with_t.other_bias) < N_STANDARD_ERRORS * with_t.bias_std_error


def test_the_bias_of_a_product_is_that_of_both_maps():
    X = narrow_rows()
    maps = MinHash(n_hashes=256, bits=1), ConsistentWeightedSampling(n_hashes=256, bits=16)
    product = KernelProduct(maps=maps)
    found = kernel_error(product, np.where(X > 1, X, 0), n_seeds=20, random_state=SEED)
    assert found.chance_bias > 5 * N_STANDARD_ERRORS * found.bias_std_error
    assert found.zero_bit_bias > N_STANDARD_ERRORS * found.bias_std_error
    assert abs(found.other_bias) < N_STANDARD_ERRORS * found.bias_std_error
    assert abs(found.std - found.theory_std) < N_STANDARD_ERRORS * found.std_std_error


def test_rows_without_samples_do_not_agree_by_chance():
    X = narrow_rows()
    X[::2] = 0
    found = kernel_error(MinHash(n_hashes=64, bits=1), X, random_state=SEED)
    assert abs(found.other_bias) <= N_STANDARD_ERRORS * found.bias_std_error + 1e-12
    assert found.chance_bias == 0  # as rows of four columns are all the same set
    X[1::2, 0] *= np.arange(20) % 2
    found = kernel_error(MinHash(n_hashes=64, bits=1), X, random_state=SEED)
    assert abs(found.other_bias) <= N_STANDARD_ERRORS * found.bias_std_error
    assert found.chance_bias > 0


def test_parts_of_the_bias_are_printed_by_name():
    found = kernel_error(ConsistentWeightedSampling(bits=2), narrow_rows(), random_state=SEED)
    lines = {" ".join(line.split()[:-1]): line.split()[-1] for line in str(found).splitlines()}
    assert lines["of chance agreements"] == f"{found.chance_bias:+.5f}"
    assert lines["of 0-bit samples"] == f"{found.zero_bit_bias:+.5f}"
    assert f"of other causes       {found.other_bias:+.5f}" in str(found)
    signs = kernel_error(SignProjection(), narrow_rows(), random_state=SEED)
    assert (signs.chance_bias, signs.zero_bit_bias, signs.other_bias) == (0, 0, signs.bias)


# ---- the error bars ------------------------------------------------------------------------------


@functools.lru_cache
def runs(random_map, n_seeds, n=250):
    """What kernel_error finds for the same pairs, n times, with other seeds each time."""
    fitted, sample = _error.sample_rows(random_map, rows(8), 100, np.random.default_rng(SEED))
    pairs = _error.exact_pairs(fitted, sample)
    errors = _error.estimates_by_seed(fitted, sample, range(n * n_seeds)) - pairs.kernel
    return [_error.summary(fitted, pairs, part) for part in np.split(errors, n)]


def assert_error_bars(name, found, factor=1.0):
    """The mean square of the error bars, times a factor, is the variance of the values."""
    values = np.array([getattr(one, name) for one in found])
    bars = factor * np.array([getattr(one, f"{name}_std_error") for one in found])
    theorems.assert_mean((values - values.mean()) ** 2 - bars**2, 0.0)


ERROR_BARS = [CountSketch(n_components=32), MinHash(n_hashes=32, bits=2)]


@pytest.mark.parametrize("name", ["bias", "std"])
@pytest.mark.parametrize("random_map", ERROR_BARS, ids=["sketch", "codes"])
def test_error_bars_are_the_spread_of_repeated_runs(random_map, name):
    found = runs(random_map, n_seeds=10)
    assert_error_bars(name, found)
    for factor in (0.5, 2):
        with pytest.raises(AssertionError):
            assert_error_bars(name, found, factor)


def test_rms_bias_has_no_part_of_the_deviation():
    """The bias of 3 bits is (1 - J) / 8 by formula, less than the deviation of means of four."""
    X = rows(8)
    exact = MinHash().fit(X).exact_kernel(X)[np.triu_indices(8, 1)]
    found = runs(MinHash(n_hashes=32, bits=3), n_seeds=4)
    theorems.assert_mean([one.rms_bias**2 for one in found], np.mean(((1 - exact) / 8) ** 2))


# ---- wide rows, and rows of callers --------------------------------------------------------------


@pytest.mark.parametrize("width", [2**38, 2**62])
@pytest.mark.parametrize(
    "random_map",
    [
        CountSketch(n_components=32),
        ConsistentWeightedSampling(n_hashes=32, bits=16, t_bits=8),
        RandomFourier(n_components=32),
        RandomMaclaurin(n_components=32, h01=True, coef0=1.0),
        KernelProduct(maps=(MinHash(n_hashes=32), SignProjection(n_hashes=32))),
    ],
)
def test_memory_does_not_grow_with_the_width(random_map, width):
    columns = [1, width - 1, 5, width - 1, 7, 5]
    X = sp.csr_array((np.ones(6), columns, [0, 2, 4, 6]), shape=(3, width))
    found = kernel_error(random_map, X, n_seeds=50, random_state=SEED)
    assert abs(found.other_bias) < N_STANDARD_ERRORS * found.bias_std_error + 1e-12
    assert min_components(random_map, 0.5, X=X) >= 1


class ChangesItsRows(CountSketch):
    """Another thread that changes the caller's matrix after it has been checked."""

    def fit(self, X, y=None):
        super().fit(X)
        X.indices[0] = 10**6
        return self


def test_columns_that_change_after_the_check():
    with pytest.raises(ValueError, match="X has row 0, column 1000000; allowed are"):
        kernel_error(ChangesItsRows(), rows())


def test_small_integers_do_not_overflow():
    X = (100 * rows(6).toarray()).astype(np.int8)
    found = kernel_error(CountSketch(n_components=64), X, random_state=SEED)
    expected = kernel_error(CountSketch(n_components=64), X.astype(float), random_state=SEED)
    assert found == expected
    assert found == kernel_error(CountSketch(n_components=64), sp.csr_array(X), random_state=SEED)


# ---- results -------------------------------------------------------------------------------------


def test_gamma_scale_is_learnt_from_all_rows():
    X = rows()
    by_name = kernel_error(RandomFourier(gamma="scale", n_components=64), X, random_state=SEED)
    gamma = RandomFourier(gamma="scale").fit(X).gamma_
    by_value = kernel_error(RandomFourier(gamma=gamma, n_components=64), X, random_state=SEED)
    assert by_name == by_value
    assert min_components(RandomFourier(gamma="scale"), 0.1, X=X) >= 2


def test_summary():
    found = kernel_error(MAPS["cws"], rows(), random_state=SEED)
    assert "root mean square" in str(found)
    assert f"{found.n_pairs} pairs" in str(found)
    unknown = kernel_error(Fastfood(n_components=32, hash_dim=16), rows(), random_state=SEED)
    assert unknown.theory_std is None
    assert "unknown" in str(unknown)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernel_error(CountSketch(), rows(), n_pairs=0), "n_pairs must be an int of"),
        (lambda: kernel_error(CountSketch(), rows(), n_seeds=1), "n_seeds must be an int of"),
        (lambda: kernel_error(CountSketch(), rows()[:1]), "X must have at least two rows, got 1"),
        (lambda: min_components(CountSketch(), 0), "error must be a finite number above 0"),
        (lambda: min_components(CountSketch(), np.nan), "error must be a finite number above 0"),
        (lambda: min_components(CountSketch(), 0.1, confidence=1), "confidence must be above 0"),
        (lambda: min_components(RandomFourier(n_components=0), 0.05), "n_components must be"),
        (
            lambda: min_components(RandomFourier(kernel="folded_rbf", gamma="scale"), 0.05),
            "the map must be fitted first, because its gamma is 'scale'",
        ),
        (lambda: Law.moments(MinHash().law, None), "JaccardLaw has no variance formula"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_display():
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    cws = ConsistentWeightedSampling(n_hashes=32)
    display = KernelApproximationDisplay.from_estimator(
        cws, rows(), sizes=[8, 32], random_state=SEED
    )
    assert [error.size for error in display.errors] == [8, 32]
    assert display.errors[0].rmse > display.errors[1].rmse
    assert len(display.axes_) == 2
    assert display.axes_[0].get_xlabel() == "exact kernel"
    figure, ax = plt.subplots()
    again = display.plot(ax=ax)
    assert again.figure_ is figure
    for axes in ([ax], [ax, ax, ax]):
        with pytest.raises(ValueError, match="one Axes or two"):
            display.plot(ax=axes)
    plt.close("all")


def test_display_of_its_own_sizes_and_without_theory():
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    X, how = rows(6), {"n_seeds": 2, "random_state": 0}
    for features, n_curves in ((CountSketch(n_components=64), 2), (Fastfood(hash_dim=16), 1)):
        features.set_params(n_components=64)
        display = KernelApproximationDisplay.from_estimator(features, X, **how)
        assert [error.size for error in display.errors] == [4, 8, 16, 32, 64]
        assert len(display.axes_[1].lines) == n_curves
    plt.close("all")


def test_display_of_a_product():
    pytest.importorskip("matplotlib").use("agg")
    import matplotlib.pyplot as plt

    display = KernelApproximationDisplay.from_estimator(
        MAPS["product"], rows(), sizes=[16, 64], n_seeds=3, random_state=SEED
    )
    assert [error.size for error in display.errors] == [16, 64]
    plt.close("all")
