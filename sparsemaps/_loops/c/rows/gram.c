#include "gram.h"

#include "elementary.h"
#include "simd.h"

enum { GRAM_VECTORS = GRAM_LANES * sizeof(double) / sizeof(register_f64) };

INLINE register_f64 absolute(register_f64 x)
{
    return (register_f64)((register_i64)x & INT64_MAX);
}

INLINE register_f64 dot(register_f64 u, register_f64 v)
{
    return u * v;
}

INLINE register_f64 signed_minimum(register_f64 u, register_f64 v)
{
    register_i64 signs = ((register_i64)u ^ (register_i64)v) >> 63; /* all ones if unequal */
    return (register_f64)((register_i64)register_least_f64(absolute(u), absolute(v)) & ~signs);
}

/* The quotient lies in [1/2, 1], so the product cannot overflow. */
INLINE register_f64 chi_square(register_f64 u, register_f64 v)
{
    return register_least_f64(u, v) * (register_greatest_f64(v, u) / (u + v));
}

INLINE register_f64 distance(register_f64 u, register_f64 v)
{
    return absolute(u - v) - (absolute(u) + absolute(v));
}

INLINE double cauchy_one(double u, double v)
{
    double d = u - v, below = (1.0 + u * u) * (1.0 + v * v);
    if (below < 1e300)
        return log_f64((1.0 + d * d) / below);
    return log_one_plus_square(d) - (log_one_plus_square(u) + log_one_plus_square(v));
}

INLINE register_f64 cauchy(register_f64 u, register_f64 v)
{
    double terms[sizeof(register_f64) / sizeof(double)];
    for (int lane = 0; lane < (int)(sizeof terms / sizeof *terms); lane++)
        terms[lane] = u[lane] != 0 ? cauchy_one(u[lane], v[0]) : 0.0;
    register_f64 term;
    memcpy(&term, terms, sizeof term);
    return term;
}

#define NAME sum_dot
#define TERM dot
#include "gram.template.h"

#define NAME sum_minimum
#define TERM register_least_f64
#include "gram.template.h"

#define NAME sum_signed_minimum
#define TERM signed_minimum
#include "gram.template.h"

#define NAME sum_chi_square
#define TERM chi_square
#include "gram.template.h"

#define NAME sum_absolute
#define TERM distance
#include "gram.template.h"

#define NAME sum_cauchy
#define TERM cauchy
#include "gram.template.h"

const gram_loops TABLE(gram)[] = {{
    .sums = {sum_dot, sum_minimum, sum_signed_minimum, sum_chi_square, sum_absolute, sum_cauchy},
}};
