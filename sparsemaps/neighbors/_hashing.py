"""Similar pairs among packed codes, by hashing bands of the codes.

Beside codes that are mapped into memory, the search holds the keys of rows, 8 bytes each, at most
as many as `Sizes` says, and later in their place the codes of rows that share a bucket; which rows
have samples, a byte each; and the pairs, or those that a filter keeps. Many codes are read from the
first to the last row, since a disk takes much longer for rows in another order.
"""

import secrets
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._io._array_files import ArrayKind
from sparsemaps._io._steps import UNKEPT, Steps
from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _blocks, _threads
from sparsemaps._tools._checks import check_int
from sparsemaps._tools._distinct import distinct
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, with_rows
from sparsemaps.neighbors._bands import LARGEST_IN_PLACE, Bands

_ROW = np.uint64(2**32 - 1)

PairFilter = Callable[[Array], Array]
"""Returns, of some pairs, those that are kept."""

NewArray = Callable[[int, type], Array]
"""Makes an array of so many items of a type."""

_BYTES = 2**18
"""Bytes of bits whose numbers are found at a time."""

MAX_BYTES = 2**30
"""Default for the memory of the keys of rows that are sorted at a time."""


_LEAST_STEP = 2**12
"""The least number of rows that one call hashes, if the rows of a part are collected."""


class Sizes(NamedTuple):
    """Largest numbers of rows and pairs that are hashed, compared and returned at a time."""

    keys: int = MAX_BYTES // 8  # rows whose keys are held, by all threads together
    part: int = MAX_BYTES // 8  # rows of a step
    pairs: int = 2**17  # pairs that a call of a kernel returns
    call_bytes: int = 2**27  # codes that a call reads; signals are handled between calls
    in_place: int = LARGEST_IN_PLACE  # codes that are compared in place
    block: int = 1024  # rows that are removed or kept at a time
    answers: int = 2**20  # rows whose answers are copied at a time
    mapped: int = 2**26  # bytes of an array of rows from which it may be on the disk


SIZES = Sizes()

MAX_BUCKET = 1000
"""The default of the largest number of rows of a bucket that a row is compared with."""


class SearchRun(NamedTuple):
    """Limits of a search, its threads, and what runs its steps. `max_bucket` alone decides which
    pairs are found. Of the others, only `sizes.part` decides what a step finds."""

    max_bucket: int = MAX_BUCKET
    n_jobs: int | None = None
    sizes: Sizes = SIZES
    steps: Steps = UNKEPT

    def hash_keys(self) -> "tuple[tuple[int, int], SearchRun]":
        """Return two keys of hashes, and the search by them. Nobody can choose codes that share a
        hash, as the keys are drawn."""
        keys, steps = self.steps.drawn("hashing", lambda: [secrets.randbits(64) for _ in range(2)])
        if not isinstance(keys, list) or len(keys) != 2:
            raise ValueError(f"the keys of an earlier run are damaged: {keys!r}")
        first, second = (check_int("a key", key, 0, 2**64 - 1) for key in keys)
        return (first, second), self._replace(steps=steps)


DEFAULT_RUN = SearchRun()


def count_differing(
    codes: PackedCodes, other: PackedCodes, i: Array, j: Array, sizes: Sizes = SIZES
) -> Array:
    """Return the number of codes that differ, of pairs of row i of `codes` and row j of `other`."""
    differing = np.empty(len(i), np.int64)
    step = max(1, sizes.call_bytes // (2 * (codes.shape[1] + 16)))
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        A, B, one, two = codes.array, other.array, i[some], j[some]
        if A.nbytes + B.nbytes > sizes.in_place:
            A, B = (
                _rows_of(rows.astype(np.uint64), C, C[:0], sizes)
                for rows, C in ((one, A), (two, B))
            )
            one = two = np.arange(len(one))
        pairs = pairs_of_rows(one, two + len(A))
        _loops.count_differing(pairs, A, B, codes.bits, codes.n_hashes, differing[some])
    return differing


def _rows_of(keys: Array, codes: Array, others: Array, sizes: Sizes) -> Array:
    """Return the codes of the keys' rows, which are read in the order of their numbers."""
    order = keys << np.uint64(32)
    order |= np.arange(len(keys), dtype=np.uint64)
    order.sort()
    rows = np.empty((len(keys), codes.shape[1]), np.uint8)
    step = max(1, sizes.call_bytes // 4096)
    for start in range(0, len(keys), step):
        _loops.copy_rows(order[start : start + step], codes, others, rows)
    return rows


def pairs_of_rows(i: Array, j: Array) -> Array:
    """Return pairs as one number each: row i times 2^32, and row j."""
    pairs = i.astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= j.astype(np.uint64)
    return pairs


def rows_of_pairs(pairs: Array, first_other: int = 0) -> tuple[Array, Array]:
    """Return the rows of pairs that are one number each; the second row less `first_other`."""
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & _ROW).astype(np.int64) - first_other


def pairs_below(n_rows: int) -> ArrayKind:
    """Return pairs of `n_rows` rows, as one number each."""
    return ArrayKind(np.uint64, most=n_rows - 1, halves=True)


def pairs_by_band(
    codes: PackedCodes,
    other: PackedCodes | None,
    max_differing: int,
    bands: Bands,
    search: SearchRun,
    keep: PairFilter,
) -> Iterator[Array]:
    """Yield the pairs that share a bucket and differ in at most `max_differing` codes: first pairs
    of rows that have too many copies, then the pairs of each part of a band; a pair may come
    several times. Only the pairs that `keep` returns are yielded."""
    hashed = _Hashed(codes, other, max_differing, search)
    if other is None:
        yield keep(hashed.leave_out_copies())

    def find(keys: Array, bit: int, n_bits: int) -> Array:
        return hashed.verified(keys, bit, n_bits, keep)

    yield from hashed.by_band("pairs", pairs_below(hashed.n_rows), find, bands)


def near_by_band(
    given: PackedCodes | None,
    codes: PackedCodes,
    max_differing: int,
    bands: Bands,
    search: SearchRun,
    new_array: NewArray,
) -> Array:
    """Return the rows of `given` and then of `codes`, ascending, that may be near another row.
    These are the rows of pairs that share a bucket and differ in at most `max_differing` codes,
    and all rows of buckets of more than `max_bucket` rows. Pairs of two given rows do not
    count."""
    n_given = 0 if given is None else len(given)
    n_rows = n_given + len(codes)
    near, met = np.zeros((2, n_rows // 8 + 1), np.uint8)
    first, second = (codes, None) if given is None else (given, codes)
    hashed = _Hashed(first, second, max_differing, search, is_one_set=True)

    def find(keys: Array, bit: int, n_bits: int) -> Array:
        before = met.copy()
        marks = hashed.mark(keys, bit, n_bits, n_given, before.copy())
        # Later steps leave these rows out. Threads have no lock: if one overwrites the bits of
        # another, a step finds some rows once more.
        np.bitwise_or(met, marks, out=met)
        return _rows_of_bits(marks & ~before)

    kind = ArrayKind(np.int64, (None,), n_rows - 1)
    for rows in hashed.by_band("near", kind, find, bands):
        np.bitwise_or.at(near, rows >> 3, (1 << (rows & 7)).astype(np.uint8))
    return _rows_of_bits(near, new_array)


def _rows_of_bits(bits: Array, new_array: NewArray = np.empty) -> Array:
    """Return the numbers of the bits that are 1, ascending; the first bit of a byte is its
    lowest."""
    blocks = _blocks.ranges(0, len(bits), _BYTES)
    n = sum(int.from_bytes(bits[start:stop].data).bit_count() for start, stop in blocks)
    rows, first = new_array(n, np.int64), 0
    for start, stop in blocks:
        found = np.flatnonzero(np.unpackbits(bits[start:stop], bitorder="little")) + 8 * start
        rows[first : first + len(found)] = found
        first += len(found)
    return rows


class _Hashed:
    """Rows in buckets of equal bits, by hashes. The answer does not depend on their keys.

    Rows are divided into parts by their hashes. What a part of a band holds is found by a step. So
    there are as many steps as the number of rows says, for runs and tasks of any memory and any
    number of threads. A step divides its part into pieces, whose keys are held one after the other:
    each thread holds the keys of one piece.
    """

    def __init__(
        self,
        codes: PackedCodes,
        other: PackedCodes | None,
        max_differing: int,
        search: SearchRun,
        is_one_set: bool = False,
    ) -> None:
        self._codes = codes
        self._max_differing = max_differing
        self._sizes = search.sizes
        self._sets = [codes] if other is None else [codes, other]
        self._others = np.empty((0, codes.shape[1]), np.uint8) if other is None else other.array
        self.n_rows = sum(len(rows) for rows in self._sets)
        self._row_bits = max(1, (self.n_rows - 1).bit_length())
        # Of one set, in two arrays or not, each row is compared with each other row.
        self._first_other = 0 if other is None or is_one_set else len(codes)
        n_bytes = sum(rows.array.nbytes for rows in self._sets)
        self._copied = n_bytes > search.sizes.in_place
        # Pairs that a call of a kernel compares at most.
        self._max_compared = max(1, search.sizes.call_bytes // codes.shape[1])
        self._hash_keys, self._search = search.hash_keys()
        self._n_parts = max(1, -(-self.n_rows // search.sizes.part))
        n_keys = self.n_rows * _threads.resolve_n_jobs(search.n_jobs)
        self._n_pieces = max(1, -(-n_keys // (search.sizes.keys * self._n_parts)))

    def buckets(self, bit: int, n_bits: int, piece: int) -> Array:
        """Return the keys of the rows of a piece that are not alone in their bucket, sorted.

        A key is a word of 64 bits: the number of the bucket above the number of the row, 32 bits
        each. The rows of a bucket share a hash of `n_bits` bits, from `bit` on; in a bucket of more
        than `max_bucket` rows, they share these bits themselves. Of two sets, a bucket has rows of
        both. `piece` counts through the pieces of all parts.
        """
        max_rows = max(1, self._sizes.call_bytes // (n_bits // 8 + 64))
        keys = self._hashed_rows(bit, n_bits, piece, max_rows)
        keys.sort()
        n_hashed, n = len(keys), _loops.drop_unshared(keys, self._row_bits, self._first_other)
        # A copy of few keys frees the memory of all.
        keys = keys[:n] if 2 * n > n_hashed else keys[:n].copy()
        state = np.zeros(2, np.int64)
        while state[0] < n:
            _loops.number_buckets(
                keys, self._codes.array, self._others, bit, n_bits, self._hash_keys[1],
                self._search.max_bucket, max_rows, state,
            )  # fmt: skip
        return keys

    def _hashed_rows(self, bit: int, n_bits: int, piece: int, max_rows: int) -> Array:
        """Return the rows of a piece with samples, in their order: the hash of a row's bits above
        the number of the row. The hash decides in which piece a row is. A call hashes `max_rows`
        rows at most."""
        n_pieces = self._n_parts * self._n_pieces
        if n_pieces > 1:  # there is room for all rows of a call, which may be of one piece
            max_rows = min(max_rows, max(_LEAST_STEP, self.n_rows // (16 * n_pieces)))
        # Pieces are of about one size, unless many rows have equal bits: then the room grows.
        room = self.n_rows * 17 // (16 * n_pieces) + max_rows
        keys = np.empty(min(self.n_rows, room), np.uint64)
        n = first_row = 0
        for rows in self._sets:
            sampled = rows.sampled.view(np.uint8)
            for start in range(0, len(rows), max_rows):
                some = slice(start, start + max_rows)
                if len(keys) < min(self.n_rows, n + max_rows):
                    before, keys = keys, np.empty(min(self.n_rows, 2 * n + max_rows), np.uint64)
                    keys[:n] = before[:n]
                n += _loops.band_keys(
                    rows.array[some], sampled[some], bit, n_bits, self._hash_keys[0],
                    first_row + start, self._row_bits, piece, n_pieces, keys[n:],
                )  # fmt: skip
            first_row += len(rows)
        return keys[:n]

    def by_band(
        self,
        name: str,
        kind: ArrayKind,
        find: Callable[[Array, int, int], Array],
        bands: Bands,
    ) -> Iterator[Array]:
        """Return the arrays that ``find(keys, first bit, number of bits)`` returns, of each part of
        each band."""
        n_bits = bands.length * self._codes.bits

        def of_part(band: int, part: int) -> Array:
            bit, pieces = band * n_bits, range(part * self._n_pieces, (part + 1) * self._n_pieces)
            found = [find(self.buckets(bit, n_bits, piece), bit, n_bits) for piece in pieces]
            return found[0] if len(found) == 1 else np.concatenate(found)

        steps = [(band, part) for part in range(self._n_parts) for band in range(bands.n_bands)]
        return self._search.steps.run(name, kind, of_part, steps, self._search.n_jobs)

    def leave_out_copies(self) -> Array:
        """Return rows whose codes more than `max_bucket` rows before them have as well, each in a
        pair with the first such row. They count as rows without samples from now on."""
        n_bits = self._codes.n_hashes * self._codes.bits

        def of_piece(piece: int) -> Array:
            return pairs_of_copies(self.buckets(0, n_bits, piece), self._search.max_bucket)

        def find() -> Array:
            pieces = [(piece,) for piece in range(self._n_parts * self._n_pieces)]
            return np.concatenate(_threads.run(of_piece, pieces, self._search.n_jobs))

        pairs = self._search.steps.array("copies", pairs_below(self.n_rows), find)
        if len(pairs):
            sampled = self._codes.sampled.copy()
            sampled[rows_of_pairs(pairs)[1]] = False
            self._sets = [with_rows(self._codes, self._codes.array, sampled)]
        return pairs

    def verified(self, keys: Array, bit: int, n_bits: int, keep: PairFilter) -> Array:
        """Return the pairs of rows in one bucket that differ in few enough codes, as far as `keep`
        keeps them."""
        parts, space = [np.empty(0, np.uint64)], np.empty(self._sizes.pairs, np.uint64)
        for buckets in self._runs(keys, bit, n_bits):
            while not buckets.done:
                n_pairs = buckets.verify(self._first_other, self._search.max_bucket, space)
                parts.append(keep(space[:n_pairs]).copy())
        return np.concatenate(parts)

    def mark(self, keys: Array, bit: int, n_bits: int, n_given: int, marks: Array) -> Array:
        """Set the bits of the rows of `near_by_band` in `marks` in place, and return it."""
        keys = keys[: _loops.leave_marked(keys, n_given, self._search.max_bucket, marks)]
        for buckets in self._runs(keys, bit, n_bits):
            while not buckets.done:
                buckets.mark_near(n_given, marks)
        return marks

    def _runs(self, keys: Array, bit: int, n_bits: int) -> Iterator[Any]:
        """Yield the buckets of `keys`, ready for comparison: in one run if codes are compared where
        they are, else in runs of keys whose codes are copied at a time.

        A bucket that is cut continues in the next run, which begins with the last rows of the
        bucket again; with these, but not among these, the further rows are compared.
        """
        step = max(1, self._run_length(len(keys)) if self._copied else len(keys))
        run = again = keys[:0]
        for start in range(0, len(keys), step):
            if start:
                again = self._rows_to_repeat(run)
            run = keys[start : start + step]
            if len(again):
                run = np.concatenate([again, run])
            codes = self._codes.array, self._others
            if self._copied:
                codes = _rows_of(run & _ROW, *codes, self._sizes), self._others[:0]
            yield _loops.Buckets(
                run, self._copied, *codes, self._codes.bits, self._codes.n_hashes, bit, n_bits,
                self._max_differing, self._max_compared, len(again),
            )  # fmt: skip

    def _run_length(self, n_shared: int) -> int:
        """Return the number of rows whose codes are copied at a time, if `n_shared` rows of a piece
        share a bucket. They take the memory that the other keys of the piece took before."""
        n_keys = self.n_rows // (self._n_parts * self._n_pieces)
        n_bytes = max(8 * max(n_keys - n_shared, n_keys // 4), self._sizes.call_bytes // 64)
        return max(self._search.max_bucket, n_bytes // (self._codes.shape[1] + 24))

    def _rows_to_repeat(self, run: Array) -> Array:
        """Return the keys at the end of a run that later rows of its last bucket are compared with,
        `max_bucket` at most; of two sets, rows of the first."""
        bucket = run[-1] & ~_ROW
        end = bucket | np.uint64(self._first_other or _ROW)
        first, stop = np.searchsorted(run, np.array([bucket, end]))
        return run[max(first, stop - self._search.max_bucket) : stop]


def pairs_of_copies(keys: Array, max_bucket: int) -> Array:
    """Return the rows in one bucket beyond `max_bucket`, each in a pair with the first such row."""
    parts = [np.empty(0, np.uint64)]
    for start, stop in _blocks.ranges(max_bucket, len(keys), _BYTES):
        some = keys[start:stop]
        some = some[some >> 32 == keys[start - max_bucket : stop - max_bucket] >> 32]
        parts.append(keys[np.searchsorted(keys, some & ~_ROW)] << 32 | some & _ROW)
    return np.concatenate(parts)


def union(parts: Iterator[Array]) -> Array:
    """Return all different pairs, sorted, in the memory of about twice their number."""
    waiting, n_waiting = [np.empty(0, np.uint64)], 0
    for part in parts:
        waiting.append(part)
        n_waiting += len(part)
        if n_waiting > 2 * len(waiting[0]) + 2**20:
            waiting = [distinct(np.concatenate(waiting))]
            n_waiting = len(waiting[0])
    return distinct(np.concatenate(waiting))
