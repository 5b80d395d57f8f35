from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "hashing.h" nogil:
    enum:
        HASH_RUN
    void hash_columns_32(const uint64_t *key, const int32_t *columns, Py_ssize_t n,
                         uint64_t n_buckets, uint32_t *buckets, uint32_t *signs)
    void hash_columns_64(const uint64_t *key, const int64_t *columns, Py_ssize_t n,
                         uint64_t n_buckets, uint32_t *buckets, uint32_t *signs)
    float flip_f32(float value, uint32_t sign)
    double flip_f64(double value, uint32_t sign)


cdef inline void hash_columns(const uint64_t *key, const index_t *columns, Py_ssize_t n,
                              uint64_t n_buckets, uint32_t *buckets,
                              uint32_t *signs) noexcept nogil:
    """Buckets and signs of n <= HASH_RUN columns."""
    if index_t is int32_t:
        hash_columns_32(key, columns, n, n_buckets, buckets, signs)
    else:
        hash_columns_64(key, columns, n, n_buckets, buckets, signs)


cdef inline value_t flip(value_t value, uint32_t sign) noexcept nogil:
    """`value`, negated where `sign` is 1."""
    if value_t is float:
        return flip_f32(value, sign)
    else:
        return flip_f64(value, sign)
