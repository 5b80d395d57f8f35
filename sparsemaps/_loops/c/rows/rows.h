/* Branch-free, and hence vectorised, passes over the entries of a block. */
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

/* A non-zero value is extreme if its magnitude is below ROWS_TINY or at least ROWS_LARGE. From 2^24
 * on, float32 cannot represent all integers. Between the limits, sums of 2^40 products with random
 * numbers neither overflow nor underflow. */
#define ROWS_TINY 0x1p-100
#define ROWS_LARGE_F32 0x1p24
#define ROWS_LARGE_F64 0x1p100

/* The order of a row's columns. */
enum { ROWS_UNSORTED, ROWS_ASCENDING, ROWS_DESCENDING };

typedef struct {
    /* Return the combined flags of n entries, except ROWS_NOT_CANONICAL, which concerns rows. */
    int (*faults)(const void *values, const void *indices, ptrdiff_t n, uint64_t n_columns);
    /* Copy n entries in reverse order. */
    void (*reverse)(const void *values, const void *indices, ptrdiff_t n, void *out_values,
                    void *out_indices);
    /* Copy the entries whose values are not 0, in order. Return their number. The output must have
     * room for n. */
    ptrdiff_t (*nonzeros)(const void *values, const void *indices, ptrdiff_t n, void *out_values,
                          void *out_indices);
    /* Return the largest index, compared as unsigned integers of its width, so that negative ones
     * are the largest. */
    uint64_t (*largest)(const void *indices, ptrdiff_t n);
    /* Count the indices that are not greater than their predecessor. */
    ptrdiff_t (*descents)(const void *indices, ptrdiff_t n);
    /* Return the order of n distinct indices. Fewer than two are ascending. */
    int (*order)(const void *indices, ptrdiff_t n);
} rows_loops;

DECLARE_TABLES_OF_ENTRIES(rows)

#endif
