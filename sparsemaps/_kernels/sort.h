/* Stable radix sorts, of (key, payload) pairs and of words, least significant digit first.
 *
 * Input: n pairs; `bits`, such that all keys are below 2^bits; a scratch of n pairs.
 * Output: returns whichever of the two arrays the sorted pairs ended up in.
 * Cost: O(n) for each digit, of at most 11 bits. */
#ifndef SPARSEMAPS_SORT_H
#define SPARSEMAPS_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint64_t key;
    uint64_t payload;
} pair_t;

/* Sort by the bits of KEY from `lowest` on, `bits` of them, `digit` at a time. */
#define DEFINE_RADIX_SORT(NAME, ITEM, KEY)                                                         \
    static inline ITEM *NAME(ITEM *items, ITEM *scratch, size_t n, int lowest, int bits, int digit)\
    {                                                                                              \
        const uint64_t mask = (UINT64_C(1) << digit) - 1;                                          \
        size_t count[2048];                                                                        \
        for (int shift = lowest; shift < lowest + bits; shift += digit) {                          \
            memset(count, 0, sizeof count[0] << digit);                                            \
            for (size_t i = 0; i < n; i++)                                                         \
                count[(KEY(items[i]) >> shift) & mask]++;                                          \
            size_t total = 0;                                                                      \
            for (uint64_t value = 0; value <= mask; value++) {                                     \
                size_t here = count[value];                                                        \
                count[value] = total;                                                              \
                total += here;                                                                     \
            }                                                                                      \
            for (size_t i = 0; i < n; i++)                                                         \
                scratch[count[(KEY(items[i]) >> shift) & mask]++] = items[i];                      \
            ITEM *sorted = scratch;                                                                \
            scratch = items;                                                                       \
            items = sorted;                                                                        \
        }                                                                                          \
        return items;                                                                              \
    }

#define KEY_OF_PAIR(pair) ((pair).key)
#define KEY_OF_WORD(word) (word)
DEFINE_RADIX_SORT(radix_sort_pairs, pair_t, KEY_OF_PAIR)
DEFINE_RADIX_SORT(radix_sort_words, uint64_t, KEY_OF_WORD)

static inline pair_t *sort_pairs(pair_t *pairs, pair_t *scratch, size_t n, int bits)
{
    if (n <= 24) { /* insertion: no counters to clear */
        for (size_t i = 1; i < n; i++) {
            pair_t moving = pairs[i];
            size_t j = i;
            for (; j > 0 && pairs[j - 1].key > moving.key; j--)
                pairs[j] = pairs[j - 1];
            pairs[j] = moving;
        }
        return pairs;
    }
    int passes = (bits + 10) / 11;
    int digit = n < 1024 && (bits + 7) / 8 == passes ? 8 : 11;
    return radix_sort_pairs(pairs, scratch, n, 0, bits, digit);
}

/* The same for words, by their bits from `lowest` on, `bits` of them; a scratch of n words. */
static inline uint64_t *sort_words(uint64_t *words, uint64_t *scratch, size_t n, int lowest,
                                   int bits)
{
    int passes = (bits + 10) / 11;
    int digit = passes ? (bits + passes - 1) / passes : 1;
    return radix_sort_words(words, scratch, n, lowest, bits, digit);
}

/* How many bits `value` takes. */
static inline int bit_length(uint64_t value)
{
    int bits = 0;
    for (; value; value >>= 1)
        bits++;
    return bits;
}

#endif
