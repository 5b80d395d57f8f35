from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "hashing.h" nogil:
    enum:
        HASH_RUN
        HASH_GROUP
    void mix_columns_32(const int32_t *columns, Py_ssize_t n, uint64_t *mixed)
    void mix_columns_64(const int64_t *columns, Py_ssize_t n, uint64_t *mixed)
    void hash_mixed(const uint64_t *key, const uint64_t *mixed, Py_ssize_t n, uint64_t n_buckets,
                    uint32_t *buckets, uint32_t *signs)
    float flip_f32(float value, uint32_t sign)
    double flip_f64(double value, uint32_t sign)
    void sign_values_f32(const float *values, float scale, const uint32_t *signs, Py_ssize_t n,
                         float *out)
    void sign_values_f64(const double *values, double scale, const uint32_t *signs, Py_ssize_t n,
                         double *out)
    void add_hashed_f32(const float *values, float scale, const uint32_t *buckets,
                        const uint32_t *signs, Py_ssize_t n, float *sums)
    void add_hashed_f64(const double *values, double scale, const uint32_t *buckets,
                        const uint32_t *signs, Py_ssize_t n, double *sums)


cdef inline void mix_columns(const index_t *columns, Py_ssize_t n, uint64_t *mixed) noexcept nogil:
    """What all hashes of n <= HASH_RUN columns have in common."""
    if index_t is int32_t:
        mix_columns_32(columns, n, mixed)
    else:
        mix_columns_64(columns, n, mixed)


cdef inline value_t flip(value_t value, uint32_t sign) noexcept nogil:
    """`value`, negated where `sign` is 1."""
    if value_t is float:
        return flip_f32(value, sign)
    else:
        return flip_f64(value, sign)


cdef inline void sign_values(const value_t *values, value_t scale, const uint32_t *signs,
                             Py_ssize_t n, value_t *out) noexcept nogil:
    """Each value times `scale`, with its sign."""
    if value_t is float:
        sign_values_f32(values, scale, signs, n, out)
    else:
        sign_values_f64(values, scale, signs, n, out)


cdef inline void add_hashed(const value_t *values, value_t scale, const uint32_t *buckets,
                            const uint32_t *signs, Py_ssize_t n, value_t *sums) noexcept nogil:
    """Add each value, times `scale` and with its sign, to its bucket's sum."""
    if value_t is float:
        add_hashed_f32(values, scale, buckets, signs, n, sums)
    else:
        add_hashed_f64(values, scale, buckets, signs, n, sums)
