/* Passes over the entries of a block; without branches, so vectorised. */
#ifndef SPARSEMAPS_ROWS_H
#define SPARSEMAPS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

/* Flags of entries and rows. */
enum {
    ROWS_OUT_OF_RANGE = 1,
    ROWS_NOT_CANONICAL = 2,
    ROWS_NOT_FINITE = 4,
    ROWS_NEGATIVE = 8,
    ROWS_ZERO = 16,
    ROWS_EXTREME = 32,
};

/* Values that are not 0 are extreme below ROWS_TINY, and from here on. In float32, from 2^24 on not
 * all whole numbers exist. Between the limits, sums of 2^40 products with random numbers are in
 * range. */
#define ROWS_TINY 0x1p-100
#define ROWS_LARGE_F32 0x1p24
#define ROWS_LARGE_F64 0x1p100

/* The order of a row's columns. */
enum { ROWS_UNSORTED, ROWS_ASCENDING, ROWS_DESCENDING };

typedef struct {
    /* The flags of n entries, each by itself: all but ROWS_NOT_CANONICAL. */
    int (*faults)(const void *values, const void *indices, ptrdiff_t n, uint64_t n_columns);
    /* Entries from the last to the first. */
    void (*reverse)(const void *values, const void *indices, ptrdiff_t n, void *out_values,
                    void *out_indices);
    /* Those of n entries whose values are not 0; returns how many. The output has room for n. */
    ptrdiff_t (*nonzeros)(const void *values, const void *indices, ptrdiff_t n, void *out_values,
                          void *out_indices);
    /* The largest index, as an unsigned number of its own width, so that negative ones are large. */
    uint64_t (*largest)(const void *indices, ptrdiff_t n);
    /* How many indices are not above the one before. */
    ptrdiff_t (*descents)(const void *indices, ptrdiff_t n);
    /* In which order n indices are, none of them twice; fewer than two ascend. */
    int (*order)(const void *indices, ptrdiff_t n);
} rows_loops;

DECLARE_TABLES_OF_ENTRIES(rows)

#endif
