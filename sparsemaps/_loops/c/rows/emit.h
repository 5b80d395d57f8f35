/* Write sums and hashed entries as CSR rows: columns ascending, no explicit zeros. */
#ifndef SPARSEMAPS_EMIT_H
#define SPARSEMAPS_EMIT_H

#include <stddef.h>
#include <stdint.h>

#include "csr_block.h"
#include "levels.h"
#include "sort.h"

/* Number of items that `compact` may write past the end of its result. */
enum { EMIT_SLACK = 16 };

typedef struct {
    /* Copy the non-zeros among n numbers, in order, with their positions. Return their number. */
    ptrdiff_t (*compact)(const void *numbers, ptrdiff_t n, void *values, int32_t *positions);
} compact_loops;

DECLARE_TABLES_OF_VALUES(compact)

typedef struct {
    /* Copy the non-zero sums of n buckets, whose columns start at `first_column`, and reset the
     * sums to zero. Return the number of non-zeros. */
    ptrdiff_t (*sums)(void *sums, ptrdiff_t n, int64_t first_column, void *values, void *columns);
    /* Copy entries multiplied by `factor`, with columns shifted by `shift`. Products of 0 are
     * skipped. Return the number of entries written. */
    ptrdiff_t (*scaled)(const csr_block *rows, int64_t start, int64_t stop, double factor,
                        int64_t shift, void *values, void *columns);
    /* Sum the entries of each bucket, in their order. `pairs` is scratch space for 2 n pairs.
     * Return the number of non-zero sums. */
    ptrdiff_t (*entries)(const uint32_t *buckets, const void *entries, ptrdiff_t n,
                         uint32_t n_buckets, pair_t *pairs, void *values, void *columns);
    /* The same, given each entry's slot: the index of its bucket in the ascending list `buckets`.
     * `sums`, one number per slot, and `marks`, one bit per slot, must be zero, and are zero again
     * on return. */
    ptrdiff_t (*slots)(const uint32_t *slots, const void *entries, ptrdiff_t n, void *sums,
                       uint64_t *marks, ptrdiff_t n_marks, const uint32_t *buckets, void *values,
                       void *columns);
} emit_loops;

DECLARE_TABLES_OF_ENTRIES(emit)

#endif
