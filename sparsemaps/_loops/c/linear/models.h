/* Vectors with one lane per model: four of float64, in which visits and sums are computed, and
 * eight of float32, the storage of weights along a path of C. */
#ifndef SPARSEMAPS_MODELS_H
#define SPARSEMAPS_MODELS_H

#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

typedef int64_t four_i64 __attribute__((vector_size(32), may_alias));
typedef int64_t four_i64_anywhere __attribute__((vector_size(32), aligned(8), may_alias));
typedef float four_f32_anywhere __attribute__((vector_size(16), aligned(4), may_alias));
typedef float eight_f32 __attribute__((vector_size(32), may_alias));
typedef float eight_f32_anywhere __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t eight_i32 __attribute__((vector_size(32), may_alias));

/* Convert a bitmask with one bit per model to a vector mask, and back. */
INLINE four_i64 mask_of_four(unsigned bits)
{
    const four_i64 places = {1, 2, 4, 8};
    return ((int64_t)bits & places) == places;
}

INLINE eight_i32 mask_of_eight(unsigned bits)
{
    const eight_i32 places = {1, 2, 4, 8, 16, 32, 64, 128};
    return ((int32_t)bits & places) == places;
}

INLINE unsigned bits_of(four_i64 mask)
{
    return (unsigned)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
}

INLINE four_f64 chosen(four_i64 mask, four_f64 yes, four_f64 no)
{
    return (four_f64)(((four_i64)yes & mask) | ((four_i64)no & ~mask));
}

INLINE four_f64 size_of_four(four_f64 x)
{
    return (four_f64)((four_i64)x & INT64_MAX);
}

INLINE four_f64 four_of(const double *numbers)
{
    return *(const four_f64_anywhere *)numbers;
}

INLINE four_f64 four_of_f32(const float *numbers)
{
    return __builtin_convertvector(*(const four_f32_anywhere *)numbers, four_f64);
}

INLINE void add_four(double *numbers, four_f64 some)
{
    *(four_f64_anywhere *)numbers += some;
}

INLINE eight_f32 eight_of_f64(const double *numbers)
{
    const double *const x = numbers;
    return (eight_f32){(float)x[0], (float)x[1], (float)x[2], (float)x[3],
                       (float)x[4], (float)x[5], (float)x[6], (float)x[7]};
}

INLINE void add_eight(double *numbers, eight_f32 some)
{
    add_four(numbers, (four_f64){some[0], some[1], some[2], some[3]});
    add_four(numbers + 4, (four_f64){some[4], some[5], some[6], some[7]});
}

#endif
