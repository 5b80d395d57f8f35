/* How many codes of two rows agree, or how many bits differ, for one row against CODES_LANES others.
 *
 * Words of the others lie side by side, so that a vector holds the same word of each. */
#ifndef SPARSEMAPS_CODES_H
#define SPARSEMAPS_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "simd.h"

enum { CODES_LANES = sizeof(lanes_u64) / sizeof(uint64_t) };
enum { CODES_HAMMING = 0 }; /* in place of bits: count the bits that differ */

typedef struct {
    /* Counts of each of n_rows rows (n_words words each) against the CODES_LANES others. */
    void (*count_rows)(int bits, const uint64_t *rows, ptrdiff_t n_rows, const lanes_u64 *others,
                       ptrdiff_t n_words, lanes_u64 *counts);
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

#endif
