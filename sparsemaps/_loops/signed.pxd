# Values of both signs (c/signed.h).
from libc.stdint cimport uint64_t

from sparsemaps._loops.types cimport index_t, value_t

cdef extern from "c/rows/signed.h" nogil:
    uint64_t signed_column(uint64_t index, bint is_negative, bint is_signed)


cdef inline uint64_t column_of(const value_t *values, const index_t *indices, Py_ssize_t i,
                               bint signed_) noexcept nogil:
    """The column that entry i is sampled as."""
    return signed_column(<uint64_t>indices[i], values[i] < 0, signed_)


cdef inline double absolute(value_t value) noexcept nogil:
    return -<double>value if value < 0 else <double>value
