/* The polynomials of sines and cosines, of projections and of random angles. */
#ifndef SPARSEMAPS_TRIGONOMETRY_H
#define SPARSEMAPS_TRIGONOMETRY_H

#include "random.h"

/* Polynomials of Cephes for sine and cosine in [-pi/4, pi/4]. */
INLINE float small_sin_f32(float a)
{
    float z = a * a;
    float p = -1.9515295891e-4f;
    p = p * z + 8.3321608736e-3f;
    p = p * z - 1.6666654611e-1f;
    return a + a * (z * p);
}

INLINE float small_cos_f32(float a)
{
    float z = a * a;
    float p = 2.443315711809948e-5f;
    p = p * z - 1.388731625493765e-3f;
    p = p * z + 4.166664568298827e-2f;
    return 1.0f - 0.5f * z + z * (z * p);
}

/* Sine and cosine of `quarter` quarter turns and an angle a in [-pi/4, pi/4]. */
INLINE void sin_cos_of_quarters_f32(uint32_t quarter, float a, float *sine, float *cosine)
{
    uint32_t s = float_to_bits(small_sin_f32(a)), c = float_to_bits(small_cos_f32(a));
    uint32_t swap = UINT32_C(0) - (quarter & 1);
    *sine = bits_to_float(((c & swap) | (s & ~swap)) ^ (quarter & 2) << 30);
    *cosine = bits_to_float(((s & swap) | (c & ~swap)) ^ ((quarter + 1) & 2) << 30);
}

#endif
