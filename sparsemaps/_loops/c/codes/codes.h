/* Count how many codes two rows differ in: queries against a tile of rows, or pair by pair.
 *
 * Codes are stored in fields of 1, 2, 4, 8, 16 or 32 bits, packed contiguously into 64-bit words.
 * Other widths are padded to the next of these. Unused bits of the last word are 0. */
#ifndef SPARSEMAPS_CODES_H
#define SPARSEMAPS_CODES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "levels.h"
#include "vectors.h"

/* The rows of a tile are interleaved word by word in groups of CODES_LANES, so that a vector holds
 * the same word of each row of a group. */
enum { CODES_LANES = sizeof(lanes_u64) / sizeof(uint64_t) };

/* Number of words after which a comparison may stop early. */
enum { CODES_RUN = 16 };

/* Count the fields in which each query (n_words words) differs from each row of the tile, into
 * counts[q * stride + row]. A count that exceeds limits[q] may be any number above the limit. */
typedef void (*count_tile_t)(int width, const uint64_t *queries, ptrdiff_t n_queries,
                             const uint32_t *limits, const lanes_u64 *tile, ptrdiff_t n_groups,
                             ptrdiff_t n_words, uint32_t *counts, ptrdiff_t stride);

typedef struct {
    count_tile_t count_tile;
    /* The same with VPOPCNTDQ; NULL if not compiled. */
    count_tile_t count_tile_vpopcntdq;
    /* Count the fields in which two rows of n vectors differ. */
    uint32_t (*count_pair)(int width, const lanes_u64 *a, const lanes_u64 *b, ptrdiff_t n);
    /* Select the rows, of n, whose count is below the limit. Return their number. */
    ptrdiff_t (*select)(const uint32_t *counts, ptrdiff_t n, uint32_t limit, uint32_t *selected);
} codes_loops;

DECLARE_TABLES(codes)

/* Load up to eight bytes as a little-endian word. */
INLINE uint64_t load_word(const uint8_t *bytes, ptrdiff_t n)
{
    uint64_t word = 0;
    if (n >= 8) /* compilers turn this into one load */
        return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16
               | (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40
               | (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
    for (ptrdiff_t i = 0; i < n; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

/* Store a word as eight bytes, little-endian. */
INLINE void store_word(uint8_t *bytes, uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(bytes, &word, sizeof word);
}

/* Prefetch the first bytes of a row. */
static inline void prefetch_row(const uint8_t *row, ptrdiff_t n_bytes)
{
    for (ptrdiff_t byte = 0; byte < n_bytes && byte < 512; byte += 64)
        __builtin_prefetch(row + byte);
}

/* Read a byte, which maps its page if the file is memory-mapped. */
static inline void read_page(const uint8_t *byte)
{
    (void)*(const volatile uint8_t *)byte;
}

/* Return the width of the fields that hold codes of `bits` bits. */
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

/* Unpack a row of codes into fields and store its words with stride `step`. */
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
