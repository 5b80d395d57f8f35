/* How many codes of two rows agree, or how many bits differ, for one row against LANES others.
 *
 * Words of the others lie side by side, so that a vector holds the same word of each. Of the
 * exclusive or with the row's word, the fields of `bits` bits that are zero (or the bits that are
 * one) are counted byte by byte; bytes are added up over RUN words before they could overflow. */
#ifndef SPARSEMAPS_CODES_H
#define SPARSEMAPS_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "simd.h"

typedef lanes_u64 lanes_t;
enum { LANES = sizeof(lanes_t) / sizeof(uint64_t) };

enum { RUN = 31 };   /* a byte counts at most 8 a word */
enum { HAMMING = 0 }; /* in place of bits: count the bits that differ */

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

#define EVERY(BYTE) (UINT64_C(0x0101010101010101) * (BYTE))

INLINE lanes_t bits_by_byte(lanes_t x)
{
    x = x - ((x >> 1) & EVERY(0x55));
    x = (x & EVERY(0x33)) + ((x >> 2) & EVERY(0x33));
    return (x + (x >> 4)) & EVERY(0x0f);
}

/* The top bit of each field of `differ` that is zero: adding all ones below it carries into the top
 * bit unless the bits below are zero. */
INLINE lanes_t zero_fields(lanes_t differ, uint64_t tops)
{
    return ~(((differ & ~tops) + ~tops) | differ) & tops;
}

INLINE lanes_t count_by_byte(int bits, lanes_t differ)
{
    lanes_t x;
    switch (bits) {
    case HAMMING:
        return bits_by_byte(differ);
    case 1:
        return bits_by_byte(~differ);
    case 2:
        x = zero_fields(differ, EVERY(0xaa)) >> 1;
        x = (x & EVERY(0x33)) + ((x >> 2) & EVERY(0x33));
        return (x + (x >> 4)) & EVERY(0x0f);
    case 4:
        x = zero_fields(differ, EVERY(0x88)) >> 3;
        return (x + (x >> 4)) & EVERY(0x0f);
    case 8:
        return zero_fields(differ, EVERY(0x80)) >> 7;
    default:
        return zero_fields(differ, UINT64_C(0x8000800080008000)) >> 15;
    }
}

INLINE lanes_t sum_of_bytes(lanes_t x)
{
    const uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);
    x = (x & pairs) + ((x >> 8) & pairs);
    x = x + (x >> 16);
    return (x + (x >> 32)) & 0xffff;
}

INLINE void count_lanes(int bits, const uint64_t *row, const lanes_t *others, ptrdiff_t n_words,
                        lanes_t *counts)
{
    lanes_t total = *others ^ *others;
    for (ptrdiff_t first = 0; first < n_words; first += RUN) {
        ptrdiff_t stop = n_words - first < RUN ? n_words : first + RUN;
        lanes_t bytes = total ^ total;
        for (ptrdiff_t w = first; w < stop; w++)
            bytes = bytes + count_by_byte(bits, others[w] ^ row[w]);
        total = total + sum_of_bytes(bytes);
    }
    *counts = total;
}

/* Counts of each of n_rows rows (n_words words each) against the LANES others. */
CLONES static void count_rows(int bits, const uint64_t *rows, ptrdiff_t n_rows,
                              const lanes_t *others, ptrdiff_t n_words, lanes_t *counts)
{
    for (ptrdiff_t i = 0; i < n_rows; i++) {
        const uint64_t *row = rows + i * n_words;
        switch (bits) {
        case HAMMING:
            count_lanes(HAMMING, row, others, n_words, counts + i);
            break;
        case 1:
            count_lanes(1, row, others, n_words, counts + i);
            break;
        case 2:
            count_lanes(2, row, others, n_words, counts + i);
            break;
        case 4:
            count_lanes(4, row, others, n_words, counts + i);
            break;
        case 8:
            count_lanes(8, row, others, n_words, counts + i);
            break;
        default:
            count_lanes(16, row, others, n_words, counts + i);
        }
    }
}

#endif
