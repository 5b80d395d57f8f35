"""Selection of a fraction of the records of several inputs, by their highest scores."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools._typing import Array


class Cut(NamedTuple):
    """The cut that separates the fraction from the other records."""

    least: float
    """The least score in the fraction. All records with higher scores are in it."""
    n_equal: list[int]
    """The number of records of each input with the score `least` that are in the fraction; the
    first ones are."""

    def to_json(self) -> list[Any]:
        """Return the cut for JSON, with all digits of the score."""
        return [self.least.hex(), self.n_equal]

    @classmethod
    def of_json(cls, value: Any, n_inputs: int) -> "Cut":
        """Return the cut of at least `n_inputs` inputs that `to_json` has written. Raise a
        ValueError for any other value."""
        try:
            least, n_equal = value
            if len(n_equal) < n_inputs:
                raise ValueError
            return cls(float.fromhex(least), [int(n) for n in n_equal])
        except (TypeError, ValueError):
            raise ValueError(f"expected a cut; found {value!r}") from None


def cut_of(scores: Sequence[Array], fraction: float) -> Cut:
    """Return the cut for a fraction, rounded up, of the records of some inputs. The highest scores
    are selected, and the first records among equal scores. Scores of minus infinity are never
    selected."""
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
    """Return a mask of the records of an input that are in the fraction."""
    is_taken = scores > least
    is_taken[np.flatnonzero(scores == least)[:n_equal]] = True
    return is_taken
