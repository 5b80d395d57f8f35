/* The one-hot features of a row of packed codes, as columns: j * 2^bits + code for code j. */
#ifndef SPARSEMAPS_ONE_HOT_H
#define SPARSEMAPS_ONE_HOT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codes.h"
#include "vectors.h"

typedef struct {
    const uint8_t *codes;   /* row after row */
    ptrdiff_t n_bytes;      /* of a row */
    ptrdiff_t n_codes;      /* of a row */
    int bits;               /* of a code, 1 to 24; n_codes << bits is below 2^31 */
    const uint8_t *sampled; /* of each row: whether it has features at all */
} coded_rows;

/* Sums have this number of lanes, at every level. */
enum { SUM_LANES = 8 };

/* The columns of codes first to stop, of which the first begins a byte. */
INLINE void one_hot_columns(const coded_rows *rows, ptrdiff_t row, ptrdiff_t first, ptrdiff_t stop,
                            uint32_t *restrict columns)
{
    const int bits = rows->bits;
    const uint8_t *codes = rows->codes + row * rows->n_bytes;
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    ptrdiff_t j = first;
    if (bits == 8) {
        for (; j < stop; j++)
            columns[j - first] = (uint32_t)j << 8 | codes[j];
    } else {
        /* A code and the bits before it in its byte have at most 31 bits. */
        const ptrdiff_t whole = rows->n_bytes < 8 ? 0 : (8 * (rows->n_bytes - 8) + 7) / bits;
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
}

#endif
