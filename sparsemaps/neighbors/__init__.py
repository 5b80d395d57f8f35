"""Neighbours and near-duplicates by packed codes: nearest rows, pairs, clusters, an index.

A search takes a few megabytes of memory beside the codes and the answer, and for pairs a key of 8
bytes for each row, up to a bound (`max_bytes`). No answer has rows without samples. `PackedCodes`
mark these rows; in a plain array they are the rows whose bits are all 0, if rows have at least 64
bits.

- this file has `top_k` and `similar_pairs`.
- ``_clusters`` has `clusters`, the connected components of pairs.
- ``_removals`` has `removals`: rows near an earlier row that is kept, and that row.
- ``_search`` chooses how pairs are searched, and has the rule for candidates of the exact kernel.
- ``_brute`` compares all codes. ``_hashing`` compares rows that share a band of codes. ``_bands``
  chooses the bands and computes their recall.
- ``_containment`` has `contained_pairs`, which needs codes and the sizes of sets.
- ``_exact`` computes the exact kernel of pairs.
- ``_tables`` has tables of the bands of rows, for rows that come one after the other.
- ``_index`` has `KernelNeighbors`, the index. ``_index_rows`` holds its rows and the tables of
  their bands, while rows are added and removed. ``_index_search`` answers its queries.
  ``_index_file`` writes and reads its file.

``files`` calls these modules.

>>> from sklearn.datasets import load_digits
>>> from sparsemaps import ConsistentWeightedSampling, neighbors
>>> X, y = load_digits(return_X_y=True)
>>> A = ConsistentWeightedSampling(random_state=0).fit(X).encode(X, packed=True)
>>> indices, agreements = neighbors.top_k(A, A, 2)
>>> bool((y[indices[:, 1]] == y).mean() > 0.95)
True
>>> i, j, similarity = neighbors.similar_pairs(A, 0.9)
>>> bool((y[i] == y[j]).all()), bool(similarity.min() >= 0.9)
(True, True)
>>> len(A), len(i), int(neighbors.clusters(i, j, len(A)).max()) + 1
(1797, 8, 1789)
"""

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array, Counts, Floats, Rows
from sparsemaps.codes import _packed
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.neighbors import _brute, _hashing, _search
from sparsemaps.neighbors._clusters import clusters
from sparsemaps.neighbors._containment import contained_pairs
from sparsemaps.neighbors._index import KernelNeighbors
from sparsemaps.neighbors._removals import Removals, removals

__all__ = [
    "KernelNeighbors",
    "Removals",
    "clusters",
    "contained_pairs",
    "removals",
    "similar_pairs",
    "top_k",
]


def top_k(
    queries: PackedCodes | Array,
    codes: PackedCodes | Array,
    k: int,
    *,
    bits: int | None = None,
    n_jobs: int | None = None,
) -> tuple[Rows, Counts]:
    """Return the rows of `codes` that agree with each query in the most codes.

    The answer is exact. It equals a full sort of ``codes.collisions(queries, codes)``. A comparison
    ends as soon as too few codes can agree.

    Parameters
    ----------
    queries : PackedCodes or ndarray of uint8, shape (n_queries, n_bytes)
        Codes of the rows whose neighbours are sought.
    codes : PackedCodes or ndarray of uint8, shape (n_rows, n_bytes)
        Codes of the rows among which they are sought, of the same map.
    k : int
        Number of neighbours of each query, 1 to n_rows.
    bits : int or None, default=None
        Bits of a code; for plain arrays only. A row has as many codes as its bytes hold; if it has
        fewer, give ``PackedCodes(array, bits, {}, n_hashes=...)``.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answer does not depend on it.

    Returns
    -------
    indices : ndarray of int64, shape (n_queries, k)
        The rows in descending order of the codes that agree, and equal ones in ascending order. -1
        if fewer than `k` rows have samples, and if the query has none.
    agreements : ndarray of int32, shape (n_queries, k)
        Numbers of codes that agree. ``sparsemaps.codes.kernel_from_collisions`` turns them into
        similarities.

    Raises
    ------
    ValueError
        If `k` is above the number of rows, or the codes are of different maps.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import neighbors
    >>> A = np.array([[1, 2, 3], [1, 5, 3], [7, 8, 9]], dtype=np.uint8)
    >>> neighbors.top_k(A[:1], A, 2, bits=8)
    (array([[0, 1]]), array([[3, 2]], dtype=int32))
    """
    names = "codes", "queries"
    searched, wanted = _packed.as_packed_pair(names, codes, queries, bits, None)
    if len(searched) == 0:
        raise ValueError("codes must have at least one row, got none")
    k = _checks.check_int("k", k, 1, len(searched))
    return _brute.nearest(wanted, [searched], k, n_jobs)


def similar_pairs(
    codes: PackedCodes | Array,
    threshold: float,
    *,
    bits: int | None = None,
    recall: float = 0.95,
    other: PackedCodes | Array | None = None,
    max_bucket: int = 1000,
    max_bytes: int = _hashing.MAX_BYTES,
    n_jobs: int | None = None,
) -> tuple[Rows, Rows, Floats]:
    """Return pairs of rows whose similarity is estimated to be at least `threshold`.

    Rows are hashed by bands of their codes. Rows that share a bucket are compared in all codes
    [1]_. The length and the number of the bands have the least expected cost for the threshold and
    the recall. If comparing all pairs costs less, all pairs are compared.

    Parameters
    ----------
    codes : PackedCodes or ndarray of uint8, shape (n_rows, n_bytes)
        The codes.
    threshold : float
        Above 0, at most 1.
    bits : int or None, default=None
        Bits of a code; for plain arrays only. A row has as many codes as its bytes hold; if it has
        fewer, give ``PackedCodes(array, bits, {}, n_hashes=...)``.
    recall : float, default=0.95
        The least probability with which a pair whose estimate is at least `threshold` is returned:
        above 0, at most 1. 1 compares all pairs.
    other : PackedCodes or ndarray of uint8, shape (n_other, n_bytes), or None, default=None
        Find pairs between `codes` and these; None finds pairs within `codes`.
    max_bucket : int, default=1000
        The largest number of rows of a bucket that a row is compared with; with `other`, that a row
        of `other` is compared with. See Notes.
    max_bytes : int, default=2**30
        Memory for the keys of rows, of all threads together, at least 2**20. A key takes 8 bytes.
        If the hashes of all rows take more, rows are hashed in parts, and for each part all codes
        are read twice for each band. The codes of rows that are compared take the place of the
        keys, and a quarter more if most rows share a bucket. The answer does not depend on it.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answer does not depend on it.

    Returns
    -------
    i, j : ndarray of int64, shape (n_pairs,)
        The rows, in ascending order; i < j within one set. j is a row of `other` if there is one.
    similarity : ndarray of float64, shape (n_pairs,)
        The estimate from all codes, corrected for agreement by chance
        (``sparsemaps.codes.kernel_from_collisions``; of a product, from the agreements of both its
        maps).

    Raises
    ------
    ValueError
        If a parameter is not allowed, or the codes are of different maps.

    Notes
    -----
    A text that occurs 50,000 times in a collection would make a bucket of a billion pairs.
    Therefore, if rows are hashed, a row is compared with at most the `max_bucket` rows before it
    in its bucket; and if more than `max_bucket` rows have the same codes, each later one is paired
    with the first of them only. All copies are still in one connected component of the pairs, cost
    and answer are at most `max_bucket` a row and band, and the recall holds for all pairs in
    smaller buckets. Between two sets, a row of `other` is compared with the last `max_bucket` rows
    of `codes` in its bucket at most; no copies are set aside.

    Bands are hashed with a key that each call draws, so that nobody can choose rows which share
    buckets without sharing codes. The answer does not depend on the key.

    References
    ----------
    .. [1] J. Leskovec, A. Rajaraman, J. Ullman, "Mining of massive datasets", section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import MinHash, neighbors
    >>> X = np.array([[1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 0, 0]])
    >>> A = MinHash(n_hashes=512, random_state=0).fit(X).encode(X, packed=True)
    >>> i, j, similarity = neighbors.similar_pairs(A, 0.6)
    >>> i, j, similarity.round(1)
    (array([0]), array([2]), array([0.8]))
    """
    if other is None:
        searched, others = _packed.as_packed("codes", codes, bits, None), None
    else:
        names = "codes", "other"
        searched, others = _packed.as_packed_pair(names, codes, other, bits, None)
    max_bytes = _checks.check_int("max_bytes", max_bytes, 2**20, _checks.LARGEST_INT)
    max_bucket = _checks.check_int("max_bucket", max_bucket, 1, _checks.LARGEST_INT32)
    limits = _hashing.SearchRun(max_bucket, n_jobs, _hashing.Sizes(keys=max_bytes // 8))
    return _search.similar_codes(searched, others, threshold, recall, limits)
