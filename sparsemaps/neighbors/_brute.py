"""Exact search among packed codes: all codes are compared."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from sparsemaps._loops import codes as _kernel
from sparsemaps._tools import _blocks, _threads
from sparsemaps._tools._array_files import ArrayKind
from sparsemaps._tools._stages import NONE, Stages
from sparsemaps._tools._typing import Array
from sparsemaps.codes import _packed
from sparsemaps.codes._code_checks import LARGEST_N_HASHES
from sparsemaps.codes._packed import PackedCodes

_QUERIES = 256
"""Queries of one call of a kernel."""

_ROWS = 4096
"""Rows that a call compares with the queries, where all pairs may be in the answer."""

_TILE = 1024
"""Rows of a tile, all of whose pairs with the queries may be in memory."""

_STEPS = 64
"""Steps of a search, at most."""

LARGEST_N_ROWS = 2**32 - 1


def check_searched(n_rows: int, n_hashes: int) -> None:
    """Raise where there are more rows or codes than a search takes."""
    if n_hashes > LARGEST_N_HASHES:
        raise ValueError(f"rows of at most {LARGEST_N_HASHES} codes are searched, got {n_hashes}")
    if n_rows > LARGEST_N_ROWS:
        raise ValueError(f"at most {LARGEST_N_ROWS} rows are searched, got {n_rows}")


def nearest(
    queries: PackedCodes, codes: PackedCodes, k: int, n_jobs: int | None
) -> tuple[Array, Array]:
    """Indices and agreements of the k nearest rows of each query; -1 where a query has fewer."""
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
        (start, stop, first, last)
        for start, stop in _blocks.ranges(0, n_queries, max(step, 1))
        for first, last in pairwise(ends.tolist())
    ]
    sampled = codes.sampled.view(np.uint8)
    rows_a_call = _packed.rows_a_call(step, codes.bits * codes.n_hashes)

    def search(start: int, stop: int, first: int, last: int) -> Array:
        keys = np.full((stop - start, k), np.iinfo(np.uint64).max, np.uint64)
        for begin, end in _blocks.ranges(first, last, rows_a_call):
            _kernel.top_k(
                queries.array[start:stop], codes.array[begin:end], codes.bits, codes.n_hashes,
                sampled[begin:end], begin, keys,
            )  # fmt: skip
        return keys

    indices = np.empty((n_queries, k), np.int64)
    agreements = np.empty((n_queries, k), np.int32)
    answers = _threads.stream(search, blocks, n_jobs)
    for start in range(0, n_queries, max(step, 1)):
        keys = np.concatenate([next(answers) for _ in range(n_shares)], axis=1)
        keys.sort(axis=1)
        keys = keys[:, :k]
        rows = slice(start, start + len(keys))
        indices[rows] = (keys & np.uint64(2**_kernel.ROW_BITS - 1)).astype(np.int64)
        differing = (keys >> np.uint64(_kernel.ROW_BITS)).astype(np.int64)
        none = (keys == np.iinfo(np.uint64).max) | ~queries.sampled[rows, None]
        agreements[rows] = np.where(none, 0, codes.n_hashes - differing)
        indices[rows][none] = -1
    return indices, agreements


def all_pairs(
    codes: PackedCodes,
    other: PackedCodes | None,
    max_differing: int,
    n_jobs: int | None,
    stages: Stages = NONE,
) -> tuple[Array, Array, Array]:
    """Pairs of which at most `max_differing` codes differ, and how many codes differ."""
    others = codes if other is None else other

    def find(start: int, stop: int) -> Array:
        parts = []
        for block in _blocks.ranges(start, stop, _QUERIES):
            first = block[0] if other is None else 0
            i, j, differing = _tile(codes, other, *block, first, len(others), max_differing)
            order = np.lexsort((j, i))
            parts.append((i[order], j[order], differing[order]))
        return np.stack(concatenated(parts))

    most = max(0, len(codes) - 1), max(0, len(others) - 1), max_differing
    kind = ArrayKind(np.int64, (3, None), most)
    found = stages.run("all", kind, find, steps_of(len(codes), other is None), n_jobs)
    i, j, differing = np.concatenate([np.empty((3, 0), np.int64), *found], axis=1)
    return i, j, differing


def steps_of(n_rows: int, is_one_set: bool) -> list[tuple[int, int]]:
    """Ranges of rows that take about as long to compare: with all rows of another set, or of one
    set each with the rows after it."""
    n_blocks = -(-n_rows // _QUERIES)
    shares = np.linspace(0, 1, min(n_blocks, _STEPS) + 1)
    if is_one_set:
        shares = 1 - np.sqrt(1 - shares)
    ends = np.unique(np.rint(shares * n_blocks).astype(np.int64)) * _QUERIES
    return list(pairwise(np.minimum(ends, n_rows).tolist()))


def tiles(
    codes: PackedCodes, other: PackedCodes | None, max_differing: int, start: int, stop: int
) -> Iterator[tuple[Array, Array]]:
    """The pairs of `all_pairs` of a step, those of a few rows at a time. There is no order, and few
    pairs are held."""
    others = codes if other is None else other
    for block in _blocks.ranges(start, stop, _QUERIES):
        for tile in _blocks.ranges(block[0] if other is None else 0, len(others), _TILE):
            yield _tile(codes, other, *block, *tile, max_differing)[:2]


def _tile(
    codes: PackedCodes, other: PackedCodes | None, start: int, stop: int, first: int, last: int,
    max_differing: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The pairs of rows from `start` to `stop` and rows from `first` to `last` of the other set."""
    others = codes if other is None else other
    parts = []
    for i, j, differing in within(codes[start:stop], others[first:last], max_differing):
        i, j = i + start, j + first
        kept = codes.sampled[i]
        if other is None:
            kept = kept & (i < j)
        parts.append((i[kept], j[kept], differing[kept]))
    return concatenated(parts)


def within(
    queries: PackedCodes, codes: PackedCodes, max_differing: int
) -> Iterator[tuple[Array, Array, Array]]:
    """As `all_pairs`, of few queries and of rows with samples, some rows at a time."""
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


def concatenated(parts: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Pairs, in arrays of rows and of differing codes, of several parts."""
    if len(parts) == 1:
        return parts[0]
    none = np.empty(0, np.int64)
    i, j, differing = (
        np.concatenate([none, *(part[column] for part in parts)]) for column in range(3)
    )
    return i, j, differing
