"""The rows of an index, which can be added and removed: their codes and band tables.

`IndexRows` supports one writer at a time and any number of readers. A writer publishes a `State`
only when it is complete. A reader takes one state and uses nothing else, so that its result
reflects the rows at one moment. Rows are in at most two blocks. The first block has the rows that
the index began with. Its codes may be mapped from a file and are never written; its `sampled`
changes in place when rows are removed. The second block has the added rows, in buffers that double
when they are full.
"""

import secrets
import threading
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._loops import codes as _loops
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, gathered, with_rows
from sparsemaps.neighbors import _bands, _brute, _hashing
from sparsemaps.neighbors._bands import Bands
from sparsemaps.neighbors._tables import CALL_ROWS, BandTables, TableRows, found_pairs

_SMALLEST = 1024
"""Number of rows from which tables are built, and capacity of the first buffer."""

_LOOKUP_COST = 4
"""Cost of looking up a row in a table, relative to hashing it once (`bands_for_rates`)."""


class Target(NamedTuple):
    """What tables must find: each row that agrees in `least` codes, with probability `recall`."""

    least: int
    recall: float


class IndexBlock(NamedTuple):
    """Rows of an index: the first `n_rows` rows of arrays, which have room for more if it
    `grows`."""

    array: Array
    sampled: Array
    sizes: Array | None  # set sizes, if known
    n_rows: int
    tables: BandTables | None
    grows: bool = False


class State(NamedTuple):
    """The rows at one moment, with their tables."""

    blocks: tuple[IndexBlock, ...]
    n_rows: int
    rows: "RowBlocks | None"  # the rows as CSR, if the index stores them
    target: Target | None  # for which the tables were built
    bands: Bands | None


class RowBlocks:
    """CSR rows in blocks, each at least twice as long as the next. A row is therefore copied only a
    logarithmic number of times."""

    def __init__(self, blocks: list[Any]) -> None:
        self._blocks = blocks
        self._ends = np.cumsum([block.shape[0] for block in blocks])

    def followed_by(self, rows: object) -> "RowBlocks":
        blocks = [*self._blocks, rows]
        while len(blocks) > 1 and blocks[-2].shape[0] < 2 * blocks[-1].shape[0]:
            blocks[-2:] = [sp.csr_array(sp.vstack(blocks[-2:]))]
        return RowBlocks(blocks)

    def stacked(self) -> Any:
        return sp.csr_array(sp.vstack(self._blocks))

    def __getitem__(self, numbers: Array) -> Any:
        """Return rows by number. Numbers must be ascending."""
        ends = np.searchsorted(numbers, self._ends)
        parts = [
            block[numbers[start:stop] - (end - block.shape[0])]
            for block, end, start, stop in zip(
                self._blocks, self._ends, [0, *ends[:-1]], ends, strict=True
            )
            if stop > start
        ]
        return sp.csr_array(sp.vstack(parts)) if len(parts) != 1 else parts[0]


class IndexRows:
    """The rows of an index.

    It starts with some rows, with their CSR matrix if it stores rows, and with tables from a file
    if any.
    """

    def __init__(
        self,
        codes: PackedCodes,
        rows: object = None,
        tables: BandTables | None = None,
        target: Target | None = None,
        bands: Bands | None = None,
        hash_key: int | None = None,
    ) -> None:
        self.like = codes[:0]
        self.lock = threading.RLock()
        self.hash_key = secrets.randbits(64) if hash_key is None else hash_key
        block = IndexBlock(codes.array, codes.sampled, codes.sizes, len(codes), tables)
        row_blocks = None if rows is None else RowBlocks([rows])
        self.state = State((block,), len(codes), row_blocks, target, bands)
        self._n_removed = 0
        self._rates: tuple[int, Array] = (0, np.zeros(1))

    # ---- reading ---------------------------------------------------------------------------------

    def codes(self, state: State) -> list[PackedCodes]:
        """Return the codes of each block."""
        return [self._codes_of(block) for block in state.blocks]

    def _codes_of(self, block: IndexBlock) -> PackedCodes:
        rows = slice(block.n_rows)
        sizes = None if block.sizes is None else block.sizes[rows]
        return with_rows(self.like, block.array[rows], block.sampled[rows], sizes)

    def all_codes(self, state: State) -> PackedCodes:
        """Return the codes of all rows, copied if rows were added."""
        codes = self.codes(state)
        return codes[0] if len(codes) == 1 else PackedCodes.concatenate(codes)

    def tables(self) -> BandTables | None:
        """Return tables of all rows as one block, or None without tables."""
        state = self.state
        if state.bands is None or len(state.blocks) == 1:
            return state.blocks[0].tables
        codes = self.all_codes(state)
        block = IndexBlock(codes.array, codes.sampled, None, len(codes), None)
        return self._made(block, state.bands).tables

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts of a pickle. Tables are left out; a copy rebuilds them when it needs
        them."""
        state = self.state
        rows = None if state.rows is None else state.rows.stacked()
        return IndexRows, (self.all_codes(state), rows)

    # ---- adding and removing ---------------------------------------------------------------------

    def append(self, codes: PackedCodes, rows: object = None) -> None:
        """Add rows. Numbering continues after the last row."""
        with self.lock:
            _brute.check_searched(self.state.n_rows + len(codes), codes.n_hashes)
            state, tail = self._with_room(len(codes))
            first, last = tail.n_rows, tail.n_rows + len(codes)
            tail.array[first:last] = codes.array
            tail.sampled[first:last] = codes.sampled
            _set_sizes(tail, first, codes.sizes)
            if state.bands is not None and tail.tables is not None:
                self._insert(tail, state.bands, first, last)
            self._publish(state, tail, last, rows)

    def insert_new(self, codes: PackedCodes, target: Target) -> Array:
        """Add the rows that agree in fewer than `target.least` codes with every earlier row, and
        return which rows were added. A similar row may be missed, as the target allows. The index
        must not store rows as CSR."""
        assert self.state.rows is None
        new = np.zeros(len(codes), bool)
        with self.lock:
            _brute.check_searched(self.state.n_rows + len(codes), codes.n_hashes)
            start = 0
            while start < len(codes):
                some = codes if len(codes) == 1 else codes[start : start + CALL_ROWS]
                by_tables = self.inserting(target).bands is not None
                insert = self._insert_by_tables if by_tables else self._insert_by_comparing
                are_new = insert(some, codes.n_hashes - target.least)
                new[start : start + len(are_new)] = are_new
                start += len(are_new)
        return new

    def _insert_by_comparing(self, codes: PackedCodes, max_differing: int) -> Array:
        """Compare the first 256 of `codes` with all rows, add the new ones, and return which were
        added."""
        codes = codes[:256]
        new = np.ones(len(codes), bool)
        for others in self.codes(self.state):
            new[_brute.all_pairs(codes, others, max_differing, None)[0]] = False
        i, j, _ = _brute.all_pairs(codes, None, max_differing, None)
        for one, other in zip(i.tolist(), j.tolist(), strict=True):  # i ascends, so new[i] is final
            if new[one]:
                new[other] = False
        self.append(codes[new])
        return new

    def _insert_by_tables(self, codes: PackedCodes, max_differing: int) -> Array:
        """Look up `codes` in the tables, add the new ones, and return which were added."""
        state, tail = self._with_room(len(codes))
        bands = state.bands
        assert bands is not None
        known = np.zeros(len(codes), np.uint8)
        if len(state.blocks) == 2:
            before = self._in_tables(state.blocks[0], bands)
            known[found_pairs(codes, before, max_differing, any_row=True)[0]] = True
        new = np.zeros(len(codes), np.uint8)
        _loops.insert_new(
            codes.array, codes.sampled.view(np.uint8), self._in_tables(tail, bands), codes.bits,
            codes.n_hashes, max_differing, known, new,
        )  # fmt: skip
        is_new = new.view(bool)
        _set_sizes(tail, tail.n_rows, None if codes.sizes is None else codes.sizes[is_new])
        self._publish(state, tail, tail.n_rows + int(is_new.sum()), None)
        return is_new

    def remove(self, numbers: Array) -> None:
        """Exclude rows from all results, in place. Rebuild the tables once more than half of all
        rows have been removed."""
        with self.lock:
            first = 0
            for block in self.state.blocks:
                is_here = (numbers >= first) & (numbers < first + block.n_rows)
                some = np.unique(numbers[is_here]) - first
                self._n_removed += int(np.count_nonzero(block.sampled[some]))
                block.sampled[some] = False
                first += block.n_rows
            if 2 * self._n_removed > self.state.n_rows and self.state.bands is not None:
                self._make_tables(self.state.target, self.state.bands)

    def _with_room(self, n: int) -> tuple[State, IndexBlock]:
        """Return a state whose last block has room for n more rows, and that block."""
        state = self.state
        others, tail = state.blocks[:-1], state.blocks[-1]
        if tail.grows and tail.n_rows + n <= len(tail.array):
            return state, tail
        if not tail.grows:
            others = tuple(block for block in state.blocks if block.n_rows)
        n_tail = tail.n_rows if tail.grows else 0
        capacity = max(_SMALLEST, 2 * n_tail, n_tail + n)

        def copied(array: Array) -> Array:
            room = np.zeros((capacity, *array.shape[1:]), array.dtype)
            room[:n_tail] = array[:n_tail]
            return room

        sizes = None if tail.sizes is None else copied(tail.sizes)
        tail = IndexBlock(copied(tail.array), copied(tail.sampled), sizes, n_tail, None, True)
        if state.bands is not None:
            tail = self._made(tail, state.bands)
        return state._replace(blocks=(*others, tail)), tail

    def _publish(self, state: State, tail: IndexBlock, n_tail: int, rows: object) -> None:
        """Publish `state` with `tail`, now of `n_tail` rows, as its last block, and append `rows`
        (CSR) if the index stores rows. When the number of rows passes a power of 4
        (`_rows_of_choice`), the tables may be rebuilt, which takes minutes for many rows."""
        row_blocks = state.rows
        if row_blocks is not None and rows is not None:
            row_blocks = row_blocks.followed_by(rows)
        blocks = (*state.blocks[:-1], tail._replace(n_rows=n_tail))
        n_rows = sum(block.n_rows for block in blocks)
        self.state = state._replace(blocks=blocks, n_rows=n_rows, rows=row_blocks)
        if _rows_of_choice(n_rows) != _rows_of_choice(state.n_rows):
            self._choose_bands_again()

    def _choose_bands_again(self) -> None:
        """Rebuild the tables if other bands are cheapest for the present number of rows. The bands
        of `inserting` do not depend on the rows and are left unchanged."""
        target, bands, like = self.state.target, self.state.bands, self.like
        if target is None or bands == _bands.fixed_bands(like.bits, like.n_hashes, *target):
            return
        cheapest = self._choice(target)
        if cheapest != bands:
            self._make_tables(target, cheapest)

    # ---- tables ----------------------------------------------------------------------------------

    def serving(self, target: Target) -> State:
        """Return a state whose tables reach the target. Build and publish them first if the present
        tables do not reach it. The state has no bands if comparing all rows costs less."""
        state = self.state
        if target.recall >= 1 or target.least == 0:
            return state._replace(bands=None)
        bands, n_hashes = state.bands, self.like.n_hashes
        if bands and _bands.recall_of(bands, n_hashes, target.least) >= target.recall:
            return state
        with self.lock:
            return self._make_tables(target, self._choice(target))

    def inserting(self, target: Target) -> State:
        """Return a state with tables of the bands that `removals` uses. Build and publish them
        first if the tables have other bands. The state has no bands if all rows are to be
        compared."""
        state, like = self.state, self.like
        bands = _bands.fixed_bands(like.bits, like.n_hashes, *target)
        if state.bands == bands:
            return state
        with self.lock:
            return self._make_tables(target, bands)

    def _choice(self, target: Target) -> Bands | None:
        """Return the bands that are cheapest for a query, or None if comparing all rows costs less.

        The choice depends only on the first rows of the index, whose number quadruples from choice
        to choice. It therefore does not depend on how rows were divided among calls.
        """
        n_rows = _rows_of_choice(self.state.n_rows)
        if n_rows == 0:
            return None
        if self._rates[0] != n_rows:
            numbers = (np.arange(n_rows)[part] for part in _bands.sample(n_rows))
            one, other = (gathered(self.codes(self.state), part) for part in numbers)
            self._rates = n_rows, _bands.rates_of(one, other)
        codes = self.like
        return _bands.bands_for_rates(
            _LOOKUP_COST, n_rows, codes.bits, codes.n_hashes, *target, self._rates[1]
        )

    def _make_tables(self, target: Target | None, bands: Bands | None) -> State:
        if bands is None:
            return self.state._replace(bands=None)
        blocks = tuple(self._made(block, bands) for block in self.state.blocks)
        self.state = self.state._replace(blocks=blocks, target=target, bands=bands)
        self._n_removed = 0
        return self.state

    def _made(self, block: IndexBlock, bands: Bands) -> IndexBlock:
        """Return the block with new tables of its rows, without removed rows."""
        block = block._replace(tables=BandTables.empty(bands.n_bands, len(block.array)))
        self._insert(block, bands, 0, block.n_rows)
        return block

    def _insert(self, block: IndexBlock, bands: Bands, first: int, last: int) -> None:
        rows = self._in_tables(block, bands)
        for start in range(first, last, 2**16):
            _loops.insert(rows, start, min(start + 2**16, last))

    # ---- search ----------------------------------------------------------------------------------

    def _in_tables(self, block: IndexBlock, bands: Bands) -> TableRows:
        assert block.tables is not None
        return TableRows(
            *block.tables, block.array, block.sampled.view(np.uint8), block.n_rows,
            bands.length * self.like.bits, 0, self.hash_key, _hashing.MAX_BUCKET,
        )  # fmt: skip

    def similar_to(
        self, queries: PackedCodes, target: Target, n_jobs: int | None, inserts: bool = False
    ) -> tuple[State, Array, Array, Array]:
        """Return the state that was searched, and the pairs with at least `target.least` equal
        codes, ascending: queries, rows, and numbers of differing codes. Use the tables of
        `inserting` if `inserts`."""
        max_differing = queries.n_hashes - target.least
        state = self.inserting(target) if inserts else self.serving(target)
        parts, first = [], 0
        for block in state.blocks:
            if state.bands is None:
                found = _brute.all_pairs(queries, self._codes_of(block), max_differing, n_jobs)
            else:
                found = found_pairs(
                    queries, self._in_tables(block, state.bands), max_differing, n_jobs
                )
            found[1] += first
            parts.append(found)
            first += block.n_rows
        found = _brute.joined(parts)
        if len(parts) > 1:
            found = found.take(np.argsort(found[0], kind="stable"), axis=1)
        return state, *found


def _set_sizes(block: IndexBlock, first: int, sizes: Array | None) -> None:
    """Write set sizes to a block that stores them. The size is 0 if it is unknown."""
    if block.sizes is not None and sizes is not None:
        block.sizes[first : first + len(sizes)] = sizes


def _rows_of_choice(n_rows: int) -> int:
    """Return the number of rows that determines the bands: the largest power of 4 up to `n_rows`,
    or 0 below 1,024."""
    return 1 << (n_rows.bit_length() - 1) // 2 * 2 if n_rows >= _SMALLEST else 0
