/* Elementwise functions of arrays, and products of complex numbers. */
#ifndef SPARSEMAPS_FUNCTIONS_H
#define SPARSEMAPS_FUNCTIONS_H

#include <stddef.h>

#include "levels.h"

/* The functions of x and a parameter p, which some ignore. */
enum {
    FUNCTION_EXP,
    FUNCTION_ACOS,                /* -1 <= x <= 1 */
    FUNCTION_LOG_ONE_PLUS_SQUARE, /* ln(1 + x^2) */
    FUNCTION_ROOT,                /* p-th root of x > 0 */
    FUNCTION_POWER,               /* x^p for x > 0 */
    FUNCTION_GAMMA_QUANTILE,      /* quantiles.h: x is the probability, p the shape */
    FUNCTION_COSINE_QUANTILE,     /* quantiles.h: x is the probability, p the dimension */
    FUNCTION_KINDS
};

/* A row is far if more than half of its angles have FAR_HALF turns or more, or more than an eighth
 * have FAR_EIGHTH: with heavy-tailed vectors, any row has a few large angles. Rounding an angle to
 * its type is then off by up to 2^-22 turns and 2^-18 turns in float32, and by 2^-9 turns in
 * float64. */
#define FAR_HALF_F32 0x1p2
#define FAR_EIGHTH_F32 0x1p6
#define FAR_HALF_F64 0x1p44
#define FAR_EIGHTH_F64 0x1p44

typedef struct {
    /* Apply a function to n doubles in place. */
    void (*each[FUNCTION_KINDS])(double *x, ptrdiff_t n, double p);
    /* Replace each of n numbers x >= 0 by the sum of weights[k] exp(-x rates[k]) over n_terms
     * terms, a multiple of 8. The rates must be descending. */
    void (*mixture)(double *x, ptrdiff_t n, const double *weights, const double *rates,
                    ptrdiff_t n_terms);
    /* Replace each of n numbers x by the sum, over n_terms terms (a multiple of 8), of weights[k]
     * times the mean of cos(2 pi x u) over u from knots[k] to knots[k + 1]. */
    void (*mean_cosines)(double *x, ptrdiff_t n, const double *weights, const double *knots,
                         ptrdiff_t n_terms);
    /* Multiply n complex numbers x by y in place, real parts first. */
    void (*multiply_complex)(void *x, const void *y, ptrdiff_t n);
    /* Return whether all of n values are finite. */
    int (*finite)(const void *x, ptrdiff_t n);
    /* Write the cosine and sine of each of n angles, projection * scale in turns, as adjacent
     * pairs, times a factor. */
    void (*paired)(const void *projections, const void *scales, ptrdiff_t n, double factor,
                   void *out);
    /* Write the cosines of n angles with a phase, in turns, added. */
    void (*cosines)(const void *projections, const void *scales, const void *phases, ptrdiff_t n,
                    double factor, void *out);
    /* Return whether a row with n angles, projection * scale in turns, is far. */
    int (*is_far)(const void *projections, const void *scales, ptrdiff_t n);
} functions_loops;

DECLARE_TABLES_OF_VALUES(functions)

#endif
