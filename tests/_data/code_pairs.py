"""Codes for tests of the search, and all their pairs."""

import numpy as np

from _data.chance import SEED
from sparsemaps import MinHash, codes
from sparsemaps.neighbors import KernelNeighbors, _bands, _hashing, _search


def random_codes(n_rows, n_bytes, seed=0, n_values=256):
    return np.random.default_rng(SEED + seed).integers(
        0, n_values, (n_rows, n_bytes), dtype=np.uint8
    )


def sorted_pairs(A, threshold, B=None):
    """All pairs, from the matrix of all."""
    other = A if B is None else B
    similarity = codes.kernel_from_collisions(codes.collisions(A, other), A)
    alike = (similarity >= threshold - 1e-12) & A.sampled[:, None] & other.sampled
    i, j = np.nonzero(np.triu(alike, 1) if B is None else alike)
    return i, j, similarity[i, j]


def some_bands(codes, n_agreeing, recall):
    """Bands of up to 12 codes, also where comparing all pairs would cost less."""
    for length in range(12, 0, -1):
        n_bands = _bands._least_bands(length, codes.n_hashes, n_agreeing, recall)
        if n_bands is not None:
            return _bands.Bands(length, n_bands)
    raise AssertionError("no bands reach the recall")


def all_of(pairs):
    return pairs


def banded_pairs(codes, other, max_differing, bands, how=_hashing.DEFAULT_RUN):
    """Pairs that share a bucket, and of which so few codes differ; and how many differ."""
    found = _hashing.pairs_by_band(codes, other, max_differing, bands, how, all_of)
    i, j = _hashing.rows_of_pairs(_hashing.union(found), 0 if other is None else len(codes))
    others = codes if other is None else other
    return i, j, _hashing.count_differing(codes, others, i, j, how.sizes)


def banded(A, threshold, recall, B=None, max_bucket=1000, n_jobs=None, sizes=_hashing.SIZES):
    """By hashing, also where comparing all pairs would cost less."""
    n_agreeing = _search.least_agreeing(A, threshold)
    bands = some_bands(A, n_agreeing, recall)
    max_differing = A.n_hashes - n_agreeing
    limits = _hashing.SearchRun(max_bucket, n_jobs, sizes)
    i, j, differing = banded_pairs(A, B, max_differing, bands, limits)
    similarity = _search.estimates_of_pairs(A, A if B is None else B, i, j, differing)
    kept = _search.reaches(similarity, threshold)
    return i[kept], j[kept], similarity[kept]


def index_of(X, **more):
    return KernelNeighbors(MinHash(n_hashes=256, random_state=SEED), **more).fit(X)


def pairs_at(threshold, n_pairs=3000, n_codes=128, seed=0):
    """Codes of which rows 2 i and 2 i + 1 agree in as many codes as the threshold needs, and in no
    other; which ones is random. Other rows agree by chance. And how many codes that is."""
    rng = np.random.default_rng(SEED + seed)
    array = rng.integers(0, 256, (n_pairs, 2, n_codes), np.uint8)
    like = codes.PackedCodes(array[:0, 0], 8, {})
    estimates = like.kernel(np.arange(n_codes + 1))
    n_agreeing = int(np.flatnonzero(estimates >= threshold - 1e-12)[0])
    agrees = rng.permuted(np.tile(np.arange(n_codes) < n_agreeing, (n_pairs, 1)), axis=1)
    differ = rng.integers(1, 256, agrees.shape, np.uint8)
    array[:, 1] = np.where(agrees, array[:, 0], array[:, 0] + differ)
    return codes.PackedCodes(array.reshape(-1, n_codes), 8, {}), n_agreeing


def assert_recall(found, wanted, recall):
    """At least this share of the pairs is found, up to the standard errors of a test; not all are,
    so that it is a search by bands which is tested."""
    error = np.sqrt(recall * (1 - recall) / wanted)
    assert recall - 5 * error <= found / wanted < 1


def packed_of(numbers, bits, sampled=None):
    """Codes of these numbers, a row for each row."""
    digits = (numbers[:, :, None] >> np.arange(bits) & 1).reshape(len(numbers), -1)
    array = np.packbits(digits.astype(np.uint8), axis=1, bitorder="little")
    return codes.PackedCodes(array, bits, {}, n_hashes=numbers.shape[1], sampled=sampled)
