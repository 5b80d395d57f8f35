"""An index keeps the sizes of sets, whatever happens to its rows."""

import pickle

import numpy as np
import pytest
from _data.index_rows import THRESHOLD, A, X, new_index

from sparsemaps import ConsistentWeightedSampling, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._packed import with_rows
from sparsemaps.neighbors import KernelNeighbors

SIZES = A.sizes


@pytest.mark.parametrize("mmap_mode", ["r", None])
@pytest.mark.parametrize("radius", [None, 1 - THRESHOLD])
def test_sizes_of_rows_that_are_added_and_saved(tmp_path, radius, mmap_mode):
    index = new_index(radius=radius).fit(X[:1500])
    np.testing.assert_array_equal(index.codes_.sizes, SIZES[:1500])
    index.partial_fit(X[1500:1600]).partial_fit(X[1600:4000])
    np.testing.assert_array_equal(index.codes_.sizes, SIZES[:4000])
    index.save(tmp_path / "index.npy")
    np.testing.assert_array_equal(PackedCodes.load(tmp_path / "index.npy").sizes, SIZES[:4000])
    loaded = KernelNeighbors.load(tmp_path / "index.npy", mmap_mode=mmap_mode)
    np.testing.assert_array_equal(loaded.codes_.sizes, SIZES[:4000])
    loaded.partial_fit(X[4000:])
    np.testing.assert_array_equal(loaded.codes_.sizes, SIZES)
    loaded.save(tmp_path / "again.npy")
    again = KernelNeighbors.load(tmp_path / "again.npy")
    np.testing.assert_array_equal(again.codes_.sizes, SIZES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).codes_.sizes, SIZES)


@pytest.mark.parametrize("step", [1, 77, 6000])
@pytest.mark.parametrize("n_rows", [300, 4000])
def test_sizes_of_new_rows(n_rows, step):
    """By comparing all rows, and by tables."""
    index = new_index(radius=1 - THRESHOLD)
    ends = range(0, n_rows if step > 1 else 300, step)
    parts = [X[start : min(start + step, n_rows)] for start in ends]
    new = np.concatenate([index.insert_new(part, threshold=THRESHOLD) for part in parts])
    assert 0 < new.sum() < len(new)
    np.testing.assert_array_equal(index.codes_.sizes, SIZES[: len(new)][new])


def test_contained_pairs_of_an_index(tmp_path):
    index = new_index().fit(X[:500])
    index.partial_fit(X[500:1000]).remove([3]).save(tmp_path / "index.npy")
    loaded = KernelNeighbors.load(tmp_path / "index.npy").codes_
    counted = A.sampled[:1000].copy()
    counted[3] = False
    expected = neighbors.contained_pairs(with_rows(A[:1000], A.array[:1000], counted, SIZES[:1000]),
                                         0.9, recall=1)  # fmt: skip
    found = neighbors.contained_pairs(loaded, 0.9, recall=1)
    assert len(found[0]) > 100
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_maps_without_sizes(tmp_path):
    index = KernelNeighbors(ConsistentWeightedSampling(random_state=0)).fit(X[:5])
    index.partial_fit(X[5:9]).save(tmp_path / "index.npy")
    assert KernelNeighbors.load(tmp_path / "index.npy").codes_.sizes is None
