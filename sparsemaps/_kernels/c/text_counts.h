/* Hashes to columns, columns sorted and counted, counts to values (text.h). */
#ifndef SPARSEMAPS_TEXT_COUNTS_H
#define SPARSEMAPS_TEXT_COUNTS_H

#include <math.h>

#include "text.h"
#include "text_simd.h"

__extension__ typedef unsigned __int128 uint128;

enum { COUNTS_DIGIT = 11, COUNTS_PASSES = 8 };

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
        const uint32_t column = (uint32_t)((uint128)fraction * n_features >> 64);
        items[i] = column << 1 | negative;
    }
}

/* Digits of `bits` bits, for which sorting n items costs least: a pass costs about as much for an
 * item as for four values of the digit. */
static int cheapest_passes(int64_t n, int bits)
{
    int best = 0;
    int64_t least = INT64_MAX;
    for (int passes = (bits + COUNTS_DIGIT - 1) / COUNTS_DIGIT; passes <= COUNTS_PASSES; passes++) {
        const int64_t cost = passes * (4 * n + (INT64_C(1) << (bits + passes - 1) / passes));
        if (cost < least) {
            least = cost;
            best = passes;
        }
    }
    return best;
}

/* Sort by digits of `digit` bits from bit 1 on, `passes` of them. */
INLINE uint32_t *sort_by_digits(uint32_t *items, uint32_t *other, int64_t n, int passes, int digit)
{
    uint32_t ends[COUNTS_PASSES << COUNTS_DIGIT];
    const uint32_t mask = (UINT32_C(1) << digit) - 1;
    memset(ends, 0, sizeof *ends * (size_t)passes << digit);
    for (int64_t i = 0; i < n; i++)
        for (int pass = 0; pass < passes; pass++)
            (ends + (pass << digit))[items[i] >> (1 + pass * digit) & mask]++;
    for (int pass = 0; pass < passes; pass++) {
        uint32_t *places = ends + (pass << digit);
        uint32_t total = 0;
        for (uint32_t value = 0; value <= mask; value++) {
            const uint32_t n_here = places[value];
            places[value] = total;
            total += n_here;
        }
        for (int64_t i = 0; i < n; i++)
            other[places[items[i] >> (1 + pass * digit) & mask]++] = items[i];
        uint32_t *swapped = items;
        items = other;
        other = swapped;
    }
    return items;
}

/* Sort items by their bits from 1 on. Returns the one of the two arrays that holds them then. */
static uint32_t *sort_items(uint32_t *items, uint32_t *other, int64_t n, int bits)
{
    if (n <= 24) {
        for (int64_t i = 1; i < n; i++) {
            const uint32_t moving = items[i];
            int64_t j = i;
            for (; j > 0 && items[j - 1] > moving; j--)
                items[j] = items[j - 1];
            items[j] = moving;
        }
        return items;
    }
    const int passes = cheapest_passes(n, bits), digit = (bits + passes - 1) / passes;
    if (passes == 2) /* usual numbers, so that there is no loop over them */
        return sort_by_digits(items, other, n, 2, digit);
    if (passes == 3)
        return sort_by_digits(items, other, n, 3, digit);
    return sort_by_digits(items, other, n, passes, digit);
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

#define NAME(function) function##_f32
#define VALUE float
#include "text_values.template.h"

#define NAME(function) function##_f64
#define VALUE double
#include "text_values.template.h"

#endif
