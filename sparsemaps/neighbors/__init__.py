"""Neighbours and near-duplicates by packed codes: nearest rows, pairs, clusters, an index.

Besides the codes and the result, a search takes a few megabytes of memory. A search for pairs also
takes 8 bytes per row, up to a bound (`max_bytes`). Rows without samples never appear in a result.
`PackedCodes` marks these rows; in a plain array, they are the rows whose bits are all 0, provided
that rows have at least 64 bits.

- This file has `top_k` and `similar_pairs`.
- ``_clusters`` has `clusters`, the connected components of pairs.
- ``_removals`` has `removals`, which finds rows near an earlier kept row, and names that row.
- ``_search`` chooses how to search for pairs, and how many candidates the exact kernel needs.
- ``_brute`` compares all codes. ``_hashing`` compares rows that share a band of codes. ``_bands``
  chooses the bands and computes their recall.
- ``_containment`` has `contained_pairs`, which needs codes and set sizes.
- ``_exact`` computes the exact kernel of pairs.
- ``_tables`` has hash tables of bands, for rows that are added one after another.
- ``_index`` has `KernelNeighbors`, the index. ``_index_rows`` holds its rows and band tables, and
  adds and removes rows. ``_index_search`` answers queries. ``_index_file`` reads and writes index
  files.

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

    The result is exact: it equals a full sort of ``codes.collisions(queries, codes)``. A comparison
    stops as soon as too few codes can agree.

    Parameters
    ----------
    queries : PackedCodes or ndarray of uint8, shape (n_queries, n_bytes)
        Codes of the query rows.
    codes : PackedCodes or ndarray of uint8, shape (n_rows, n_bytes)
        Codes of the rows to search, from the same map.
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
        Rows in descending order of agreeing codes, ties in ascending order of row number. -1 if
        fewer than `k` rows have samples, or if the query has none.
    agreements : ndarray of int32, shape (n_queries, k)
        Number of agreeing codes. ``sparsemaps.codes.kernel_from_collisions`` converts it to a
        similarity.

    Raises
    ------
    ValueError
        If `k` exceeds the number of rows, or the codes come from different maps.

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

    Rows are hashed by bands of their codes, and rows that share a bucket are compared in all codes
    [1]_. The length and number of bands minimise the expected cost for the threshold and the
    recall. All pairs are compared if that costs less.

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
        Least probability with which a pair whose estimate is at least `threshold` is found: above
        0, at most 1. 1 compares all pairs.
    other : PackedCodes or ndarray of uint8, shape (n_other, n_bytes), or None, default=None
        Find pairs between `codes` and these; None finds pairs within `codes`.
    max_bucket : int, default=1000
        Largest number of rows in a bucket that a row (with `other`, a row of `other`) is compared
        with. See Notes.
    max_bytes : int, default=2**30
        Memory for the keys of rows, in all threads together, at least 2**20. A key takes 8 bytes.
        If the keys of all rows take more, rows are hashed in parts, and all codes are read twice
        per band for each part. The codes of compared rows later reuse the memory of the keys, and
        take a quarter more if most rows share a bucket. The result does not depend on it.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answer does not depend on it.

    Returns
    -------
    i, j : ndarray of int64, shape (n_pairs,)
        The rows, in ascending order; i < j within one set. With `other`, j is a row of `other`.
    similarity : ndarray of float64, shape (n_pairs,)
        Estimate from all codes, corrected for chance agreement
        (``sparsemaps.codes.kernel_from_collisions``; for a product, from the agreements of both of
        its maps).

    Raises
    ------
    ValueError
        If a parameter is invalid, or the codes come from different maps.

    Notes
    -----
    A text that occurs 50,000 times in a collection would put a billion pairs into one bucket. When
    rows are hashed, each row is therefore compared with at most the `max_bucket` rows before it in
    its bucket. If more than `max_bucket` rows have the same codes, each later one is paired only
    with the first of them. All copies still belong to one connected component of the pairs, cost
    and result are at most `max_bucket` per row and band, and the recall holds for all pairs in
    smaller buckets. Between two sets, a row of `other` is compared with at most the last
    `max_bucket` rows of `codes` in its bucket, and copies are not treated separately.

    Each call draws a new hash key, so that nobody can construct rows that share buckets without
    sharing codes. The result does not depend on the key.

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
