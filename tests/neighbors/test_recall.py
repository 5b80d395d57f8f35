"""At the default recall, what is found of pairs whose estimate is just the threshold: each pair
with the probability that is promised, and no other pair. A search for a lower recall fails."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.code_pairs import assert_recall, pairs_at
from _oracles import theorems
from scipy import stats

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.files import deduplicate_files
from sparsemaps.neighbors import KernelNeighbors, _search, removals, similar_pairs

THRESHOLDS = [0.5, 0.8, 0.9]


def rows_of_pairs(codes):
    return np.arange(0, len(codes), 2), np.arange(1, len(codes), 2)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_similar_pairs(threshold):
    codes, n_agreeing = pairs_at(threshold)
    i, j, similarity = similar_pairs(codes, threshold)
    np.testing.assert_array_equal(j, i + 1)
    np.testing.assert_array_equal(i % 2, 0)
    np.testing.assert_allclose(similarity, codes.kernel(n_agreeing))
    assert_recall(len(i), len(codes) // 2, 0.95)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_two_sets(threshold):
    codes, _ = pairs_at(threshold)
    i, j, _ = similar_pairs(codes[::2], threshold, other=codes[1::2])
    np.testing.assert_array_equal(i, j)
    assert_recall(len(i), len(codes) // 2, 0.95)


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_of_removals(threshold):
    codes, _ = pairs_at(threshold)
    removed, witness, _ = removals(codes, threshold)
    np.testing.assert_array_equal(removed, witness + 1)
    assert_recall(len(removed), len(codes) // 2, 0.95)
    removed, witness, _ = removals(codes[1::2], threshold, earlier=codes[::2])
    np.testing.assert_array_equal(witness, removed + len(codes) // 2)
    assert_recall(len(removed), len(codes) // 2, 0.95)


@pytest.mark.parametrize("recall", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_the_halves_of_what_is_missed(threshold, recall):
    """Where the exact kernel decides: too few codes agree, or hashing misses the pair. Both
    together are missed at most as often as is allowed, and no fewer codes could be asked for."""
    codes = MinHash(n_hashes=1000, random_state=SEED).fit([[1.0]]).encode([[1.0]], packed=True)
    least, of_hashing = _search.for_candidates(codes, threshold, recall)
    rate = threshold + (1 - threshold) / 256
    few = stats.binom.cdf([least - 1, least], 1000, rate)
    assert few[0] + (1 - of_hashing) <= 1 - recall
    assert few[1] + (1 - of_hashing) > 1 - recall


def sets_of_pairs(shared, n_pairs, seed):
    """Sets of 40 members in pairs: 2 i and 2 i + 1 share so many, others none."""
    members = np.random.default_rng(SEED + seed).permutation(n_pairs * (80 - shared))
    members = members.reshape(n_pairs, -1)
    rows = np.stack([members[:, :40], members[:, 40 - shared :]], axis=1).reshape(2 * n_pairs, 40)
    indptr = np.arange(len(rows) + 1) * 40
    shape = len(rows), members.size
    return sp.csr_array((np.ones(rows.size), np.sort(rows, axis=1).reshape(-1), indptr), shape)


@pytest.mark.parametrize("threshold", [0.6, 0.8])
def test_of_an_index(threshold):
    """Over seeds: of the pairs whose estimate reaches the threshold, by a look at all codes, those
    that `radius_neighbors_graph` and `insert_new` find."""
    n_pairs = 2500
    n_found = n_new = n_wanted = 0
    X = sets_of_pairs(round(80 * threshold / (1 + threshold)), n_pairs, 0)
    one, other = np.arange(n_pairs), np.arange(0, 2 * n_pairs, 2)
    for seed in range(3):
        minhash = MinHash(n_hashes=128, random_state=SEED + seed)
        A = minhash.fit(X).encode(X, packed=True)
        agreeing = (A.array[::2] == A.array[1::2]).sum(axis=1)
        is_near = A.kernel(agreeing) >= threshold - 1e-12
        index = KernelNeighbors(minhash, radius=1 - threshold).fit(X)
        graph = index.radius_neighbors_graph(X[1::2])
        is_found = np.asarray(graph[one, other]).ravel() > 0
        assert not is_found[~is_near].any()
        index = KernelNeighbors(minhash, radius=1 - threshold).fit(X[::2])
        is_new = index.insert_new(X[1::2], threshold=threshold)
        assert is_new[~is_near].all()
        n_wanted += is_near.sum()
        n_found += is_found.sum()
        n_new += (~is_new).sum()
    assert_recall(n_found, n_wanted, 0.95)
    assert_recall(n_new, n_wanted, 0.95)


@pytest.mark.parametrize(("shared", "threshold"), [(34, 0.7), (24, 0.4)])
def test_what_an_index_with_the_exact_kernel_states(shared, threshold):
    """Over seeds: pairs of one similarity are found as often as `recall_at` says."""
    n_pairs = 2000
    X = sets_of_pairs(shared, n_pairs, 0)
    similarity = shared / (80 - shared)
    shares = []
    for seed in range(3):
        cws = ConsistentWeightedSampling(n_hashes=128, random_state=SEED + seed)
        index = KernelNeighbors(cws, radius=1 - threshold, algorithm="lsh", recall=0.5, rerank=True)
        graph = index.fit(X[::2]).radius_neighbors_graph(X[1::2], mode="distance")
        np.testing.assert_allclose(graph.data, 1 - similarity, rtol=1e-12)
        shares.append((np.diff(graph.indptr) > 0).mean())
        stated = index.recall_at(similarity)
    assert 0.5 <= stated < 0.95
    error = np.sqrt(stated * (1 - stated) / (3 * n_pairs))
    assert abs(np.mean(shares) - stated) <= theorems.N_STANDARD_ERRORS * error


@pytest.mark.parametrize("similarity", [0.5, 0.55, 0.9])
def test_what_is_stated_where_all_codes_are_compared(similarity):
    """Rows are candidates from just as many equal codes on as `for_candidates` says."""
    index = KernelNeighbors(MinHash(n_hashes=64), radius=0.5, rerank=True, recall=0.9)
    index.fit(np.eye(4))
    least, _ = _search.for_candidates(index.codes_, 0.5, 0.9)
    rate = similarity + (1 - similarity) / 256
    expected = stats.binom.sf(least - 1, 64, rate)
    assert index.recall_at(similarity) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(2))
def test_of_files(tmp_path, seed):
    """Records of which half are near another one, some at the threshold: of those that a search
    of all pairs removes."""
    X = sets_of_pairs(36, 1500, seed)
    texts = [" ".join(f"w{column}" for column in row.indices) for row in X]
    (tmp_path / "in.txt").write_text("\n".join(texts))
    minhash = MinHash(n_hashes=128, random_state=SEED + seed)
    removed = []
    for options in ({}, {"recall": 1}):
        done = deduplicate_files(
            minhash, tmp_path / "in.txt", tmp_path / "out", source="word:1", **options
        )
        removed.append(done.n_records - done.n_kept)
    assert 500 < removed[1] < 1400
    assert_recall(*removed, 0.95)
