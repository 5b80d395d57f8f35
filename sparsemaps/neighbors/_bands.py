"""Bands of codes: their number, their length, and the recall of hashing them."""

import bisect
import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, with_rows
from sparsemaps.neighbors import _brute

_EXACT_RECALL_CODES = 1024
_MAX_BAND = 64

# Costs in nanoseconds, to choose between ways to search. Only their ratios matter.
_HASH_COST = 30.0  # to hash and sort one band of one row
_COPY_COST = 50.0  # to copy a row that shares a bucket
_CANDIDATE_COST = 20.0  # to compare a pair that shares a bucket
_PAIR_COST = 0.2  # to compare two rows when all pairs are compared,
_WORD_COST = 0.05  # plus this for each 64-bit word


_FIXED_ROWS = 2**20
_FIXED_SIMILARITY = 0.2  # of one pair in a hundred; the codes of other pairs agree by chance

LARGEST_IN_PLACE = 2**27
"""Largest size, in bytes, of codes that are compared in place. Rows of larger code arrays are
copied before they are compared, because they are rarely in a cache and may be on disk."""


class Bands(NamedTuple):
    """The first `n_bands` times `length` codes of a row, in bands of `length` consecutive codes.
    The codes of a band are hashed together."""

    length: int
    n_bands: int


@lru_cache(maxsize=2**14)
def recall_of(bands: Bands, n_hashes: int, n_agreeing: int) -> float:
    """Return the probability that two rows share a bucket if `n_agreeing` of their codes, chosen
    uniformly at random, agree. Above 1,024 codes, return a slightly lower bound.

    If all codes of one band agree, the codes of another band are less likely to agree (Joag-Dev &
    Proschan, "Negative association of random variables", 1983). The formula for independent bands,
    which is used above 1,024 codes, therefore underestimates the recall.
    """
    length, n_bands = bands
    if n_hashes > _EXACT_RECALL_CODES:
        places = np.arange(length)
        one = float(np.prod(np.maximum(n_agreeing - places, 0) / (n_hashes - places)))
        return 1.0 if one >= 1 else -math.expm1(n_bands * math.log1p(-one))
    # Inclusion-exclusion over the bands whose codes all agree, in integers.
    ways: int = sum(
        (-1) ** j
        * math.comb(n_bands, j)
        * math.comb(n_hashes - j * length, n_agreeing - j * length)
        for j in range(min(n_bands, n_agreeing // length) + 1)
    )
    total = math.comb(n_hashes, n_agreeing)
    return (total - ways) / total


def bands_for_rows(
    codes: PackedCodes, other: PackedCodes | None, n_agreeing: int, recall: float
) -> Bands | None:
    """Return the cheapest bands with this recall for pairs that agree in `n_agreeing` codes, or
    None if comparing all pairs costs less."""
    others = codes if other is None else other
    n_rows = len(codes) + (0 if other is None else len(other))
    n_pairs = math.comb(n_rows, 2) if other is None else len(codes) * len(other)
    if recall >= 1 or n_agreeing == 0 or n_pairs == 0:
        return None
    rates = rates_of(codes[sample(len(codes))[0]], others[sample(len(others))[1]])
    is_copied = n_rows * codes.shape[1] > LARGEST_IN_PLACE
    return bands_for_rates(
        n_rows, n_pairs, codes.bits, codes.n_hashes, n_agreeing, recall, rates, is_copied
    )


@lru_cache(maxsize=256)
def fixed_bands(bits: int, n_hashes: int, n_agreeing: int, recall: float) -> Bands | None:
    """Return the bands with this recall that are cheapest for a million rows, few of them similar,
    or None to compare all pairs.

    The bands depend only on the number and the width of the codes, not on the rows. Whether a pair
    is found therefore does not depend on the other rows.
    """
    if recall >= 1 or n_agreeing == 0:
        return None
    chance = 2.0**-bits
    rates = np.full(100, chance)
    rates[0] += _FIXED_SIMILARITY * (1 - chance)
    n_pairs = math.comb(_FIXED_ROWS, 2)
    return bands_for_rates(_FIXED_ROWS, n_pairs, bits, n_hashes, n_agreeing, recall, rates)


def bands_for_rates(
    n_rows: int,
    n_pairs: int,
    bits: int,
    n_hashes: int,
    n_agreeing: int,
    recall: float,
    rates: Array,
    is_copied: bool = False,
) -> Bands | None:
    """Return the bands of `bands_for_rows`. `rates` are the rates at which the codes of sampled
    pairs of rows agree; `is_copied` says whether rows that share a bucket are copied."""
    n_words = n_hashes * bits / 64
    least, best = n_pairs * (_PAIR_COST + _WORD_COST * n_words), None
    for length in range(1, min(_MAX_BAND, n_agreeing) + 1):
        n_bands = _least_bands(length, n_hashes, n_agreeing, recall)
        if n_bands is None:
            break
        candidates = n_pairs * float((rates**length).mean())
        cost = n_bands * (n_rows * _HASH_COST + candidates * _CANDIDATE_COST)
        if is_copied:
            cost += n_bands * min(2 * candidates, n_rows) * _COPY_COST
        if cost < least:
            least, best = cost, Bands(length, n_bands)
    return best


def _least_bands(length: int, n_hashes: int, n_agreeing: int, recall: float) -> int | None:
    def recall_by(n_bands: int) -> float:
        return recall_of(Bands(length, n_bands), n_hashes, n_agreeing)

    most = n_hashes // length
    if recall_by(most) < recall:
        return None
    return 1 + bisect.bisect_left(range(1, most), recall, key=recall_by)


def sample(n_rows: int, n: int = 256) -> tuple[slice, slice]:
    """Return slices of two samples, each of at most n of `n_rows` rows, for `rates_of`."""
    step = max(1, n_rows // n)
    start = n_rows // (2 * n)
    return slice(0, n * step, step), slice(start, start + n * step, step)


def rates_of(codes: PackedCodes, other: PackedCodes) -> Array:
    """Return, for each pair of rows from two samples, the share of codes that agree."""
    other = with_rows(other, other.array, np.ones(len(other), bool))
    differing = _brute.joined(_brute.within(codes, other, codes.n_hashes))[2]
    differing = differing[differing > 0]  # not a row with itself, or with a copy
    return 1 - differing / codes.n_hashes if len(differing) else np.zeros(1)
