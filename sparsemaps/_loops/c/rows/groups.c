#include "groups.h"

#include <math.h>

#include "csr_block.h"
#include "random.h"
#include "sort.h"

/* Number the columns of the entries in words[0], which take `bits` bits: each word is a column with the
 * position of its entry in the lowest bits. */
static void number_columns(int bits, uint64_t key, group_t *group)
{
    const uint64_t *words = sort_words(group->words[0], group->words[1], (size_t)group->n_entries,
                                       GROUP_ENTRY_BITS, bits);
    const uint32_t mask = GROUP_ENTRIES - 1;
    uint64_t column = 0;
    group->n_columns = 0;
    group->starts = words == group->words[0] ? group->words[0] : group->words[1];
    for (ptrdiff_t i = 0; i < group->n_entries; i++) {
        const uint64_t word = words[i]; /* a start may be written in its place */
        const uint32_t position = (uint32_t)word & mask;
        if (i == 0 || word >> GROUP_ENTRY_BITS != column) {
            column = word >> GROUP_ENTRY_BITS;
            group->starts[group->n_columns] = column_start(key, column);
            group->positions[group->n_columns++] = position;
        }
        group->numbers[position] = (uint32_t)group->n_columns - 1;
    }
}

/* Where each batch's entries begin: batch_ends, as they are before the entries are put there. */
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

/* The slots of entries that stay row after row, from the numbers of their columns. */
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
