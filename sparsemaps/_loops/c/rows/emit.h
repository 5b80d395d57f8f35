/* Sums and hashed entries as rows of CSR: ascending columns, no zeros. */
#ifndef SPARSEMAPS_EMIT_H
#define SPARSEMAPS_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "sort.h"

/* How far beyond what they hold the outputs of `compact` may be written. */
enum { EMIT_SLACK = 16 };

typedef struct {
    /* Copy the non-zeros among n numbers, in order, and their positions. Returns their count. */
    ptrdiff_t (*compact_f32)(const float *numbers, ptrdiff_t n, float *values, int32_t *positions);
    ptrdiff_t (*compact_f64)(const double *numbers, ptrdiff_t n, double *values,
                             int32_t *positions);
    /* Copy the non-zeros among the sums of n buckets, and set the sums to zero. Returns the count
     * of the non-zeros. */
    ptrdiff_t (*sums_f32_i32)(float *sums, ptrdiff_t n, float *values, int32_t *columns);
    ptrdiff_t (*sums_f32_i64)(float *sums, ptrdiff_t n, float *values, int64_t *columns);
    ptrdiff_t (*sums_f64_i32)(double *sums, ptrdiff_t n, double *values, int32_t *columns);
    ptrdiff_t (*sums_f64_i64)(double *sums, ptrdiff_t n, double *values, int64_t *columns);
    /* The sums of the entries of each bucket, added in their order; `pairs` is a scratch of 2 n.
     * Returns how many sums are not zero. */
    ptrdiff_t (*entries_f32_i32)(const uint32_t *buckets, const float *entries, ptrdiff_t n,
                                 uint32_t n_buckets, pair_t *pairs, float *values,
                                 int32_t *columns);
    ptrdiff_t (*entries_f32_i64)(const uint32_t *buckets, const float *entries, ptrdiff_t n,
                                 uint32_t n_buckets, pair_t *pairs, float *values,
                                 int64_t *columns);
    ptrdiff_t (*entries_f64_i32)(const uint32_t *buckets, const double *entries, ptrdiff_t n,
                                 uint32_t n_buckets, pair_t *pairs, double *values,
                                 int32_t *columns);
    ptrdiff_t (*entries_f64_i64)(const uint32_t *buckets, const double *entries, ptrdiff_t n,
                                 uint32_t n_buckets, pair_t *pairs, double *values,
                                 int64_t *columns);
    /* The same where the slot of each entry is the place of its bucket in `buckets`, an ascending
     * list. `sums`, one for each slot, and `marks`, a bit for each, are zeros and stay zeros. */
    ptrdiff_t (*slots_f32_i32)(const uint32_t *slots, const float *entries, ptrdiff_t n,
                               float *sums, uint64_t *marks, ptrdiff_t n_marks,
                               const uint32_t *buckets, float *values, int32_t *columns);
    ptrdiff_t (*slots_f32_i64)(const uint32_t *slots, const float *entries, ptrdiff_t n,
                               float *sums, uint64_t *marks, ptrdiff_t n_marks,
                               const uint32_t *buckets, float *values, int64_t *columns);
    ptrdiff_t (*slots_f64_i32)(const uint32_t *slots, const double *entries, ptrdiff_t n,
                               double *sums, uint64_t *marks, ptrdiff_t n_marks,
                               const uint32_t *buckets, double *values, int32_t *columns);
    ptrdiff_t (*slots_f64_i64)(const uint32_t *slots, const double *entries, ptrdiff_t n,
                               double *sums, uint64_t *marks, ptrdiff_t n_marks,
                               const uint32_t *buckets, double *values, int64_t *columns);
} emit_loops;

DECLARE_TABLES(emit)

#endif
