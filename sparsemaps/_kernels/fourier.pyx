# Random Fourier features of projections: their cosines and sines.
#
# Input: projections, a row each; for each one the scale in turns; phases in turns.
# Output: pairs (cos, sin), then single cosines with their phases, all times one factor.
# Cost: O(features). Accurate to a few units in the last place of the projection.
# Reference: Rahimi & Recht 2007, algorithm 1.
from sparsemaps._kernels.types cimport value_t

cdef extern from "fourier.h" nogil:
    void paired_f32(const float *projections, const float *scales, Py_ssize_t n, float factor,
                    float *out)
    void paired_f64(const double *projections, const double *scales, Py_ssize_t n, double factor,
                    double *out)
    void cosines_f32(const float *projections, const float *scales, const float *phases,
                     Py_ssize_t n, float factor, float *out)
    void cosines_f64(const double *projections, const double *scales, const double *phases,
                     Py_ssize_t n, double factor, double *out)


def features(const value_t[:, ::1] projections, const value_t[::1] scales,
             const value_t[::1] phases, Py_ssize_t n_pairs, value_t factor, value_t[:, ::1] out):
    """The first `n_pairs` projections give a pair each, the others a cosine with their phase; of
    more projections than scales, the surplus is left out."""
    cdef Py_ssize_t row, n_single = scales.shape[0] - n_pairs
    with nogil:
        for row in range(projections.shape[0]):
            if value_t is float:
                if n_pairs:
                    paired_f32(&projections[row, 0], &scales[0], n_pairs, factor, &out[row, 0])
                if n_single:
                    cosines_f32(&projections[row, n_pairs], &scales[n_pairs], &phases[n_pairs],
                                n_single, factor, &out[row, 2 * n_pairs])
            else:
                if n_pairs:
                    paired_f64(&projections[row, 0], &scales[0], n_pairs, factor, &out[row, 0])
                if n_single:
                    cosines_f64(&projections[row, n_pairs], &scales[n_pairs], &phases[n_pairs],
                                n_single, factor, &out[row, 2 * n_pairs])
