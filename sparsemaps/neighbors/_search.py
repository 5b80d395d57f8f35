"""Similar pairs among packed codes, by comparing all codes or by hashing bands of them."""

import bisect
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np
import scipy

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.laws._agreement import AgreementLaw, ProductCounts
from sparsemaps.neighbors import _bands, _brute, _hashing
from sparsemaps.neighbors._bands import Bands
from sparsemaps.neighbors._hashing import DEFAULT_RUN, PairFilter, SearchRun

LEAST_MISS = 1e-9
"""For a recall of 1, the share of pairs at the threshold that may have too few agreeing codes."""

Filter = Callable[[Array, Array], Array]
"""Return whether each pair of row i and row j passes. i ascends. Threads may call it concurrently,
and a pair may come again."""


def similar_codes(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    search: SearchRun = DEFAULT_RUN,
) -> tuple[Array, Array, Array]:
    """Return pairs whose estimate is at least `threshold`, and their estimates."""
    threshold = check_share("threshold", threshold)
    recall = check_share("recall", recall)
    keep = _by_estimate(codes, other, threshold)
    i, j = filtered(codes, other, least_agreeing(codes, threshold), recall, keep, search)
    return i, j, _estimates_of_pairs(codes, other, i, j)


def _pairs_that_pass(
    codes: PackedCodes,
    other: PackedCodes | None,
    max_differing: int,
    bands: Bands | None,
    search: SearchRun,
    keep: PairFilter,
) -> Iterator[Array]:
    """Yield the pairs of `_hashing.pairs_by_band` or, without bands, compare all rows and yield the
    pairs that differ in at most `max_differing` codes and pass `keep`."""
    if bands is not None:
        yield from _hashing.pairs_by_band(codes, other, max_differing, bands, search, keep)
        return
    n_rows = len(codes) + (0 if other is None else len(other))
    first_other = 0 if other is None else len(codes)

    def find(start: int, stop: int) -> Array:
        tiles = _brute.tiles(codes, other, max_differing, start, stop)
        kept = [keep(_hashing.pairs_of_rows(i, j + first_other)) for i, j, _ in tiles]
        return np.concatenate([np.empty(0, np.uint64), *kept])

    steps, kind = _brute.steps_of(len(codes), other is None), _hashing.pairs_below(n_rows)
    yield from search.steps.run("all", kind, find, steps, search.n_jobs)


def rows_near_others(
    codes: PackedCodes,
    least: int,
    recall: float,
    search: SearchRun,
    earlier: PackedCodes | None = None,
    new_array: _hashing.NewArray = np.empty,
) -> Array:
    """Return the rows, ascending, that may agree in `least` codes with another row.

    Rows are numbered through both sets, `earlier` first. Two rows of `earlier` are not compared. A
    row near another is missed with probability at most ``1 - recall``, by `_bands.fixed_bands`. The
    result may include other rows: without bands, it is all rows with samples.
    """
    bands = _bands.fixed_bands(codes.bits, codes.n_hashes, least, recall)
    if bands is None:
        sampled = codes.sampled if earlier is None else np.r_[earlier.sampled, codes.sampled]
        return np.flatnonzero(sampled)
    max_differing = codes.n_hashes - least
    return _hashing.near_by_band(earlier, codes, max_differing, bands, search, new_array)


def _by_estimate(codes: PackedCodes, other: PackedCodes | None, threshold: float) -> Filter | None:
    """Return a filter of the pairs whose estimate is at least `threshold`, or None if the number of
    agreeing codes alone decides."""
    if not codes.law.needs_parts:
        return None
    return filter_for(partial(_estimates_of_pairs, codes, other), threshold)


def _estimates_of_pairs(codes: PackedCodes, other: PackedCodes | None, i: Array, j: Array) -> Array:
    others = codes if other is None else other
    return estimates_of_pairs(codes, others, i, j, _hashing.count_differing(codes, others, i, j))


def filtered(
    codes: PackedCodes,
    other: PackedCodes | None,
    least: int,
    recall: float,
    keep: Filter | None,
    search: SearchRun,
) -> tuple[Array, Array]:
    """Return the pairs, ascending, that agree in at least `least` codes and pass a filter; None
    accepts all. Other pairs are discarded at once. A pair may be filtered several times."""
    _brute.check_searched(len(codes) + (0 if other is None else len(other)), codes.n_hashes)
    bands = _bands.bands_for_rows(codes, other, least, recall)
    first_other = 0 if other is None else len(codes)
    of_numbers = _of_pairs(keep, first_other)
    found = _pairs_that_pass(codes, other, codes.n_hashes - least, bands, search, of_numbers)
    return _hashing.rows_of_pairs(_hashing.union(found), first_other)


def _of_pairs(keep: Filter | None, first_other: int) -> PairFilter:
    """Return `keep` as a filter of pairs that are one number each; None accepts all."""

    def passed(pairs: Array) -> Array:
        if keep is None:
            return pairs
        pairs = np.sort(pairs)
        return pairs[keep(*_hashing.rows_of_pairs(pairs, first_other))]

    return passed


def filter_for(similarity: Callable[[Array, Array], Array], threshold: float) -> Filter:
    """Return a filter of the pairs whose similarity is at least `threshold`."""
    return lambda i, j: reaches(similarity(i, j), threshold)


def first_pairs(n_rows: int, n_other: int | None) -> Filter:
    """Return a stateful filter, which passes a pair if one of its rows has not been in a pair
    before.

    The passing pairs cover the same rows as all pairs that the filter has seen, and there are at
    most as many as rows. `n_other` is the number of rows of the second set, or None for pairs
    within one set. Threads may share the filter.
    """
    met = np.zeros(n_rows, bool)
    met_of_other = met if n_other is None else np.zeros(n_other, bool)
    lock = threading.Lock()

    def passes(i: Array, j: Array) -> Array:
        with lock:
            is_first = np.zeros(len(i), bool)
            for is_met, rows in ((met, i), (met_of_other, j)):
                unmet = np.flatnonzero(~is_met[rows])
                _, first = np.unique(rows[unmet], return_index=True)
                is_first[unmet[first]] = True
                is_met[rows] = True
            return is_first

    return passes


def for_candidates(codes: PackedCodes, threshold: float, recall: float) -> tuple[int, float]:
    """Return the least number of agreeing codes of a candidate, and the recall that hashing must
    have, such that a pair whose exact kernel is `threshold` is found with probability at least
    `recall`.

    The allowed probability of a miss is split in halves. One half allows for too few agreeing
    codes: their number is binomial, with the rate of the kernel. The other half allows for hashing.
    """
    check_share("threshold", threshold)
    miss = (1 - check_share("recall", recall)) / 2
    n_hashes, rate = codes.n_hashes, float(codes.law.least_rate(threshold))
    least = bisect.bisect_left(
        range(n_hashes + 1),
        max(miss, LEAST_MISS),
        key=lambda count: float(scipy.special.bdtr(count, n_hashes, rate)),
    )
    return least, 1 - miss


def may_be_missing(codes: PackedCodes, agreements: Array, kernel: Array, recall: float) -> Array:
    """Return whether a row that agrees in at most `agreements` codes may have at least this exact
    kernel, by the rule of `for_candidates`."""
    reached = scipy.special.bdtr(agreements, codes.n_hashes, codes.law.least_rate(kernel))
    return np.asarray(reached >= max((1 - recall) / 2, LEAST_MISS))


def least_agreeing(codes: PackedCodes, threshold: float) -> int:
    """Return the least number of agreeing codes for which the estimate may be at least
    `threshold`."""
    return int(np.argmax(reaches(_highest_estimates(codes.law, codes.n_hashes), threshold)))


def estimates_of_pairs(
    codes: PackedCodes, other: PackedCodes, i: Array, j: Array, differing: Array
) -> Array:
    """Return the estimates for pairs of row i of `codes` and row j of `other` that differ in
    `differing` codes."""
    n = codes.n_hashes
    if not codes.law.needs_parts:
        return _highest_estimates(codes.law, n)[n - differing]
    own, place = np.unique(i, return_inverse=True)
    others, other_place = np.unique(j, return_inverse=True)
    A, B = codes[own], other[others]
    parts = (n - _hashing.count_differing(A.part(k), B.part(k), place, other_place) for k in (0, 1))
    return np.asarray(codes.kernel(ProductCounts(n - differing, *parts)))


@lru_cache(maxsize=64)
def _highest_estimates(law: AgreementLaw, n_hashes: int) -> Array:
    """Return the highest estimate for each number of agreeing codes; unless the law needs parts, it
    is the only one."""
    return law.highest(np.arange(n_hashes + 1), n_hashes)


def reaches(similarity: Array, threshold: float) -> Array:
    """Return which similarities are at least `threshold`, up to rounding."""
    return np.asarray(similarity >= threshold - 1e-12)


def check_share(name: str, value: object) -> float:
    """Return `value` as a float above 0 and at most 1."""
    return _checks.check_real(name, value, 0, 1, open_low=True)
