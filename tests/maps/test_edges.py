"""Rows, columns and numbers at the edges of what loops take at once, or in one way.

Each of these kills a change of the source that other tests let pass (tests/mutants).
"""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import reference
from scipy import special

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    RandomBinning,
    RandomFourier,
    TensorSketch,
    codes,
    kernels,
    neighbors,
)
from sparsemaps._input import _row_reader, _sparse
from sparsemaps._tools import _seeding

# ---- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_disorder_at_the_end_of_a_part(index_type):
    """Columns are compared 1,024 entries at a time: the first ones of a part with the last one of
    the part before."""
    columns = np.arange(5000, dtype=index_type)
    for place in (1023, 1024, 2048, 4096):
        for column in (place - 1, place - 3):  # twice, and descending
            changed = columns.copy()
            changed[place] = column
            X = sp.csr_array((np.ones(5000), changed, np.array([0, 5000], index_type)), (1, 6000))
            block = _row_reader.open_matrix(X).block(0, 1)
            np.testing.assert_array_equal(block.indices, np.unique(changed))
            assert block.values.sum() == 5000


@pytest.mark.parametrize("n_rows", [1, 2, 300])
def test_dense_rows_begin_where_the_ones_before_end(n_rows):
    X = np.random.default_rng(SEED + n_rows).integers(0, 2, (n_rows, 37)).astype(float)
    block = _row_reader.open_matrix(X).block(0, n_rows)
    np.testing.assert_array_equal(block.indptr, np.cumsum([0, *np.count_nonzero(X, axis=1)]))
    np.testing.assert_array_equal(block.indices, np.nonzero(X)[1])


def test_indptr_begins_at_0():
    X = sp.csr_array((np.ones(3), [0, 2, 1], [0, 2, 2, 3]), (3, 4))
    X.indptr = np.array([1, 2, 2, 3])
    with pytest.raises(ValueError, match="entry 0 is 1"):
        _sparse.sound_csr(X)


# ---- sketches ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [64, 65, 4096, 4097])
@pytest.mark.parametrize("n_components", [7, 65, 300, 2000])
def test_count_sketches_of_few_columns(n_columns, n_components, dtype):
    """By a table of the columns, which is made where they are few against the entries, and by
    hashing each entry."""
    X = random_csr(100, n_columns, density=0.1, dtype=dtype)
    X.data = np.round(X.data * 8) / 8  # sums are exact
    X.eliminate_zeros()
    sketch = CountSketch(n_components=n_components, random_state=1).fit(X)
    found = sketch.transform(X)
    assert found.has_canonical_format
    assert (found.data != 0).all()
    wide = X.copy()
    wide.resize(100, 2**40)
    one_by_one = CountSketch(n_components=n_components, random_state=1).fit(wide).transform(wide)
    np.testing.assert_array_equal(found.indptr, one_by_one.indptr)
    np.testing.assert_array_equal(found.indices, one_by_one.indices)
    np.testing.assert_array_equal(found.data, one_by_one.data)
    dense = CountSketch(n_components=n_components, dense_output=True, random_state=1)
    np.testing.assert_array_equal(found.toarray(), dense.fit_transform(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_odd_fourier_feature_is_that_of_a_vector_of_its_own(dtype):
    """It is the offset form's feature of the same vector and phase."""
    X = random_csr(40, 300, dtype=dtype)
    options = {"gamma": 0.1, "random_state": 0}
    odd = RandomFourier(n_components=7, **options).fit_transform(X)
    offset = RandomFourier(n_components=4, form="offset", **options).fit_transform(X)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(odd[:, 6] * np.sqrt(7), offset[:, 3] * 2, rtol=8 * eps, atol=eps)


@pytest.mark.parametrize("n_components", [2**22, 2**22 + 1, 2**23])
def test_entries_of_wide_sketches_are_sorted_by_all_their_bits(n_components):
    """The last of their 22 or 23 bits takes a pass of its own."""
    X = random_csr(20, 3000, density=0.1)
    Z = CountSketch(n_components=n_components, random_state=0).fit_transform(X)
    for first, last in pairwise(Z.indptr):
        assert (np.diff(Z.indices[first:last]) > 0).all()
    assert Z.indices.max() > 0.99 * n_components


@pytest.mark.parametrize("method", ["direct", "fft"])
@pytest.mark.parametrize("n_entries", [1, 7, 8, 30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma_scales_tensor_sketches(dtype, n_entries, method):
    """By a power of two, so exactly; of rows that are hashed one by one and eight at a time."""
    X = sp.csr_array(np.random.default_rng(SEED).normal(size=(3, n_entries)).astype(dtype))
    for degree in (1, 2, 3):
        options = {"n_components": 64, "degree": degree, "method": method, "random_state": 0}
        one = TensorSketch(**options).fit_transform(X)
        four = TensorSketch(gamma=4.0, **options).fit_transform(X)
        np.testing.assert_array_equal(four, one * dtype(2**degree))


# ---- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["icws", "levels"])
def test_signed_rows_alone_and_together(method, dtype):
    """A row has the samples of its positive and negative parts in columns of their own, whether it
    is gathered alone or with others."""
    X = random_csr(30, 200, density=0.1, dtype=dtype)
    X.data *= np.random.default_rng(SEED).choice([-1, 1], X.nnz).astype(dtype)
    dense = X.toarray()
    doubled = np.stack([np.maximum(dense, 0), np.maximum(-dense, 0)], axis=2).reshape(30, -1)
    options = {"n_hashes": 40, "method": method, "random_state": 0}
    signed = ConsistentWeightedSampling(**options, signed=True).fit(X)
    expected = ConsistentWeightedSampling(**options).fit(doubled).sample(doubled)
    for found, wanted in zip(signed.sample(X), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for row in (1, 7, 12):
        for found, wanted in zip(signed.sample(X[[row]]), expected, strict=True):
            np.testing.assert_array_equal(found[0], wanted[row])


def test_the_weights_of_subnormal_entries():
    """Rows that differ by a power of two have the same samples i* where all are subnormal, too."""
    weights = np.array([[1.0, 3.0, 0.5, 7.0, 2.0]]) * 2.0**-1060
    cws = ConsistentWeightedSampling(n_hashes=4000, random_state=0).fit(weights)
    low, high = cws.sample(weights)[0][0], cws.sample(weights * 2.0**60)[0][0]
    rates = weights[0] / weights.sum()
    for found in (low, high):
        counts = np.bincount(found, minlength=5)
        error = np.sqrt(4000 * rates * (1 - rates))
        assert (abs(counts - 4000 * rates) < 5 * error).all()
    both = np.vstack([weights, weights * 2])
    i, t = cws.sample(both)
    agree = ((i[0] == i[1]) & (t[0] == t[1])).mean()
    assert abs(agree - 0.5) < 5 * np.sqrt(0.25 / 4000)


# ---- codes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 2, 4, 8, 16])
def test_limits_of_rows_longer_than_a_run(bits):
    """Comparisons of long rows end early for rows that are too far, and for none else."""
    rng = np.random.default_rng(SEED + bits)
    A = rng.integers(0, 256, (90, 520), dtype=np.uint8)
    Q = A[:7].copy()
    for row, changes in enumerate((0, 3, 30, 100, 200, 400, 519)):
        Q[row, :changes] ^= rng.integers(1, 256, changes, dtype=np.uint8)
    counts = codes.collisions(Q, A, bits)
    for k in (1, 2, 5):
        indices, agreements = neighbors.top_k(Q, A, k, bits=bits)
        expected = np.argsort(-counts, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(agreements, np.take_along_axis(counts, expected, 1))


# ---- exact kernels -------------------------------------------------------------------------------


def test_columns_that_are_searched():
    """Of matrices so wide that no table of the columns is made."""
    X = random_csr(40, 300, density=0.1)
    columns = X.indices.astype(np.int64) * 2**33
    wide = sp.csr_array((X.data, columns + 5, X.indptr), shape=(40, 2**42))
    narrow = kernels.min_max_kernel(X, X[::3])
    np.testing.assert_array_equal(kernels.min_max_kernel(wide, wide[::3]), narrow)
    # Columns of others that lie between, before and behind all of these.
    others = sp.csr_array((X.data, columns + 4, X.indptr), shape=(40, 2**42))
    assert not kernels.min_max_kernel(wide, others).any()


def test_more_rows_than_a_batch():
    X, Y = random_csr(40, 60, density=0.3), random_csr(200, 60, density=0.3, seed=1)
    whole = kernels.min_max_kernel(X, Y)
    for row in (63, 64, 65, 128, 199):
        one = kernels.min_max_kernel(X, Y[[row]])
        np.testing.assert_array_equal(whole[:, [row]], one)


@pytest.mark.parametrize("name", ["min_max_kernel", "laplacian_kernel", "acos_kernel"])
def test_a_row_is_exactly_like_itself(name):
    X = random_csr(100, 50, density=0.5)
    X.data = np.exp(X.data)
    filled = np.diff(X.indptr) > 0
    diagonal = getattr(kernels, name)(X).diagonal()
    assert (diagonal[filled] == 1).all()
    assert np.diff(X.indptr).min() == 0


@pytest.mark.parametrize("name", ["min_max_kernel", "laplacian_kernel"])
def test_sums_that_are_too_large(name):
    X = np.array([[1.0, 2.0], [1e308, 1e308]])
    with pytest.raises(ValueError, match="the values in row 1 of X are too large"):
        getattr(kernels, name)(X)
    with pytest.raises(ValueError, match="the values in row 1 of Y are too large"):
        getattr(kernels, name)(X[:1], X)


@pytest.mark.parametrize("nu", [0.02, 0.1, 0.3, 0.8, 4.0])
def test_matern_near_and_far(nu):
    """Near and far, where the kernel is 1e-13, as exact in relation to it."""
    distances = np.array([1e-3, 0.1, 1.0, 3.0, 10.0])
    X = distances[:, None]
    s = 2 * np.sqrt(nu) * distances
    expected = 2 ** (1 - nu) / special.gamma(nu) * s**nu * special.kv(nu, s)
    with np.errstate(over="ignore"):
        found = kernels.matern_kernel(X, np.zeros((1, 1)), gamma=1.0, nu=nu)[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# ---- random binning ------------------------------------------------------------------------------


def binned(key, columns, values, n_grids, bits):
    """The codes of one row, by the definition."""
    words = reference.words(key, columns, np.arange(3 * n_grids)).reshape(len(columns), n_grids, 3)
    high = (words >> np.uint64(32)).astype(np.uint32)
    low = words.astype(np.uint32)

    def uniform(half):
        return ((half >> np.uint32(8)) | np.uint32(1)).astype(np.float32) * np.float32(2**-24)

    pitches = -reference.log_f32(uniform(high[:, :, 0]) * uniform(low[:, :, 0])).astype(float)
    shifts = ((high[:, :, 1] >> np.uint32(1)).astype(float) + 0.5) * 2.0**-31
    numbers = np.floor(values[:, None] * (1 / pitches) - shifts).astype(np.int64).view(np.uint64)
    salts = words[:, :, 2]
    hashes = reference.mix64(salts + numbers) - reference.mix64(salts - np.uint64(1))
    of_grids = reference.words(key, np.array([2**64 - 1], np.uint64), np.arange(n_grids))[0]
    return reference.mix64(hashes.sum(axis=0) + of_grids) >> np.uint64(64 - bits)


def test_binning_against_the_definition():
    """Of values so large that each bit of a pitch counts."""
    rng = np.random.default_rng(SEED)
    columns = np.sort(rng.choice(2**40, 30, replace=False))
    values = rng.normal(size=30) * 10.0 ** rng.integers(0, 7, 30)
    X = sp.csr_array((values, columns, [0, 30]), shape=(1, 2**40))
    binning = RandomBinning(n_grids=50, n_bins=2**12, random_state=4).fit(X)
    found = codes.unpack(binning.encode(X), 12, n_hashes=50)[0]
    key = _seeding.keys(4, "random_binning", 1)[0]
    np.testing.assert_array_equal(found, binned(key, columns, values, 50, 12))
