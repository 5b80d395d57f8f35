/* Sums over the columns that two rows share, from which all exact kernels are computed. */
#ifndef SPARSEMAPS_GRAM_H
#define SPARSEMAPS_GRAM_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

/* Number of rows processed at once. They are scattered into a table of GRAM_LANES values per
 * column; a row that lacks a column has 0 there. */
enum { GRAM_LANES = 16 };

/* The contribution of a shared column. */
enum {
    GRAM_DOT,            /* u v */
    GRAM_MINIMUM,        /* min(u, v), for values >= 0 */
    GRAM_SIGNED_MINIMUM, /* min(|u|, |v|) if the signs agree, else 0 */
    GRAM_CHI_SQUARE,     /* u v / (u + v), for values >= 0 */
    GRAM_ABSOLUTE,       /* |u - v| - |u| - |v| */
    GRAM_CAUCHY,         /* L(u - v) - L(u) - L(v), with L(t) = ln(1 + t^2) */
    GRAM_KINDS
};

/* Sum over the columns that the scattered rows share with each of n_rows other rows, whose values
 * must not be 0. Writes GRAM_LANES sums per row. */
typedef void (*gram_sums)(const double *table, const double *values, const int32_t *columns,
                          const int64_t *indptr, ptrdiff_t n_rows, double *out);

typedef struct {
    gram_sums sums[GRAM_KINDS];
} gram_loops;

DECLARE_TABLES(gram)

#endif
