"""Error bars, seeds and limits, each against something that is not the code under test.

Each of these kills a change of the source that other tests let pass (tests/mutants).
"""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import theorems
from sklearn.base import clone

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    KernelProduct,
    MinHash,
    RandomFourier,
    RandomMaclaurin,
    RandomProjection,
    SignProjection,
    TensorSketch,
    codes,
)
from sparsemaps._loops import maps as loops
from sparsemaps._tools import _blocks, _seeding
from sparsemaps.approximation import _error
from sparsemaps.neighbors import KernelNeighbors, _bands

# ---- standard errors of estimates ----------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("rate", [0.55, 0.7, 0.9])
def test_standard_error_of_sign_codes(kernel, rate):
    """The deviation of estimates from bits that agree at a known rate is what they say."""
    n = 4096
    fourier = RandomFourier(kernel=kernel, n_components=n, random_state=SEED).fit(np.ones((1, 3)))
    packed = fourier.encode(np.ones((1, 3)), packed=True)
    counts = np.random.default_rng(SEED).binomial(n, rate, 4000)
    estimates, std = packed.kernel(counts, return_std=True)
    theorems.assert_variance(estimates, (std**2).mean() * np.ones(()))


@pytest.mark.parametrize("bits", [1, 2, 8])
def test_standard_error_of_sampled_codes(bits):
    n = 1024
    counts = np.random.default_rng(SEED).binomial(n, 0.6, 4000)
    estimates, std = codes.kernel_from_collisions(counts, n, bits, return_std=True)
    theorems.assert_variance(estimates, (std**2).mean() * np.ones(()))


# ---- errors of a kernel --------------------------------------------------------------------------


def summaries(n_seeds=12, n_pairs=300, n_repeats=250, bias=0.0, common=0.0):
    """Of errors that are normal numbers: independent ones, and one that all pairs of a seed have in
    common; `bias` is that of every pair."""
    sketch = CountSketch(n_components=16, random_state=SEED).fit(np.ones((1, 2)))
    pairs = _error.exact_pairs(sketch, sp.csr_array(np.ones((2, 2))))
    rng = np.random.default_rng(SEED)
    found = []
    for _ in range(n_repeats):
        errors = rng.normal(size=(n_seeds, n_pairs)) + bias
        errors += common * rng.normal(size=(n_seeds, 1))
        found.append(_error.summary(sketch, pairs, errors))
    return found


def test_the_bias_has_the_error_bar_that_it_has():
    found = summaries(common=0.5)
    biases = [summary.bias for summary in found]
    theorems.assert_mean(biases, 0.0)
    theorems.assert_variance(biases, np.mean([summary.bias_std_error**2 for summary in found]))


def test_the_deviation_has_the_error_bar_that_it_has():
    """The sum of squares of 12 seeds: its relative variance is known, 2 / (n_pairs * 11)."""
    found = summaries()
    theorems.assert_mean([summary.std**2 for summary in found], 1.0)
    deviations = np.array([summary.std for summary in found])
    bars = np.array([summary.std_std_error for summary in found])
    theorems.assert_variance(deviations, (bars**2).mean())


@pytest.mark.parametrize("bias", [0.0, 0.3])
def test_the_bias_of_pairs_is_freed_of_noise(bias):
    """Of few seeds the squared mean of a pair's errors is larger by their variance."""
    found = np.array([summary.rms_bias**2 for summary in summaries(bias=bias)])
    if bias:
        theorems.assert_mean(found, bias**2)
    else:  # the difference is as often below 0, which counts as 0, as above
        theorems.assert_rate(found == 0, 0.5)


def test_the_root_mean_square_includes_the_bias():
    found = [summary.rmse**2 for summary in summaries(bias=2.0, n_repeats=50)]
    theorems.assert_mean(found, 5.0)


# ---- variance formulas ---------------------------------------------------------------------------


def near_and_far():
    """Rows of few columns, where all terms of a formula count."""
    X = np.random.default_rng(SEED).normal(size=(4, 3)) / 2
    X[1] = X[0] + 0.2 * X[1]
    return X


def unit_variances(random_map, X):
    fitted = random_map.fit(X)
    pairs = _error.exact_pairs(fitted, sp.csr_array(X))
    return fitted.law.moments(pairs).unit


INDEPENDENT = {
    "offset": RandomFourier(gamma=0.3, form="offset"),
    "offset, laplacian": RandomFourier(kernel="laplacian", gamma=0.2, form="offset"),
    "folded": RandomFourier(kernel="folded_rbf", gamma=0.5),
    "gaussian": RandomProjection(),
    "rademacher": RandomProjection(distribution="rademacher"),
    "maclaurin": RandomMaclaurin(degree=2, coef0=0.5),
    "maclaurin, exp": RandomMaclaurin(kernel="exp", gamma=0.5),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_variance_of_independent_components(name):
    """Each component by itself has the variance that the formula gives for one."""
    X, n = near_and_far(), 100_000
    random_map = clone(INDEPENDENT[name]).set_params(n_components=n, random_state=SEED)
    expected = unit_variances(random_map, X)
    Z = random_map.fit_transform(X) * np.sqrt(n)
    one, other = np.triu_indices(4, 1)
    theorems.assert_variance((Z[one] * Z[other]).T, expected)


@pytest.mark.parametrize("sketch", [CountSketch(), TensorSketch(degree=2, coef0=0.5)], ids=str)
def test_variance_of_sketches(sketch):
    """Up to terms of 1 / n_components**2."""
    X, n = near_and_far(), 256
    sketch = clone(sketch).set_params(n_components=n, dense_output=True)
    expected = unit_variances(sketch, X) / n
    one, other = np.triu_indices(4, 1)
    found = []
    for seed in range(1500):
        Z = sketch.set_params(random_state=SEED + seed).fit_transform(X)
        found.append((Z[one] * Z[other]).sum(axis=1))
    theorems.assert_variance(found, expected)


# ---- seeds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_generators_give_seeds_of_their_own(source):
    """Of 300 seeds below 2^31 two are the same with a probability of 2e-5, and always the same."""
    generator = source(0)
    seeds = {_seeding.draw_seed(generator) for _ in range(300)}
    assert len(seeds) == 300
    assert max(seeds) > 2**28


def test_numpys_generator_gives_seeds_of_their_own():
    state = np.random.get_state()  # noqa: NPY002 (it is what is tested)
    try:
        np.random.seed(0)  # noqa: NPY002
        assert len({_seeding.draw_seed(None) for _ in range(300)}) == 300
    finally:
        np.random.set_state(state)  # noqa: NPY002


def test_uniforms_have_all_their_bits():
    found = _seeding.uniforms(np.uint64(3), 20_000)
    theorems.assert_uniform(found)
    assert len(np.unique(found)) == len(found)
    words = np.empty(20_000, np.uint64)
    loops.random_words(3, words)
    np.testing.assert_array_equal((found * 2.0**52).astype(np.uint64), words >> np.uint64(12))


# ---- search --------------------------------------------------------------------------------------


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("n_agreeing", [30, 50, 60])
def test_bands_are_as_many_as_the_recall_needs(n_agreeing, recall):
    """And one less would not do."""
    for length in (1, 2, 4, 6):
        n_bands = _bands._least_bands(length, 64, n_agreeing, recall)
        if n_bands is None:
            most = _bands.Bands(length, 64 // length)
            assert _bands.recall_of(most, 64, n_agreeing) < recall
            continue
        assert _bands.recall_of(_bands.Bands(length, n_bands), 64, n_agreeing) >= recall
        if n_bands > 1:
            fewer = _bands.Bands(length, n_bands - 1)
            assert _bands.recall_of(fewer, 64, n_agreeing) < recall


def equal_rows():
    """Sets of which each stands twice."""
    X = random_csr(40, 2000, density=0.01)
    X.data[:] = 1
    return sp.vstack([X, X], format="csr")


def test_rows_at_the_radius_are_neighbours():
    X = equal_rows()
    filled = np.flatnonzero(np.diff(X.indptr))
    for rerank in (True, False):
        index = KernelNeighbors(MinHash(n_hashes=64, random_state=SEED), radius=0.0, rerank=rerank)
        graph = index.fit(X).radius_neighbors_graph(X)
        for row in filled:
            assert graph[[row], :].indices.tolist() == sorted([row % 40, row % 40 + 40])


def test_pairs_at_the_threshold_are_similar():
    X = equal_rows()
    filled = np.flatnonzero(np.diff(X.indptr)[:40])
    for rerank in (True, False):
        index = KernelNeighbors(MinHash(n_hashes=64, random_state=SEED), rerank=rerank).fit(X)
        i, j, similarity = index.similar_pairs(1.0)
        assert set(zip(filled, filled + 40, strict=True)) <= set(zip(i, j, strict=True))
        assert (similarity == 1).all()


# ---- blocks and products -------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
def test_every_row_has_its_own_output(n_jobs):
    """Of a matrix that is cut for threads as it is, not only where a test makes blocks small."""
    X = random_csr(2001, 300, density=0.1)[:2000]  # of which the last row is not empty
    expected = CountSketch(n_components=64, random_state=SEED).fit_transform(X)
    for dense in (False, True):
        sketch = CountSketch(n_components=64, dense_output=dense, random_state=SEED, n_jobs=n_jobs)
        found = sketch.fit_transform(X)
        np.testing.assert_array_equal(
            found if dense else found.toarray(), expected.toarray(), strict=True
        )


def test_ranges_of_sizes_cover_all_rows():
    sizes = np.random.default_rng(SEED).integers(0, 30, 200)
    for largest in (1, 29, 100, 10_000):
        ranges = list(_blocks.cut_by_size(sizes, largest))
        assert [row for first, last in ranges for row in range(first, last)] == list(range(200))
        for first, last in ranges:
            assert last - first == 1 or sizes[first:last].sum() <= largest


def test_wide_csr_output_has_wide_indices():
    X = sp.csr_array(([0.5], [2**40], [0, 1]), shape=(1, 2**41))
    Z = RandomMaclaurin(n_components=8, h01=True, coef0=1.0, random_state=SEED).fit_transform(X)
    assert Z.indices.dtype == np.int64
    assert Z.indices[-1] == 1 + 8 + 2**40


def test_products_without_samples_of_the_second_map():
    """Rows of stored zeros: MinHash has no sample of them, signs have; whichever map is first."""
    X = sp.csr_array((np.array([0.0, 1.0]), np.array([3, 3]), np.array([0, 1, 2])), shape=(2, 5))
    sampled, signs = MinHash(n_hashes=20), SignProjection(n_hashes=20)
    for maps in ((sampled, signs), (signs, sampled)):
        product = KernelProduct(maps=maps, random_state=SEED).fit(X)
        Z = product.transform(X)
        assert np.diff(Z.indptr).tolist() == [0, 20]
        assert product.encode(X, packed=True).sampled.tolist() == [False, True]


def test_rows_of_products_are_those_of_each_row_alone():
    """Also behind rows that have no sample, of which the other map has features."""
    X = random_csr(12, 60, density=0.1)
    maps = ConsistentWeightedSampling(n_hashes=16), RandomFourier(n_components=16, gamma=0.1)
    product = KernelProduct(maps=maps, random_state=SEED).fit(X)
    Z = product.transform(X).toarray()
    assert not Z[[0, 6, 11]].any()
    for row in range(12):
        np.testing.assert_array_equal(product.transform(X[[row]]).toarray()[0], Z[row])
