"""Comparison of outputs, bit for bit."""

import numpy as np
import scipy.sparse as sp


def arrays_of(output):
    """Return the arrays of a map's output, for bitwise comparison."""
    if sp.issparse(output):
        return [output.data, output.indices, output.indptr]
    return [output]


def assert_same(one, other):
    """Assert that outputs are equal bit for bit, except for the width of sparse index arrays."""
    assert sp.issparse(one) == sp.issparse(other)
    assert one.shape == other.shape
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(a, b, strict=a.dtype.kind == "f")
