"""Errors of kernel estimates: measured against theory, and sizes against simulation."""

import functools
import re

import numpy as np
import pytest
import scipy.sparse as sp
import theorems
from scipy import special
from sklearn.base import BaseEstimator, clone
from sklearn.preprocessing import normalize

import sparsemaps
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
    _variance,
    kernel_error,
    min_components,
)
from sparsemaps.kernels import min_max_kernel

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
    found = kernel_error(MAPS[name], rows(), n_seeds=n_seeds, random_state=0)
    assert abs(found.std - found.theory_std) < N_STANDARD_ERRORS * found.std_std_error
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
    estimates = _error.estimates(fitted, X, range(50))
    exact = _error.upper(fitted.exact_kernel(X))
    of_seeds = (estimates - exact).mean(axis=1)
    error = of_seeds.std(ddof=1) / np.sqrt(50)
    assert abs(of_seeds.mean()) > N_STANDARD_ERRORS * error
    assert abs(good.bias) < N_STANDARD_ERRORS * good.bias_std_error


def test_chance_agreements_show():
    cws = ConsistentWeightedSampling(n_hashes=2048, bits=2)
    found = kernel_error(cws, rows(), random_state=0)
    assert found.theory_bias > 0.1
    assert found.rms_bias > 5 * found.std


def narrow_rows():
    return np.random.default_rng(0).gamma(1.0, size=(40, 4))


def test_the_bias_of_samples_without_bits_of_t_shows():
    X = narrow_rows()
    cws = ConsistentWeightedSampling(n_hashes=512, bits=16)
    found = kernel_error(cws, X, random_state=0)
    assert found.zero_bit_bias > N_STANDARD_ERRORS * found.bias_std_error
    assert abs(found.other_bias) < N_STANDARD_ERRORS * found.bias_std_error
    assert found.bias == pytest.approx(found.theory_bias + found.other_bias)
    assert found.theory_bias == found.chance_bias + found.zero_bit_bias
    # The mean of the kernel of samples that are 0-bit, without any map: i* agrees.
    i, _ = clone(cws).set_params(n_hashes=2**14, random_state=1).fit(X).sample(X)
    first, second = np.triu_indices(len(X), 1)
    exact = min_max_kernel(X)[first, second]
    whole = (i[first] == i[second]).mean() - exact.mean()
    assert abs(found.zero_bit_bias - whole) < N_STANDARD_ERRORS * found.bias_std_error
    # Eight bits of t* leave 2**-8 of it.
    with_t = kernel_error(clone(cws).set_params(t_bits=8), X, random_state=0)
    assert with_t.zero_bit_bias == pytest.approx(found.zero_bit_bias / 2**8, rel=1e-3)
    assert abs(with_t.other_bias) < N_STANDARD_ERRORS * with_t.bias_std_error


def test_the_bias_of_a_product_is_that_of_both_maps():
    X = narrow_rows()
    maps = MinHash(n_hashes=256, bits=1), ConsistentWeightedSampling(n_hashes=256, bits=16)
    product = KernelProduct(maps=maps)
    found = kernel_error(product, np.where(X > 1, X, 0), n_seeds=20, random_state=0)
    assert found.chance_bias > 5 * N_STANDARD_ERRORS * found.bias_std_error
    assert found.zero_bit_bias > N_STANDARD_ERRORS * found.bias_std_error
    assert abs(found.other_bias) < N_STANDARD_ERRORS * found.bias_std_error
    assert abs(found.std - found.theory_std) < N_STANDARD_ERRORS * found.std_std_error


def test_rows_without_samples_do_not_agree_by_chance():
    X = narrow_rows()
    X[::2] = 0
    found = kernel_error(MinHash(n_hashes=64, bits=1), X, random_state=0)
    assert abs(found.other_bias) <= N_STANDARD_ERRORS * found.bias_std_error + 1e-12
    assert found.chance_bias == 0  # as rows of four columns are all the same set
    X[1::2, 0] *= np.arange(20) % 2
    found = kernel_error(MinHash(n_hashes=64, bits=1), X, random_state=0)
    assert abs(found.other_bias) <= N_STANDARD_ERRORS * found.bias_std_error
    assert found.chance_bias > 0


def test_parts_of_the_bias_are_printed_by_name():
    found = kernel_error(ConsistentWeightedSampling(bits=2), narrow_rows(), random_state=0)
    lines = {" ".join(line.split()[:-1]): line.split()[-1] for line in str(found).splitlines()}
    assert lines["of chance agreements"] == f"{found.chance_bias:+.5f}"
    assert lines["of 0-bit samples"] == f"{found.zero_bit_bias:+.5f}"
    assert f"of other causes       {found.other_bias:+.5f}" in str(found)
    signs = kernel_error(SignProjection(), narrow_rows(), random_state=0)
    assert (signs.chance_bias, signs.zero_bit_bias, signs.other_bias) == (0, 0, signs.bias)


# ---- the error bars ------------------------------------------------------------------------------


@functools.lru_cache
def runs(random_map, n_seeds, n=250):
    """What kernel_error finds for the same pairs, n times, with other seeds each time."""
    fitted, sample = _error.sample_rows(random_map, rows(8), 100, np.random.default_rng(0))
    exact, pairs = _error.exact_pairs(fitted, sample)
    errors = _error.estimates(fitted, sample, range(n * n_seeds)) - exact
    return [_error.summary(fitted, exact, pairs, part) for part in np.split(errors, n)]


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
    found = kernel_error(random_map, X, n_seeds=50, random_state=0)
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
    found = kernel_error(CountSketch(n_components=64), X, random_state=0)
    expected = kernel_error(CountSketch(n_components=64), X.astype(float), random_state=0)
    assert found == expected
    assert found == kernel_error(CountSketch(n_components=64), sp.csr_array(X), random_state=0)


# ---- sizes ---------------------------------------------------------------------------------------


def product(Z):
    """The inner product of the first two rows."""
    if not sp.issparse(Z):
        return Z[0] @ Z[1]
    cut = Z.indptr[1]
    _, one, other = np.intersect1d(Z.indices[:cut], Z.indices[cut:], return_indices=True)
    return Z.data[one] @ Z.data[cut + other]


def coverage(random_map, size, X, error, n):
    """How often the estimate for the rows of X is within `error` of the kernel."""
    resized = _error.resized(random_map, size)
    exact = clone(resized).set_params(random_state=0).fit(X).exact_kernel(X)[0, 1]
    found = np.empty(n)
    for seed in range(n):
        resized.random_state = seed
        found[seed] = product(resized.fit(X).transform(X))
    return np.mean(abs(found - exact) <= error + 1e-9)


def unit_rows(*values):
    return sp.csr_array(normalize(np.array(values)))


def coverage_pairs():
    """Pairs of rows of unit length, of one, two and many columns, near and far."""
    rng = np.random.default_rng(0)
    one, other = rng.gamma(0.5, size=(2, 30))
    few = np.zeros((4, 30))
    few[[0, 1], 3] = 1.0, 0.9
    few[2, [3, 7]] = 1.0, 0.9
    few[3, [3, 9]] = 0.2, 1.0
    return {
        "one column": sp.csr_array(few[:2]),
        "few columns": unit_rows(few[2], few[3]),
        "near": unit_rows(one, one + 0.05 * other),
        "far": unit_rows(one, other),
    }


def laplacian_density(pitch):
    return pitch * np.exp(-pitch)


CWS = ConsistentWeightedSampling
COVERED = [
    (CWS(bits=12, t_bits=8), 0.2, "any rows"),
    (CWS(bits=16), 0.9, "these rows"),
    (CWS(bits=12, t_bits=8, method="dart"), 0.3, "any rows"),
    (CWS(bits=12, t_bits=8, signed=True), 0.3, "any rows"),
    (MinHash(bits=2), 0.4, "any rows"),
    (MinHash(), 0.2, "any rows"),
    (RandomBinning(n_bins=8), 0.3, "any rows"),
    (RandomBinning(gamma="median"), 0.2, "these rows"),
    (SignProjection(), 0.2, "any rows"),
    (SignProjection(dense_output=True), 0.4, "any rows"),
    (SignProjection(kernel="acos_chi2"), 0.2, "these rows"),
    (SignProjection(distribution="rademacher"), 0.4, "these rows"),
    (KernelProduct(), 0.9, "these rows"),
    (KernelProduct(maps=(MinHash(bits=2), SignProjection())), 0.4, "any rows"),
    (KernelProduct(maps=[("a", MinHash(bits=4)), ("b", CWS(bits=12, t_bits=8))]), 0.2, "any rows"),
    (RandomFourier(), 0.2, "any rows"),
    (RandomFourier(gamma=0.01), 0.02, "any rows"),
    (RandomFourier(form="offset"), 0.3, "any rows"),
    (RandomFourier(kernel="laplacian"), 0.3, "any rows"),
    (RandomFourier(kernel="cauchy"), 0.3, "any rows"),
    (RandomFourier(kernel="matern", nu=0.5), 0.3, "any rows"),
    (RandomFourier(kernel="folded_rbf"), 0.2, "any rows"),
    (Fastfood(), 0.2, "any rows"),
    (Fastfood(gamma=0.01), 0.01, "these rows"),
    (Fastfood(transform_type="fft"), 0.2, "any rows"),
    (CountSketch(), 0.4, "any rows"),
    (CountSketch(dense_output=True), 0.4, "any rows"),
    (TensorSketch(), 0.6, "any rows"),
    (TensorSketch(degree=3, gamma=0.5, coef0=1.0, dense_output=False), 2.0, "any rows"),
    (TensorSketch(method="fft"), 0.6, "any rows"),
    (RandomMaclaurin(), 0.6, "any rows"),
    (RandomMaclaurin(kernel="exp", gamma=0.5), 0.6, "any rows"),
    (RandomMaclaurin(degree=3, coef0=1.0, h01=True), 3.0, "any rows"),
]
"""Maps, errors, and whether `min_components` answers for any rows or for given ones alone."""

REFUSED = [
    (CWS(), "above 1, the largest bias of the estimate, got 0.05.*0-bit samples it is measured"),
    (KernelProduct(), "above 1, the largest bias of the estimate"),
    (SignProjection(kernel="acos_chi2"), "only nearly for 'acos_chi2'; .* give X"),
    (SignProjection(distribution="rademacher"), "only nearly for distribution='rademacher'"),
    (Fastfood(hash_dim=64), "no variance formula for Fastfood where hash_dim shortens"),
    (Fastfood(kernel="matern", degree=3), "no variance formula for Fastfood with kernel='matern'"),
    (
        KernelProduct(maps=(SignProjection(n_hashes=16), RandomFourier(n_components=16))),
        "no variance formula for KernelProduct with a map of dense output",
    ),
    (RandomBinning(n_bins=16), "error must be above 0.0625"),
    (RandomBinning(pitch_density=laplacian_density, n_bins=16), "error must be above 0.0625"),
    (KernelProduct(maps=(KernelProduct(), MinHash())), "for the product of a KernelProduct give X"),
]
"""Maps for which there is no size for an error of 0.05 and any rows, and why."""

N_SEEDS = 120


def case_id(value):
    if not hasattr(value, "fit"):
        return None
    # Addresses of functions differ between the processes that run the tests.
    return re.sub(r"\s", "", re.sub(r"<function (\w+) at 0x\w+>", r"\1", repr(value)))


@pytest.mark.parametrize(("random_map", "error", "known"), COVERED, ids=case_id)
def test_sizes_keep_their_promise(random_map, error, known):
    """A pair is within the error as often as promised, by the size for it and that for any pair."""
    level = 0.95 - N_STANDARD_ERRORS * np.sqrt(0.95 * 0.05 / N_SEEDS)
    any_size = min_components(random_map, error) if known == "any rows" else None
    for name, X in coverage_pairs().items():
        size = min_components(random_map, error, X=X)
        assert coverage(random_map, size, X, error, N_SEEDS) >= level, name
        if any_size is not None and name in ("one column", "far"):
            unit = unit_rows(*X.toarray())
            assert coverage(random_map, any_size, unit, error, N_SEEDS) >= level, name


@pytest.mark.parametrize(("random_map", "reason"), REFUSED, ids=case_id)
def test_sizes_that_cannot_be_promised_are_refused(random_map, reason):
    with pytest.raises(ValueError, match=reason):
        min_components(random_map, 0.05)


def test_sizes_are_tested_for_every_map_and_parameter():
    tested = [case[0] for case in COVERED + REFUSED]
    public = (getattr(sparsemaps, name) for name in sparsemaps.__all__)
    maps = {value for value in public if isinstance(value, type)}
    assert {type(random_map) for random_map in tested} == maps
    sizes = {"n_components", "n_hashes", "n_grids", "random_state", "n_jobs"}
    for cls in maps:
        for name, default in cls().get_params(deep=False).items():
            values = [one.get_params(deep=False)[name] for one in tested if type(one) is cls]
            assert name in sizes or any(value != default for value in values), (cls, name)


def test_a_size_that_no_map_takes_is_refused():
    with pytest.raises(ValueError, match="n_hashes must be from 1 to"):
        min_components(SignProjection(), 1e-5)


def pair(cosine):
    """Two rows of unit length and many entries."""
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(60, 2)))
    return np.array([basis[:, 0], cosine * basis[:, 0] + np.sqrt(1 - cosine**2) * basis[:, 1]])


WORST = {
    "signs": (SignProjection(), 0.0),
    "fourier": (RandomFourier(gamma=8.0), -1.0),
    "offset": (RandomFourier(gamma=8.0, form="offset"), -1.0),
}


@pytest.mark.parametrize("name", WORST)
def test_min_components_is_enough_and_the_least(name):
    random_map, cosine = WORST[name]
    error, n = 0.25, 400
    std_error = np.sqrt(0.95 * 0.05 / n)
    size = min_components(random_map, error)
    X = sp.csr_array(pair(cosine))
    assert coverage(random_map, size, X, error, n) > 0.95 - 5 * std_error
    assert coverage(random_map, max(2, size // 4), X, error, n) < 0.95 - 5 * std_error


@pytest.mark.parametrize("random_map", [CountSketch(), TensorSketch()])
def test_sketches_of_long_rows_have_normal_errors(random_map):
    """Five times fewer components than for rows of any kind, and still enough."""
    X = unit_rows(*np.random.default_rng(0).normal(size=(1, 2000)).repeat(2, axis=0))
    error, n = 0.2, 400
    size = min_components(random_map, error, X=X)
    assert size < min_components(random_map, error) / 4
    found = coverage(random_map, size, X, error, n)
    assert found > 0.95 - 5 * np.sqrt(0.95 * 0.05 / n)


def test_min_components_by_hand():
    # 1.96^2 / 4 / 0.05^2 = 384.2 for a normal error of the worst rate, 1/2; the error of 385 bits
    # is at most 0.05 for a sum that is within 19 of 192.5: a probability of 0.9473.
    assert special.bdtr(211, 385, 0.5) - special.bdtr(173, 385, 0.5) < 0.95
    assert special.bdtr(214, 390, 0.5) - special.bdtr(175, 390, 0.5) >= 0.95
    assert min_components(SignProjection(), 0.05) == 390
    assert min_components(SignProjection(n_hashes=7), 0.05) == 390
    assert 664 <= min_components(SignProjection(), 0.05, confidence=0.99) < 1.03 * 664
    assert min_components(RandomFourier(), 0.05) == 1538  # 1.96^2 / 0.05^2, even
    # Chance agreements take a part of the error.
    plain = min_components(MinHash(bits=16), 0.05)
    few_bits = min_components(MinHash(bits=5), 0.05)
    assert 385 <= plain < few_bits
    # So do 0-bit samples, of which t_bits leave a share.
    with_t = ConsistentWeightedSampling(bits=16, t_bits=8)
    assert 385 <= min_components(with_t, 0.05) < min_components(with_t.set_params(t_bits=5), 0.05)


def test_min_components_does_not_depend_on_the_size_of_the_map():
    X = rows(6)
    for random_map in (Fastfood(), RandomFourier(), CWS(), KernelProduct()):
        sizes = {min_components(_error.resized(random_map, size), 0.3, X=X) for size in (7, 400)}
        assert len(sizes) == 1


def test_min_components_of_rows():
    X = rows()
    worst = min_components(MinHash(bits=16), 0.05)
    found = min_components(MinHash(bits=16), 0.05, X=X[:8])
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
            "the map must be fitted first, as its gamma is 'scale'",
        ),
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
