/* Functions of each number of an array, and products of complex numbers. */
#ifndef SPARSEMAPS_FUNCTIONS_H
#define SPARSEMAPS_FUNCTIONS_H

#include <stddef.h>

#include "levels.h"

/* The functions of a number x and a parameter p, which some leave out. */
enum {
    FUNCTION_EXP,
    FUNCTION_ACOS,                /* of -1 <= x <= 1 */
    FUNCTION_LOG_ONE_PLUS_SQUARE, /* ln(1 + x^2) */
    FUNCTION_ROOT,                /* the p-th root of x > 0 */
    FUNCTION_POWER,               /* x^p of x > 0 */
    FUNCTION_GAMMA_QUANTILE,      /* quantiles.h, for probabilities x; p is the shape */
    FUNCTION_COSINE_QUANTILE,     /* the same; p is the dimension */
    FUNCTION_KINDS
};

/* From so many turns on, rounding moves an angle by 2^-9 turns or more. */
#define FAR_TURNS_F32 0x1p15
#define FAR_TURNS_F64 0x1p44

typedef struct {
    /* Replace each of n numbers of 64 bits by a function of it. */
    void (*each[FUNCTION_KINDS])(double *x, ptrdiff_t n, double p);
    /* The sum of weight[k] exp(-x rate[k]) over n_terms terms, a multiple of 8, for each of n numbers
     * x >= 0. The rates fall. */
    void (*mixture)(double *x, ptrdiff_t n, const double *weights, const double *rates,
                    ptrdiff_t n_terms);
    /* The sum of weight[k] times the mean of cos(2 pi x u) over u from knots[k] to knots[k + 1], over
     * n_terms terms, a multiple of 8, for each of n numbers x. */
    void (*mean_cosines)(double *x, ptrdiff_t n, const double *weights, const double *knots,
                         ptrdiff_t n_terms);
    /* x y for n complex numbers of the table's type each, real part first, in place of x. */
    void (*multiply_complex)(void *x, const void *y, ptrdiff_t n);
    /* Whether all of n values of the table's type are finite. */
    int (*finite)(const void *x, ptrdiff_t n);
    /* Features of n angles, in turns: projection * scale. Their cosines and sines, one behind the
     * other, times a factor. Returns how many angles are not numbers below FAR_TURNS. */
    ptrdiff_t (*paired)(const void *projections, const void *scales, ptrdiff_t n, double factor,
                        void *out);
    /* The cosines of n angles that have a phase, in turns, added. Returns the same. */
    ptrdiff_t (*cosines)(const void *projections, const void *scales, const void *phases,
                         ptrdiff_t n, double factor, void *out);
} functions_loops;

DECLARE_TABLES_OF_VALUES(functions)

#endif
