# What is not zero in a dense row of sums, as entries of a sparse one.
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from sparsemaps._kernels.types cimport out_index_t, value_t

cdef extern from "emit.h" nogil:
    enum:
        EMIT_RUN
        EMIT_SLACK
    Py_ssize_t compact_f32(const float *sums, Py_ssize_t n, float *values, int32_t *places)
    Py_ssize_t compact_f64(const double *sums, Py_ssize_t n, double *values, int32_t *places)


cdef inline Py_ssize_t compact(const value_t *sums, Py_ssize_t n, value_t *values,
                               int32_t *places) noexcept nogil:
    """What is not zero among n sums; up to n + EMIT_SLACK places are written to."""
    if value_t is float:
        return compact_f32(sums, n, values, places)
    else:
        return compact_f64(sums, n, values, places)


cdef inline Py_ssize_t emit_sums(value_t *sums, Py_ssize_t n_buckets, value_t *out_values,
                                 out_index_t *out_columns) noexcept nogil:
    """Move what is not zero out of `sums`, and leave zeros behind; returns how many there were."""
    cdef value_t values[EMIT_RUN + EMIT_SLACK]
    cdef int32_t places[EMIT_RUN + EMIT_SLACK]
    cdef Py_ssize_t first = 0, run, i, n, n_out = 0
    while first < n_buckets:
        run = min(n_buckets - first, <Py_ssize_t>EMIT_RUN)
        n = compact(<const value_t *>(sums + first), run, values, places)
        memcpy(out_values + n_out, values, n * sizeof(value_t))
        for i in range(n):
            out_columns[n_out + i] = <out_index_t>(first + places[i])
        n_out += n
        first += run
    memset(sums, 0, n_buckets * sizeof(value_t))
    return n_out
