/* Vector types of all loops: of 64 bytes, and of a register.
 *
 * Arrays of single numbers do not stay in registers, vectors do. GCC and clang split vectors of 64
 * bytes where the machine's are shorter, and every element is computed by the same operations. */
#ifndef SPARSEMAPS_SIMD_H
#define SPARSEMAPS_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

/* Small functions must become part of the loops that call them, or they would be computed one
 * number at a time. */
#define INLINE static inline __attribute__((always_inline))

/* Two words of 32 bits that stand side by side, as one: the first is the lower half. And back. */
INLINE uint64_t lower_half_first(uint64_t bits)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bits : bits >> 32 | bits << 32;
}

#define LANE_BYTES 64

typedef double lanes_f64 __attribute__((vector_size(LANE_BYTES), may_alias));
typedef int64_t lanes_i64 __attribute__((vector_size(LANE_BYTES), may_alias));
typedef uint64_t lanes_u64 __attribute__((vector_size(LANE_BYTES), may_alias));

/* Numbers of 32 bits, as many as there are of 64 bits in LANE_BYTES. */
typedef float half_lanes_f32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));
typedef int32_t half_lanes_i32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));
typedef uint32_t half_lanes_u32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));

/* Vectors as wide as the registers of the level. GCC keeps longer ones in memory instead of several
 * registers, so that sums in them cost ten times as much. Longer ones are for codes, which are laid
 * out in memory in this way, and for hashes, whose products need several registers at a time. */
#if defined(__AVX512F__)
#define REGISTER_BYTES 64
#elif defined(__AVX2__)
#define REGISTER_BYTES 32
#else
#define REGISTER_BYTES 16
#endif

typedef float register_f32 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef double register_f64 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef int8_t register_i8 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef int32_t register_i32 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef int64_t register_i64 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef uint32_t register_u32 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef uint64_t register_u64 __attribute__((vector_size(REGISTER_BYTES), may_alias));

/* The same at any address. */
typedef float register_f32_anywhere
    __attribute__((vector_size(REGISTER_BYTES), aligned(4), may_alias));
typedef double register_f64_anywhere
    __attribute__((vector_size(REGISTER_BYTES), aligned(8), may_alias));

#define LANES_CONVERT(LANES, x) __builtin_convertvector(x, LANES)

/* The bits of vectors as those of another type of the same size: a cast, for GCC and clang. */
#define LANES_BITS(LANES, x) ((LANES)(x))

/* What a comparison gives, and a where it is true, b where it is not. AVX-512 has registers of their
 * own for that, and GCC uses them well only where it is told to. */
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

/* table[i % 16] for each i; the table begins at a multiple of 64 bytes. */
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

/* The greatest integer that is not above x, for |x| < 2^31. */
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

/* u where it is less than v, and v elsewhere. */
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

/* u where it is greater than v, and v elsewhere. */
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
