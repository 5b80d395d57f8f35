"""Exact search among packed codes, by comparing all codes."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _blocks, _threads
from sparsemaps._tools._allowed import LARGEST_N_HASHES
from sparsemaps._tools._typing import Array
from sparsemaps.codes import _packed
from sparsemaps.codes._packed import PackedCodes

_QUERIES = 256
"""Queries per call of the compiled loops."""

_ROWS = 4096
"""Rows that a call compares with the queries, if all pairs may be in the result."""

_TILE = 1024
"""Rows in a tile. All pairs of the queries and a tile may be in memory."""

_STEPS = 64
"""Largest number of steps of a search."""

LARGEST_N_ROWS = 2**32 - 1


def check_searched(n_rows: int, n_hashes: int) -> None:
    """Raise if there are more rows or codes than a search supports."""
    if n_hashes > LARGEST_N_HASHES:
        raise ValueError(f"rows of at most {LARGEST_N_HASHES} codes are searched, got {n_hashes}")
    if n_rows > LARGEST_N_ROWS:
        raise ValueError(f"at most {LARGEST_N_ROWS} rows are searched, got {n_rows}")


def nearest(
    queries: PackedCodes, sets: Sequence[PackedCodes], k: int, n_jobs: int | None
) -> tuple[Array, Array]:
    """Return the indices and the agreements of the k nearest rows of each query, among the rows of
    one or more sets. Indices are -1 if a query has fewer neighbours."""
    n_queries, n_rows, n_hashes = len(queries), sum(map(len, sets)), queries.n_hashes
    check_searched(max(n_queries, n_rows), n_hashes)
    n_threads = _threads.resolve_n_jobs(n_jobs)
    step = min(_QUERIES, max(1, -(-n_queries // n_threads)))
    # For few queries, threads share the rows to compare with instead.
    n_shares = min(n_threads, max(1, n_rows // 2**14)) if n_queries < 4 * n_threads else 1
    if n_shares > 1:
        step = n_queries
    ends = np.linspace(0, n_rows, n_shares + 1).astype(int)
    blocks = [
        (start, stop, first, last)
        for start, stop in _blocks.ranges(0, n_queries, max(step, 1))
        for first, last in pairwise(ends.tolist())
    ]
    rows_a_call = _packed.rows_a_call(step, queries.bits * n_hashes)

    def search(start: int, stop: int, first: int, last: int) -> Array:
        keys = np.full((stop - start, k), np.iinfo(np.uint64).max, np.uint64)
        n_before = 0
        for codes in sets:
            sampled = codes.sampled.view(np.uint8)
            own = max(first - n_before, 0), min(last - n_before, len(codes))
            for begin, end in _blocks.ranges(*own, rows_a_call):
                _loops.top_k(
                    queries.array[start:stop], codes.array[begin:end], codes.bits, n_hashes,
                    sampled[begin:end], n_before + begin, keys,
                )  # fmt: skip
            n_before += len(codes)
        return keys

    indices = np.empty((n_queries, k), np.int64)
    agreements = np.empty((n_queries, k), np.int32)
    answers = _threads.stream(search, blocks, n_jobs)
    for start in range(0, n_queries, max(step, 1)):
        keys = np.concatenate([next(answers) for _ in range(n_shares)], axis=1)
        keys.sort(axis=1)
        keys = keys[:, :k]
        rows = slice(start, start + len(keys))
        indices[rows] = (keys & np.uint64(2**_loops.ROW_BITS - 1)).astype(np.int64)
        differing = (keys >> np.uint64(_loops.ROW_BITS)).astype(np.int64)
        none = (keys == np.iinfo(np.uint64).max) | ~queries.sampled[rows, None]
        agreements[rows] = np.where(none, 0, n_hashes - differing)
        indices[rows][none] = -1
    return indices, agreements


def all_pairs(
    codes: PackedCodes,
    other: PackedCodes | None,
    max_differing: int,
    n_jobs: int | None,
) -> Array:
    """Return the pairs that differ in at most `max_differing` codes, ascending: rows i, rows j, and
    the number of differing codes."""

    def find(start: int, stop: int) -> Array:
        found = joined(tiles(codes, other, max_differing, start, stop, LARGEST_N_ROWS))
        return found.take(np.lexsort(found[1::-1]), axis=1)

    return joined(_threads.run(find, steps_of(len(codes), other is None), n_jobs))


def steps_of(n_rows: int, is_one_set: bool) -> list[tuple[int, int]]:
    """Return ranges of rows that take about equally long to compare, with all rows of another set
    or, within one set, each with the rows after it."""
    n_blocks = -(-n_rows // _QUERIES)
    shares = np.linspace(0, 1, min(n_blocks, _STEPS) + 1)
    if is_one_set:
        shares = 1 - np.sqrt(1 - shares)
    ends = np.unique(np.rint(shares * n_blocks).astype(np.int64)) * _QUERIES
    return list(pairwise(np.minimum(ends, n_rows).tolist()))


def tiles(
    codes: PackedCodes,
    other: PackedCodes | None,
    max_differing: int,
    start: int,
    stop: int,
    width: int = _TILE,
) -> Iterator[Array]:
    """Yield the pairs of `all_pairs` in any order, from a few rows and `width` others at a time."""
    others = codes if other is None else other
    for first, last in _blocks.ranges(start, stop, _QUERIES):
        some = codes[first:last]
        for left, right in _blocks.ranges(first if other is None else 0, len(others), width):
            found = joined(within(some, others[left:right], max_differing))
            kept = some.sampled[found[0]]
            found[:2] += [[first], [left]]
            if other is None:
                kept &= found[0] < found[1]
            yield found.compress(kept, axis=1)


def within(queries: PackedCodes, codes: PackedCodes, max_differing: int) -> Iterator[Array]:
    """Yield the pairs of `all_pairs` between a few queries and the rows that have samples, some
    rows at a time."""
    step = min(_ROWS, _packed.rows_a_call(len(queries), codes.bits * codes.n_hashes))
    space = np.empty((3, len(queries) * min(step, len(codes))), np.uint32)
    sampled = codes.sampled.view(np.uint8)
    for first in range(0, len(codes), step):
        part = slice(first, first + step)
        n = _loops.within(
            queries.array, codes.array[part], codes.bits, codes.n_hashes, sampled[part],
            max_differing, *space,
        )  # fmt: skip
        found = space[:, :n].astype(np.int64)
        found[1] += first
        yield found


def joined(parts: Iterable[Array]) -> Array:
    """Concatenate the results of several searches (rows i, rows j, numbers of differing codes)."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else np.hstack([np.empty((3, 0), np.int64), *parts])
