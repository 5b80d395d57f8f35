"""Tables of the bands of rows, in which rows that share a band are found.

The compiled part is `_loops/band_tables.pxi`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sparsemaps._loops import codes as _kernel
from sparsemaps._tools._typing import Array
from sparsemaps.neighbors._bands import Bands

CALL_PAIRS = 2**15
"""Pairs that a call of a kernel returns at most."""

CALL_VISITS = 2**22
"""Rows that a call of a kernel visits at most. Signals are handled between calls."""


class Tables(NamedTuple):
    """Tables of the bands of a block of rows."""

    heads: Array
    links: Array

    @classmethod
    def empty(cls, n_bands: int, capacity: int) -> "Tables":
        """Tables with room for so many rows."""
        n_slots = 1 << max(1, capacity.bit_length() - 1)
        heads = np.full((n_bands, n_slots), _kernel.NONE, np.uint32)
        return cls(heads, np.empty((capacity, n_bands), np.uint32))

    def are_of(self, n_rows: int, bands: Bands, n_hashes: int) -> bool:
        """Whether the arrays have the shapes of tables of `n_rows` rows."""
        if self.heads.ndim != 2 or bands.length * bands.n_bands > n_hashes:
            return False
        n_bands, n_slots = self.heads.shape
        is_power = n_slots >= 2 and n_slots & (n_slots - 1) == 0
        return n_bands == bands.n_bands and is_power and self.links.shape == (n_rows, n_bands)


def found_pairs(
    n_queries: int, find: Callable[[Array, Array], int], max_pairs: int = CALL_PAIRS
) -> tuple[Array, Array, Array]:
    """Pairs of a query and a row, ascending and each once, and how many of their codes differ.

    ``find(state, space)`` is a call of the kernel that goes on where the last one ended, and
    returns the number of pairs in `space`.
    """
    state, space = np.array([0, -1, 0, 0]), np.empty((3, max_pairs), np.uint32)
    parts = [np.empty((3, 0), np.int64)]
    while state[0] < n_queries:
        n = find(state, space)
        parts.append(space[:, :n].astype(np.int64))
    i, j, differing = np.concatenate(parts, axis=1)
    pairs, first = np.unique(i << 32 | j, return_index=True)
    return pairs >> 32, pairs & (2**32 - 1), differing[first]
