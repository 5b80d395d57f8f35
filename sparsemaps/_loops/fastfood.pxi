# Fastfood: products with a random matrix composed of diagonals, a permutation and two
# Walsh-Hadamard transforms.
#
# Input: dense rows whose width is a power of two; the parameters of the blocks.
# Output: products with each block, before scaling.
# Cost: O(d log d) per block and row.
# Reference: Le, Sarlos & Smola, "Fastfood - approximating kernel expansions in loglinear time",
# ICML 2013.
from libc.stdint cimport int8_t, int32_t, uint64_t

from sparsemaps._loops.arrays cimport (ANY_SIZE, FLOATS, array_of, array_t, csr_block, csr_of,
                                       dense_output, spread_row)
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/maps/fastfood.h" nogil:
    ctypedef struct fastfood_loops:
        void (*wht)(void *values, Py_ssize_t n) noexcept nogil
        void (*block)(const void *x, Py_ssize_t n, const int8_t *signs, const int32_t *permutation,
                      const float *normals, void *scratch, void *out) noexcept nogil
        void (*orthogonal)(const void *x, Py_ssize_t n, const int8_t *signs,
                           void *out) noexcept nogil
    const fastfood_loops *fastfood_at(int, size_t value_size)


def walsh_hadamard(rows):
    """Transform each row in place. The width must be a power of two."""
    cdef array_t x = array_of(rows, FLOATS, ANY_SIZE, 2, True)
    cdef Py_ssize_t row, n = x.shape[1]
    cdef const fastfood_loops *loops = fastfood_at(level, x.size)
    with nogil:
        for row in range(x.shape[0]):
            loops.wht(x.data + row * n * x.size, n)


def spread(values, indices, indptr, out):
    """Scatter the rows that `indptr` delimits into rows of zeros.

    Columns that another thread has put out of range since the check are skipped.
    """
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t dense = dense_output(out, &rows)
    cdef Py_ssize_t row, width = dense.shape[1]
    with nogil:
        for row in range(rows.n_rows):
            spread_row(&rows, row, width, dense.data + row * width * dense.size)


def permute(uint64_t key, uint64_t column, int32_t[::1] out):
    """Write a random permutation of 0, 1, ... (Fisher & Yates)."""
    cdef uint64_t start = column_start(key, column)
    cdef Py_ssize_t i, other
    with nogil:
        for i in range(out.shape[0]):
            out[i] = <int32_t>i
        for i in range(out.shape[0] - 1, 0, -1):
            # Multiply-high of 32 bits: biased by less than n / 2^32.
            other = ((word(start, i) >> 32) * <uint64_t>(i + 1)) >> 32
            out[i], out[other] = out[other], out[i]


def multiply(rows, const int8_t[:, ::1] signs, const int32_t[:, ::1] permutations,
             const float[:, ::1] normals, out):
    """Write the products of each row with all blocks, side by side."""
    cdef array_t x = array_of(rows, FLOATS, ANY_SIZE, 2, False)
    cdef array_t y = array_of(out, FLOATS, x.size, 2, True)
    cdef Py_ssize_t row, block, n = x.shape[1]
    cdef const fastfood_loops *loops = fastfood_at(level, x.size)
    cdef Scratch scratch = borrow_scratch()
    cdef void *transformed = scratch.take(n * x.size)
    with nogil:
        for row in range(x.shape[0]):
            for block in range(signs.shape[0]):
                loops.block(x.data + row * n * x.size, n, &signs[block, 0],
                            &permutations[block, 0], &normals[block, 0], transformed,
                            y.data + (row * y.shape[1] + block * n) * y.size)
    give_back_scratch(scratch)


def multiply_orthogonal(rows, const int8_t[:, :, ::1] signs, out):
    """Write the unscaled products of each row with all orthogonal blocks, side by side. A block has
    three rows of signs."""
    cdef array_t x = array_of(rows, FLOATS, ANY_SIZE, 2, False)
    cdef array_t y = array_of(out, FLOATS, x.size, 2, True)
    cdef Py_ssize_t row, block, n = x.shape[1]
    cdef const fastfood_loops *loops = fastfood_at(level, x.size)
    with nogil:
        for row in range(x.shape[0]):
            for block in range(signs.shape[0]):
                loops.orthogonal(x.data + row * n * x.size, n, &signs[block, 0, 0],
                                 y.data + (row * y.shape[1] + block * n) * y.size)
