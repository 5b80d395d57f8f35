/* The Walsh-Hadamard transform in place, in natural order and without a factor, and what stands
 * between two of them in Fastfood.
 *
 * Levels are taken three at a time, so that data are read and written once for eight sums; the
 * first ones within vectors. Every sum is that of the textbook's butterfly: the order does not
 * depend on the width of vectors. */
#ifndef SPARSEMAPS_FASTFOOD_H
#define SPARSEMAPS_FASTFOOD_H

#include <stddef.h>
#include <stdint.h>

#include "simd.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HAVE_SHUFFLES 1
#endif
#endif

#define SUM_AND_DIFFERENCE(TYPE, a, b)                                                             \
    do {                                                                                           \
        TYPE sum = a + b;                                                                          \
        b = a - b;                                                                                 \
        a = sum;                                                                                   \
    } while (0)

/* Three levels between eight values. */
#define THREE_LEVELS(TYPE, a, b, c, d, e, f, g, h)                                                 \
    do {                                                                                           \
        SUM_AND_DIFFERENCE(TYPE, a, b);                                                            \
        SUM_AND_DIFFERENCE(TYPE, c, d);                                                            \
        SUM_AND_DIFFERENCE(TYPE, e, f);                                                            \
        SUM_AND_DIFFERENCE(TYPE, g, h);                                                            \
        SUM_AND_DIFFERENCE(TYPE, a, c);                                                            \
        SUM_AND_DIFFERENCE(TYPE, b, d);                                                            \
        SUM_AND_DIFFERENCE(TYPE, e, g);                                                            \
        SUM_AND_DIFFERENCE(TYPE, f, h);                                                            \
        SUM_AND_DIFFERENCE(TYPE, a, e);                                                            \
        SUM_AND_DIFFERENCE(TYPE, b, f);                                                            \
        SUM_AND_DIFFERENCE(TYPE, c, g);                                                            \
        SUM_AND_DIFFERENCE(TYPE, d, h);                                                            \
    } while (0)

#if defined(HAVE_SHUFFLES)
typedef float wht_f32_t __attribute__((vector_size(64), aligned(4), may_alias));
typedef double wht_f64_t __attribute__((vector_size(64), aligned(8), may_alias));
typedef uint32_t wht_u32_t __attribute__((vector_size(64)));
typedef uint64_t wht_u64_t __attribute__((vector_size(64)));

/* A level within a vector: the partner's value plus one's own, which is negative in the upper half
 * of each pair. */
#define M32 UINT32_C(0x80000000)
#define M64 (UINT64_C(1) << 63)

INLINE wht_f32_t within_f32(wht_f32_t x)
{
    const wht_u32_t u1 = {0, M32, 0, M32, 0, M32, 0, M32, 0, M32, 0, M32, 0, M32, 0, M32};
    const wht_u32_t u2 = {0, 0, M32, M32, 0, 0, M32, M32, 0, 0, M32, M32, 0, 0, M32, M32};
    const wht_u32_t u4 = {0, 0, 0, 0, M32, M32, M32, M32, 0, 0, 0, 0, M32, M32, M32, M32};
    const wht_u32_t u8 = {0, 0, 0, 0, 0, 0, 0, 0, M32, M32, M32, M32, M32, M32, M32, M32};
    x = __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
        + (wht_f32_t)((wht_u32_t)x ^ u1);
    x = __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
        + (wht_f32_t)((wht_u32_t)x ^ u2);
    x = __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
        + (wht_f32_t)((wht_u32_t)x ^ u4);
    return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
        + (wht_f32_t)((wht_u32_t)x ^ u8);
}

INLINE wht_f64_t within_f64(wht_f64_t x)
{
    const wht_u64_t u1 = {0, M64, 0, M64, 0, M64, 0, M64};
    const wht_u64_t u2 = {0, 0, M64, M64, 0, 0, M64, M64};
    const wht_u64_t u4 = {0, 0, 0, 0, M64, M64, M64, M64};
    x = __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6) + (wht_f64_t)((wht_u64_t)x ^ u1);
    x = __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5) + (wht_f64_t)((wht_u64_t)x ^ u2);
    return __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3) + (wht_f64_t)((wht_u64_t)x ^ u4);
}
#else
typedef float wht_f32_t;
typedef double wht_f64_t;
#define within_f32(x) (x)
#define within_f64(x) (x)
#endif

/* Sizes of at least eight vectors are taken by vectors; smaller ones one value at a time. */
#define DEFINE_WHT(NAME, VALUE, VECTOR, WITHIN)                                                    \
    INLINE void NAME##_small(VALUE *x, ptrdiff_t n)                                                \
    {                                                                                              \
        for (ptrdiff_t h = 1; h < n; h *= 2)                                                       \
            for (ptrdiff_t i = 0; i < n; i += 2 * h)                                               \
                for (ptrdiff_t j = i; j < i + h; j++) {                                            \
                    VALUE a = x[j], b = x[j + h];                                                  \
                    x[j] = a + b;                                                                  \
                    x[j + h] = a - b;                                                              \
                }                                                                                  \
    }                                                                                              \
    /* All levels of a power of two of vectors, from `distance` vectors on. */                     \
    INLINE void NAME##_levels(VECTOR *x, ptrdiff_t n, ptrdiff_t h)                                 \
    {                                                                                              \
        for (; 8 * h <= n; h *= 8)                                                                 \
            for (ptrdiff_t i = 0; i < n; i += 8 * h)                                               \
                for (VECTOR *p = x + i; p < x + i + h; p++) {                                      \
                    VECTOR a = p[0], b = p[h], c = p[2 * h], d = p[3 * h];                         \
                    VECTOR e = p[4 * h], f = p[5 * h], g = p[6 * h], q = p[7 * h];                 \
                    THREE_LEVELS(VECTOR, a, b, c, d, e, f, g, q);                                   \
                    p[0] = a, p[h] = b, p[2 * h] = c, p[3 * h] = d;                                \
                    p[4 * h] = e, p[5 * h] = f, p[6 * h] = g, p[7 * h] = q;                        \
                }                                                                                  \
        for (; h < n; h *= 2)                                                                      \
            for (ptrdiff_t i = 0; i < n; i += 2 * h)                                               \
                for (VECTOR *p = x + i; p < x + i + h; p++) {                                      \
                    VECTOR a = p[0], b = p[h];                                                     \
                    p[0] = a + b;                                                                  \
                    p[h] = a - b;                                                                  \
                }                                                                                  \
    }                                                                                              \
    /* n is a power of two. */                                                                     \
    INLINE void NAME##_inline(VALUE *values, ptrdiff_t n)                                          \
    {                                                                                              \
        const ptrdiff_t lanes = (ptrdiff_t)(sizeof(VECTOR) / sizeof(VALUE));                       \
        const ptrdiff_t cached = 16384 / (ptrdiff_t)sizeof(VECTOR);                                \
        if (n < 8 * lanes || lanes == 1) {                                                         \
            NAME##_small(values, n);                                                               \
            return;                                                                                \
        }                                                                                          \
        VECTOR *x = (VECTOR *)values;                                                              \
        n /= lanes;                                                                                \
        for (ptrdiff_t first = 0; first < n; first += cached) {                                    \
            ptrdiff_t size = n < cached ? n : cached;                                              \
            for (VECTOR *p = x + first; p < x + first + size; p += 8) {                            \
                VECTOR a = WITHIN(p[0]), b = WITHIN(p[1]), c = WITHIN(p[2]), d = WITHIN(p[3]);     \
                VECTOR e = WITHIN(p[4]), f = WITHIN(p[5]), g = WITHIN(p[6]), q = WITHIN(p[7]);     \
                THREE_LEVELS(VECTOR, a, b, c, d, e, f, g, q);                                       \
                p[0] = a, p[1] = b, p[2] = c, p[3] = d;                                            \
                p[4] = e, p[5] = f, p[6] = g, p[7] = q;                                            \
            }                                                                                      \
            NAME##_levels(x + first, size, 8);                                                     \
        }                                                                                          \
        NAME##_levels(x, n, cached);                                                               \
    }                                                                                              \
    CLONES static void NAME(VALUE *values, ptrdiff_t n)                                            \
    {                                                                                              \
        NAME##_inline(values, n);                                                                  \
    }

DEFINE_WHT(wht_f32, float, wht_f32_t, within_f32)
DEFINE_WHT(wht_f64, double, wht_f64_t, within_f64)

/* One block of Fastfood up to its scales, H G P H B x into `out`; `scratch` is n long. */
#define DEFINE_FASTFOOD(NAME, VALUE, WHT)                                                          \
    CLONES static void NAME(const VALUE *restrict x, ptrdiff_t n, const int8_t *restrict signs,    \
                            const int32_t *restrict permutation, const float *restrict normals,    \
                            VALUE *restrict scratch, VALUE *restrict out)                          \
    {                                                                                              \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            scratch[i] = (VALUE)signs[i] * x[i];                                                   \
        WHT##_inline(scratch, n);                                                                  \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            out[i] = (VALUE)normals[i] * scratch[permutation[i]];                                  \
        WHT##_inline(out, n);                                                                      \
    }

DEFINE_FASTFOOD(fastfood_f32, float, wht_f32)
DEFINE_FASTFOOD(fastfood_f64, double, wht_f64)

#endif
