/* Cosines and sines of projections, for random Fourier features. */
#ifndef SPARSEMAPS_FOURIER_H
#define SPARSEMAPS_FOURIER_H

#include <stddef.h>

#include "levels.h"

typedef struct {
    /* The cosine and the sine of n angles, one behind the other, times a factor. An angle is
     * projection * scale, in turns. */
    void (*paired_f32)(const float *projections, const float *scales, ptrdiff_t n, float factor,
                       float *out);
    void (*paired_f64)(const double *projections, const double *scales, ptrdiff_t n, double factor,
                       double *out);
    /* The cosines of n angles that have a phase, in turns, added. */
    void (*cosines_f32)(const float *projections, const float *scales, const float *phases,
                        ptrdiff_t n, float factor, float *out);
    void (*cosines_f64)(const double *projections, const double *scales, const double *phases,
                        ptrdiff_t n, double factor, double *out);
} fourier_loops;

DECLARE_TABLES(fourier)

#endif
