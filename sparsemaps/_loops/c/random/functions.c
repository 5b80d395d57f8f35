#include "functions.h"

#include "elementary.h"
#include "simd.h"

static void exp_each(double *x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = exp_f64(x[i]);
}

static void acos_each(double *x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = acos_f64(x[i]);
}

static void log_one_plus_square_each(double *x, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = log_one_plus_square(x[i]);
}

/* Eight terms at a time; those before `first` have an exponent so low that they are 0. */
static double mixture_one(double x, const double *weights, const double *rates, ptrdiff_t n_terms)
{
    enum { TERMS = 8 };
    double sums[TERMS] = {0};
    ptrdiff_t low = 0, high = n_terms / TERMS;
    while (low < high) { /* the first eight whose last rate is small enough */
        ptrdiff_t middle = (low + high) / 2;
        if (x * rates[TERMS * middle + TERMS - 1] > 746.0)
            low = middle + 1;
        else
            high = middle;
    }
    for (ptrdiff_t k = TERMS * low; k < n_terms; k += TERMS)
        for (int j = 0; j < TERMS; j++)
            sums[j] += weights[k + j] * exp_f64(-x * rates[k + j]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3]))
           + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static void mixture_each(double *x, ptrdiff_t n, const double *weights, const double *rates,
                         ptrdiff_t n_terms)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = mixture_one(x[i], weights, rates, n_terms);
}

#define TEMPLATE "functions.template.h"
#include "each_value.h"

#define LOOPS(TYPE)                                                                                \
    {.exp = exp_each,                                                                              \
     .acos = acos_each,                                                                            \
     .log_one_plus_square = log_one_plus_square_each,                                              \
     .mixture = mixture_each,                                                                      \
     .multiply_complex = multiply_complex_##TYPE}
const functions_loops TABLE(functions)[] = OF_EACH_VALUE(LOOPS);
