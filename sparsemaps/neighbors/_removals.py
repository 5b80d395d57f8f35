"""Removal of rows that are near a kept row.

Rows have an order. A row is removed if it is near an earlier row that is kept. A row that is near
no other row is therefore kept, and a first search, by sorted hashes of bands, leaves only the other
rows (`_hashing.near_by_band`). These are processed in order, block by block: they are looked up in
tables of the rows kept so far, then compared with one another. Rows that are not removed are
inserted into the tables. When the tables reach their memory limit, the remaining rows are looked up
in the full tables, and those still undecided continue with empty tables.

A bucket of the tables has at most `max_bucket` rows: the first ones that were kept. The result
therefore depends only on the rows and their order, not on the sizes of blocks and tables.
"""

import secrets
import tempfile
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _blocks, _checks
from sparsemaps._tools._typing import Array, Floats, Rows, StrPath
from sparsemaps.codes import _packed
from sparsemaps.codes._packed import PackedCodes, gathered, with_rows
from sparsemaps.neighbors import _bands, _brute, _hashing, _search
from sparsemaps.neighbors._bands import Bands
from sparsemaps.neighbors._hashing import SearchRun, Sizes
from sparsemaps.neighbors._tables import BandTables, TableRows, found_pairs

_FIRST_BLOCK = 64
"""Rows of the first block. If all rows are alike, only the pairs of this block are compared."""

_TABLE_BYTES = 24
"""Memory of the tables per row that is searched, if there are many rows."""

_LEAST_TABLE_BYTES = 2**26


class Removals(NamedTuple):
    """Removed rows, ascending, with the kept row that each is near and their similarity. Earlier
    rows are numbered from ``len(codes)`` on."""

    removed: Rows
    witness: Rows
    similarity: Floats


class NearBy(NamedTuple):
    """Definition of near pairs: their similarity is at least `threshold`. A search finds pairs that
    agree in at least `least` codes, with probability `recall`."""

    least: int
    recall: float
    threshold: float
    similarity: Callable[[Array, Array, Array], Array]
    """Return the similarity of rows i and j (earlier rows first) that differ in the given numbers
    of codes."""
    prepare: Callable[[Array], None] | None = None
    """Called once with the rows of the codes that may be in a pair, ascending."""


def removals(
    codes: PackedCodes,
    threshold: float,
    *,
    recall: float = 0.95,
    key: Array | None = None,
    earlier: PackedCodes | None = None,
    max_bytes: int = _hashing.MAX_BYTES,
    folder: StrPath | None = None,
    n_jobs: int | None = None,
) -> Removals:
    """Return the rows that are near an earlier row that is not removed.

    Rows are processed in order. A row is removed if its estimated similarity to a row that was not
    removed is at least `threshold`. The first such row is its witness. Chains of pairs do not
    count: if the first row is near the second and the second is near the third, but the first is
    not near the third, the second row is removed and the other two stay.

    Parameters
    ----------
    codes : PackedCodes
        The codes.
    threshold : float
        Above 0, at most 1.
    recall : float, default=0.95
        Least probability with which a pair whose estimate equals the threshold is found: above 0,
        at most 1. 1 compares each row with all kept rows. Rows with equal codes are always found.
    key : ndarray of shape (n_rows,) or None, default=None
        Process rows in ascending order of this key, ties by row number; None processes rows by
        number.
    earlier : PackedCodes or None, default=None
        Codes of earlier rows, from the same map. They are kept, and precede all other rows. Rows
        without samples are near no row.
    max_bytes : int, default=2**30
        Memory for the keys of rows, or for tables, at least 2**20. The result does not depend on
        it.
    folder : str, path-like or None, default=None
        Folder for temporary files of the rows that may be near another one, if there are many. The
        result is then mapped from such files. None keeps these rows in memory.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answer does not depend on it.

    Returns
    -------
    removed : ndarray of int64, shape (n_removed,)
        The removed rows, ascending.
    witness : ndarray of int64, shape (n_removed,)
        The kept row that each is near: a row of `codes`, or from ``len(codes)`` on a row of
        `earlier`.
    similarity : ndarray of float64, shape (n_removed,)
        The estimates, corrected for chance agreement.

    Raises
    ------
    ValueError
        If a parameter is invalid, or the codes come from different maps.

    See Also
    --------
    similar_pairs : All pairs.
    KernelNeighbors.insert_new : The same for rows that arrive one after another.

    Notes
    -----
    A row finds a kept row if the two share a bucket. A bucket has the first 1,000 kept rows that
    share a band of codes. The bands depend on the threshold, the recall and the form of the codes,
    and not on the rows. Two deliveries, one after the other, therefore keep the same rows as both
    together.

    Besides the codes, memory is `max_bytes`, one bit per row, and some 60 bytes for each row that
    may be near another one, however many pairs there are. With `folder`, these 60 bytes are on
    disk.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import MinHash, neighbors
    >>> X = np.array([[1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 0, 0]])
    >>> A = MinHash(n_hashes=512, random_state=0).fit(X).encode(X, packed=True)
    >>> removed, witness, similarity = neighbors.removals(A, 0.6)
    >>> removed, witness, similarity.round(1)
    (array([2]), array([0]), array([0.8]))
    """
    if earlier is None:
        codes = _packed.as_packed("codes", codes, None, None)
    else:
        codes, earlier = _packed.as_packed_pair(("codes", "earlier"), codes, earlier, None, None)
    max_bytes = _checks.check_int("max_bytes", max_bytes, 2**20, _checks.LARGEST_INT)
    threshold = _search.check_share("threshold", threshold)
    near = by_estimate(codes, earlier, threshold, _search.check_share("recall", recall))
    if key is not None:
        key = np.asarray(key)
        if key.shape != (len(codes),):
            raise ValueError(f"key must be of shape ({len(codes)},), got {key.shape}")
    search = SearchRun(n_jobs=n_jobs, sizes=Sizes(keys=max_bytes // 8))
    return removed_rows(codes, earlier, near, key, search, folder)


def by_estimate(
    codes: PackedCodes, earlier: PackedCodes | None, threshold: float, recall: float
) -> NearBy:
    """Return near pairs by estimate: those whose estimate is at least the threshold."""
    sets = [codes] if earlier is None else [earlier, codes]

    def similarity(i: Array, j: Array, differing: Array) -> Array:
        if not codes.law.needs_parts:
            return _search.estimates_of_pairs(codes, codes, i, j, differing)
        places = np.arange(len(i))
        return _search.estimates_of_pairs(
            gathered(sets, i), gathered(sets, j), places, places, differing
        )

    return NearBy(_search.least_agreeing(codes, threshold), recall, threshold, similarity)


def removed_rows(
    codes: PackedCodes,
    earlier: PackedCodes | None,
    near: NearBy,
    key: Array | None,
    search: SearchRun,
    folder: StrPath | None = None,
) -> Removals:
    """Return the rows that `removals` removes, for the near pairs of `near`."""
    n_given = 0 if earlier is None else len(earlier)
    _brute.check_searched(n_given + len(codes), codes.n_hashes)
    bands = _bands.fixed_bands(codes.bits, codes.n_hashes, near.least, near.recall)
    new_array = np.empty if folder is None else partial(_mapped, folder, search.sizes.mapped)
    rows = _search.rows_near_others(codes, near.least, near.recall, search, earlier, new_array)
    first = int(np.searchsorted(rows, n_given))
    if near.prepare is not None:
        near.prepare(rows[first:] - n_given)
    if key is not None:
        rows[first:] = rows[first:][np.argsort(key[rows[first:] - n_given], kind="stable")]
    sets = [codes] if earlier is None else [earlier, codes]
    sweep = _Sweep(sets, rows, first, near, bands, search, new_array)
    n_bytes = max(_LEAST_TABLE_BYTES, _TABLE_BYTES * (n_given + len(codes)))
    sweep.run(min(n_bytes, 8 * search.sizes.keys))
    found = sweep.removals(n_given, n_given + len(codes))
    if key is not None:
        order = np.argsort(found.removed)
        found = Removals(found.removed[order], found.witness[order], found.similarity[order])
    return found


def _mapped(folder: StrPath, least: int, n: int, dtype: type) -> Array:
    """Return an array that is mapped from a temporary file, which is deleted with the array; an
    array of fewer than `least` bytes is in memory."""
    zeros, n_bytes = bytes(2**20), n * np.dtype(dtype).itemsize
    if n_bytes < max(1, least):
        return np.empty(n, dtype)
    with tempfile.TemporaryFile(dir=folder) as file:
        for start in range(0, n_bytes, len(zeros)):  # so that a full disk raises here
            file.write(zeros[: n_bytes - start])
        file.flush()
        return np.memmap(file, dtype, "r+", shape=(n,))


class _Sweep:
    """Rows in their order. Each row is removed or survives.

    A place is the position of a row in this order. The first `n_given` rows survive. `witness` has
    the place of each removed row's witness, and -1 for survivors.
    """

    def __init__(
        self, sets: list[PackedCodes], rows: Array, n_given: int, near: NearBy, bands: Bands | None,
        search: SearchRun, new_array: _hashing.NewArray,
    ) -> None:  # fmt: skip
        self._sets = sets
        self._rows = rows
        self._n_given = n_given
        self._near = near
        self._search = search
        self._max_differing = sets[0].n_hashes - near.least
        bits, n_codes = sets[0].bits, sets[0].n_hashes
        self._n_bands = 0 if bands is None else bands.n_bands + 1  # plus one of all codes
        self._bits = (0, 0) if bands is None else (bands.length * bits, n_codes * bits)
        self.row_bytes = sets[0].shape[1] + 9 + 8 * self._n_bands  # memory of a row in the tables
        self._new_array = new_array
        self.witness = new_array(len(rows), np.int64)
        self.witness.fill(-1)
        self.similarity = new_array(len(rows), np.float64)

    def run(self, n_bytes: int) -> None:
        """Decide all rows with tables of about `n_bytes` bytes, starting new tables until no row is
        left."""
        places = self._new_array(len(self._rows), np.int64)
        for start, stop in _blocks.ranges(0, len(places), self._search.sizes.answers):
            places[start:stop] = np.arange(start, stop)
        counts = np.empty((0, 0), np.uint16)
        while len(places):
            self.begin(max(self._search.sizes.block, min(len(places), n_bytes // self.row_bytes)))
            places, counts = self._decide_until_full(places, counts)
            if len(places):
                counts = self._counted(places, counts)

    def begin(self, capacity: int) -> None:
        """Start empty tables for `capacity` survivors; without bands, store only their codes."""
        tables = BandTables.empty(self._n_bands, capacity)
        array = np.empty((capacity, self._sets[0].shape[1]), np.uint8)
        self._survivors = TableRows(
            *tables, array, np.zeros(capacity, np.uint8), 0, *self._bits, secrets.randbits(64),
            self._search.max_bucket,
        )  # fmt: skip
        self._survivor_places = np.empty(capacity, np.int64)

    def removals(self, n_given: int, n_rows: int) -> Removals:
        """Return the removed rows in their order, with the first `n_given` rows renumbered after
        the others."""
        blocks = _blocks.ranges(0, len(self.witness), self._search.sizes.answers)
        n = sum(int((self.witness[start:stop] >= 0).sum()) for start, stop in blocks)
        kinds = (np.int64, np.int64, np.float64)
        found, first = Removals(*(self._new_array(n, kind) for kind in kinds)), 0
        for start, stop in blocks:
            some = start + np.flatnonzero(self.witness[start:stop] >= 0)
            to = slice(first, first + len(some))
            witness = self._rows[self.witness[some]] - n_given
            witness[witness < 0] += n_rows
            found.removed[to] = self._rows[some] - n_given
            found.witness[to] = witness
            found.similarity[to] = self.similarity[some]
            first += len(some)
        return found

    def _decide_until_full(self, places: Array, counts: Array) -> tuple[Array, Array]:
        """Decide rows in order. Once the tables are full, rows are only looked up in them.

        Returns the places of the undecided rows, which are near no row of the full tables, and
        their `counts`: the number of rows that each of their buckets has in earlier tables (no rows
        for the first tables). Both are moved to the front of `places` and `counts` in place.
        """
        n_left, start, step = 0, 0, _FIRST_BLOCK
        while start < len(places):
            some = slice(start, start + step)
            block = gathered(self._sets, self._rows[places[some]])
            is_open = self._remove_near_survivors(places[some], block)
            if self._survivors.n_rows < len(self._survivors.array):
                start += self._decide(places[some], block, is_open, counts[some])
                step = min(2 * step, self._search.sizes.block)
                continue
            to = slice(n_left, n_left + int(is_open.sum()))
            places[to] = places[some][is_open]
            if len(counts):
                counts[to] = counts[some][is_open]
            n_left, start = to.stop, some.stop
        return places[:n_left], counts[:n_left]

    def _counted(self, places: Array, counts: Array) -> Array:
        """Return `counts` plus the bucket sizes in the full tables. Empty counts start at 0."""
        if not self._n_bands:
            return counts
        if not len(counts):
            shape = len(places), self._n_bands
            counts = self._new_array(shape[0] * shape[1], np.uint16).reshape(shape)
            counts.fill(0)
        for block in _blocks.ranges(0, len(places), self._search.sizes.block):
            some = slice(*block)
            queries = gathered(self._sets, self._rows[places[some]])
            _loops.count_buckets(queries.array, self._survivors, counts[some])
        return counts

    def _remove_near_survivors(self, places: Array, block: PackedCodes) -> Array:
        """Remove the rows of a block that are near a row of the tables. Return which rows remain
        open."""
        given = int(np.searchsorted(places, self._n_given))  # given rows come first
        queries, n_jobs = block[given:], self._search.n_jobs
        if self._n_bands:
            q, row, differing = found_pairs(queries, self._survivors, self._max_differing, n_jobs)
        else:
            array = self._survivors.array[: self._survivors.n_rows]
            rows = with_rows(block, array, np.ones(len(array), bool))
            q, row, differing = _brute.all_pairs(queries, rows, self._max_differing, n_jobs)
        later, before = places[given + q], self._survivor_places[row]
        near, similarity = self._near_pairs(later, before, differing)
        first = np.flatnonzero(np.diff(later[near], prepend=-1) > 0)  # first pair of each later row
        removed = later[near][first]
        self.witness[removed], self.similarity[removed] = before[near][first], similarity[first]
        return self.witness[places] < 0

    def _near_pairs(self, later: Array, before: Array, differing: Array) -> tuple[Array, Array]:
        """Return which pairs of places are near, in the order of (later, before), and their
        similarities."""
        similarity = self._near.similarity(self._rows[before], self._rows[later], differing)
        near = np.flatnonzero(_search.reaches(similarity, self._near.threshold))
        near = near[np.lexsort((before[near], later[near]))]
        return near, similarity[near]

    def _decide(self, places: Array, block: PackedCodes, is_open: Array, counts: Array) -> int:
        """Decide the open rows of a block in order. A row is removed if it is near an earlier
        survivor of the block and shares a bucket with it; otherwise it survives and is inserted
        into the tables.

        Rows of earlier blocks are found only through a shared bucket, so the same is required here;
        the result then does not depend on the blocks. Without bands, any two rows count as sharing
        a bucket. `counts` come from `_decide_until_full`, for the rows of the block.

        Returns the number of decided rows: all, or those before the first row for which the tables
        had no room.
        """
        given = int(np.searchsorted(places, self._n_given))
        open_rows = np.flatnonzero(is_open)
        i, j, differing = _brute.all_pairs(block[open_rows], None, self._max_differing, None)
        some = np.flatnonzero(open_rows[j] >= given)  # pairs of two given rows do not count
        i, j, differing = open_rows[i[some]], open_rows[j[some]], differing[some]
        near, similarity = self._near_pairs(places[j], places[i], differing)
        i, j = i[near], j[near]
        table_row, witness = np.empty((2, len(block)), np.int64)  # -1 for none
        n = _loops.settle(
            block.array, is_open.view(np.uint8), self._survivors,
            np.stack([i, j]).astype(np.uint32), counts, table_row, witness,
        )  # fmt: skip
        new = np.flatnonzero(table_row[:n] >= 0)
        self._survivor_places[table_row[new]] = places[new]
        self._survivors = self._survivors._replace(n_rows=self._survivors.n_rows + len(new))
        decided = np.flatnonzero(j < n)
        decided = decided[witness[j[decided]] == i[decided]]  # pairs of a row and its witness
        removed = places[j[decided]]
        self.witness[removed], self.similarity[removed] = places[i[decided]], similarity[decided]
        return int(n)
