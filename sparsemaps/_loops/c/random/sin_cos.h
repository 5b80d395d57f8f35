/* Sines and cosines of angles given in turns.
 *
 * Whole turns and then quarters are removed by adding and subtracting a number so large that the
 * sum has no fraction. From LARGE turns on, floating point numbers have almost no fraction left,
 * and the angle is taken as 0. No branches, so loops over angles vectorise. */
#ifndef SPARSEMAPS_SIN_COS_H
#define SPARSEMAPS_SIN_COS_H

#include "random.h"

#define TO_INTEGER_F32 12582912.0f        /* 1.5 * 2^23 */
#define TO_INTEGER_F64 6755399441055744.0 /* 1.5 * 2^52 */
#define LARGE_F32 0x1p21f
#define LARGE_F64 0x1p50

/* Cephes polynomials for sine and cosine in [-pi/4, pi/4]. */
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

/* Compute the sine and cosine of `quarter` quarter turns plus an angle a in [-pi/4, pi/4]. */
INLINE void sin_cos_of_quarters_f32(uint32_t quarter, float a, float *sine, float *cosine)
{
    uint32_t s = float_to_bits(small_sin_f32(a)), c = float_to_bits(small_cos_f32(a));
    int swap = quarter & 1;
    *sine = bits_to_float((swap ? c : s) ^ (quarter & 2) << 30);
    *cosine = bits_to_float((swap ? s : c) ^ ((quarter + 1) & 2) << 30);
}

INLINE void sin_cos_f32(float turns, float *sine, float *cosine)
{
    /* One comparison of the bits of absolute values, in which NaN is large. */
    int32_t size = (int32_t)(float_to_bits(turns) & UINT32_C(0x7fffffff));
    turns = size < (int32_t)float_to_bits(LARGE_F32) ? turns : 0.0f;
    float quarters = 4.0f * turns, whole = quarters + TO_INTEGER_F32;
    float rest = (quarters - (whole - TO_INTEGER_F32)) * 1.57079632679489662f;
    sin_cos_of_quarters_f32(float_to_bits(whole), rest, sine, cosine);
}

/* Taylor polynomials, with error below 2^-54 in [-pi/4, pi/4]. */
INLINE double small_sin_f64(double a)
{
    double z = a * a;
    double p = 1.0 / 355687428096000.0;
    p = p * z - 1.0 / 1307674368000.0;
    p = p * z + 1.0 / 6227020800.0;
    p = p * z - 1.0 / 39916800.0;
    p = p * z + 1.0 / 362880.0;
    p = p * z - 1.0 / 5040.0;
    p = p * z + 1.0 / 120.0;
    p = p * z - 1.0 / 6.0;
    return a + a * (z * p);
}

INLINE double small_cos_f64(double a)
{
    double z = a * a;
    double p = 1.0 / 20922789888000.0;
    p = p * z - 1.0 / 87178291200.0;
    p = p * z + 1.0 / 479001600.0;
    p = p * z - 1.0 / 3628800.0;
    p = p * z + 1.0 / 40320.0;
    p = p * z - 1.0 / 720.0;
    p = p * z + 1.0 / 24.0;
    return 1.0 - 0.5 * z + z * (z * p);
}

INLINE void sin_cos_f64(double turns, double *sine, double *cosine)
{
    double quarters, whole, rest;
    uint64_t quarter, s, c, swap;
    turns = turns < LARGE_F64 && turns > -LARGE_F64 ? turns : 0.0;
    quarters = 4.0 * turns;
    whole = quarters + TO_INTEGER_F64;
    quarter = double_to_bits(whole);
    rest = (quarters - (whole - TO_INTEGER_F64)) * 1.57079632679489662;
    s = double_to_bits(small_sin_f64(rest));
    c = double_to_bits(small_cos_f64(rest));
    swap = UINT64_C(0) - (quarter & 1);
    *sine = bits_to_double(((c & swap) | (s & ~swap)) ^ (quarter & 2) << 62);
    *cosine = bits_to_double(((s & swap) | (c & ~swap)) ^ ((quarter + 1) & 2) << 62);
}

#endif
