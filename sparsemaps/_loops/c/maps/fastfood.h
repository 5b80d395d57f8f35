/* Walsh-Hadamard transforms, and the steps between two of them in Fastfood.
 *
 * A transform takes three levels at a time, with eight vectors in registers; the first levels (four
 * of float32, three of float64) are within vectors. Blocks of 16 kB are finished before the levels
 * that join them. */
#ifndef SPARSEMAPS_FASTFOOD_H
#define SPARSEMAPS_FASTFOOD_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    /* The transform of n values in place, n a power of two: natural order, without a factor. */
    void (*wht)(void *values, ptrdiff_t n);
    /* One block of Fastfood up to its scales: H G P H B x into `out`. `scratch` is n long. */
    void (*block)(const void *x, ptrdiff_t n, const int8_t *signs, const int32_t *permutation,
                  const float *normals, void *scratch, void *out);
    /* One orthogonal block: H D_3 H D_2 H D_1 x into `out`, of n signs of each D. */
    void (*orthogonal)(const void *x, ptrdiff_t n, const int8_t *signs, void *out);
} fastfood_loops;

DECLARE_TABLES_OF_VALUES(fastfood)

#endif
