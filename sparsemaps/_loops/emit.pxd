# Sums and hashed entries as rows of CSR (c/emit.h).
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sparsemaps._loops.levels cimport level
from sparsemaps._loops.sort cimport pair_t
from sparsemaps._loops.types cimport out_index_t, value_t

cdef extern from "c/rows/emit.h" nogil:
    enum:
        EMIT_SLACK
    ctypedef struct emit_loops:
        Py_ssize_t (*compact_f32)(const float *numbers, Py_ssize_t n, float *values,
                                  int32_t *positions) noexcept nogil
        Py_ssize_t (*compact_f64)(const double *numbers, Py_ssize_t n, double *values,
                                  int32_t *positions) noexcept nogil
        Py_ssize_t (*sums_f32_i32)(float *sums, Py_ssize_t n, float *values,
                                   int32_t *columns) noexcept nogil
        Py_ssize_t (*sums_f32_i64)(float *sums, Py_ssize_t n, float *values,
                                   int64_t *columns) noexcept nogil
        Py_ssize_t (*sums_f64_i32)(double *sums, Py_ssize_t n, double *values,
                                   int32_t *columns) noexcept nogil
        Py_ssize_t (*sums_f64_i64)(double *sums, Py_ssize_t n, double *values,
                                   int64_t *columns) noexcept nogil
        Py_ssize_t (*entries_f32_i32)(const uint32_t *buckets, const float *entries, Py_ssize_t n,
                                      uint32_t n_buckets, pair_t *pairs, float *values,
                                      int32_t *columns) noexcept nogil
        Py_ssize_t (*entries_f32_i64)(const uint32_t *buckets, const float *entries, Py_ssize_t n,
                                      uint32_t n_buckets, pair_t *pairs, float *values,
                                      int64_t *columns) noexcept nogil
        Py_ssize_t (*entries_f64_i32)(const uint32_t *buckets, const double *entries, Py_ssize_t n,
                                      uint32_t n_buckets, pair_t *pairs, double *values,
                                      int32_t *columns) noexcept nogil
        Py_ssize_t (*entries_f64_i64)(const uint32_t *buckets, const double *entries, Py_ssize_t n,
                                      uint32_t n_buckets, pair_t *pairs, double *values,
                                      int64_t *columns) noexcept nogil
        Py_ssize_t (*slots_f32_i32)(const uint32_t *slots, const float *entries, Py_ssize_t n,
                                    float *sums, uint64_t *marks, Py_ssize_t n_marks,
                                    const uint32_t *buckets, float *values,
                                    int32_t *columns) noexcept nogil
        Py_ssize_t (*slots_f32_i64)(const uint32_t *slots, const float *entries, Py_ssize_t n,
                                    float *sums, uint64_t *marks, Py_ssize_t n_marks,
                                    const uint32_t *buckets, float *values,
                                    int64_t *columns) noexcept nogil
        Py_ssize_t (*slots_f64_i32)(const uint32_t *slots, const double *entries, Py_ssize_t n,
                                    double *sums, uint64_t *marks, Py_ssize_t n_marks,
                                    const uint32_t *buckets, double *values,
                                    int32_t *columns) noexcept nogil
        Py_ssize_t (*slots_f64_i64)(const uint32_t *slots, const double *entries, Py_ssize_t n,
                                    double *sums, uint64_t *marks, Py_ssize_t n_marks,
                                    const uint32_t *buckets, double *values,
                                    int64_t *columns) noexcept nogil
    const emit_loops *emit_at(int level)


cdef inline Py_ssize_t compact(const value_t *numbers, Py_ssize_t n, value_t *values,
                               int32_t *positions) noexcept nogil:
    """Copy the non-zeros among n numbers; up to n + EMIT_SLACK positions are written to."""
    if value_t is float:
        return emit_at(level).compact_f32(numbers, n, values, positions)
    else:
        return emit_at(level).compact_f64(numbers, n, values, positions)


cdef inline Py_ssize_t emit_sums(value_t *sums, Py_ssize_t n_buckets, value_t *values,
                                 out_index_t *columns) noexcept nogil:
    """Copy the non-zeros among `sums`, and set the sums to zero; returns the non-zeros' count."""
    if value_t is float and out_index_t is int32_t:
        return emit_at(level).sums_f32_i32(sums, n_buckets, values, columns)
    elif value_t is float:
        return emit_at(level).sums_f32_i64(sums, n_buckets, values, columns)
    elif out_index_t is int32_t:
        return emit_at(level).sums_f64_i32(sums, n_buckets, values, columns)
    else:
        return emit_at(level).sums_f64_i64(sums, n_buckets, values, columns)


cdef inline Py_ssize_t emit_entries(const uint32_t *buckets, const value_t *entries, Py_ssize_t n,
                                    uint32_t n_buckets, pair_t *pairs, value_t *values,
                                    out_index_t *columns) noexcept nogil:
    """The sums of the entries of each bucket, without zeros; `pairs` is a scratch of 2 n."""
    if value_t is float and out_index_t is int32_t:
        return emit_at(level).entries_f32_i32(buckets, entries, n, n_buckets, pairs, values,
                                              columns)
    elif value_t is float:
        return emit_at(level).entries_f32_i64(buckets, entries, n, n_buckets, pairs, values,
                                              columns)
    elif out_index_t is int32_t:
        return emit_at(level).entries_f64_i32(buckets, entries, n, n_buckets, pairs, values,
                                              columns)
    else:
        return emit_at(level).entries_f64_i64(buckets, entries, n, n_buckets, pairs, values,
                                              columns)


cdef inline Py_ssize_t emit_slots(const uint32_t *slots, const value_t *entries, Py_ssize_t n,
                                  value_t *sums, uint64_t *marks, Py_ssize_t n_marks,
                                  const uint32_t *buckets, value_t *values,
                                  out_index_t *columns) noexcept nogil:
    """The same where slots are places in the ascending list `buckets`; `sums` and `marks` are
    zeros and stay zeros."""
    if value_t is float and out_index_t is int32_t:
        return emit_at(level).slots_f32_i32(slots, entries, n, sums, marks, n_marks, buckets,
                                            values, columns)
    elif value_t is float:
        return emit_at(level).slots_f32_i64(slots, entries, n, sums, marks, n_marks, buckets,
                                            values, columns)
    elif out_index_t is int32_t:
        return emit_at(level).slots_f64_i32(slots, entries, n, sums, marks, n_marks, buckets,
                                            values, columns)
    else:
        return emit_at(level).slots_f64_i64(slots, entries, n, sums, marks, n_marks, buckets,
                                            values, columns)
