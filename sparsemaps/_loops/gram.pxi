# Sums over the columns that two rows share, for all pairs of rows of two blocks. `number_columns`
# prepares the second block for `sum_common`. `make_distances` turns the sums into distances.
#
# Input: two blocks of CSR rows with the same column numbers 0, 1, ...; the values of the second
# block must not be 0. Both are copies that no other thread can change.
# Output: out[i, j], the sum for row i of the first block and row j of the second.
# Cost: O(entries of the second block) per LANES rows of the first.
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

from sparsemaps._loops.arrays cimport csr_block, csr_of, index_at
from sparsemaps._loops.levels cimport level


cdef extern from "c/rows/gram.h" nogil:
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
    const gram_loops *gram_at(int)

cdef const gram_loops *sum_loops = gram_at(level)

LANES = GRAM_LANES
DOT, MINIMUM, SIGNED_MINIMUM = GRAM_DOT, GRAM_MINIMUM, GRAM_SIGNED_MINIMUM
CHI_SQUARE, ABSOLUTE, CAUCHY = GRAM_CHI_SQUARE, GRAM_ABSOLUTE, GRAM_CAUCHY

# Rows of the second block whose sums are buffered before they are written to `out`.
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
    """Write the sums of all pairs of rows. `table`, with LANES values per column, must be zero, and
    is zero again on return."""
    cdef Py_ssize_t n_rows = out.shape[0], n_others = out.shape[1], first = 0, other, n, n_batch
    cdef Py_ssize_t lane, j
    cdef double sums[BATCH_ROWS * GRAM_LANES]
    cdef const double *other_value = NULL
    cdef const int32_t *other_column = NULL
    cdef gram_sums sum_rows = sum_loops.sums[kind]
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


def number_columns(values, indices, indptr, const int32_t[::1] numbers, double[::1] out_values,
                   int32_t[::1] out_numbers, int64_t[::1] out_indptr):
    """Copy the non-zero entries whose column has a number. `numbers` maps each column to its
    number, or -1."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef const double *numbers_of = doubles_of(&rows)
    cdef Py_ssize_t n = 0, row, i, number
    cdef int64_t column
    cdef double value
    with nogil:
        for row in range(rows.n_rows):
            out_indptr[row] = n
            for i in range(rows.indptr[row], rows.indptr[row + 1]):
                column = index_at(&rows, i)
                number = -1
                if 0 <= column < numbers.shape[0]:
                    number = numbers[column]
                value = numbers_of[i]  # read once, since another thread may change it
                out_values[n] = value
                out_numbers[n] = <int32_t>number
                n += number >= 0 and value != 0
        out_indptr[rows.n_rows] = n


cdef inline const double *doubles_of(const csr_block *rows) except? NULL:
    if rows.value_size != sizeof(double):
        raise ValueError("values must be float64")
    return <const double *>rows.values


# If a sum of n terms is not above this times n times the sum of their absolute values, cancellation
# has lost so many digits that the sum is recomputed.
cdef double CANCELLED = 2.0 ** -31


cdef inline double distance(bint squared, const csr_block *rows, int64_t i, int64_t end,
                            const csr_block *others, int64_t j, int64_t other_end) noexcept nogil:
    """Sum the squares, or the absolute values, of the differences in all columns.

    Columns must ascend. If another thread changes them, the result is a different number.
    """
    cdef const double *values = <const double *>rows.values
    cdef const double *other_values = <const double *>others.values
    cdef int64_t column = 0, other = 0
    cdef double difference, total = 0.0
    while i < end or j < other_end:
        if i < end:
            column = index_at(rows, i)
        if j < other_end:
            other = index_at(others, j)
        if j >= other_end or (i < end and column < other):
            difference = values[i]
            i += 1
        elif i >= end or other < column:
            difference = other_values[j]
            j += 1
        else:
            difference = values[i] - other_values[j]
            i += 1
            j += 1
        total += difference * difference if squared else fabs(difference)
    return total


def make_distances(bint squared, double[:, ::1] sums, const double[::1] u, const double[::1] v,
                   values, columns, indptr, other_values, other_columns, other_indptr):
    """Replace the sums of all pairs of rows, of DOT (if `squared`) or of ABSOLUTE, by distances.

    `u` and `v` are the sums of squares, or of absolute values, of each row. A distance is u + v +
    (the sum over shared columns, times -2 for DOT). Its rounding error is at most n 2^-52 (u + v),
    where n is the number of entries of both rows plus 4. If it is not above n 2^-31 (u + v), it is
    recomputed from the differences, without cancellation. The relative error of every distance is
    therefore below 2^-20.
    """
    cdef csr_block rows = csr_of(values, columns, indptr)
    cdef csr_block others = csr_of(other_values, other_columns, other_indptr)
    cdef Py_ssize_t i, j
    cdef int64_t n, start, other_start
    cdef double value, factor = -2.0 if squared else 1.0
    doubles_of(&rows)
    doubles_of(&others)
    if sums.shape[0] > rows.n_rows or sums.shape[1] > others.n_rows:
        raise ValueError("there are more sums than pairs of rows")
    with nogil:
        for i in range(sums.shape[0]):
            start = rows.indptr[i]
            for j in range(sums.shape[1]):
                other_start = others.indptr[j]
                n = rows.indptr[i + 1] - start + others.indptr[j + 1] - other_start + 4
                value = u[i] + v[j] + factor * sums[i, j]
                if value <= (u[i] + v[j]) * (n * CANCELLED):
                    value = distance(squared, &rows, start, rows.indptr[i + 1],
                                     &others, other_start, others.indptr[j + 1])
                sums[i, j] = value
