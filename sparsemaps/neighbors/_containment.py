"""Set containment, from MinHash codes and set sizes.

For two sets of sizes a and b and similarity J, the containment of the first in the second is C = J
(a + b) / ((1 + J) a). C >= c requires J >= c a / (a + b - c a): the larger the second set, the
lower the similarity. Rows are therefore grouped into classes of similar size, and each pair of
classes is searched with bands for the similarity that it needs.
"""

import math
from collections.abc import Callable

import numpy as np
import scipy

from sparsemaps._io._array_files import ArrayKind
from sparsemaps._io._steps import UNKEPT
from sparsemaps._tools._distinct import distinct
from sparsemaps._tools._parameters import named, setting
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps.codes._code_checks import refuse_different
from sparsemaps.codes._packed import PackedCodes, checked
from sparsemaps.neighbors import _hashing, _search
from sparsemaps.neighbors._hashing import SearchRun
from sparsemaps.neighbors._search import Filter

_LARGEST_ERROR = 0.1
"""Largest standard error allowed for a containment at the threshold."""

_BY_CHANCE = 5
"""Standard deviations by which the agreeing codes of a candidate exceed the mean for disjoint
sets."""

_CLASSES = 2
"""Classes of sizes per doubling."""


def contained_pairs(
    codes: PackedCodes,
    threshold: float,
    *,
    other: PackedCodes | None = None,
    recall: float = 0.95,
    return_std: bool = False,
    n_jobs: int | None = None,
) -> tuple[Array, ...]:
    """Return pairs of sets whose second set contains a given share of the first.

    The containment of one set in another is the share of its members that the other set also has.
    It shows which documents contain a short text, however long the documents are [1]_. It is
    estimated from `MinHash` codes and the set sizes. The smaller the first set is relative to the
    second, the more hashes are needed. If the second set is 100 times as large, 16,384 hashes of 8
    bits give a standard error of 0.09.

    Parameters
    ----------
    codes : PackedCodes
        Codes of `MinHash`, with set sizes: ``encode(X, packed=True)``.
    threshold : float
        The least containment, above 0, at most 1.
    other : PackedCodes or None, default=None
        Find sets of `codes` that these sets contain; they must come from the same map. None
        searches within `codes`, in both directions.
    recall : float, default=0.95
        Least probability with which a pair whose estimate is at least `threshold` is found: above
        0, at most 1. 1 compares all pairs.
    return_std : bool, default=False
        Return the standard errors too.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The answer does not depend on it.

    Returns
    -------
    i, j : ndarray of int64, shape (n_pairs,)
        The rows, in ascending order: set i is contained in set j, which is a row of `other` if
        given.
    containment : ndarray of float64, shape (n_pairs,)
        The estimates. They may be a little above 1.
    std : ndarray of float64, shape (n_pairs,)
        Their standard errors, by the delta method. Only if `return_std`.

    Raises
    ------
    ValueError
        If a parameter is invalid, the codes have no sizes or come from different maps, or there are
        too few hashes: the standard error at the threshold must not exceed 0.1 for the smallest and
        the largest set. The message says how many hashes are needed.

    See Also
    --------
    similar_pairs : Pairs of similar rows, for sets of similar size.

    Notes
    -----
    Rows are divided into size classes, two per doubling. Each pair of classes is searched as in
    `similar_pairs`, with the similarity that corresponds to the threshold for their sizes [2]_. As
    there, a row is compared with at most 1,000 rows per bucket.

    References
    ----------
    .. [1] A. Broder, "On the resemblance and containment of documents", 1997.
    .. [2] E. Zhu, F. Nargesian, K. Pu, R. Miller, "LSH Ensemble: internet-scale domain search",
       VLDB 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import MinHash, neighbors
    >>> X = np.zeros((3, 60))
    >>> X[0, :50] = X[1, 20:30] = X[2, 45:55] = 1
    >>> A = MinHash(n_hashes=4096, random_state=0).fit(X).encode(X, packed=True)
    >>> i, j, containment = neighbors.contained_pairs(A, 0.8)
    >>> i, j, containment.round(1)
    (array([1]), array([0]), array([1.]))
    """
    answer = contained(codes, other, threshold, recall, SearchRun(n_jobs=n_jobs))
    return answer if return_std else answer[:3]


def contained(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    search: SearchRun,
) -> tuple[Array, Array, Array, Array]:
    """Return the result of `contained_pairs`, with standard errors."""
    searched, others = _with_sizes("codes", codes), None
    if other is not None:
        others = _with_sizes("other", other)
        refuse_different("codes and other", searched, others)
    second = searched if others is None else others
    threshold = _search.check_share("threshold", threshold)
    recall = _search.check_share("recall", recall)
    _check_error(searched, second, threshold)

    def similarity_of(i: Array, j: Array) -> tuple[Array, Array]:
        differing = _hashing.count_differing(searched, second, i, j)
        return searched.kernel(searched.n_hashes - differing, return_std=True)

    def containment(i: Array, j: Array) -> Array:
        return of_similarity(similarity_of(i, j)[0], searched, others, i, j)

    keep = _search.filter_for(containment, threshold)
    i, j = _search_classes(
        searched, others, threshold, keep, search,
        lambda least: (_search.least_agreeing(searched, least), recall),
    )  # fmt: skip
    i, j = directed(i, j, others is None, keep)
    similarity, std = similarity_of(i, j)
    a, b = _sizes(searched)[i], _sizes(second)[j]
    error = std * (a + b) / (a * (1 + similarity) ** 2)
    return i, j, of_similarity(similarity, searched, others, i, j), error


def candidates(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    keep: Filter,
    search: SearchRun,
) -> tuple[Array, Array]:
    """Return candidate pairs that pass a filter; within one set, in one direction (see `directed`).
    A pair whose exact containment is `threshold` is found with the probability of
    `_search.for_candidates`.

    This takes fewer hashes than an estimate does: just enough to tell a pair at the threshold from
    a pair of disjoint sets.
    """
    codes = _with_sizes("codes", codes)
    other = None if other is None else _with_sizes("other", other)
    _check_candidates(codes, codes if other is None else other, threshold, recall)
    return _search_classes(
        codes, other, threshold, keep, search,
        lambda least: _search.for_candidates(codes, least, recall),
    )  # fmt: skip


def of_similarity(
    similarity: Array, codes: PackedCodes, other: PackedCodes | None, i: Array, j: Array
) -> Array:
    """Return the containment of row i of `codes` in row j, from the similarities of the pairs."""
    a, b = _sizes(codes)[i], _sizes(codes if other is None else other)[j]
    return similarity * (a + b) / ((1 + similarity) * a)


def _search_classes(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    keep: Filter,
    search: SearchRun,
    wanted: Callable[[float], tuple[int, float]],
) -> tuple[Array, Array]:
    """Return the pairs that pass a filter; within one set, in one direction. Each pair of classes
    whose sizes allow the threshold is one step. `wanted` maps the least similarity of a pair of
    classes to the least number of agreeing codes and the recall of hashing."""
    searched = codes if other is None else other
    own = _classes(codes)
    others = own if other is None else _classes(searched)
    smallest = [float(_sizes(codes)[rows].min()) for rows in own]
    largest = [float(_sizes(searched)[rows].max()) for rows in others]
    # Within one set, the first class has the smaller sets, which need the lower similarity.
    least_of = {
        (one, two): _least_similarity(smallest[one], largest[two], threshold)
        for one in range(len(own))
        for two in range(one if other is None else 0, len(others))
    }
    steps = [classes for classes, least in least_of.items() if least <= 1]

    def find(one: int, two: int) -> Array:
        first, second = own[one], others[two]
        second_set = None if other is None and one == two else searched[second]

        def within(i: Array, j: Array) -> Array:
            i, j = first[i], second[j]
            kept = keep(i, j)
            if other is None:
                order = np.argsort(j, kind="stable")
                kept[order] |= keep(j[order], i[order])
            return kept

        i, j = _search.filtered(
            codes[first], second_set, *wanted(least_of[one, two]), within,
            search._replace(steps=UNKEPT),
        )  # fmt: skip
        return np.stack([first[i], second[j]])

    kind = ArrayKind(np.int64, (2, None), (len(codes) - 1, len(searched) - 1))
    found = search.steps.run("classes", kind, find, steps, None)
    i, j = np.concatenate([np.empty((2, 0), np.int64), *found], axis=1)
    return i, j


def directed(i: Array, j: Array, is_one_set: bool, keep: Filter) -> tuple[Array, Array]:
    """Return the pairs that pass, ascending; within one set, try both directions."""
    if is_one_set:
        i, j = np.concatenate([i, j]), np.concatenate([j, i])
    order = np.lexsort((j, i))
    i, j = i[order], j[order]
    kept = keep(i, j)
    return i[kept], j[kept]


def _classes(codes: PackedCodes) -> list[Array]:
    """Return the rows of each size class, ascending, without empty sets."""
    rows = np.flatnonzero(codes.sampled & (_sizes(codes) > 0))
    numbers = np.floor(np.log2(_sizes(codes)[rows]) * _CLASSES).astype(np.int64)
    return [rows[numbers == number] for number in distinct(numbers)]


def _least_similarity(smallest: float, largest: float, threshold: float) -> float:
    """Return the least similarity at which a set can be contained in another one, up to the
    threshold, given the smallest size of the first and the largest size of the second. Return a
    number above 1 if no set can be."""
    if largest < threshold * smallest - 1e-9:
        return math.inf
    return min(1.0, threshold * smallest / (smallest + largest - threshold * smallest))


def _check_error(codes: PackedCodes, other: PackedCodes, threshold: float) -> None:
    """Raise if there are too few codes for the smallest and the largest set."""
    a, b, similarity = _extremes(codes, other, threshold)
    if similarity > 1:
        return
    rate = similarity + (1 - similarity) * codes.law.chance
    std = math.sqrt(rate * (1 - rate) / codes.n_hashes) / (1 - codes.law.chance)
    error = std * (a + b) / (a * (1 + similarity) ** 2)
    if error > _LARGEST_ERROR:
        needed = math.ceil(codes.n_hashes * (error / _LARGEST_ERROR) ** 2)
        raise ValueError(
            f"{named('n_hashes')} of {codes.n_hashes} is too few: at the threshold, the share of a "
            f"set of {counted(a, 'members', '.0f')} in one of {b:.0f} has a standard error of "
            f"{error:.2f}; "
            f"{setting('n_hashes', needed)} gives {_LARGEST_ERROR}{_FEWER}"
        )


def _check_candidates(
    codes: PackedCodes, other: PackedCodes, threshold: float, recall: float
) -> None:
    """Raise if nearly all pairs of the smallest and the largest set would be candidates."""
    a, b, similarity = _extremes(codes, other, threshold)
    if similarity > 1:
        return
    chance = codes.law.chance
    rate = similarity + (1 - similarity) * chance
    miss = max((1 - recall) / 2, _search.LEAST_MISS)
    spread = -scipy.special.ndtri(miss) * math.sqrt(rate * (1 - rate))
    spread += _BY_CHANCE * math.sqrt(chance * (1 - chance))
    needed = math.ceil((spread / (rate - chance)) ** 2)
    if codes.n_hashes < needed:
        raise ValueError(
            f"{named('n_hashes')} of {codes.n_hashes} is too few to find a set of "
            f"{counted(a, 'members', '.0f')} in one of {b:.0f}; "
            f"{setting('n_hashes', needed)} is enough{_FEWER}"
        )


_FEWER = "; fewer are enough if the smallest sets, such as short texts, are left out"
"""End of error messages that ask for more hashes."""


def _extremes(
    codes: PackedCodes, other: PackedCodes, threshold: float
) -> tuple[float, float, float]:
    """Return the sizes of the smallest and the largest set, and the least similarity of the two,
    which is above 1 if no pair can reach the threshold."""
    small, large = (_sizes(rows)[rows.sampled & (_sizes(rows) > 0)] for rows in (codes, other))
    smallest, largest = float(small.min(initial=math.inf)), float(large.max(initial=0))
    return smallest, largest, _least_similarity(smallest, largest, threshold)


def _with_sizes(name: str, codes: object) -> PackedCodes:
    codes = checked(name, codes)
    if codes.sizes is None:
        raise ValueError(
            f"{name} must have the sizes of sets, as encode(X, packed=True) of MinHash returns"
        )
    return codes


def _sizes(codes: PackedCodes) -> Array:
    assert codes.sizes is not None
    return codes.sizes.astype(np.float64)
