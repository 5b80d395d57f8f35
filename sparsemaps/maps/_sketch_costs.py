"""Costs of tensor sketches by tuples and by Fourier transforms, in units of one tuple."""

import numpy as np
import numpy.typing as npt

from sparsemaps._tools._typing import Array

_BYTES_PER_TUPLE = 96
"""Bytes of a sketch that can be rotated and added in the time of one tuple."""

_BUTTERFLY_BYTES_PER_TUPLE = 12
"""Bytes of the n log2(2 n) steps of a Fourier transform that can be processed in that time."""


def join_cost(n_components: int, itemsize: int) -> float:
    """Return the cost of multiplying a sketch by one entry and adding the result."""
    return n_components * itemsize / _BYTES_PER_TUPLE


def butterflies(n_components: int, itemsize: int) -> float:
    """Return the cost of one Fourier transform of a row."""
    return float(n_components * np.log2(2 * n_components) * itemsize / _BUTTERFLY_BYTES_PER_TUPLE)


def factors_to_sum(
    lengths: Array, degree: int, n_components: int, itemsize: int
) -> tuple[npt.NDArray[np.int32], Array]:
    """Return, for rows with the given lengths that are summed directly, the number of factors whose
    tuples are summed, and the number of tuples.

    It is the smallest number of factors with at least as many tuples as adding one entry costs.
    """
    summed = np.full(len(lengths), degree, np.int32)
    join = join_cost(n_components, itemsize)
    tuples = lengths.astype(float)
    growing = lengths > 1  # other rows have at most one tuple, however high the degree
    for factor in range(1, degree):
        reached = growing & (tuples >= join)
        summed[reached] = factor
        growing &= ~reached
        if not growing.any():
            break
        tuples[growing] *= lengths[growing]
    return summed, tuples
