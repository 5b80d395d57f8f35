# Sums over the common columns of two rows, for all pairs of two blocks of rows.
#
# Input: two blocks of CSR rows whose columns are numbered 0, 1, ... alike; a buffer of 0s, LANES
# for each column, which is left as it was.
# Output: out[i, j], the sum for row i of the first block and row j of the second.
# Cost: O(entries of the second block) for each LANES rows of the first.
from libc.stdint cimport int32_t, int64_t

cdef extern from "gram.h" nogil:
    enum:
        LANES_ "LANES"
        DOT_ "DOT"
        MINIMUM_ "MINIMUM"
        SIGNED_MINIMUM_ "SIGNED_MINIMUM"
        CHI_SQUARE_ "CHI_SQUARE"
        ABSOLUTE_ "ABSOLUTE"
        CAUCHY_ "CAUCHY"
    void sum_rows(int kind, const double *table, const double *values, const int32_t *columns,
                  const int64_t *indptr, Py_ssize_t n_rows, double gamma, double *out)

LANES, DOT, MINIMUM, SIGNED_MINIMUM = LANES_, DOT_, MINIMUM_, SIGNED_MINIMUM_
CHI_SQUARE, ABSOLUTE, CAUCHY = CHI_SQUARE_, ABSOLUTE_, CAUCHY_

# Rows of the second block whose sums are held before they go to `out`.
cdef enum:
    RUN = 64


cdef void scatter(const double[::1] values, const int32_t[::1] columns, const int64_t[::1] indptr,
                  Py_ssize_t first, Py_ssize_t n, bint clear, double[::1] table) noexcept nogil:
    cdef Py_ssize_t lane, i
    for lane in range(n):
        for i in range(indptr[first + lane], indptr[first + lane + 1]):
            table[LANES_ * <Py_ssize_t>columns[i] + lane] = 0.0 if clear else values[i]


def sum_common(int kind, double gamma, const double[::1] values, const int32_t[::1] columns,
               const int64_t[::1] indptr, const double[::1] other_values,
               const int32_t[::1] other_columns, const int64_t[::1] other_indptr,
               double[::1] table, double[:, :] out):
    """Write the sums of all pairs of rows."""
    cdef Py_ssize_t n_rows = out.shape[0], n_others = out.shape[1], first = 0, other, n, run
    cdef Py_ssize_t lane, j
    cdef double sums[RUN * LANES_]
    cdef const double *other_value = NULL
    cdef const int32_t *other_column = NULL
    if other_values.shape[0] > 0:
        other_value = &other_values[0]
        other_column = &other_columns[0]
    with nogil:
        while first < n_rows:
            n = min(n_rows - first, <Py_ssize_t>LANES_)
            scatter(values, columns, indptr, first, n, False, table)
            other = 0
            while other < n_others:
                run = min(n_others - other, <Py_ssize_t>RUN)
                sum_rows(kind, &table[0], other_value, other_column, &other_indptr[other], run,
                         gamma, sums)
                for lane in range(n):
                    for j in range(run):
                        out[first + lane, other + j] = sums[LANES_ * j + lane]
                other += run
            scatter(values, columns, indptr, first, n, True, table)
            first += n
