# Checks of CSR arrays, the only kernels that do not trust what they are given; dense rows as CSR.
#
# Input: arrays of any content. Output: a verdict; where and why is found by the caller, once, when
# the verdict is bad. Cost: one pass, without branches on the values.
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc

from sparsemaps._kernels.emit cimport EMIT_SLACK, compact
from sparsemaps._kernels.levels cimport level
from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "c/rows.h" nogil:
    ctypedef struct rows_loops:
        bint (*any_infinite_f32)(const float *values, Py_ssize_t n) noexcept nogil
        bint (*any_infinite_f64)(const double *values, Py_ssize_t n) noexcept nogil
        bint (*any_negative_f32)(const float *values, Py_ssize_t n) noexcept nogil
        bint (*any_negative_f64)(const double *values, Py_ssize_t n) noexcept nogil
        uint64_t (*largest_i32)(const int32_t *indices, Py_ssize_t n) noexcept nogil
        uint64_t (*largest_i64)(const int64_t *indices, Py_ssize_t n) noexcept nogil
        Py_ssize_t (*descents_i32)(const int32_t *indices, Py_ssize_t n) noexcept nogil
        Py_ssize_t (*descents_i64)(const int64_t *indices, Py_ssize_t n) noexcept nogil
    const rows_loops *rows_at(int level)

cdef const rows_loops *loops = rows_at(level)

SLACK = EMIT_SLACK

cpdef enum:
    OUT_OF_RANGE = 1
    NOT_CANONICAL = 2
    NOT_FINITE = 4
    NEGATIVE = 8


def check_indptr(const index_t[::1] indptr, int64_t n_stored):
    """Index of the first entry of `indptr` that is not sound, or -1.

    Sound: starts at 0, never falls, never exceeds `n_stored`.
    """
    cdef Py_ssize_t i, wrong = -1
    cdef int64_t before = 0
    with nogil:
        for i in range(indptr.shape[0]):
            if indptr[i] < before or indptr[i] > n_stored or (i == 0 and indptr[i] != 0):
                wrong = i
                break
            before = indptr[i]
    return wrong


cdef inline bint any_infinite(const value_t *values, Py_ssize_t n) noexcept nogil:
    if value_t is float:
        return loops.any_infinite_f32(values, n)
    else:
        return loops.any_infinite_f64(values, n)


cdef inline bint any_negative(const value_t *values, Py_ssize_t n) noexcept nogil:
    if value_t is float:
        return loops.any_negative_f32(values, n)
    else:
        return loops.any_negative_f64(values, n)


cdef inline uint64_t largest(const index_t *indices, Py_ssize_t n) noexcept nogil:
    if index_t is int32_t:
        return loops.largest_i32(indices, n)
    else:
        return loops.largest_i64(indices, n)


cdef inline Py_ssize_t descents(const index_t *indices, Py_ssize_t n) noexcept nogil:
    if index_t is int32_t:
        return loops.descents_i32(indices, n)
    else:
        return loops.descents_i64(indices, n)


def check_rows(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
               uint64_t n_columns):
    """What is found in the rows that `indptr` delimits, as a sum of the flags above."""
    cdef Py_ssize_t first = indptr[0], last = indptr[indptr.shape[0] - 1], row, allowed = 0
    cdef Py_ssize_t n = last - first
    cdef int found = 0
    if n == 0:
        return 0
    with nogil:
        if largest(&indices[first], n) >= n_columns:
            found |= OUT_OF_RANGE
        # Between the last entry of one row and the first of the next, columns may descend.
        for row in range(1, indptr.shape[0] - 1):
            if first < indptr[row] < last and indptr[row] != indptr[row - 1]:
                allowed += indices[indptr[row]] <= indices[indptr[row] - 1]
        if descents(&indices[first], n) != allowed:
            found |= NOT_CANONICAL
        if any_infinite(&values[first], n):
            found |= NOT_FINITE
        if any_negative(&values[first], n):
            found |= NEGATIVE
    return found


def canonical(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
              value_t[::1] out_values, index_t[::1] out_indices, int64_t[::1] out_indptr):
    """The rows that `indptr` delimits, with ascending columns, one entry for each.

    Entries of the same column are summed in the order in which they are stored. Rows that ascend or
    descend, as products of sparse matrices do, are not sorted. The arrays must be private; `out`
    has as much room. Returns how many entries are left.
    """
    cdef Py_ssize_t row, i, first, n, up, down, longest = 0, n_out = 0, start, position
    cdef int bits = 0
    cdef pair_t *pairs
    cdef pair_t *sorted_
    cdef index_t column
    for row in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    pairs = <pair_t *>malloc(2 * max(longest, 1) * sizeof(pair_t))
    if pairs == NULL:
        raise MemoryError
    with nogil:
        n = indptr[indptr.shape[0] - 1] - indptr[0]
        if n > 0:
            bits = bit_length(largest(&indices[indptr[0]], n))
        out_indptr[0] = 0
        for row in range(indptr.shape[0] - 1):
            first, n = indptr[row], indptr[row + 1] - indptr[row]
            up, down, start = 0, 0, n_out
            for i in range(first + 1, first + n):
                up += indices[i - 1] < indices[i]
                down += indices[i - 1] > indices[i]
            if up == n - 1 or down == n - 1:
                for i in range(n):
                    position = first + i if up == n - 1 else first + n - 1 - i
                    out_indices[start + i] = indices[position]
                    out_values[start + i] = values[position]
                n_out += n
            else:
                for i in range(n):
                    pairs[i].key = <uint64_t>indices[first + i]
                    pairs[i].payload = first + i
                sorted_ = sort_pairs(pairs, pairs + n, n, bits)
                for i in range(n):
                    column = <index_t>sorted_[i].key
                    if n_out > start and out_indices[n_out - 1] == column:
                        out_values[n_out - 1] += values[sorted_[i].payload]
                    else:
                        out_indices[n_out] = column
                        out_values[n_out] = values[sorted_[i].payload]
                        n_out += 1
            out_indptr[row + 1] = n_out
    free(pairs)
    return n_out


def compress(const value_t[:, ::1] rows, value_t[::1] values, int32_t[::1] columns,
             int64_t[::1] indptr):
    """Dense rows as CSR: what is not zero. `values` and `columns` have SLACK more places than
    there are numbers in `rows`, and are as long as `indptr` says in the end."""
    cdef Py_ssize_t row, n = 0
    with nogil:
        indptr[0] = 0
        for row in range(rows.shape[0]):
            if rows.shape[1] > 0:
                n += compact(&rows[row, 0], rows.shape[1], &values[n], &columns[n])
            indptr[row + 1] = n
