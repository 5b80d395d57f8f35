"""Numbers of records with all their digits: float64, and int64 or uint64 beyond 2^53.

float64 holds every whole number up to 2^53. Two larger ones may become the same. So a column of
labels that has a larger one is an array of int64 or uint64. A column that has such a number beside
a fraction has no type that holds both, and is an error.
"""

from collections.abc import Sequence

import numpy as np

from sparsemaps._tools._typing import Array

FLOAT_HOLDS = 2**53
"""float64 holds all whole numbers up to this one. A larger one may have become this one."""

LEAST, LARGEST = -(2**63), 2**64 - 1
"""The whole numbers that int64 and uint64 hold."""


class MixedNumbers(ValueError):
    """No type of numbers holds all of some numbers; `row` is the place of one at fault."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def number_of(value: int | float) -> int | float:
    """Return a number as float, or as int if it is a whole number that float64 may not hold."""
    return value if isinstance(value, int) and not is_held(value) else float(value)


def is_held(value: int) -> bool:
    """Return whether float64 holds a whole number and its neighbours."""
    return -FLOAT_HOLDS < value < FLOAT_HOLDS


def array_of(numbers: Sequence[int | float]) -> Array:
    """Return an array of numbers, each an int or a float: float64 if that holds them all, or else
    int64 or uint64."""
    large = [row for row, number in enumerate(numbers) if isinstance(number, int)
             and not is_held(number)]  # fmt: skip
    if not large:
        return np.fromiter(numbers, np.float64, len(numbers))
    for number in numbers:
        if isinstance(number, float) and not number.is_integer():
            raise MixedNumbers(_mixed(numbers[large[0]], number), large[0])
    whole = [int(number) for number in numbers]
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if limits.min <= min(whole) and max(whole) <= limits.max:
            return np.array(whole, dtype)
    raise MixedNumbers(_out_of_range(min(whole), max(whole)), large[0])


def joined(arrays: Sequence[Array]) -> Array:
    """Return the numbers of several arrays in one, of the type that `array_of` gives them. Arrays
    of other types, as of strings, are joined by NumPy."""
    large = [one for one in arrays if one.dtype.kind in "iu" and one.dtype.itemsize == 8]
    common = np.result_type(*arrays)
    if common.kind != "f" or not large:
        return np.concatenate(arrays)
    least, most = ([int(of(one)) for one in large if one.size] for of in (np.min, np.max))
    if all(map(is_held, [*least, *most])):
        return np.concatenate(arrays)
    for one in arrays:
        if one.dtype.kind == "f" and (fractions := one[one % 1 != 0]).size:
            raise MixedNumbers(_mixed(max(most, key=abs), float(fractions[0])), 0)
    whole = [one for one in arrays if one.size]
    least, most = ([int(of(one)) for one in whole] for of in (np.min, np.max))
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if limits.min <= min(least) and max(most) <= limits.max:
            return np.concatenate([one.astype(dtype) for one in arrays])
    raise MixedNumbers(_out_of_range(min(least), max(most)), 0)


def are_equal(one: Array, other: Array) -> Array:
    """Return which numbers, or strings, of two arrays are equal, digit for digit."""
    equal = np.asarray(one == other, bool)
    if np.result_type(one, other).kind == "f" and one.dtype != other.dtype:
        equal = np.broadcast_to(equal, np.broadcast_shapes(one.shape, other.shape)).copy()
        one, other = (np.broadcast_to(numbers, equal.shape)[equal] for numbers in (one, other))
        equal[equal] = one.astype(object) == other.astype(object)  # Python compares exactly
    return equal


def in_two(value: int | float) -> complex:
    """Return a number as the sum of two float64 numbers: the nearest float64, and the rest. NumPy
    sorts complex numbers by the first part, and then by the second. It is a ValueError if two parts
    are not enough."""
    if isinstance(value, float):
        return complex(value, 0.0)
    try:
        first = float(value)
        rest = float(value - int(first))
        is_whole = int(first) + int(rest) == value
    except OverflowError:
        is_whole = False
    if not is_whole:
        raise ValueError(f"float64 does not hold {value} in two parts")
    return complex(first, rest)


def _mixed(whole: object, fraction: object) -> str:
    return (
        f"the numbers {whole} and {fraction!r} have no common type: float64 does not hold all "
        "digits of the first, and integers do not hold the second"
    )


def _out_of_range(least: int, most: int) -> str:
    return (
        f"the numbers {least} and {most} have no common type: neither int64 nor uint64 holds both"
    )
