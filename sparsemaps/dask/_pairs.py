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

import operator
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import numpy.typing as npt
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from sparsemaps._kernels import neighbors as _kernel
from sparsemaps._packed import rows_with_bits
from sparsemaps._validation import check_int, check_real
from sparsemaps.codes import kernel_from_collisions

Array = npt.NDArray[Any]

_PART_ROWS = 2**23
"""About how many keys a task sorts."""

_MAX_ROWS = 2**32 - 1

_SHIFT, _ROW = np.uint64(32), np.uint64(_MAX_ROWS)


class Plan(NamedTuple):
    """What is compared, and the bands by which rows are hashed."""

    bits: int
    n_hashes: int
    threshold: float
    n_hashes_of_band: int
    n_bands: int


def make_plan(
    n_bytes: int, threshold: float, bits: int, n_hashes: int | None, recall: float
) -> Plan:
    """The longest bands, which have the fewest candidates, by which enough pairs are found."""
    bits = check_int("bits", bits, 1, 24)
    n_held = 8 * n_bytes // bits
    n_hashes = n_held if n_hashes is None else check_int("n_hashes", n_hashes, 1, n_held)
    threshold = check_real("threshold", threshold, 0, open_low=True)
    if threshold > 1:
        raise ValueError(f"threshold must be at most 1, got {threshold}")
    recall = check_real("recall", recall, 0, open_low=True)
    if recall >= 1:
        raise ValueError(f"recall must be below 1, got {recall}")
    rate = threshold + (1 - threshold) / 2**bits
    for length in range(n_hashes, 0, -1):
        n_bands = n_hashes // length
        if 1 - (1 - rate**length) ** n_bands >= recall:
            break
    else:
        length, n_bands = 1, n_hashes
    while n_bands > 1 and 1 - (1 - rate**length) ** (n_bands - 1) >= recall:
        n_bands -= 1
    return Plan(bits, n_hashes, threshold, length, n_bands)


def similar_pairs(
    codes: Any,
    threshold: float,
    *,
    bits: int,
    n_hashes: int | None = None,
    recall: float = 0.95,
) -> tuple[Any, Any, Any]:
    """Pairs of rows whose estimated kernel reaches a threshold, on a Dask cluster.

    Parameters
    ----------
    codes : dask array of uint8, shape (n_rows, n_bytes)
        Packed codes, as `encode` gives them, in blocks of known lengths.
    threshold : float
        Least similarity of a pair, above 0 and at most 1.
    bits : int
        Bits of a code, 1 to 24.
    n_hashes : int or None, default=None
        How many codes a row has; None is as many as its bytes hold.
    recall : float, default=0.95
        Share of the pairs at the threshold that is found, in expectation; of more similar pairs, it
        is more. All that are reported have been compared.

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

    Notes
    -----
    A row whose codes are all zeros has no sample, and is in no pair. Rows that share a band's codes
    are compared in pairs: a thousand copies of a row are half a million pairs.

    For each band, 8 bytes of each row move between workers; for each candidate 8 bytes, twice, and
    at most one row of codes. A task sorts the keys of 2**23 rows, or holds a block and the
    candidates with rows in it.

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
    plan = make_plan(n_bytes, threshold, bits, n_hashes, recall)
    starts = np.concatenate([[0], np.cumsum(codes.chunks[0])]).astype(np.uint64)
    name = "similar-pairs-" + tokenize(codes, plan)
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
    blocks, bands = range(codes.numblocks[0]), range(plan.n_bands)
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
            graph[found] = (_candidates, here, starts)
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
    codes = np.ascontiguousarray(codes)
    sampled = rows_with_bits(codes).view(np.uint8)
    n_bits = plan.n_hashes_of_band * plan.bits
    keys = np.empty(len(codes), np.uint64)
    parts = []
    for part in range(n_parts):
        n = _kernel.band_keys(codes, sampled, band * n_bits, n_bits, first_row, part, n_parts, keys)
        parts.append(keys[:n].copy())
    return parts


def _candidates(parts: list[Array], starts: Array) -> list[Array]:
    keys = np.concatenate(parts)
    keys.sort()
    rows, hashes = keys & _ROW, keys >> _SHIFT
    found = [np.empty(0, np.uint64)]
    at = np.arange(1, len(keys))
    distance = 1
    while len(at):  # pairs of rows that are so far apart in the order of hashes
        at = at[hashes[at] == hashes[at - distance]]
        found.append(rows[at - distance] << _SHIFT | rows[at])
        at = at[at > distance]
        distance += 1
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


def _compare(
    codes: Array, parts: list[Attached], first_row: int, plan: Plan
) -> tuple[Array, Array, Array]:
    codes = np.ascontiguousarray(codes)
    i, j, similarity = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
    for rows, others, pairs in parts:
        # The kernel counts the rows of the block on from those that came with the candidates.
        here = pairs - np.uint64(first_row) + np.uint64(len(rows))
        differing = np.empty(len(pairs), np.int64)
        _kernel.count_differing(here, others, codes, plan.bits, plan.n_hashes, differing)
        estimate = kernel_from_collisions(plan.n_hashes - differing, plan.n_hashes, plan.bits)
        kept = estimate >= plan.threshold
        i.append(rows[(pairs[kept] >> _SHIFT).astype(np.int64)].astype(np.int64))
        j.append((pairs[kept] & _ROW).astype(np.int64))
        similarity.append(estimate[kept])
    return np.concatenate(i), np.concatenate(j), np.concatenate(similarity)
