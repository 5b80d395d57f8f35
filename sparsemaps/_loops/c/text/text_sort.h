/* Radix sort of 31-bit numbers in bits 1 to 31 of words; bit 0 is carried along.
 *
 * Input: n words, and the number of bits to sort by; scratch of the same size.
 * Output: whichever of the two arrays holds the result.
 * Cost: O(n) per digit of at most TEXT_DIGIT bits. */
#ifndef SPARSEMAPS_TEXT_SORT_H
#define SPARSEMAPS_TEXT_SORT_H

#include "vectors.h"

/* Most bits per digit, most passes, and most values of all digits: two digits of 12 bits, three of
 * 11, or more and shorter ones. */
enum { TEXT_DIGIT = 12, TEXT_PASSES = 8, TEXT_VALUES = 2 << 12 };

/* Return the number of passes with the least cost for n items of `bits` bits. A pass costs about as
 * much per item as for four values of the digit. */
static int cheapest_passes(int64_t n, int bits)
{
    int best = 0;
    int64_t least = INT64_MAX;
    for (int passes = (bits + TEXT_DIGIT - 1) / TEXT_DIGIT; passes <= TEXT_PASSES; passes++) {
        const int64_t cost = passes * (4 * n + (INT64_C(1) << (bits + passes - 1) / passes));
        if (cost < least) {
            least = cost;
            best = passes;
        }
    }
    return best;
}

/* Sort by `passes` digits of `digit` bits, from bit 1 on. */
INLINE uint32_t *sort_by_digits(uint32_t *items, uint32_t *other, int64_t n, int passes, int digit)
{
    uint32_t ends[TEXT_VALUES];
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

/* Sort items by their bits from 1 on. Return whichever of the two arrays holds the result. */
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
    if (passes == 2) /* common numbers, as constants */
        return sort_by_digits(items, other, n, 2, digit);
    if (passes == 3)
        return sort_by_digits(items, other, n, 3, digit);
    return sort_by_digits(items, other, n, passes, digit);
}

#endif
