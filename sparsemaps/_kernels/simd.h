/* Vectors, and the choice of their width at run time.
 *
 * A wheel is built for the oldest x86-64, whose 128-bit vectors lose most of the speed of the
 * loops here. CLONES before a function compiles it for AVX-512, AVX2 and that baseline, and the
 * dynamic loader takes the widest that the machine has. Every clone does the same IEEE operations
 * in the same order (no contraction, no reassociation), so they agree bit for bit.
 * Empty where compiler or C library have no such mechanism, and where the build already names a
 * machine (-march=native). */
#ifndef SPARSEMAPS_SIMD_H
#define SPARSEMAPS_SIMD_H

#include <stdint.h>
#include <string.h>

#if defined(SPARSEMAPS_CLONES) && !defined(__AVX2__)
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif

/* What a clone calls must become part of it, or it would stay at the baseline's width. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define INLINE static __forceinline
#else
#define INLINE static inline
#endif

/* Vectors that stay in registers, as arrays of single numbers do not. Compilers that know vectors
 * of this size split them where the machine's are shorter; for others a vector is one number. */
#if defined(__GNUC__)
typedef float lanes_f32 __attribute__((vector_size(64), may_alias));
typedef double lanes_f64 __attribute__((vector_size(64), may_alias));
typedef int32_t lanes_i32 __attribute__((vector_size(64), may_alias));
typedef uint32_t lanes_u32 __attribute__((vector_size(64), may_alias));
typedef uint64_t lanes_u64 __attribute__((vector_size(64), may_alias));
#define LANES_CONVERT(LANES, x) __builtin_convertvector(x, LANES)
#define LANES_LESS(a, b) ((a) < (b)) /* all ones where true */
#else
typedef float lanes_f32;
typedef double lanes_f64;
typedef int32_t lanes_i32;
typedef uint32_t lanes_u32;
typedef uint64_t lanes_u64;
#define LANES_CONVERT(LANES, x) ((LANES)(x))
#define LANES_LESS(a, b) (-((a) < (b)))
#endif

/* The bits of one kind of lanes as those of another. */
#define DEFINE_LANES_CAST(NAME, TO, FROM)                                                          \
    INLINE TO NAME(FROM x)                                                                         \
    {                                                                                              \
        TO y;                                                                                      \
        memcpy(&y, &x, sizeof y);                                                                  \
        return y;                                                                                  \
    }

DEFINE_LANES_CAST(lanes_f32_of_u32, lanes_f32, lanes_u32)
DEFINE_LANES_CAST(lanes_f64_of_u64, lanes_f64, lanes_u64)
DEFINE_LANES_CAST(lanes_f32_of_i32, lanes_f32, lanes_i32)
DEFINE_LANES_CAST(lanes_i32_of_f32, lanes_i32, lanes_f32)

/* a where `mask` is all ones, b where it is 0. */
INLINE lanes_i32 lanes_choose_i32(lanes_i32 mask, lanes_i32 a, lanes_i32 b)
{
    return (a & mask) | (b & ~mask);
}

INLINE lanes_f32 lanes_choose_f32(lanes_i32 mask, lanes_f32 a, lanes_f32 b)
{
    return lanes_f32_of_i32(lanes_choose_i32(mask, lanes_i32_of_f32(a), lanes_i32_of_f32(b)));
}

#endif
