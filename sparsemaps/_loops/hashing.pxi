# Random numbers (c/random/random.h) and count sketches of rows (c/random/hashing.h), documented in
# these headers.
from libc.stdint cimport uint32_t, uint64_t


cdef extern from "c/random/random.h" nogil:
    uint64_t mix64(uint64_t x)
    uint64_t column_start(uint64_t key, uint64_t column)
    uint64_t word(uint64_t start, uint64_t counter)

cdef extern from "c/random/hashing.h" nogil:
    ctypedef struct hashing_loops:
        void (*add_sketches)(const uint64_t *keys, Py_ssize_t n_keys, const void *values,
                             double scale, const void *columns, Py_ssize_t n, uint64_t n_buckets,
                             void *sums, Py_ssize_t stride) noexcept nogil
        void (*hash_entries)(const uint64_t *keys, Py_ssize_t n_keys, const void *values,
                             double scale, const void *columns, Py_ssize_t n, uint64_t n_buckets,
                             Py_ssize_t width, uint32_t *buckets,
                             void *signed_values) noexcept nogil
        void (*look_up)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                        const void *values, const void *columns, Py_ssize_t n,
                        uint32_t *out_slots, void *signed_values) noexcept nogil
    const hashing_loops *hashing_at(int, size_t value_size, size_t index_size)
