/* Counts of byte n-grams, without hashing.
 *
 * Input: the bytes of a text.
 * Output: for n-grams of one size, the columns, ascending, and how often each occurs. A column is
 * the n-gram as a big-endian number, plus `first`.
 * Cost: O(bytes) per size. N-grams of up to three bytes are counted in a table of all n-grams, and
 * the distinct ones are sorted; longer n-grams are sorted first, with one pass per 11 bits. */
#ifndef SPARSEMAPS_TEXT_BYTES_H
#define SPARSEMAPS_TEXT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum { TEXT_BYTES_SHORT = 3, TEXT_BYTES_COUNTERS = 1 << 8 * TEXT_BYTES_SHORT };

typedef struct {
    /* Copy `bytes` to `out`, with ASCII letters lowercased. */
    void (*lower)(const uint8_t *bytes, int64_t n, uint8_t *out);
    /* Count the n-grams of one size. `counters` must be TEXT_BYTES_COUNTERS zeros, and are zero
     * again on return; or NULL, to sort all n-grams. `items` and `other` must have room for one
     * word per byte. Return the number of columns. */
    int64_t (*count)(const uint8_t *bytes, int64_t n, int size, int64_t first, uint16_t *counters,
                     uint64_t *items, uint64_t *other, void *columns, size_t index_size,
                     int32_t *counts);
} text_bytes_loops;

DECLARE_TABLES(text_bytes)

#endif
