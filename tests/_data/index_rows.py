"""Sets of which many are nearly copies, for tests of an index that is kept."""

import numpy as np
import scipy.sparse as sp

from _data.chance import SEED
from _data.code_pairs import sorted_pairs
from sparsemaps import MinHash
from sparsemaps.neighbors import KernelNeighbors

N_HASHES = 64
THRESHOLD = 0.75


def sets(n_rows, seed=0, n_members=30, width=10**6):
    """Sets of which many are changed copies of others, and a few are empty."""
    rng = np.random.default_rng(SEED + seed)
    rows = []
    for row in range(n_rows):
        members = rng.integers(0, width, n_members)
        if row and rng.random() < 0.5:
            members = rows[rng.integers(max(0, row - 50), row)].copy()
            changed = rng.random(len(members)) < rng.choice([0, 0.03, 0.2])
            members[changed] = rng.integers(0, width, changed.sum())
        rows.append(members if rng.random() > 0.01 else members[:0])
    indptr = np.cumsum([0] + [len(row) for row in rows])
    return sp.csr_array((np.ones(indptr[-1]), np.concatenate(rows), indptr), (n_rows, width))


X = sets(6000)
MAP = MinHash(n_hashes=N_HASHES, random_state=SEED)
A = MAP.fit(X).encode(X, packed=True)


def new_index(**more):
    return KernelNeighbors(MinHash(n_hashes=N_HASHES, random_state=SEED), **more)


def pairs_of(graph):
    graph = graph.tocoo()
    pairs = zip(graph.row.tolist(), graph.col.tolist(), strict=True)
    return dict(zip(pairs, graph.data.tolist(), strict=True))


def all_within(queries, rows, radius):
    """Pairs and distances, from the matrix of all."""
    i, j, similarity = sorted_pairs(queries, 1 - radius, rows)
    found = np.maximum(1 - similarity, 0)
    return dict(zip(zip(i.tolist(), j.tolist(), strict=True), found.tolist(), strict=True))


def first_unlike(A, threshold):
    """Which rows `insert_new` adds, by the definition."""
    i, j, _ = sorted_pairs(A, threshold)
    before = [[] for _ in range(len(A))]
    for one, other in zip(i.tolist(), j.tolist(), strict=True):
        before[other].append(one)
    new = []
    for row in range(len(A)):
        new.append(not any(new[other] for other in before[row]))
    return np.array(new)


def has_tables(index):
    return index._index_rows.state.bands is not None
