/* Hashes to columns, columns counted, counts to values (text.h). */
#ifndef SPARSEMAPS_TEXT_COUNTS_H
#define SPARSEMAPS_TEXT_COUNTS_H

#include <math.h>

#include "text.h"
#include "text_simd.h"
#include "text_sort.h"

/* Each hash, as a signed number h, to |h| mod n_features in bits 1 to 31, and whether h is negative
 * in bit 0. */
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

static int64_t count(text_job *job, int32_t *columns)
{
    int32_t *counts = job->counts;
    const int64_t n = job->n_items;
    if (n == 0)
        return 0;
    hashes_to_columns(job->items, n, job->n_features);
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

#define TEMPLATE "text_values.template.h"
#include "each_value.h"

#endif
