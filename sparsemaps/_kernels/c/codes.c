/* Of the exclusive or with the row's word, the fields of `bits` bits that are zero (or the bits that
 * are one) are counted byte by byte; bytes are added up over WORDS_AT_ONCE words before they could
 * overflow. */
#include "codes.h"

enum { WORDS_AT_ONCE = 31 }; /* a byte counts at most 8 a word */

#define EVERY_BYTE(BYTE) (UINT64_C(0x0101010101010101) * (BYTE))

INLINE lanes_u64 bits_by_byte(lanes_u64 x)
{
    x = x - ((x >> 1) & EVERY_BYTE(0x55));
    x = (x & EVERY_BYTE(0x33)) + ((x >> 2) & EVERY_BYTE(0x33));
    return (x + (x >> 4)) & EVERY_BYTE(0x0f);
}

/* The top bit of each field of `differ` that is zero: adding all ones below it carries into the top
 * bit unless the bits below are zero. */
INLINE lanes_u64 zero_fields(lanes_u64 differ, uint64_t tops)
{
    return ~(((differ & ~tops) + ~tops) | differ) & tops;
}

INLINE lanes_u64 count_by_byte(int bits, lanes_u64 differ)
{
    lanes_u64 x;
    switch (bits) {
    case CODES_HAMMING:
        return bits_by_byte(differ);
    case 1:
        return bits_by_byte(~differ);
    case 2:
        x = zero_fields(differ, EVERY_BYTE(0xaa)) >> 1;
        x = (x & EVERY_BYTE(0x33)) + ((x >> 2) & EVERY_BYTE(0x33));
        return (x + (x >> 4)) & EVERY_BYTE(0x0f);
    case 4:
        x = zero_fields(differ, EVERY_BYTE(0x88)) >> 3;
        return (x + (x >> 4)) & EVERY_BYTE(0x0f);
    case 8:
        return zero_fields(differ, EVERY_BYTE(0x80)) >> 7;
    default:
        return zero_fields(differ, UINT64_C(0x8000800080008000)) >> 15;
    }
}

INLINE lanes_u64 sum_of_bytes(lanes_u64 x)
{
    const uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);
    x = (x & pairs) + ((x >> 8) & pairs);
    x = x + (x >> 16);
    return (x + (x >> 32)) & 0xffff;
}

INLINE void count_lanes(int bits, const uint64_t *row, const lanes_u64 *others, ptrdiff_t n_words,
                        lanes_u64 *counts)
{
    lanes_u64 total = *others ^ *others;
    for (ptrdiff_t first = 0; first < n_words; first += WORDS_AT_ONCE) {
        ptrdiff_t stop = n_words - first < WORDS_AT_ONCE ? n_words : first + WORDS_AT_ONCE;
        lanes_u64 bytes = total ^ total;
        for (ptrdiff_t w = first; w < stop; w++)
            bytes = bytes + count_by_byte(bits, others[w] ^ row[w]);
        total = total + sum_of_bytes(bytes);
    }
    *counts = total;
}

static void count_rows(int bits, const uint64_t *rows, ptrdiff_t n_rows, const lanes_u64 *others,
                       ptrdiff_t n_words, lanes_u64 *counts)
{
    for (ptrdiff_t i = 0; i < n_rows; i++) {
        const uint64_t *row = rows + i * n_words;
        switch (bits) {
        case CODES_HAMMING:
            count_lanes(CODES_HAMMING, row, others, n_words, counts + i);
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

const codes_loops TABLE(codes) = {
    .count_rows = count_rows,
};
