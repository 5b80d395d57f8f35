#include "functions.h"

#include <string.h>

#include "quantiles.h"
#include "sin_cos.h"
#include "vectors.h"

#define EACH(NAME, FUNCTION)                                                                       \
    static void NAME##_each(double *x, ptrdiff_t n, double p)                                      \
    {                                                                                              \
        (void)p;                                                                                   \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            x[i] = FUNCTION;                                                                       \
    }
EACH(exp, exp_f64(x[i]))
EACH(acos, acos_f64(x[i]))
EACH(log_one_plus_square, log_one_plus_square(x[i]))
EACH(root, exp_f64(log_f64(x[i]) / p))
EACH(power, exp_f64(log_f64(x[i]) * p))
EACH(gamma_quantile, gamma_quantile(p, x[i]))
EACH(cosine_quantile, cosine_quantile(p, x[i]))

static double sum_of_eight(const double *sums)
{
    return ((sums[0] + sums[1]) + (sums[2] + sums[3]))
           + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/* Sum eight terms at a time. Terms before `first` underflow to 0 and are skipped. */
static double mixture_one(double x, const double *weights, const double *rates, ptrdiff_t n_terms)
{
    enum { TERMS = 8 };
    double sums[TERMS] = {0};
    ptrdiff_t low = 0, high = n_terms / TERMS;
    while (low < high) { /* binary search for the first eight that do not all underflow */
        ptrdiff_t middle = (low + high) / 2;
        if (x * rates[TERMS * middle + TERMS - 1] > 746.0)
            low = middle + 1;
        else
            high = middle;
    }
    for (ptrdiff_t k = TERMS * low; k < n_terms; k += TERMS)
        for (int j = 0; j < TERMS; j++)
            sums[j] += weights[k + j] * exp_f64(-x * rates[k + j]);
    return sum_of_eight(sums);
}

static void mixture_each(double *x, ptrdiff_t n, const double *weights, const double *rates,
                         ptrdiff_t n_terms)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = mixture_one(x[i], weights, rates, n_terms);
}

/* The mean is (sin b - sin a) / (b - a). If the angles a and b are close, it is computed as
 * (cos a + cos b) / 2 times tan(d / 2) / (d / 2) with d = b - a, whose next term is d^4 / 120. */
static double mean_cosines_one(double x, const double *weights, const double *knots,
                               ptrdiff_t n_terms)
{
    enum { LANES = 8, AT_ONCE = 128 };
    const double in_radians = 6.283185307179586 * x;
    double sums[LANES] = {0}, sines[AT_ONCE + 1], cosines[AT_ONCE + 1], terms[AT_ONCE];
    for (ptrdiff_t first = 0; first < n_terms; first += AT_ONCE) {
        const ptrdiff_t n_here = n_terms - first < AT_ONCE ? n_terms - first : AT_ONCE;
        for (ptrdiff_t i = 0; i <= n_here; i++)
            sin_cos_f64(x * knots[first + i], &sines[i], &cosines[i]);
        for (ptrdiff_t i = 0; i < n_here; i++) {
            const double d = in_radians * (knots[first + i + 1] - knots[first + i]);
            const double near = 0.5 * (cosines[i] + cosines[i + 1]) * (1.0 + d * d / 12.0);
            const double far = (sines[i + 1] - sines[i]) / d;
            terms[i] = weights[first + i] * (d < 0x1p-10 && d > -0x1p-10 ? near : far);
        }
        for (ptrdiff_t i = 0; i < n_here; i += LANES)
            for (int j = 0; j < LANES; j++)
                sums[j] += terms[i + j];
    }
    return sum_of_eight(sums);
}

static void mean_cosines_each(double *x, ptrdiff_t n, const double *weights, const double *knots,
                              ptrdiff_t n_terms)
{
    for (ptrdiff_t i = 0; i < n; i++)
        x[i] = mean_cosines_one(x[i], weights, knots, n_terms);
}

typedef int32_t bits_f32;
typedef int64_t bits_f64;

static const float far_half_f32 = (float)FAR_HALF_F32, far_eighth_f32 = (float)FAR_EIGHTH_F32;
static const double far_half_f64 = FAR_HALF_F64, far_eighth_f64 = FAR_EIGHTH_F64;

#define TEMPLATE "functions.template.h"
#include "each_value.h"

#define LOOPS(TYPE)                                                                                \
    {.each = {exp_each, acos_each, log_one_plus_square_each, root_each, power_each,                \
              gamma_quantile_each, cosine_quantile_each},                                          \
     .mixture = mixture_each,                                                                      \
     .mean_cosines = mean_cosines_each,                                                            \
     .multiply_complex = multiply_complex_##TYPE,                                                  \
     .finite = finite_##TYPE,                                                                      \
     .paired = paired_##TYPE,                                                                      \
     .cosines = cosines_##TYPE,                                                                    \
     .is_far = is_far_##TYPE}
const functions_loops TABLE(functions)[] = OF_EACH_VALUE(LOOPS);
