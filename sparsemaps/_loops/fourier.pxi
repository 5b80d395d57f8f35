# Random Fourier features of projections: cosines and sines.
#
# Input: one row of projections per row; the scale of each projection, in turns; phases, in turns.
# Output: pairs (cos, sin), then single cosines with a phase, all multiplied by one factor.
# Cost: O(features). Accurate to a few units in the last place of the projection.
# Reference: Rahimi & Recht 2007, algorithm 1.
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from sparsemaps._loops.arrays cimport ANY_SIZE, FLOATS, array_of, array_t
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/random/functions.h" nogil:
    const double FAR_EIGHTH_F64
    ctypedef struct functions_loops:
        void (*paired)(const void *projections, const void *scales, Py_ssize_t n, double factor,
                       void *out) noexcept nogil
        void (*cosines)(const void *projections, const void *scales, const void *phases,
                        Py_ssize_t n, double factor, void *out) noexcept nogil
        bint (*is_far)(const void *projections, const void *scales, Py_ssize_t n) noexcept nogil
    const functions_loops *functions_at(int, size_t value_size)


FAR_TURNS = FAR_EIGHTH_F64

cdef enum:
    FIRST_ANGLES = 64  # decide whether a row is far, so that more components extend the first ones


def features(projections, scales, phases, Py_ssize_t n_pairs, double factor, out):
    """Write a pair for each of the first `n_pairs` projections, and a cosine with a phase for each
    of the others. Projections beyond the number of scales are ignored. `out` may be `projections`.

    Return the numbers of far rows, whose angles are too large for the type. The first 64 angles
    decide: more than an eighth have 2^44 turns or more, or in float32 64 turns, or more than half
    have 4 turns.
    """
    cdef array_t x = array_of(projections, FLOATS, ANY_SIZE, 2, False)
    cdef array_t scale = array_of(scales, FLOATS, x.size, 1, False)
    cdef array_t phase = array_of(phases, FLOATS, x.size, 1, False)
    cdef array_t y = array_of(out, FLOATS, x.size, 2, True)
    cdef Py_ssize_t row, n = scale.shape[0], n_single = n - n_pairs, size = x.size
    cdef const functions_loops *loops = functions_at(level, size)
    cdef char *to
    cdef Py_ssize_t n_first = min(n, <Py_ssize_t>FIRST_ANGLES)
    cdef bint any_far = False
    cdef Scratch scratch = borrow_scratch()
    cdef uint8_t *far = <uint8_t *>scratch.take(x.shape[0])
    # Copy a row's projections, since `out` may overwrite them.
    cdef char *copy = <char *>scratch.take(n * size)
    with nogil:
        for row in range(x.shape[0]):
            memcpy(copy, x.data + row * x.shape[1] * size, n * size)
            to = y.data + row * y.shape[1] * size
            if n_pairs:
                loops.paired(copy, scale.data, n_pairs, factor, to)
            if n_single:
                loops.cosines(copy + n_pairs * size, scale.data + n_pairs * size,
                              phase.data + n_pairs * size, n_single, factor,
                              to + 2 * n_pairs * size)
            far[row] = loops.is_far(copy, scale.data, n_first)
            any_far |= far[row]
    found = [row for row in range(x.shape[0]) if far[row]] if any_far else []
    give_back_scratch(scratch)
    return found
