/* The transform takes three levels at a time, so that data are read and written once per eight
 * sums. The first levels are done within vectors. Every sum is the one of the textbook butterfly,
 * so its rounding does not depend on the vector width. */
#include "fastfood.h"
#include "vectors.h"

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define SHUFFLED(MASK, x, ...) __builtin_shufflevector(x, x, __VA_ARGS__)
#endif
#endif
#if !defined(SHUFFLED) /* GCC before 12 */
#define SHUFFLED(MASK, x, ...) __builtin_shuffle(x, (MASK){__VA_ARGS__})
#endif

/* Expand F(i, h) for each lane i of a register. */
#define OF_2(F, h) F(0, h), F(1, h)
#define OF_4(F, h) OF_2(F, h), F(2, h), F(3, h)
#define OF_8(F, h) OF_4(F, h), F(4, h), F(5, h), F(6, h), F(7, h)
#define OF_16(F, h)                                                                                \
    OF_8(F, h), F(8, h), F(9, h), F(10, h), F(11, h), F(12, h), F(13, h), F(14, h), F(15, h)
#if REGISTER_BYTES == 64
#define OF_F32 OF_16
#define OF_F64 OF_8
#elif REGISTER_BYTES == 32
#define OF_F32 OF_8
#define OF_F64 OF_4
#else
#define OF_F32 OF_4
#define OF_F64 OF_2
#endif

/* The level that joins lanes h apart within a register: the partner's value plus the lane's own,
 * negated in the upper half of each pair. */
#define PARTNER(i, h) ((i) ^ (h))
#define SIGN_F32(i, h) ((i) & (h) ? UINT32_C(1) << 31 : 0)
#define SIGN_F64(i, h) ((i) & (h) ? UINT64_C(1) << 63 : 0)
#define WITHIN_F32(x, h)                                                                           \
    SHUFFLED(register_i32, x, OF_F32(PARTNER, h))                                                  \
    +(register_f32)((register_u32)(x) ^ (register_u32){OF_F32(SIGN_F32, h)})
#define WITHIN_F64(x, h)                                                                           \
    SHUFFLED(register_i64, x, OF_F64(PARTNER, h))                                                  \
    +(register_f64)((register_u64)(x) ^ (register_u64){OF_F64(SIGN_F64, h)})

INLINE register_f32 within_f32(register_f32 x)
{
    x = WITHIN_F32(x, 1);
    x = WITHIN_F32(x, 2);
#if REGISTER_BYTES >= 32
    x = WITHIN_F32(x, 4);
#endif
#if REGISTER_BYTES >= 64
    x = WITHIN_F32(x, 8);
#endif
    return x;
}

INLINE register_f64 within_f64(register_f64 x)
{
    x = WITHIN_F64(x, 1);
#if REGISTER_BYTES >= 32
    x = WITHIN_F64(x, 2);
#endif
#if REGISTER_BYTES >= 64
    x = WITHIN_F64(x, 4);
#endif
    return x;
}

#define TEMPLATE "fastfood.template.h"
#include "each_value.h"

#define LOOPS(TYPE) {.wht = wht_##TYPE, .block = block_##TYPE, .orthogonal = orthogonal_##TYPE}
const fastfood_loops TABLE(fastfood)[] = OF_EACH_VALUE(LOOPS);
