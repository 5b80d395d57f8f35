/* One-hot features of a row of packed codes: code j becomes column j * 2^bits + code. */
#ifndef SPARSEMAPS_ONE_HOT_H
#define SPARSEMAPS_ONE_HOT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codes.h"
#include "vectors.h"

typedef struct {
    const uint8_t *codes;   /* row-major */
    ptrdiff_t n_bytes;      /* per row */
    ptrdiff_t n_codes;      /* per row */
    int bits;               /* per code, 1 to 24; n_codes << bits is below 2^31 */
    const uint8_t *sampled; /* per row: 0 if the row has no features at all */
} coded_rows;

/* Number of lanes of sums, the same at every level. */
enum { SUM_LANES = 8 };

/* Spread eight adjacent codes of up to 8 bits to one byte each, by halving repeatedly: first the
 * word, then its halves, then its quarters. */
INLINE uint64_t in_bytes(uint64_t eight, int bits)
{
    const uint64_t four = (UINT64_C(1) << 4 * bits) - 1;
    const uint64_t two = ((UINT64_C(1) << 2 * bits) - 1) * UINT64_C(0x0000000100000001);
    const uint64_t one = ((UINT64_C(1) << bits) - 1) * UINT64_C(0x0001000100010001);
    eight = (eight & four) | (eight >> 4 * bits & four) << 32;
    eight = (eight & two) | (eight >> 2 * bits & two) << 16;
    return (eight & one) | (eight >> bits & one) << 8;
}

/* Unpack codes `first` to `stop`, of up to 8 bits, to one byte each. `first` must begin a byte. */
INLINE void codes_in_bytes(const coded_rows *rows, ptrdiff_t row, ptrdiff_t first, ptrdiff_t stop,
                           uint8_t *restrict bytes)
{
    const int bits = rows->bits;
    const uint8_t *codes = rows->codes + row * rows->n_bytes;
    for (ptrdiff_t j = first; j < stop; j += 8, bytes += 8) {
        const ptrdiff_t byte = j * bits / 8, rest = rows->n_bytes - byte;
        const uint64_t eight = in_bytes(load_word(codes + byte, rest < 8 ? rest : 8), bits);
        if (stop - j >= 8)
            store_word(bytes, eight);
        else
            for (int l = 0; l < stop - j; l++)
                bytes[l] = (uint8_t)(eight >> 8 * l);
    }
}

/* Compute the columns of codes `first` to `stop`, of more than 8 bits. `first` must begin a
 * byte. */
INLINE void columns_of_codes(const coded_rows *rows, ptrdiff_t row, ptrdiff_t first, ptrdiff_t stop,
                             uint32_t *restrict columns)
{
    const int bits = rows->bits;
    const uint8_t *codes = rows->codes + row * rows->n_bytes;
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    /* A code and the bits before it in its byte have at most 31 bits together. */
    const ptrdiff_t whole = rows->n_bytes < 8 ? 0 : (8 * (rows->n_bytes - 8) + 7) / bits;
    ptrdiff_t j = first;
    for (; j < stop && j < whole; j++) {
        const ptrdiff_t bit = j * bits;
        columns[j - first] =
            (uint32_t)j << bits | ((uint32_t)(load_word(codes + bit / 8, 8) >> bit % 8) & mask);
    }
    for (; j < stop; j++) {
        const ptrdiff_t bit = j * bits;
        const uint64_t word = load_word(codes + bit / 8, (bit % 8 + bits + 7) / 8);
        columns[j - first] = (uint32_t)j << bits | ((uint32_t)(word >> bit % 8) & mask);
    }
}

#endif
