"""Pairs of codes that are hashed in parts, in little memory: the answer does not depend on it."""

import tracemalloc

import numpy as np
import pytest
from _data.chance import SEED
from _data.code_pairs import banded, banded_pairs, random_codes
from _data.rows import families
from _data.stage_names import results_in

from sparsemaps import MinHash, neighbors
from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _seeding
from sparsemaps.codes import PackedCodes
from sparsemaps.files._results import KeptSteps, Results
from sparsemaps.neighbors import _bands, _hashing
from sparsemaps.neighbors._hashing import SearchRun


@pytest.fixture
def A():
    codes = MinHash(n_hashes=64, random_state=0).fit_any_width().encode(families(400), packed=True)
    return codes[np.random.default_rng(SEED).integers(0, 400, 3000)]


@pytest.mark.parametrize("n_jobs", [None, 3])
@pytest.mark.parametrize("n_keys", [1, 40, 999, 2000])
def test_few_keys_at_a_time(A, n_keys, n_jobs):
    """One band, several, and two sets; of a part, also many more rows than on average."""
    if n_keys < 40:
        A = A[:100]
    sizes = _hashing.Sizes(keys=n_keys, call_bytes=2**13, in_place=2**13)
    for other in (None, A[::3]):
        expected = banded(A, 0.7, 0.9, other, max_bucket=4)
        found = banded(A, 0.7, 0.9, other, max_bucket=4, n_jobs=n_jobs, sizes=sizes)
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_bound_of_memory(tmp_path):
    """Beside codes that are mapped into memory: the keys of a part, room for a call, the answer."""
    array = random_codes(300_000, 8)
    array[1000:2000] = array[:1000]
    PackedCodes(array, 8, {"scheme": _seeding.SCHEME}).save(tmp_path / "codes.npy")
    codes = PackedCodes.load(tmp_path / "codes.npy")
    sizes = _hashing.Sizes(keys=2**12, pairs=2**10, call_bytes=2**16, in_place=0)
    how = codes, None, 0, _bands.Bands(8, 1)
    expected = banded_pairs(*how)
    tracemalloc.start()
    found = banded_pairs(*how, SearchRun(sizes=sizes))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found[0], np.arange(1000))
    rows_a_call = sizes.call_bytes // 64
    answer = 8 * len(found[0])
    bound = 8 * (sizes.keys * 17 // 16 + rows_a_call + sizes.pairs) + 20 * answer
    assert peak < bound + 2**16 < 8 * len(codes) / 4


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("is_of_two", [False, True])
def test_the_bound_is_held(tmp_path, n_jobs, is_of_two):
    """Of all threads together, beside what a thread and a row always take."""
    array = random_codes(600_000, 8)
    array[1000:2000] = array[:1000]
    PackedCodes(array, 8, {"scheme": _seeding.SCHEME}).save(tmp_path / "codes.npy")
    codes = PackedCodes.load(tmp_path / "codes.npy")
    codes, other = (codes[:300_000], codes[300_000:]) if is_of_two else (codes, None)
    tracemalloc.start()
    found = neighbors.similar_pairs(codes, 1.0, other=other, max_bytes=2**20, n_jobs=n_jobs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found[0]) == (0 if is_of_two else 1000)
    a_row, a_thread = 1, 8 * _hashing.SIZES.pairs  # whether it has samples; pairs that are found
    assert peak < 1.2 * 2**20 + 600_000 * a_row + n_jobs * a_thread + 2**18 < 8 * 600_000


def test_a_step_holds_fewer_keys_where_it_may(tmp_path):
    """Parts follow from the number of rows. Threads and memory decide in how many pieces a step
    takes its part, so that a run goes on with the steps of another one, within its own bound."""
    array = random_codes(200_000, 8)
    array[1000:2000] = array[:1000]
    codes, bands = PackedCodes(array, 8, {}), _bands.Bands(4, 2)
    before, peaks = None, []
    for keys, n_jobs in ((2**20, 1), (2**12, 1), (2**12, 2)):
        stages = KeptSteps(Results(str(tmp_path)), "", "the search")
        sizes = _hashing.Sizes(keys=keys, part=2**17, pairs=2**10, call_bytes=2**16, in_place=0)
        tracemalloc.start()
        found = banded_pairs(codes, None, 0, bands, SearchRun(1000, n_jobs, sizes, stages))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        np.testing.assert_array_equal(found[0], np.arange(1000))
        records = {n: path for n, path in results_in(tmp_path).items() if n.endswith(".json")}
        times = {name: path.stat().st_mtime_ns for name, path in records.items()}
        names = {f"pairs-{band}-{part}.npy.json" for band in (0, 1) for part in (0, 1)}
        assert set(times) == {"hashing.json", "copies.npy.json", *names}
        made = [name for name, time in times.items() if (before or {}).get(name) != time]
        assert sorted(made) == (sorted(times) if before is None else ["pairs-1-1.npy.json"])
        before = times
        records["pairs-1-1.npy.json"].unlink()
    bound = 8 * (2**12 * 17 // 16 + 2**10 + sizes.pairs) + 20 * 8 * 1000 + 2**17
    assert max(peaks[1:]) < len(codes) + bound < 0.8 * peaks[0]


def test_the_bound_that_a_user_names(monkeypatch):
    sizes = []
    before = _hashing.pairs_by_band

    def pairs_by_band(*arguments):
        sizes.append(arguments[4].sizes)
        return before(*arguments)

    monkeypatch.setattr(_hashing, "pairs_by_band", pairs_by_band)
    codes = random_codes(20_000, 8)
    for more in ({}, {"max_bytes": 2**20}):
        neighbors.similar_pairs(codes, 1.0, bits=8, **more)
    assert [one.keys for one in sizes] == [2**27, 2**17]


def test_rows_of_a_part_share_keys_less_often():
    """The more parts there are, the fewer rows of other codes are compared."""
    A, sampled = random_codes(1000, 8, n_values=4), np.ones(1000, np.uint8)
    rows = [np.empty(0, int)]
    for part in range(7):
        keys = np.empty(1000, np.uint64)
        keys = keys[: _loops.band_keys(A, sampled, 0, 64, 1, 0, 10, part, 7, keys)]
        assert 0.5 < len(keys) / (1000 / 7) < 2
        assert len(np.unique(keys >> np.uint64(51) & np.uint64(7))) == 8
        rows.append((keys & np.uint64(2**10 - 1)).astype(int))
    np.testing.assert_array_equal(np.sort(np.concatenate(rows)), np.arange(1000))


@pytest.mark.parametrize("max_bucket", [1, 5, 1000])
@pytest.mark.parametrize("call_bytes", [2**9, 2**14, 2**27])
@pytest.mark.parametrize("in_place", [0, 2**20])
def test_a_bucket_whose_rows_are_not_in_memory_at_a_time(in_place, call_bytes, max_bucket):
    """Each row is compared with the last `max_bucket` rows before it, or of the first set."""
    rng = np.random.default_rng(SEED)
    A = PackedCodes(np.zeros((400, 8), np.uint8), 8, {})
    A.array[:, 4:] = np.arange(400, dtype=np.uint32)[:, None].view(np.uint8)
    bucket = (rng.random(400) < 0.8).astype(np.uint8)
    A.array[:, :4] = bucket[:, None]
    sizes = _hashing.Sizes(keys=64, call_bytes=call_bytes, in_place=in_place)
    bands = _bands.Bands(4, 1)
    for other in (None, A[150:]):
        own = A if other is None else A[:150]
        i, j, _ = banded_pairs(own, other, 8, bands, SearchRun(max_bucket, sizes=sizes))
        expected = []
        for value in (0, 1):
            rows = np.flatnonzero(bucket == value)
            if other is None:
                before = {row: rows[rows < row] for row in rows}
            else:
                before = {row - 150: rows[rows < 150] for row in rows if row >= 150}
            expected += [(q, p) for p, some in before.items() for q in some[-max_bucket:]]
        assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == sorted(expected)


def test_bands_of_rows_that_are_copied():
    """They are longer where many rows share a bucket, since copying takes longer than hashing."""
    how = 10**9, 10**18 // 2, 8, 64, 52, 0.95, np.full(9, 1 / 256)
    bands = {copied: _bands.bands_for_rates(*how, is_copied=copied) for copied in (False, True)}
    assert bands[False].length < bands[True].length
    for length, n_bands in bands.values():
        assert _bands.recall_of((length, n_bands), 64, 52) >= 0.95
        assert _bands.recall_of((length, n_bands - 1), 64, 52) < 0.95


@pytest.mark.parametrize("max_bytes", [0, 2**20 - 1, 1.5, "x", None, True])
def test_bounds_that_are_not_allowed(max_bytes):
    with pytest.raises(ValueError, match="max_bytes must be"):
        neighbors.similar_pairs(random_codes(5, 8), 0.5, bits=8, max_bytes=max_bytes)
