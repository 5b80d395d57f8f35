"""The count sketch keeps inner products, with the published variance."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.rows import random_csr
from _oracles import reference, theorems

from sparsemaps import CountSketch
from sparsemaps._tools import _seeding

N_SEEDS = 500
N_COMPONENTS = 16
N_ENTRIES = 12

COLUMNS = theorems.structured_columns(N_ENTRIES) | {
    "arithmetic 16": 16 * np.arange(N_ENTRIES),
    "arithmetic 1023": 5 + 1023 * np.arange(N_ENTRIES),
    "d = 2^40": 2**40 - 1 - 2**36 * np.arange(N_ENTRIES)[::-1] // N_ENTRIES,
}


def pairs(columns):
    """Rows whose pairs have inner products of both signs, zero and large."""
    rng = np.random.default_rng(SEED)
    values = rng.normal(size=(4, N_ENTRIES))
    values[1] = values[0] + 0.3 * values[1]
    values[2, ::2] = 0
    values[3] = 1
    indices = np.tile(columns, 4)
    indptr = np.arange(5) * N_ENTRIES
    return sp.csr_array((values.ravel(), indices, indptr), shape=(4, int(columns[-1]) + 1)), values


def real_map(X, values, seed):
    Z = CountSketch(n_components=N_COMPONENTS, dense_output=True, random_state=SEED + seed)
    return Z.fit_transform(X)


def estimates(sketch, columns):
    X, values = pairs(columns)
    one, other = np.triu_indices(4)
    Z = np.stack([sketch(X, values, seed) for seed in range(N_SEEDS)])
    exact = CountSketch().fit(values).exact_kernel(values)[one, other]
    return (Z[:, one] * Z[:, other]).sum(axis=2), exact, values[one], values[other]


def assert_theorem(sketch, columns):
    """E<Cx, Cy> = <x, y>, and the variance of [P 3.1]."""
    found, exact, x, y = estimates(sketch, columns)
    both = ((x * y) ** 2).sum(axis=1)
    variance = ((x**2).sum(axis=1) * (y**2).sum(axis=1) + exact**2 - 2 * both) / N_COMPONENTS
    theorems.assert_mean(found, exact)
    theorems.assert_variance(found, variance, heavy=True)


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS.keys())
def test_theorem(columns):
    assert_theorem(real_map, columns)


def hashed(values, seed, change):
    """A sketch by fully random hashes, after `change` has had its way with them."""
    rng = np.random.default_rng(SEED + seed)
    buckets = rng.integers(0, N_COMPONENTS, N_ENTRIES)
    signs = rng.choice([-1.0, 1.0], N_ENTRIES)
    buckets, signs, scale = change(buckets, signs)
    Z = np.zeros((len(values), N_COMPONENTS))
    for bucket, sign, column in zip(buckets, signs, values.T, strict=True):
        Z[:, bucket] += scale * sign * column
    return Z


MUTANTS = {
    "all zeros": lambda h, s: (h, s, 0.0),
    "scaled": lambda h, s: (h, s, 1.1),
    "no sign": lambda h, s: (h, np.abs(s), 1.0),
    "sign from the bucket": lambda h, s: (h, 1.0 - 2.0 * (h % 2), 1.0),
    "half the buckets": lambda h, s: (h // 2, s, 1.0),
    "neighbours share a hash": lambda h, s: (h[np.arange(N_ENTRIES) // 2], s, 1.0),
}


def test_random_hashes_pass():
    assert_theorem(lambda X, v, seed: hashed(v, seed, lambda h, s: (h, s, 1.0)), COLUMNS["random"])


@pytest.mark.parametrize("change", MUTANTS.values(), ids=MUTANTS.keys())
def test_mutants_are_rejected(change):
    with pytest.raises(AssertionError):
        assert_theorem(lambda X, v, seed: hashed(v, seed, change), COLUMNS["random"])


def test_error_shrinks():
    """The error falls as 1 / sqrt(n_components)."""
    X, values = pairs(COLUMNS["random"])
    exact = values[0] @ values[1]

    def error(n_components):
        found = []
        for seed in range(400):
            sketch = CountSketch(
                n_components=n_components, dense_output=True, random_state=SEED + seed
            )
            Z = sketch.fit_transform(X)
            found.append(Z[0] @ Z[1] - exact)
        return np.sqrt(np.mean(np.square(found)))

    assert 2.5 < error(16) / error(256) < 6.5  # 4 expected; some 10 % of sampling error


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [1, 2, 7, 64, 1000, 2**31 - 1])
def test_against_reference(dtype, n_components):
    rng = np.random.default_rng(SEED)
    key = _seeding.keys(SEED + 3, "count_sketch", 3)
    rows = [np.sort(rng.choice(2**45, n, replace=False)) for n in (0, 1, 5, 300, 30)]
    indptr = np.cumsum([0] + [len(row) for row in rows])
    values = rng.normal(size=indptr[-1]).astype(dtype)
    X = sp.csr_array((values, np.concatenate(rows), indptr), shape=(len(rows), 2**45))
    Z = CountSketch(n_components=n_components, random_state=SEED + 3).fit_transform(X)
    assert Z.has_canonical_format
    for row, columns in enumerate(rows):
        buckets, _ = reference.hashes(key, columns, n_components)
        present = np.unique(buckets)
        expected = (
            reference.count_sketch(
                key, columns, values[indptr[row] : indptr[row + 1]], n_components
            )[present]
            if n_components < 10**6
            else None
        )
        if expected is not None:
            np.testing.assert_array_equal(Z[[row]].toarray()[0, present], expected, strict=True)
        assert np.isin(Z[[row]].indices, present).all()


@pytest.mark.parametrize("n_components", [3, 40, 4096])
def test_dense_and_sparse_agree(n_components):
    X = random_csr(50, 500, density=0.1)
    sparse = CountSketch(n_components=n_components, random_state=SEED + 1).fit_transform(X)
    dense = CountSketch(n_components=n_components, dense_output=True, random_state=SEED + 1)
    np.testing.assert_array_equal(sparse.toarray(), dense.fit_transform(X))
    assert sparse.nnz <= X.nnz
    assert (sparse.data != 0).all()


def test_sums_that_cancel_are_not_stored():
    X = sp.csr_array(np.ones((1, 2000)))
    for n_components in (2, 2**20):
        Z = CountSketch(n_components=n_components, random_state=SEED).fit_transform(X)
        assert (Z.data != 0).all()
        assert Z.has_canonical_format


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be from 1 to 2147483647, got 0"),
        ({"n_components": 2**31}, "n_components must be from 1 to 2147483647, got 2147483648"),
        ({"n_components": "8"}, "n_components must be an integer"),
        ({"n_components": True}, "n_components must be an integer"),
        ({"dense_output": "yes"}, "dense_output must be True or False"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        CountSketch(**parameters).fit(np.ones((2, 4)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_dense_input_takes_little_memory_beside_it(n_jobs):
    X = np.zeros((8192, 2048))
    X[::128, 7] = 1
    sketch = CountSketch(n_components=64, random_state=SEED, n_jobs=n_jobs).fit(X[:1])
    tracemalloc.start()
    try:
        Z = sketch.transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert Z.nnz == 64
    assert peak < X.size / 2  # bytes; a copy of X is 8 times its size, and one of bool as large
