/* Sums over the common columns of rows, from which all exact kernels are computed. */
#ifndef SPARSEMAPS_GRAM_H
#define SPARSEMAPS_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

/* Rows that are taken at once: they are scattered into a table of GRAM_LANES values for each column,
 * which is 0 where a row lacks the column. */
enum { GRAM_LANES = 16 };

/* What a common column adds. */
enum {
    GRAM_DOT,            /* u v */
    GRAM_MINIMUM,        /* min(u, v), for values >= 0 */
    GRAM_SIGNED_MINIMUM, /* min(|u|, |v|) where the signs agree */
    GRAM_CHI_SQUARE,     /* u v / (u + v), for values >= 0 */
    GRAM_ABSOLUTE,       /* |u - v| - |u| - |v| */
    GRAM_CAUCHY,         /* L(u - v) - L(u) - L(v), L(t) the logarithm of 1 + t^2 */
    GRAM_KINDS
};

/* The sums of the scattered rows with each of n_rows others, whose values are not 0; GRAM_LANES sums
 * for each one. */
typedef void (*gram_sums)(const double *table, const double *values, const int32_t *columns,
                          const int64_t *indptr, ptrdiff_t n_rows, double *out);

typedef struct {
    gram_sums sums[GRAM_KINDS];
} gram_loops;

DECLARE_TABLES(gram)

#endif
