/* Elementary functions of float64, by IEEE operations in a fixed order. They return the same bits
 * on every platform, which neither C libraries nor NumPy promise. They avoid branches if that costs
 * nothing, so that loops over them vectorise. */
#ifndef SPARSEMAPS_ELEMENTARY_H
#define SPARSEMAPS_ELEMENTARY_H

#include <math.h>

#include "random.h"
#include "sin_cos.h"

/* Return e^x within 1 ulp: x = k ln 2 + r with |r| <= ln(2) / 2, and the Taylor polynomial of
 * degree 13. Out of range, return infinity or 0. */
INLINE double exp_f64(double x)
{
    double whole, r, p;
    uint64_t k, half;
    x = x < -750.0 ? -750.0 : x;
    x = x > 710.0 ? 710.0 : x;
    whole = x * 1.4426950408889634 + TO_INTEGER_F64;
    k = (double_to_bits(whole) + 4096) & 0x1fff; /* k + 4096 */
    whole -= TO_INTEGER_F64;
    /* ln 2 in two parts; k times the first is exact. */
    r = (x - whole * 0x1.62e42fee00000p-1) - whole * 0x1.a39ef35793c76p-33;
    p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = 1.0 + (r + r * r * p);
    /* 2^k as a product of two powers, because 2^k itself may be out of range. */
    half = k >> 1;
    return p * bits_to_double((half - 1025) << 52) * bits_to_double((k - half - 1025) << 52);
}

/* Return arcsin(s) / s - 1 for s^2 = z, 0 <= z <= 1/4: a Chebyshev approximation with error below
 * 4e-18. */
INLINE double arcsine_beyond(double z)
{
    double p = 0.028757851548184377;
    p = p * z - 0.014851887352956897;
    p = p * z + 0.01740087963582327;
    p = p * z + 0.005457506642064085;
    p = p * z + 0.010322814369605943;
    p = p * z + 0.011479177411895745;
    p = p * z + 0.013971212973930064;
    p = p * z + 0.017352392720840923;
    p = p * z + 0.02237217294215135;
    p = p * z + 0.0303819441385312;
    p = p * z + 0.04464285714635543;
    p = p * z + 0.07499999999998433;
    p = p * z + 0.16666666666666669;
    return z * p;
}

/* Return the angle in [0, pi] whose cosine is x, for x in [-1, 1], within 2 ulp. */
INLINE double acos_f64(double x)
{
    double size = x < 0 ? -x : x;
    int near_end = size > 0.5;
    double z = near_end ? 0.5 * (1.0 - size) : size * size;
    double s = near_end ? sqrt(z) : size;
    double arcsine = s + s * arcsine_beyond(z);
    /* pi / 2 in two parts; the second matters for small angles. */
    double inner = x < 0 ? 1.5707963267948966 + (arcsine + 6.123233995736766e-17)
                         : 1.5707963267948966 - (arcsine - 6.123233995736766e-17);
    double outer =
        x < 0 ? 3.1415926535897931 - (2.0 * arcsine - 1.2246467991473532e-16) : 2.0 * arcsine;
    return near_end ? outer : inner;
}

/* Return ln(1 + t^2), even if t^2 overflows. */
INLINE double log_one_plus_square(double t)
{
    double size = t < 0 ? -t : t;
    return size < 1e100 ? log_f64(1.0 + t * t) : 2.0 * log_f64(size);
}

#endif
