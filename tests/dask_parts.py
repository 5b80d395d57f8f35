"""What the tests on Dask compare with: files, codes and pairs of one machine."""

from pathlib import Path

import numpy as np
import pytest
from code_pairs import banded, some_bands

from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
    neighbors,
)
from sparsemaps.files import map_files

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
fsspec = pytest.importorskip("fsspec")

import dask.array as da  # noqa: E402

import sparsemaps.dask as sd  # noqa: E402
from sparsemaps.dask import _similar_pairs  # noqa: E402

CWS = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=0)


def on_one_machine(path, inputs, map=CWS, **options):
    map_files(map, inputs, str(path), **options)
    return Path(path).read_bytes()


def joined(parts):
    return b"".join(Path(part).read_bytes() for part in parts)


def in_blocks(codes, *chunks):
    """`codes` of one machine in blocks of so many rows."""
    array = da.from_array(codes.array, chunks=(chunks, codes.shape[1]))
    sampled = da.from_array(codes.sampled, chunks=(chunks,))
    return sd.DaskPackedCodes(array, codes.bits, codes.config, sampled=sampled, **codes._facts())


def pairs_in_parts(codes, threshold, *, hashed, part_rows=300, recall=0.95, **options):
    """The pairs that Dask finds, by tasks that sort few keys. `hashed` rows are so also where
    comparing all pairs would cost less."""
    sets, plan = _similar_pairs.make_plan(codes, threshold, recall=recall, **options)
    if hashed:
        n_agreeing = plan.known.n_hashes - plan.max_differing
        plan = plan._replace(bands=some_bands(plan.known, n_agreeing, recall))
    return _similar_pairs.arrays_of(sets, plan._replace(part_rows=part_rows))


def pairs_of_one_machine(A, threshold, *, hashed, recall=0.95, other=None, max_bucket=1000):
    """What `pairs_in_parts` finds."""
    if hashed:
        return banded(A, threshold, recall, other, max_bucket)
    return neighbors.similar_pairs(A, threshold, recall=recall, other=other, max_bucket=max_bucket)


def assert_pairs(found, expected, scheduler="sync"):
    """The pairs of Dask are those of one machine, with the same similarities."""
    i, j, similarity = dask.compute(*found, scheduler=scheduler)
    order = np.lexsort([j, i])
    for one, other in zip((i, j, similarity), expected, strict=True):
        np.testing.assert_array_equal(one[order], other, strict=True)


SAMPLED_MAPS = [
    MinHash(n_hashes=128, random_state=0),
    ConsistentWeightedSampling(n_hashes=100, t_bits=3, random_state=0),
    ConsistentWeightedSampling(n_hashes=100, bits=12, signed=True, random_state=0),
    SignProjection(n_hashes=250, random_state=0),
    SignProjection(kernel="acos_chi2", n_hashes=256, random_state=0),
    RandomBinning(n_grids=100, gamma=0.01, random_state=0),
    RandomFourier(n_components=256, gamma=0.01, random_state=0),
    RandomFourier(n_components=256, kernel="laplacian", gamma=0.01, random_state=0),
    KernelProduct(random_state=0),
    KernelProduct(
        maps=(MinHash(n_hashes=128, bits=3), RandomBinning(n_grids=128, gamma=0.003, n_bins=16)),
        random_state=0,
    ),
]
