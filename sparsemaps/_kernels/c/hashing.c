#include "hashing.h"

#include <string.h>

#include "random.h"

enum { HASH_AT_ONCE = 128 };

/* Buckets and signs (0 for +1, 1 for -1) of mixed columns under one key. */
INLINE void hash_mixed(const uint64_t *restrict key, const uint64_t *restrict mixed, ptrdiff_t n,
                       uint64_t n_buckets, uint32_t *restrict buckets, uint32_t *restrict signs)
{
    const uint64_t k[3] = {key[0], key[1], key[2]};
    for (ptrdiff_t i = 0; i < n; i += HASH_STEP) {
        for (ptrdiff_t j = i; j < i + HASH_STEP; j++) {
            uint64_t hash = pair_multiply(k, mixed[j]);
            buckets[j] = hash_bucket(hash, n_buckets);
            signs[j] = hash_sign(hash);
        }
    }
}

/* Flip the sign of `value` where `sign` is 1: an exclusive or, no branch on a hashed bit. */
INLINE float sign_f32(float value, uint32_t sign)
{
    return bits_to_float(float_to_bits(value) ^ (sign << 31));
}

INLINE double sign_f64(double value, uint32_t sign)
{
    return bits_to_double(double_to_bits(value) ^ (uint64_t)sign << 63);
}

#define NAME(function) function##_f32_i32
#define VALUE float
#define INDEX int32_t
#define SIGN sign_f32
#include "hashing.template.h"

#define NAME(function) function##_f32_i64
#define VALUE float
#define INDEX int64_t
#define SIGN sign_f32
#include "hashing.template.h"

#define NAME(function) function##_f64_i32
#define VALUE double
#define INDEX int32_t
#define SIGN sign_f64
#include "hashing.template.h"

#define NAME(function) function##_f64_i64
#define VALUE double
#define INDEX int64_t
#define SIGN sign_f64
#include "hashing.template.h"

const hashing_loops TABLE(hashing) = {
    .add_sketches_f32_i32 = add_sketches_f32_i32,
    .add_sketches_f32_i64 = add_sketches_f32_i64,
    .add_sketches_f64_i32 = add_sketches_f64_i32,
    .add_sketches_f64_i64 = add_sketches_f64_i64,
    .hash_entries_f32_i32 = hash_entries_f32_i32,
    .hash_entries_f32_i64 = hash_entries_f32_i64,
    .hash_entries_f64_i32 = hash_entries_f64_i32,
    .hash_entries_f64_i64 = hash_entries_f64_i64,
};
