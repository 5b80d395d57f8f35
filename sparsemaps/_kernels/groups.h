/* Entries of a group of rows in the order in which their random numbers are made. */
#ifndef SPARSEMAPS_GROUPS_H
#define SPARSEMAPS_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "random.h"

/* Columns whose random numbers are made in one go, and stay in the cache while they are used: as
 * a loop over the numbers of one is too short to keep the processor busy. */
enum { BATCH = 32 };

/* The distinct columns of a group in ascending order, in batches, and their entries: batch after
 * batch, and within one in any order in which each row's columns ascend. */
typedef struct {
    ptrdiff_t n_columns;
    uint64_t *starts;    /* of each column's words */
    uint32_t *positions; /* of one entry of each column, from the group's first */
    uint32_t *ends;      /* of each batch's entries */
    uint32_t *places;    /* of each entry, BATCH * row + number of its column in the batch */
    void *values;        /* of each entry */
    void *sums;          /* of each row, as far as a tile goes */
} group_t;

#endif
