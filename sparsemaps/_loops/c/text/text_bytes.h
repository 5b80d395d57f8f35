/* Counts of byte n-grams of texts, without a hash.
 *
 * Input: the bytes of a text.
 * Output: for the n-grams of one size the columns, ascending, and how often each occurs. A column is
 *     the n-gram as a big-endian number, plus `first`.
 * Cost: O(bytes) for each size. N-grams of up to three bytes are counted in a table of all of them,
 *     and what is met is sorted; others are sorted first, by a pass for each 11 bits. */
#ifndef SPARSEMAPS_TEXT_BYTES_H
#define SPARSEMAPS_TEXT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum { TEXT_BYTES_SHORT = 3, TEXT_BYTES_COUNTERS = 1 << 8 * TEXT_BYTES_SHORT };

typedef struct {
    /* `out` = `bytes`, their ASCII letters small ones. */
    void (*lower)(const uint8_t *bytes, int64_t n, uint8_t *out);
    /* `counters` are TEXT_BYTES_COUNTERS zeros and stay so, or NULL: then all n-grams are sorted.
     * `items` and `other` have room for n words. Returns the number of columns. */
    int64_t (*count)(const uint8_t *bytes, int64_t n, int size, int64_t first, uint16_t *counters,
                     uint64_t *items, uint64_t *other, void *columns, size_t index_size,
                     int32_t *counts);
} text_bytes_loops;

DECLARE_TABLES(text_bytes)

#endif
