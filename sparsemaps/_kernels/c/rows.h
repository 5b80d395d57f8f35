/* Passes over the entries of a block, one for each question; without branches, so vectorised. */
#ifndef SPARSEMAPS_ROWS_H
#define SPARSEMAPS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    /* Whether any of n values is NaN or infinite; whether any is below 0. */
    int (*any_infinite_f32)(const float *values, ptrdiff_t n);
    int (*any_infinite_f64)(const double *values, ptrdiff_t n);
    int (*any_negative_f32)(const float *values, ptrdiff_t n);
    int (*any_negative_f64)(const double *values, ptrdiff_t n);
    /* The largest index, as an unsigned number of its own width, so that negative ones are large. */
    uint64_t (*largest_i32)(const int32_t *indices, ptrdiff_t n);
    uint64_t (*largest_i64)(const int64_t *indices, ptrdiff_t n);
    /* How many indices are not above the one before. */
    ptrdiff_t (*descents_i32)(const int32_t *indices, ptrdiff_t n);
    ptrdiff_t (*descents_i64)(const int64_t *indices, ptrdiff_t n);
} rows_loops;

DECLARE_TABLES(rows)

#endif
