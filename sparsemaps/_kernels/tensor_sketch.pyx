# Tensor sketch: each tuple of `degree` entries of a row adds the product of their values, with the
# product of their signs, to the bucket that is the sum of theirs modulo n_buckets.
#
# That is the circular convolution of the factors' count sketches. Here it is summed directly: over
# the tuples of the first factors of a row, then one factor after the other is convolved with that
# sketch, entry by entry. Or `count_sketches` gives the factors' sketches, for Fourier transforms.
#
# Input: CSR arrays, of which the rows that `indptr` delimits are mapped; three words of key a
# factor; a number that multiplies all values, and that of one more coordinate (0 for none); for
# each row, of how many factors tuples are summed (0 leaves the row to others).
# Output: those rows' sketches, dense or as CSR. Tuples are added in lexicographic order.
# Cost of a row of m entries, s factors summed: O(m ** s + (degree - s) * m * n_buckets).
# Reference: Pham & Pagh 2013, section 4 and lemma 5: the sum that their FFT computes.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sparsemaps._kernels.emit cimport emit_sums
from sparsemaps._kernels.hashing cimport (
    HASH_GROUP, HASH_RUN, add_hashed, flip, hash_mixed, mix_columns, sign_values
)
from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._kernels.types cimport index_t, out_index_t, value_t

cdef extern from "tensor_sketch.h" nogil:
    void join_f32(uint32_t bucket, float value, const uint32_t *buckets, const float *values,
                  Py_ssize_t n, uint32_t n_buckets, uint32_t *out_buckets, float *out_values)
    void join_f64(uint32_t bucket, double value, const uint32_t *buckets, const double *values,
                  Py_ssize_t n, uint32_t n_buckets, uint32_t *out_buckets, double *out_values)
    void convolve_f32(const uint32_t *buckets, const float *values, Py_ssize_t n,
                      const float *twice, Py_ssize_t n_buckets, float *out)
    void convolve_f64(const uint32_t *buckets, const double *values, Py_ssize_t n,
                      const double *twice, Py_ssize_t n_buckets, double *out)

# The column of the coordinate that coef0 adds: no matrix has it.
cdef int64_t EXTRA_COLUMN = -1


cdef struct factors_t:
    int degree
    uint32_t n_buckets
    const uint64_t *keys  # 3 a factor
    double scale
    double extra
    Py_ssize_t n          # entries of the present row, with the extra one
    Py_ssize_t width      # the same, rounded up to whole groups
    uint32_t *buckets     # (degree, width)
    void *values          # (degree, width), with signs
    void *twice           # (2, n_buckets), if factors are to be convolved


cdef struct sink_t:
    void *sums       # added to, if not NULL
    pair_t *pairs    # otherwise: (bucket, bits of the value) one behind the other
    Py_ssize_t n


cdef Py_ssize_t whole_groups(Py_ssize_t n) noexcept nogil:
    return (n + HASH_GROUP - 1) // HASH_GROUP * HASH_GROUP


cdef int open_factors(factors_t *factors, const uint64_t[:, ::1] keys, Py_ssize_t n_buckets,
                      double scale, double extra, const int64_t[::1] indptr,
                      const int32_t[::1] n_summed, size_t itemsize) except -1:
    """Room for the longest row."""
    cdef Py_ssize_t row, longest = 0
    cdef bint convolved = False
    factors.degree = <int>keys.shape[0]
    factors.n_buckets = <uint32_t>n_buckets
    factors.keys = &keys[0, 0]
    factors.scale = scale
    factors.extra = extra
    for row in range(n_summed.shape[0]):
        if n_summed[row]:
            longest = max(longest, indptr[row + 1] - indptr[row])
            convolved |= n_summed[row] < factors.degree
    longest = whole_groups(longest + 1)
    factors.buckets = <uint32_t *>malloc(factors.degree * longest * sizeof(uint32_t))
    factors.values = malloc(factors.degree * longest * itemsize)
    factors.twice = malloc(2 * n_buckets * itemsize) if convolved else NULL
    if factors.buckets == NULL or factors.values == NULL or (convolved and factors.twice == NULL):
        close_factors(factors)
        raise MemoryError
    return 0


cdef void close_factors(factors_t *factors) noexcept:
    free(factors.buckets)
    free(factors.values)
    free(factors.twice)


cdef void load_row(factors_t *factors, const value_t *values, const index_t *columns,
                   Py_ssize_t n) noexcept nogil:
    """Buckets and signed values of a row's entries under each factor."""
    cdef value_t scale = <value_t>factors.scale, extra = <value_t>factors.extra
    cdef value_t *into
    cdef uint32_t *buckets
    cdef uint64_t mixed[HASH_RUN]
    cdef uint32_t signs[HASH_RUN]
    cdef uint32_t extra_bucket[HASH_GROUP]
    cdef int factor
    cdef Py_ssize_t first = 0, run, i
    factors.n = n + (factors.extra != 0)
    factors.width = whole_groups(factors.n)
    while first < n:
        run = min(n - first, <Py_ssize_t>HASH_RUN)
        mix_columns(columns + first, run, mixed)
        for factor in range(factors.degree):
            hash_mixed(factors.keys + 3 * factor, mixed, run, factors.n_buckets,
                       factors.buckets + factor * factors.width + first, signs)
            sign_values(values + first, scale, signs, run,
                        <value_t *>factors.values + factor * factors.width + first)
        first += run
    if factors.extra != 0:
        mix_columns(&EXTRA_COLUMN, 1, mixed)
    for factor in range(factors.degree):
        buckets = factors.buckets + factor * factors.width
        into = <value_t *>factors.values + factor * factors.width
        if factors.extra != 0:
            hash_mixed(factors.keys + 3 * factor, mixed, 1, factors.n_buckets, extra_bucket, signs)
            buckets[n] = extra_bucket[0]
            into[n] = flip(extra, signs[0])
        for i in range(factors.n, factors.width):
            buckets[i] = 0
            into[i] = 0


cdef void add_tuples(const factors_t *factors, int factor, int n_factors, uint32_t bucket,
                     value_t value, sink_t *sink) noexcept nogil:
    """All tuples of the entries of factors `factor` to `n_factors`, joined to (bucket, value)."""
    cdef const uint32_t *buckets = factors.buckets + factor * factors.width
    cdef const value_t *values = <const value_t *>factors.values + factor * factors.width
    cdef uint32_t joined[HASH_RUN]
    cdef value_t products[HASH_RUN]
    cdef value_t *sums = <value_t *>sink.sums
    cdef Py_ssize_t first = 0, run, i
    while first < factors.n:
        run = min(factors.n - first, <Py_ssize_t>HASH_RUN)
        if value_t is float:
            join_f32(bucket, value, buckets + first, values + first, run, factors.n_buckets, joined,
                     products)
        else:
            join_f64(bucket, value, buckets + first, values + first, run, factors.n_buckets, joined,
                     products)
        if factor + 1 < n_factors:
            for i in range(run):
                add_tuples(factors, factor + 1, n_factors, joined[i], products[i], sink)
        elif sums != NULL:
            for i in range(run):
                sums[joined[i]] += products[i]
        else:
            for i in range(run):
                sink.pairs[sink.n].key = joined[i]
                memcpy(&sink.pairs[sink.n].payload, &products[i], sizeof(value_t))
                sink.n += 1
        first += run


cdef void add_sketch(const factors_t *factors, int n_summed, value_t *sums) noexcept nogil:
    """The sketch of the loaded row into `sums`, which are zeros."""
    cdef sink_t sink
    cdef int factor
    cdef const uint32_t *buckets
    cdef const value_t *values
    cdef value_t *twice = <value_t *>factors.twice
    cdef size_t size = factors.n_buckets * sizeof(value_t)
    sink.sums = sums
    sink.pairs = NULL
    sink.n = 0
    add_tuples(factors, 0, n_summed, 0, <value_t>1.0, &sink)
    for factor in range(n_summed, factors.degree):
        memcpy(twice, sums, size)
        memcpy(twice + factors.n_buckets, sums, size)
        buckets = factors.buckets + factor * factors.width
        values = <const value_t *>factors.values + factor * factors.width
        if value_t is float:
            convolve_f32(buckets, values, factors.n, twice, factors.n_buckets, sums)
        else:
            convolve_f64(buckets, values, factors.n, twice, factors.n_buckets, sums)


cdef Py_ssize_t emit_pairs(sink_t *sink, uint32_t n_buckets, value_t *out_values,
                           out_index_t *out_columns) noexcept nogil:
    """The sums of the pairs of one bucket, in the order of buckets and without zeros."""
    cdef pair_t *ordered = sort_pairs(sink.pairs, sink.pairs + sink.n, sink.n,
                                      bit_length(n_buckets - 1))
    cdef Py_ssize_t i = 0, n_out = 0
    cdef uint64_t bucket
    cdef value_t total, value
    while i < sink.n:
        bucket = ordered[i].key
        total = 0
        while i < sink.n and ordered[i].key == bucket:
            memcpy(&value, &ordered[i].payload, sizeof(value_t))
            total += value
            i += 1
        if total != 0:
            out_values[n_out] = total
            out_columns[n_out] = <out_index_t>bucket
            n_out += 1
    sink.n = 0
    return n_out


cdef Py_ssize_t n_tuples(Py_ssize_t n, int degree, Py_ssize_t at_most) noexcept nogil:
    """n ** degree, or `at_most` if it is more."""
    cdef Py_ssize_t total = 1
    cdef int _factor
    for _factor in range(degree):
        if n == 0 or total > at_most // n:
            return 0 if n == 0 else at_most
        total *= n
    return min(total, at_most)


def count_sketches(const value_t[::1] values, const index_t[::1] indices,
                   const int64_t[::1] indptr, const uint64_t[:, ::1] keys, double scale,
                   double extra, const int64_t[::1] rows, value_t[:, :, ::1] out):
    """Add the count sketches of `rows`, which may stand anywhere, under each key of `keys`:
    out[key, i] is that of rows[i]."""
    cdef Py_ssize_t i, n, first, run
    cdef int factor
    cdef const value_t *row_values
    cdef const index_t *columns
    cdef value_t scale_ = <value_t>scale, extra_ = <value_t>extra
    cdef uint64_t mixed[HASH_RUN]
    cdef uint64_t extra_mixed[HASH_RUN]
    cdef uint32_t buckets[HASH_RUN]
    cdef uint32_t signs[HASH_RUN]
    with nogil:
        mix_columns(&EXTRA_COLUMN, 1, extra_mixed)
        for i in range(rows.shape[0]):
            n = indptr[rows[i] + 1] - indptr[rows[i]]
            first = 0
            while first < n:
                run = min(n - first, <Py_ssize_t>HASH_RUN)
                row_values = &values[indptr[rows[i]] + first]
                columns = &indices[indptr[rows[i]] + first]
                mix_columns(columns, run, mixed)
                for factor in range(out.shape[0]):
                    hash_mixed(&keys[factor, 0], mixed, run, out.shape[2], buckets, signs)
                    add_hashed(row_values, scale_, buckets, signs, run, &out[factor, i, 0])
                first += run
            if extra != 0:
                for factor in range(out.shape[0]):
                    hash_mixed(&keys[factor, 0], extra_mixed, 1, out.shape[2], buckets, signs)
                    out[factor, i, buckets[0]] += flip(extra_, signs[0])


def sketch_dense(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
                 const uint64_t[:, ::1] keys, double scale, double extra,
                 const int32_t[::1] n_summed, value_t[:, ::1] out):
    """Write the sketches of the rows that are summed to their rows of `out`, which are zeros."""
    cdef Py_ssize_t row, n
    cdef factors_t factors
    open_factors(&factors, keys, out.shape[1], scale, extra, indptr, n_summed, sizeof(value_t))
    with nogil:
        for row in range(out.shape[0]):
            n = indptr[row + 1] - indptr[row]
            if n_summed[row] and n + (extra != 0) > 0:
                load_row(&factors, &values[0] + indptr[row], &indices[0] + indptr[row], n)
                add_sketch(&factors, n_summed[row], &out[row, 0])
    close_factors(&factors)


def sketch_csr(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
               const uint64_t[:, ::1] keys, double scale, double extra,
               const int32_t[::1] n_summed, value_t[:, ::1] others, value_t[::1] out_values,
               out_index_t[::1] out_columns, out_index_t[::1] out_lengths):
    """Rows one behind the other, each in ascending order of columns and without zeros.

    Rows that are not summed come from `others`, in order; zeros stay behind there. A row takes at
    most min(its tuples, n_buckets) places. Returns how many were taken.
    """
    cdef Py_ssize_t row, n, n_out = 0, next_other = 0, taken, n_buckets = others.shape[1]
    cdef Py_ssize_t places, most = 0
    cdef bint summed = False
    # Up to here a row's tuples are faster to sort than n_buckets sums are to look through.
    cdef Py_ssize_t sortable = n_buckets // 32
    cdef factors_t factors
    cdef sink_t sink
    cdef value_t *sums = NULL
    cdef pair_t *pairs = NULL
    for row in range(out_lengths.shape[0]):
        n = indptr[row + 1] - indptr[row] + (extra != 0)
        places = n_tuples(n, <int>keys.shape[0], sortable + 1)
        if n_summed[row] == keys.shape[0] and places <= sortable:
            most = max(most, places)
        elif n_summed[row]:
            summed = True
    open_factors(&factors, keys, n_buckets, scale, extra, indptr, n_summed, sizeof(value_t))
    pairs = <pair_t *>malloc(2 * max(most, 1) * sizeof(pair_t))
    if summed:
        sums = <value_t *>malloc(n_buckets * sizeof(value_t))
    try:
        if pairs == NULL or (summed and sums == NULL):
            raise MemoryError
        with nogil:
            if summed:
                memset(sums, 0, n_buckets * sizeof(value_t))
            sink.sums = NULL
            sink.pairs = pairs
            sink.n = 0
            for row in range(out_lengths.shape[0]):
                n = indptr[row + 1] - indptr[row]
                places = n_tuples(n + (extra != 0), factors.degree, sortable + 1)
                taken = 0
                if not n_summed[row]:
                    taken = emit_sums(&others[next_other, 0], n_buckets, &out_values[n_out],
                                      &out_columns[n_out])
                    next_other += 1
                elif places > 0:
                    load_row(&factors, &values[0] + indptr[row], &indices[0] + indptr[row], n)
                    if n_summed[row] == factors.degree and places <= sortable:
                        add_tuples(&factors, 0, factors.degree, 0, <value_t>1.0, &sink)
                        taken = emit_pairs(&sink, factors.n_buckets, &out_values[n_out],
                                           &out_columns[n_out])
                    else:
                        add_sketch(&factors, n_summed[row], sums)
                        taken = emit_sums(sums, n_buckets, &out_values[n_out], &out_columns[n_out])
                out_lengths[row] = <out_index_t>taken
                n_out += taken
    finally:
        close_factors(&factors)
        free(sums)
        free(pairs)
    return n_out
