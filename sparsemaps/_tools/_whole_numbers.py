"""Numbers of records with all their digits: float64, and int64 or uint64 beyond 2^53.

float64 represents every integer up to 2^53, but may merge larger ones. A column of labels with a
larger integer is therefore an array of int64 or uint64. A column with both such an integer and a
fraction raises an error, because no type represents both.
"""

from collections.abc import Sequence

import numpy as np

from sparsemaps._tools._typing import Array

FLOAT_HOLDS = 2**53
"""float64 represents all integers up to this one. This value itself may be a rounded larger one."""

LEAST, LARGEST = -(2**63), 2**64 - 1
"""Least and largest integers of int64 and uint64."""


class MixedNumbers(ValueError):
    """Raised if no numeric type represents all numbers. `row` is the position of one at fault."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


def number_of(value: int | float) -> int | float:
    """Return a number as float, or as int if it is an integer that float64 may not represent."""
    return value if isinstance(value, int) and not is_held(value) else float(value)


def is_held(value: int) -> bool:
    """Return whether float64 represents an integer and its neighbours exactly."""
    return -FLOAT_HOLDS < value < FLOAT_HOLDS


def array_of(numbers: Sequence[int | float]) -> Array:
    """Return an array of ints and floats: float64 if that represents all of them, else int64 or
    uint64."""
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
    """Concatenate arrays of numbers, in the type that `array_of` would choose. NumPy concatenates
    arrays of other types, such as strings."""
    large = [one for one in arrays if one.dtype.kind in "iu" and one.dtype.itemsize == 8]
    common = np.result_type(*arrays)
    if common.kind != "f" or not large:
        return np.concatenate(arrays)
    least, most = ([int(of(one)) for one in large if one.size] for of in (np.min, np.max))
    if all(map(is_held, [*least, *most])):
        return np.concatenate(arrays)
    for one in arrays:
        if one.dtype.kind == "f" and (fractions := one[one % 1 != 0]).size:
            raise MixedNumbers(_mixed(max(*least, *most, key=abs), float(fractions[0])), 0)
    whole = [one for one in arrays if one.size]
    least, most = ([int(of(one)) for one in whole] for of in (np.min, np.max))
    for dtype in (np.int64, np.uint64):
        limits = np.iinfo(dtype)
        if limits.min <= min(least) and max(most) <= limits.max:
            return np.concatenate([one.astype(dtype) for one in arrays])
    raise MixedNumbers(_out_of_range(min(least), max(most)), 0)


def are_equal(one: Array, other: Array) -> Array:
    """Return which numbers or strings of two arrays are equal, digit for digit."""
    equal = np.asarray(one == other, bool)
    if np.result_type(one, other).kind == "f" and one.dtype != other.dtype:
        equal = np.broadcast_to(equal, np.broadcast_shapes(one.shape, other.shape)).copy()
        one, other = (np.broadcast_to(numbers, equal.shape)[equal] for numbers in (one, other))
        equal[equal] = one.astype(object) == other.astype(object)  # Python compares numbers exactly
    return equal


def in_two(value: int | float) -> complex:
    """Return a number as the sum of two float64 numbers, the nearest float64 and the rest, in one
    complex number. NumPy sorts complex numbers by their real, then their imaginary part. Raise
    ValueError if two parts do not suffice."""
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
