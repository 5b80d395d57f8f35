/* Buckets and signs of a run of columns, for the sketches. */
#ifndef SPARSEMAPS_HASHING_H
#define SPARSEMAPS_HASHING_H

#include <stddef.h>

#include "random.h"

/* A run of columns is hashed in whole groups of HASH_GROUP, so that a short one has no scalar
 * remainder: arrays that take hashes are that much longer, and the surplus is not to be used. */
enum { HASH_RUN = 128, HASH_GROUP = 16 };

/* What all hashes of a column have in common: `mixed` holds HASH_RUN words. */
#define DEFINE_MIX_COLUMNS(NAME, INDEX)                                                            \
    CLONES static void NAME(const INDEX *restrict columns, ptrdiff_t n, uint64_t *restrict mixed)  \
    {                                                                                              \
        INDEX last[HASH_GROUP] = {0};                                                              \
        ptrdiff_t i = 0;                                                                           \
        for (; i + HASH_GROUP <= n; i += HASH_GROUP)                                               \
            for (int j = 0; j < HASH_GROUP; j++)                                                   \
                mixed[i + j] = mix64((uint64_t)columns[i + j]);                                    \
        if (i < n) {                                                                               \
            memcpy(last, columns + i, (size_t)(n - i) * sizeof(INDEX));                            \
            for (int j = 0; j < HASH_GROUP; j++)                                                   \
                mixed[i + j] = mix64((uint64_t)last[j]);                                           \
        }                                                                                          \
    }

DEFINE_MIX_COLUMNS(mix_columns_32, int32_t)
DEFINE_MIX_COLUMNS(mix_columns_64, int64_t)

/* Buckets and signs (0 for +1, 1 for -1) of mixed columns under one key. */
CLONES static void hash_mixed(const uint64_t *restrict key, const uint64_t *restrict mixed,
                              ptrdiff_t n, uint64_t n_buckets, uint32_t *restrict buckets,
                              uint32_t *restrict signs)
{
    const uint64_t k[3] = {key[0], key[1], key[2]};
    for (ptrdiff_t i = 0; i < n; i += HASH_GROUP) {
        for (ptrdiff_t j = i; j < i + HASH_GROUP; j++) {
            uint64_t hash = pair_multiply(k, mixed[j]);
            buckets[j] = hash_bucket(hash, n_buckets);
            signs[j] = hash_sign(hash);
        }
    }
}

/* Flip the sign of `value` where `sign` is 1: an exclusive or, no branch on a hashed bit. */
INLINE float flip_f32(float value, uint32_t sign)
{
    return bits_to_float(float_to_bits(value) ^ (sign << 31));
}

INLINE double flip_f64(double value, uint32_t sign)
{
    return bits_to_double(double_to_bits(value) ^ (uint64_t)sign << 63);
}

/* Each of n values times `scale`, with its sign; and n <= HASH_RUN such added to their buckets'
 * sums, in order. */
#define DEFINE_SIGNED(VALUE, FLIP, SIGN_VALUES, ADD_HASHED)                                        \
    INLINE void SIGN_VALUES##_inline(const VALUE *restrict values, VALUE scale,                    \
                                     const uint32_t *restrict signs, ptrdiff_t n,                  \
                                     VALUE *restrict out)                                          \
    {                                                                                              \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            out[i] = FLIP(scale * values[i], signs[i]);                                            \
    }                                                                                              \
    CLONES static void SIGN_VALUES(const VALUE *values, VALUE scale, const uint32_t *signs,        \
                                   ptrdiff_t n, VALUE *out)                                        \
    {                                                                                              \
        SIGN_VALUES##_inline(values, scale, signs, n, out);                                        \
    }                                                                                              \
    CLONES static void ADD_HASHED(const VALUE *restrict values, VALUE scale,                       \
                                  const uint32_t *restrict buckets,                                \
                                  const uint32_t *restrict signs, ptrdiff_t n,                     \
                                  VALUE *restrict sums)                                            \
    {                                                                                              \
        VALUE signed_values[HASH_RUN];                                                             \
        SIGN_VALUES##_inline(values, scale, signs, n, signed_values);                              \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            sums[buckets[i]] += signed_values[i];                                                  \
    }

DEFINE_SIGNED(float, flip_f32, sign_values_f32, add_hashed_f32)
DEFINE_SIGNED(double, flip_f64, sign_values_f64, add_hashed_f64)

#endif
