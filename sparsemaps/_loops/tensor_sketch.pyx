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
from libc.string cimport memcpy

from sparsemaps._loops.emit cimport emit_at, emit_loops
from sparsemaps._loops.hashing cimport hashing_at, hashing_loops
from sparsemaps._loops.levels cimport level
from sparsemaps._loops.pages cimport begin_zeros, fetch_zeros
from sparsemaps._loops.scratch cimport Scratch, borrow_scratch, give_back_scratch
from sparsemaps._loops.sort cimport pair_t
from sparsemaps._loops.types cimport index_t, out_index_t, value_t

cdef extern from "c/maps/tensor_sketch.h" nogil:
    enum:
        TUPLE_STEP
    ctypedef struct tensor_sketch_loops:
        void (*add_tuples)(const uint32_t *buckets, const void *values, Py_ssize_t width,
                           Py_ssize_t n, int n_factors, uint32_t n_buckets,
                           void *sums) noexcept nogil
        void (*list_tuples)(const uint32_t *buckets, const void *values, Py_ssize_t width,
                            Py_ssize_t n, int n_factors, uint32_t n_buckets, uint32_t *out_buckets,
                            void *out_values) noexcept nogil
        void (*convolve)(const uint32_t *buckets, const void *values, Py_ssize_t n,
                         const void *repeated, Py_ssize_t n_buckets, void *out) noexcept nogil
    const tensor_sketch_loops *tensor_sketch_at(int level, size_t value_size)

# The column of the coordinate that coef0 adds: no matrix has it.
cdef int64_t EXTRA_COLUMN = -1


cdef enum:
    LOADED_TOGETHER = 256  # entries at least, which stay in the nearest cache


cdef struct factors_t:
    const hashing_loops *hashing
    const tensor_sketch_loops *loops
    size_t value_size
    int degree
    uint32_t n_buckets
    const uint64_t *keys      # 3 a factor
    double scale
    double extra
    Py_ssize_t width          # between the same entry of two factors
    Py_ssize_t first, stop    # the rows that are loaded
    uint32_t *loaded_buckets  # (degree, width): those of all entries of the loaded rows
    void *loaded_values       # the same, with signs
    Py_ssize_t n              # entries of the present row, with the extra one
    const uint32_t *buckets   # of the present row, within the loaded ones
    const void *values
    void *repeated            # (2, n_buckets), if factors are to be convolved


cdef int open_factors(factors_t *factors, Scratch scratch, const uint64_t[:, ::1] keys,
                      Py_ssize_t n_buckets, double scale, double extra, const int64_t[::1] indptr,
                      const int32_t[::1] n_summed, size_t value_size,
                      size_t index_size) except -1:
    """Memory for the longest row, or for some short ones."""
    cdef Py_ssize_t row, longest = 0, n
    cdef bint convolved = False
    factors.hashing = hashing_at(level, value_size, index_size)
    factors.loops = tensor_sketch_at(level, value_size)
    factors.value_size = value_size
    factors.degree = <int>keys.shape[0]
    factors.n_buckets = <uint32_t>n_buckets
    factors.keys = &keys[0, 0]
    factors.scale = scale
    factors.extra = extra
    factors.first = factors.stop = 0
    for row in range(n_summed.shape[0]):
        if n_summed[row]:
            longest = max(longest, indptr[row + 1] - indptr[row])
            convolved |= n_summed[row] < factors.degree
    factors.width = max(longest + 1, LOADED_TOGETHER) + TUPLE_STEP
    n = factors.degree * factors.width
    factors.loaded_buckets = <uint32_t *>scratch.take_zeros(n * sizeof(uint32_t))
    factors.loaded_values = scratch.take_zeros(n * value_size)
    factors.repeated = scratch.take(2 * n_buckets * value_size) if convolved else NULL
    return 0


cdef inline Py_ssize_t place_of(const factors_t *factors, const int64_t *indptr,
                                Py_ssize_t row) noexcept nogil:
    """Where the entries of a loaded row begin, among those of a factor."""
    return indptr[row] - indptr[factors.first] + (factors.extra != 0) * (row - factors.first)


cdef void load_rows(factors_t *factors, const value_t *values, const index_t *columns,
                    const int64_t *indptr, const int32_t *n_summed, Py_ssize_t first,
                    Py_ssize_t n_rows) noexcept nogil:
    """Buckets and signed values of the entries of row `first` and of some rows that follow it."""
    cdef Py_ssize_t row = first, stop = first + 1, step, place, limit = factors.width - TUPLE_STEP
    cdef value_t extra = <value_t>factors.extra
    cdef const hashing_loops *extra_hashing = hashing_at(level, sizeof(value_t), sizeof(int64_t))
    cdef uint32_t *buckets = factors.loaded_buckets
    cdef value_t *signed_values = <value_t *>factors.loaded_values
    factors.first = first
    while stop < n_rows and n_summed[stop] and place_of(factors, indptr, stop + 1) <= limit:
        stop += 1
    factors.stop = stop
    # Without extra entries between them, those of all rows are hashed as if they were one row's.
    step = 1 if factors.extra != 0 else stop - first
    while row < stop:
        place = place_of(factors, indptr, row)
        factors.hashing.hash_entries(
            factors.keys, factors.degree, values + indptr[row], factors.scale,
            columns + indptr[row], indptr[row + step] - indptr[row], factors.n_buckets,
            factors.width, buckets + place, signed_values + place)
        row += step
        if factors.extra != 0:
            place = place_of(factors, indptr, row) - 1
            extra_hashing.hash_entries(
                factors.keys, factors.degree, &extra, 1.0, &EXTRA_COLUMN, 1, factors.n_buckets,
                factors.width, buckets + place, signed_values + place)


cdef inline void take_row(factors_t *factors, const value_t *values, const index_t *columns,
                          const int64_t *indptr, const int32_t *n_summed, Py_ssize_t row,
                          Py_ssize_t n_rows) noexcept nogil:
    """Make `row`, which is to be summed, the present one. Rows come in ascending order."""
    cdef Py_ssize_t place
    if row >= factors.stop:
        load_rows(factors, values, columns, indptr, n_summed, row, n_rows)
    place = place_of(factors, indptr, row)
    factors.n = indptr[row + 1] - indptr[row] + (factors.extra != 0)
    factors.buckets = factors.loaded_buckets + place
    factors.values = <const value_t *>factors.loaded_values + place


cdef void add_sketch(const factors_t *factors, int n_summed, void *sums) noexcept nogil:
    """The sketch of the loaded row into `sums`, which are zeros."""
    cdef int factor
    cdef char *repeated = <char *>factors.repeated
    cdef size_t size = factors.n_buckets * factors.value_size
    factors.loops.add_tuples(factors.buckets, factors.values, factors.width, factors.n, n_summed,
                             factors.n_buckets, sums)
    for factor in range(n_summed, factors.degree):
        memcpy(repeated, sums, size)
        memcpy(repeated + size, sums, size)
        factors.loops.convolve(
            factors.buckets + factor * factors.width,
            <const char *>factors.values + factor * factors.width * factors.value_size, factors.n,
            repeated, factors.n_buckets, sums)


cdef Py_ssize_t n_tuples(Py_ssize_t n, int degree, Py_ssize_t limit) noexcept nogil:
    """n ** degree, or `limit` if it is more."""
    cdef Py_ssize_t total = 1
    cdef int _factor
    for _factor in range(degree):
        if n == 0 or total > limit // n:
            return 0 if n == 0 else limit
        total *= n
    return min(total, limit)


def count_sketches(const value_t[::1] values, const index_t[::1] indices,
                   const int64_t[::1] indptr, const uint64_t[:, ::1] keys, double scale,
                   double extra, const int64_t[::1] rows, value_t[:, :, ::1] out):
    """Add the count sketches of `rows`, which may stand anywhere, under each key of `keys`:
    out[key, i] is that of rows[i]."""
    cdef Py_ssize_t i, first, n, n_keys = out.shape[0], n_buckets = out.shape[2]
    cdef Py_ssize_t stride = out.shape[1] * n_buckets
    cdef value_t extra_ = <value_t>extra
    cdef const hashing_loops *loops = hashing_at(level, sizeof(value_t), sizeof(index_t))
    cdef const hashing_loops *extra_loops = hashing_at(level, sizeof(value_t), sizeof(int64_t))
    with nogil:
        for i in range(rows.shape[0]):
            first = indptr[rows[i]]
            n = indptr[rows[i] + 1] - first
            if n > 0:
                loops.add_sketches(&keys[0, 0], n_keys, &values[first], scale, &indices[first], n,
                                   n_buckets, &out[0, i, 0], stride)
            if extra != 0:
                extra_loops.add_sketches(&keys[0, 0], n_keys, &extra_, 1.0, &EXTRA_COLUMN, 1,
                                         n_buckets, &out[0, i, 0], stride)


def sketch_dense(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
                 const uint64_t[:, ::1] keys, double scale, double extra,
                 const int32_t[::1] n_summed, value_t[:, ::1] out):
    """Write the sketches of the rows that are summed to their rows of `out`, which are zeros."""
    cdef Py_ssize_t row, n, n_buckets = out.shape[1]
    cdef factors_t factors
    cdef Scratch scratch = borrow_scratch()
    open_factors(&factors, scratch, keys, n_buckets, scale, extra, indptr, n_summed,
                 sizeof(value_t), sizeof(index_t))
    with nogil:
        for row in range(out.shape[0]):
            n = indptr[row + 1] - indptr[row]
            if n_summed[row] and n + (extra != 0) > 0:
                take_row(&factors, &values[0], &indices[0], &indptr[0], &n_summed[0], row,
                         out.shape[0])
                if row + 1 < out.shape[0]:  # which has about as many tuples, if rows are alike
                    fetch_zeros(&out[row + 1, 0], n_buckets,
                                n_tuples(factors.n, n_summed[row], n_buckets))
                begin_zeros(&out[row, 0], n_buckets)
                add_sketch(&factors, n_summed[row], &out[row, 0])
    give_back_scratch(scratch)


def sketch_csr(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
               const uint64_t[:, ::1] keys, double scale, double extra,
               const int32_t[::1] n_summed, value_t[:, ::1] others, value_t[::1] out_values,
               out_index_t[::1] out_columns, out_index_t[::1] out_lengths):
    """Rows one behind the other, each in ascending order of columns and without zeros.

    Rows that are not summed come from `others`, in order; zeros stay behind there. A row has at
    most min(its tuples, n_buckets) values. Returns how many there are.
    """
    cdef Py_ssize_t row, n, n_out = 0, next_other = 0, taken
    cdef Py_ssize_t tuples, most = 0, n_buckets = others.shape[1]
    cdef bint summed = False
    # Up to here a row's tuples are faster to sort than n_buckets sums are to look through.
    cdef Py_ssize_t sortable = n_buckets // 32
    cdef const emit_loops *emit = emit_at(level, sizeof(value_t), sizeof(out_index_t))
    cdef factors_t factors
    cdef Scratch scratch = borrow_scratch()
    cdef void *sums = NULL
    for row in range(out_lengths.shape[0]):
        n = indptr[row + 1] - indptr[row] + (extra != 0)
        tuples = n_tuples(n, <int>keys.shape[0], n_buckets)
        if n_summed[row] == keys.shape[0] and tuples <= sortable:
            most = max(most, tuples)
        elif n_summed[row]:
            summed = True
    open_factors(&factors, scratch, keys, n_buckets, scale, extra, indptr, n_summed,
                 sizeof(value_t), sizeof(index_t))
    cdef void *tuple_values = scratch.take((most + TUPLE_STEP) * sizeof(value_t))
    cdef uint32_t *tuple_buckets = <uint32_t *>scratch.take((most + TUPLE_STEP) * sizeof(uint32_t))
    cdef pair_t *pairs = <pair_t *>scratch.take(2 * most * sizeof(pair_t))
    if summed:
        sums = scratch.take_zeros(n_buckets * sizeof(value_t))
    with nogil:
        for row in range(out_lengths.shape[0]):
            n = indptr[row + 1] - indptr[row]
            tuples = n_tuples(n + (extra != 0), factors.degree, n_buckets)
            taken = 0
            if not n_summed[row]:
                taken = emit.sums(&others[next_other, 0], n_buckets, &out_values[n_out],
                                  &out_columns[n_out])
                next_other += 1
            elif tuples > 0:
                take_row(&factors, &values[0], &indices[0], &indptr[0], &n_summed[0], row,
                         out_lengths.shape[0])
                if n_summed[row] == factors.degree and tuples <= sortable:
                    factors.loops.list_tuples(
                        factors.buckets, factors.values, factors.width, factors.n, factors.degree,
                        factors.n_buckets, tuple_buckets, tuple_values)
                    taken = emit.entries(tuple_buckets, tuple_values, tuples, factors.n_buckets,
                                         pairs, &out_values[n_out], &out_columns[n_out])
                else:
                    add_sketch(&factors, n_summed[row], sums)
                    taken = emit.sums(sums, n_buckets, &out_values[n_out], &out_columns[n_out])
            out_lengths[row] = <out_index_t>taken
            n_out += taken
    give_back_scratch(scratch)
    return n_out
