"""The loops of bands, called alone."""

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps._loops import codes as kernel
from sparsemaps.neighbors import _hashing

ROW = np.uint64(2**32 - 1)


def test_rows_without_samples_are_in_no_band():
    codes = np.zeros((9, 4), np.uint8)
    sampled = (np.arange(9) % 3 > 0).astype(np.uint8)
    keys = np.zeros(9, np.uint64)
    n = kernel.band_keys(codes, sampled, 0, 32, 5, 100, 32, 0, 1, keys)
    assert (keys[:n] & ROW).tolist() == [101, 102, 104, 105, 107, 108]


def test_a_hash_has_the_bits_that_rows_leave():
    """So that few rows share it by chance."""
    codes = np.random.default_rng(SEED).integers(0, 256, (50, 8), np.uint8)
    one = np.ones(50, np.uint8)
    keys = {row_bits: np.zeros(50, np.uint64) for row_bits in (6, 20, 32)}
    for row_bits, found in keys.items():
        assert kernel.band_keys(codes, one, 0, 64, 5, 0, row_bits, 0, 1, found) == 50
        assert (found & np.uint64(2**row_bits - 1)).tolist() == list(range(50))
    for row_bits in (20, 32):
        hashes = keys[row_bits] >> np.uint64(row_bits)
        low = keys[6] >> np.uint64(6) & np.uint64(2 ** (64 - row_bits) - 1)
        np.testing.assert_array_equal(hashes, low)
    assert int(keys[6].max()) > 2**63


@pytest.mark.parametrize("row_bits", [7, 20, 32])
@pytest.mark.parametrize("first_other", [0, 3, 50, 97])
def test_rows_that_share_a_hash(row_bits, first_other):
    """In one set, and rows of both of two sets."""
    rng = np.random.default_rng(SEED + first_other)
    hashes = [int(hash) << 64 - row_bits >> 6 for hash in rng.integers(0, 60, 100)]
    by_hash = {}
    for row, hash in enumerate(hashes):
        by_hash.setdefault(hash, []).append(row)
    expected = [
        rows
        for _, rows in sorted(by_hash.items())
        if len(rows) > 1 and (not first_other or rows[0] < first_other <= rows[-1])
    ]
    assert 0 < len(expected) < len(by_hash)
    words = [hash << row_bits | row for row, hash in enumerate(hashes)]
    keys = np.sort(np.array(words, np.uint64))
    n = kernel.drop_unshared(keys, row_bits, first_other)
    found = [(int(key >> 32), int(key & 2**32 - 1)) for key in keys[:n].tolist()]
    assert found == [(number, row) for number, rows in enumerate(expected) for row in rows]


@pytest.mark.parametrize("n_bytes", [1, 3, 64, 5000])
def test_rows_are_copied_in_the_order_of_their_numbers(n_bytes):
    """From two sets, also where pages between two rows are read, and where the gap is longer."""
    rng = np.random.default_rng(SEED)
    n = 400_000 // n_bytes
    both = rng.integers(0, 256, (n, n_bytes), np.uint8)
    rows = rng.integers(0, n, 60)
    rows[:3] = 0, n - 1, n - 1
    order = np.sort(np.array([row << 32 | at for at, row in enumerate(rows.tolist())], np.uint64))
    out = np.zeros((60, n_bytes), np.uint8)
    for first_other in (n, n // 3):
        out[:] = 0
        kernel.copy_rows(order, both[:first_other], both[first_other:].copy(), out)
        np.testing.assert_array_equal(out, both[rows])
    kernel.copy_rows(order[:0], both, both[:0], out)


def test_a_bucket_of_one_row_more_than_its_bound():
    """Its rows are told apart by their bits; a bucket of as many rows as the bound is not read."""
    codes = np.tile(np.array([[1], [2]], np.uint8), (3, 4))
    for max_bucket, is_read in ((5, True), (6, False)):
        keys, state = np.arange(6, dtype=np.uint64), np.zeros(2, np.int64)
        kernel.number_buckets(keys, codes, codes[:0], 0, 32, 7, max_bucket, 1000, state)
        assert state[0] == 6
        buckets = {}
        for key in keys.tolist():
            buckets.setdefault(key >> 32, []).append(key & int(ROW))
        expected = [[0, 2, 4], [1, 3, 5]] if is_read else [[0, 1, 2, 3, 4, 5]]
        assert sorted(buckets.values()) == expected
        pairs = _hashing.pairs_of_copies(np.arange(6, dtype=np.uint64), max_bucket)
        assert pairs.tolist() == [5] * is_read  # row 5 with row 0
        marks = np.zeros(1, np.uint8)  # a bit for each row
        keys = np.arange(6, dtype=np.uint64)
        assert kernel.leave_marked(keys, 0, max_bucket, marks) == (0 if is_read else 6)
        assert marks.tolist() == [0b111111 * is_read]


def test_max_bucket_counts_rows_before():
    """Each row of a bucket is compared with that many rows before it."""
    codes = np.zeros((10, 4), np.uint8)
    keys = np.arange(10, dtype=np.uint64)  # all in bucket 0
    for max_bucket in (1, 3, 20):
        pairs = np.zeros(50, np.uint64)
        buckets = kernel.Buckets(keys, False, codes, codes[:0], 8, 4, 0, 32, 0, 1000)
        n = buckets.verify(0, max_bucket, pairs)
        found = {(int(pair) >> 32, int(pair & ROW)) for pair in pairs[:n]}
        assert found == {(q, p) for p in range(10) for q in range(p) if p - q <= max_bucket}
        assert buckets.n_compared == n == len(found)
