"""Nearest rows among packed codes are what a full sort gives."""

import numpy as np
import pytest
from _data.code_pairs import index_of, random_codes
from _data.rows import families, random_csr

from sparsemaps import MinHash, codes, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.neighbors import KernelNeighbors, _brute

# ---- nearest rows --------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8, 12, 16, 24])
@pytest.mark.parametrize("n_bytes", [2, 8, 33, 64, 200, 600])
def test_top_k_is_a_full_sort(bits, n_bytes):
    """Ties included, of which there are many where codes have few values."""
    if 8 * n_bytes < bits:
        return
    A = random_codes(700, n_bytes, n_values=3)
    Q = random_codes(37, n_bytes, seed=1, n_values=3)
    Q[:5] = A[300:305]
    counts = codes.collisions(Q, A, bits)
    for k in (1, 10, 700):
        indices, agreements = neighbors.top_k(Q, A, k, bits=bits)
        assert indices.dtype == np.int64
        assert agreements.dtype == np.int32
        sampled = A.any(axis=1) if 8 * n_bytes // bits * bits >= 64 else np.ones(700, bool)
        assert sampled.all()
        expected = np.argsort(-counts, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(agreements, np.take_along_axis(counts, expected, 1))


@pytest.mark.parametrize("n_queries", [1, 3, 600])
@pytest.mark.parametrize("n_jobs", [2, 3, -1])
def test_top_k_by_threads(n_queries, n_jobs):
    A = random_codes(40_000, 4, n_values=5)
    expected = neighbors.top_k(A[:n_queries], A, 20, bits=8)
    found = neighbors.top_k(A[:n_queries], A, 20, bits=8, n_jobs=n_jobs)
    np.testing.assert_array_equal(found, expected)


def test_rows_without_samples_are_nobodys_neighbours():
    X = random_csr()
    empty = np.diff(X.indptr) == 0
    A = MinHash(n_hashes=40, random_state=0).fit(X).encode(X, packed=True)
    for one in (A, A.array):
        more = {} if one is A else {"bits": 8}
        indices, agreements = neighbors.top_k(one, one, 40, **more)
        assert (indices[empty] == -1).all()
        assert not np.isin(indices, np.flatnonzero(empty)).any()
        assert (indices[~empty][:, -empty.sum() :] == -1).all()
        assert (agreements[indices == -1] == 0).all()
        i, j, _ = neighbors.similar_pairs(one, 1e-3, **more)
        assert not empty[i].any()
        assert not empty[j].any()


# ---- bad input -----------------------------------------------------------------------------------


A = PackedCodes(random_codes(6, 8), 8, {"class": "MinHash", "seed": 0})

B = PackedCodes(random_codes(6, 8), 8, {"class": "MinHash", "seed": 1})

SMALL = families(60)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: neighbors.top_k(A, A, 7), "k must be from 1 to 6, got 7"),
        (lambda: neighbors.top_k(A, A, 0), "k must be from 1 to 6, got 0"),
        (lambda: neighbors.top_k(A, A[:0], 1), "codes must have at least one row"),
        (lambda: neighbors.top_k(A, B, 1), "codes and queries must be codes of the same map"),
        (lambda: neighbors.top_k(A.array, A.array, 1), "bits must be given"),
        (
            lambda: neighbors.top_k(A.array[:, :7], A.array, 1, bits=8),
            "codes and queries must have rows of the same length, got 8 and 7 bytes",
        ),
        (lambda: neighbors.similar_pairs(A, 0), "threshold must be above 0 and at most 1, got 0"),
        (lambda: neighbors.similar_pairs(A, 1.1), "threshold must be above 0 and at most 1"),
        (lambda: neighbors.similar_pairs(A, np.nan), "threshold must be .* at most 1, got nan"),
        (lambda: neighbors.similar_pairs(A, 0.5, recall=0), "recall must be"),
        (lambda: neighbors.similar_pairs(A, 0.5, recall=2), "recall must be above 0 and at most 1"),
        (lambda: neighbors.similar_pairs(A, 0.5, other=B), "codes and other must be codes of the"),
        (lambda: neighbors.similar_pairs(A, 0.5, max_bucket=0), "max_bucket must be from 1"),
        (lambda: neighbors.similar_pairs(A, 0.5, n_jobs=0), "n_jobs must be"),
        (lambda: KernelNeighbors(3).fit(SMALL), "map must be a map with codes"),
        (lambda: index_of(SMALL, n_neighbors=0), "n_neighbors must be from 1"),
        (lambda: index_of(SMALL, radius=1.5), "radius must be at least 0 and below 1"),
        (lambda: index_of(SMALL, radius=1), "radius must be at least 0 and below 1"),
        (lambda: index_of(SMALL, algorithm="tree"), "algorithm must be 'auto' or 'brute' or 'lsh'"),
        (lambda: index_of(SMALL, rerank="yes"), "rerank must be True or False"),
        (lambda: index_of(SMALL).kneighbors(SMALL, 61), "n_neighbors must be from 1 to 60, got 61"),
        (lambda: index_of(SMALL).kneighbors(None, 60), "n_neighbors must be from 1 to 59, got 60"),
        (lambda: index_of(SMALL).radius_neighbors(SMALL), "radius must be"),
        (lambda: index_of(SMALL).remove([60]), "ids must be from 0 to 59, got 60"),
        (lambda: index_of(SMALL).remove([0, -1]), "ids must be from 0 to 59, got -1"),
        (lambda: index_of(SMALL).remove([0.5]), "ids must be integers"),
        (lambda: index_of(SMALL).similar_pairs(2), "threshold must be above 0"),
        (lambda: index_of(SMALL).kneighbors_graph(mode="x"), "mode must be"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_rows_too_long_to_search():
    row = np.zeros((1, _brute.LARGEST_N_HASHES // 8 + 1), np.uint8)
    with pytest.raises(
        ValueError, match=r"rows of at most 16777216 codes are searched, got 16777224"
    ):
        neighbors.top_k(row, row, 1, bits=1)
