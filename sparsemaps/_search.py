"""Search among packed codes: exact, by comparing all pairs, or by hashing bands of codes."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from sparsemaps import _packed, _threads, _validation
from sparsemaps._kernels import neighbors as _kernel
from sparsemaps._packed import PackedCodes
from sparsemaps._parameters import ParameterError
from sparsemaps._typing import Array

_QUERIES = 256
"""Queries that a kernel takes at once."""

_ROWS = 4096
"""Rows that they are compared with at once, where all pairs may be in the answer."""

_KEYS = 2**21
"""About how many rows are hashed at a time: 16 MB."""

_PAIRS = 2**17
"""Pairs that are found at a time."""

LARGEST_N_ROWS = 2**32 - 1
LARGEST_N_CODES = 2**24

_EXACT_RECALL_CODES = 1024
_MAX_BAND = 64

# Nanoseconds, for the choice between ways to search; only their ratios matter.
_HASH_COST = 30.0  # of a row in a band: hash and sort
_CANDIDATE_COST = 20.0  # of a pair that shares a bucket
_PAIR_COST = 0.2  # of one of all pairs,
_WORD_COST = 0.05  # and more for each word of 64 bits


class Operand(NamedTuple):
    """Rows of codes that are searched, or searched for."""

    array: Array
    sampled: Array  # of uint8: rows that may be in an answer
    bits: int
    n_hashes: int

    def rows(self, start: int, stop: int) -> "Operand":
        return self._replace(array=self.array[start:stop], sampled=self.sampled[start:stop])


def operand(codes: Any, array: Array, bits: int, n_hashes: int) -> Operand:
    """`codes` for a search; `array` is what they hold."""
    if n_hashes > LARGEST_N_CODES:
        raise ValueError(f"rows of at most {LARGEST_N_CODES} codes are searched, got {n_hashes}")
    if len(array) > LARGEST_N_ROWS:
        raise ValueError(f"at most {LARGEST_N_ROWS} rows are searched, got {len(array)}")
    if isinstance(codes, PackedCodes):
        sampled = codes.sampled
    elif bits * n_hashes >= 64:
        sampled = _packed.rows_with_bits(array)
    else:  # so few bits may all be 0 by chance
        sampled = np.ones(len(array), bool)
    return Operand(array, np.ascontiguousarray(sampled).view(np.uint8), bits, n_hashes)


def operands(
    names: tuple[str, str], A: Any, B: Any, bits: int | None, n_hashes: int | None
) -> tuple[Operand, Operand]:
    """Two sets of codes that are compared."""
    a, b, bits, n_hashes = _packed.unwrap_pair(names, A, B, bits, n_hashes)
    return operand(A, a, bits, n_hashes), operand(B, b, bits, n_hashes)


# ---- nearest rows --------------------------------------------------------------------------------


def nearest(queries: Operand, codes: Operand, k: int, n_jobs: int | None) -> tuple[Array, Array]:
    """Indices and agreements of each query's k nearest rows; -1 where there are fewer."""
    n_threads = _threads.resolve_n_jobs(n_jobs)
    n_queries, n_rows = len(queries.array), len(codes.array)
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

    def search(start: int, stop: int, first: int, last: int) -> Array:
        keys = np.full((stop - start, k), np.iinfo(np.uint64).max, np.uint64)
        part = codes.rows(first, last)
        _kernel.top_k(
            queries.array[start:stop], part.array, codes.bits, codes.n_hashes, part.sampled, first,
            keys,
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
        none = (keys == np.iinfo(np.uint64).max) | (queries.sampled[rows, None] == 0)
        agreements[rows] = np.where(none, 0, codes.n_hashes - differing)
        indices[rows][none] = -1
    return indices, agreements


# ---- pairs ---------------------------------------------------------------------------------------


def similar(
    codes: Any,
    searched: Operand,
    other: Operand | None,
    threshold: float,
    recall: float,
    max_bucket: int,
    n_jobs: int | None,
) -> tuple[Array, Array, Array]:
    """What `sparsemaps.neighbors.similar_pairs` returns, for codes that were opened; `codes` know
    the map, if any of them do."""
    threshold = check_share("threshold", threshold)
    recall = check_share("recall", recall)
    max_bucket = _validation.check_int("max_bucket", max_bucket, 1, 2**31 - 1)
    similarities = estimates(codes, searched)
    n_agreeing = least_agreeing(similarities, threshold)
    bands = choose_bands(searched, other, n_agreeing, recall)
    max_differing = searched.n_hashes - n_agreeing
    if bands is None:
        i, j, differing = all_pairs(searched, other, max_differing, n_jobs)
    else:
        i, j, differing = banded_pairs(searched, other, max_differing, bands, max_bucket, n_jobs)
    return i, j, similarities[searched.n_hashes - differing]


def least_agreeing(similarities: Array, threshold: float) -> int:
    """How many codes agree at least, where the similarity is that of the threshold."""
    return int(np.searchsorted(similarities, threshold - 1e-12))


def estimates(codes: Any, searched: Operand) -> Array:
    """The similarity for each number of codes that agree, from 0 to all."""
    counts = np.arange(searched.n_hashes + 1)
    if isinstance(codes, PackedCodes):
        kernel: Array = codes.kernel(counts)
    else:
        kernel = _packed.kernel_of_counts(counts, searched.n_hashes, 2.0**-searched.bits, False)
    return kernel


def check_share(name: str, value: Any) -> float:
    share = _validation.check_real(name, value, 0, open_low=True)
    if share > 1:
        raise ParameterError(name, str(value), "above 0 and at most 1")
    return share


def all_pairs(
    codes: Operand, other: Operand | None, max_differing: int, n_jobs: int | None
) -> tuple[Array, Array, Array]:
    """Pairs of which at most so many codes differ, by comparing all; and how many differ."""
    others = codes if other is None else other

    def search(start: int, stop: int) -> tuple[Array, Array, Array]:
        found = []
        queries = codes.array[start:stop]
        space = np.empty((3, len(queries) * _ROWS), np.uint32)
        for first in range(0 if other is not None else start, len(others.array), _ROWS):
            part = others.rows(first, first + _ROWS)
            n = _kernel.within(
                queries, part.array, codes.bits, codes.n_hashes, part.sampled, max_differing, *space
            )
            i, j, differing = (space[row, :n].astype(np.int64) for row in range(3))
            i, j = i + start, j + first
            kept = codes.sampled[i] != 0
            if other is None:
                kept &= i < j
            found.append((i[kept], j[kept], differing[kept]))
        i, j, differing = _joined(found)
        order = np.lexsort((j, i))
        return i[order], j[order], differing[order]

    n_rows = len(codes.array)
    blocks = [(start, min(start + _QUERIES, n_rows)) for start in range(0, n_rows, _QUERIES)]
    return _joined(_threads.run(search, blocks, n_jobs))


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
    """The probability that two rows share a bucket if so many of their codes agree."""
    length, n_bands = bands
    if n_hashes > _EXACT_RECALL_CODES:
        missed = (1 - (n_agreeing / n_hashes) ** length) ** n_bands
        return float(1 - missed)
    # Inclusion and exclusion over the bands of which all codes agree, in whole numbers.
    ways: int = sum(
        (-1) ** j
        * math.comb(n_bands, j)
        * math.comb(n_hashes - j * length, n_agreeing - j * length)
        for j in range(min(n_bands, n_agreeing // length) + 1)
    )
    return float(1 - ways / math.comb(n_hashes, n_agreeing))


def choose_bands(
    codes: Operand, other: Operand | None, n_agreeing: int, recall: float
) -> Bands | None:
    """The cheapest bands that find a pair of which so many codes agree with probability `recall`;
    None where comparing all pairs costs less."""
    n_rows = len(codes.array) + (0 if other is None else len(other.array))
    n_pairs = math.comb(n_rows, 2) if other is None else len(codes.array) * len(other.array)
    if recall >= 1 or n_agreeing == 0 or n_pairs == 0:
        return None
    others = codes.array if other is None else other.array
    few = codes.array[sample(len(codes.array))[0]], others[sample(len(others))[1]]
    rates = rates_of(*few, codes.bits, codes.n_hashes)
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


def rates_of(codes: Array, other: Array, bits: int, n_hashes: int) -> Array:
    """Rates at which codes of pairs of two samples of rows agree."""
    space = np.empty((3, len(codes) * len(other)), np.uint32)
    n_found = _kernel.within(
        codes.copy(), other.copy(), bits, n_hashes, np.ones(len(other), np.uint8), n_hashes, *space
    )
    differing = space[2, :n_found][space[2, :n_found] > 0]  # not a row and itself
    rates = 1 - differing / n_hashes
    return rates if len(rates) else np.zeros(1)


def banded_pairs(
    codes: Operand,
    other: Operand | None,
    max_differing: int,
    bands: Bands,
    max_bucket: int,
    n_jobs: int | None,
) -> tuple[Array, Array, Array]:
    """Pairs that share a bucket and of which at most so many codes differ."""
    n_codes_rows = len(codes.array)
    copies = np.empty(0, np.uint64)
    if other is None:
        codes, copies = _set_copies_aside(codes, max_bucket)
    n_rows = n_codes_rows + (0 if other is None else len(other.array))
    n_parts = -(-n_rows // _KEYS)
    none = np.empty((0, codes.array.shape[1]), np.uint8)
    others = none if other is None else other.array
    band_bits = bands.length * codes.bits

    def search(band: int, part: int) -> Array:
        keys = np.empty(n_rows, np.uint64)
        where = band * band_bits, band_bits
        n = _kernel.band_keys(codes.array, codes.sampled, *where, 0, part, n_parts, keys)
        if other is not None:
            n += _kernel.band_keys(
                other.array, other.sampled, *where, n_codes_rows, part, n_parts, keys[n:]
            )
        keys = keys[:n]
        keys.sort()
        state = np.array([0, 0, -1])
        found, space = [], np.empty(_PAIRS, np.uint64)
        while state[1] < n:
            n_found = _kernel.verify_buckets(
                keys, codes.array, others, codes.bits, codes.n_hashes, max_differing, max_bucket,
                state, space,
            )  # fmt: skip
            found.append(space[:n_found].copy())
        return np.concatenate(found) if found else np.empty(0, np.uint64)

    tasks = [(band, part) for part in range(n_parts) for band in range(bands.n_bands)]
    pairs = _union(copies, _threads.stream(search, tasks, n_jobs))
    differing = np.empty(len(pairs), np.int64)
    _kernel.count_differing(pairs, codes.array, others, codes.bits, codes.n_hashes, differing)
    i, j = (
        (pairs >> np.uint64(32)).astype(np.int64),
        (pairs & np.uint64(2**32 - 1)).astype(np.int64),
    )
    return i, j - (0 if other is None else n_codes_rows), differing


def _set_copies_aside(codes: Operand, max_bucket: int) -> tuple[Operand, Array]:
    """`codes` without rows whose codes more than `max_bucket` rows before them have as well; and
    pairs of each of those with the first such row."""
    n_rows, n_bits = len(codes.array), codes.n_hashes * codes.bits
    kept = codes.sampled.copy()
    first_of = np.full(n_rows, -1, np.int64)
    n_parts = -(-n_rows // _KEYS)
    for part in range(n_parts):
        keys = np.empty(n_rows, np.uint64)
        keys = keys[
            : _kernel.band_keys(codes.array, codes.sampled, 0, n_bits, 0, part, n_parts, keys)
        ]
        keys.sort()
        _kernel.find_copies(keys, codes.array, max_bucket, kept, first_of)
    rows = np.flatnonzero(first_of >= 0)
    pairs = first_of[rows].astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64)
    return codes._replace(sampled=kept), pairs


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
