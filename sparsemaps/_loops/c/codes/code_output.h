/* Output of codes, in one of three layouts: packed into a bit string, lowest bit first; as
 * integers; or as the columns of one-hot features. */
#ifndef SPARSEMAPS_CODE_OUTPUT_H
#define SPARSEMAPS_CODE_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    ptrdiff_t n;     /* codes per row */
    int bits;        /* bits per code */
    int64_t step;    /* difference between columns of adjacent codes; 0 for integers */
    ptrdiff_t width; /* distance between rows, in items */
    /* Exactly one pointer is set; the other two are NULL. */
    uint8_t *packed;
    int32_t *narrow;
    int64_t *wide;
} code_output_t;

typedef struct {
    /* Write n codes of a row, starting at position `first`; codes beyond the row's last are
     * ignored. In a packed row, `first` must fall on a byte boundary. */
    void (*put)(const code_output_t *output, ptrdiff_t row, ptrdiff_t first, const int64_t *codes,
                ptrdiff_t n);
    /* The same for n <= 64 one-bit codes, given as the bits of `codes`. */
    void (*put_bits)(const code_output_t *output, ptrdiff_t row, ptrdiff_t first, uint64_t codes,
                     ptrdiff_t n);
    /* Mark a row that has no sample: integers are set to -1, packed codes to 0. */
    void (*put_none)(const code_output_t *output, ptrdiff_t row);
} code_output_loops;

DECLARE_TABLES(code_output)

#endif
