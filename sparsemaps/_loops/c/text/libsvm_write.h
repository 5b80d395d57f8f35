/* Rows to lines of LIBSVM text (libsvm_read.h), in which every number has the fewest digits that
 * read back as itself. */
#ifndef SPARSEMAPS_LIBSVM_WRITE_H
#define SPARSEMAPS_LIBSVM_WRITE_H

#include "csr_block.h"
#include "levels.h"
#include "powers_of_ten.h"

/* Most bytes that are written from the start of a number, including those after its last digit. */
enum { LONGEST_NUMBER = 40 };

/* The labels and qids before the entries. Row i has the labels from label_ends[i - 1] to
 * label_ends[i]. */
typedef struct {
    const double *labels;
    const int64_t *label_ends;
    const int64_t *qids; /* NULL if there are none */
} line_heads;

typedef struct {
    /* Write rows as lines, with `first_index` added to each index; values are int64_t if
     * `is_whole`. Return the end of the text. */
    char *(*rows)(const csr_block *rows, int is_whole, const line_heads *heads,
                  uint64_t first_index, char *out);
    /* Write one-hot features as lines: for code j of a row, `value` at j 2^bits + code. A row whose
     * first code is negative has no features. */
    char *(*codes)(const int32_t *codes, ptrdiff_t n_rows, ptrdiff_t n, int bits, double value,
                   const line_heads *heads, uint64_t first_index, char *out);
} libsvm_write_loops;

DECLARE_TABLES(libsvm_write)

#endif
