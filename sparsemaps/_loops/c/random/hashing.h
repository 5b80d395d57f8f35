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
    void (*add_sketches)(const uint64_t *keys, ptrdiff_t n_keys, const void *values, double scale,
                         const void *columns, ptrdiff_t n, uint64_t n_buckets, void *sums,
                         ptrdiff_t stride);
    /* Buckets of n entries, and their values times `scale` with their signs: those under key k from
     * k * width on. */
    void (*hash_entries)(const uint64_t *keys, ptrdiff_t n_keys, const void *values, double scale,
                         const void *columns, ptrdiff_t n, uint64_t n_buckets, ptrdiff_t width,
                         uint32_t *buckets, void *signed_values);
    /* Slots and signed values of n entries, by tables of the slots and signs (1 for a minus) of all
     * columns. */
    void (*look_up)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                    const void *values, const void *columns, ptrdiff_t n, uint32_t *out_slots,
                    void *signed_values);
} hashing_loops;

DECLARE_TABLES_OF_ENTRIES(hashing)

#endif
