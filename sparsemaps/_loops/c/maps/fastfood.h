/* Walsh-Hadamard transforms, and the steps between two of them in Fastfood.
 *
 * A transform takes three levels at a time, with eight vectors in registers. Its first levels run
 * within vectors (four for float32 and three for float64 with AVX-512). Blocks of 16 kB are
 * finished before the levels that join them. */
#ifndef SPARSEMAPS_FASTFOOD_H
#define SPARSEMAPS_FASTFOOD_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    /* Transform n values in place, n a power of two: natural order, unnormalised. */
    void (*wht)(void *values, ptrdiff_t n);
    /* Write one unscaled block of Fastfood, H G P H B x, to `out`. `scratch` must hold n values. */
    void (*block)(const void *x, ptrdiff_t n, const int8_t *signs, const int32_t *permutation,
                  const float *normals, void *scratch, void *out);
    /* Write one orthogonal block, H D_3 H D_2 H D_1 x, to `out`. `signs` has n signs per D. */
    void (*orthogonal)(const void *x, ptrdiff_t n, const int8_t *signs, void *out);
} fastfood_loops;

DECLARE_TABLES_OF_VALUES(fastfood)

#endif
