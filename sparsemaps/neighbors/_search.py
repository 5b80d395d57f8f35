"""Similar pairs among packed codes, by comparing all codes or by hashing bands of them."""

import bisect
from typing import Any

import numpy as np
from scipy import special

from sparsemaps._tools import _checks
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._stages import NONE, Stages
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.laws._code_laws import ProductCounts
from sparsemaps.neighbors import _bands, _brute, _clusters, _hashing
from sparsemaps.neighbors._hashing import SIZES, Sizes

MAX_BUCKET = 1000
"""The default of the largest number of rows of a bucket that a row is compared with."""

LEAST_MISS = 1e-9
"""The share of pairs at the threshold that have too few codes that agree, for a recall of 1."""


def similar(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    max_bucket: int,
    n_jobs: int | None,
    sizes: Sizes = SIZES,
    stages: Stages = NONE,
) -> tuple[Array, Array, Array]:
    """Pairs whose estimate is at least `threshold`, and their estimates."""
    threshold = check_share("threshold", threshold)
    recall = check_share("recall", recall)
    max_bucket = _checks.check_int("max_bucket", max_bucket, 1, _checks.LARGEST_INT32)
    least = least_agreeing(codes, threshold)
    i, j, differing = pairs_of(codes, other, least, recall, max_bucket, n_jobs, sizes, stages)
    return estimated(codes, other, threshold, i, j, differing)


def spanning_pairs(
    codes: PackedCodes,
    threshold: float,
    recall: float,
    max_bucket: int,
    n_jobs: int | None,
    stages: Stages = NONE,
) -> tuple[Array, Array]:
    """Pairs with the connected components of those whose estimate is at least `threshold`: fewer
    than there are rows. There are no more pairs in memory either, however many rows are near one
    another, and rows that are joined are not compared."""
    _brute.check_searched(len(codes), codes.n_hashes)
    least = least_agreeing(codes, threshold)
    max_differing = codes.n_hashes - least
    bands = _bands.usual_bands(codes, least, recall)
    components = _clusters.Components(len(codes))
    if bands is None:
        copies = _hashing.copies(codes, n_jobs, stages)
        components.join(copies)
        different = _hashing.without(codes, copies)
        for i, j, differing in _brute.pairs_by_tile(different, None, max_differing, n_jobs, stages):
            i, j, _ = estimated(codes, None, threshold, i, j, differing)
            components.join(_hashing.pairs_of_rows(i, j))
    elif codes.law.takes_parts:

        def make_filter() -> _hashing.Filter:
            own = _clusters.Components(len(codes))
            return lambda pairs: own.join(
                _estimated_pairs(codes, None, threshold, own.between(pairs))
            )

        for pairs in _hashing.pairs_by_band(
            codes, None, max_differing, bands, max_bucket, n_jobs, stages=stages,
            make_filter=make_filter,
        ):  # fmt: skip
            components.join(pairs)
    else:
        how = bands, max_bucket, n_jobs
        for pairs in _hashing.spanning_by_band(codes, max_differing, *how, stages=stages):
            components.join(pairs)
    return _clusters.rows_with_parents(components.first_rows())


def near_rows(
    codes: PackedCodes,
    other: PackedCodes,
    threshold: float,
    recall: float,
    max_bucket: int,
    n_jobs: int | None,
    stages: Stages = NONE,
) -> Array:
    """The rows of `other` in pairs whose estimate is at least `threshold`, ascending. There are
    about as many pairs in memory as rows, however many rows are near one another."""
    _brute.check_searched(len(codes) + len(other), codes.n_hashes)
    least = least_agreeing(codes, threshold)
    max_differing = codes.n_hashes - least
    bands = _bands.usual_bands(codes, least, recall)
    is_near = np.zeros(len(other), bool)
    if bands is None:
        for i, j, differing in _brute.pairs_by_tile(codes, other, max_differing, n_jobs, stages):
            is_near[estimated(codes, other, threshold, i, j, differing)[1]] = True
        return np.flatnonzero(is_near)
    for pairs in _hashing.pairs_by_band(
        codes, other, max_differing, bands, max_bucket, n_jobs, stages=stages,
        make_filter=lambda: _one_each(codes, other, threshold),
    ):  # fmt: skip
        is_near[_hashing.rows_of_pairs(pairs, len(codes))[1]] = True
    return np.flatnonzero(is_near)


def _one_each(codes: PackedCodes, other: PackedCodes, threshold: float) -> _hashing.Filter:
    """A filter that keeps about one pair of each row of the second set. The pairs of a row come one
    after the other."""
    is_met = np.zeros(len(other), bool)

    def keep(pairs: Array) -> Array:
        pairs = pairs[~is_met[_hashing.rows_of_pairs(pairs, len(codes))[1]]]
        pairs = _estimated_pairs(codes, other, threshold, pairs)
        rows = _hashing.rows_of_pairs(pairs, len(codes))[1]
        is_met[rows] = True
        return pairs[np.diff(rows, prepend=-1) != 0]

    return keep


def _estimated_pairs(
    codes: PackedCodes, other: PackedCodes | None, threshold: float, pairs: Array
) -> Array:
    """The pairs, one number each, whose estimate is at least `threshold`."""
    if not codes.law.takes_parts:
        return pairs
    first_other = 0 if other is None else len(codes)
    i, j = _hashing.rows_of_pairs(pairs, first_other)
    differing = _hashing.count_differing(codes, codes if other is None else other, i, j)
    i, j, _ = estimated(codes, other, threshold, i, j, differing)
    return _hashing.pairs_of_rows(i, j + first_other)


def candidates(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    n_jobs: int | None,
    max_bucket: int = MAX_BUCKET,
    sizes: Sizes = SIZES,
    stages: Stages = NONE,
) -> tuple[Array, Array]:
    """Candidates for the exact kernel: a pair whose kernel is `threshold` is one of them with
    probability `recall` at least.

    The probability that it is missed has two halves. One half is that too few of its codes agree:
    their number is binomial, at the rate of the kernel. The other half is that of hashing.
    """
    least, recall = for_candidates(codes, threshold, recall)
    i, j, _ = pairs_of(codes, other, least, recall, max_bucket, n_jobs, sizes, stages)
    return i, j


def for_candidates(codes: PackedCodes, threshold: float, recall: float) -> tuple[int, float]:
    """The least number of codes that agree in a candidate, and the recall that hashing must have,
    by the rule of `candidates`."""
    check_share("threshold", threshold)
    miss = (1 - check_share("recall", recall)) / 2
    n_hashes, rate = codes.n_hashes, float(codes.law.least_rate(threshold))
    least = bisect.bisect_left(
        range(n_hashes + 1),
        max(miss, LEAST_MISS),
        key=lambda count: float(special.bdtr(count, n_hashes, rate)),
    )
    return least, 1 - miss


def may_be_missing(codes: PackedCodes, agreements: Array, kernel: Array, recall: float) -> Array:
    """Whether a row of which at most `agreements` codes agree may have this exact kernel or more,
    by the rule of `candidates`."""
    reached = special.bdtr(agreements, codes.n_hashes, codes.law.least_rate(kernel))
    return np.asarray(reached >= max((1 - recall) / 2, LEAST_MISS))


def pairs_of(
    codes: PackedCodes,
    other: PackedCodes | None,
    least: int,
    recall: float,
    max_bucket: int,
    n_jobs: int | None,
    sizes: Sizes = SIZES,
    stages: Stages = NONE,
) -> tuple[Array, Array, Array]:
    """Pairs of which at least `least` codes agree, ascending, and how many codes differ."""
    _brute.check_searched(len(codes) + (0 if other is None else len(other)), codes.n_hashes)
    bands = _bands.choose_bands(codes, other, least, recall)
    max_differing = codes.n_hashes - least
    if bands is None:
        return _brute.all_pairs(codes, other, max_differing, n_jobs, stages)
    return _hashing.banded_pairs(
        codes, other, max_differing, bands, max_bucket, n_jobs, sizes, stages
    )


def least_agreeing(codes: PackedCodes, threshold: float) -> int:
    """The least number of codes that agree where the estimate is at least `threshold`."""
    counts = np.arange(codes.n_hashes + 1)
    return int(np.argmax(reaches(codes.law.highest(counts, codes.n_hashes), threshold)))


def estimated(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    i: Array,
    j: Array,
    differing: Array,
) -> tuple[Array, Array, Array]:
    """The pairs whose estimate is at least `threshold`, with their estimates."""
    similarity = estimates(codes, codes if other is None else other, i, j, differing)
    if codes.law.takes_parts:
        kept = reaches(similarity, threshold)
        i, j, similarity = i[kept], j[kept], similarity[kept]
    return i, j, similarity


def estimates(
    codes: PackedCodes, other: PackedCodes, i: Array, j: Array, differing: Array
) -> Array:
    """The estimates for pairs of row i of `codes` and row j of `other`, of which `differing` codes
    differ."""
    n = codes.n_hashes
    if not codes.law.takes_parts:
        table: Array = codes.kernel(np.arange(n + 1))
        return table[n - differing]
    own, place = np.unique(i, return_inverse=True)
    others, other_place = np.unique(j, return_inverse=True)
    A, B = codes[own], other[others]
    parts = (n - _hashing.count_differing(A.part(k), B.part(k), place, other_place) for k in (0, 1))
    return np.asarray(codes.kernel(ProductCounts(n - differing, *parts)))


def reaches(similarity: Array, threshold: float) -> Array:
    """Which similarities are at least `threshold`, up to rounding."""
    return np.asarray(similarity >= threshold - 1e-12)


def check_share(name: str, value: Any) -> float:
    """`value` as a float above 0 and at most 1."""
    share = _checks.check_real(name, value, 0, open_low=True)
    if share > 1:
        raise ParameterError(name, str(value), "above 0 and at most 1")
    return share
