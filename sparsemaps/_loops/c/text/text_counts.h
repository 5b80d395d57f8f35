/* Hashes to columns, columns to counts, counts to values (text.h). */
#ifndef SPARSEMAPS_TEXT_COUNTS_H
#define SPARSEMAPS_TEXT_COUNTS_H

#include <math.h>
#include <stdlib.h>

#include "text.h"
#include "text_simd.h"
#include "text_sort.h"

/* Convert each hash, as a signed number h, to |h| mod n_features in bits 1 to 31, with bit 0 set if
 * h is negative. */
static void hashes_to_columns(uint32_t *items, int64_t n, uint32_t n_features)
{
    if ((n_features & (n_features - 1)) == 0) {
        for (int64_t i = 0; i < n; i++) {
            const uint32_t negative = items[i] >> 31;
            items[i] = (((items[i] ^ -negative) + negative) & (n_features - 1)) << 1 | negative;
        }
        return;
    }
    /* Lemire, Kaser & Kurz 2019: the remainder from the fraction of the quotient. */
    const uint64_t reciprocal = UINT64_MAX / n_features + 1;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t negative = items[i] >> 31;
        const uint64_t fraction = reciprocal * ((items[i] ^ -negative) + negative);
        const uint64_t carried = (fraction & UINT32_MAX) * n_features >> 32;
        const uint32_t column = (uint32_t)(((fraction >> 32) * n_features + carried) >> 32);
        items[i] = column << 1 | negative;
    }
}

static int64_t count_columns(text_job *job, int32_t *columns)
{
    int32_t *counts = job->counts;
    const int64_t n = job->n_items;
    if (n == 0)
        return 0;
    const uint32_t *items = sort_items(job->items, job->sorted, n, job->column_bits);
    const uint32_t sign = job->signs ? 2 : 0;
    int64_t at = -1;
    uint32_t before = ~items[0] >> 1;
    int32_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t column = items[i] >> 1;
        const int32_t one = 1 - (int32_t)(sign * (items[i] & 1)), is_new = column != before;
        at += is_new;
        sum = is_new ? one : sum + one;
        columns[at] = (int32_t)column;
        counts[at] = sum;
        before = column;
    }
    return at + 1;
}

static int64_t count(text_job *job, int32_t *columns)
{
    hashes_to_columns(job->items, job->n_items, job->n_features);
    return count_columns(job, columns);
}

/* List distinct columns with an ordered hash table: a column's first slot is given by its upper
 * bits, and columns in the slots from its place on are shifted up. Hashes spread evenly over the
 * slots. For adversarial texts they may not, so if many steps were taken, columns are sorted
 * instead. */
static int64_t distinct(text_job *job, int32_t *columns)
{
    const uint32_t none = UINT32_MAX;
    const register_u32 all_none = (register_u32){0} + none;
    const int64_t n = job->n_items, n_slots = text_table_slots(n);
    const int bits = __builtin_ctzll((uint64_t)n_slots);
    const int shift = job->column_bits > bits ? job->column_bits - bits : 0;
    uint32_t *table = job->sorted;
    const uint32_t *last = table + n_slots + TEXT_TABLE_MORE - 1;
    int64_t end = 0, steps = 8 * n;
    memset(table, 0xff, (size_t)(n_slots + TEXT_TABLE_MORE) * sizeof *table);
    hashes_to_columns(job->items, n, job->n_features);
    for (int64_t i = 0; i < n; i++) {
        uint32_t column = job->items[i] >> 1;
        uint32_t *slot = table + (column >> shift);
        for (; *slot < column; slot++)
            steps--;
        if (*slot == column)
            continue;
        for (; column != none && slot < last; slot++, steps--) {
            const uint32_t next = *slot;
            *slot = column;
            column = next;
        }
        if (slot == last || steps < 0)
            return count_columns(job, columns);
    }
    for (int64_t i = 0; i < n_slots + TEXT_TABLE_MORE; i += HASHES_AT_ONCE) {
        const register_u32 words = load_words(table + i);
        end += store_chosen((uint32_t *)columns + end, words, differing(words, all_none));
    }
    return end;
}

#define TEMPLATE "text_values.template.h"
#include "each_value.h"

#endif
