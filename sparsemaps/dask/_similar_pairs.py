"""Similar pairs of packed codes on a cluster."""

import math
import operator
from functools import partial
from typing import Any

import dask.array as da
import dask.base
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from sparsemaps._tools._checks import LARGEST_INT32, check_int
from sparsemaps.codes import _packed
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.dask._codes import DaskPackedCodes, one_block_a_row, without_rows
from sparsemaps.dask._pair_tasks import Plan, make_graph
from sparsemaps.neighbors import _bands, _brute, _hashing, _search


def similar_pairs(
    codes: Any,
    threshold: float,
    *,
    bits: int | None = None,
    recall: float = 0.95,
    other: Any = None,
    n_hashes: int | None = None,
    max_bucket: int = 1000,
) -> tuple[Any, Any, Any]:
    """Pairs of rows whose similarity is estimated to be at least `threshold`, on a Dask cluster.

    The pairs and similarities are those of `sparsemaps.neighbors.similar_pairs`, which has the same
    parameters but for `max_bytes` and `n_jobs`.

    Parameters
    ----------
    codes : DaskPackedCodes or dask array of uint8, shape (n_rows, n_bytes)
        The codes that `encode` returns, in blocks of known lengths. For a plain array, the map is
        not known: the estimate is that of codes which agree by chance at the rate ``2 ** -bits``,
        and rows without samples are those of which all bits are 0.
    threshold : float
        Above 0, at most 1.
    bits : int or None, default=None
        Bits of a code; for plain arrays only.
    recall : float, default=0.95
        The least probability with which a pair whose estimate is at least `threshold` is returned:
        above 0, at most 1. 1 compares all pairs.
    other : DaskPackedCodes or dask array of uint8, shape (n_other, n_bytes), or None, default=None
        Find pairs of one row of `codes` and one of these; None is within `codes`.
    n_hashes : int or None, default=None
        How many codes a row has; None is as many as its bytes hold.
    max_bucket : int, default=1000
        How many rows of a bucket a row is compared with at most; with `other`, a row of `other`.

    Returns
    -------
    i, j : dask arrays of int64, shape (n_pairs,)
        The rows, i < j within one set. Each pair is there once; pairs are in no certain order. j is
        a row of `other` unless that is None.
    similarity : dask array of float64, shape (n_pairs,)
        The estimate from all codes. The three arrays have blocks of the same unknown lengths;
        compute them together, or write their blocks.

    Raises
    ------
    ValueError
        If a parameter is not allowed, the codes are of different maps, or the lengths of blocks are
        not known.

    See Also
    --------
    sparsemaps.neighbors.similar_pairs : On one machine.

    Notes
    -----
    The bands are chosen by some rows of `codes`, which this call computes; all pairs need `codes`
    again, so persist codes that take long to make.

    Workers send one another 8 bytes for each row and band, and within one set 8 more bytes for each
    row. For each candidate they send 8 bytes twice, and at most one row of codes. A task sorts the
    keys of 2**23 rows, or holds a block with the candidates of its rows, at most `max_bucket` for
    each row. Choose a smaller `max_bucket` where many rows share buckets. Without bands, every
    block is compared with every other block.

    Hashes have 32 bits, and each call draws their key. Rows that differ in a band have the same
    hash with probability ``2 ** -32``. A similar pair that no other band has in common is then one
    more than on one machine.

    Examples
    --------
    >>> import dask, dask.array as da, numpy as np
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.dask import encode, similar_pairs
    >>> X = np.random.default_rng(0).integers(0, 2, (1000, 50))
    >>> X[700] = X[3]
    >>> minhash = MinHash(n_hashes=128, random_state=0)
    >>> codes = encode(minhash, da.from_array(X, chunks=(300, 50)), packed=True)
    >>> i, j, similarity = dask.compute(*similar_pairs(codes, 0.9))
    >>> i.tolist(), j.tolist(), similarity.tolist()
    ([3], [700], [1.0])
    """
    return arrays_of(*make_plan(codes, threshold, bits, recall, other, n_hashes, max_bucket))


def make_plan(
    codes: Any,
    threshold: float,
    bits: int | None = None,
    recall: float = 0.95,
    other: Any = None,
    n_hashes: int | None = None,
    max_bucket: int = 1000,
    *,
    for_exact: bool = False,
) -> tuple[list[tuple[Any, Any]], Plan]:
    """One or two sets, each with codes and which rows have samples; and the plan of the search.

    `for_exact` plans a search of candidates for the exact kernel, by ``_search.candidates``.
    """
    sets = [_check_codes("codes", codes)]
    nothing = _empty(codes)
    if other is None:
        known = _packed.as_packed("codes", nothing, bits, n_hashes)
    else:
        sets.append(_check_codes("other", other))
        names = "codes", "other"
        known, _ = _packed.as_packed_pair(names, nothing, _empty(other), bits, n_hashes)
    n_rows = [int(array.shape[0]) for array, _ in sets]
    _brute.check_searched(sum(n_rows), known.n_hashes)
    threshold = _search.check_share("threshold", threshold)
    recall = _search.check_share("recall", recall)
    max_bucket = check_int("max_bucket", max_bucket, 1, LARGEST_INT32)
    if for_exact:
        least, recall = _search.for_candidates(known, threshold, recall)
        threshold = -math.inf
    else:
        least = _search.least_agreeing(known, threshold)
    bands = _bands.choose_bands_by(n_rows, partial(_read_samples, sets, known), least, recall)
    lengths = [n for array, _ in sets for n in array.chunks[0]]
    starts = np.cumsum([0, *lengths]).astype(np.uint64)
    plan = Plan(
        known, threshold, known.n_hashes - least, bands, max_bucket, starts,
        sets[0][0].numblocks[0], _hashing.draw_hash_key(),
    )  # fmt: skip
    return sets, plan


def _check_codes(name: str, codes: Any) -> tuple[Any, Any]:
    """The array of codes, and which rows have samples; None for that of a plain array."""
    is_packed = isinstance(codes, DaskPackedCodes)
    array = one_block_a_row(name, codes.array if is_packed else codes)
    if np.isnan(array.shape).any():
        raise ValueError(
            f"{name} must know the lengths of its blocks: {name}.compute_chunk_sizes()"
        )
    return array, codes.sampled if is_packed else None


def _read_samples(
    sets: list[tuple[Any, Any]], known: PackedCodes
) -> tuple[PackedCodes, PackedCodes]:
    """Samples of the first and of the last set, computed."""
    ends = (0, sets[0][0]), (1, sets[-1][0])
    few = [array[_bands.sample(len(array))[which]] for which, array in ends]
    one, two = (known._with_rows(rows, None) for rows in dask.base.compute(*few))
    return one, two


def _empty(codes: Any) -> Any:
    """Codes without rows, on this machine, of the same map as `codes`."""
    return codes._without_rows if isinstance(codes, DaskPackedCodes) else without_rows(codes)


def arrays_of(sets: list[tuple[Any, Any]], plan: Plan) -> tuple[Any, Any, Any]:
    """The pairs and their similarities, as three Dask arrays."""
    name = "similar-pairs-" + dask.base.tokenize(sets, plan)
    used, codes, sampled = [], [], []
    for array, which in sets:
        used += [array] if which is None else [array, which]
        codes += [(array.name, b, 0) for b in range(array.numblocks[0])]
        sampled += [None if which is None else (which.name, b) for b in range(array.numblocks[0])]
    graph, results = make_graph(name, codes, sampled, plan)
    own = HighLevelGraph.from_collections(name, graph, dependencies=used)
    fields = {"i": np.int64, "j": np.int64, "similarity": np.float64}
    arrays = []
    for place, (field, dtype) in enumerate(fields.items()):
        layer_name = f"{field}-{name}"
        layer: Any = {
            (layer_name, b): (operator.itemgetter(place), key) for b, key in enumerate(results)
        }
        layers = HighLevelGraph(
            {**own.layers, layer_name: layer}, {**own.dependencies, layer_name: {name}}
        )
        chunks = ((np.nan,) * len(results),)
        arrays.append(da.Array(layers, layer_name, chunks, meta=np.empty(0, dtype)))
    return tuple(arrays)  # type: ignore[return-value]
