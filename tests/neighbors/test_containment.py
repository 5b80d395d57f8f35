"""Sets that are contained in others: the law of the estimate, and what is found."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _oracles import theorems
from scipy import stats

from sparsemaps import ConsistentWeightedSampling, MinHash, codes, neighbors
from sparsemaps._tools import _blocks
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._packed import with_rows
from sparsemaps.neighbors import _containment
from sparsemaps.neighbors._hashing import SearchRun
from sparsemaps.text import HashingVectorizer, _inputs


def matrix_of(sets, width=10**6):
    indptr = np.cumsum([0] + [len(one) for one in sets])
    return sp.csr_array((np.ones(indptr[-1]), np.concatenate(sets), indptr), (len(sets), width))


def parts_of_sets(n_sets, seed=0):
    """Sets of 40 to 120 members, of each a part with other members mixed in, and an empty one."""
    rng = np.random.default_rng(SEED + seed)
    sets = [rng.choice(10**6, rng.integers(40, 120), replace=False) for _ in range(n_sets)]
    for one in sets[:n_sets]:
        part = rng.choice(one, len(one) // 2, replace=False)
        changed = rng.random(len(part)) < rng.choice([0, 0.1, 0.3])
        part[changed] = rng.integers(0, 10**6, changed.sum())
        sets.append(np.unique(part))
    return matrix_of([*sets, np.empty(0, int)])


def all_contained(A, threshold, B=None):
    """Pairs and estimates by the formula, from the matrix of all."""
    other = A if B is None else B
    J, std = A.kernel(codes.collisions(A, other), return_std=True)
    a, b = A.sizes[:, None].astype(float), other.sizes.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        C = J * (a + b) / ((1 + J) * a)
        error = std * (a + b) / (a * (1 + J) ** 2)
    wanted = (threshold - 1e-12 <= C) & A.sampled[:, None] & other.sampled
    if B is None:
        np.fill_diagonal(wanted, False)
    i, j = np.nonzero(wanted)
    return i, j, C[i, j], error[i, j]


# ---- sizes ---------------------------------------------------------------------------------------


def test_sizes_are_kept(tmp_path):
    X = sp.csr_array(np.array([[1.0, 0, 2], [0, 0, 0], [1, 1, 1], [0, -1, 0]]))
    X.data[0] = 0  # stored, and no member
    A = MinHash(n_hashes=20, bits=3, random_state=SEED).fit(X).encode(X, packed=True)
    assert A.sizes.tolist() == [1, 0, 3, 1]
    assert A.sizes.dtype == np.uint32
    assert A[1:3].sizes.tolist() == [0, 3]
    assert A[np.array([2, 0])].sizes.tolist() == [3, 1]
    assert A[-1].sizes.tolist() == [1]
    assert PackedCodes.concatenate([A, A[:1]]).sizes.tolist() == [1, 0, 3, 1, 1]
    unknown = PackedCodes(A.array, 3, A.config, n_hashes=20)
    assert unknown.sizes is None
    assert PackedCodes.concatenate([A, unknown]).sizes is None
    A.save(tmp_path / "codes.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "codes.npy"), A.array)
    for mmap_mode in ("r", None):
        loaded = PackedCodes.load(tmp_path / "codes.npy", mmap_mode=mmap_mode)
        np.testing.assert_array_equal(loaded.sizes, A.sizes)
        np.testing.assert_array_equal(loaded.sampled, A.sampled)
        np.testing.assert_array_equal(loaded.array, A.array)
    twice = sp.csr_array((np.ones(3), np.array([5, 5, 2]), np.array([0, 3])), (1, 9))
    assert MinHash().fit(twice).encode(twice, packed=True).sizes.tolist() == [2]
    weighted = ConsistentWeightedSampling().fit(twice).encode(twice, packed=True)
    assert weighted.sizes is None


def test_sizes_of_texts():
    words = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
    texts = ["one two three", "", "one one"]
    minhash = MinHash(random_state=SEED).fit(words.transform(texts))
    assert minhash.encode_texts(words, texts, packed=True).sizes.tolist() == [3, 0, 1]


def test_sizes_of_several_blocks():
    """Of a matrix whose blocks are smaller than it, and of texts of several blocks."""
    X = sp.random_array((700, 1000), density=0.8, format="csr", random_state=SEED)
    assert X.nnz > 2 * _blocks.BLOCK_ENTRIES
    minhash = MinHash(n_hashes=8, random_state=SEED).fit(X)
    assert minhash.encode(X, packed=True).sizes.tolist() == np.diff(X.indptr).tolist()
    words = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
    texts = [" ".join(f"w{word}" for word in range(n % 700)) for n in range(300)]
    assert sum(map(len, texts)) > _inputs.BLOCK_CHARACTERS
    minhash.fit_any_width()
    found = minhash.encode_texts(words, texts, packed=True)
    assert found.sizes.tolist() == np.diff(words.transform(texts).indptr).tolist()


@pytest.mark.parametrize(
    "sizes", [[1, 2], [1.0, 2, 3], [1, 2, -3], [1, 2, 2**32], [[1], [2], [3]], "abc"]
)
def test_wrong_sizes(sizes):
    with pytest.raises(ValueError, match=r"sizes must be"):
        PackedCodes(np.ones((3, 8), np.uint8), 8, {}, sizes=sizes)


# ---- the estimate --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "shared"), [(3000, 3600, 2700), (2000, 5000, 2000), (5000, 2000, 2000)]
)
@pytest.mark.parametrize("bits", [2, 8])
def test_mean_and_standard_error(a, b, shared, bits):
    """Of sets with many more members than there are hashes; of smaller ones, the error is less."""
    members = np.random.default_rng(SEED).choice(10**6, a + b - shared, replace=False)
    X = matrix_of([members[:a], members[a - shared :]])
    found = []
    for seed in range(200):
        A = MinHash(n_hashes=512, bits=bits, random_state=SEED + seed).fit(X).encode(X, packed=True)
        _, _, containment, std = neighbors.contained_pairs(
            A[:1], 1e-3, other=A[1:], recall=1, return_std=True
        )
        found.append((containment[0], std[0]))
    containment, std = np.array(found).T
    exact, n = shared / a, len(found)
    error = containment.std(ddof=1) / np.sqrt(n)
    assert abs(containment.mean() - exact) <= theorems.N_STANDARD_ERRORS * error
    spread = containment.std(ddof=1)
    assert abs(spread / std.mean() - 1) <= theorems.N_STANDARD_ERRORS / np.sqrt(2 * n)


def test_the_error_that_the_specification_gives():
    """Sizes 1:100 and a containment of 1."""
    for n_hashes, expected in ((256, 0.73), (1024, 0.36), (16_384, 0.09)):
        array = np.zeros((2, n_hashes), np.uint8)
        A = PackedCodes(array, 8, {}, sampled=[True, True], sizes=[10, 1000])
        if expected > 0.1:
            with pytest.raises(ValueError, match=rf"error of {expected}; n_hashes="):
                neighbors.contained_pairs(A[:1], 1.0, other=A[1:])
        else:
            neighbors.contained_pairs(A[:1], 1.0, other=A[1:])


# ---- what is found -------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_recall_1_finds_all(threshold, n_jobs):
    X = parts_of_sets(80)
    A = MinHash(n_hashes=1024, random_state=SEED).fit(X).encode(X, packed=True)
    for B in (None, A[40:]):
        found = neighbors.contained_pairs(
            A, threshold, other=B, recall=1, return_std=True, n_jobs=n_jobs
        )
        expected = all_contained(A, threshold, B)
        assert len(expected[0]) > 3
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, two)
        assert found[0].dtype == found[1].dtype == np.int64


def test_directions():
    """The small set is in the large one, and that not in the small one."""
    X = matrix_of([np.arange(100), np.arange(20), np.arange(20, 60)])
    A = MinHash(n_hashes=2048, random_state=SEED).fit(X).encode(X, packed=True)
    i, j, _ = neighbors.contained_pairs(A, 0.8)
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(1, 0), (2, 0)]
    i, j, _ = neighbors.contained_pairs(A[:1], 0.8, other=A[1:])
    assert not len(i)
    i, j, _ = neighbors.contained_pairs(A[1:], 0.8, other=A[:1])
    assert i.tolist() == [0, 1]


def decided(codes, other, threshold, recall, decide):
    """As a job does with an exact containment."""
    i, j = _containment.candidates(codes, other, threshold, recall, decide, SearchRun())
    return _containment.directed(i, j, other is None, decide)


def test_directions_of_pairs_that_are_decided():
    """Of two sets in one class of sizes, the first may hold the second."""
    sets = [np.arange(100), np.arange(98)]
    X = matrix_of(sets)
    A = MinHash(n_hashes=512, random_state=SEED).fit(X).encode(X, packed=True)
    assert len(_containment._classes(A)) == 1

    def is_contained(i, j):
        shared = [len(np.intersect1d(sets[a], sets[b])) for a, b in zip(i, j, strict=True)]
        return np.array(shared) >= 0.99 * np.array([len(sets[a]) for a in i])

    i, j = decided(A, None, 0.99, 1.0, is_contained)
    assert (i.tolist(), j.tolist()) == ([1], [0])


@pytest.mark.parametrize(("recall", "n_sets"), [(0.5, 300), (0.9, 1000)])
def test_recall_of_hashing(recall, n_sets):
    """Over seeds, pairs whose estimate reaches the threshold are found with the recall. There are
    so many sets that to compare all of them costs more."""
    X = parts_of_sets(n_sets)
    shares = []
    for seed in range(8):
        A = MinHash(n_hashes=384, random_state=SEED + seed).fit(X).encode(X, packed=True)
        expected = set(zip(*all_contained(A, 0.7)[:2], strict=True))
        i, j, _ = neighbors.contained_pairs(A, 0.7, recall=recall)
        found = set(zip(i, j, strict=True))
        assert found <= expected
        shares.append(len(found) / len(expected))
    assert min(shares) < 1
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert np.mean(shares) >= recall - theorems.N_STANDARD_ERRORS * error


def test_the_threshold_of_a_pair_of_classes_is_below_that_of_each_pair():
    """So that no class loses a pair that the estimate would take."""
    rng = np.random.default_rng(SEED)
    for _ in range(300):
        first, second = (np.sort(rng.integers(1, 2000, 5)).astype(float) for _ in range(2))
        c = rng.uniform(0.05, 1)
        least = _containment._least_similarity(first.min(), second.max(), c)
        a, b = np.meshgrid(first, second)
        with np.errstate(divide="ignore"):
            each = np.where(b >= c * a, c * a / (a + b - c * a), np.inf)
        assert least <= each.min() + 1e-12


# ---- bad input -----------------------------------------------------------------------------------


def test_the_number_of_hashes_that_is_named_is_enough():
    X = matrix_of([np.arange(500), np.arange(20)])
    A = MinHash(n_hashes=256, random_state=SEED).fit(X).encode(X, packed=True)
    with pytest.raises(ValueError, match=r"n_hashes of 256 is too few.* of 20 members") as error:
        neighbors.contained_pairs(A, 0.9)
    assert "fewer are enough if the smallest sets" in str(error.value)
    needed = int(re.search(r"n_hashes=(\d+)", str(error.value))[1])
    B = MinHash(n_hashes=needed - 1, random_state=SEED).fit(X).encode(X, packed=True)
    with pytest.raises(ValueError, match="too few"):
        neighbors.contained_pairs(B, 0.9)
    n_found, n_seeds = 0, 40
    for seed in range(n_seeds):
        minhash = MinHash(n_hashes=needed, random_state=SEED + seed).fit(X)
        i = neighbors.contained_pairs(minhash.encode(X, packed=True), 0.9)[0]
        assert (i == 1).all()
        n_found += len(i)
    # The standard error is 0.1 at a containment of 0.9, and below 0.11 at the one of here, 1.
    share = stats.norm.cdf(0.1 / 0.11)
    least = share - theorems.N_STANDARD_ERRORS * np.sqrt(share * (1 - share) / n_seeds)
    assert n_found / n_seeds >= least


def test_no_rows():
    X = matrix_of([np.arange(5), np.empty(0, int)])
    A = MinHash(random_state=SEED).fit(X).encode(X, packed=True)
    for one in (A[:0], A[1:]):
        assert [len(part) for part in neighbors.contained_pairs(one, 0.5, return_std=True)] == [
            0
        ] * 4
        assert len(neighbors.contained_pairs(A, 0.5, other=one)[0]) == 0


A = MinHash(random_state=SEED).fit(np.eye(4)).encode(np.eye(4), packed=True)


@pytest.mark.parametrize(
    ("arguments", "more", "message"),
    [
        ((A, 0), {}, "threshold must be"),
        ((A, 1.1), {}, "threshold must be"),
        ((A, np.nan), {}, "threshold must be"),
        ((A, 0.5), {"recall": 0}, "recall must be"),
        ((A, 0.5), {"recall": 1.5}, "recall must be"),
        ((A.array, 0.5), {}, "codes must be PackedCodes, got ndarray"),
        ((A, 0.5), {"other": A.array}, "other must be PackedCodes, got ndarray"),
        ((with_rows(A, A.array, None), 0.5), {}, "codes must have the sizes of sets"),
        (
            (A, 0.5),
            {"other": MinHash(random_state=SEED + 1).fit(np.eye(4)).encode(np.eye(4), packed=True)},
            "codes and other must be codes of the same map",
        ),
    ],
)
def test_bad_input(arguments, more, message):
    with pytest.raises(ValueError, match=message):
        neighbors.contained_pairs(*arguments, **more)


@pytest.mark.parametrize(("a", "b", "threshold"), [(16, 8, 0.5), (25, 14, 0.56), (64, 32, 0.5)])
def test_a_containment_of_the_threshold_at_the_edge_of_a_class(a, b, threshold):
    """Sets of `a` members and their subsets of `b`: the share that the subset has is the threshold,
    and no other size of either class allows a pair."""
    assert a * threshold == pytest.approx(b)
    rng = np.random.default_rng(SEED)
    large = [rng.choice(10**6, a, replace=False) for _ in range(100)]
    X = matrix_of([np.sort(one) for one in large])
    Y = matrix_of([np.sort(one[:b]) for one in large])
    minhash = MinHash(n_hashes=2048, random_state=SEED).fit(X)
    A, B = minhash.encode(X, packed=True), minhash.encode(Y, packed=True)
    i, j = decided(A, B, threshold, 0.9, keep_all)
    error = np.sqrt(0.9 * 0.1 / 100)
    assert (i == j).sum() >= 100 * (0.9 - theorems.N_STANDARD_ERRORS * error)


# ---- candidates for the exact containment --------------------------------------------------------


def keep_all(i, j):
    return np.ones(len(i), bool)


def test_candidates_at_the_threshold_are_found():
    """With the least number of hashes that is allowed, which is below that of an estimate."""
    rng = np.random.default_rng(SEED)
    sets = [rng.choice(10**7, 1000, replace=False) for _ in range(150)]
    small = [rng.choice(one, 10, replace=False) for one in sets]
    X, Y = matrix_of(small, 10**7), matrix_of(sets, 10**7)
    few = MinHash(n_hashes=64, random_state=SEED).fit(Y)
    one, other = (few.encode(rows, packed=True) for rows in (X, Y))
    with pytest.raises(ValueError, match="too few") as refused:
        decided(one, other, 1.0, 0.9, keep_all)
    assert "fewer are enough if the smallest sets" in str(refused.value)
    n_hashes = int(re.search(r"n_hashes=(\d+)", str(refused.value))[1])
    assert 1000 < n_hashes < 8000
    found = []
    for seed in range(2):
        minhash = MinHash(n_hashes=n_hashes, random_state=SEED + seed).fit(Y)
        one, other = (minhash.encode(rows, packed=True) for rows in (X, Y))
        i, j = decided(one, other, 1.0, 0.9, keep_all)
        assert (np.lexsort((j, i)) == np.arange(len(i))).all()
        assert len(i) < 2 * len(sets)  # not all pairs
        found += np.isin(np.arange(150), i[i == j]).tolist()
    error = np.sqrt(0.9 * 0.1 / len(found))
    assert np.mean(found) >= 0.9 - theorems.N_STANDARD_ERRORS * error


def test_the_containment_of_exact_similarities():
    X = parts_of_sets(20)
    A = MinHash(random_state=SEED).fit(X).encode(X, packed=True)
    members = [set(row.indices.tolist()) for row in X]
    i, j = np.array([(a, b) for a in range(40) for b in range(40) if a != b]).T
    shared = np.array([len(members[a] & members[b]) for a, b in zip(i, j, strict=True)])
    either = np.array([len(members[a] | members[b]) for a, b in zip(i, j, strict=True)])
    found = _containment.of_similarity(shared / either, A, None, i, j)
    np.testing.assert_allclose(found, shared / np.array([len(members[a]) for a in i]))
