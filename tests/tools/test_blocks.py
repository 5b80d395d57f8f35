"""How rows are cut into blocks, by hand."""

import itertools

import numpy as np

from sparsemaps._tools import _blocks


def test_no_rows_are_no_block():
    assert _blocks.cut_rows(0, lambda row: 0, 1) == []


def test_blocks_are_a_multiple_of_the_threads():
    """100,000 entries in blocks of 7,000 would be 15."""
    assert len(_blocks.cut_rows(100_000, lambda row: row, 2, 7000)) == 16


def test_long_rows_are_alone():
    assert _blocks.cut_by_bytes(3, 2**30) == [(0, 1), (1, 2), (2, 3)]


def test_a_row_that_just_fits_is_in_the_block():
    blocks = _blocks.cut_by_size(np.array([3, 3, 3, 9, 1]), 6)
    assert list(itertools.islice(blocks, 5)) == [
        (0, 2), (2, 3), (3, 4), (4, 5),
    ]  # fmt: skip
