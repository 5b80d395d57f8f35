/* Functions of each number of an array, and products of complex numbers. */
#ifndef SPARSEMAPS_FUNCTIONS_H
#define SPARSEMAPS_FUNCTIONS_H

#include <stddef.h>

#include "levels.h"

typedef struct {
    /* Of n numbers of 64 bits, in place: e^x; arccos(x) of -1 <= x <= 1; ln(1 + x^2). */
    void (*exp)(double *x, ptrdiff_t n);
    void (*acos)(double *x, ptrdiff_t n);
    void (*log_one_plus_square)(double *x, ptrdiff_t n);
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
} functions_loops;

DECLARE_TABLES_OF_VALUES(functions)

#endif
