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

INLINE double absolute(double x)
{
    return x < 0 ? -x : x;
}

/* What a common column with the values u and v adds; all are 0 where u is 0. */
INLINE double common(int kind, double u, double v, double gamma)
{
    double a, b;
    switch (kind) {
    case DOT:
        return u * v;
    case MINIMUM:
        return u < v ? u : v;
    case SIGNED_MINIMUM:
        a = absolute(u);
        b = absolute(v);
        return u * v > 0 ? (a < b ? a : b) : 0.0;
    case CHI_SQUARE:
        a = u + v;
        return a > 0 ? 2.0 * (u * v) / a : 0.0;
    case ABSOLUTE:
        return absolute(u - v) - (absolute(u) + absolute(v));
    default: /* of the logarithm of 1 + (gamma (u - v))^2, beyond those of u and of v alone */
        a = (1.0 + gamma * u * (gamma * u)) * (1.0 + gamma * v * (gamma * v));
        b = 1.0 + gamma * (u - v) * (gamma * (u - v));
        return u == 0 ? 0.0 : log_f64(b / a);
    }
}

INLINE void sum_common(int kind, const double *restrict table, const double *restrict values,
                       const int32_t *restrict columns, ptrdiff_t n, double gamma,
                       double *restrict out)
{
    double sums[LANES] = {0};
    for (ptrdiff_t i = 0; i < n; i++) {
        const double *row = table + LANES * (ptrdiff_t)columns[i];
        double value = values[i];
        for (int lane = 0; lane < LANES; lane++)
            sums[lane] += common(kind, row[lane], value, gamma);
    }
    for (int lane = 0; lane < LANES; lane++)
        out[lane] = sums[lane];
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
            sum_common(DOT, table, v, c, n, gamma, sums);
            break;
        case MINIMUM:
            sum_common(MINIMUM, table, v, c, n, gamma, sums);
            break;
        case SIGNED_MINIMUM:
            sum_common(SIGNED_MINIMUM, table, v, c, n, gamma, sums);
            break;
        case CHI_SQUARE:
            sum_common(CHI_SQUARE, table, v, c, n, gamma, sums);
            break;
        case ABSOLUTE:
            sum_common(ABSOLUTE, table, v, c, n, gamma, sums);
            break;
        default:
            sum_common(CAUCHY, table, v, c, n, gamma, sums);
        }
    }
}

#endif
