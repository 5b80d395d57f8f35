/* Counts of byte n-grams of texts, without a hash.
 *
 * Input: the bytes of a text.
 * Output: for the n-grams of one size the columns, ascending, and how often each occurs. A column is
 *     the n-gram as a big-endian number, plus `first`.
 * Cost: O(bytes) for each size; sorting takes a pass for each byte of an n-gram. */
#ifndef SPARSEMAPS_TEXT_BYTES_H
#define SPARSEMAPS_TEXT_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum { TEXT_BYTES_LONGEST = 7 };

typedef struct {
    /* `out` = `bytes`, their ASCII letters small ones. */
    void (*lower)(const uint8_t *bytes, int64_t n, uint8_t *out);
    /* `items` and `other` have room for n words of 64 bits. Returns the number of columns. */
    int64_t (*count_i32)(const uint8_t *bytes, int64_t n, int size, int64_t first, uint64_t *items,
                         uint64_t *other, int32_t *columns, int32_t *counts);
    int64_t (*count_i64)(const uint8_t *bytes, int64_t n, int size, int64_t first, uint64_t *items,
                         uint64_t *other, int64_t *columns, int32_t *counts);
} text_bytes_loops;

DECLARE_TABLES(text_bytes)

#endif
