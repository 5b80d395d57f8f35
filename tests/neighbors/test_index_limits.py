"""An index that is kept: threads that share it, bounds, and what its tables hold."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.index_rows import (
    N_HASHES,
    THRESHOLD,
    A,
    X,
    all_within,
    has_tables,
    new_index,
    pairs_of,
)
from _data.rows import families

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.codes._packed import with_rows
from sparsemaps.neighbors import KernelNeighbors, _bands, _brute, _index_rows, _tables

# ---- threads -------------------------------------------------------------------------------------


def test_readers_beside_a_writer():
    """A row that was there before a query began is found; none is that was not there at its end."""
    index = new_index(radius=1 - THRESHOLD, recall=0.999).fit(X[:1100])
    index.radius_neighbors(X[:1])
    stop, errors = threading.Event(), []

    def read():
        try:
            while not stop.is_set():
                n_before = index.n_samples_fit_
                own = np.random.default_rng(SEED + n_before).integers(0, n_before, 50)
                graph = index.radius_neighbors_graph(X[own])
                n_after = index.n_samples_fit_
                found = pairs_of(graph)
                for query, row in enumerate(own.tolist()):
                    assert (query, row) in found or not A.sampled[row]
                assert max(j for _, j in found) < n_after
                nearest = index.kneighbors(X[own], 2, return_distance=False)
                assert nearest.max() < index.n_samples_fit_
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for start in range(1100, 6000, 49):
        index.partial_fit(X[start : start + 49])
    stop.set()
    for reader in readers:
        reader.join()
    assert not errors
    assert index.n_samples_fit_ == 6000


def test_rows_that_are_added_during_a_search_of_all_rows():
    """Codes and rows of the search, and of a pickle, are those of one moment."""
    index = new_index(radius=1 - THRESHOLD, rerank=True).fit(X[:300])

    def adding(state):
        index.partial_fit(X[300:])
        return all_codes(state)

    for search in (
        lambda: index.radius_neighbors_graph().toarray(),
        lambda: np.array(index.similar_pairs(THRESHOLD)),
        lambda: pickle.loads(pickle.dumps(index)).radius_neighbors_graph().toarray(),
    ):
        index.fit(X[:300])
        n_before = index.n_samples_fit_
        expected = search()
        all_codes = index._index_rows.all_codes
        index._index_rows.all_codes = adding
        np.testing.assert_array_equal(search(), expected)
        assert index.n_samples_fit_ > n_before


def test_several_writers():
    index = new_index(radius=0.2).fit(X[:1100])
    index.radius_neighbors(X[:1])
    parts = [X[start : start + 300] for start in range(1100, 5900, 300)]
    threads = [threading.Thread(target=index.partial_fit, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.n_samples_fit_ == 5900
    rows, expected = (np.unique(codes.array, axis=0) for codes in (index.codes_, A[:5900]))
    np.testing.assert_array_equal(rows, expected)
    found = index.radius_neighbors(X[:5900], return_distance=False)
    assert all(len(one) for one, sampled in zip(found, A.sampled, strict=False) if sampled)


# ---- limits --------------------------------------------------------------------------------------


def test_rows_of_an_index_that_has_them_as_csr_are_not_inserted_without_them():
    """They would be lost; the caller compares their codes, and appends both."""
    kept = _index_rows.IndexRows(A[:3], sp.csr_array((3, 1)))
    with pytest.raises(AssertionError):
        kept.insert_new(A[:3], _index_rows.Target(2, 0.9))


def test_a_bucket_is_compared_no_further_than_its_bound(monkeypatch):
    """Rows of one band that differ elsewhere; the last ones are compared."""
    rng = np.random.default_rng(SEED)
    array = rng.integers(0, 256, (5000, N_HASHES), dtype=np.uint8)
    array[:, :2] = 7
    kept = _index_rows.IndexRows(with_rows(A, array, None))
    state = kept.serving(_index_rows.Target(40, 0.5))
    kept._make_tables(_index_rows.Target(2, 0.9), _bands.Bands(2, 1))
    state = kept.state
    rows = kept._in_tables(state.blocks[0], state.bands)
    for max_found in (2**15, 300):  # also in several calls of a kernel
        monkeypatch.setattr(_tables, "_CALL_PAIRS", max_found)
        found = _tables.found_pairs(with_rows(A, array[:1], None), rows, N_HASHES)
        np.testing.assert_array_equal(found[1], np.arange(4000, 5000))


@pytest.mark.parametrize("sizes", [(3, 10**6), (1, 1), (10**5, 2)])
def test_an_answer_that_takes_several_calls(sizes, monkeypatch):
    kept = _index_rows.IndexRows(A)
    kept._make_tables(_index_rows.Target(20, 0.95), _bands.Bands(2, 32))
    state = kept.state
    search = A[:300], kept._in_tables(state.blocks[0], state.bands), N_HASHES - 20
    expected = _tables.found_pairs(*search)
    assert len(expected[0]) > 300
    for name, size in zip(("_CALL_PAIRS", "_CALL_VISITS"), sizes, strict=True):
        monkeypatch.setattr(_tables, name, size)
    np.testing.assert_array_equal(_tables.found_pairs(*search), expected)


def test_more_rows_than_can_be_numbered(set_limits):
    set_limits(_brute, LARGEST_N_ROWS=2000)
    index = new_index(radius=0.2).fit(X[:1990])
    for add in (index.partial_fit, lambda rows: index.insert_new(rows, threshold=0.8)):
        with pytest.raises(ValueError, match="at most 2000 rows are searched, got 2001"):
            add(X[:11])
        assert index.n_samples_fit_ == 1990
    index.partial_fit(X[:10])


@pytest.mark.parametrize("threshold", [0, -1, 1.5, np.nan, "x", True, None])
def test_thresholds_outside_their_range(threshold):
    index = new_index()
    with pytest.raises(ValueError, match=r"threshold must be"):
        index.insert_new(X[:3], threshold=threshold)
    assert not hasattr(index, "map_")


def test_weighted_rows():
    Y = families(1500)
    Y.data += np.arange(len(Y.data)) % 3
    new_map = ConsistentWeightedSampling(n_hashes=128, random_state=0)
    index = KernelNeighbors(new_map, radius=0.4, recall=0.999).fit(Y)
    B = index.codes_
    expected = all_within(B, B, 0.4)
    found = pairs_of(index.radius_neighbors_graph(Y, mode="distance"))
    assert set(found) <= set(expected)
    assert len(found) > 0.99 * len(expected)


def test_slots_depend_on_the_key():
    """Which each index draws: nobody can choose rows that share slots without sharing bands."""
    heads = []
    for _ in range(2):
        kept = _index_rows.IndexRows(A)
        kept._make_tables(_index_rows.Target(40, 0.9), _bands.Bands(2, 1))
        heads.append(kept.state.blocks[0].tables.heads)
    assert (heads[0] != heads[1]).any()


def test_rows_without_samples_are_in_no_slot():
    index = new_index()
    index.insert_new(X[:2000], threshold=THRESHOLD)

    empty = sp.csr_array((50, X.shape[1]))
    n_before = index.n_samples_fit_
    assert has_tables(index)
    assert index.insert_new(empty, threshold=THRESHOLD).all()
    assert index.n_samples_fit_ == n_before + 50
    heads = index._index_rows.state.blocks[-1].tables.heads
    assert heads[heads != _index_rows._loops.NONE].max() < n_before


def test_a_state_has_no_later_rows():
    """A reader that took a state finds its rows only, whatever a writer adds meanwhile."""
    index = new_index(radius=1 - THRESHOLD)
    index.insert_new(X[:1], threshold=1)
    index.partial_fit(X[1:1100]).radius_neighbors(X[:1])
    kept = index._index_rows
    index.partial_fit(X[1100:1110])
    before = kept.state
    n_before = before.blocks[-1].n_rows
    queries = A[1100:1400]
    expected = _tables.found_pairs(queries, kept._in_tables(before.blocks[-1], before.bands), 16)
    index.partial_fit(X[1110:1500])
    assert kept.state.blocks[-1].array is before.blocks[-1].array
    found = _tables.found_pairs(queries, kept._in_tables(before.blocks[-1], before.bands), 16)
    np.testing.assert_array_equal(found, expected)
    assert found[1].max() < n_before
    now = _tables.found_pairs(queries, kept._in_tables(kept.state.blocks[-1], before.bands), 16)
    assert now[1].max() >= n_before


def test_bands_of_searches_are_chosen_again_as_rows_come():
    """At 4 times as many rows, but not after `insert_new`, whose bands stay."""
    Y = sp.random_array(
        (4500, 10**6), density=30 / 10**6, random_state=np.random.default_rng(SEED), format="csr"
    )
    for inserts in (False, True):
        index = new_index().fit(Y[:1100])
        if inserts:
            index.insert_new(Y[:1], threshold=THRESHOLD)
        else:
            index.radius_neighbors(Y[:1], radius=1 - THRESHOLD)
        chosen, choose = [], index._index_rows._choice

        def watched(target, index=index, chosen=chosen, choose=choose):
            chosen.append(index.n_samples_fit_)
            return choose(target)

        index._index_rows._choice = watched
        for start in range(1100, 4500, 700):
            index.partial_fit(Y[start : start + 700])
        assert len(chosen) == (not inserts)


@pytest.mark.parametrize("n_slots", [2, 8, 1024])
def test_rows_of_a_slot_are_told_apart_by_their_bands(n_slots):
    """However many share a slot, those of equal bands are found, once for each such band."""
    rng = np.random.default_rng(SEED)
    array, queries = rng.integers(0, 4, (300, 6)), rng.integers(0, 4, (20, 6))
    array, queries = array.astype(np.uint8), queries.astype(np.uint8)
    heads = np.full((3, n_slots), _index_rows._loops.NONE, np.uint32)
    links, counted = np.empty((300, 3), np.uint32), np.ones(300, np.uint8)
    rows = _tables.TableRows(heads, links, array, counted, 300, 16, 0, 5, 1000)
    _index_rows._loops.insert(rows, 0, 300)
    found, state = np.empty((3, 10_000), np.uint32), np.array([0, -1, 0, 0])
    n = _index_rows._loops.find(queries, counted[:20], rows, 8, 6, 6, 10**6, False, state, found)
    bands = (queries[:, None] == array).reshape(20, 300, 3, 2).all(axis=3)
    i, j, _ = np.nonzero(bands)
    order = np.lexsort(found[1::-1, :n])
    np.testing.assert_array_equal(found[:2, order], [i, j])
    differing = (queries[:, None] != array).sum(axis=2)
    np.testing.assert_array_equal(found[2, :n], differing[found[0, :n], found[1, :n]])
