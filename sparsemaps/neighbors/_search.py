"""Search for pairs of a similarity among packed codes, by comparing all or by hashing."""

import bisect
from typing import Any

import numpy as np
from scipy import special

from sparsemaps._tools import _checks
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._stages import NONE, Stages
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.neighbors import _bands, _brute, _hashing
from sparsemaps.neighbors._hashing import SIZES, Sizes

LEAST_MISS = 1e-9
"""Of pairs at the threshold, the share that has too few codes that agree, if the recall is 1."""


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
    max_bucket = _checks.check_int("max_bucket", max_bucket, 1, 2**31 - 1)
    least = least_agreeing(codes, threshold)
    i, j, differing = pairs_of(codes, other, least, recall, max_bucket, n_jobs, sizes, stages)
    return estimated(codes, other, threshold, i, j, differing)


def candidates(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    recall: float,
    n_jobs: int | None,
    max_bucket: int = 1000,
    stages: Stages = NONE,
) -> tuple[Array, Array]:
    """Pairs among which the exact kernel is to decide: one whose kernel is `threshold` is here with
    probability `recall` at least.

    Of the share that may be missed, one half are pairs of which too few codes agree, as the number
    that agree is a binomial one at the rate of the kernel; the other half is what hashing may
    miss.
    """
    least, recall = for_candidates(codes, threshold, recall)
    i, j, _ = pairs_of(codes, other, least, recall, max_bucket, n_jobs, stages=stages)
    return i, j


def for_candidates(codes: PackedCodes, threshold: float, recall: float) -> tuple[int, float]:
    """How many codes of candidates agree at least, and the probability with which hashing must find
    such rows, by the rule of `candidates`."""
    check_share("threshold", threshold)
    miss = (1 - check_share("recall", recall)) / 2
    n_hashes, rate = codes.n_hashes, float(codes._least_rate(threshold))
    least = bisect.bisect_left(
        range(n_hashes + 1),
        max(miss, LEAST_MISS),
        key=lambda count: float(special.bdtr(count, n_hashes, rate)),
    )
    return least, 1 - miss


def may_be_missing(codes: PackedCodes, agreements: Array, kernel: Array, recall: float) -> Array:
    """Whether rows of which no more codes agree than `agreements` may have at least this exact
    kernel, by the rule of `candidates`."""
    reached = special.bdtr(agreements, codes.n_hashes, codes._least_rate(kernel))
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
    """Pairs of which at least so many codes agree, in ascending order, and how many differ."""
    _brute.check_searched(len(codes) + (0 if other is None else len(other)), codes.n_hashes)
    bands = _bands.choose_bands(codes, other, least, recall)
    max_differing = codes.n_hashes - least
    if bands is None:
        return _brute.all_pairs(codes, other, max_differing, n_jobs)
    return _hashing.banded_pairs(
        codes, other, max_differing, bands, max_bucket, n_jobs, sizes, stages
    )


def least_agreeing(codes: PackedCodes, threshold: float) -> int:
    """How many codes agree at least where the estimate is that of the threshold."""
    counts = np.arange(codes.n_hashes + 1)
    # The estimate of a product is greatest where a part agrees in no other sample.
    highest = codes.kernel(counts, first=counts, second=counts)
    return int(np.argmax(highest >= threshold - 1e-12))


def estimated(
    codes: PackedCodes,
    other: PackedCodes | None,
    threshold: float,
    i: Array,
    j: Array,
    differing: Array,
) -> tuple[Array, Array, Array]:
    """Those of the pairs whose estimate is at least `threshold`, and their estimates."""
    similarity = estimates(codes, codes if other is None else other, i, j, differing)
    if codes._takes_parts:
        kept = similarity >= threshold - 1e-12
        i, j, similarity = i[kept], j[kept], similarity[kept]
    return i, j, similarity


def estimates(
    codes: PackedCodes, other: PackedCodes, i: Array, j: Array, differing: Array
) -> Array:
    """The estimates for pairs of a row of `codes` and one of `other`, of which so many codes
    differ."""
    n = codes.n_hashes
    if not codes._takes_parts:
        table: Array = codes.kernel(np.arange(n + 1))
        return table[n - differing]
    own, place = np.unique(i, return_inverse=True)
    others, other_place = np.unique(j, return_inverse=True)
    A, B = codes[own], other[others]
    first, second = (
        n - _hashing.count_differing(A.part(k), B.part(k), place, other_place) for k in (0, 1)
    )
    return np.asarray(codes.kernel(n - differing, first=first, second=second))


def check_share(name: str, value: Any) -> float:
    share = _checks.check_real(name, value, 0, open_low=True)
    if share > 1:
        raise ParameterError(name, str(value), "above 0 and at most 1")
    return share
