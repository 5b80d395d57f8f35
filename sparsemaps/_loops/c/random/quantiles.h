/* Quantiles of the gamma distribution and of the angle between random directions, by Newton's
 * method on the logarithm of the smaller tail. Relative errors are about 1e-14 (angles: 1e-11). The
 * bits are the same on every platform. */
#ifndef SPARSEMAPS_QUANTILES_H
#define SPARSEMAPS_QUANTILES_H

#include "elementary.h"

#define TWO_PI 6.283185307179586
#define LARGEST_N_TERMS 1000000
#define LARGEST_N_STEPS 100

/* Return the logarithm of Gamma(a + 1) over Stirling's formula sqrt(2 pi a) (a / e)^a. */
static inline double stirling_correction(double a)
{
    double below = 0.0, from = a, z;
    /* From 16 on, the series is accurate to the last bit. For smaller a, Gamma(a + 1) is Gamma of a
     * larger argument divided by a product. */
    double product = 1.0;
    if (a < 16.0) {
        while (from < 16.0) {
            from += 1.0;
            product *= from;
        }
        below = -log_f64(product) + from * log_f64(from) - from - (a * log_f64(a) - a)
                + 0.5 * log_f64(from / a);
    }
    z = 1.0 / (from * from);
    return below
           + (1.0 / 12.0
              - z
                    * (1.0 / 360.0
                       - z
                             * (1.0 / 1260.0
                                - z
                                      * (1.0 / 1680.0
                                         - z
                                               * (1.0 / 1188.0
                                                  - z * (691.0 / 360360.0 - z * (1.0 / 156.0)))))))
                 / from;
}

/* Return ln(x) - m for x = 1 + m > 0, without cancellation near m = 0. */
static inline double log_beyond(double x, double m)
{
    /* ln(1 + m) = 2 artanh(s), and 2 s - m = -m s. */
    double s = m / (2.0 + m), z = s * s, p = 0.0;
    if (m < -0.3 || m > 0.4)
        return log_f64(x) - m;
    for (int k = 33; k >= 3; k -= 2)
        p = p * z + 1.0 / k;
    return 2.0 * s * z * p - m * s;
}

/* Return x^a e^-x / Gamma(a + 1). `correction` is stirling_correction(a). */
static inline double gamma_front(double a, double x, double correction)
{
    return exp_f64(a * log_beyond(x / a, (x - a) / a) - correction) / sqrt(TWO_PI * a);
}

/* Return the probability below x, for x up to about a, by a series of positive terms. */
static inline double gamma_below(double a, double x, double front)
{
    double term = 1.0, sum = 1.0, n = a;
    for (int k = 0; k < LARGEST_N_TERMS && term > sum * 1e-17; k++) {
        n += 1.0;
        term *= x / n;
        sum += term;
    }
    return front * sum;
}

/* Return the probability above x, for x > a + 1, by a continued fraction (Lentz's method). */
static inline double gamma_above(double a, double x, double front)
{
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, value = d, ratio = 0.0;
    for (int k = 1; k < LARGEST_N_TERMS && !(ratio - 1.0 < 2e-16 && 1.0 - ratio < 2e-16); k++) {
        double numerator = -k * (k - a);
        b += 2.0;
        d = 1.0 / (numerator * d + b);
        c = b + numerator / c;
        ratio = c * d;
        value *= ratio;
    }
    return front * a * value;
}

/* Approximate the normal quantile function within 0.0005 (Abramowitz & Stegun, 26.2.23). */
static inline double rough_normal_quantile(double p)
{
    double tail = p < 0.5 ? p : 1.0 - p;
    double t = sqrt(-2.0 * log_f64(tail));
    double z = t
               - (2.515517 + t * (0.802853 + t * 0.010328))
                     / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    return p < 0.5 ? -z : z;
}

/* Return the quantile of probability p, 0 < p < 1, of the gamma distribution with shape a > 0 and
 * scale 1. The result is at least 1e-300. */
static inline double gamma_quantile(double a, double p)
{
    const double correction = stirling_correction(a), smallest = 1e-300;
    /* A lower bound, since the probability below x is at most x^a / Gamma(a + 1). */
    double x = (log_f64(p) + correction + 0.5 * log_f64(TWO_PI * a)) / a - 1.0 + log_f64(a);
    double third, wilson;
    x = x < -690.0 ? smallest : exp_f64(x);
    third = 1.0 / (9.0 * a);
    wilson = 1.0 - third + rough_normal_quantile(p) * sqrt(third);
    if (wilson > 0.2)
        x = a * wilson * wilson * wilson;
    for (int k = 0; k < LARGEST_N_STEPS; k++) {
        double front = gamma_front(a, x, correction), slope = front * a, step, part;
        /* Newton's method in ln x, for which both tails have derivative `slope`. */
        if (p > 0.5) {
            part = x > a + 1.0 ? gamma_above(a, x, front) : 1.0 - gamma_below(a, x, front);
            step = log_f64(part / (1.0 - p)) * part / slope;
        } else {
            part = x > a + 1.0 ? 1.0 - gamma_above(a, x, front) : gamma_below(a, x, front);
            step = log_f64(p / part) * part / slope;
        }
        step = step < -2.0 ? -2.0 : step > 2.0 ? 2.0 : step;
        x *= exp_f64(step);
        if (!(x > smallest))
            return smallest;
        if (step < 1e-8 && step > -1e-8) /* the next step would be below the last bit */
            break;
    }
    return x;
}

/* Return the probability that the cosine exceeds c, 0 <= c < 1, with m = (d - 1) / 2 in d
 * dimensions: half the probability below 1 - c^2 of the beta distribution with shapes m and 1/2.
 * `front` is the density times c (1 - c^2). */
static inline double cosine_above(double m, double c, double front)
{
    double y = c * c, x = 1.0 - y, term = 1.0, sum = 1.0, d, e, value, ratio = 0.0;
    if (y * (m + 2.5) < 1.5) { /* near the middle: integrate from 0 to c */
        for (int n = 0; n < LARGEST_N_TERMS && term > sum * 1e-17; n++) {
            term *= y * (m + 0.5 + n) / (1.5 + n);
            sum += term;
        }
        return 0.5 - front * sum;
    }
    /* The continued fraction of the incomplete beta function with shapes m and 1/2, at x (Lentz's
     * method). */
    d = 1.0 - (m + 0.5) * x / (m + 1.0);
    d = 1.0 / d;
    e = 1.0;
    value = d;
    for (int k = 1; k < LARGEST_N_TERMS && !(ratio - 1.0 < 2e-16 && 1.0 - ratio < 2e-16); k++) {
        double even = k * (0.5 - k) * x / ((m + 2.0 * k - 1.0) * (m + 2.0 * k));
        double odd = -(m + k) * (m + 0.5 + k) * x / ((m + 2.0 * k) * (m + 2.0 * k + 1.0));
        d = 1.0 / (1.0 + even * d);
        e = 1.0 + even / e;
        value *= d * e;
        d = 1.0 / (1.0 + odd * d);
        e = 1.0 + odd / e;
        ratio = d * e;
        value *= ratio;
    }
    return front / (2.0 * m) * value;
}

/* Return c such that the cosine of the angle between a fixed and a uniform random direction is
 * below c with probability p. The dimension must be at least 2. */
static inline double cosine_quantile(double dimension, double p)
{
    const double m = 0.5 * (dimension - 1.0), tail = p < 0.5 ? p : 1.0 - p;
    /* The density is (1 - c^2)^(m - 1) Gamma(m + 1/2) / (Gamma(m) sqrt(pi)). */
    const double half = m - 0.5;
    double c, z, density;
    if (m == 0.5) { /* uniform on a circle */
        double sine, cosine;
        sin_cos_f64(0.5 * tail, &sine, &cosine);
        return p < 0.5 ? -cosine : cosine;
    }
    /* Gamma(m + 1/2) / Gamma(m), with Stirling's formula for both. */
    density = exp_f64(stirling_correction(half) - stirling_correction(m) + 0.25 / m
                      + half * log_beyond(half / m, -0.5 / m))
              * sqrt(half / (0.5 * TWO_PI));
    z = rough_normal_quantile(1.0 - tail);
    c = sqrt(1.0 - exp_f64(-z * z / (2.0 * m)));
    for (int k = 0; k < LARGEST_N_STEPS && tail < 0.5; k++) {
        double rest = (1.0 - c) * (1.0 + c);
        double slope = density * exp_f64((m - 1.0) * (log_beyond(rest, -c * c) - c * c));
        double part = cosine_above(m, c, slope * c * rest);
        double step = log_f64(part / tail) * part / slope;
        double next = c + step;
        next = next < 0.0 ? 0.5 * c : next >= 1.0 ? 0.5 * (1.0 + c) : next;
        step = next - c;
        c = next;
        step = step < 0.0 ? -step : step;
        if (step < 1e-8 * c
            && step < 1e-8 * (1.0 - c)) /* the next step would be below the last bits */
            break;
    }
    return tail == 0.5 ? 0.0 : p < 0.5 ? -c : c;
}

#endif
