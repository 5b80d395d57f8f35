/* Random projections: entries as functions of (key, column, component), and sums of them.
 *
 * A tile of components of a column is made at once. All draws are float32, in float64 sums too, by
 * single IEEE operations in a written order. */
#ifndef SPARSEMAPS_PROJECTION_H
#define SPARSEMAPS_PROJECTION_H

#include <math.h>
#include <stddef.h>

#include "random.h"

enum { TILE = 64 };

enum { NORMAL, CAUCHY, LAPLACE, RADEMACHER };

/* A uniform in (0, 1], of 31 bits and rounded to float32. */
INLINE float long_uniform(uint32_t half)
{
    return (float)(int32_t)(half >> 1 | 1) * 0x1p-31f;
}

/* Polynomials of Cephes for sine and cosine in [-pi/4, pi/4]. */
INLINE float small_sin_f32(float a)
{
    float z = a * a;
    float p = -1.9515295891e-4f;
    p = p * z + 8.3321608736e-3f;
    p = p * z - 1.6666654611e-1f;
    return a + a * (z * p);
}

INLINE float small_cos_f32(float a)
{
    float z = a * a;
    float p = 2.443315711809948e-5f;
    p = p * z - 1.388731625493765e-3f;
    p = p * z + 4.166664568298827e-2f;
    return 1.0f - 0.5f * z + z * (z * p);
}

/* Sine and cosine of a whole turn times `angle` / 2^32: the nearest quarter turn, and the rest. */
INLINE void sin_cos_of_word(uint32_t angle, float *sine, float *cosine)
{
    uint32_t quarter = (angle + UINT32_C(0x20000000)) >> 30;
    float rest = (float)(int32_t)(angle << 2) * 3.6572951981e-10f; /* pi / 2 / 2^32 */
    uint32_t s = float_to_bits(small_sin_f32(rest)), c = float_to_bits(small_cos_f32(rest));
    uint32_t swap = UINT32_C(0) - (quarter & 1);
    *sine = bits_to_float(((c & swap) | (s & ~swap)) ^ (quarter & 2) << 30);
    *cosine = bits_to_float(((s & swap) | (c & ~swap)) ^ ((quarter + 1) & 2) << 30);
}

/* Draws of several columns are made in one go, as a loop over one tile is too short to keep the
 * processor busy. `first` has components 0 to 31 of each column's tile, `second` the others. */
enum { HALF = TILE / 2, BATCH = 16 };

typedef struct {
    float first[BATCH * HALF], second[BATCH * HALF];
} projection_draws;

/* The halves of the HALF words of each column's tile. */
INLINE void tile_halves(const uint64_t *restrict starts, int n, uint64_t tile,
                        uint32_t *restrict high, uint32_t *restrict low)
{
    for (int c = 0; c < n; c++) {
        for (int w = 0; w < HALF; w++) {
            uint64_t bits = word(starts[c], HALF * tile + (uint64_t)w);
            high[HALF * c + w] = (uint32_t)(bits >> 32);
            low[HALF * c + w] = (uint32_t)bits;
        }
    }
}

/* Box & Muller: of a radius and an angle two independent normals. */
INLINE void draw_normal(const uint64_t *starts, int n, uint64_t tile,
                        projection_draws *restrict draws)
{
    uint32_t high[BATCH * HALF], low[BATCH * HALF];
    tile_halves(starts, n, tile, high, low);
    for (int i = 0; i < HALF * n; i++) {
        float radius = sqrtf(-2.0f * log_f32(long_uniform(high[i])));
        float sine, cosine;
        sin_cos_of_word(low[i], &sine, &cosine);
        draws->first[i] = radius * cosine;
        draws->second[i] = radius * sine;
    }
}

/* The tangent of a uniform angle; an odd one, whose sine and cosine are not 0. */
INLINE float cauchy(uint32_t half)
{
    float sine, cosine;
    sin_cos_of_word(half | 1, &sine, &cosine);
    return sine / cosine;
}

INLINE void draw_cauchy(const uint64_t *starts, int n, uint64_t tile,
                        projection_draws *restrict draws)
{
    uint32_t high[BATCH * HALF], low[BATCH * HALF];
    tile_halves(starts, n, tile, high, low);
    for (int i = 0; i < HALF * n; i++) {
        draws->first[i] = cauchy(high[i]);
        draws->second[i] = cauchy(low[i]);
    }
}

/* An exponential of random sign, which is the bit that the uniform leaves out. */
INLINE float laplace(uint32_t half)
{
    uint32_t exponential = float_to_bits(-log_f32(long_uniform(half)));
    return bits_to_float(exponential ^ (half & 1) << 31);
}

INLINE void draw_laplace(const uint64_t *starts, int n, uint64_t tile,
                         projection_draws *restrict draws)
{
    uint32_t high[BATCH * HALF], low[BATCH * HALF];
    tile_halves(starts, n, tile, high, low);
    for (int i = 0; i < HALF * n; i++) {
        draws->first[i] = laplace(high[i]);
        draws->second[i] = laplace(low[i]);
    }
}

/* The bits of one word as signs: 0 for +1. */
INLINE void draw_rademacher(const uint64_t *starts, int n, uint64_t tile,
                            projection_draws *restrict draws)
{
    const uint32_t one = UINT32_C(0x3f800000);
    for (int c = 0; c < n; c++) {
        uint64_t bits = word(starts[c], tile);
        uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
        for (int j = 0; j < HALF; j++) {
            draws->first[HALF * c + j] = bits_to_float(one ^ (low >> j & 1) << 31);
            draws->second[HALF * c + j] = bits_to_float(one ^ (high >> j & 1) << 31);
        }
    }
}

INLINE void draw_batch(int distribution, const uint64_t *starts, int n, uint64_t tile,
                       projection_draws *restrict draws)
{
    switch (distribution) {
    case NORMAL:
        draw_normal(starts, n, tile, draws);
        break;
    case CAUCHY:
        draw_cauchy(starts, n, tile, draws);
        break;
    case LAPLACE:
        draw_laplace(starts, n, tile, draws);
        break;
    default:
        draw_rademacher(starts, n, tile, draws);
    }
}

CLONES static void draw_tiles(int distribution, uint64_t start, uint64_t n_tiles, float *out)
{
    projection_draws draws;
    for (uint64_t tile = 0; tile < n_tiles; tile++) {
        draw_batch(distribution, &start, 1, tile, &draws);
        memcpy(out + TILE * tile, draws.first, HALF * sizeof(float));
        memcpy(out + TILE * tile + HALF, draws.second, HALF * sizeof(float));
    }
}

/* Add value * draw of each entry to the TILE sums of its row. Column c's words start at starts[c],
 * and its entries end at ends[c]; all of them share the draws, which are made once. */
#define DEFINE_PROJECT_TILE(NAME, VALUE)                                                           \
    CLONES static void NAME(int distribution, uint64_t tile, const uint64_t *starts,               \
                            const int64_t *ends, ptrdiff_t n_columns, const uint32_t *rows,        \
                            const VALUE *values, VALUE *sums)                                      \
    {                                                                                              \
        projection_draws draws;                                                                    \
        int64_t i = 0;                                                                             \
        for (ptrdiff_t first = 0; first < n_columns; first += BATCH) {                             \
            int n = n_columns - first < BATCH ? (int)(n_columns - first) : BATCH;                  \
            draw_batch(distribution, starts + first, n, tile, &draws);                             \
            for (int c = 0; c < n; c++) {                                                          \
                VALUE column[TILE];                                                                \
                for (int j = 0; j < HALF; j++) {                                                   \
                    column[j] = (VALUE)draws.first[HALF * c + j];                                  \
                    column[HALF + j] = (VALUE)draws.second[HALF * c + j];                          \
                }                                                                                  \
                for (; i < ends[first + c]; i++) {                                                 \
                    VALUE *restrict row = sums + TILE * (ptrdiff_t)rows[i];                        \
                    for (int j = 0; j < TILE; j++)                                                 \
                        row[j] += values[i] * column[j];                                           \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_PROJECT_TILE(project_tile_f32, float)
DEFINE_PROJECT_TILE(project_tile_f64, double)

#endif
