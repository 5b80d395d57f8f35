"""Similar pairs among packed codes, by hashing bands of the codes.

Besides codes that are mapped into memory, the search holds the keys of rows (8 bytes each, at most
as many as `Sizes` allows), later replaced by the codes of rows that share a bucket; a byte per row
that marks rows with samples; and the pairs that the filter accepts. Large code arrays are read from
the first row to the last, because disks are much slower in any other order.
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
"""Return the pairs that pass, from some pairs."""

NewArray = Callable[[int, type], Array]
"""Return an uninitialised array, given its length and type."""

_BYTES = 2**18
"""Bytes of a bitmap that are searched for set bits at a time."""

MAX_BYTES = 2**30
"""Default memory for the keys of rows that are sorted together."""


_LEAST_STEP = 2**12
"""Least number of rows hashed per call, if rows are divided into pieces."""


class Sizes(NamedTuple):
    """Largest numbers of rows, pairs and bytes that are processed at a time."""

    keys: int = MAX_BYTES // 8  # keys in memory, in all threads together
    part: int = MAX_BYTES // 8  # rows per step
    pairs: int = 2**17  # pairs that a call of the compiled loops returns
    call_bytes: int = 2**27  # bytes of codes that a call reads; signals are handled between calls
    in_place: int = LARGEST_IN_PLACE  # bytes of codes that are compared in place
    block: int = 1024  # rows that `removals` decides at a time
    answers: int = 2**20  # rows whose results are copied at a time
    mapped: int = 2**26  # bytes from which an array of rows may be on disk


SIZES = Sizes()

MAX_BUCKET = 1000
"""Default for the largest number of rows in a bucket that a row is compared with."""


class SearchRun(NamedTuple):
    """Limits and threads of a search, and the runner of its steps. Only `max_bucket` affects which
    pairs are found; only `sizes.part` also affects which step finds them."""

    max_bucket: int = MAX_BUCKET
    n_jobs: int | None = None
    sizes: Sizes = SIZES
    steps: Steps = UNKEPT

    def hash_keys(self) -> "tuple[tuple[int, int], SearchRun]":
        """Return two random hash keys, and the search that continues with them. The keys are random
        so that nobody can construct codes that share a hash."""
        keys, steps = self.steps.drawn("hashing", lambda: [secrets.randbits(64) for _ in range(2)])
        if not isinstance(keys, list) or len(keys) != 2:
            raise ValueError(f"the keys of an earlier run are damaged: {keys!r}")
        first, second = (check_int("a key", key, 0, 2**64 - 1) for key in keys)
        return (first, second), self._replace(steps=steps)


DEFAULT_RUN = SearchRun()


def count_differing(
    codes: PackedCodes, other: PackedCodes, i: Array, j: Array, sizes: Sizes = SIZES
) -> Array:
    """Return the number of differing codes for pairs of row i of `codes` and row j of `other`."""
    differing = np.empty(len(i), np.int64)
    step = max(1, sizes.call_bytes // (2 * (codes.shape[1] + 16)))
    for start in range(0, len(i), step):
        some = slice(start, start + step)
        A, B, one, two = codes.array, other.array, i[some], j[some]
        if _are_copied([codes, other], sizes):
            A, B = (
                _rows_of(rows.astype(np.uint64), C, C[:0], sizes)
                for rows, C in ((one, A), (two, B))
            )
            one = two = np.arange(len(one))
        pairs = pairs_of_rows(one, two + len(A))
        _loops.count_differing(pairs, A, B, codes.bits, codes.n_hashes, differing[some])
    return differing


def _are_copied(sets: list[PackedCodes], sizes: Sizes) -> bool:
    """Return whether rows are copied before they are compared."""
    return sum(rows.array.nbytes for rows in sets) > sizes.in_place


def _rows_of(keys: Array, codes: Array, others: Array, sizes: Sizes) -> Array:
    """Return a copy of the codes of the rows `keys`, in this order. Rows are numbered through
    `codes` and then `others`, and read in ascending order."""
    order = keys << np.uint64(32)
    order |= np.arange(len(keys), dtype=np.uint64)
    order.sort()
    rows = np.empty((len(keys), codes.shape[1]), np.uint8)
    step = max(1, sizes.call_bytes // 4096)
    for start in range(0, len(keys), step):
        _loops.copy_rows(order[start : start + step], codes, others, rows)
    return rows


def pairs_of_rows(i: Array, j: Array) -> Array:
    """Return each pair as one number: row i times 2^32, plus row j."""
    pairs = i.astype(np.uint64)
    pairs <<= np.uint64(32)
    pairs |= j.astype(np.uint64)
    return pairs


def rows_of_pairs(pairs: Array, first_other: int = 0) -> tuple[Array, Array]:
    """Return the rows of pairs that are one number each; subtract `first_other` from the second."""
    return (pairs >> np.uint64(32)).astype(np.int64), (pairs & _ROW).astype(np.int64) - first_other


def pairs_below(n_rows: int) -> ArrayKind:
    """Return the kind of arrays of pairs of `n_rows` rows, each pair one number."""
    return ArrayKind(np.uint64, most=n_rows - 1, halves=True)


def pairs_by_band(
    codes: PackedCodes,
    other: PackedCodes | None,
    max_differing: int,
    bands: Bands,
    search: SearchRun,
    keep: PairFilter,
) -> Iterator[Array]:
    """Yield the pairs that share a bucket, differ in at most `max_differing` codes and pass `keep`.
    Pairs of rows with too many copies come first, then the pairs of each part of a band. A pair may
    come several times."""
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
    """Return the rows that may be near another row, ascending, numbered through `given` and then
    `codes`: the rows of pairs that share a bucket and differ in at most `max_differing` codes, and
    all rows in buckets of more than `max_bucket` rows. Pairs of two given rows are ignored."""
    n_given = 0 if given is None else len(given)
    n_rows = n_given + len(codes)
    near, met = np.zeros((2, n_rows // 8 + 1), np.uint8)
    first, second = (codes, None) if given is None else (given, codes)
    hashed = _Hashed(first, second, max_differing, search, is_one_set=True)

    def find(keys: Array, bit: int, n_bits: int) -> Array:
        before = met.copy()
        marks = hashed.mark(keys, bit, n_bits, n_given, before.copy())
        # Later steps skip these rows. No lock is needed: if one thread overwrites another's bits, a
        # later step only finds some rows again.
        np.bitwise_or(met, marks, out=met)
        return _rows_of_bits(marks & ~before)

    kind = ArrayKind(np.int64, (None,), n_rows - 1)
    for rows in hashed.by_band("near", kind, find, bands):
        np.bitwise_or.at(near, rows >> 3, (1 << (rows & 7)).astype(np.uint8))
    return _rows_of_bits(near, new_array)


def _rows_of_bits(bits: Array, new_array: NewArray = np.empty) -> Array:
    """Return the positions of the set bits, ascending. Within a byte, the lowest bit comes
    first."""
    blocks = _blocks.ranges(0, len(bits), _BYTES)
    n = sum(int.from_bytes(bits[start:stop].data).bit_count() for start, stop in blocks)
    rows, first = new_array(n, np.int64), 0
    for start, stop in blocks:
        found = np.flatnonzero(np.unpackbits(bits[start:stop], bitorder="little")) + 8 * start
        rows[first : first + len(found)] = found
        first += len(found)
    return rows


class _Hashed:
    """Rows, hashed into buckets of equal bits. The result does not depend on the hash keys.

    Hashes divide the rows into parts. Each step handles one part of one band, so the number of
    steps depends only on the number of rows, and not on the memory and the threads of a run or
    task. A step divides its part into pieces and processes one piece after another; each thread
    holds the keys of one piece.
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
        # Within one set (in one array or two), every row is compared with every other row.
        self._first_other = 0 if other is None or is_one_set else len(codes)
        self._copied = _are_copied(self._sets, search.sizes)
        # Largest number of pairs that a call of the compiled loops compares.
        self._max_compared = max(1, search.sizes.call_bytes // codes.shape[1])
        self._hash_keys, self._search = search.hash_keys()
        self._n_parts = max(1, -(-self.n_rows // search.sizes.part))
        n_keys = self.n_rows * _threads.resolve_n_jobs(search.n_jobs)
        self._n_pieces = max(1, -(-n_keys // (search.sizes.keys * self._n_parts)))

    def buckets(self, bit: int, n_bits: int, piece: int) -> Array:
        """Return the sorted keys of the rows of a piece that share a bucket with another row.

        A key is a 64-bit word: the bucket number in the upper 32 bits, the row number in the lower.
        The rows of a bucket agree in a hash of `n_bits` bits, starting at `bit`; in buckets of more
        than `max_bucket` rows, they agree in the bits themselves. With two sets, each bucket has
        rows of both. `piece` counts through the pieces of all parts.
        """
        max_rows = max(1, self._sizes.call_bytes // (n_bits // 8 + 64))
        keys = self._hashed_rows(bit, n_bits, piece, max_rows)
        keys.sort()
        n_hashed, n = len(keys), _loops.drop_unshared(keys, self._row_bits, self._first_other)
        # Copying a small remainder frees the memory of all keys.
        keys = keys[:n] if 2 * n > n_hashed else keys[:n].copy()
        state = np.zeros(2, np.int64)
        while state[0] < n:
            _loops.number_buckets(
                keys, self._codes.array, self._others, bit, n_bits, self._hash_keys[1],
                self._search.max_bucket, max_rows, state,
            )  # fmt: skip
        return keys

    def _hashed_rows(self, bit: int, n_bits: int, piece: int, max_rows: int) -> Array:
        """Return the rows of a piece that have samples, in ascending order, each as a word with a
        hash of the row's bits above the row's number. The hash decides to which piece a row
        belongs. A call hashes at most `max_rows` rows."""
        n_pieces = self._n_parts * self._n_pieces
        if n_pieces > 1:  # leave room for all rows of a call, which may all belong to one piece
            max_rows = min(max_rows, max(_LEAST_STEP, self.n_rows // (16 * n_pieces)))
        # Pieces have similar sizes, unless many rows have equal bits; then the array grows.
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
        """Return the arrays that ``find(keys, first bit, number of bits)`` returns, for each part
        of each band."""
        n_bits = bands.length * self._codes.bits

        def of_part(band: int, part: int) -> Array:
            bit, pieces = band * n_bits, range(part * self._n_pieces, (part + 1) * self._n_pieces)
            found = [find(self.buckets(bit, n_bits, piece), bit, n_bits) for piece in pieces]
            return found[0] if len(found) == 1 else np.concatenate(found)

        steps = [(band, part) for part in range(self._n_parts) for band in range(bands.n_bands)]
        return self._search.steps.run(name, kind, of_part, steps, self._search.n_jobs)

    def leave_out_copies(self) -> Array:
        """Return each row whose codes more than `max_bucket` earlier rows share, paired with the
        first such row. From then on, these rows count as rows without samples."""
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
        """Return the pairs within buckets that differ in few enough codes and pass `keep`."""
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
        """Yield runs of buckets, ready for comparison: a single run if codes are compared in place,
        else one run per batch of copied codes.

        A bucket that is cut continues in the next run, which repeats the last rows of the bucket.
        The further rows are compared with the repeated rows, but these are not compared among
        themselves again.
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
        share a bucket. The copies reuse the memory of the dropped keys."""
        n_keys = self.n_rows // (self._n_parts * self._n_pieces)
        n_bytes = max(8 * max(n_keys - n_shared, n_keys // 4), self._sizes.call_bytes // 64)
        return max(self._search.max_bucket, n_bytes // (self._codes.shape[1] + 24))

    def _rows_to_repeat(self, run: Array) -> Array:
        """Return the keys at the end of a run with which later rows of its last bucket are
        compared: at most `max_bucket`; with two sets, only rows of the first."""
        bucket = run[-1] & ~_ROW
        end = bucket | np.uint64(self._first_other or _ROW)
        first, stop = np.searchsorted(run, np.array([bucket, end]))
        return run[max(first, stop - self._search.max_bucket) : stop]


def pairs_of_copies(keys: Array, max_bucket: int) -> Array:
    """Return the rows of a bucket after the first `max_bucket`, each paired with the bucket's first
    row."""
    parts = [np.empty(0, np.uint64)]
    for start, stop in _blocks.ranges(max_bucket, len(keys), _BYTES):
        some = keys[start:stop]
        some = some[some >> 32 == keys[start - max_bucket : stop - max_bucket] >> 32]
        parts.append(keys[np.searchsorted(keys, some & ~_ROW)] << 32 | some & _ROW)
    return np.concatenate(parts)


def union(parts: Iterator[Array]) -> Array:
    """Return the distinct pairs, sorted. Memory is about twice the size of the result."""
    waiting, n_waiting = [np.empty(0, np.uint64)], 0
    for part in parts:
        waiting.append(part)
        n_waiting += len(part)
        if n_waiting > 2 * len(waiting[0]) + 2**20:
            waiting = [distinct(np.concatenate(waiting))]
            n_waiting = len(waiting[0])
    return distinct(np.concatenate(waiting))
