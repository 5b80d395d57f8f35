# Dart minhash: n_hashes samples of each row, whose cost in entries does not grow with n_hashes.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; two 64-bit keys,
# of the samples and of their codes; the power that values are raised to.
# Output: samples, or their codes; -1 where a row has no positive entry.
# Cost: O(entries + n_hashes log n_hashes) a row.
# Reference: Christiani, "DartMinHash: fast sketching for weighted sets", 2020.
from libc.math cimport fabs
from libc.stdint cimport int64_t, uint64_t

from sparsemaps._loops.arrays cimport column_at, csr_block, value_at
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/maps/dart_minhash.h" nogil:
    ctypedef struct dart_t:
        pass
    ctypedef struct dart_parts:
        pass
    ctypedef struct dart_minhash_loops:
        bint (*sample_row)(double *weights, const uint64_t *columns, Py_ssize_t n, double power,
                           uint64_t key, Py_ssize_t n_buckets, dart_parts *parts, dart_t *buckets,
                           uint64_t *out_columns, int64_t *out_t) noexcept nogil
    const dart_minhash_loops *dart_minhash_at(int)

cdef const dart_minhash_loops *darts = dart_minhash_at(level)


cdef int sample_darts(const csr_block *rows, uint64_t key, bint signed_, double power,
                      const sample_output_t *output) except -1:
    """t* numbers the darts of a column."""
    cdef const int64_t *indptr = rows.indptr
    cdef Py_ssize_t n_rows = rows.n_rows, n_hashes = output.codes.n, row, first, n, i
    cdef Py_ssize_t longest = 1
    with nogil:
        for row in range(n_rows):
            longest = max(longest, indptr[row + 1] - indptr[row])
    cdef Scratch scratch = borrow_scratch()
    cdef double *weights = <double *>scratch.take(longest * sizeof(double))
    cdef uint64_t *columns = <uint64_t *>scratch.take(longest * sizeof(uint64_t))
    cdef dart_parts *parts = <dart_parts *>scratch.take(sizeof(dart_parts))
    cdef dart_t *buckets = <dart_t *>scratch.take(n_hashes * sizeof(dart_t))
    cdef uint64_t *keys = <uint64_t *>scratch.take(SAMPLE_KEYS * n_hashes * sizeof(uint64_t))
    cdef int64_t *codes = <int64_t *>scratch.take(n_hashes * sizeof(int64_t))
    cdef int64_t *t = <int64_t *>scratch.take(n_hashes * sizeof(int64_t))
    cdef uint64_t *sampled = <uint64_t *>scratch.take(n_hashes * sizeof(uint64_t))
    with nogil:
        if output.columns == NULL:
            code_loops.keys(output.key, 0, n_hashes, output.t_bits, keys)
        for row in range(n_rows):
            first = indptr[row]
            n = indptr[row + 1] - first
            for i in range(n):
                weights[i] = fabs(value_at(rows, first + i))
                columns[i] = column_at(rows, first + i, signed_)
            if not darts.sample_row(weights, columns, n, power, key, n_hashes, parts, buckets,
                                    sampled, t):
                put_no_samples(output, row)
                continue
            if output.columns != NULL:
                put_whole_samples(output, row, 0, sampled, t, n_hashes)
                continue
            for i in range(n_hashes):
                sampled[i] = mix64(sampled[i])
            code_loops.codes(keys, 1, n_hashes, sampled, t, output.bits, output.t_bits, codes)
            output_loops.put(&output.codes, row, 0, codes, n_hashes)
    return give_back_scratch(scratch)
