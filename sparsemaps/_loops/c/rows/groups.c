#include "groups.h"

#include <math.h>

#include "csr_block.h"
#include "random.h"
#include "sort.h"

/* Append a column to the group. */
static void add_column(uint64_t key, uint64_t column, uint32_t position, group_t *group)
{
    group->starts[group->n_columns] = column_start(key, column);
    group->positions[group->n_columns] = position;
    group->n_columns++;
}

/* Number the columns of the entries in words[0]; no column exceeds `largest`. Each word holds a
 * column and, in its lowest bits, the position of the entry. */
static void number_by_table(uint64_t largest, uint64_t key, group_t *group)
{
    const uint64_t *words = group->words[0];
    const uint32_t mask = GROUP_ENTRIES - 1;
    uint32_t *table = group->table; /* entry position + 1, or 0; later the number */
    group->n_columns = 0;
    group->starts = group->words[1];
    memset(table, 0, (largest + 1) * sizeof *table);
    for (ptrdiff_t i = 0; i < group->n_entries; i++)
        table[words[i] >> GROUP_ENTRY_BITS] = ((uint32_t)words[i] & mask) + 1;
    for (uint64_t column = 0; column <= largest; column++) {
        if (table[column]) {
            add_column(key, column, table[column] - 1, group);
            table[column] = (uint32_t)group->n_columns - 1;
        }
    }
    for (ptrdiff_t i = 0; i < group->n_entries; i++)
        group->numbers[(uint32_t)words[i] & mask] = table[words[i] >> GROUP_ENTRY_BITS];
}

/* Number columns of up to `bits` bits, by sorting. */
static void number_by_sorting(int bits, uint64_t key, group_t *group)
{
    /* A word has no room for more bits next to the position. `fits` has checked this, but another
     * thread may have changed the columns since. */
    const int most = 64 - GROUP_ENTRY_BITS;
    const uint64_t *words = sort_words(group->words[0], group->words[1], (size_t)group->n_entries,
                                       GROUP_ENTRY_BITS, bits < most ? bits : most);
    const uint32_t mask = GROUP_ENTRIES - 1;
    uint64_t column = 0;
    group->n_columns = 0;
    group->starts = words == group->words[0] ? group->words[0] : group->words[1];
    for (ptrdiff_t i = 0; i < group->n_entries; i++) {
        const uint64_t word = words[i]; /* read first: add_column may overwrite it with a start */
        const uint32_t position = (uint32_t)word & mask;
        if (i == 0 || word >> GROUP_ENTRY_BITS != column) {
            column = word >> GROUP_ENTRY_BITS;
            add_column(key, column, position, group);
        }
        group->numbers[position] = (uint32_t)group->n_columns - 1;
    }
}

/* Compute where each batch's entries start. batch_ends holds these starts until the entries are
 * placed. */
static void start_batches(group_t *group)
{
    const ptrdiff_t n_batches = (group->n_columns + GROUP_BATCH - 1) / GROUP_BATCH;
    uint32_t total = 0;
    memset(group->batch_ends, 0, (size_t)n_batches * sizeof *group->batch_ends);
    for (ptrdiff_t i = 0; i < group->n_entries; i++)
        group->batch_ends[group->numbers[i] / GROUP_BATCH]++;
    for (ptrdiff_t batch = 0; batch < n_batches; batch++) {
        const uint32_t here = group->batch_ends[batch];
        group->batch_ends[batch] = total;
        total += here;
    }
}

/* Assign the slots of a single row or of a part of one. */
static void number_one_row(group_t *group)
{
    const ptrdiff_t n = group->n_entries;
    group->row_starts[0] = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        group->slots[i] = (uint32_t)i;
    group->slots[n] = UINT32_MAX;
}

/* Assign slots in row order, from the numbers of the columns. */
static void number_rows(const int64_t *indptr, ptrdiff_t n_rows, group_t *group)
{
    const int64_t start = indptr[0];
    for (ptrdiff_t row = 0; row < n_rows; row++) {
        const uint32_t bits = (uint32_t)row << GROUP_ENTRY_BITS;
        group->row_starts[row] = (uint32_t)(indptr[row] - start);
        for (int64_t i = indptr[row] - start; i < indptr[row + 1] - start; i++)
            group->slots[i] = bits | group->numbers[i];
    }
    group->slots[group->n_entries] = UINT32_MAX;
}

#define TEMPLATE "groups.template.h"
#include "each_entry.h"

#define LOOPS(TYPES) {.gather_row = gather_row_##TYPES, .gather_rows = gather_rows_##TYPES}
const groups_loops TABLE(groups)[] = OF_EACH_ENTRY(LOOPS);
