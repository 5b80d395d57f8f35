# Dart minhash: n_hashes samples of each row, whose cost in entries does not grow with n_hashes.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key.
# Output: samples, or codes made of their lowest bits; -1 where a row has no positive entry.
# Cost: O(entries + n_hashes log n_hashes) a row.
# Reference: Christiani, "DartMinHash: fast sketching for weighted sets", 2020.
from libc.math cimport INFINITY, ldexp, log
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from sparsemaps._kernels.code_output cimport (put_codes, put_no_samples, put_whole_samples,
                                              sample_code, sample_output_t, samples_as_codes,
                                              whole_samples)
from sparsemaps._kernels.levels cimport level
from sparsemaps._kernels.signed cimport absolute, column_of
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "c/dart_minhash.h" nogil:
    enum:
        DART_PARTS
        DART_LOWEST_PART
    ctypedef struct dart_t:
        double rank
        int64_t position
        int64_t part
        int64_t number
    uint64_t column_start(uint64_t key, uint64_t column)
    uint64_t part_start(uint64_t start, int64_t part)
    void throw_darts(uint64_t part, double scale, double weight, double limit, uint64_t n_buckets,
                     int64_t position, int64_t number_of_part, dart_t *buckets)
    int part_of(double weight)
    ctypedef struct dart_minhash_loops:
        uint32_t (*parts_with_darts)(uint64_t start, int64_t part,
                                     const uint64_t *limits) noexcept nogil
    const dart_minhash_loops *dart_minhash_at(int level)

cdef const dart_minhash_loops *loops = dart_minhash_at(level)


# What a row's darts are thrown by.
cdef struct row_t:
    int exponent             # weights are relative to 2^exponent, an even one
    double factors[2]        # whose product is 2^-exponent; each is in range
    double limit             # of rank
    # Of the parts 0, -1, ...: the least weight, and the least first word that is no dart.
    double scales[DART_LOWEST_PART + DART_PARTS]
    uint64_t words[DART_LOWEST_PART + DART_PARTS]


cdef void set_limit(row_t *row, double limit) noexcept nogil:
    cdef double mean
    cdef int i
    row.limit = limit
    for i in range(DART_LOWEST_PART + DART_PARTS):
        row.scales[i] = ldexp(1.0, -2 * i)
        mean = 3.0 * row.scales[i] * limit  # how many darts there are, on average
        row.words[i] = <uint64_t>-1 if mean >= 1.0 else <uint64_t>ldexp(mean, 64)


cdef void throw_all(const value_t *values, const index_t *indices, Py_ssize_t n, uint64_t key,
                    bint signed_, const row_t *row, Py_ssize_t n_buckets,
                    dart_t *buckets) noexcept nogil:
    """The darts of a row up to its limit of rank."""
    cdef uint64_t start
    cdef uint32_t found
    cdef Py_ssize_t i
    cdef double weight
    cdef int below, part
    for i in range(n):
        weight = absolute(values[i]) * row.factors[0] * row.factors[1]
        if weight < 1e-37:  # 4^-DART_LOWEST_PART is 3e-39
            continue
        below = -part_of(weight)
        start = column_start(key, column_of(values, indices, i, signed_))
        found = loops.parts_with_darts(start, row.exponent // 2 - below, &row.words[below])
        while found:
            if found & 1:
                part = row.exponent // 2 - below
                throw_darts(part_start(start, part), row.scales[below], weight, row.limit,
                            n_buckets, i, part, buckets)
            found >>= 1
            below += 1


cdef bint sample_row(const value_t *values, const index_t *indices, Py_ssize_t n, uint64_t key,
                     bint signed_, Py_ssize_t n_buckets, dart_t *buckets) noexcept nogil:
    """The darts that are a row's samples; False where it has no positive entry."""
    cdef Py_ssize_t i
    cdef double largest = 0, total = 0, darts
    cdef row_t scaled
    cdef bint missing = True
    for i in range(n):
        largest = max(largest, absolute(values[i]))
    if largest == 0:
        return False
    scaled.exponent = 2 * part_of(largest)
    scaled.factors[0] = ldexp(1.0, -(scaled.exponent // 2))
    scaled.factors[1] = ldexp(1.0, -(scaled.exponent - scaled.exponent // 2))
    for i in range(n):
        total += absolute(values[i]) * scaled.factors[0] * scaled.factors[1]
    # So many darts leave a bucket empty in one row of fifty; then it is done again with more.
    darts = n_buckets * (log(<double>n_buckets) + 4.0)
    while missing:
        for i in range(n_buckets):
            buckets[i].rank = INFINITY
            buckets[i].position = -1
        set_limit(&scaled, darts / total)
        throw_all(values, indices, n, key, signed_, &scaled, n_buckets, buckets)
        missing = False
        for i in range(n_buckets):
            missing |= buckets[i].position < 0
        darts *= 2
    return True


cdef int run(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
             uint64_t key, bint signed_, const sample_output_t *output) except -1:
    """t* numbers the darts of a column."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, n_hashes = output.codes.n, row, j, first, n
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    cdef dart_t *buckets = <dart_t *>malloc(n_hashes * sizeof(dart_t))
    cdef int64_t *words = <int64_t *>malloc(3 * n_hashes * sizeof(int64_t))
    cdef int64_t *codes = words
    cdef int64_t *t = words + n_hashes
    cdef uint64_t *columns = <uint64_t *>(words + 2 * n_hashes)
    if buckets == NULL or words == NULL:
        free(buckets)
        free(words)
        raise MemoryError
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    with nogil:
        for row in range(n_rows):
            first = indptr[row]
            n = indptr[row + 1] - first
            if not sample_row(value + first, index + first, n, key, signed_, n_hashes, buckets):
                put_no_samples(output, row)
                continue
            for j in range(n_hashes):
                columns[j] = column_of(value, index, first + buckets[j].position, signed_)
                # Neighbours in number and in part differ in the lowest bits.
                t[j] = buckets[j].number * 2048 + buckets[j].part + 1024
            if output.columns != NULL:
                put_whole_samples(output, row, 0, columns, t, n_hashes)
                continue
            for j in range(n_hashes):
                codes[j] = sample_code(columns[j], <uint64_t>t[j], output.bits, output.t_bits)
            put_codes(&output.codes, row, 0, codes, n_hashes)
    free(buckets)
    free(words)
    return 0


def dart_codes(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
               uint64_t key, bint signed_, Py_ssize_t n_hashes, int bits, int t_bits, int layout,
               out):
    """Write each row's codes: the lowest `bits` of i* with the lowest `t_bits` of t* above them."""
    cdef sample_output_t output = samples_as_codes(layout, out, n_hashes, bits, t_bits)
    run(values, indices, indptr, key, signed_, &output)


def dart_samples(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
                 uint64_t key, bint signed_, int64_t[:, ::1] columns, int64_t[:, ::1] t):
    """Write each row's samples i* and t*."""
    cdef sample_output_t output = whole_samples(columns, t)
    run(values, indices, indptr, key, signed_, &output)
