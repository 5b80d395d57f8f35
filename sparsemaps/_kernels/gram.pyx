# Sums over the common columns of two rows, for all pairs of two blocks of rows.
#
# Input: two blocks of CSR rows whose columns are numbered 0, 1, ... alike, the second one's values
# not 0. They are copies, which no other thread can change.
# Output: out[i, j], the sum for row i of the first block and row j of the second.
# Cost: O(entries of the second block) for each LANES rows of the first.
from libc.stdint cimport int32_t, int64_t

from sparsemaps._kernels.levels cimport level

cdef extern from "c/gram.h" nogil:
    enum:
        GRAM_LANES
        GRAM_DOT
        GRAM_MINIMUM
        GRAM_SIGNED_MINIMUM
        GRAM_CHI_SQUARE
        GRAM_ABSOLUTE
        GRAM_CAUCHY
        GRAM_KINDS
    ctypedef void (*gram_sums)(const double *table, const double *values, const int32_t *columns,
                               const int64_t *indptr, Py_ssize_t n_rows,
                               double *out) noexcept nogil
    ctypedef struct gram_loops:
        gram_sums sums[GRAM_KINDS]
    const gram_loops *gram_at(int level)

cdef const gram_loops *loops = gram_at(level)

LANES = GRAM_LANES
DOT, MINIMUM, SIGNED_MINIMUM = GRAM_DOT, GRAM_MINIMUM, GRAM_SIGNED_MINIMUM
CHI_SQUARE, ABSOLUTE, CAUCHY = GRAM_CHI_SQUARE, GRAM_ABSOLUTE, GRAM_CAUCHY

# Rows of the second block whose sums are held before they go to `out`.
cdef enum:
    BATCH_ROWS = 64


cdef void scatter(const double[::1] values, const int32_t[::1] columns, const int64_t[::1] indptr,
                  Py_ssize_t first, Py_ssize_t n, bint clear, double[::1] table) noexcept nogil:
    cdef Py_ssize_t lane, i
    for lane in range(n):
        for i in range(indptr[first + lane], indptr[first + lane + 1]):
            table[GRAM_LANES * <Py_ssize_t>columns[i] + lane] = 0.0 if clear else values[i]


def sum_common(int kind, const double[::1] values, const int32_t[::1] columns,
               const int64_t[::1] indptr, const double[::1] other_values,
               const int32_t[::1] other_columns, const int64_t[::1] other_indptr,
               double[::1] table, double[:, ::1] out):
    """Write the sums of all pairs of rows. `table` is all zeros, LANES a column, and is left so."""
    cdef Py_ssize_t n_rows = out.shape[0], n_others = out.shape[1], first = 0, other, n, n_batch
    cdef Py_ssize_t lane, j
    cdef double sums[BATCH_ROWS * GRAM_LANES]
    cdef const double *other_value = NULL
    cdef const int32_t *other_column = NULL
    cdef gram_sums sum_rows = loops.sums[kind]
    if other_values.shape[0] > 0:
        other_value = &other_values[0]
        other_column = &other_columns[0]
    with nogil:
        while first < n_rows:
            n = min(n_rows - first, <Py_ssize_t>GRAM_LANES)
            scatter(values, columns, indptr, first, n, False, table)
            other = 0
            while other < n_others:
                n_batch = min(n_others - other, <Py_ssize_t>BATCH_ROWS)
                sum_rows(&table[0], other_value, other_column, &other_indptr[other], n_batch, sums)
                for lane in range(n):
                    for j in range(n_batch):
                        out[first + lane, other + j] = sums[GRAM_LANES * j + lane]
                other += n_batch
            scatter(values, columns, indptr, first, n, True, table)
            first += n
