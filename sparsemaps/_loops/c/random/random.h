/* Random numbers as pure functions of a key, a column and a component.
 *
 * Scheme 1 (sparsemaps._tools._seeding.SCHEME). Any change here changes every output of every map.
 * tests/golden.json pins the outputs; a change needs a new scheme number and a breaking release.
 *
 * All arithmetic is on integers or single IEEE operations in a fixed order, so the numbers are the
 * same on every platform and for every vector width. Logarithms are our own for the same reason. */
#ifndef SPARSEMAPS_RANDOM_H
#define SPARSEMAPS_RANDOM_H

#include <stdint.h>
#include <string.h>

#include "vectors.h"

/* ---- hash family ------------------------------------------------------------------------- */

/* Mix a 64-bit word, by a bijection in which every output bit depends on every input bit:
 * Stafford's mix13 (2011), the finaliser of SplitMix64 (Steele, Lea & Flood 2014). */
INLINE uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Apply `mix64` per lane. */
INLINE lanes_u64 mix_lanes(lanes_u64 x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Keyed hash of a mixed column. Its top 33 bits are strongly universal (2-wise independent):
 * pair-multiply-shift of the two 32-bit halves (Thorup 2015, "High speed hashing for integers and
 * strings", 3.5), for which 64-bit keys give 64 - 32 + 1 = 33 good bits. The mixing beforehand is a
 * fixed bijection: the proof remains valid, and structured columns become irregular. */
INLINE uint64_t pair_multiply(const uint64_t key[3], uint64_t mixed)
{
    return (key[0] + (mixed >> 32)) * (key[1] + (mixed & UINT32_MAX)) + key[2];
}

/* Map bits 32 to 63 of the hash to a bucket below n_buckets, by multiply-high. */
INLINE uint32_t hash_bucket(uint64_t hash, uint64_t n_buckets)
{
    return (uint32_t)(((hash >> 32) * n_buckets) >> 32);
}

/* Return bit 31, the 33rd from the top: 0 for +1, 1 for -1. */
INLINE uint32_t hash_sign(uint64_t hash)
{
    return (uint32_t)(hash >> 31) & 1;
}

/* ---- counter-based words ----------------------------------------------------------------- */

/* Return the start of a column's words. word(start, 0), word(start, 1), ... are SplitMix64's stream
 * from there, with random access. */
INLINE uint64_t column_start(uint64_t key, uint64_t column)
{
    return mix64(key ^ mix64(column));
}

/* Compute the starts of n columns of 4 or 8 bytes each, from index `first` on. */
static inline void column_starts(const void *columns, size_t itemsize, ptrdiff_t first, ptrdiff_t n,
                                 uint64_t key, uint64_t *restrict starts)
{
    const int32_t *narrow = (const int32_t *)columns + first;
    const int64_t *wide = (const int64_t *)columns + first;
    if (itemsize == sizeof *narrow)
        for (ptrdiff_t i = 0; i < n; i++)
            starts[i] = column_start(key, (uint64_t)narrow[i]);
    else
        for (ptrdiff_t i = 0; i < n; i++)
            starts[i] = column_start(key, (uint64_t)wide[i]);
}

INLINE uint64_t word(uint64_t start, uint64_t counter)
{
    return mix64(start + (counter + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* ---- transforms -------------------------------------------------------------------------- */

/* Convert the upper 24 bits of a 32-bit half word to a uniform in (0, 1): an odd multiple of 2^-24,
 * exact in float32, never 0 or 1. */
INLINE float open_uniform(uint32_t half)
{
    return (float)(int32_t)((half >> 8) | 1) * 0x1p-24f;
}

INLINE float bits_to_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

INLINE uint32_t float_to_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE uint64_t double_to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double bits_to_double(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Natural logarithm of a positive normal float32, within 1 ulp: x = 2^e m with m in [sqrt(1/2),
 * sqrt(2)), and a minimax polynomial of degree 9 for ln m. Branch-free, so it vectorises. */
INLINE float log_f32(float x)
{
    const uint32_t sqrt_half = UINT32_C(0x3f3504f3);
    uint32_t bits = float_to_bits(x) - sqrt_half;
    int32_t e = (int32_t)bits >> 23;
    float m = bits_to_float((bits & UINT32_C(0x007fffff)) + sqrt_half) - 1.0f;
    float square = m * m;
    float p = 0.08700437098741531f;
    p = p * m - 0.14267487823963165f;
    p = p * m + 0.14914767444133759f;
    p = p * m - 0.1657758504152298f;
    p = p * m + 0.19963063299655914f;
    p = p * m - 0.2500133812427521f;
    p = p * m + 0.3333390951156616f;
    p = square * (m * p) - 0.5f * square;
    /* ln 2 in two parts; e times the first is exact. */
    return (float)e * 0.693359375f + (m + (p + (float)e * -2.12194440e-4f));
}

/* Natural logarithm of a positive finite double, including subnormals, within 2 ulp, by the series
 * of artanh in s = (m - 1) / (m + 1), |s| < 0.172. Called once per entry. */
INLINE double log_f64(double x)
{
    const uint64_t sqrt_half = UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t bits;
    int64_t e = 0;
    double m, s, z, p;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    memcpy(&bits, &x, sizeof bits);
    bits -= sqrt_half;
    e += (int64_t)bits >> 52;
    bits = (bits & UINT64_C(0x000fffffffffffff)) + sqrt_half;
    memcpy(&m, &bits, sizeof m);
    s = (m - 1.0) / (m + 1.0);
    z = s * s;
    p = 1.0 / 21.0;
    p = p * z + 1.0 / 19.0;
    p = p * z + 1.0 / 17.0;
    p = p * z + 1.0 / 15.0;
    p = p * z + 1.0 / 13.0;
    p = p * z + 1.0 / 11.0;
    p = p * z + 1.0 / 9.0;
    p = p * z + 1.0 / 7.0;
    p = p * z + 1.0 / 5.0;
    p = p * z + 1.0 / 3.0;
    return (double)e * 0.6931471805599453 + (2.0 * s + 2.0 * s * (z * p));
}

#endif
