#include "gram.h"

#include "elementary.h"
#include "simd.h"

enum { GRAM_VECTORS = GRAM_LANES * sizeof(double) / sizeof(lanes_f64) };

INLINE lanes_f64 absolute(lanes_f64 x)
{
    return (lanes_f64)((lanes_i64)x & INT64_MAX);
}

INLINE lanes_f64 least(lanes_f64 u, lanes_f64 v)
{
    return lanes_choose_f64(u < v, u, v);
}

INLINE lanes_f64 dot(lanes_f64 u, lanes_f64 v)
{
    return u * v;
}

INLINE lanes_f64 signed_minimum(lanes_f64 u, lanes_f64 v)
{
    lanes_i64 signs = ((lanes_i64)u ^ (lanes_i64)v) >> 63; /* all ones where they differ */
    return (lanes_f64)((lanes_i64)least(absolute(u), absolute(v)) & ~signs);
}

/* The quotient is at least 1/2 and at most 1, so that no product leaves the range of float64. */
INLINE lanes_f64 chi_square(lanes_f64 u, lanes_f64 v)
{
    return least(u, v) * (lanes_choose_f64(u < v, v, u) / (u + v));
}

INLINE lanes_f64 distance(lanes_f64 u, lanes_f64 v)
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

INLINE lanes_f64 cauchy(lanes_f64 u, lanes_f64 v)
{
    lanes_f64 term;
    for (int lane = 0; lane < (int)(sizeof term / sizeof(double)); lane++)
        term[lane] = u[lane] != 0 ? cauchy_one(u[lane], v[lane]) : 0.0;
    return term;
}

#define NAME sum_dot
#define TERM dot
#include "gram.template.h"

#define NAME sum_minimum
#define TERM least
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

const gram_loops TABLE(gram) = {
    .sums = {sum_dot, sum_minimum, sum_signed_minimum, sum_chi_square, sum_absolute, sum_cauchy},
};
