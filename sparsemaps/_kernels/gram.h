/* Sums over common columns, of LANES rows against one: what all exact kernels are made of.
 *
 * The LANES rows are scattered into `table`, which has LANES values for each column; a column that
 * one of them lacks adds nothing. */
#ifndef SPARSEMAPS_GRAM_H
#define SPARSEMAPS_GRAM_H

#include <stddef.h>

#include "random.h"

enum { LANES = 16 };

enum { DOT, MINIMUM, SIGNED_MINIMUM, CHI_SQUARE, ABSOLUTE, CAUCHY };

#if defined(__GNUC__)
/* Compilers that know vectors of this size split them where the machine's are shorter. */
typedef double lanes_t __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t lane_bits_t __attribute__((vector_size(64), aligned(8), may_alias));
#else
typedef double lanes_t;
typedef int64_t lane_bits_t;
#endif

enum { VECTORS = (int)(LANES * sizeof(double) / sizeof(lanes_t)) };

DEFINE_LANES_CAST(bits_of, lane_bits_t, lanes_t)
DEFINE_LANES_CAST(of_bits, lanes_t, lane_bits_t)

INLINE lanes_t absolute(lanes_t x)
{
    return of_bits(bits_of(x) & INT64_MAX);
}

INLINE lanes_t least(lanes_t u, lanes_t v)
{
    lane_bits_t below = LANES_LESS(u, v);
    return of_bits((bits_of(u) & below) | (bits_of(v) & ~below));
}

/* What a common column with the values u and v adds: 0 where u is 0; v is not. */
INLINE lanes_t common(int kind, lanes_t u, lanes_t v)
{
    switch (kind) {
    case DOT:
        return u * v;
    case MINIMUM:
        return least(u, v);
    case SIGNED_MINIMUM: /* nothing where the signs differ */
        return of_bits(bits_of(least(absolute(u), absolute(v)))
                       & ~((bits_of(u) ^ bits_of(v)) >> 63));
    case CHI_SQUARE:
        return 2.0 * (u * v) / (u + v);
    default: /* ABSOLUTE */
        return absolute(u - v) - (absolute(u) + absolute(v));
    }
}

INLINE void sum_common(int kind, const double *restrict table, const double *restrict values,
                       const int32_t *restrict columns, ptrdiff_t n, double *restrict out)
{
    lanes_t sums[VECTORS] = {0};
    for (ptrdiff_t i = 0; i < n; i++) {
        const lanes_t *row = (const lanes_t *)(table + LANES * (ptrdiff_t)columns[i]);
        const lanes_t zero = {0};
        lanes_t value = zero + values[i];
        for (int j = 0; j < VECTORS; j++)
            sums[j] += common(kind, row[j], value);
    }
    memcpy(out, sums, sizeof sums);
}

/* Of the logarithms of 1 + (gamma (u - v))^2, what is beyond those of u and of v alone. */
INLINE void sum_cauchy(const double *restrict table, const double *restrict values,
                       const int32_t *restrict columns, ptrdiff_t n, double gamma,
                       double *restrict out)
{
    double sums[LANES] = {0};
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *row = table + LANES * (ptrdiff_t)columns[i];
        for (int lane = 0; lane < LANES; lane++) {
            double u = gamma * row[lane], v = gamma * values[i];
            if (u != 0)
                sums[lane] += log_f64((1.0 + (u - v) * (u - v)) / ((1.0 + u * u) * (1.0 + v * v)));
        }
    }
    memcpy(out, sums, sizeof sums);
}

/* Sums of the scattered rows with each of n_rows others, LANES for each one. */
CLONES static void sum_rows(int kind, const double *table, const double *values,
                            const int32_t *columns, const int64_t *indptr, ptrdiff_t n_rows,
                            double gamma, double *out)
{
    for (ptrdiff_t row = 0; row < n_rows; row++) {
        const double *v = values + indptr[row];
        const int32_t *c = columns + indptr[row];
        ptrdiff_t n = indptr[row + 1] - indptr[row];
        double *sums = out + LANES * row;
        switch (kind) {
        case DOT:
            sum_common(DOT, table, v, c, n, sums);
            break;
        case MINIMUM:
            sum_common(MINIMUM, table, v, c, n, sums);
            break;
        case SIGNED_MINIMUM:
            sum_common(SIGNED_MINIMUM, table, v, c, n, sums);
            break;
        case CHI_SQUARE:
            sum_common(CHI_SQUARE, table, v, c, n, sums);
            break;
        case ABSOLUTE:
            sum_common(ABSOLUTE, table, v, c, n, sums);
            break;
        default:
            sum_cauchy(table, v, c, n, gamma, sums);
        }
    }
}

#endif
