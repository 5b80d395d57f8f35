# Checks of CSR arrays, the only kernels that do not trust what they are given; dense rows as CSR.
#
# Input: arrays of any content. Output: a verdict; where and why is found by the caller, once, when
# the verdict is bad. Cost: one pass, without branches on the values.
from libc.stdint cimport int32_t, int64_t, uint64_t

from sparsemaps._kernels.emit cimport EMIT_SLACK, compact
from sparsemaps._kernels.levels cimport level
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
