# Write sums and hashed entries as CSR rows (documented in c/rows/emit.h).
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sparsemaps._loops.arrays cimport csr_block
from sparsemaps._loops.sort cimport pair_t

cdef extern from "c/rows/emit.h" nogil:
    enum:
        EMIT_SLACK
    ctypedef struct compact_loops:
        Py_ssize_t (*compact)(const void *numbers, Py_ssize_t n, void *values,
                              int32_t *positions) noexcept nogil
    const compact_loops *compact_at(int level, size_t value_size)
    ctypedef struct emit_loops:
        Py_ssize_t (*sums)(void *sums, Py_ssize_t n, int64_t first_column, void *values,
                           void *columns) noexcept nogil
        Py_ssize_t (*scaled)(const csr_block *rows, int64_t start, int64_t stop, double factor,
                             int64_t shift, void *values, void *columns) noexcept nogil
        Py_ssize_t (*entries)(const uint32_t *buckets, const void *entries, Py_ssize_t n,
                              uint32_t n_buckets, pair_t *pairs, void *values,
                              void *columns) noexcept nogil
        Py_ssize_t (*slots)(const uint32_t *slots, const void *entries, Py_ssize_t n, void *sums,
                            uint64_t *marks, Py_ssize_t n_marks, const uint32_t *buckets,
                            void *values, void *columns) noexcept nogil
    const emit_loops *emit_at(int level, size_t value_size, size_t index_size)
