/* Where the codes of rows go, and in which layout: packed, one behind the other in a string of bits,
 * lowest bit first; or as numbers; or as the columns of one-hot features. */
#ifndef SPARSEMAPS_CODE_OUTPUT_H
#define SPARSEMAPS_CODE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    ptrdiff_t n;     /* codes of a row */
    int bits;        /* of a code */
    int64_t step;    /* from the number of a code to that of the next; 0 unless they are columns */
    ptrdiff_t width; /* items from one row to the next */
    /* Where they go: one of these three, and NULL for the others. */
    uint8_t *packed;
    int32_t *narrow;
    int64_t *wide;
} code_output_t;

typedef struct {
    /* Write codes `first` and so on of a row, n of them unless there are fewer; packed ones begin
     * with a byte. */
    void (*put)(const code_output_t *output, ptrdiff_t row, ptrdiff_t first, const int64_t *codes,
                ptrdiff_t n);
    /* The same for n codes of one bit, at most 64, which are the bits of `codes`. */
    void (*put_bits)(const code_output_t *output, ptrdiff_t row, ptrdiff_t first, uint64_t codes,
                     ptrdiff_t n);
    /* Mark a row that has no sample: its numbers are -1, its packed codes 0. */
    void (*put_none)(const code_output_t *output, ptrdiff_t row);
} code_output_loops;

DECLARE_TABLES(code_output)

#endif
