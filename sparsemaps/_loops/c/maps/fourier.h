/* Cosines and sines of projections, for random Fourier features. */
#ifndef SPARSEMAPS_FOURIER_H
#define SPARSEMAPS_FOURIER_H

#include <stddef.h>

#include "levels.h"

typedef struct {
    /* The cosine and the sine of n angles, one behind the other, times a factor. An angle is
     * projection * scale, in turns. */
    void (*paired)(const void *projections, const void *scales, ptrdiff_t n, double factor,
                   void *out);
    /* The cosines of n angles that have a phase, in turns, added. */
    void (*cosines)(const void *projections, const void *scales, const void *phases, ptrdiff_t n,
                    double factor, void *out);
} fourier_loops;

DECLARE_TABLES_OF_VALUES(fourier)

#endif
