# Entries of both signs: a column as two, of which the even one holds what is positive.
from libc.stdint cimport uint64_t

from sparsemaps._kernels.types cimport index_t, value_t


cdef inline uint64_t column_of(const value_t *values, const index_t *indices, Py_ssize_t i,
                               bint signed_) noexcept nogil:
    """The column that entry i is sampled as."""
    if signed_:
        return 2 * <uint64_t>indices[i] + (values[i] < 0)
    return <uint64_t>indices[i]


cdef inline double absolute(value_t value) noexcept nogil:
    return -<double>value if value < 0 else <double>value
