/* Groups of rows that share the random numbers of their columns: a column's random numbers are
 * computed once for all rows of a group and one tile of components.
 *
 * The distinct columns of a group, in ascending order, are split into batches. The random numbers
 * of a batch are computed together and stay in the cache while they are used; a loop over the
 * numbers of a single column would be too short to keep the processor busy. Entries are processed
 * batch by batch, and row by row within a batch, so that a row's sums stay in registers for all of
 * its entries in a batch. Whatever the grouping, each row's entries are processed in ascending
 * order of their columns.
 *
 * A kernel whose batches hold several entries of each row requests the entries in input order, row
 * by row. It splits the columns into batches itself and tracks the next entry of each row. */
#ifndef SPARSEMAPS_GROUPS_H
#define SPARSEMAPS_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum {
    GROUP_BATCH = 64, /* columns */
    GROUP_ENTRY_BITS = 18,
    GROUP_ENTRIES = 1 << GROUP_ENTRY_BITS, /* limits memory */
    GROUP_ROWS = 4096,                     /* one tile of sums for all rows stays in the cache */
    GROUP_TABLE_COLUMNS = 1 << 18          /* most columns that may be numbered by a table */
};

typedef struct {
    ptrdiff_t n_columns, n_entries;
    uint64_t *starts;     /* start of each column's random words */
    uint32_t *positions;  /* for each column, the position of one of its entries in the group */
    uint32_t *batch_ends; /* end of each batch's entries; NULL if entries are in row order */
    /* For each entry, GROUP_BATCH * row + the number of its column in the batch. If entries are in
     * row order: row << GROUP_ENTRY_BITS | the number of its column in the group, followed by
     * UINT32_MAX as a sentinel. */
    uint32_t *slots;
    uint32_t *row_starts; /* first entry of each row; only if entries are in row order */
    const void *values;   /* of each entry, of the input's type */
    float *logarithms;    /* `power` * ln |value| of each entry; NULL if not needed */
    double power;
    /* Scratch: two words per entry, one for the column (then the column's start) and one for the
     * value; the column number of each entry; and a table of the smaller of GROUP_TABLE_COLUMNS and
     * 8 numbers per entry. */
    uint64_t *words[2];
    uint32_t *numbers;
    uint32_t *table;
} group_t;

typedef struct {
    /* Gather entries `start` to `stop` of a single row. They must be sorted and at most
     * GROUP_ENTRIES. Positions are relative to entry `first`. Columns are split by sign as in
     * csr_block.h. */
    void (*gather_row)(const void *values, const void *indices, int64_t start, int64_t stop,
                       int64_t first, uint64_t key, int is_signed, group_t *group);
    /* Gather the entries of the rows delimited by indptr[0] to indptr[n_rows], at most
     * GROUP_ENTRIES. A column and the position of an entry must fit into 64 bits together.
     * Positions are relative to the first entry. */
    void (*gather_rows)(const void *values, const void *indices, const int64_t *indptr,
                        ptrdiff_t n_rows, uint64_t key, int is_signed, group_t *group);
} groups_loops;

DECLARE_TABLES_OF_ENTRIES(groups)

#endif
