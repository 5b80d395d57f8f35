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

/* From this many turns on, rounding changes an angle by 2^-9 turns or more. */
#define FAR_TURNS_F32 0x1p15
#define FAR_TURNS_F64 0x1p44

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
     * pairs, times a factor. Return how many angles are NaN or not below FAR_TURNS in magnitude. */
    ptrdiff_t (*paired)(const void *projections, const void *scales, ptrdiff_t n, double factor,
                        void *out);
    /* Write the cosines of n angles with a phase, in turns, added. Return the same count. */
    ptrdiff_t (*cosines)(const void *projections, const void *scales, const void *phases,
                         ptrdiff_t n, double factor, void *out);
} functions_loops;

DECLARE_TABLES_OF_VALUES(functions)

#endif
