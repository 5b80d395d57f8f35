#include "projection.h"

#include <math.h>

#include "normals.h"
#include "random.h"
#include "sin_cos.h"
#include "vectors.h"

/* Return a uniform in (0, 1], of 31 bits rounded to float32. */
INLINE float long_uniform(uint32_t half)
{
    return (float)(int32_t)(half >> 1 | 1) * 0x1p-31f;
}

/* Compute the sine and cosine of angle / 2^32 turns, from the nearest quarter turn and the
 * remainder. */
INLINE void sin_cos_of_word(uint32_t angle, float *sine, float *cosine)
{
    uint32_t quarter = (angle + UINT32_C(0x20000000)) >> 30;
    float rest = (float)(int32_t)(angle << 2) * 3.6572951981e-10f; /* pi / 2 / 2^32 */
    sin_cos_of_quarters_f32(quarter, rest, sine, cosine);
}

/* Return the tangent of a uniform angle. The angle is odd, so that its sine and cosine are not
 * 0. */
INLINE float cauchy(uint32_t half)
{
    float sine, cosine;
    sin_cos_of_word(half | 1, &sine, &cosine);
    return sine / cosine;
}

/* Return an exponential with a random sign, taken from the bit that the uniform does not use. */
INLINE float laplace(uint32_t half)
{
    uint32_t exponential = float_to_bits(-log_f32(long_uniform(half)));
    return bits_to_float(exponential ^ (half & 1) << 31);
}

/* Return the quantile of (half + 1/2) / 2^32, interpolated linearly between the quantiles of the
 * midpoints. Outside the first and the last midpoint it is constant. */
INLINE float quantile(uint32_t half, const float *restrict quantiles)
{
    const uint32_t below = (half >> 16) + (half >> 15 & 1);
    const float part = (float)(int32_t)((half + 0x8000) & 0xffff) * 0x1p-16f + 0x1p-17f;
    return quantiles[below] + part * (quantiles[below + 1] - quantiles[below]);
}

/* Draw a tile of components for n columns. */
INLINE void draw_tile(int distribution, const float *restrict quantiles,
                      const uint64_t *restrict starts, int n, uint64_t tile, float *restrict out)
{
    for (int c = 0; c < n; c++, out += PROJECTION_TILE) {
        _Alignas(64) uint64_t words[PROJECTION_HALF];
        for (int w = 0; w < PROJECTION_HALF; w++)
            words[w] = word(starts[c], PROJECTION_HALF * tile + (uint64_t)w);
        switch (distribution) {
        case PROJECTION_NORMAL:
            for (int w = 0; w < PROJECTION_HALF; w++)
                words[w] = lower_half_first(words[w]);
            normals(words, PROJECTION_HALF, out);
            break;
        case PROJECTION_CAUCHY:
            for (int w = 0; w < PROJECTION_HALF; w++) {
                out[w] = cauchy((uint32_t)(words[w] >> 32));
                out[PROJECTION_HALF + w] = cauchy((uint32_t)words[w]);
            }
            break;
        case PROJECTION_QUANTILES:
            for (int w = 0; w < PROJECTION_HALF; w++) {
                out[w] = quantile((uint32_t)(words[w] >> 32), quantiles);
                out[PROJECTION_HALF + w] = quantile((uint32_t)words[w], quantiles);
            }
            break;
        default:
            for (int w = 0; w < PROJECTION_HALF; w++) {
                out[w] = laplace((uint32_t)(words[w] >> 32));
                out[PROJECTION_HALF + w] = laplace((uint32_t)words[w]);
            }
        }
    }
}

static void draw(int distribution, const float *quantiles, uint64_t start, ptrdiff_t n, float *out)
{
    const uint32_t one = UINT32_C(0x3f800000); /* bits of 1.0f */
    for (ptrdiff_t tile = 0; PROJECTION_TILE * tile < n; tile++) {
        float *components = out + PROJECTION_TILE * tile;
        if (distribution == PROJECTION_RADEMACHER) {
            const uint64_t signs = word(start, (uint64_t)tile); /* 0 for +1 */
            for (int j = 0; j < PROJECTION_TILE; j++)
                components[j] = bits_to_float(one ^ (uint32_t)(signs >> j & 1) << 31);
        } else {
            _Alignas(64) float of_tile[PROJECTION_TILE];
            draw_tile(distribution, quantiles, &start, 1, (uint64_t)tile, of_tile);
            memcpy(components, of_tile, sizeof of_tile);
        }
    }
}

static void sign_starts(uint64_t key, const csr_block *rows, int64_t first, ptrdiff_t n,
                        uint64_t *starts)
{
    column_starts(rows->indices, rows->index_size, first, n, key, starts);
}

/* Return a bound for the rounding errors of a row's float32 sums of about 0, if the row has this norm.
 *
 * The sum of m random terms is rounded m times, by 2^-24 of a partial sum at most. If the sum is
 * about 0, its partial sums are of the size of the norm or less, and their roundings, in either
 * direction, add up to less than a third of root(m) * 2^-24 of it; the bound is 12 times that. For
 * up to 16 signs, no error is larger. Partial sums of Cauchy entries are of the size of the sum of
 * the row's sizes, at most root(m) times the norm. Orthogonal blocks are three transforms, each of
 * log2(width) sums, which multiply the norm by root(width). */
INLINE double rounding_by_norm(const signs_t *signs, double m, double norm)
{
    const double width = (double)signs->width;
    if (width > 0)
        return 0x1p-22 * norm * width * sqrt(3 * log2(width));
    return 0x1p-22 * norm * (signs->distribution == PROJECTION_CAUCHY ? m : sqrt(m));
}

/* Return the same, or a larger bound, without a look at the row: its norm is at most root(m) times
 * the largest value. */
INLINE double rounding_at_most(const signs_t *signs, const csr_block *rows, ptrdiff_t row)
{
    const double m = (double)(rows->indptr[row + 1] - rows->indptr[row]);
    return rounding_by_norm(signs, m, sqrt(m) * signs->largest);
}

/* Return a number that `size` is a multiple of, at least half its last bit; infinity for 0. */
INLINE float unit_of(float size)
{
    const uint32_t bits = float_to_bits(size);
    return size > 0 ? size - bits_to_float(bits & (bits - 1)) : INFINITY;
}

/* Add a value to sums of squares and of sizes, and to the least unit. */
INLINE void measure(float value, double *square, double *sum, float *unit)
{
    const float size = fabsf(value), here = unit_of(size);
    *square += (double)size * (double)size;
    *sum += (double)size;
    *unit = here < *unit ? here : *unit;
}

/* Return a bound for the rounding errors of a row's float32 sums of about 0, or 0 if they are exact.
 *
 * Sums of signs are exact if all values are multiples of one number, and no sum is 2^24 times that
 * number or more. */
NOT_INLINE static double rounding_of(const signs_t *signs, const csr_block *rows, ptrdiff_t row)
{
    enum { L = 8 };
    const int64_t start = rows->indptr[row], m = rows->indptr[row + 1] - start;
    const float *values = (const float *)rows->values + start;
    const int64_t whole = m / L * L;
    double squares[L] = {0}, sums[L] = {0}, square = 0, sum = 0, largest = INFINITY;
    float units[L], unit = INFINITY;
    for (int l = 0; l < L; l++)
        units[l] = INFINITY;
    for (int64_t i = 0; i < whole; i += L)
        for (int l = 0; l < L; l++)
            measure(values[i + l], &squares[l], &sums[l], &units[l]);
    for (int64_t i = whole; i < m; i++)
        measure(values[i], &square, &sum, &unit);
    for (int l = 0; l < L; l++) {
        square += squares[l];
        sum += sums[l];
        unit = units[l] < unit ? units[l] : unit;
    }
    const double norm = sqrt(square), width = (double)signs->width;
    if (width > 0)
        largest = width * sqrt(width) * norm;
    else if (signs->distribution == PROJECTION_RADEMACHER)
        largest = sum;
    return largest < 0x1p24 * (double)unit ? 0 : rounding_by_norm(signs, (double)m, norm);
}

static double largest(const float *values, ptrdiff_t n)
{
    uint32_t most = 0; /* bits of sizes have the order of the sizes */
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t size = float_to_bits(fabsf(values[i]));
        most = size > most ? size : most;
    }
    return (double)bits_to_float(most);
}

/* Shift counts that move the bit of each component to the sign, in a word or in half of one. */
#define DOWN_FROM_31                                                                               \
    31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8,  \
        7, 6, 5, 4, 3, 2, 1, 0
_Alignas(64) static const uint32_t shifts_f32[PROJECTION_TILE] = {DOWN_FROM_31, DOWN_FROM_31};
_Alignas(64) static const uint64_t shifts_f64[PROJECTION_TILE] = {
    63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,          47,
    46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, DOWN_FROM_31};

#define TEMPLATE "projection.template.h"
#include "each_value.h"

#define LOOPS(TYPE)                                                                                \
    {.draw = draw,                                                                                 \
     .add = add_##TYPE,                                                                            \
     .sign_starts = sign_starts,                                                                   \
     .add_signs = add_signs_##TYPE,                                                                \
     .settle = settle_##TYPE,                                                                      \
     .largest = largest,                                                                           \
     .bits = bits_##TYPE,                                                                          \
     .values = values_##TYPE}
const projection_loops TABLE(projection)[] = OF_EACH_VALUE(LOOPS);
