# Checks of CSR arrays, the only kernels that do not trust what they are given.
#
# Input: arrays of any content. Output: a verdict; where and why is found by the caller, once, when
# the verdict is bad. Cost: one pass, without branches on the values.
from libc.stdint cimport int64_t

from sparsemaps._kernels.types cimport index_t, value_t

OUT_OF_RANGE = 1
NOT_CANONICAL = 2
NOT_FINITE = 4
NEGATIVE = 8


def check_indptr(const index_t[::1] indptr, int64_t n_stored):
    """Index of the first entry of `indptr` that is not sound, or -1.

    Sound: starts at 0, never falls, never exceeds `n_stored`.
    """
    cdef Py_ssize_t i, wrong = -1
    cdef int64_t before = 0
    with nogil:
        for i in range(indptr.shape[0]):
            if indptr[i] < before or indptr[i] > n_stored or (i == 0 and indptr[i] != 0):
                wrong = i
                break
            before = indptr[i]
    return wrong


def check_rows(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
               int64_t n_columns):
    """What is found in the rows that `indptr` delimits, as a sum of the flags above."""
    cdef Py_ssize_t start = indptr[0], stop = indptr[indptr.shape[0] - 1], row, i
    cdef bint out = False, unordered = False, infinite = False, negative = False
    with nogil:
        for i in range(start, stop):
            out |= (indices[i] < 0) | (indices[i] >= n_columns)
        for i in range(start, stop):
            infinite |= values[i] - values[i] != 0
        for i in range(start, stop):
            negative |= values[i] < 0
        for row in range(indptr.shape[0] - 1):
            for i in range(indptr[row] + 1, indptr[row + 1]):
                unordered |= indices[i] <= indices[i - 1]
    return (OUT_OF_RANGE * out + NOT_CANONICAL * unordered + NOT_FINITE * infinite
            + NEGATIVE * negative)
