/* How many codes of two rows differ: rows of codes against a tile of other rows, and row by row.
 *
 * Codes lie in fields of 1, 2, 4, 8, 16 or 32 bits, one behind the other in 64-bit words; codes of
 * another width have the next wider fields. The rest of the last word is 0. */
#ifndef SPARSEMAPS_CODES_H
#define SPARSEMAPS_CODES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "levels.h"
#include "vectors.h"

/* Rows of a tile stand in groups of CODES_LANES, word by word: a vector holds the same word of
 * each. */
enum { CODES_LANES = sizeof(lanes_u64) / sizeof(uint64_t) };

/* Words after which a comparison may end early. */
enum { CODES_RUN = 16 };

/* counts[q * stride + row]: how many fields differ between query q (n_words words each) and a row of
 * the tile; or some number above limits[q] where it is above. */
typedef void (*count_tile_t)(int width, const uint64_t *queries, ptrdiff_t n_queries,
                             const uint32_t *limits, const lanes_u64 *tile, ptrdiff_t n_groups,
                             ptrdiff_t n_words, uint32_t *counts, ptrdiff_t stride);

typedef struct {
    count_tile_t count_tile;
    /* The same for processors with VPOPCNTDQ, or NULL. */
    count_tile_t count_tile_vpopcntdq;
    /* How many fields differ between two rows of n vectors. */
    uint32_t (*count_pair)(int width, const lanes_u64 *a, const lanes_u64 *b, ptrdiff_t n);
    /* The rows whose count is below the limit, of n; returns how many there are. */
    ptrdiff_t (*select)(const uint32_t *counts, ptrdiff_t n, uint32_t limit, uint32_t *selected);
} codes_loops;

DECLARE_TABLES(codes)

/* Up to eight bytes as a word, the first the lowest. */
INLINE uint64_t load_word(const uint8_t *bytes, ptrdiff_t n)
{
    uint64_t word = 0;
    if (n >= 8) /* compilers make one load of it */
        return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16
               | (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40
               | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
    for (ptrdiff_t i = 0; i < n; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* Write the eight bytes of a word, the lowest first. */
INLINE void store_word(uint8_t *bytes, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(bytes, &word, sizeof word);
}

/* Read the first bytes of a row into the cache, while others are worked on. */
static inline void prefetch_row(const uint8_t *row, ptrdiff_t n_bytes)
{
    for (ptrdiff_t byte = 0; byte < n_bytes && byte < 512; byte += 64)
        __builtin_prefetch(row + byte);
}

/* Reads a byte, and thus its page of a file that is mapped into memory. */
static inline void read_page(const uint8_t *byte)
{
    (void)*(const volatile uint8_t *)byte;
}

/* The width of fields for codes of `bits` bits. */
static inline int field_width(int bits)
{
    int width = 1;
    while (width < bits)
        width *= 2;
    return width;
}

static inline ptrdiff_t words_of_row(ptrdiff_t n_codes, int bits)
{
    return (n_codes * field_width(bits) + 63) / 64;
}

/* The words of a row of packed codes, each `step` words from the one before. */
static inline void widen_row(const uint8_t *codes, ptrdiff_t n_codes, int bits, ptrdiff_t step,
                             uint64_t *words)
{
    const int width = field_width(bits);
    const ptrdiff_t n_words = words_of_row(n_codes, bits);
    if (width == bits) {
        ptrdiff_t w = 0;
        if (step == 1)
            for (; w < n_codes * bits / 64; w++)
                words[w] = load_word(codes + 8 * w, 8);
        for (; w < n_words; w++) {
            ptrdiff_t left = n_codes * bits - 64 * w;
            uint64_t word = load_word(codes + 8 * w, (left + 7) / 8);
            words[w * step] = left < 64 ? word & ((UINT64_C(1) << left) - 1) : word;
        }
        return;
    }
    for (ptrdiff_t w = 0; w < n_words; w++) {
        uint64_t word = 0;
        for (ptrdiff_t field = 0; field < 64 / width; field++) {
            ptrdiff_t code = w * (64 / width) + field, bit = code * bits;
            if (code >= n_codes)
                break;
            uint64_t shifted = load_word(codes + bit / 8, (bit % 8 + bits + 7) / 8) >> bit % 8;
            word |= (shifted & ((UINT64_C(1) << bits) - 1)) << field * width;
        }
        words[w * step] = word;
    }
}

#endif
