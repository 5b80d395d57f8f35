"""Clusters of pairs on Dask are those of one machine, whatever the blocks are."""

import tracemalloc

import numpy as np
import pytest

from sparsemaps import MinHash, neighbors
from sparsemaps.neighbors import _clusters

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
sd = pytest.importorskip("sparsemaps.dask")
_components = pytest.importorskip("sparsemaps.dask._components")


def pairs(n, n_pairs, seed=0):
    return np.random.default_rng(seed).integers(0, n, (2, n_pairs))


@pytest.mark.parametrize("chunks", [1, 7, 40, 1000])
@pytest.mark.parametrize("n_pairs", [1, 40, 150])
def test_the_same_numbers(n_pairs, chunks):
    i, j = pairs(200, n_pairs)
    expected = neighbors.clusters(i, j, 200)
    found = sd.clusters(*(da.from_array(rows, chunks=chunks) for rows in (i, j)), 200)
    assert found.shape == (200,)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found.compute(scheduler="synchronous"), expected)


def test_blocks_of_unknown_lengths_and_no_pairs():
    i, j = (da.from_array(rows, chunks=10) for rows in pairs(50, 60))
    kept = i < 20
    expected = neighbors.clusters(i[kept].compute(), j[kept].compute(), 50)
    np.testing.assert_array_equal(sd.clusters(i[kept], j[kept], 50).compute(), expected)
    none = i < 0
    assert sd.clusters(i[none], j[none], 50).compute().tolist() == list(range(50))
    empty = da.from_array(np.empty(0, np.int64))
    assert sd.clusters(empty, empty, 3).compute().tolist() == [0, 1, 2]
    assert sd.clusters(empty, empty, 0).compute().tolist() == []


def test_of_similar_pairs():
    X = np.random.default_rng(0).integers(0, 2, (600, 40))
    X[300:] = X[np.random.default_rng(1).integers(0, 300, 300)]
    A = MinHash(n_hashes=64, random_state=0).fit(X).encode(X, packed=True)
    i, j, _ = neighbors.similar_pairs(A, 0.99)
    blocks = da.from_array(A.array, chunks=(100, 64))
    found = sd.similar_pairs(sd.DaskPackedCodes(blocks, 8, A.config), 0.99)
    numbers = sd.clusters(found[0], found[1], 600).compute()
    np.testing.assert_array_equal(numbers, neighbors.clusters(i, j, 600))


@pytest.mark.parametrize("n_blocks", [1, 2, 7])
@pytest.mark.parametrize("n_pairs", [0, 1, 30, 60, 400, 900, 5000])
def test_forests(n_pairs, n_blocks):
    """They take at most 4 bytes a row and 8 a pair, and have the components of all pairs; their
    arrays may be read-only, and stay as they are."""
    n = 2000
    i, j = pairs(n, n_pairs)
    expected = neighbors.clusters(i, j, n)
    blocks = zip(*(np.array_split(rows, n_blocks) for rows in (i, j)), strict=True)
    forests = [_components._forest(*block, n) for block in blocks]
    while len(forests) > 1:
        for forest in forests:
            forest.flags.writeable = False
        forests = [_components._merged(forests[k : k + 2], n) for k in range(0, len(forests), 2)]
    (forest,) = forests
    assert forest.nbytes <= min(8 * n_pairs, 4 * n) or forest.nbytes == 4 * n <= 16 * n_pairs
    forest.flags.writeable = False
    np.testing.assert_array_equal(_components._numbers(forests, n), expected)
    one, other = _components.pairs_of(forest)
    assert len(one) < n
    np.testing.assert_array_equal(neighbors.clusters(one, other, n), expected)


def peak_of(function, *arguments):
    tracemalloc.start()
    found = function(*arguments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak, found


def test_memory_of_forests(monkeypatch):
    """That of few pairs does not depend on the number of rows. Otherwise the result of a merger
    takes 4 bytes a row, and numbers 8."""
    monkeypatch.setattr(_clusters, "_STEP", 1000)
    n = 10**8
    i, j = pairs(n, 1000)
    peak, forest = peak_of(_components._forest, i, j, n)
    assert peak < 1e6
    peak, forest = peak_of(_components._merged, [forest, forest], n)
    assert peak < 1e6
    assert set(zip(*_components.pairs_of(forest), strict=True)) <= set(zip(i, j, strict=True))

    n = 200_000
    forests = [_components._forest(*pairs(n, n, seed), n) for seed in range(2)]
    peak, forest = peak_of(_components._merged, forests, n)
    assert peak < 4 * n + 1e5
    peak, numbers = peak_of(_components._numbers, [forest], n)
    assert peak < 12 * n + 1e5
    i, j = np.concatenate([pairs(n, n, seed) for seed in range(2)], axis=1)
    np.testing.assert_array_equal(numbers, neighbors.clusters(i, j, n))


def test_bad_input():
    good = da.from_array(np.arange(4), chunks=2)
    for i, j, n, message in (
        (good, good, -1, "n must be"),
        (np.arange(4), good, 9, "i must be a one-dimensional Dask array of integers"),
        (good, good.astype(float), 9, "j must be a one-dimensional Dask array of integers"),
        (good.reshape(2, 2), good, 9, "i must be a one-dimensional Dask array of integers"),
        (good, good.rechunk(4), 9, "i and j must be in the same blocks, got 2 and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            sd.clusters(i, j, n)
    with pytest.raises(ValueError, match="i must be from 0 to n - 1 = 2, got 3"):
        sd.clusters(good, good, 3).compute()
    with pytest.raises(ValueError, match="i and j must have one length, got 2 and 1"):
        sd.clusters(good, good[[0, 2, 3]].rechunk(((1, 2),)), 9).compute()
