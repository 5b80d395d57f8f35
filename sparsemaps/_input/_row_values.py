"""Values per row: labels, targets, weights and query ids."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from sparsemaps._input._row_reader import float_of, is_error


def of_rows(name: str, values: Any) -> Any:
    """Return the values of a series, a frame or an array as an array, with all digits. Return lists
    and sparse matrices unchanged. Raise a ValueError for masked values, times or records, or if
    there is only a single value."""
    if isinstance(values, (list, tuple)) or sp.issparse(values):
        return values
    if np.ma.is_masked(values):
        row = int(np.ma.getmaskarray(values).reshape(len(values), -1).any(axis=1).argmax())
        raise ValueError(f"{name} must have a value for each row, got a masked one in row {row}")
    try:
        array = np.asarray(values)
    except BaseException as error:  # polars' panics are not Exceptions
        if not is_error(error):
            raise
        raise ValueError(f"{name} cannot be converted to an array: {error}") from error
    if array.ndim == 0:
        raise ValueError(f"{name} must have a value for each row, got one {type(values).__name__}")
    if array.dtype.kind in "mM":
        raise ValueError(f"{name} must not have times, got {array.dtype}")
    if array.dtype.kind == "V":
        raise ValueError(f"{name} must have one value for each row, got records of {array.dtype}")
    return array.astype(object) if array.dtype.kind == "T" else array  # strings of any length


def numbers_of_rows(name: str, values: Any) -> Any:
    """Convert numbers that are objects or strings to float64. Raise a ValueError that names the
    first value that is not a number or is NaN."""
    is_array = isinstance(values, np.ndarray)
    if sp.issparse(values) or (is_array and values.dtype.kind not in "OUS"):
        return values
    array = np.array(values, object)
    if array.ndim != 1 and array.size != len(array):
        return values  # another check reports the shape
    try:
        found = array.astype(np.float64)
    except OverflowError:
        return values  # another check reports numbers beyond float64
    except (TypeError, ValueError):
        found = None
    if found is not None and not np.isnan(found).any():
        return found
    for row, value in enumerate(array.reshape(-1).tolist()):
        number = float_of(value)
        if number is None or np.isnan(number):
            rule = f"{name} must have a number for each row"
            raise ValueError(f"{rule}, got {value!r} in row {row}")
    return values
