"""Which rows are removed, and the kept row that each is near: rule "kept"."""

import tracemalloc
from collections import defaultdict

import numpy as np
import pytest
from _data.chance import SEED
from _data.code_pairs import sorted_pairs
from _data.rows import families
from _oracles import theorems

from sparsemaps import KernelProduct, MinHash, SignProjection
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._packed import with_rows
from sparsemaps.neighbors import _bands, _removals, _search, removals
from sparsemaps.neighbors._hashing import SearchRun, Sizes


def near_codes(n_rows, seed=0, n_codes=64, n_families=25, share=0.4):
    """Rows of families: some codes of a family's first row are replaced. A few have no samples."""
    rng = np.random.default_rng(SEED + seed)
    array = rng.integers(0, 256, (n_families, n_codes), np.uint8)[
        rng.integers(0, n_families, n_rows)
    ]
    is_new = rng.random(array.shape) < rng.random((n_rows, 1)) * share
    array[is_new] = rng.integers(0, 256, int(is_new.sum()))
    sampled = rng.random(n_rows) > 0.02
    return with_rows(PackedCodes(array, 8, {}), array, sampled)


def one_by_one(codes, threshold, recall=0.95, key=None, earlier=None, max_bucket=1000):
    """The rule, word by word: each row in its order is compared with the kept rows of its buckets,
    of which a bucket takes the first `max_bucket`."""
    both = codes if earlier is None else PackedCodes.concatenate([earlier, codes])
    n_given = len(both) - len(codes)
    least = _search.least_agreeing(codes, threshold)
    bands = _bands.fixed_bands(codes.bits, codes.n_hashes, least, recall)
    length, n_bands = bands
    spans = [slice(band * length, (band + 1) * length) for band in range(n_bands)] + [slice(None)]
    order = np.arange(n_given, len(both))
    if key is not None:
        order = order[np.argsort(key, kind="stable")]
    buckets, places, answer = defaultdict(list), {}, {}
    for row in [*range(n_given), *order]:
        if not both.sampled[row]:
            continue
        own = [(number, both.array[row, span].tobytes()) for number, span in enumerate(spans)]
        places[row] = len(places)
        if row >= n_given:
            found = {other for bucket in own for other in buckets[bucket]}
            agreeing = {other: (both.array[other] == both.array[row]).sum() for other in found}
            near = [other for other, n in agreeing.items() if n >= least]
            if near:
                witness = min(near, key=places.__getitem__)
                answer[row - n_given] = witness, codes.kernel(agreeing[witness])
                continue
        for bucket in own:
            if len(buckets[bucket]) < max_bucket:
                buckets[bucket].append(row)
    removed = sorted(answer)
    witness = np.array([answer[row][0] for row in removed], int) - n_given
    witness[witness < 0] += len(both)
    return np.array(removed), witness, np.array([answer[row][1] for row in removed])


def first_independent(near, order):
    """The lexicographically first maximal independent set of a graph, as witnesses."""
    witness = np.full(len(near), -1)
    place = np.argsort(order)
    for row in order:
        before = [
            other for other in np.flatnonzero(near[row])
            if witness[other] < 0 and place[other] < place[row]
        ]  # fmt: skip
        if before:
            witness[row] = min(before, key=place.__getitem__)
    return witness


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("max_bucket", [2, 7, 1000])
def test_each_row_in_its_order(seed, max_bucket, tmp_path):
    """The answer is that of the rule, row by row, whatever is done at a time, and whether rows are
    in memory or in files."""
    codes, earlier = near_codes(260, seed), near_codes(60, 100 + seed)
    earlier = PackedCodes.concatenate([earlier, codes[::29]])
    key = np.random.default_rng(SEED + seed).integers(0, 50, len(codes))
    for threshold, by, before in (
        (0.8, None, None), (0.8, key, None), (0.7, None, earlier), (0.85, key, earlier),
    ):  # fmt: skip
        expected = one_by_one(codes, threshold, key=by, earlier=before, max_bucket=max_bucket)
        assert 30 < len(expected[0]) < 235
        near = _removals.by_estimate(codes, before, threshold, 0.95)
        # The tables take 8 bytes for each key at most, and have a row for each of a block.
        for n_jobs, n_keys, block in ((1, 2**20, 1024), (2, 100, 7), (1, 50, 16), (3, 1125, 30)):
            sizes = Sizes(keys=n_keys, block=block, answers=64, mapped=1)
            folder = None if n_jobs == 2 else tmp_path
            how = SearchRun(max_bucket, n_jobs, sizes)
            found = _removals.removed_rows(codes, before, near, by, how, folder)
            assert_equal(found, expected)
            assert isinstance(found.witness, np.memmap) == (n_jobs != 2 and by is None)
            assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "new_map",
    [
        MinHash(n_hashes=128, random_state=SEED),
        SignProjection(n_hashes=256, random_state=SEED),
        KernelProduct(random_state=SEED),
        KernelProduct(
            maps=(MinHash(n_hashes=128, bits=1), SignProjection(n_hashes=128)), random_state=SEED
        ),
    ],
    ids=str,
)
def test_recall_1_is_the_first_independent_set_of_all_pairs(new_map):
    X = families(400)
    codes = new_map.fit(X).encode(X, packed=True)
    near = np.zeros((len(codes), len(codes)), bool)
    i, j, similarity = _search.similar_codes(codes, None, 0.8, 1.0)
    near[i, j] = near[j, i] = True
    of_pair = dict(zip(zip(i.tolist(), j.tolist(), strict=True), similarity.tolist(), strict=True))
    key = np.random.default_rng(SEED).random(len(codes))
    for by in (None, key):
        order = np.arange(len(codes)) if by is None else np.argsort(by)
        witness = first_independent(near, order)
        removed = np.flatnonzero(witness >= 0)
        assert len(removed) > 40
        found = removals(codes, 0.8, recall=1, key=by)
        pairs = np.sort(np.stack([removed, witness[removed]]), axis=0).T.tolist()
        assert_equal(found, (removed, witness[removed], [of_pair[tuple(pair)] for pair in pairs]))


@pytest.mark.parametrize("recall", [0.95, 1])
def test_deliveries_one_after_the_other(recall):
    """Wherever rows are cut into deliveries, the same rows are kept, with the same witnesses."""
    codes = near_codes(900, 5)
    whole = removals(codes, 0.8, recall=recall)
    rng = np.random.default_rng(SEED + 1)
    for _ in range(12):
        ends = np.sort(rng.integers(0, len(codes) + 1, rng.integers(1, 6)))
        numbers, parts = np.empty(0, int), []
        for start, stop in zip([0, *ends], [*ends, len(codes)], strict=True):
            rows = np.arange(start, stop)
            earlier = codes[numbers] if len(numbers) else None
            found = removals(codes[start:stop], 0.8, recall=recall, earlier=earlier)
            parts.append(
                (rows[found.removed], np.r_[rows, numbers][found.witness], found.similarity)
            )
            numbers = np.r_[numbers, np.delete(rows, found.removed)]
        assert_equal([np.concatenate(column) for column in zip(*parts, strict=True)], whole)


def test_what_is_removed_is_near_its_witness_and_what_is_kept_is_not():
    """Over seeds: a kept row is near an earlier kept row with probability 1 - recall at most."""
    shares = []
    for seed in range(20):
        X = families(400)
        codes = MinHash(n_hashes=128, random_state=SEED + seed).fit(X).encode(X, packed=True)
        removed, witness, similarity = removals(codes, 0.6)
        is_kept = np.ones(len(codes), bool)
        is_kept[removed] = False
        assert is_kept[witness].all()
        assert (witness < removed).all()
        estimates = dict(
            zip(zip(*(rows.tolist() for rows in sorted_pairs(codes, 0.6)[:2]), strict=True),
                sorted_pairs(codes, 0.6)[2], strict=True)
        )  # fmt: skip
        pairs = list(zip(witness.tolist(), removed.tolist(), strict=True))
        np.testing.assert_allclose(similarity, [estimates[pair] for pair in pairs])
        missed = sum(bool(is_kept[i] and is_kept[j]) for i, j in estimates)
        shares.append(missed / (missed + len(removed)))
    error = np.std(shares, ddof=1) / np.sqrt(len(shares))
    assert np.mean(shares) <= 0.05 + theorems.N_STANDARD_ERRORS * error


def chain(n_rows):
    """Rows of which each differs in 8 of 64 codes from the one before: 56 agree, then 48."""
    steps = np.arange(n_rows)[:, None] - np.arange(64)[None, :] // 8
    values = (steps // 8).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    values ^= np.arange(64, dtype=np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
    return PackedCodes(((values * np.uint64(0x94D049BB133111EB)) >> np.uint64(56)).astype(np.uint8),
                       8, {})  # fmt: skip


@pytest.mark.parametrize("n_rows", [100, 100_000])
def test_a_long_chain(n_rows):
    """Each row is near the one before, and not near the one before that: every second is kept."""
    codes = chain(n_rows)
    removed, witness, similarity = removals(codes, 0.8)
    np.testing.assert_array_equal(removed, np.arange(1, n_rows, 2))
    np.testing.assert_array_equal(witness, removed - 1)
    agreeing = (codes.array[removed] == codes.array[witness]).sum(axis=1)  # 56, or more by chance
    np.testing.assert_allclose(similarity, codes.kernel(agreeing))


def test_copies_are_found_in_full_buckets():
    """Rows share the codes of all bands and of one band more, and are not near: all their buckets
    are full after the first of them. Copies are removed all the same."""
    array = np.zeros((60, 64), np.uint8)
    bands = _bands.fixed_bands(8, 64, 45, 0.95)
    n_shared = bands.length * (bands.n_bands + 1)
    assert n_shared < 45
    array[:, n_shared:] = np.arange(1, 61)[:, None]
    codes = PackedCodes(np.concatenate([array, array[::-1]]), 8, {})
    near = _removals.by_estimate(codes, None, 0.7, 0.95)
    assert near.least == 45
    removed, witness, similarity = _removals.removed_rows(codes, None, near, None, SearchRun(1))
    np.testing.assert_array_equal(removed, np.arange(60, 120))
    np.testing.assert_array_equal(witness, np.arange(59, -1, -1))
    np.testing.assert_array_equal(similarity, 1)


@pytest.mark.parametrize("recall", [0.95, 1])
def test_memory_does_not_grow_with_the_pairs(recall):
    """A family of 6,000 near copies has 18 million pairs; 20,000 equal rows have 200 million."""
    n_rows = 20_000 if recall < 1 else 6_000
    rng = np.random.default_rng(SEED)
    array = np.repeat(rng.integers(0, 256, (1, 64), np.uint8), n_rows, axis=0)
    copies = PackedCodes(array.copy(), 8, {})
    array[np.arange(n_rows)[:, None], rng.integers(0, 64, (n_rows, 4))] += 1
    for codes, n_removed in ((PackedCodes(array, 8, {}), n_rows * 0.9), (copies, n_rows - 1)):
        tracemalloc.start()
        found = removals(codes, 0.8, recall=recall).removed
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(found) >= n_removed
        assert peak < 50 * n_rows + 2**25


def test_rows_that_were_in_no_pair_before():
    """A pair stays if one of its rows is new: rows of one set, and of two."""
    of_one, of_two = _search.first_pairs(4, None), _search.first_pairs(2, 4)
    i, j = np.array([0, 0, 0]), np.array([1, 2, 1])
    assert of_one(i, j).tolist() == [True, True, False]
    assert of_one(np.array([1, 2]), np.array([2, 3])).tolist() == [False, True]
    assert of_two(i, j).tolist() == [True, True, False]
    assert of_two(np.array([0, 1]), np.array([2, 2])).tolist() == [False, True]


@pytest.mark.parametrize("recall", [0.95, 1])
def test_memory_does_not_grow_with_the_candidates(recall):
    """Of a family of 3,000 near copies, of which 4 million pairs are decided: none is kept.
    Each row is in a pair that tells which rows are read."""
    n_rows = 3000
    rng = np.random.default_rng(SEED)
    array = np.repeat(rng.integers(0, 256, (1, 64), np.uint8), n_rows, axis=0)
    array[np.arange(n_rows)[:, None], rng.integers(0, 64, (n_rows, 4))] += 1
    codes, least = PackedCodes(array, 8, {}), 52
    decided, new = [], _search.first_pairs(n_rows, None)

    def refuse(i, j):
        assert (np.diff(i) >= 0).all()
        assert (i < j).all()
        decided.append(len(i))
        return np.zeros(len(i), bool)

    for find, least_decided, most_decided, n_found in (
        (lambda: _search.filtered(codes, None, least, recall, refuse, SearchRun()), 4e6, 1e9, 0),
        (lambda: _search.filtered(codes, None, least, recall, new, SearchRun()), 0, 0, None),
    ):
        decided.clear()
        tracemalloc.start()
        i, j = find()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert least_decided <= sum(decided) <= most_decided
        assert peak < 50 * n_rows + 2**25
        if n_found is None:
            np.testing.assert_array_equal(np.unique(np.r_[i, j]), np.arange(n_rows))
            assert len(i) < 30 * n_rows
        else:
            assert len(i) == n_found


def test_copies_are_decided(monkeypatch):
    """Also those that are so many that they are not compared with one another. Rows so few would
    all be compared."""
    monkeypatch.setattr(_bands, "bands_for_rows", lambda *how: _bands.fixed_bands(8, 64, *how[2:]))
    codes = PackedCodes(np.ones((40, 64), np.uint8), 8, {})
    decided = set()

    def refuse(i, j):
        decided.update(zip(i.tolist(), j.tolist(), strict=True))
        return np.zeros(len(i), bool)

    i, _ = _search.filtered(codes, None, 52, 0.95, refuse, SearchRun(10))
    assert not len(i)
    assert {j for i, j in decided if i == 0} == set(range(1, 40))


def test_tables_are_as_large_as_asked_for(monkeypatch):
    """No larger, and the answer is that of tables for all rows."""
    codes = near_codes(20_000, share=0.2)
    expected = removals(codes, 0.9)
    n_bytes = []
    begin = _removals._Sweep.begin

    def made(self, capacity):
        n_bytes.append(capacity * self.row_bytes)
        begin(self, capacity)

    monkeypatch.setattr(_removals._Sweep, "begin", made)
    assert_equal(removals(codes, 0.9, max_bytes=2**20), expected)
    assert 2**18 < max(n_bytes) <= 2**20


def test_parameters():
    codes = near_codes(50)
    for found in (removals(codes[:0], 0.8), removals(codes[:1], 0.8)):
        assert [len(column) for column in found] == [0, 0, 0]
    for wrong, words in (
        ({"threshold": 0}, "threshold must be above 0 and at most 1, got 0"),
        ({"threshold": 0.8, "recall": 1.5}, "recall must be above 0 and at most 1"),
        ({"threshold": 0.8, "key": np.zeros(49)}, r"key must be of shape \(50,\), got \(49,\)"),
        ({"threshold": 0.8, "key": np.zeros(51)}, r"key must be of shape \(50,\), got \(51,\)"),
        ({"threshold": 0.8, "max_bytes": 5}, "max_bytes must be"),
        ({"threshold": 0.8, "earlier": PackedCodes(np.zeros((2, 9), np.uint8), 8, {})}, "codes"),
    ):
        with pytest.raises(ValueError, match=words):
            removals(codes, **wrong)
