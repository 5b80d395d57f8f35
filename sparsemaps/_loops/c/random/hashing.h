/* Count sketches: hash columns to buckets and signs, and sum by bucket.
 *
 * A key has three words. Each column is mixed once, whatever the number of keys (random.h). */
#ifndef SPARSEMAPS_HASHING_H
#define SPARSEMAPS_HASHING_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    /* Add the count sketches of n entries, with values times `scale`, for n_keys keys. The sketch
     * for key k is added to sums + k * stride. Entries are added in order. */
    void (*add_sketches)(const uint64_t *keys, ptrdiff_t n_keys, const void *values, double scale,
                         const void *columns, ptrdiff_t n, uint64_t n_buckets, void *sums,
                         ptrdiff_t stride);
    /* Compute the buckets of n entries, and their values times `scale` and sign. Results for key k
     * start at k * width. */
    void (*hash_entries)(const uint64_t *keys, ptrdiff_t n_keys, const void *values, double scale,
                         const void *columns, ptrdiff_t n, uint64_t n_buckets, ptrdiff_t width,
                         uint32_t *buckets, void *signed_values);
    /* Look up the slots and signs of n entries in tables that cover all columns (sign 1 means
     * minus). */
    void (*look_up)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                    const void *values, const void *columns, ptrdiff_t n, uint32_t *out_slots,
                    void *signed_values);
} hashing_loops;

DECLARE_TABLES_OF_ENTRIES(hashing)

#endif
