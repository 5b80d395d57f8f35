/* Sums and hashed entries as rows of CSR: ascending columns, no zeros. */
#ifndef SPARSEMAPS_EMIT_H
#define SPARSEMAPS_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "csr_block.h"
#include "levels.h"
#include "sort.h"

/* How far beyond what they hold the outputs of `compact` may be written. */
enum { EMIT_SLACK = 16 };

typedef struct {
    /* Copy the non-zeros among n numbers, in order, and their positions. Returns their count. */
    ptrdiff_t (*compact)(const void *numbers, ptrdiff_t n, void *values, int32_t *positions);
} compact_loops;

DECLARE_TABLES_OF_VALUES(compact)

typedef struct {
    /* Copy the non-zeros among the sums of n buckets, whose columns begin with `first_column`, and
     * set the sums to zero. Returns the count of the non-zeros. */
    ptrdiff_t (*sums)(void *sums, ptrdiff_t n, int64_t first_column, void *values, void *columns);
    /* Copy entries times a factor, unless that is 0, `shift` columns on. Returns their count. */
    ptrdiff_t (*scaled)(const csr_block *rows, int64_t start, int64_t stop, double factor,
                        int64_t shift, void *values, void *columns);
    /* The sums of the entries of each bucket, added in their order; `pairs` is a scratch of 2 n.
     * Returns how many sums are not zero. */
    ptrdiff_t (*entries)(const uint32_t *buckets, const void *entries, ptrdiff_t n,
                         uint32_t n_buckets, pair_t *pairs, void *values, void *columns);
    /* The same where the slot of each entry is the place of its bucket in `buckets`, an ascending
     * list. `sums`, one for each slot, and `marks`, a bit for each, are zeros and stay zeros. */
    ptrdiff_t (*slots)(const uint32_t *slots, const void *entries, ptrdiff_t n, void *sums,
                       uint64_t *marks, ptrdiff_t n_marks, const uint32_t *buckets, void *values,
                       void *columns);
} emit_loops;

DECLARE_TABLES_OF_ENTRIES(emit)

#endif
