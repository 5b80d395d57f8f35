"""An index that is kept: what it answers while rows come, go, are saved and opened."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.code_pairs import sorted_pairs
from _data.index_rows import (
    MAP,
    N_HASHES,
    THRESHOLD,
    A,
    X,
    all_within,
    first_unlike,
    has_tables,
    new_index,
    pairs_of,
    sets,
)

from sparsemaps import KernelProduct, MinHash, SignProjection, codes
from sparsemaps.codes._packed import with_rows
from sparsemaps.neighbors import (
    KernelNeighbors,
    _bands,
    _index_rows,
    _removals,
    _search,
    removals,
)
from sparsemaps.neighbors._hashing import SearchRun

# ---- insert_new ----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 7, 1000, 6000])
def test_insert_new_by_comparing_all(step):
    index = new_index(algorithm="brute")
    n_rows = 280 if step < 100 else 2000
    new = [
        index.insert_new(X[start : start + step], threshold=THRESHOLD)
        for start in range(0, n_rows, step)
    ]
    new = np.concatenate(new)[:n_rows]
    expected = first_unlike(A[:n_rows], THRESHOLD)
    assert new.dtype == bool
    np.testing.assert_array_equal(new, expected)
    if step <= 1000:
        np.testing.assert_array_equal(index.codes_.array, A.array[:n_rows][new])
        assert index.n_samples_fit_ == new.sum()


@pytest.mark.parametrize("first", [0, 700, 1500])
def test_insert_new_does_not_depend_on_the_calls(first, tmp_path):
    """Nor on what was saved in between."""
    answers = []
    for step in (37, 1000, 2500):
        index = new_index()
        if first:
            index.fit(X[:first])
        new = []
        for start in range(first, 2500, step):
            new.append(index.insert_new(X[start : min(start + step, 2500)], threshold=THRESHOLD))
            if step == 1000:
                index.save(tmp_path / "index.npy")
                index = KernelNeighbors.load(tmp_path / "index.npy")
        answers.append(np.concatenate(new))
        assert has_tables(index)
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    if not first:
        expected = first_unlike(A[:2500], THRESHOLD)
        i, j, _ = sorted_pairs(A[:2500], THRESHOLD)
        is_near = np.isin(np.arange(2500), np.maximum(i, j)[answers[0][np.minimum(i, j)]])
        assert (answers[0] | is_near).all()  # a row is left out only for an earlier one
        assert (answers[0] & ~expected).sum() < 0.05 * (~expected).sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "new_map",
    [
        MinHash(n_hashes=N_HASHES, random_state=0),
        MinHash(n_hashes=128, bits=2, random_state=1),
        SignProjection(n_hashes=256, random_state=0),
    ],
    ids=str,
)
def test_insert_new_adds_the_rows_that_removals_keeps(new_map, seed):
    """At recalls of .95 and .3: also what is missed is the same, whatever the calls and what was
    searched before."""
    Y = sets(900, seed, n_members=20, width=400)
    B = new_map.fit(Y).encode(Y, packed=True)
    differ = 0
    for recall, threshold in ((0.95, 0.7), (0.3, 0.6), (0.3, 0.8)):
        index = KernelNeighbors(new_map, recall=recall, radius=0.5)
        new = [index.insert_new(Y[:1], threshold=threshold)]
        index.radius_neighbors(Y[:2])  # makes other tables
        for start, stop in ((1, 2), (2, 300), (300, 900)):
            new.append(index.insert_new(Y[start:stop], threshold=threshold))
        expected = np.ones(900, bool)
        expected[removals(B, threshold, recall=recall).removed] = False
        np.testing.assert_array_equal(np.concatenate(new), expected)
        assert 100 < expected.sum() < 800
        differ += int((expected != first_unlike(B, threshold)).sum())
    assert differ  # some are missed, by both alike


@pytest.mark.parametrize("rerank", [False, True])
def test_insert_new_row_by_row_adds_the_rows_that_removals_keeps(rerank):
    """By the exact kernel, or by the parts of a product."""
    Y = sets(300, 5, n_members=20, width=400)
    parts = MinHash(n_hashes=96, bits=4), SignProjection(n_hashes=96)
    map = MAP if rerank else KernelProduct(maps=parts, random_state=0)
    fitted = map.fit(Y)
    B = fitted.encode(Y, packed=True)
    near = _removals.by_estimate(B, None, 0.6, 0.3)
    if rerank:
        K = fitted.exact_kernel(Y)
        near = _removals.NearBy(
            *_search.for_candidates(B, 0.6, 0.3), 0.6, lambda i, j, differing: K[i, j]
        )
    found = _removals.removed_rows(B, None, near, None, SearchRun())
    index = KernelNeighbors(map, recall=0.3, rerank=rerank)
    new = index.insert_new(Y, threshold=0.6)
    np.testing.assert_array_equal(np.flatnonzero(~new), found.removed)
    assert 30 < len(found.removed) < 270


@pytest.mark.parametrize("algorithm", ["auto", "brute"])
def test_a_row_that_was_not_added_keeps_no_other_out(algorithm):
    """The second is like the first, and the third like the second only."""
    chain = np.stack([np.isin(np.arange(40), range(k, k + 30)) for k in (0, 5, 10)]) * 1.0
    index = KernelNeighbors(MinHash(n_hashes=4096, random_state=0), algorithm=algorithm)
    assert index.insert_new(chain, threshold=0.6).tolist() == [True, False, True]


@pytest.mark.parametrize("rerank", [False, True])
def test_insert_new_of_kernels_that_counts_do_not_give(rerank):
    """Row by row, by the exact kernel, or by the parts of a product."""
    if rerank:
        index = new_index(rerank=True, recall=1.0)
        K = MAP.exact_kernel(X[:200])
    else:
        parts = MinHash(n_hashes=64, bits=2), SignProjection(n_hashes=64)
        index = KernelNeighbors(KernelProduct(maps=parts, random_state=0), recall=1.0)
    new = index.insert_new(X[:200], threshold=THRESHOLD)
    if not rerank:
        B = index.map_.encode(X[:200], packed=True)
        K = B.kernel(codes.agreements(B, B))
    K[~A.sampled[:200]] = 0
    expected = []
    for row in range(200):
        alike = K[row, :row] >= THRESHOLD - 1e-12
        expected.append(not (alike & np.array(expected, bool)).any())
    assert 0 < np.sum(expected) < 200
    np.testing.assert_array_equal(new, expected)
    assert index.n_samples_fit_ == new.sum()


# ---- what is found -------------------------------------------------------------------------------


def test_tables_find_what_is_within_the_radius():
    """Those of one block, and of two."""
    Y, B = X[:3000], A[:3000]
    expected = all_within(B, B, 1 - THRESHOLD)
    whole = new_index(radius=1 - THRESHOLD).fit(Y)
    grown = new_index(radius=1 - THRESHOLD).fit(Y[:1100])
    grown.radius_neighbors(Y[:1])
    for start in range(1100, 3000, 100):
        grown.partial_fit(Y[start : start + 100])
    for index in (whole, grown):
        found = pairs_of(index.radius_neighbors_graph(Y, mode="distance"))
        assert has_tables(index)
        assert set(found) <= set(expected)
        assert len(found) >= 0.97 * len(expected)  # 0.95 at the threshold, more above it
        np.testing.assert_allclose(list(found.values()), [expected[pair] for pair in found])
        for n_jobs in (2, -1):
            index.set_params(n_jobs=n_jobs)
            again = index.radius_neighbors_graph(Y, mode="distance")
            assert pairs_of(again) == found
    assert whole._index_rows.state.bands == grown._index_rows.state.bands


@pytest.mark.parametrize("seed", range(3))
def test_recall_at_the_threshold(seed):
    """Pairs of just that similarity, in an index whose bands were chosen with others in it."""
    rng = np.random.default_rng(SEED + seed)
    B = A[:4096]
    n_agreeing = _search.least_agreeing(B, THRESHOLD)
    rows = B.array.copy()
    partners = rows.copy()
    for row in range(len(rows)):
        changed = rng.permutation(N_HASHES)[: N_HASHES - n_agreeing]
        partners[row, changed] += rng.integers(1, 256, len(changed)).astype(np.uint8)
    kept = _index_rows.IndexRows(B)
    target = _index_rows.Target(n_agreeing, 0.9)
    state, i, j, differing = kept.similar_to(with_rows(B, partners, B.sampled), target, None)
    assert state.bands is not None
    own = i == j
    assert (differing[own] == N_HASHES - n_agreeing).all()
    n, share = B.sampled.sum(), _bands.recall_of(state.bands, N_HASHES, n_agreeing)
    assert share >= 0.9
    assert abs(own.sum() - share * n) <= 5 * np.sqrt(share * (1 - share) * n)


def test_higher_thresholds_use_the_tables_and_lower_ones_make_others():
    index = new_index(radius=0.2).fit(X)
    assert not has_tables(index)
    index.radius_neighbors(X[:3])
    made = index._index_rows.state
    index.radius_neighbors(X[:3], radius=0.1)
    assert index._index_rows.state.bands == made.bands
    assert index._index_rows.state.blocks[0].tables is made.blocks[0].tables
    index.radius_neighbors(X[:3], radius=0.5)
    lower = index._index_rows.state
    assert lower.target.least < made.target.least
    index.radius_neighbors(X[:3], radius=0.2)
    assert index._index_rows.state is lower


def test_recall_that_is_stated():
    index = new_index(radius=0.25, algorithm="lsh").fit(X)
    assert index.recall_at(0.75) >= 0.95
    assert index.recall_at(0.75) > index.recall_at(0.6) > index.recall_at(0.3)
    assert index.recall_at(1) == 1
    assert new_index(radius=0.25).fit(X[:100]).recall_at(0.5) == 1  # few rows are all compared
    reranked = new_index(radius=0.25, rerank=True).fit(X)
    assert 0.95 <= reranked.recall_at(0.75) < reranked.recall_at(0.8) <= 1
    brute = new_index(radius=0.25, algorithm="brute", rerank=True).fit(X)
    assert 1 - 1e-8 < brute.recall_at(0.75) <= 1


@pytest.mark.parametrize("algorithm", ["auto", "lsh"])
def test_nearest_rows_of_a_grown_index(algorithm):
    grown = new_index(radius=0.25, algorithm=algorithm, recall=0.999)
    for start in range(0, 6000, 1500):
        grown.partial_fit(X[start : start + 1500])
    whole = new_index(algorithm="brute").fit(X)
    for k in (1, 5):
        for one, other in zip(
            grown.kneighbors(X[:500], k), whole.kneighbors(X[:500], k), strict=True
        ):
            same = np.isclose(one, other) | (one == other)
            assert same.all() if algorithm == "auto" else same.mean() > 0.99
    few = new_index().fit(X[:3]).partial_fit(X[3:5])
    assert sorted(few.kneighbors(X[10:11], 5, return_distance=False)[0]) == [0, 1, 2, 3, 4]


def test_queries_with_one_row_too_few_within_the_radius():
    """They are compared with all rows, by "lsh" too."""
    columns = np.arange(40) + 100 * np.arange(8)[:, None]
    columns[:3] = columns[0]  # of one query, three rows are near; of the others, one
    rows = sp.csr_array((np.ones(320), columns.ravel(), np.arange(9) * 40), (8, 10**3))
    indexes = [new_index(radius=0.25, algorithm=name).fit(rows) for name in ("lsh", "brute")]
    for k in (1, 2, 3, 4):
        found, expected = (index.kneighbors(rows, k) for index in indexes)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        assert (found[1] >= 0).all()


@pytest.mark.parametrize("with_tables", [False, True])
def test_removed_rows_among_added_ones(with_tables):
    """They are the rows of these numbers, and stay away when the block of added rows grows."""
    index = new_index(radius=1 - THRESHOLD).fit(X[:1500])
    if with_tables:
        index.radius_neighbors(X[:1])
    removed = [n + int(A.sampled[n:].argmax()) for n in (3, 1503, 1510)]  # not empty
    index.partial_fit(X[1500:1600]).remove(removed).partial_fit(X[1600:4000])
    assert has_tables(index) == with_tables
    expected = A.sampled[:4000].copy()
    expected[removed] = False
    np.testing.assert_array_equal(index.codes_.sampled, expected)
    found = index.radius_neighbors(X[:4000], 1e-9, return_distance=False)
    assert [row in one for row, one in enumerate(found)] == expected.tolist()
    empty = np.flatnonzero(~A.sampled[1500:4000]) + 1500
    assert len(empty) > 5
    i, j, _ = index.similar_pairs(0.99)
    assert not np.isin([*i, *j], [*empty, *removed]).any()


# ---- any order of operations ---------------------------------------------------------------------


class Model:
    """An index, and the rows that it must have."""

    def __init__(self, rng, rerank):
        self.rng, self.rerank = rng, rerank
        self.index = new_index(recall=1.0, rerank=rerank)
        self.rows, self.removed = [], set()
        self.place = 0

    def some(self):
        start, self.place = self.place, self.place + int(self.rng.integers(1, 80))
        if self.rng.random() < 0.5 and self.rows:  # rows that were there already
            return np.array(self.rows)[self.rng.integers(0, len(self.rows), 5)]
        return np.arange(start, self.place) % 6000

    def kept(self):
        return np.array([row for row in range(len(self.rows)) if row not in self.removed], int)

    def partial_fit(self, rows=None):
        rows = self.some() if rows is None else rows
        self.index.partial_fit(X[rows])
        self.rows += rows.tolist()

    def similarity(self, some, others):
        """With rerank the exact kernel, at a threshold that estimates of copies reach."""
        if self.rerank:
            K = MAP.exact_kernel(X[some], X[others])
        else:
            K = codes.kernel_from_collisions(codes.collisions(A[some], A[others]), A)
        return np.where(A.sampled[some][:, None] & A.sampled[others], K, -1)

    def insert_new(self):
        rows = self.some()
        found = self.index.insert_new(X[rows], threshold=THRESHOLD)
        for row, is_new in zip(rows.tolist(), found.tolist(), strict=True):
            others = np.array(self.rows, int)[self.kept()]
            alike = self.similarity(np.array([row]), others) >= THRESHOLD - 1e-12
            assert is_new == (not alike.any())
            if is_new:
                self.rows.append(row)

    def remove(self):
        ids = self.rng.integers(0, len(self.rows), 9)
        self.index.remove(ids)
        self.removed |= set(ids.tolist())

    def query(self):
        queries = self.rng.integers(0, 6000, 20)
        found = pairs_of(self.index.radius_neighbors_graph(X[queries], radius=1 - THRESHOLD))
        kept = self.kept()
        alike = self.similarity(queries, np.array(self.rows)[kept]) >= THRESHOLD - 1e-12
        i, j = np.nonzero(alike)
        assert set(found) == set(zip(i.tolist(), kept[j].tolist(), strict=True))
        nearest = self.index.kneighbors(X[queries], 1, return_distance=False)[:, 0]
        assert not set(nearest.tolist()) & self.removed


@pytest.mark.parametrize("rerank", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_operations(seed, rerank, tmp_path):
    """Recall 1 compares all; or, by tables of many rows, whose bands find all pairs here."""
    rng = np.random.default_rng(SEED + seed)
    model = Model(rng, rerank)
    if seed % 2:
        model.index.set_params(recall=0.99 if rerank else 1 - 1e-12)
        model.place = 4200
        model.partial_fit(np.arange(model.place))
    model.partial_fit()
    for _ in range(25 if rerank else 60):
        name = rng.choice(["partial_fit", "insert_new", "remove", "query", "save"])
        if name != "save":
            getattr(model, name)()
            continue
        model.index.save(tmp_path / "index.npy")
        model.index = KernelNeighbors.load(tmp_path / "index.npy")
    model.query()
    assert has_tables(model.index) == bool(seed % 2)
    assert model.index.n_samples_fit_ == len(model.rows)


def test_removed_rows_leave_the_tables():
    """So that many rows that came and went cost nothing."""
    index = new_index(radius=0.2).fit(X[:3000])
    index.radius_neighbors(X[:1])
    before = index._index_rows.state.blocks[0].tables
    index.remove(np.arange(1400))
    index.remove(np.repeat(np.arange(1400, 1450), 4))  # each is one row
    assert index._index_rows.state.blocks[0].tables is before
    index.remove(np.arange(1600))
    tables = index._index_rows.state.blocks[0].tables
    assert tables is not before
    linked = np.concatenate([tables.heads.ravel(), tables.links.ravel()])
    linked = linked[linked != _index_rows._loops.NONE]
    assert linked.min() >= 1600
    assert len(index.radius_neighbors(X[2000:2001])[1][0]) >= 1
