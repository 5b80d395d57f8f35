"""The tasks that search similar pairs: they hash bands, and compare codes in the codes' blocks.

A pair is a word of 64 bits: the smaller row's number above the larger row's number. In a search
between two sets, the numbers of the second set's rows follow those of the first. The tasks are

1. ``_keys`` takes a block and a band. It hashes each row's codes in the band, and puts the hash
   above the row's number. It has one array for each range of hashes.
2. ``_candidates`` takes a band and a range of hashes, from all blocks. It makes the pairs of rows
   of one hash. It has one array for each block of the smaller row.
3. ``_attach`` takes a block, and the candidates whose smaller row is in it. It drops repeated ones,
   and adds the codes of that row. It has one result for each block of the larger row.
4. ``_compare`` takes a block, and compares the candidates whose larger row is in it.

So workers send one another keys, candidates, and the codes of candidates. Before, within one set,
rows with too many copies are set aside:

1. ``_keys`` hashes all codes of a row.
2. ``_crowds`` takes a range of hashes. It picks the rows whose hash more than ``max_bucket`` rows
   have. It has one array for each block.
3. ``_contents`` takes a block. It counts how often each different row of these is in it.
4. ``_tally`` counts, for each block, how often each different row is in the blocks before, and
   tells the first such row.
5. ``_copies`` takes a block. It makes a pair of each row to set aside with the first such row.
"""

import operator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._loops import neighbors as _kernel
from sparsemaps._tools._distinct import distinct
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, as_packed
from sparsemaps.neighbors import _bands, _brute, _hashing, _search

Triples = tuple[Array, Array, Array]
"""Smaller rows, larger rows, similarities."""

PART_ROWS = 2**23
"""The number of keys that a task sorts, nearly."""

_SHIFT, _ROW = np.uint64(32), np.uint64(2**32 - 1)

_NO_PAIRS = np.empty(0, np.uint64)


class Plan(NamedTuple):
    """The codes' facts, the threshold, the bands and the blocks; without bands, all pairs are
    compared."""

    known: PackedCodes  # of the map, without rows
    threshold: float
    max_differing: int
    bands: _bands.Bands | None
    max_bucket: int
    starts: Array  # first rows of all blocks, and the end, of uint64
    n_own: int  # the number of blocks of the first set; the other blocks are those of the second
    hash_key: int  # a random key of the hashes of bands
    part_rows: int = PART_ROWS

    @property
    def is_within(self) -> bool:
        """Whether there is one set only."""
        return self.n_own == len(self.starts) - 1

    @property
    def first_other(self) -> int:
        """The number of the first row of the second set."""
        return int(self.starts[self.n_own])

    @property
    def largest(self) -> range:
        """The blocks that have the larger rows of pairs."""
        return range(0 if self.is_within else self.n_own, len(self.starts) - 1)

    @property
    def n_parts(self) -> int:
        return -(-int(self.starts[-1]) // self.part_rows)

    def above(self, block: int) -> range:
        """The blocks that have larger rows of pairs whose smaller one is in `block`."""
        return range(max(block, self.largest.start), self.largest.stop)

    def packed(self, codes: Array, sampled: Array) -> PackedCodes:
        return self.known._with_rows(np.ascontiguousarray(codes), sampled)


def make_graph(
    name: str, codes: list[Any], sampled: list[Any], plan: Plan
) -> tuple[dict[Any, Any], list[Any]]:
    """The graph of tasks, and the keys of the tasks whose results are the pairs.

    `codes` are the keys of all blocks of codes; `sampled` are the keys of the blocks that say which
    rows have samples, or None.
    """
    graph: dict[Any, Any] = {}
    blocks = range(len(codes))
    for b in blocks:
        graph[f"{name}-sampled", b] = (_sampled, codes[b], sampled[b], plan)
    if plan.bands is None:
        for b in plan.largest:
            smaller = range(b + 1) if plan.is_within else range(plan.n_own)
            for a in smaller:
                ends = codes[a], (f"{name}-sampled", a), codes[b], (f"{name}-sampled", b)
                graph[f"{name}-all", b, a] = (_compare_all, *ends, a, b, plan)
            graph[name, b] = (_join, [(f"{name}-all", b, a) for a in smaller])
        return graph, [(name, b) for b in plan.largest]
    copies: list[Any] = [_NO_PAIRS] * len(codes)
    if plan.is_within:
        _add_copies(graph, name, codes, plan)
        copies = [(f"{name}-copies", b) for b in blocks]
    parts = range(plan.n_parts)
    pick = [operator.itemgetter(place) for place in range(max(len(blocks), len(parts)))]
    bands = range(plan.bands.n_bands)
    n_bits = plan.bands.length * plan.known.bits
    for band in bands:
        _add_keys(graph, name, f"band-{band}", (band * n_bits, n_bits), codes, copies, plan)
        for part in parts:
            candidates = (f"{name}-candidates", band, part)
            here = [(f"{name}-band-{band}-part", b, part) for b in blocks]
            graph[candidates] = (_candidates, here, plan)
            for a in range(plan.n_own):
                graph[f"{name}-first", a, band, part] = (pick[a], candidates)
    for a in range(plan.n_own):
        attached = (f"{name}-attached", a)
        first = [(f"{name}-first", a, band, part) for band in bands for part in parts]
        graph[attached] = (_attach, codes[a], first, a, plan)
        for place, b in enumerate(plan.above(a)):
            graph[f"{name}-second", b, a] = (pick[place], attached)
    for b in plan.largest:
        second = [(f"{name}-second", b, a) for a in range(min(b + 1, plan.n_own))]
        graph[name, b] = (_compare, codes[b], second, copies[b], b, plan)
    return graph, [(name, b) for b in plan.largest]


def _add_keys(
    graph: dict[Any, Any], name: str, what: str, bits: tuple[int, int], codes: list[Any],
    copies: list[Any], plan: Plan,
) -> None:  # fmt: skip
    """Hashes of some bits, as ``(f"{name}-{what}-part", block, part)``."""
    for b, own in enumerate(codes):
        keys = (f"{name}-{what}", b)
        graph[keys] = (_keys, own, (f"{name}-sampled", b), copies[b], bits, b, plan)
        for part in range(plan.n_parts):
            graph[f"{name}-{what}-part", b, part] = (operator.itemgetter(part), keys)


def _add_copies(graph: dict[Any, Any], name: str, codes: list[Any], plan: Plan) -> None:
    """Rows that are set aside, as ``(f"{name}-copies", block)``."""
    blocks, parts = range(len(codes)), range(plan.n_parts)
    all_bits = 0, plan.known.n_hashes * plan.known.bits
    _add_keys(graph, name, "whole", all_bits, codes, [_NO_PAIRS] * len(codes), plan)
    for part in parts:
        here = [(f"{name}-whole-part", b, part) for b in blocks]
        graph[f"{name}-crowds", part] = (_crowds, here, plan)
    for b in blocks:
        for part in parts:
            crowd = (operator.itemgetter(b), (f"{name}-crowds", part))
            graph[f"{name}-crowd", b, part] = crowd
        here = [(f"{name}-crowd", b, part) for part in parts]
        graph[f"{name}-contents", b] = (_contents, codes[b], here, b, plan)
        graph[f"{name}-counted", b] = (operator.itemgetter(0), (f"{name}-contents", b))
        graph[f"{name}-placed", b] = (operator.itemgetter(1), (f"{name}-contents", b))
        graph[f"{name}-before", b] = (operator.itemgetter(b), f"{name}-tally")
        ends = (f"{name}-placed", b), (f"{name}-before", b)
        graph[f"{name}-copies", b] = (_copies, *ends, plan)
    graph[f"{name}-tally"] = (_tally, [(f"{name}-counted", b) for b in blocks])


# ---- candidates ----------------------------------------------------------------------------------


class Attached(NamedTuple):
    """Candidates whose larger rows are in one block: the smaller rows, their codes, and pairs."""

    rows: Array
    codes: Array
    pairs: Array


def _sampled(codes: Array, sampled: Array | None, plan: Plan) -> Array:
    """Which rows may be in a pair."""
    if sampled is None:
        return as_packed("codes", codes, plan.known.bits, plan.known.n_hashes).sampled
    return np.ascontiguousarray(sampled, dtype=bool)


def _keys(
    codes: Array, sampled: Array, copies: Array, bits: tuple[int, int], block: int, plan: Plan
) -> list[Array]:
    first_row = int(plan.starts[block])
    if len(copies):
        sampled = sampled.copy()
        sampled[(copies & _ROW).astype(np.int64) - first_row] = False
    keys = np.empty(len(codes), np.uint64)
    codes = np.ascontiguousarray(codes)
    rows = codes, sampled.view(np.uint8)
    keys = keys[: _kernel.band_keys(*rows, *bits, plan.hash_key, first_row, 32, 0, 1, keys)]
    keys.sort()
    ends = [part * 2**32 // plan.n_parts << 32 for part in range(1, plan.n_parts)]
    parts = np.split(keys, np.searchsorted(keys, np.array(ends, np.uint64)))
    return [part.copy() for part in parts]


def _candidates(parts: list[Array], plan: Plan) -> list[Array]:
    keys = np.concatenate(parts)
    keys.sort()
    rows, hashes = keys & _ROW, keys >> _SHIFT
    at = np.arange(len(keys))  # of larger rows, in the order of hashes, then of rows
    nearest = at  # of which those with smaller numbers come before
    if not plan.is_within:
        first_other = np.uint64(plan.first_other)
        at = at[rows >= first_other]
        nearest = np.searchsorted(keys, hashes[at] << _SHIFT | first_other)
    pieces = [_NO_PAIRS]
    for distance in range(1, plan.max_bucket + 1):
        smaller = nearest - distance
        kept = (smaller >= 0) & (hashes[smaller] == hashes[at])
        at, nearest, smaller = at[kept], nearest[kept], smaller[kept]
        if not len(at):
            break
        pieces.append(rows[smaller] << _SHIFT | rows[at])
    pairs = np.sort(np.concatenate(pieces))
    return np.split(pairs, np.searchsorted(pairs, plan.starts[1 : plan.n_own] << _SHIFT))


def _attach(codes: Array, parts: list[Array], block: int, plan: Plan) -> list[Attached]:
    pairs = distinct(np.concatenate(parts))
    larger = np.searchsorted(plan.starts, pairs & _ROW, side="right") - 1
    attached = []
    for b in plan.above(block):
        here = pairs[larger == b]
        rows, places = np.unique(here >> _SHIFT, return_inverse=True)
        own = codes[(rows - plan.starts[block]).astype(np.int64)]
        attached.append(Attached(rows, own, places.astype(np.uint64) << _SHIFT | here & _ROW))
    return attached


def _compare(codes: Array, parts: list[Attached], copies: Array, block: int, plan: Plan) -> Triples:
    pieces = [(*_numbers(copies >> _SHIFT, copies & _ROW, plan), np.ones(len(copies)))]
    own = plan.packed(codes, np.ones(len(codes), bool))
    for rows, others, pairs in parts:
        other = plan.packed(others, np.ones(len(others), bool))
        i, j = _hashing.rows_of_pairs(pairs, int(plan.starts[block]))
        differing = _hashing.count_differing(other, own, i, j)
        kept = differing <= plan.max_differing
        i, j, similarity = _search.estimated(
            other, own, plan.threshold, i[kept], j[kept], differing[kept]
        )
        pieces.append((*_numbers(rows[i], j + int(plan.starts[block]), plan), similarity))
    return _join(pieces)


def _compare_all(
    A: Array, sampled_a: Array, B: Array, sampled_b: Array, a: int, b: int, plan: Plan
) -> Triples:
    one = plan.packed(A, sampled_a)
    other = None if a == b else plan.packed(B, sampled_b)
    pairs = _brute.all_pairs(one, other, plan.max_differing, None)
    i, j, similarity = _search.estimated(one, other, plan.threshold, *pairs)
    return (*_numbers(i + int(plan.starts[a]), j + int(plan.starts[b]), plan), similarity)


def _numbers(i: Array, j: Array, plan: Plan) -> tuple[Array, Array]:
    """The numbers of rows, each within its set."""
    first = 0 if plan.is_within else plan.first_other
    return i.astype(np.int64), j.astype(np.int64) - first


def _join(pieces: list[Triples]) -> Triples:
    i, j, similarity = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return i, j, similarity


# ---- copies --------------------------------------------------------------------------------------


class Counted(NamedTuple):
    """Of some rows of a block, the different ones, the first row of each, how many there are."""

    codes: Array
    first_rows: Array
    counts: Array


class Placed(NamedTuple):
    """Some rows of a block, and for each which of the different ones it is."""

    rows: Array
    which: Array


def _crowds(parts: list[Array], plan: Plan) -> list[Array]:
    keys = np.concatenate(parts)
    keys.sort()
    hashes = keys >> _SHIFT
    _, which, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    rows = np.sort(keys[counts[which] > plan.max_bucket] & _ROW)
    return np.split(rows, np.searchsorted(rows, plan.starts[1:-1]))


def _contents(codes: Array, crowds: list[Array], block: int, plan: Plan) -> tuple[Counted, Placed]:
    rows = np.sort(np.concatenate(crowds))
    own = np.ascontiguousarray(codes[(rows - plan.starts[block]).astype(np.int64)])
    whole = own.view(np.dtype((np.void, own.shape[1]))).reshape(-1)
    _, first, which, counts = np.unique(
        whole, return_index=True, return_inverse=True, return_counts=True
    )
    return Counted(own[first], rows[first], counts), Placed(rows, which)


def _tally(counted: list[Counted]) -> list[tuple[Array, Array]]:
    """For each block and different row, the first row of all, and how many are in blocks before."""
    seen: dict[bytes, tuple[int, int]] = {}
    tallies = []
    for codes, first_rows, counts in counted:
        before = []
        for code, row, count in zip(codes, first_rows.tolist(), counts.tolist(), strict=True):
            first, n_before = seen.setdefault(code.tobytes(), (row, 0))
            seen[code.tobytes()] = first, n_before + count
            before.append((first, n_before))
        first_of, n = np.array(before, np.uint64).reshape(-1, 2).T
        tallies.append((first_of, n.astype(np.int64)))
    return tallies


def _copies(placed: Placed, before: tuple[Array, Array], plan: Plan) -> Array:
    rows, which = placed
    first_of, n_before = before
    order = np.argsort(which, kind="stable")
    starts = np.searchsorted(which[order], np.arange(len(first_of)))
    rank = np.empty(len(rows), np.int64)
    rank[order] = np.arange(len(rows)) - starts[which[order]]
    aside = rank + n_before[which] >= plan.max_bucket
    pairs: Array = first_of[which[aside]] << _SHIFT | rows[aside]
    return pairs
