"""Outputs that are equal bit for bit."""

import numpy as np
import scipy.sparse as sp


def arrays_of(output):
    """The arrays that make up a map's output, for comparing bit by bit."""
    if sp.issparse(output):
        return [output.data, output.indices, output.indptr]
    return [output]


def assert_same(one, other):
    """Equal bit for bit, but for the width of sparse index arrays."""
    assert sp.issparse(one) == sp.issparse(other)
    assert one.shape == other.shape
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(a, b, strict=a.dtype.kind == "f")
