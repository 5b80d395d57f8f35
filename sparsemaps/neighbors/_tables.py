"""Hash tables of bands, which find rows that share a band.

The compiled part is `_loops/band_tables.pxi`.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _blocks, _threads
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.neighbors import _brute
from sparsemaps.neighbors._bands import Bands

_CALL_PAIRS = 2**15
"""Largest number of pairs that a call of the compiled loops returns."""

_CALL_VISITS = 2**22
"""Largest number of rows that a call visits. Signals are handled between calls."""

CALL_ROWS = 1024
"""Largest number of rows that a call inserts or looks up."""


class BandTables(NamedTuple):
    """Hash tables of the bands of a block of rows."""

    heads: Array
    links: Array

    @classmethod
    def empty(cls, n_bands: int, capacity: int) -> "BandTables":
        """Return tables with room for `capacity` rows."""
        n_slots = 1 << max(1, capacity.bit_length() - 1)
        heads = np.full((n_bands, n_slots), _loops.NONE, np.uint32)
        return cls(heads, np.empty((capacity, n_bands), np.uint32))

    def are_of(self, n_rows: int, bands: Bands, n_hashes: int) -> bool:
        """Return whether the arrays have the shapes of tables of `n_rows` rows."""
        if self.heads.ndim != 2 or bands.length * bands.n_bands > n_hashes:
            return False
        n_bands, n_slots = self.heads.shape
        is_power = n_slots >= 2 and n_slots & (n_slots - 1) == 0
        return n_bands == bands.n_bands and is_power and self.links.shape == (n_rows, n_bands)


class TableRows(NamedTuple):
    """The first `n_rows` rows of arrays, their tables, and how to search the tables."""

    heads: Array
    links: Array
    array: Array
    sampled: Array
    n_rows: int
    band_bits: int
    whole_bits: int  # bits of the last band if it covers a whole row, else 0
    hash_key: int
    max_bucket: int


def found_pairs(
    queries: PackedCodes,
    rows: TableRows,
    max_differing: int,
    n_jobs: int | None = None,
    any_row: bool = False,
) -> Array:
    """Return the pairs of `_brute.all_pairs` whose rows share a bucket. With `any_row`, stop at the
    first pair of each query."""

    def search(start: int, stop: int) -> Array:
        some = slice(start, stop)
        find = partial(
            _loops.find, queries.array[some], queries.sampled[some].view(np.uint8), rows,
            queries.bits, queries.n_hashes, max_differing, _CALL_VISITS, any_row,
        )  # fmt: skip
        state, space, parts = np.array([0, -1, 0, 0]), np.empty((3, _CALL_PAIRS), np.uint32), []
        while state[0] < stop - start:
            parts.append(space[:, : find(state, space)].astype(np.int64))
        found = _brute.joined(parts)
        if found.shape[1] > 1:
            _, first = np.unique(found[0] << 32 | found[1], return_index=True)
            found = found[:, first]
        found[0] += start
        return found

    n_threads = _threads.resolve_n_jobs(n_jobs)
    step = min(CALL_ROWS, max(1, -(-len(queries) // n_threads)))
    if step >= len(queries):
        return search(0, len(queries))
    return _brute.joined(_threads.run(search, _blocks.ranges(0, len(queries), step), n_jobs))
