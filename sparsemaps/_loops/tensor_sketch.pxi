# Tensor sketch: each tuple of `degree` entries of a row adds the product of their values and signs
# to the bucket that is the sum of their buckets modulo n_buckets.
#
# This is the circular convolution of the factors' count sketches. It is computed directly: by a sum
# over the tuples of the row's first factors, and then by convolving the result with one factor
# after the other, entry by entry. Alternatively, `count_sketches` computes the factors' sketches,
# for Fourier transforms.
#
# Explicit zeros must be removed first: they would affect the choice between the two methods, and
# with it the last bits.
#
# Input: CSR arrays, in which `indptr` delimits the rows to map; a key of three words per factor; a
# scale for all values, and the value of one extra coordinate (0 for none); for each row, the number
# of factors whose tuples are summed (0 if the row is computed elsewhere).
# Output: sketches of these rows, dense or as CSR. Tuples are added in lexicographic order.
# Cost: O(m ** s + (degree - s) * m * n_buckets) for a row of m entries with s factors summed.
# Reference: Pham & Pagh 2013, section 4 and lemma 5: the sum that their FFT computes.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sparsemaps._loops.arrays cimport (FLOATS, array_of, array_t, csr_block, csr_of, csr_output,
                                       csr_output_t, dense_output, end_row, indices_from,
                                       next_columns, next_values, put_value, values_from)
from sparsemaps._loops.emit cimport emit_at, emit_loops
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level
from sparsemaps._loops.sort cimport pair_t


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
    const tensor_sketch_loops *tensor_sketch_at(int, size_t value_size)

# The column of the coordinate that coef0 adds. No matrix has it.
cdef int64_t EXTRA_COLUMN = -1


cdef enum:
    LOADED_TOGETHER = 256  # least number of entries, which stay in the nearest cache


cdef struct factors_t:
    const csr_block *rows
    const int32_t *n_summed   # per row
    const hashing_loops *hashing
    const hashing_loops *extra_hashing
    const tensor_sketch_loops *loops
    int degree
    uint32_t n_buckets
    const uint64_t *keys      # 3 per factor
    double scale
    bint has_extra
    double extra              # of the values' type
    Py_ssize_t width          # stride between factors
    Py_ssize_t first, stop    # the loaded rows
    uint32_t *loaded_buckets  # (degree, width): of all entries of the loaded rows
    char *loaded_values       # the same, with signs applied
    Py_ssize_t n              # entries of the current row, including the extra one
    const uint32_t *buckets   # of the current row, within the loaded ones
    const char *values
    char *repeated            # (2, n_buckets), if factors are convolved


cdef int open_factors(factors_t *factors, Scratch scratch, const uint64_t[:, ::1] keys,
                      Py_ssize_t n_buckets, double scale, double extra, const csr_block *rows,
                      const int32_t[::1] n_summed) except -1:
    """Take memory for the longest row, or for several short ones."""
    cdef Py_ssize_t row, longest = 0, n
    cdef bint convolved = False
    factors.rows = rows
    factors.n_summed = &n_summed[0] if n_summed.shape[0] > 0 else NULL
    factors.hashing = hashing_at(level, rows.value_size, rows.index_size)
    factors.extra_hashing = hashing_at(level, rows.value_size, sizeof(int64_t))
    factors.loops = tensor_sketch_at(level, rows.value_size)
    factors.degree = <int>keys.shape[0]
    factors.n_buckets = <uint32_t>n_buckets
    factors.keys = &keys[0, 0]
    factors.scale = scale
    factors.has_extra = extra != 0
    put_value(&factors.extra, extra, rows.value_size)
    factors.first = factors.stop = 0
    with nogil:
        for row in range(n_summed.shape[0]):
            if n_summed[row]:
                longest = max(longest, rows.indptr[row + 1] - rows.indptr[row])
                convolved |= n_summed[row] < factors.degree
    factors.width = max(longest + 1, LOADED_TOGETHER) + TUPLE_STEP
    n = factors.degree * factors.width
    factors.loaded_buckets = <uint32_t *>scratch.take_zeros(n * sizeof(uint32_t))
    factors.loaded_values = <char *>scratch.take_zeros(n * rows.value_size)
    factors.repeated = NULL
    if convolved:
        factors.repeated = <char *>scratch.take(2 * n_buckets * rows.value_size)
    return 0


cdef inline Py_ssize_t place_of(const factors_t *factors, Py_ssize_t row) noexcept nogil:
    """Return the position of a loaded row's first entry among the entries of a factor."""
    cdef const int64_t *indptr = factors.rows.indptr
    return indptr[row] - indptr[factors.first] + factors.has_extra * (row - factors.first)


cdef void load_rows(factors_t *factors, Py_ssize_t first) noexcept nogil:
    """Compute buckets and signed values for the entries of row `first` and of some following
    rows."""
    cdef Py_ssize_t row = first, stop = first + 1, step, place, limit = factors.width - TUPLE_STEP
    cdef const csr_block *rows = factors.rows
    cdef const int64_t *indptr = rows.indptr
    cdef size_t size = rows.value_size
    cdef uint32_t *buckets = factors.loaded_buckets
    factors.first = first
    while (stop < rows.n_rows and factors.n_summed[stop]
           and place_of(factors, stop + 1) <= limit):
        stop += 1
    factors.stop = stop
    # Without extra entries in between, all rows are hashed at once, like a single row.
    step = 1 if factors.has_extra else stop - first
    while row < stop:
        place = place_of(factors, row)
        factors.hashing.hash_entries(
            factors.keys, factors.degree, values_from(rows, indptr[row]), factors.scale,
            indices_from(rows, indptr[row]), indptr[row + step] - indptr[row], factors.n_buckets,
            factors.width, buckets + place, factors.loaded_values + place * size)
        row += step
        if factors.has_extra:
            place = place_of(factors, row) - 1
            factors.extra_hashing.hash_entries(
                factors.keys, factors.degree, &factors.extra, 1.0, &EXTRA_COLUMN, 1,
                factors.n_buckets, factors.width, buckets + place,
                factors.loaded_values + place * size)


cdef inline void take_row(factors_t *factors, Py_ssize_t row) noexcept nogil:
    """Make `row`, which must be one to be summed, the current row. Rows come in ascending order."""
    cdef Py_ssize_t place
    cdef const csr_block *rows = factors.rows
    if row >= factors.stop:
        load_rows(factors, row)
    place = place_of(factors, row)
    factors.n = rows.indptr[row + 1] - rows.indptr[row] + factors.has_extra
    factors.buckets = factors.loaded_buckets + place
    factors.values = factors.loaded_values + place * rows.value_size


cdef void add_sketch(const factors_t *factors, int n_summed, void *sums) noexcept nogil:
    """Write the sketch of the current row to `sums`, which must be zero."""
    cdef int factor
    cdef char *repeated = factors.repeated
    cdef size_t value_size = factors.rows.value_size, size = factors.n_buckets * value_size
    factors.loops.add_tuples(factors.buckets, factors.values, factors.width, factors.n, n_summed,
                             factors.n_buckets, sums)
    for factor in range(n_summed, factors.degree):
        memcpy(repeated, sums, size)
        memcpy(repeated + size, sums, size)
        factors.loops.convolve(
            factors.buckets + factor * factors.width,
            factors.values + factor * factors.width * value_size, factors.n, repeated,
            factors.n_buckets, sums)


cdef Py_ssize_t n_tuples(Py_ssize_t n, int degree, Py_ssize_t limit) noexcept nogil:
    """Return min(n ** degree, limit)."""
    cdef Py_ssize_t total = 1
    cdef int _factor
    for _factor in range(degree):
        if n == 0 or total > limit // n:
            return 0 if n == 0 else limit
        total *= n
    return min(total, limit)


def count_sketches(values, indices, indptr, const uint64_t[:, ::1] keys, double scale,
                   double extra, const int64_t[::1] numbers, out):
    """Add the count sketches of some rows under each key of `keys`: out[key, i] is the sketch of
    row numbers[i]."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t sums = array_of(out, FLOATS, rows.value_size, 3, True)
    cdef Py_ssize_t i, first, n, n_keys = sums.shape[0], n_buckets = sums.shape[2]
    cdef Py_ssize_t stride = sums.shape[1] * n_buckets
    cdef double extra_value
    cdef char *to
    cdef const hashing_loops *loops = hashing_at(level, rows.value_size, rows.index_size)
    cdef const hashing_loops *extra_loops = hashing_at(level, rows.value_size, sizeof(int64_t))
    put_value(&extra_value, extra, rows.value_size)
    with nogil:
        for i in range(numbers.shape[0]):
            first = rows.indptr[numbers[i]]
            n = rows.indptr[numbers[i] + 1] - first
            to = sums.data + i * n_buckets * sums.size
            if n > 0:
                loops.add_sketches(&keys[0, 0], n_keys, values_from(&rows, first), scale,
                                   indices_from(&rows, first), n, n_buckets, to, stride)
            if extra != 0:
                extra_loops.add_sketches(&keys[0, 0], n_keys, &extra_value, 1.0, &EXTRA_COLUMN, 1,
                                         n_buckets, to, stride)


def sketch_dense(values, indices, indptr, const uint64_t[:, ::1] keys, double scale, double extra,
                 const int32_t[::1] n_summed, out):
    """Write the sketches of the rows that are summed to their rows of `out`, which must be zero."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t sums = dense_output(out, &rows)
    cdef Py_ssize_t row, n, n_buckets = sums.shape[1], n_bytes = n_buckets * sums.size
    cdef factors_t factors
    cdef Scratch scratch = borrow_scratch()
    open_factors(&factors, scratch, keys, n_buckets, scale, extra, &rows, n_summed)
    with nogil:
        for row in range(rows.n_rows):
            n = rows.indptr[row + 1] - rows.indptr[row]
            if n_summed[row] and n + (extra != 0) > 0:
                take_row(&factors, row)
                if row + 1 < rows.n_rows:  # similar rows have about as many
                    fetch_zeros(sums.data + (row + 1) * n_bytes, n_bytes,
                                n_tuples(factors.n, n_summed[row], n_buckets))
                begin_zeros(sums.data + row * n_bytes, n_bytes)
                add_sketch(&factors, n_summed[row], sums.data + row * n_bytes)
    give_back_scratch(scratch)


def sketch_csr(values, indices, indptr, const uint64_t[:, ::1] keys, double scale, double extra,
               const int32_t[::1] n_summed, others, out_values, out_columns, out_lengths):
    """Write rows consecutively, each with ascending columns and without zeros.

    Rows that are not summed are taken from `others`, in order, and reset to zero there. A row has
    at most min(its tuples, n_buckets) values. Return the total number of values.
    """
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t other = array_of(others, FLOATS, rows.value_size, 2, True)
    cdef csr_output_t out = csr_output(out_values, out_columns, out_lengths, &rows)
    cdef Py_ssize_t row, n, next_other = 0, taken
    cdef Py_ssize_t tuples, most = 0, n_buckets = other.shape[1]
    cdef bint summed = False
    # Up to this number, tuples are faster to sort than n_buckets sums are to scan.
    cdef Py_ssize_t sortable = n_buckets // 32
    cdef const emit_loops *emit = emit_at(level, rows.value_size, out.columns.size)
    cdef factors_t factors
    cdef Scratch scratch = borrow_scratch()
    cdef void *sums = NULL
    with nogil:
        for row in range(rows.n_rows):
            n = rows.indptr[row + 1] - rows.indptr[row] + (extra != 0)
            tuples = n_tuples(n, <int>keys.shape[0], n_buckets)
            if n_summed[row] == keys.shape[0] and tuples <= sortable:
                most = max(most, tuples)
            elif n_summed[row]:
                summed = True
    open_factors(&factors, scratch, keys, n_buckets, scale, extra, &rows, n_summed)
    cdef void *tuple_values = scratch.take((most + TUPLE_STEP) * rows.value_size)
    cdef uint32_t *tuple_buckets = <uint32_t *>scratch.take((most + TUPLE_STEP) * sizeof(uint32_t))
    cdef pair_t *pairs = <pair_t *>scratch.take(2 * most * sizeof(pair_t))
    if summed:
        sums = scratch.take_zeros(n_buckets * rows.value_size)
    with nogil:
        for row in range(rows.n_rows):
            n = rows.indptr[row + 1] - rows.indptr[row]
            tuples = n_tuples(n + (extra != 0), factors.degree, n_buckets)
            taken = 0
            if not n_summed[row]:
                taken = emit.sums(other.data + next_other * n_buckets * other.size, n_buckets, 0,
                                  next_values(&out), next_columns(&out))
                next_other += 1
            elif tuples > 0:
                take_row(&factors, row)
                if n_summed[row] == factors.degree and tuples <= sortable:
                    factors.loops.list_tuples(
                        factors.buckets, factors.values, factors.width, factors.n, factors.degree,
                        factors.n_buckets, tuple_buckets, tuple_values)
                    taken = emit.entries(tuple_buckets, tuple_values, tuples, factors.n_buckets,
                                         pairs, next_values(&out), next_columns(&out))
                else:
                    add_sketch(&factors, n_summed[row], sums)
                    taken = emit.sums(sums, n_buckets, 0, next_values(&out), next_columns(&out))
            out.n += taken
            end_row(&out, row, out.n - taken)
    give_back_scratch(scratch)
    return out.n
