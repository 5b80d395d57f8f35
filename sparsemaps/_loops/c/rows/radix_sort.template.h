/* Included once per item type: ITEM; KEY(item), the word to sort by; NAME(function) for the
 * function's name. */

/* Sort by `bits` bits of the key, from bit `lowest` on, `digit` bits per pass. Return whichever of
 * the two arrays holds the result. */
static inline ITEM *NAME(radix_sort)(ITEM *items, ITEM *scratch, size_t n, int lowest, int bits,
                                     int digit)
{
    const uint64_t mask = (UINT64_C(1) << digit) - 1;
    size_t count[1 << SORT_MAX_DIGIT];
    for (int shift = lowest; shift < lowest + bits; shift += digit) {
        memset(count, 0, sizeof count[0] << digit);
        for (size_t i = 0; i < n; i++)
            count[(KEY(items[i]) >> shift) & mask]++;
        size_t total = 0;
        for (uint64_t value = 0; value <= mask; value++) {
            size_t n_here = count[value];
            count[value] = total;
            total += n_here;
        }
        for (size_t i = 0; i < n; i++)
            scratch[count[(KEY(items[i]) >> shift) & mask]++] = items[i];
        ITEM *sorted = scratch;
        scratch = items;
        items = sorted;
    }
    return items;
}

#undef NAME
#undef ITEM
#undef KEY
