/* What sines and cosines of projections and of random angles share. */
#ifndef SPARSEMAPS_TRIGONOMETRY_H
#define SPARSEMAPS_TRIGONOMETRY_H

#include "simd.h"

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

#endif
