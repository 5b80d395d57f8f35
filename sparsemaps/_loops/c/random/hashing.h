/* Count sketches: buckets and signs of columns, and sums by bucket.
 *
 * A key is three words. A column is mixed once, whatever the number of keys (random.h). */
#ifndef SPARSEMAPS_HASHING_H
#define SPARSEMAPS_HASHING_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    /* Add the count sketch of n entries, each value times `scale`, under each of n_keys keys: that
     * of key k to sums + k * stride. Entries are added in order. */
    void (*add_sketches_f32_i32)(const uint64_t *keys, ptrdiff_t n_keys, const float *values,
                                 float scale, const int32_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, float *sums, ptrdiff_t stride);
    void (*add_sketches_f32_i64)(const uint64_t *keys, ptrdiff_t n_keys, const float *values,
                                 float scale, const int64_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, float *sums, ptrdiff_t stride);
    void (*add_sketches_f64_i32)(const uint64_t *keys, ptrdiff_t n_keys, const double *values,
                                 double scale, const int32_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, double *sums, ptrdiff_t stride);
    void (*add_sketches_f64_i64)(const uint64_t *keys, ptrdiff_t n_keys, const double *values,
                                 double scale, const int64_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, double *sums, ptrdiff_t stride);
    /* Buckets of n entries, and their values times `scale` with their signs: those under key k from
     * k * width on. */
    void (*hash_entries_f32_i32)(const uint64_t *keys, ptrdiff_t n_keys, const float *values,
                                 float scale, const int32_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, ptrdiff_t width, uint32_t *buckets,
                                 float *signed_values);
    void (*hash_entries_f32_i64)(const uint64_t *keys, ptrdiff_t n_keys, const float *values,
                                 float scale, const int64_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, ptrdiff_t width, uint32_t *buckets,
                                 float *signed_values);
    void (*hash_entries_f64_i32)(const uint64_t *keys, ptrdiff_t n_keys, const double *values,
                                 double scale, const int32_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, ptrdiff_t width, uint32_t *buckets,
                                 double *signed_values);
    void (*hash_entries_f64_i64)(const uint64_t *keys, ptrdiff_t n_keys, const double *values,
                                 double scale, const int64_t *columns, ptrdiff_t n,
                                 uint64_t n_buckets, ptrdiff_t width, uint32_t *buckets,
                                 double *signed_values);
    /* Slots and signed values of n entries, by tables of the slots and signs (1 for a minus) of all
     * columns. */
    void (*look_up_f32_i32)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                            const float *values, const int32_t *columns, ptrdiff_t n,
                            uint32_t *out_slots, float *signed_values);
    void (*look_up_f32_i64)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                            const float *values, const int64_t *columns, ptrdiff_t n,
                            uint32_t *out_slots, float *signed_values);
    void (*look_up_f64_i32)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                            const double *values, const int32_t *columns, ptrdiff_t n,
                            uint32_t *out_slots, double *signed_values);
    void (*look_up_f64_i64)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                            const double *values, const int64_t *columns, ptrdiff_t n,
                            uint32_t *out_slots, double *signed_values);
} hashing_loops;

DECLARE_TABLES(hashing)

#endif
