"""The loops of bands, called alone."""

import numpy as np

from sparsemaps._loops import neighbors as kernel


def test_rows_without_samples_are_in_no_band():
    codes = np.zeros((9, 4), np.uint8)
    sampled = (np.arange(9) % 3 > 0).astype(np.uint8)
    keys = np.zeros(9, np.uint64)
    n = kernel.band_keys(codes, sampled, 0, 32, 5, 100, 0, 1, keys)
    assert (keys[:n] & np.uint64(2**32 - 1)).tolist() == [101, 102, 104, 105, 107, 108]


def test_max_bucket_counts_rows_before():
    """Each row of a bucket is compared with that many rows before it."""
    codes = np.zeros((10, 4), np.uint8)
    others = np.zeros((0, 4), np.uint8)
    keys = np.arange(10, dtype=np.uint64)  # all in bucket 0
    for max_bucket in (1, 3, 20):
        state, pairs = np.array([0, 0, -1, 0, 0]), np.zeros(50, np.uint64)
        n = kernel.verify_buckets(
            keys, codes, others, 8, 4, 0, 32, 0, max_bucket, 1000, state, pairs
        )
        found = {(int(pair) >> 32, int(pair) & 2**32 - 1) for pair in pairs[:n]}
        assert found == {(q, p) for p in range(10) for q in range(p) if p - q <= max_bucket}
        assert state[4] == n == len(found)
