#include "hashing.h"

#include <string.h>

#include "random.h"
#include "vectors.h"

/* Columns per vector; entries hashed before they are added; keys hashed at the same time. */
enum { HASH_STEP = 8, HASH_AT_ONCE = 128, HASH_KEYS = 2 };

/* Vectors of HASH_STEP values or columns. */
typedef half_lanes_f32 vector_f32;
typedef lanes_f64 vector_f64;
typedef half_lanes_i32 vector_i32;
typedef lanes_i64 vector_i64;

/* Apply `pair_multiply` per lane. */
INLINE lanes_u64 hash_lanes(const uint64_t *key, lanes_u64 mixed)
{
    return (key[0] + (mixed >> 32)) * (key[1] + (mixed & UINT32_MAX)) + key[2];
}

/* Apply `hash_bucket` per lane. */
INLINE void hash_buckets(lanes_u64 hashes, uint64_t n_buckets, uint32_t *buckets)
{
    half_lanes_u32 positions = LANES_CONVERT(half_lanes_u32, ((hashes >> 32) * n_buckets) >> 32);
    memcpy(buckets, &positions, sizeof positions);
}

/* Apply signs to values: flip the sign bit by exclusive or if `hash_sign` is 1. */
INLINE float sign_f32(float value, uint64_t hash)
{
    return bits_to_float(float_to_bits(value) ^ hash_sign(hash) << 31);
}

INLINE double sign_f64(double value, uint64_t hash)
{
    return bits_to_double(double_to_bits(value) ^ (uint64_t)hash_sign(hash) << 63);
}

INLINE void signs_f32(vector_f32 values, lanes_u64 hashes, float *signed_values)
{
    half_lanes_u32 signs = LANES_CONVERT(half_lanes_u32, hashes & (UINT64_C(1) << 31));
    values = LANES_BITS(vector_f32, LANES_BITS(half_lanes_u32, values) ^ signs);
    memcpy(signed_values, &values, sizeof values);
}

INLINE void signs_f64(vector_f64 values, lanes_u64 hashes, double *signed_values)
{
    lanes_u64 signs = (hashes & (UINT64_C(1) << 31)) << 32;
    values = LANES_BITS(vector_f64, LANES_BITS(lanes_u64, values) ^ signs);
    memcpy(signed_values, &values, sizeof values);
}

#define TEMPLATE "hashing.template.h"
#include "each_entry.h"

#define LOOPS(TYPES)                                                                               \
    {.add_sketches = add_sketches_##TYPES,                                                         \
     .hash_entries = hash_entries_##TYPES,                                                         \
     .look_up = look_up_##TYPES}
const hashing_loops TABLE(hashing)[] = OF_EACH_ENTRY(LOOPS);
