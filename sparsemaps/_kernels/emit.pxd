# What is not zero in a dense row of sums, as entries of a sparse one.
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._kernels.types cimport out_index_t, value_t

cdef enum:
    EMIT_RUN = 256


cdef inline bint is_not_zero(value_t value) noexcept nogil:
    """Of the bits, as a comparison of floats would take a branch for NaN."""
    cdef uint32_t bits
    cdef uint64_t wide
    if value_t is float:
        memcpy(&bits, &value, sizeof(bits))
        return bits << 1 != 0
    else:
        memcpy(&wide, &value, sizeof(wide))
        return wide << 1 != 0


cdef inline Py_ssize_t emit_sums(value_t *sums, Py_ssize_t n_buckets, value_t *out_values,
                                 out_index_t *out_columns) noexcept nogil:
    """Move what is not zero out of `sums`, and leave zeros behind; returns how many there were.

    Every sum is written, and the next one over it if it was zero: no branch on hashed places.
    """
    cdef value_t values[EMIT_RUN]
    cdef out_index_t columns[EMIT_RUN]
    cdef Py_ssize_t first = 0, run, i, n, n_out = 0
    while first < n_buckets:
        run = min(n_buckets - first, <Py_ssize_t>EMIT_RUN)
        n = 0
        for i in range(run):
            values[n] = sums[first + i]
            columns[n] = <out_index_t>(first + i)
            n += is_not_zero(sums[first + i])
        memcpy(out_values + n_out, values, n * sizeof(value_t))
        memcpy(out_columns + n_out, columns, n * sizeof(out_index_t))
        n_out += n
        first += run
    memset(sums, 0, n_buckets * sizeof(value_t))
    return n_out
