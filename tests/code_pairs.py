"""Codes for tests of the search, and all their pairs."""

import numpy as np

from sparsemaps import MinHash, codes
from sparsemaps.neighbors import KernelNeighbors


def random_codes(n_rows, n_bytes, seed=0, n_values=256):
    return np.random.default_rng(seed).integers(0, n_values, (n_rows, n_bytes), dtype=np.uint8)


def sorted_pairs(A, threshold, B=None):
    """All pairs, from the matrix of all."""
    other = A if B is None else B
    similarity = codes.kernel_from_collisions(codes.collisions(A, other), A)
    alike = (similarity >= threshold - 1e-12) & A.sampled[:, None] & other.sampled
    i, j = np.nonzero(np.triu(alike, 1) if B is None else alike)
    return i, j, similarity[i, j]


def index_of(X, **more):
    return KernelNeighbors(MinHash(n_hashes=256, random_state=0), **more).fit(X)
