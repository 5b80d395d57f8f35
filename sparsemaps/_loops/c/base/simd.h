/* Vector operations other than arithmetic, written with intrinsics if the compiler's own code is
 * slower. The intrinsics header adds a quarter of a second to each compilation, so files that need
 * only the types include vectors.h instead. */
#ifndef SPARSEMAPS_SIMD_H
#define SPARSEMAPS_SIMD_H

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "vectors.h"

/* Masks: compare, and select a where the mask is set, else b. AVX-512 keeps masks in registers of
 * their own, which GCC uses well only through intrinsics. */
#if defined(__AVX512F__)
typedef __mmask16 register_mask;

INLINE register_mask register_less_f32(register_f32 a, register_f32 b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
}

INLINE register_i32 register_choose_i32(register_mask mask, register_i32 a, register_i32 b)
{
    return (register_i32)_mm512_mask_mov_epi32((__m512i)b, mask, (__m512i)a);
}

INLINE register_f32 register_choose_f32(register_mask mask, register_f32 a, register_f32 b)
{
    return (register_f32)_mm512_mask_mov_ps((__m512)b, mask, (__m512)a);
}

INLINE int register_any(register_mask mask)
{
    return mask != 0;
}
#else
typedef register_i32 register_mask;

INLINE register_mask register_less_f32(register_f32 a, register_f32 b)
{
    return a < b;
}

INLINE register_f32 register_choose_f32(register_mask mask, register_f32 a, register_f32 b)
{
#if defined(__AVX2__)
    return (register_f32)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (register_f32)(((register_i32)a & mask) | ((register_i32)b & ~mask));
#endif
}

INLINE register_i32 register_choose_i32(register_mask mask, register_i32 a, register_i32 b)
{
    return (register_i32)register_choose_f32(mask, (register_f32)a, (register_f32)b);
}

INLINE int register_any(register_mask mask)
{
    const register_u64 pairs = (register_u64)mask;
    uint64_t any = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof any; i++)
        any |= pairs[i];
    return any != 0;
}
#endif

/* Return the highest bit of each lane as a bitmask, lane 0 in the lowest bit. */
INLINE uint64_t register_bits_f32(register_u32 words)
{
#if defined(__AVX512F__)
    return _mm512_movepi32_mask((__m512i)words);
#elif defined(__AVX2__)
    return (uint64_t)_mm256_movemask_ps((__m256)words);
#else
    uint64_t bits = 0;
    for (size_t l = 0; l < sizeof words / sizeof words[0]; l++)
        bits |= (uint64_t)(words[l] >> 31) << l;
    return bits;
#endif
}

INLINE uint64_t register_bits_f64(register_u64 words)
{
#if defined(__AVX512F__)
    return _mm512_movepi64_mask((__m512i)words);
#elif defined(__AVX2__)
    return (uint64_t)_mm256_movemask_pd((__m256d)words);
#else
    uint64_t bits = 0;
    for (size_t l = 0; l < sizeof words / sizeof words[0]; l++)
        bits |= words[l] >> 63 << l;
    return bits;
#endif
}

/* Count the equal bytes of two registers' worth of memory. Neither needs to be aligned. */
INLINE uint32_t register_equal_u8(const uint8_t *a, const uint8_t *b)
{
#if defined(__AVX512BW__)
    return (uint32_t)__builtin_popcountll(
        _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b)));
#elif REGISTER_BYTES == 32
    return (uint32_t)__builtin_popcount((unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(
        _mm256_loadu_si256((const __m256i *)a), _mm256_loadu_si256((const __m256i *)b))));
#else
    uint32_t equal = 0;
    for (size_t i = 0; i < REGISTER_BYTES; i++)
        equal += a[i] == b[i];
    return equal;
#endif
}

/* Return table[i % 16] per lane. The table must be aligned to 64 bytes. */
INLINE register_f32 register_of_16_f32(const float *table, register_u32 i)
{
#if defined(__AVX512F__)
    return (register_f32)_mm512_permutexvar_ps((__m512i)i, _mm512_load_ps(table));
#elif defined(__AVX2__)
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), (__m256i)i);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), (__m256i)i);
    return (register_f32)_mm256_blendv_ps(low, high, (__m256)(i << 28)); /* by bit 3 */
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint8x16x4_t bytes = vld1q_u8_x4((const uint8_t *)table);
    const register_u32 places = i % 16 * UINT32_C(0x04040404) + UINT32_C(0x03020100);
    return (register_f32)vqtbl4q_u8(bytes, (uint8x16_t)places);
#else
    register_f32 values;
    for (size_t l = 0; l < sizeof values / sizeof *table; l++)
        values[l] = table[i[l] % 16];
    return values;
#endif
}

/* Return floor(x), for |x| < 2^31. */
INLINE register_f32 register_floor_f32(register_f32 x)
{
#if defined(__AVX512F__)
    return (register_f32)_mm512_floor_ps((__m512)x);
#elif defined(__AVX2__)
    return (register_f32)_mm256_floor_ps((__m256)x);
#else
    const register_f32 towards_zero = LANES_CONVERT(register_f32, LANES_CONVERT(register_i32, x));
    return towards_zero + LANES_CONVERT(register_f32, x < towards_zero);
#endif
}

/* Return u if u < v, else v, per lane. */
INLINE register_f64 register_least_f64(register_f64 u, register_f64 v)
{
#if defined(__AVX512F__)
    return (register_f64)_mm512_min_pd((__m512d)u, (__m512d)v);
#elif defined(__AVX2__)
    return (register_f64)_mm256_min_pd((__m256d)u, (__m256d)v);
#else
    const register_i64 mask = u < v;
    return (register_f64)(((register_i64)u & mask) | ((register_i64)v & ~mask));
#endif
}

/* Return u if u > v, else v, per lane. */
INLINE register_f64 register_greatest_f64(register_f64 u, register_f64 v)
{
#if defined(__AVX512F__)
    return (register_f64)_mm512_max_pd((__m512d)u, (__m512d)v);
#elif defined(__AVX2__)
    return (register_f64)_mm256_max_pd((__m256d)u, (__m256d)v);
#else
    const register_i64 mask = u > v;
    return (register_f64)(((register_i64)u & mask) | ((register_i64)v & ~mask));
#endif
}

#endif
