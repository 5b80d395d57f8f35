/* Vector part of the count sketch: the hashes of a run of columns. */
#ifndef SPARSEMAPS_COUNT_SKETCH_H
#define SPARSEMAPS_COUNT_SKETCH_H

#include <stddef.h>

#include "random.h"

#define HASH_RUN 128

#define DEFINE_HASH_COLUMNS(NAME, INDEX)                                                           \
    CLONES static void NAME(const uint64_t *restrict key, const INDEX *restrict columns,           \
                            ptrdiff_t n, uint64_t n_buckets, uint32_t *restrict buckets,           \
                            uint32_t *restrict signs)                                              \
    {                                                                                              \
        const uint64_t k[3] = {key[0], key[1], key[2]};                                            \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            uint64_t hash = pair_multiply(k, mix64((uint64_t)columns[i]));                         \
            buckets[i] = hash_bucket(hash, n_buckets);                                             \
            signs[i] = hash_sign(hash);                                                            \
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
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits ^= (uint64_t)sign << 63;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
