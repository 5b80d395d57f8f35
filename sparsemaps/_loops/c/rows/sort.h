/* Stable LSD radix sorts, of (key, payload) pairs and of words.
 *
 * Input: n items; the number of key bits to sort by; scratch space for n items.
 * Output: returns whichever of the two arrays holds the result.
 * Cost: O(n) per digit of at most SORT_MAX_DIGIT bits. */
#ifndef SPARSEMAPS_SORT_H
#define SPARSEMAPS_SORT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SORT_MAX_DIGIT = 11 };

typedef struct {
    uint64_t key;
    uint64_t payload;
} pair_t;

#define NAME(function) function##_pairs
#define ITEM pair_t
#define KEY(item) ((item).key)
#include "radix_sort.template.h"

#define NAME(function) function##_words
#define ITEM uint64_t
#define KEY(item) (item)
#include "radix_sort.template.h"

/* Sort pairs by key. All keys must be below 2^bits. */
static inline pair_t *sort_pairs(pair_t *pairs, pair_t *scratch, size_t n, int bits)
{
    if (n <= 24) { /* insertion sort: no counters to clear */
        for (size_t i = 1; i < n; i++) {
            pair_t moving = pairs[i];
            size_t j = i;
            for (; j > 0 && pairs[j - 1].key > moving.key; j--)
                pairs[j] = pairs[j - 1];
            pairs[j] = moving;
        }
        return pairs;
    }
    int passes = (bits + SORT_MAX_DIGIT - 1) / SORT_MAX_DIGIT;
    int digit = n < 1024 && (bits + 7) / 8 == passes ? 8 : SORT_MAX_DIGIT;
    return radix_sort_pairs(pairs, scratch, n, 0, bits, digit);
}

/* Sort words by `bits` of their bits, from bit `lowest` on. */
static inline uint64_t *sort_words(uint64_t *words, uint64_t *scratch, size_t n, int lowest,
                                   int bits)
{
    int passes = (bits + SORT_MAX_DIGIT - 1) / SORT_MAX_DIGIT;
    int digit = passes ? (bits + passes - 1) / passes : 1;
    return radix_sort_words(words, scratch, n, lowest, bits, digit);
}

/* Return the number of bits needed to represent `value`. */
static inline int bit_length(uint64_t value)
{
    return value ? 64 - __builtin_clzll(value) : 0;
}

#endif
