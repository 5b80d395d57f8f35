"""The records with the highest scores of several inputs, a fraction of all of them."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sparsemaps._tools._typing import Array


class Cut(NamedTuple):
    """Which scores are in the fraction."""

    least: float
    """Higher ones are."""
    n_equal: list[int]
    """Of each input, how many of the records with this score are, the first ones."""


def cut_of(scores: Sequence[Array], fraction: float) -> Cut:
    """Return the cut for a fraction of the records of some inputs, rounded up: those with the
    highest scores, of equal ones the first. Scores of minus infinity are never taken."""
    every = np.concatenate([np.empty(0), *scores])
    n_best = math.ceil(Fraction(repr(float(fraction))) * len(every))
    if not n_best:
        return Cut(-math.inf, [0] * len(scores))
    least = float(np.partition(every, len(every) - n_best)[len(every) - n_best])
    if least == -math.inf:
        return Cut(least, [0] * len(scores))
    left = n_best - int((every > least).sum())
    n_equal = []
    for some in scores:
        n_equal.append(min(left, int((some == least).sum())))
        left -= n_equal[-1]
    return Cut(least, n_equal)


def taken(scores: Array, least: float, n_equal: int) -> Array:
    """Return which records of an input are in the fraction."""
    is_taken = scores > least
    is_taken[np.flatnonzero(scores == least)[:n_equal]] = True
    return is_taken
