"""Search among packed codes: exact, by comparing all pairs, or by hashing bands of codes."""

import bisect
import math
import secrets
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from sparsemaps._loops import neighbors as _kernel
from sparsemaps._tools import _checks, _threads
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array
from sparsemaps.codes import _packed
from sparsemaps.codes._packed import PackedCodes

_QUERIES = 256
"""Queries that a kernel takes at once."""

_ROWS = 4096
"""Rows that they are compared with at once, where all pairs may be in the answer."""


class Sizes(NamedTuple):
    """How much the search for pairs by hashing does at a time."""

    keys: int = 2**21  # rows that are hashed: 16 MB
    pairs: int = 2**17  # that are found
    call_bytes: int = 2**27  # codes that a kernel hashes or reads: signals are taken between calls


SIZES = Sizes()

LARGEST_N_ROWS = 2**32 - 1
LARGEST_N_CODES = 2**24

_EXACT_RECALL_CODES = 1024
_MAX_BAND = 64

LEAST_MISS = 1e-9
"""Of pairs at the threshold, the share that has too few codes that agree, if the recall is 1."""

# Nanoseconds, for the choice between ways to search; only their ratios matter.
_HASH_COST = 30.0  # of a row in a band: hash and sort
_CANDIDATE_COST = 20.0  # of a pair that shares a bucket
_PAIR_COST = 0.2  # of one of all pairs,
_WORD_COST = 0.05  # and more for each word of 64 bits


def check_searched(n_rows: int, n_hashes: int) -> None:
    """Raise where there are more rows or codes than a search takes."""
    if n_hashes > LARGEST_N_CODES:
        raise ValueError(f"rows of at most {LARGEST_N_CODES} codes are searched, got {n_hashes}")
    if n_rows > LARGEST_N_ROWS:
        raise ValueError(f"at most {LARGEST_N_ROWS} rows are searched, got {n_rows}")


# ---- nearest rows --------------------------------------------------------------------------------


def nearest(
    queries: PackedCodes, codes: PackedCodes, k: int, n_jobs: int | None
) -> tuple[Array, Array]:
    """Indices and agreements of each query's k nearest rows; -1 where there are fewer."""
    check_searched(max(len(queries), len(codes)), codes.n_hashes)
    n_threads = _threads.resolve_n_jobs(n_jobs)
    n_queries, n_rows = len(queries), len(codes)
    step = min(_QUERIES, max(1, -(-n_queries // n_threads)))
    # Few queries are divided by the rows that they are compared with.
    n_shares = min(n_threads, max(1, n_rows // 2**14)) if n_queries < 4 * n_threads else 1
    if n_shares > 1:
        step = n_queries
    ends = np.linspace(0, n_rows, n_shares + 1).astype(int)
    blocks = [
        (start, min(start + step, n_queries), first, last)
        for start in range(0, n_queries, max(step, 1))
        for first, last in pairwise(ends.tolist())
    ]
    sampled = codes.sampled.view(np.uint8)
    rows_a_call = _packed.rows_a_call(step, codes.bits * codes.n_hashes)

    def search(start: int, stop: int, first: int, last: int) -> Array:
        keys = np.full((stop - start, k), np.iinfo(np.uint64).max, np.uint64)
        for begin in range(first, last, rows_a_call):
            end = min(begin + rows_a_call, last)
            _kernel.top_k(
                queries.array[start:stop], codes.array[begin:end], codes.bits, codes.n_hashes,
                sampled[begin:end], begin, keys,
            )  # fmt: skip
        return keys

    indices = np.empty((n_queries, k), np.int64)
    agreements = np.empty((n_queries, k), np.int32)
    found = _threads.stream(search, blocks, n_jobs)
    for start in range(0, n_queries, max(step, 1)):
        keys = np.concatenate([next(found) for _ in range(n_shares)], axis=1)
        keys.sort(axis=1)
        keys = keys[:, :k]
        rows = slice(start, start + len(keys))
        indices[rows] = (keys & np.uint64(2**_kernel.ROW_BITS - 1)).astype(np.int64)
        differing = (keys >> np.uint64(_kernel.ROW_BITS)).astype(np.int64)
        none = (keys == np.iinfo(np.uint64).max) | ~queries.sampled[rows, None]
        agreements[rows] = np.where(none, 0, codes.n_hashes - differing)
        indices[rows][none] = -1
    return indices, agreements


# ---- pairs ---------------------------------------------------------------------------------------


def similar(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    max_bucket: int,
    n_jobs: int | None,
) -> tuple[Array, Array, Array]:
    """Pairs whose estimate is at least `threshold`, and their estimates."""
    threshold = check_share("threshold", threshold)
    recall = check_share("recall", recall)
    max_bucket = _checks.check_int("max_bucket", max_bucket, 1, 2**31 - 1)
    least = least_agreeing(codes, threshold)
    i, j, differing = pairs_of(codes, other, least, recall, max_bucket, n_jobs)
    return estimated(codes, other, threshold, i, j, differing)


def candidates(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    n_jobs: int | None,
    max_bucket: int = 1000,
) -> tuple[Array, Array]:
    """Pairs among which the exact kernel is to decide: one whose kernel is `threshold` is here with
    probability `recall` at least.

    Of the share that may be missed, one half are pairs of which too few codes agree, as the number
    that agree is a binomial one at the rate of the kernel; the other half is what hashing may
    miss.
    """
    least, recall = for_candidates(codes, threshold, recall)
    i, j, _ = pairs_of(codes, other, least, recall, max_bucket, n_jobs)
    return i, j


def for_candidates(codes: PackedCodes, threshold: float, recall: float) -> tuple[int, float]:
    """How many codes of candidates agree at least, and the probability with which hashing must find
    such rows, by the rule of `candidates`."""
    check_share("threshold", threshold)
    miss = (1 - check_share("recall", recall)) / 2
    n_hashes, rate = codes.n_hashes, float(codes._least_rate(threshold))
    least = bisect.bisect_left(
        range(n_hashes + 1),
        max(miss, LEAST_MISS),
        key=lambda count: float(special.bdtr(count, n_hashes, rate)),
    )
    return least, 1 - miss


def may_be_missing(codes: PackedCodes, agreements: Array, kernel: Array, recall: float) -> Array:
    """Whether rows of which no more codes agree than `agreements` may have at least this exact
    kernel, by the rule of `candidates`."""
    reached = special.bdtr(agreements, codes.n_hashes, codes._least_rate(kernel))
    return np.asarray(reached >= max((1 - recall) / 2, LEAST_MISS))


def pairs_of(
    codes: PackedCodes,
    other: PackedCodes | None,
    least: int,
    recall: float,
    max_bucket: int,
    n_jobs: int | None,
) -> tuple[Array, Array, Array]:
    """Pairs of which at least so many codes agree, in ascending order, and how many differ."""
    check_searched(len(codes) + (0 if other is None else len(other)), codes.n_hashes)
    bands = choose_bands(codes, other, least, recall)
    max_differing = codes.n_hashes - least
    if bands is None:
        return all_pairs(codes, other, max_differing, n_jobs)
    return banded_pairs(codes, other, max_differing, bands, max_bucket, n_jobs)


def least_agreeing(codes: PackedCodes, threshold: float) -> int:
    """How many codes agree at least where the estimate is that of the threshold."""
    counts = np.arange(codes.n_hashes + 1)
    # The estimate of a product is greatest where a part agrees in no other sample.
    highest = codes.kernel(counts, first=counts, second=counts)
    return int(np.argmax(highest >= threshold - 1e-12))


def estimated(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    i: Array,
    j: Array,
    differing: Array,
) -> tuple[Array, Array, Array]:
    """Those of the pairs whose estimate is at least `threshold`, and their estimates."""
    similarity = estimates(codes, codes if other is None else other, i, j, differing)
    if codes._takes_parts:
        kept = similarity >= threshold - 1e-12
        i, j, similarity = i[kept], j[kept], similarity[kept]
    return i, j, similarity


def estimates(
    codes: PackedCodes, other: PackedCodes, i: Array, j: Array, differing: Array
) -> Array:
    """The estimates for pairs of a row of `codes` and one of `other`, of which so many codes
    differ."""
    n = codes.n_hashes
    if not codes._takes_parts:
        table: Array = codes.kernel(np.arange(n + 1))
        return table[n - differing]
    own, place = np.unique(i, return_inverse=True)
    others, other_place = np.unique(j, return_inverse=True)
    A, B = codes[own], other[others]
    first, second = (n - count_differing(A.part(k), B.part(k), place, other_place) for k in (0, 1))
    return np.asarray(codes.kernel(n - differing, first=first, second=second))


def count_differing(
    codes: PackedCodes, other: PackedCodes, i: Array, j: Array, sizes: Sizes = SIZES
) -> Array:
    """How many codes differ of row i of `codes` and row j of `other`."""
    others = other.array[:0] if other is codes else other.array
    first_other = 0 if other is codes else len(codes)
    pairs = i.astype(np.uint64) << np.uint64(32) | (j + first_other).astype(np.uint64)
    differing = np.empty(len(pairs), np.int64)
    step = max(1, sizes.call_bytes // codes.shape[1])
    for start in range(0, len(pairs), step):
        some = slice(start, start + step)
        _kernel.count_differing(
            pairs[some], codes.array, others, codes.bits, codes.n_hashes, differing[some]
        )
    return differing


def check_share(name: str, value: Any) -> float:
    share = _checks.check_real(name, value, 0, open_low=True)
    if share > 1:
        raise ParameterError(name, str(value), "above 0 and at most 1")
    return share


def all_pairs(
    codes: PackedCodes, other: PackedCodes | None, max_differing: int, n_jobs: int | None
) -> tuple[Array, Array, Array]:
    """Pairs of which at most so many codes differ, by comparing all; and how many differ."""
    others = codes if other is None else other
    n_rows = len(codes)

    def search(start: int, stop: int) -> tuple[Array, Array, Array]:
        found = []
        first = 0 if other is not None else start
        for i, j, differing in _within(codes[start:stop], others[first:], max_differing):
            i, j = i + start, j + first
            kept = codes.sampled[i]
            if other is None:
                kept = kept & (i < j)
            found.append((i[kept], j[kept], differing[kept]))
        i, j, differing = _joined(found)
        order = np.lexsort((j, i))
        return i[order], j[order], differing[order]

    blocks = [(start, min(start + _QUERIES, n_rows)) for start in range(0, n_rows, _QUERIES)]
    return _joined(_threads.run(search, blocks, n_jobs))


def _within(
    queries: PackedCodes, codes: PackedCodes, max_differing: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Pairs of few queries and rows with samples, some rows at a time."""
    step = min(_ROWS, _packed.rows_a_call(len(queries), codes.bits * codes.n_hashes))
    space = np.empty((3, len(queries) * min(step, len(codes))), np.uint32)
    sampled = codes.sampled.view(np.uint8)
    for first in range(0, len(codes), step):
        part = slice(first, first + step)
        n = _kernel.within(
            queries.array, codes.array[part], codes.bits, codes.n_hashes, sampled[part],
            max_differing, *space,
        )  # fmt: skip
        i, j, differing = (space[row, :n].astype(np.int64) for row in range(3))
        yield i, j + first, differing


def _joined(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    none = np.empty(0, np.int64)
    i, j, differing = (
        np.concatenate([none, *(part[column] for part in found)]) for column in range(3)
    )
    return i, j, differing


class Bands(NamedTuple):
    """`n_bands` times `length` consecutive codes of a row, which are hashed together."""

    length: int
    n_bands: int


def recall_of(bands: Bands, n_hashes: int, n_agreeing: int) -> float:
    """The probability that two rows share a bucket if so many of their codes agree, all choices of
    these being equally likely; above 1,024 codes a little less.

    Whether the codes of one band all agree makes it less likely that those of another do
    (Joag-Dev & Proschan, "Negative association of random variables", 1983), so that bands taken
    as independent miss more than they do.
    """
    length, n_bands = bands
    if n_hashes > _EXACT_RECALL_CODES:
        places = np.arange(length)
        one = float(np.prod(np.maximum(n_agreeing - places, 0) / (n_hashes - places)))
        return 1.0 if one >= 1 else -math.expm1(n_bands * math.log1p(-one))
    # Inclusion and exclusion over the bands of which all codes agree, in whole numbers.
    ways: int = sum(
        (-1) ** j
        * math.comb(n_bands, j)
        * math.comb(n_hashes - j * length, n_agreeing - j * length)
        for j in range(min(n_bands, n_agreeing // length) + 1)
    )
    return float(1 - ways / math.comb(n_hashes, n_agreeing))


def choose_bands(
    codes: PackedCodes, other: PackedCodes | None, n_agreeing: int, recall: float
) -> Bands | None:
    """The cheapest bands that find a pair of which so many codes agree with probability `recall`;
    None where comparing all pairs costs less."""
    n_rows = len(codes) + (0 if other is None else len(other))
    n_pairs = math.comb(n_rows, 2) if other is None else len(codes) * len(other)
    if recall >= 1 or n_agreeing == 0 or n_pairs == 0:
        return None
    others = codes if other is None else other
    rates = rates_of(codes[sample(len(codes))[0]], others[sample(len(others))[1]])
    return cheapest_bands(n_rows, n_pairs, codes.bits, codes.n_hashes, n_agreeing, recall, rates)


def cheapest_bands(
    n_rows: int,
    n_pairs: int,
    bits: int,
    n_hashes: int,
    n_agreeing: int,
    recall: float,
    rates: Array,
) -> Bands | None:
    """As `choose_bands`, for so many rows, pairs of which agree at such `rates`."""
    n_words = n_hashes * bits / 64
    least, best = n_pairs * (_PAIR_COST + _WORD_COST * n_words), None
    for length in range(1, min(_MAX_BAND, n_agreeing) + 1):
        n_bands = _least_bands(length, n_hashes, n_agreeing, recall)
        if n_bands is None:
            break
        candidates = n_pairs * float((rates**length).mean())
        cost = n_bands * (n_rows * _HASH_COST + candidates * _CANDIDATE_COST)
        if cost < least:
            least, best = cost, Bands(length, n_bands)
    return best


def _least_bands(length: int, n_hashes: int, n_agreeing: int, recall: float) -> int | None:
    low, high = 1, n_hashes // length
    if recall_of(Bands(length, high), n_hashes, n_agreeing) < recall:
        return None
    while low < high:
        middle = (low + high) // 2
        if recall_of(Bands(length, middle), n_hashes, n_agreeing) >= recall:
            high = middle
        else:
            low = middle + 1
    return low


def sample(n_rows: int, n: int = 256) -> tuple[slice, slice]:
    """Two samples of at most n rows each, for `rates_of`."""
    step = max(1, n_rows // n)
    start = n_rows // (2 * n)
    return slice(0, n * step, step), slice(start, start + n * step, step)


def rates_of(codes: PackedCodes, other: PackedCodes) -> Array:
    """Rates at which codes of pairs of two samples of rows agree."""
    other = other._with_rows(other.array, np.ones(len(other), bool))
    differing = _joined(list(_within(codes, other, codes.n_hashes)))[2]
    differing = differing[differing > 0]  # not a row and itself
    return 1 - differing / codes.n_hashes if len(differing) else np.zeros(1)


def banded_pairs(
    codes: PackedCodes,
    other: PackedCodes | None,
    max_differing: int,
    bands: Bands,
    max_bucket: int,
    n_jobs: int | None,
    sizes: Sizes = SIZES,
) -> tuple[Array, Array, Array]:
    """Pairs that share a bucket and of which at most so many codes differ."""
    n_own = len(codes)
    copies = np.empty(0, np.uint64)
    if other is None:
        codes, copies = _set_copies_aside(codes, max_bucket, sizes)
    band_bits = bands.length * codes.bits
    hashed = _Hashed(codes, other, sizes)

    def search(band: int, part: int) -> Array:
        bits = band * band_bits, band_bits
        keys = hashed.buckets(*bits, part, max_bucket)
        return hashed.verified(keys, *bits, max_differing, max_bucket)[0]

    tasks = [(band, part) for part in range(hashed.n_parts) for band in range(bands.n_bands)]
    pairs = _union(copies, _threads.stream(search, tasks, n_jobs))
    i = (pairs >> np.uint64(32)).astype(np.int64)
    j = (pairs & np.uint64(2**32 - 1)).astype(np.int64) - (0 if other is None else n_own)
    return i, j, count_differing(codes, codes if other is None else other, i, j, sizes)


class _Hashed:
    """Rows in buckets of equal bits, by hashes whose keys are drawn here: nobody can choose codes
    that share one. What is found does not depend on the keys."""

    def __init__(self, codes: PackedCodes, other: PackedCodes | None, sizes: Sizes = SIZES) -> None:
        self._codes = codes
        self._sizes = sizes
        self._sets = [codes] if other is None else [codes, other]
        self._others = np.empty((0, codes.shape[1]), np.uint8) if other is None else other.array
        self._n_rows = sum(len(rows) for rows in self._sets)
        self._hash_keys = draw_hash_key(), draw_hash_key()
        self.n_parts = -(-self._n_rows // sizes.keys)

    def buckets(self, bit: int, n_bits: int, part: int, max_bucket: int) -> Array:
        """The rows of a part, with the hashes or numbers of their buckets above them, in their
        order. In a bucket of more than `max_bucket` rows all have the same bits."""
        keys = np.empty(self._n_rows, np.uint64)
        n = first_row = 0
        step = max(1, self._sizes.call_bytes // (n_bits // 8 + 64))
        for rows in self._sets:
            sampled = rows.sampled.view(np.uint8)
            for start in range(0, len(rows), step):
                some = slice(start, start + step)
                n += _kernel.band_keys(
                    rows.array[some], sampled[some], bit, n_bits, self._hash_keys[0],
                    first_row + start, part, self.n_parts, keys[n:],
                )  # fmt: skip
            first_row += len(rows)
        keys = keys[:n]
        keys.sort()
        state = np.zeros(2, np.int64)
        while state[0] < n:
            _kernel.number_buckets(
                keys, self._codes.array, self._others, bit, n_bits, self._hash_keys[1], max_bucket,
                step, state,
            )  # fmt: skip
        return keys

    def verified(
        self, keys: Array, bit: int, n_bits: int, max_differing: int, max_bucket: int
    ) -> tuple[Array, int]:
        """The pairs of rows of equal bits of which at most so many codes differ; and how many pairs
        were compared."""
        codes = self._codes
        state = np.array([0, 0, -1, 0, 0])
        found, space = [np.empty(0, np.uint64)], np.empty(self._sizes.pairs, np.uint64)
        max_compared = max(1, self._sizes.call_bytes // codes.shape[1])
        while state[1] < len(keys):
            n_found = _kernel.verify_buckets(
                keys, codes.array, self._others, codes.bits, codes.n_hashes, bit, n_bits,
                max_differing, max_bucket, max_compared, state, space,
            )  # fmt: skip
            found.append(space[:n_found].copy())
        return np.concatenate(found), int(state[4])


def draw_hash_key() -> int:
    return secrets.randbits(64)


def _set_copies_aside(
    codes: PackedCodes, max_bucket: int, sizes: Sizes
) -> tuple[PackedCodes, Array]:
    """`codes` without rows whose codes more than `max_bucket` rows before them have as well; and
    pairs of each of those with the first such row."""
    kept = codes.sampled.copy()
    first_of = np.full(len(codes), -1, np.int64)
    hashed = _Hashed(codes, None, sizes)
    for part in range(hashed.n_parts):
        keys = hashed.buckets(0, codes.n_hashes * codes.bits, part, max_bucket)
        _kernel.find_copies(keys, max_bucket, kept.view(np.uint8), first_of)
    rows = np.flatnonzero(first_of >= 0)
    pairs = first_of[rows].astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64)
    return codes._with_rows(codes.array, kept), pairs


def _union(pairs: Array, parts: Iterator[Array]) -> Array:
    """All different pairs, sorted; never many more are held than there are."""
    waiting, n_waiting = [pairs], len(pairs)
    for part in parts:
        waiting.append(part)
        n_waiting += len(part)
        if n_waiting > 2 * len(waiting[0]) + 2**20:
            waiting = [np.unique(np.concatenate(waiting))]
            n_waiting = len(waiting[0])
    return np.unique(np.concatenate(waiting))
