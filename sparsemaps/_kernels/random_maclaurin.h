/* Projections on Rademacher vectors, whose entries are bits of the words of a column. */
#ifndef SPARSEMAPS_RANDOM_MACLAURIN_H
#define SPARSEMAPS_RANDOM_MACLAURIN_H

#include <stddef.h>

#include "random.h"

enum { TILE = 64 }; /* components of one word */

typedef struct {
    uint64_t column;
    double value;
    int64_t row; /* whose sums to add to */
} rademacher_entry;

/* Add value * (+-1) of each entry to the TILE sums of its row, for the components of one word.
 * Entries of one column must be neighbours: they share the signs, which are made once. */
#define DEFINE_RADEMACHER_TILE(NAME, VALUE)                                                        \
    CLONES static void NAME(uint64_t key, uint64_t tile, const rademacher_entry *entries,          \
                            ptrdiff_t n, VALUE *sums)                                              \
    {                                                                                              \
        VALUE signs[TILE];                                                                         \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            if (i == 0 || entries[i].column != entries[i - 1].column) {                            \
                uint64_t bits = word(column_start(key, entries[i].column), tile);                  \
                uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);                      \
                for (int j = 0; j < 32; j++)                                                       \
                    signs[j] = (VALUE)(1 - 2 * (int32_t)(low >> j & 1));                           \
                for (int j = 0; j < 32; j++)                                                       \
                    signs[32 + j] = (VALUE)(1 - 2 * (int32_t)(high >> j & 1));                     \
            }                                                                                      \
            VALUE value = (VALUE)entries[i].value;                                                 \
            VALUE *restrict row = sums + TILE * entries[i].row;                                    \
            for (int j = 0; j < TILE; j++)                                                         \
                row[j] += value * signs[j];                                                        \
        }                                                                                          \
    }

DEFINE_RADEMACHER_TILE(rademacher_tile_f32, float)
DEFINE_RADEMACHER_TILE(rademacher_tile_f64, double)

#endif
