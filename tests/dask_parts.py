"""What the tests on Dask compare with: files, codes and pairs of one machine."""

from pathlib import Path

import numpy as np
import pytest

from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
)
from sparsemaps.files import map_files

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
fsspec = pytest.importorskip("fsspec")

import dask.array as da  # noqa: E402

import sparsemaps.dask as sd  # noqa: E402

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
    return sd.PackedCodes(array, codes.bits, codes.config, sampled=sampled, **codes._facts())


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
