"""The index of rows: what a full sort of the exact kernel gives."""

import functools
import itertools
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.code_pairs import index_of, sorted_pairs
from _data.rows import families
from _oracles import theorems
from _scripts.limits import largest_file
from _scripts.programs import posix
from sklearn.cluster import DBSCAN
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from sparsemaps import KernelProduct, MinHash, RandomFourier, SignProjection, codes
from sparsemaps.codes._packed import open_file
from sparsemaps.neighbors import KernelNeighbors, _exact, _index_search, similar_pairs


@pytest.mark.parametrize("algorithm", ["auto", "brute", "lsh"])
def test_kneighbors(algorithm):
    X = families()
    index = index_of(X, algorithm=algorithm, recall=0.999)
    A = index.codes_
    similarity = codes.kernel_from_collisions(codes.collisions(A, A), A)
    similarity[:, ~A.sampled] = -np.inf
    distances, indices = index.kneighbors(X, 4)
    expected = np.argsort(-similarity, axis=1, kind="stable")[:, :4]
    sampled = A.sampled
    same = (indices == expected)[sampled]
    assert same.all() if algorithm != "lsh" else same.mean() > 0.99
    np.testing.assert_allclose(
        distances[sampled][same],
        1 - np.take_along_axis(similarity, expected, 1)[sampled][same],
        atol=1e-12,
    )
    assert (indices[~sampled] == -1).all()
    assert np.isinf(distances[~sampled]).all()
    np.fill_diagonal(similarity, -np.inf)
    distances, indices = index.kneighbors(n_neighbors=4)
    expected = np.argsort(-similarity, axis=1, kind="stable")[:, :4]
    assert ((indices == expected)[sampled]).mean() > 0.99
    assert (indices != np.arange(len(indices))[:, None]).all()
    np.testing.assert_array_equal(index.kneighbors(X, 4, return_distance=False)[:, 0] >= 0, sampled)


def test_rerank_orders_by_the_exact_kernel():
    X = families()
    index = index_of(X, rerank=True)
    K = index.map_.exact_kernel(X)
    sampled = index.codes_.sampled
    distances, indices = index.kneighbors(X, 3)
    best = -np.sort(-K, axis=1)[:, :3]
    np.testing.assert_allclose(distances[sampled], 1 - np.take_along_axis(K, indices, 1)[sampled])
    assert (abs(1 - distances - best)[sampled] < 0.05).mean() > 0.99
    i, j, similarity = index.similar_pairs(0.8)
    np.testing.assert_allclose(similarity, K[i, j])
    assert similarity.min() >= 0.8
    graph = index.radius_neighbors_graph(X[:50], 0.3, mode="distance").tocoo()
    np.testing.assert_allclose(graph.data, 1 - K[graph.row, graph.col])


@pytest.mark.parametrize("algorithm", ["auto", "brute", "lsh"])
def test_radius_neighbors(algorithm):
    X = families(200)
    index = index_of(X, algorithm=algorithm, radius=0.4, recall=0.999)
    A = index.codes_
    i, j, similarity = sorted_pairs(A, 0.6, A)
    expected = sp.csr_array((1 - similarity, (i, j)), shape=(200, 200))
    found = index.radius_neighbors_graph(X, mode="distance")
    assert abs(found - expected).max() < 1e-12
    distances, indices = index.radius_neighbors(X, sort_results=True)
    for row in range(200):
        assert set(indices[row]) == set(j[i == row])
        assert (np.diff(distances[row]) >= 0).all()
    without = index.radius_neighbors_graph(mode="connectivity")
    assert without.diagonal().sum() == 0
    assert without.nnz == expected.nnz - A.sampled.sum()
    assert (without != without.T).nnz == 0


def test_rows_of_which_more_are_equal_than_neighbours_are_asked_for():
    """The first are the neighbours, also where the row itself is not among them."""
    index = index_of(np.ones((6, 4)))
    found = index.kneighbors(n_neighbors=2, return_distance=False)
    assert found.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]]


def test_graphs_have_no_neighbours_of_rows_without_samples():
    X = np.eye(6)[[0, 0, 1, 2, 2, 2]]
    X[2] = 0
    index = index_of(X, radius=0.5, n_neighbors=1)
    graph = index.kneighbors_graph(X, 2)
    assert np.diff(graph.indptr).tolist() == [2, 2, 0, 2, 2, 2]
    assert 2 not in graph.indices


def test_graphs_of_transform_ascend():
    X = families(200)
    index = index_of(X, radius=0.6)
    graph = index.transform(X)
    ends = graph.indptr
    for first, last in itertools.pairwise(ends):
        assert (np.diff(graph.data[first:last]) >= 0).all()
    by_number = index.radius_neighbors_graph(X, mode="distance")
    assert (graph.data != by_number.data).any()
    assert abs(graph - by_number).max() == 0


@pytest.mark.parametrize("parts", [[300], [150, 300]])
def test_distances_of_kernels_that_counts_do_not_give(parts):
    X = families(300)
    product = KernelProduct(maps=RERANKED[-1].maps, random_state=SEED)
    index = KernelNeighbors(product, radius=0.7)
    for first, last in itertools.pairwise([0, *parts]):
        index.partial_fit(X[first:last])
    some = np.arange(299, 0, -3)
    queries = index.map_.encode(X[some], packed=True)
    i, j, similarity = similar_pairs(queries, 0.3, other=index.codes_, recall=1)
    graph = index.radius_neighbors_graph(X[some], mode="distance").tocoo()
    assert len(i) > len(some)
    np.testing.assert_array_equal([graph.row, graph.col], [i, j])
    np.testing.assert_allclose(graph.data, 1 - similarity, atol=1e-12)


def pairs_of_similarity(shared, n_pairs=300, n_members=40, seed=0):
    """Rows 2 i and 2 i + 1 are sets with `n_members` members together, of which both have
    `shared`; no others have one in common."""
    rng = np.random.default_rng(SEED + seed)
    columns = rng.permutation(n_pairs * n_members).reshape(n_pairs, n_members)
    half = (n_members - shared) // 2
    first, second = (
        columns[:, : shared + half],
        columns[:, list(range(shared)) + list(range(-half, 0))],
    )
    rows = np.stack([first, second], axis=1).reshape(2 * n_pairs, -1)
    indptr = np.arange(2 * n_pairs + 1) * rows.shape[1]
    shape = 2 * n_pairs, columns.size
    return sp.csr_array(
        (np.ones(rows.size), np.sort(rows, axis=1).reshape(-1), indptr), shape=shape
    )


RERANKED = [
    MinHash(n_hashes=64, random_state=SEED),
    MinHash(n_hashes=64, bits=1, random_state=SEED),
    SignProjection(n_hashes=128, random_state=SEED),
    RandomFourier(n_components=128, gamma=0.01, random_state=SEED),
    KernelProduct(maps=(MinHash(n_hashes=128, bits=3), SignProjection(n_hashes=128))),
]


@pytest.mark.parametrize("new_map", RERANKED, ids=str)
@pytest.mark.parametrize(("algorithm", "recall"), [("auto", 0.8), ("lsh", 0.95), ("brute", 0.5)])
def test_recall_of_rerank_at_the_threshold(new_map, algorithm, recall):
    """Pairs whose exact kernel is the threshold: half of their estimates are below it."""
    X = pairs_of_similarity(28, n_pairs=100)
    threshold = new_map.fit(X).exact_kernel(X[:1], X[1:2])[0, 0]
    radius = 1 - threshold
    shares = []
    for seed in range(3):
        index = KernelNeighbors(
            new_map.set_params(random_state=SEED + seed),
            algorithm=algorithm,
            recall=recall,
            rerank=True,
        ).fit(X)
        i, j, similarity = index.similar_pairs(threshold)
        assert (i // 2 == j // 2).all()
        np.testing.assert_allclose(similarity, threshold)
        graph = index.radius_neighbors_graph(X[::2], radius, mode="distance")
        n_found = graph.nnz - (graph.data < 1e-9).sum()
        nearest = index.kneighbors(X[::2], 2, return_distance=False)
        near = (nearest == np.arange(1, 200, 2)[:, None]).any(axis=1).sum()
        shares.append(np.array([len(i), n_found, near]) / 100)
    wanted = 1 if algorithm == "brute" else recall
    error = np.sqrt(recall * (1 - recall) / (100 * 3)) * (algorithm != "brute")
    assert (np.mean(shares, axis=0) >= wanted - theorems.N_STANDARD_ERRORS * error).all()


@pytest.mark.parametrize("shared", [20, 28, 32])
def test_pairs_at_the_radius_are_within_it(shared):
    X = pairs_of_similarity(shared, n_pairs=20)
    index = KernelNeighbors(MinHash(random_state=SEED), rerank=True, recall=1.0).fit(X)
    threshold = shared / 40
    assert len(index.similar_pairs(threshold)[0]) == 20
    assert len(index.similar_pairs(threshold + 1e-6)[0]) == 0
    for rows in (X, None):
        own = 40 if rows is X else 0
        assert index.radius_neighbors_graph(rows, 1 - threshold).nnz == own + 40
        assert index.radius_neighbors_graph(rows, 1 - threshold - 1e-6).nnz == own


@pytest.mark.parametrize("recall", [0.5, 0.9, 1.0])
def test_recall_of_rerank_among_nearest_rows(recall):
    """Of the k nearest rows by the exact kernel, at least this share is found."""
    X = families(300)
    X = X[np.diff(X.indptr) > 0]
    shares = []
    for seed in range(5):
        new_map = MinHash(n_hashes=32, random_state=SEED + seed)
        index = KernelNeighbors(new_map, rerank=True, recall=recall).fit(X)
        K = index.map_.exact_kernel(X)
        distances, _ = index.kneighbors(X, 3)
        last = np.sort(1 - K, axis=1)[:, 2:3]
        shares.append((distances <= last + 1e-12).mean())
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert np.mean(shares) >= recall - theorems.N_STANDARD_ERRORS * error


@pytest.mark.parametrize("new_map", RERANKED, ids=str)
def test_the_exact_kernel_of_pairs_takes_no_memory_for_columns(new_map):
    X = pairs_of_similarity(20, n_pairs=20).tocoo()
    wide = 2**40
    X = sp.csr_array((X.data, (X.row, X.col.astype(np.int64) * (wide // 800))), shape=(40, wide))
    index = KernelNeighbors(new_map, rerank=True, recall=1.0).fit(X)
    pairs = {(row, row + 1) for row in range(0, 40, 2)}
    tracemalloc.start()
    i, j, _ = index.similar_pairs(0.3)
    assert pairs <= set(zip(i.tolist(), j.tolist(), strict=True))
    index.kneighbors(X[:3], 2)
    index.radius_neighbors_graph(X[:3], 0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


def test_candidates_of_many_rows_are_compared_some_at_a_time(set_limits):
    X = families(60)
    index = index_of(X, rerank=True)
    expected = index.kneighbors(X, 5), index.similar_pairs(0.5)
    set_limits(_exact, _PAIRS=7, _KERNEL_ROWS=7)
    set_limits(_index_search, _CANDIDATES=7)
    for one, two in zip((index.kneighbors(X, 5), index.similar_pairs(0.5)), expected, strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_array_equal(a, b)


def test_rows_are_added_and_removed():
    X = families()
    index = KernelNeighbors(MinHash(n_hashes=64, random_state=SEED), rerank=True)
    for start in range(0, 600, 200):
        index.partial_fit(X[start : start + 200])
    whole = KernelNeighbors(MinHash(n_hashes=64, random_state=SEED), rerank=True).fit(X)
    np.testing.assert_array_equal(index.codes_.array, whole.codes_.array)
    for one, other in zip(index.kneighbors(X), whole.kneighbors(X), strict=True):
        np.testing.assert_array_equal(one, other)
    removed = np.arange(0, 600, 3)
    index.remove(removed).remove(0)
    found = index.kneighbors(X, return_distance=False)
    assert not np.isin(found, removed).any()
    kept = whole.kneighbors(X, 100, return_distance=False)
    assert found.max() > 590  # the others keep their numbers
    for row in (1, 2, 4):
        left = kept[row][~np.isin(kept[row], removed)]
        assert found[row][0] == left[0]
    i, j, _ = index.similar_pairs(0.7)
    assert not np.isin(np.concatenate([i, j]), removed).any()


def with_about(path, change):
    """Write the codes of an index again, with another description."""
    packed, contents = open_file(path, None)
    change(contents.description, packed)
    packed.save(path, {key: contents.description[key] for key in ("index", "index_version")})


def with_rows(path, **arrays):
    """Replace arrays of the rows that a reranking index keeps."""
    name = f"{path}.rows.npz"
    with np.load(name) as file:
        arrays = {**file, **arrays}
    np.savez(name, **arrays)


def with_header(path, text):
    """Replace the header of an array of the rows, and drop its values."""
    name = f"{path}.rows.npz"
    with zipfile.ZipFile(name) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    members["data.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with zipfile.ZipFile(name, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: with_about(path, lambda a, _: a.update(index=3)), "parameters cannot be"),
        (lambda path: with_about(path, lambda a, _: a["index"].pop("recall")), "parameters cannot"),
        (lambda path: with_about(path, lambda a, _: a["index"].update(x=1)), "parameters cannot"),
        (lambda path: with_about(path, lambda a, _: a["index"].update(recall="x")), "recall must"),
        (
            lambda path: with_about(path, lambda _, c: c.config.update({"class": []})),
            "damaged: its description",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config["parameters"].update(bits=2)),
            "do not belong to its map",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config["parameters"].update(n_hashes=9)),
            "do not belong to its map",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config["parameters"].update(bits=10**11)),
            "index.npy is damaged: bits must be",
        ),
        (
            lambda path: with_about(path, lambda _, c: c.config.update({"class": "PCA"})),
            "index.npy is damaged: class of config must be",
        ),
        (
            lambda path: with_about(
                path,
                lambda _, c: c.config["parameters"].update(
                    bits=functools.reduce(lambda nested, _: [nested], range(400), 1)
                ),
            ),
            "index.npy is damaged",
        ),
        (lambda path: with_rows(path, indptr=np.arange(601) * 10**6), "no sound sparse matrix"),
        (lambda path: with_rows(path, shape=np.array([600, 1])), "no sound sparse matrix"),
        (lambda path: with_rows(path, format=np.array(b"xyz")), "no sound sparse matrix"),
        (
            lambda path: with_rows(path, shape=np.array([1, 5]), indptr=np.array([0, 0])),
            "must have the 600 rows of the index, got 1",
        ),
        (
            lambda path: with_rows(path, shape=np.array([601, 5]), indptr=np.zeros(602, int)),
            "must have the 600 rows of the index, got 601",
        ),
        (lambda path: Path(f"{path}.rows.npz").write_bytes(b"PK"), "no sound sparse matrix"),
        (lambda path: with_header(path, b"(" * 60_000), "no sound sparse matrix"),
        (lambda path: with_header(path, b"{'descr': " + b"[" * 3000), "no sound sparse matrix"),
        (
            lambda path: with_header(
                path, b"{'descr': '<f8', 'fortran_order': False, 'shape': (2**43,), }\n"
            ),
            "no sound sparse matrix",
        ),
        (
            lambda path: with_header(
                path, b"{'descr': '<f8', 'fortran_order': False, 'shape': (8796093022208,), }\n"
            ),
            "no sound sparse matrix",
        ),
    ],
)
def test_files_that_are_damaged(tmp_path, damage, message, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH")  # Python 3.14 gives archives this date, from 1980
    path = tmp_path / "index.npy"
    index_of(families(), rerank=True).save(path)
    damage(path)
    with pytest.raises(ValueError, match=message):
        KernelNeighbors.load(path)


@posix
def test_rows_appear_with_their_codes(tmp_path):
    """Where the codes cannot be written, the rows of the file before stay."""
    path = tmp_path / "index.npy"
    X = families()
    index = KernelNeighbors(MinHash(n_hashes=2048, random_state=SEED), rerank=True).fit(X)
    index.save(path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    index.partial_fit(X)
    most = 3 * len(before["index.npy.rows.npz"])
    assert most < len(before["index.npy"])
    with largest_file(most), pytest.raises(OSError, match="too large"):
        index.save(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("rerank", [False, True])
def test_files_and_pickles(rerank, tmp_path):
    X = families()
    index = index_of(X, rerank=rerank, n_neighbors=3).remove([1, 2])
    index.save(tmp_path / "index.npy")
    for other in (
        KernelNeighbors.load(tmp_path / "index.npy"),
        KernelNeighbors.load(tmp_path / "index.npy", mmap_mode=None),
        pickle.loads(pickle.dumps(index)),
    ):
        for one, two in zip(index.kneighbors(X), other.kneighbors(X), strict=True):
            np.testing.assert_array_equal(one, two)
        assert other.rerank == rerank
        assert other.n_features_in_ == index.n_features_in_ == X.shape[1]
        other.partial_fit(X[:5]).remove(7)
    whole = (tmp_path / "index.npy").read_bytes()
    (tmp_path / "index.npy").write_bytes(whole[:-1])
    with pytest.raises(ValueError, match="cut short"):
        KernelNeighbors.load(tmp_path / "index.npy")
    index.codes_.save(tmp_path / "codes.npy")
    with pytest.raises(ValueError, match="holds packed codes and no index"):
        KernelNeighbors.load(tmp_path / "codes.npy")


def test_neighbours_of_graph_based_estimators():
    X = families()
    X = X[np.diff(X.indptr) > 0]
    y = np.arange(X.shape[0]) // 30
    new_map = MinHash(n_hashes=256, random_state=SEED)
    clusters = make_pipeline(
        KernelNeighbors(new_map, radius=0.5), DBSCAN(eps=0.5, min_samples=2, metric="precomputed")
    ).fit_predict(X)
    assert 10 < clusters.max() < 300
    model = make_pipeline(KernelNeighbors(new_map), KNeighborsClassifier(2, metric="precomputed"))
    assert model.fit(X, y).score(X, y) > 0.5
    embedded = make_pipeline(
        KernelNeighbors(new_map, n_neighbors=20), Isomap(n_neighbors=20, metric="precomputed")
    ).fit_transform(X)
    assert np.isfinite(embedded).all()
    graph = index_of(X).kneighbors_graph(X, 2)
    assert (graph.data == 1).all()
    assert (np.diff(graph.indptr) == 2).all()
