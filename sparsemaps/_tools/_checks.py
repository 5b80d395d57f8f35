"""Checks of parameters.

Errors name the parameter, its value, and the rule.
"""

import math
import numbers
from collections.abc import Iterable

from sparsemaps._tools._parameters import ParameterError

LARGEST_INT32 = 2**31 - 1
LARGEST_INT = 2**63 - 1
"""Largest int64."""

LARGEST_REAL = 1e75
"""Largest number in training data: targets, weights, and C times weights. Sums of products of four
such numbers are finite."""


def finite_or_none(number: float) -> float | None:
    """Return a number if it is finite, else None, because JSON has only finite numbers."""
    return number if math.isfinite(number) else None


def check_int(name: str, value: object, low: int, high: int) -> int:
    """Return `value` as an int. Raise a ParameterError unless it is from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ParameterError(name, repr(value), f"an integer from {low} to {high}")
    value = int(value)
    if not low <= value <= high:
        raise ParameterError(name, _shown(value), f"from {low} to {high}")
    return value


def check_real(
    name: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = False,
) -> float:
    """Return `value` as a finite float. Raise a ParameterError unless it is from `low` to `high`,
    or above `low` if `open_low`."""
    allowed = "a finite number"
    if high < math.inf:
        allowed = f"above {low} and at most {high}" if open_low else f"from {low} to {high}"
    elif low > -math.inf:
        allowed += f" {'above' if open_low else 'of at least'} {low}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ParameterError(name, repr(value), allowed)
    try:
        number = float(value)
    except OverflowError:  # an integer or fraction beyond float64
        number = math.inf
    is_inside = low < number <= high or (number == low and not open_low)
    if not (math.isfinite(number) and is_inside):
        raise ParameterError(name, _shown(value), allowed)
    return number


def _shown(number: object) -> str:
    try:
        return str(number)
    except ValueError:  # Python does not print integers of thousands of digits
        return "a number of thousands of digits"


def check_bool(name: str, value: object) -> bool:
    """Return `value` as a bool. Raise a ParameterError if it is not one."""
    import numpy as np  # here, so that help needs no NumPy

    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(name, repr(value), "True or False")
    return bool(value)


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value`. Raise a ParameterError unless it is one of the strings `choices`."""
    if not isinstance(value, str) or value not in choices:
        allowed = " or ".join(repr(choice) for choice in choices)
        raise ParameterError(name, repr(value), allowed)
    return value
