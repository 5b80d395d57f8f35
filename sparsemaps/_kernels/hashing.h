/* Buckets and signs of a run of columns, for the sketches. */
#ifndef SPARSEMAPS_HASHING_H
#define SPARSEMAPS_HASHING_H

#include <stddef.h>

#include "random.h"

#define HASH_RUN 128

/* Sixteen at a time, so that a short row has no scalar remainder. */
#define DEFINE_HASH_COLUMNS(NAME, INDEX)                                                           \
    INLINE void NAME##_16(const uint64_t *k, const INDEX *restrict columns, uint64_t n_buckets,    \
                          uint32_t *restrict buckets, uint32_t *restrict signs)                    \
    {                                                                                              \
        for (int i = 0; i < 16; i++) {                                                             \
            uint64_t hash = pair_multiply(k, mix64((uint64_t)columns[i]));                         \
            buckets[i] = hash_bucket(hash, n_buckets);                                             \
            signs[i] = hash_sign(hash);                                                            \
        }                                                                                          \
    }                                                                                              \
    CLONES static void NAME(const uint64_t *restrict key, const INDEX *restrict columns,           \
                            ptrdiff_t n, uint64_t n_buckets, uint32_t *restrict buckets,           \
                            uint32_t *restrict signs)                                              \
    {                                                                                              \
        const uint64_t k[3] = {key[0], key[1], key[2]};                                            \
        INDEX last_columns[16] = {0};                                                              \
        uint32_t last_buckets[16], last_signs[16];                                                 \
        ptrdiff_t i = 0, left;                                                                     \
        for (; i + 16 <= n; i += 16)                                                               \
            NAME##_16(k, columns + i, n_buckets, buckets + i, signs + i);                          \
        left = n - i;                                                                              \
        if (left > 0) {                                                                            \
            memcpy(last_columns, columns + i, (size_t)left * sizeof(INDEX));                       \
            NAME##_16(k, last_columns, n_buckets, last_buckets, last_signs);                       \
            memcpy(buckets + i, last_buckets, (size_t)left * sizeof(uint32_t));                    \
            memcpy(signs + i, last_signs, (size_t)left * sizeof(uint32_t));                        \
        }                                                                                          \
    }

DEFINE_HASH_COLUMNS(hash_columns_32, int32_t)
DEFINE_HASH_COLUMNS(hash_columns_64, int64_t)

/* Flip the sign of `value` where `sign` is 1: an exclusive or, no branch on a hashed bit. */
INLINE float flip_f32(float value, uint32_t sign)
{
    return bits_to_float(float_to_bits(value) ^ (sign << 31));
}

INLINE double flip_f64(double value, uint32_t sign)
{
    return bits_to_double(double_to_bits(value) ^ (uint64_t)sign << 63);
}

#endif
