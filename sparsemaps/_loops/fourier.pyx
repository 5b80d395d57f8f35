# Random Fourier features of projections: their cosines and sines.
#
# Input: projections, a row each; for each one the scale in turns; phases in turns.
# Output: pairs (cos, sin), then single cosines with their phases, all times one factor.
# Cost: O(features). Accurate to a few units in the last place of the projection.
# Reference: Rahimi & Recht 2007, algorithm 1.
from libc.string cimport memcpy

from sparsemaps._loops.levels cimport level
from sparsemaps._loops.scratch cimport Scratch, borrow_scratch, give_back_scratch
from sparsemaps._loops.types cimport value_t

cdef extern from "c/maps/fourier.h" nogil:
    ctypedef struct fourier_loops:
        void (*paired)(const void *projections, const void *scales, Py_ssize_t n, double factor,
                       void *out) noexcept nogil
        void (*cosines)(const void *projections, const void *scales, const void *phases,
                        Py_ssize_t n, double factor, void *out) noexcept nogil
    const fourier_loops *fourier_at(int level, size_t value_size)


def features(const value_t[:, ::1] projections, const value_t[::1] scales,
             const value_t[::1] phases, Py_ssize_t n_pairs, value_t factor, value_t[:, ::1] out):
    """The first `n_pairs` projections give a pair each, the others a cosine with their phase; of
    more projections than scales, the surplus is left out. `out` may be `projections`."""
    cdef Py_ssize_t row, n = scales.shape[0], n_single = n - n_pairs
    cdef const fourier_loops *loops = fourier_at(level, sizeof(value_t))
    cdef Scratch scratch = borrow_scratch()
    # A copy of a row's projections, as `out` may overwrite them.
    cdef value_t *copy = <value_t *>scratch.take(n * sizeof(value_t))
    with nogil:
        for row in range(projections.shape[0]):
            memcpy(copy, &projections[row, 0], n * sizeof(value_t))
            if n_pairs:
                loops.paired(copy, &scales[0], n_pairs, factor, &out[row, 0])
            if n_single:
                loops.cosines(copy + n_pairs, &scales[n_pairs], &phases[n_pairs], n_single, factor,
                              &out[row, 2 * n_pairs])
    give_back_scratch(scratch)
