"""Similar pairs of packed codes on a cluster: hashed by bands, compared where the codes are.

A row is known by its number, a pair by the smaller number above the larger one, of 32 bits each.
The tasks are

1. ``_keys``: of a block and a band, the hash of each row's codes in the band above its number, in
   one part for each range of hashes;
2. ``_candidates``: of a band and a part, from all blocks: the pairs with one hash, by the block of
   the smaller row;
3. ``_attach``: of a block: the candidates whose smaller row is here, each once, with the codes of
   that row, by the block of the larger row;
4. ``_compare``: of a block: the candidates whose larger row is here, compared.

So keys and candidates move between workers, and of the codes only those of candidates.
"""

import math
import operator
from typing import Any, NamedTuple

import dask.array as da
import dask.base
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from sparsemaps import _packed, _search
from sparsemaps._kernels import neighbors as _kernel
from sparsemaps._typing import Array
from sparsemaps._validation import check_int

Found = tuple[Array, Array, Array]
"""Smaller rows, larger rows, similarities."""

_PART_ROWS = 2**23
"""About how many keys a task sorts."""

_MAX_ROWS = 2**32 - 1

_SHIFT, _ROW = np.uint64(32), np.uint64(_MAX_ROWS)


class Plan(NamedTuple):
    """What is compared, and how rows are hashed; without bands, all pairs are compared."""

    bits: int
    n_hashes: int
    max_differing: int
    similarities: Array  # for each number of codes that agree
    bands: _search.Bands | None
    max_bucket: int

    def operand(self, codes: Array) -> _search.Operand:
        codes = np.ascontiguousarray(codes)
        return _search.operand(codes, codes, self.bits, self.n_hashes)


def similar_pairs(
    codes: Any,
    threshold: float,
    *,
    bits: int,
    n_hashes: int | None = None,
    recall: float = 0.95,
    max_bucket: int = 1000,
) -> tuple[Any, Any, Any]:
    """Pairs of rows whose similarity is estimated to be at least `threshold`, on a Dask cluster.

    The pairs are those of `sparsemaps.neighbors.similar_pairs`, by the same bands.

    Parameters
    ----------
    codes : dask array of uint8, shape (n_rows, n_bytes)
        Packed codes, as `encode` gives them, in blocks of known lengths.
    threshold : float
        Above 0, at most 1.
    bits : int
        Bits of a code, 1 to 24.
    n_hashes : int or None, default=None
        How many codes a row has; None is as many as its bytes hold.
    recall : float, default=0.95
        Above 0, at most 1: each pair whose estimate is at least `threshold` is found with this
        probability or a higher one. 1 compares all pairs.
    max_bucket : int, default=1000
        How many rows of a bucket a row is compared with at most, those that are nearest before it.

    Returns
    -------
    i, j : dask arrays of int64, shape (n_pairs,)
        Numbers of the rows, i < j, each pair once, in no certain order.
    similarity : dask array of float64, shape (n_pairs,)
        The estimate by `sparsemaps.codes.kernel_from_collisions`. The three have blocks of the same
        unknown lengths; compute them together, or write their blocks.

    Raises
    ------
    ValueError
        If a parameter is not one of the allowed, or blocks do not know their lengths.

    See Also
    --------
    sparsemaps.neighbors.similar_pairs : On one machine.

    Notes
    -----
    The bands are chosen by some rows of `codes`, which this call computes; all pairs need `codes`
    again, so persist them where they take long to make. Of more than `max_bucket` rows with the
    same codes, each is paired with the `max_bucket` before it, where one machine pairs the later
    ones with the first alone.

    For each band, 8 bytes of each row move between workers; for each candidate 8 bytes, twice, and
    at most one row of codes. A task sorts the keys of 2**23 rows, or holds a block and the
    candidates with rows in it. Without bands, every block meets every other.

    Examples
    --------
    >>> import dask, dask.array as da, numpy as np
    >>> from sparsemaps.dask import similar_pairs
    >>> A = np.random.default_rng(0).integers(0, 256, (1000, 64), dtype=np.uint8)
    >>> A[700] = A[3]
    >>> A[700, 0] ^= 1
    >>> codes = da.from_array(A, chunks=(300, 64))
    >>> i, j, similarity = dask.compute(*similar_pairs(codes, 0.9, bits=8))
    >>> i.tolist(), j.tolist(), similarity.round(2).tolist()
    ([3], [700], [0.98])
    """
    if not isinstance(codes, da.Array) or codes.ndim != 2 or codes.dtype != np.uint8:
        raise ValueError("codes must be a two-dimensional Dask array of uint8")
    if np.isnan(codes.shape).any():
        raise ValueError("codes must know the lengths of its blocks: codes.compute_chunk_sizes()")
    n_rows, n_bytes = (int(n) for n in codes.shape)
    if n_rows > _MAX_ROWS:
        raise ValueError(f"codes must have at most {_MAX_ROWS} rows, got {n_rows}")
    if codes.numblocks[1] > 1:
        codes = codes.rechunk({1: -1})
    threshold = _search.check_share("threshold", threshold)
    recall = _search.check_share("recall", recall)
    max_bucket = check_int("max_bucket", max_bucket, 1, 2**31 - 1)
    nothing = np.empty((0, n_bytes), np.uint8)
    _, bits, n_hashes = _packed.unwrap("codes", nothing, bits, n_hashes)
    similarities = _search.estimates(nothing, _search.operand(nothing, nothing, bits, n_hashes))
    n_agreeing = _search.least_agreeing(similarities, threshold)
    bands = None
    if recall < 1 and n_agreeing > 0 and n_rows > 1:
        one, two = dask.base.compute(*(codes[rows] for rows in _search.sample(n_rows)))
        rates = _search.rates_of(one, two, bits, n_hashes)
        n_pairs = math.comb(n_rows, 2)
        bands = _search.cheapest_bands(
            n_rows, n_pairs, bits, n_hashes, n_agreeing, recall, rates
        )  # fmt: skip
    plan = Plan(bits, n_hashes, n_hashes - n_agreeing, similarities, bands, max_bucket)
    starts = np.concatenate([[0], np.cumsum(codes.chunks[0])]).astype(np.uint64)
    name = "similar-pairs-" + dask.base.tokenize(codes, plan)
    graph = _graph(name, codes, starts, plan)
    dtypes = {"i": np.int64, "j": np.int64, "similarity": np.float64}
    blocks = range(codes.numblocks[0])
    arrays = []
    for place, (field, dtype) in enumerate(dtypes.items()):
        layer: Any = {
            (f"{field}-{name}", b): (operator.itemgetter(place), (name, b)) for b in blocks
        }
        own = HighLevelGraph.from_collections(name, graph, dependencies=[codes])
        layers = HighLevelGraph(
            {**own.layers, f"{field}-{name}": layer},
            {**own.dependencies, f"{field}-{name}": {name}},
        )
        chunks = ((np.nan,) * len(blocks),)
        arrays.append(da.Array(layers, f"{field}-{name}", chunks, meta=np.empty(0, dtype)))
    return tuple(arrays)  # type: ignore[return-value]


def _graph(name: str, codes: Any, starts: Array, plan: Plan) -> dict[Any, Any]:
    """The tasks; ``(name, b)`` gives the pairs whose larger row is in block b."""
    graph: dict[Any, Any] = {}
    blocks = range(codes.numblocks[0])
    if plan.bands is None:
        for b in blocks:
            for a in range(b + 1):
                ends = (codes.name, a, 0), (codes.name, b, 0), int(starts[a]), int(starts[b])
                graph[f"{name}-all", b, a] = (_compare_all, *ends, plan)
            graph[name, b] = (_join, [(f"{name}-all", b, a) for a in range(b + 1)])
        return graph
    bands = range(plan.bands.n_bands)
    parts = range(-(-codes.shape[0] // _PART_ROWS))
    pick = [operator.itemgetter(place) for place in range(max(len(blocks), len(parts)))]
    for band in bands:
        for b in blocks:
            keys = (f"{name}-keys", band, b)
            graph[keys] = (
                _keys, (codes.name, b, 0), plan, band, int(starts[b]), len(parts)
            )  # fmt: skip
            for part in parts:
                graph[f"{name}-part", band, b, part] = (pick[part], keys)
        for part in parts:
            found = (f"{name}-candidates", band, part)
            here = [(f"{name}-part", band, b, part) for b in blocks]
            graph[found] = (_candidates, here, starts, plan.max_bucket)
            for b in blocks:
                graph[f"{name}-first", b, band, part] = (pick[b], found)
    for a in blocks:
        attached = (f"{name}-attached", a)
        first = [(f"{name}-first", a, band, part) for band in bands for part in parts]
        graph[attached] = (_attach, (codes.name, a, 0), first, starts, a)
        for b in blocks[a:]:
            graph[f"{name}-second", b, a] = (pick[b - a], attached)
    for b in blocks:
        second = [(f"{name}-second", b, a) for a in range(b + 1)]
        graph[name, b] = (_compare, (codes.name, b, 0), second, int(starts[b]), plan)
    return graph


class Attached(NamedTuple):
    """Candidates whose larger rows are in one block: the smaller rows, their codes, and pairs."""

    rows: Array
    codes: Array
    pairs: Array


def _keys(codes: Array, plan: Plan, band: int, first_row: int, n_parts: int) -> list[Array]:
    assert plan.bands is not None
    array, sampled, bits, _ = plan.operand(codes)
    n_bits = plan.bands.length * bits
    keys = np.empty(len(array), np.uint64)
    parts = []
    for part in range(n_parts):
        n = _kernel.band_keys(array, sampled, band * n_bits, n_bits, first_row, part, n_parts, keys)
        parts.append(keys[:n].copy())
    return parts


def _candidates(parts: list[Array], starts: Array, max_bucket: int) -> list[Array]:
    keys = np.concatenate(parts)
    keys.sort()
    rows, hashes = keys & _ROW, keys >> _SHIFT
    found = [np.empty(0, np.uint64)]
    at = np.arange(1, len(keys))
    for distance in range(1, max_bucket + 1):  # in the order of hashes, then of rows
        at = at[hashes[at] == hashes[at - distance]]
        if not len(at):
            break
        found.append(rows[at - distance] << _SHIFT | rows[at])
        at = at[at > distance]
    return _by_block(np.sort(np.concatenate(found)), starts)


def _by_block(pairs: Array, starts: Array) -> list[Array]:
    """Ascending pairs, by the block of the smaller row."""
    return np.split(pairs, np.searchsorted(pairs, starts[1:-1] << _SHIFT))


def _attach(codes: Array, parts: list[Array], starts: Array, block: int) -> list[Attached]:
    pairs = np.unique(np.concatenate(parts))
    larger = np.searchsorted(starts, pairs & _ROW, side="right") - 1
    attached = []
    for b in range(block, len(starts) - 1):
        here = pairs[larger == b]
        rows, places = np.unique(here >> _SHIFT, return_inverse=True)
        own = codes[(rows - starts[block]).astype(np.int64)]
        attached.append(Attached(rows, own, places.astype(np.uint64) << _SHIFT | here & _ROW))
    return attached


def _compare(codes: Array, parts: list[Attached], first_row: int, plan: Plan) -> Found:
    array = np.ascontiguousarray(codes)
    found = []
    for rows, others, pairs in parts:
        # The kernel counts the rows of the block on from those that came with the candidates.
        here = pairs - np.uint64(first_row) + np.uint64(len(rows))
        differing = np.empty(len(pairs), np.int64)
        _kernel.count_differing(here, others, array, plan.bits, plan.n_hashes, differing)
        kept = differing <= plan.max_differing
        i, j = rows[(pairs[kept] >> _SHIFT).astype(np.int64)], pairs[kept] & _ROW
        similarity = plan.similarities[plan.n_hashes - differing[kept]]
        found.append((i.astype(np.int64), j.astype(np.int64), similarity))
    return _join(found)


def _compare_all(A: Array, B: Array, first_a: int, first_b: int, plan: Plan) -> Found:
    other = None if first_a == first_b else plan.operand(B)
    i, j, differing = _search.all_pairs(plan.operand(A), other, plan.max_differing, None)
    return i + first_a, j + first_b, plan.similarities[plan.n_hashes - differing]


def _join(found: list[Found]) -> Found:
    i, j, similarity = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return i, j, similarity
