/* Groups of rows that share the random numbers of their columns: what a column needs is made once
 * for all rows of a group and a tile of components.
 *
 * The distinct columns of a group in ascending order make batches, whose random numbers are made in
 * one go and stay in the cache while they are used: a loop over the numbers of a single column is
 * too short to keep the processor busy. A group's entries are taken batch after batch, and within a
 * batch row after row, so that a row's sums stay in registers for all its entries of a batch.
 * Whatever the groups are, each row's entries are taken in ascending order of their columns.
 *
 * A kernel whose batches are large enough for several entries of each row asks for entries in the
 * order of the input: row after row. It cuts the columns into batches itself, and keeps the next
 * entry of each row. */
#ifndef SPARSEMAPS_GROUPS_H
#define SPARSEMAPS_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum {
    GROUP_BATCH = 64, /* columns */
    GROUP_ENTRY_BITS = 18,
    GROUP_ENTRIES = 1 << GROUP_ENTRY_BITS, /* bounds the memory */
    GROUP_ROWS = 4096,                     /* a tile of all rows' sums stays in the cache */
    GROUP_TABLE_COLUMNS = 1 << 18          /* up to so many columns may be numbered by a table */
};

typedef struct {
    ptrdiff_t n_columns, n_entries;
    uint64_t *starts;     /* of each column's random words */
    uint32_t *positions;  /* of one entry of each column, from the group's first */
    uint32_t *batch_ends; /* end of each batch's entries; NULL where entries are row after row */
    /* Of each entry, GROUP_BATCH * row + number of its column in the batch. Where entries are row
     * after row, row << GROUP_ENTRY_BITS | number of its column in the group; behind the last one
     * stands the largest of all numbers. */
    uint32_t *slots;
    uint32_t *row_starts; /* the first entry of each row; where entries are row after row only */
    const void *values;   /* of each entry, of the input's type */
    float *logarithms;    /* `power` times that of each entry's absolute value; NULL where nobody
                           * wants them */
    double power;
    /* Scratch: two words for each entry, of which one becomes its column's start and the other its
     * value; the number of each entry's column; and the number of each column, for as many columns
     * as the smaller of GROUP_TABLE_COLUMNS and 8 for each entry. */
    uint64_t *words[2];
    uint32_t *numbers;
    uint32_t *table;
} group_t;

typedef struct {
    /* Gather entries `start` to `stop` of a single row, which are in order and at most
     * GROUP_ENTRIES; positions count from entry `first`. Columns are those of csr_block.h. */
    void (*gather_row)(const void *values, const void *indices, int64_t start, int64_t stop,
                       int64_t first, uint64_t key, int is_signed, group_t *group);
    /* Gather the entries of the rows that indptr[0] to indptr[n_rows] delimit, at most
     * GROUP_ENTRIES, whose columns fit beside an entry's number in 64 bits; positions count from
     * the first of them. */
    void (*gather_rows)(const void *values, const void *indices, const int64_t *indptr,
                        ptrdiff_t n_rows, uint64_t key, int is_signed, group_t *group);
} groups_loops;

DECLARE_TABLES_OF_ENTRIES(groups)

#endif
