# Fastfood: products with a random matrix that is made of diagonals, a permutation and two
# Walsh-Hadamard transforms.
#
# Input: dense rows whose width is a power of two; the parameters of the blocks.
# Output: each block's products, before their scales.
# Cost: O(d log d) a block and row.
# Reference: Le, Sarlos & Smola, "Fastfood - approximating kernel expansions in loglinear time",
# ICML 2013.
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t

from sparsemaps._loops.levels cimport level
from sparsemaps._loops.scratch cimport Scratch, borrow_scratch, give_back_scratch
from sparsemaps._loops.types cimport index_t, value_t

cdef extern from "c/random/random.h" nogil:
    uint64_t column_start(uint64_t key, uint64_t column)
    uint64_t word(uint64_t start, uint64_t counter)

cdef extern from "c/maps/fastfood.h" nogil:
    ctypedef struct fastfood_loops:
        void (*wht)(void *values, Py_ssize_t n) noexcept nogil
        void (*block)(const void *x, Py_ssize_t n, const int8_t *signs, const int32_t *permutation,
                      const float *normals, void *scratch, void *out) noexcept nogil
        void (*orthogonal)(const void *x, Py_ssize_t n, const int8_t *signs,
                           void *out) noexcept nogil
    const fastfood_loops *fastfood_at(int level, size_t value_size)


def walsh_hadamard(value_t[:, ::1] rows):
    """Transform each row in place; their width is a power of two."""
    cdef Py_ssize_t row
    cdef const fastfood_loops *loops = fastfood_at(level, sizeof(value_t))
    with nogil:
        for row in range(rows.shape[0]):
            loops.wht(&rows[row, 0], rows.shape[1])


def spread(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
           value_t[:, ::1] out):
    """The rows that `indptr` delimits into rows of zeros.

    Columns that another thread has put out of range since they were checked are left out."""
    cdef Py_ssize_t row, i
    cdef uint64_t column, n_columns = out.shape[1]
    with nogil:
        for row in range(out.shape[0]):
            for i in range(indptr[row], indptr[row + 1]):
                column = <uint64_t>indices[i]
                if column < n_columns:
                    out[row, <Py_ssize_t>column] = values[i]


def permute(uint64_t key, uint64_t column, int32_t[::1] out):
    """A random permutation of 0, 1, ... (Fisher & Yates)."""
    cdef uint64_t start = column_start(key, column)
    cdef Py_ssize_t i, other
    for i in range(out.shape[0]):
        out[i] = <int32_t>i
    for i in range(out.shape[0] - 1, 0, -1):
        # Multiply-high of 32 bits: uneven by less than n / 2^32.
        other = ((word(start, i) >> 32) * <uint64_t>(i + 1)) >> 32
        out[i], out[other] = out[other], out[i]


def multiply(const value_t[:, ::1] rows, const int8_t[:, ::1] signs,
             const int32_t[:, ::1] permutations, const float[:, ::1] normals,
             value_t[:, ::1] out):
    """The products of each row with all blocks, side by side."""
    cdef Py_ssize_t row, block, n = rows.shape[1]
    cdef const fastfood_loops *loops = fastfood_at(level, sizeof(value_t))
    cdef Scratch scratch = borrow_scratch()
    cdef void *transformed = scratch.take(n * sizeof(value_t))
    with nogil:
        for row in range(rows.shape[0]):
            for block in range(signs.shape[0]):
                loops.block(&rows[row, 0], n, &signs[block, 0], &permutations[block, 0],
                            &normals[block, 0], transformed, &out[row, block * n])
    give_back_scratch(scratch)


def multiply_orthogonal(const value_t[:, ::1] rows, const int8_t[:, :, ::1] signs,
                        value_t[:, ::1] out):
    """The products of each row with all orthogonal blocks, side by side, each of which has three
    rows of signs; without a factor."""
    cdef Py_ssize_t row, block, n = rows.shape[1]
    cdef const fastfood_loops *loops = fastfood_at(level, sizeof(value_t))
    with nogil:
        for row in range(rows.shape[0]):
            for block in range(signs.shape[0]):
                loops.orthogonal(&rows[row, 0], n, &signs[block, 0, 0], &out[row, block * n])
