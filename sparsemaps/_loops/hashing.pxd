# Count sketches of rows: buckets, signs and sums (c/hashing.h).
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sparsemaps._loops.levels cimport level
from sparsemaps._loops.types cimport index_t, value_t

cdef extern from "c/random/hashing.h" nogil:
    ctypedef struct hashing_loops:
        void (*add_sketches_f32_i32)(const uint64_t *keys, Py_ssize_t n_keys, const float *values,
                                     float scale, const int32_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, float *sums,
                                     Py_ssize_t stride) noexcept nogil
        void (*add_sketches_f32_i64)(const uint64_t *keys, Py_ssize_t n_keys, const float *values,
                                     float scale, const int64_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, float *sums,
                                     Py_ssize_t stride) noexcept nogil
        void (*add_sketches_f64_i32)(const uint64_t *keys, Py_ssize_t n_keys, const double *values,
                                     double scale, const int32_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, double *sums,
                                     Py_ssize_t stride) noexcept nogil
        void (*add_sketches_f64_i64)(const uint64_t *keys, Py_ssize_t n_keys, const double *values,
                                     double scale, const int64_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, double *sums,
                                     Py_ssize_t stride) noexcept nogil
        void (*hash_entries_f32_i32)(const uint64_t *keys, Py_ssize_t n_keys, const float *values,
                                     float scale, const int32_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, Py_ssize_t width, uint32_t *buckets,
                                     float *signed_values) noexcept nogil
        void (*hash_entries_f32_i64)(const uint64_t *keys, Py_ssize_t n_keys, const float *values,
                                     float scale, const int64_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, Py_ssize_t width, uint32_t *buckets,
                                     float *signed_values) noexcept nogil
        void (*hash_entries_f64_i32)(const uint64_t *keys, Py_ssize_t n_keys, const double *values,
                                     double scale, const int32_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, Py_ssize_t width, uint32_t *buckets,
                                     double *signed_values) noexcept nogil
        void (*hash_entries_f64_i64)(const uint64_t *keys, Py_ssize_t n_keys, const double *values,
                                     double scale, const int64_t *columns, Py_ssize_t n,
                                     uint64_t n_buckets, Py_ssize_t width, uint32_t *buckets,
                                     double *signed_values) noexcept nogil
        void (*look_up_f32_i32)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                                const float *values, const int32_t *columns, Py_ssize_t n,
                                uint32_t *out_slots, float *signed_values) noexcept nogil
        void (*look_up_f32_i64)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                                const float *values, const int64_t *columns, Py_ssize_t n,
                                uint32_t *out_slots, float *signed_values) noexcept nogil
        void (*look_up_f64_i32)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                                const double *values, const int32_t *columns, Py_ssize_t n,
                                uint32_t *out_slots, double *signed_values) noexcept nogil
        void (*look_up_f64_i64)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                                const double *values, const int64_t *columns, Py_ssize_t n,
                                uint32_t *out_slots, double *signed_values) noexcept nogil
    const hashing_loops *hashing_at(int level)


cdef inline void add_sketches(const uint64_t *keys, Py_ssize_t n_keys, const value_t *values,
                              value_t scale, const index_t *columns, Py_ssize_t n,
                              uint64_t n_buckets, value_t *sums, Py_ssize_t stride) noexcept nogil:
    """Add the count sketch of n entries under each key: that of key k to sums + k * stride."""
    if value_t is float and index_t is int32_t:
        hashing_at(level).add_sketches_f32_i32(keys, n_keys, values, scale, columns, n, n_buckets,
                                               sums, stride)
    elif value_t is float:
        hashing_at(level).add_sketches_f32_i64(keys, n_keys, values, scale, columns, n, n_buckets,
                                               sums, stride)
    elif index_t is int32_t:
        hashing_at(level).add_sketches_f64_i32(keys, n_keys, values, scale, columns, n, n_buckets,
                                               sums, stride)
    else:
        hashing_at(level).add_sketches_f64_i64(keys, n_keys, values, scale, columns, n, n_buckets,
                                               sums, stride)


cdef inline void hash_entries(const uint64_t *keys, Py_ssize_t n_keys, const value_t *values,
                              value_t scale, const index_t *columns, Py_ssize_t n,
                              uint64_t n_buckets, Py_ssize_t width, uint32_t *buckets,
                              value_t *signed_values) noexcept nogil:
    """Buckets and signed values of n entries: those under key k from k * width on."""
    if value_t is float and index_t is int32_t:
        hashing_at(level).hash_entries_f32_i32(keys, n_keys, values, scale, columns, n, n_buckets,
                                               width, buckets, signed_values)
    elif value_t is float:
        hashing_at(level).hash_entries_f32_i64(keys, n_keys, values, scale, columns, n, n_buckets,
                                               width, buckets, signed_values)
    elif index_t is int32_t:
        hashing_at(level).hash_entries_f64_i32(keys, n_keys, values, scale, columns, n, n_buckets,
                                               width, buckets, signed_values)
    else:
        hashing_at(level).hash_entries_f64_i64(keys, n_keys, values, scale, columns, n, n_buckets,
                                               width, buckets, signed_values)


cdef inline void look_up(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                         const value_t *values, const index_t *columns, Py_ssize_t n,
                         uint32_t *out_slots, value_t *signed_values) noexcept nogil:
    """Slots and signed values of n entries, by tables of all columns' slots and signs."""
    if value_t is float and index_t is int32_t:
        hashing_at(level).look_up_f32_i32(slots, signs, n_columns, values, columns, n, out_slots,
                                          signed_values)
    elif value_t is float:
        hashing_at(level).look_up_f32_i64(slots, signs, n_columns, values, columns, n, out_slots,
                                          signed_values)
    elif index_t is int32_t:
        hashing_at(level).look_up_f64_i32(slots, signs, n_columns, values, columns, n, out_slots,
                                          signed_values)
    else:
        hashing_at(level).look_up_f64_i64(slots, signs, n_columns, values, columns, n, out_slots,
                                          signed_values)
