/* Levels of the transform are taken three at a time, so that data are read and written once for
 * eight sums; the first ones within vectors. Every sum is that of the textbook's butterfly: the
 * order does not depend on the width of vectors. */
#include "fastfood.h"
#include "simd.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLED(MASK, x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#endif
#endif
#if !defined(SHUFFLED) /* GCC before 12 */
#define SHUFFLED(MASK, x, ...) __builtin_shuffle(x, (MASK){__VA_ARGS__})
#endif

/* A level within a vector: the partner's value plus one's own, which is negative in the upper half
 * of each pair. */
#define M32 UINT32_C(0x80000000)
#define M64 (UINT64_C(1) << 63)

INLINE lanes_f32 within_f32(lanes_f32 x)
{
    const lanes_u32 u1 = {0, M32, 0, M32, 0, M32, 0, M32, 0, M32, 0, M32, 0, M32, 0, M32};
    const lanes_u32 u2 = {0, 0, M32, M32, 0, 0, M32, M32, 0, 0, M32, M32, 0, 0, M32, M32};
    const lanes_u32 u4 = {0, 0, 0, 0, M32, M32, M32, M32, 0, 0, 0, 0, M32, M32, M32, M32};
    const lanes_u32 u8 = {0, 0, 0, 0, 0, 0, 0, 0, M32, M32, M32, M32, M32, M32, M32, M32};
    x = SHUFFLED(lanes_i32, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
        + (lanes_f32)((lanes_u32)x ^ u1);
    x = SHUFFLED(lanes_i32, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
        + (lanes_f32)((lanes_u32)x ^ u2);
    x = SHUFFLED(lanes_i32, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
        + (lanes_f32)((lanes_u32)x ^ u4);
    return SHUFFLED(lanes_i32, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
           + (lanes_f32)((lanes_u32)x ^ u8);
}

INLINE lanes_f64 within_f64(lanes_f64 x)
{
    const lanes_u64 u1 = {0, M64, 0, M64, 0, M64, 0, M64};
    const lanes_u64 u2 = {0, 0, M64, M64, 0, 0, M64, M64};
    const lanes_u64 u4 = {0, 0, 0, 0, M64, M64, M64, M64};
    x = SHUFFLED(lanes_i64, x, 1, 0, 3, 2, 5, 4, 7, 6) + (lanes_f64)((lanes_u64)x ^ u1);
    x = SHUFFLED(lanes_i64, x, 2, 3, 0, 1, 6, 7, 4, 5) + (lanes_f64)((lanes_u64)x ^ u2);
    return SHUFFLED(lanes_i64, x, 4, 5, 6, 7, 0, 1, 2, 3) + (lanes_f64)((lanes_u64)x ^ u4);
}

#define NAME(function) function##_f32
#define VALUE float
#define VECTOR lanes_f32_anywhere
#define WITHIN within_f32
#include "fastfood.template.h"

#define NAME(function) function##_f64
#define VALUE double
#define VECTOR lanes_f64_anywhere
#define WITHIN within_f64
#include "fastfood.template.h"

const fastfood_loops TABLE(fastfood) = {
    .wht_f32 = wht_f32,
    .wht_f64 = wht_f64,
    .block_f32 = block_f32,
    .block_f64 = block_f64,
};
