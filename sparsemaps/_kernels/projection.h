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

typedef struct {
    uint64_t start; /* of the column's words */
    double value;
    int64_t row; /* whose sums to add to */
} projection_entry;

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

/* The halves of the 32 words of a tile. */
INLINE void tile_halves(uint64_t start, uint64_t tile, uint32_t *restrict halves)
{
    for (int w = 0; w < TILE / 2; w++) {
        uint64_t bits = word(start, TILE / 2 * tile + (uint64_t)w);
        halves[w] = (uint32_t)(bits >> 32);
        halves[TILE / 2 + w] = (uint32_t)bits;
    }
}

/* Box & Muller: of a radius and an angle two independent normals. */
INLINE void draw_normal(uint64_t start, uint64_t tile, float *restrict draws)
{
    uint32_t halves[TILE];
    tile_halves(start, tile, halves);
    for (int w = 0; w < TILE / 2; w++) {
        float radius = sqrtf(-2.0f * log_f32(long_uniform(halves[w])));
        float sine, cosine;
        sin_cos_of_word(halves[TILE / 2 + w], &sine, &cosine);
        draws[w] = radius * cosine;
        draws[TILE / 2 + w] = radius * sine;
    }
}

/* The tangent of a uniform angle; an odd one, whose sine and cosine are not 0. */
INLINE void draw_cauchy(uint64_t start, uint64_t tile, float *restrict draws)
{
    uint32_t halves[TILE];
    tile_halves(start, tile, halves);
    for (int j = 0; j < TILE; j++) {
        float sine, cosine;
        sin_cos_of_word(halves[j] | 1, &sine, &cosine);
        draws[j] = sine / cosine;
    }
}

/* An exponential of random sign, which is the bit that the uniform leaves out. */
INLINE void draw_laplace(uint64_t start, uint64_t tile, float *restrict draws)
{
    uint32_t halves[TILE];
    tile_halves(start, tile, halves);
    for (int j = 0; j < TILE; j++) {
        uint32_t exponential = float_to_bits(-log_f32(long_uniform(halves[j])));
        draws[j] = bits_to_float(exponential ^ (halves[j] & 1) << 31);
    }
}

/* The bits of one word as signs: 0 for +1. */
INLINE void draw_rademacher(uint64_t start, uint64_t tile, float *restrict draws)
{
    uint64_t bits = word(start, tile);
    uint32_t low = (uint32_t)bits, high = (uint32_t)(bits >> 32);
    const uint32_t one = UINT32_C(0x3f800000);
    for (int j = 0; j < 32; j++)
        draws[j] = bits_to_float(one ^ (low >> j & 1) << 31);
    for (int j = 0; j < 32; j++)
        draws[32 + j] = bits_to_float(one ^ (high >> j & 1) << 31);
}

INLINE void draw_tile(int distribution, uint64_t start, uint64_t tile, float *restrict draws)
{
    switch (distribution) {
    case NORMAL:
        draw_normal(start, tile, draws);
        break;
    case CAUCHY:
        draw_cauchy(start, tile, draws);
        break;
    case LAPLACE:
        draw_laplace(start, tile, draws);
        break;
    default:
        draw_rademacher(start, tile, draws);
    }
}

CLONES static void draw_tiles(int distribution, uint64_t start, uint64_t n_tiles, float *draws)
{
    for (uint64_t tile = 0; tile < n_tiles; tile++)
        draw_tile(distribution, start, tile, draws + TILE * tile);
}

/* Add value * draw of each entry to the TILE sums of its row. Entries of one column must be
 * neighbours: they share the draws, which are made once. */
#define DEFINE_PROJECT_TILE(NAME, VALUE)                                                           \
    CLONES static void NAME(int distribution, uint64_t tile, const projection_entry *entries,      \
                            ptrdiff_t n, VALUE *sums)                                              \
    {                                                                                              \
        float draws[TILE];                                                                         \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            if (i == 0 || entries[i].start != entries[i - 1].start)                                \
                draw_tile(distribution, entries[i].start, tile, draws);                            \
            VALUE value = (VALUE)entries[i].value;                                                 \
            VALUE *restrict row = sums + TILE * entries[i].row;                                    \
            for (int j = 0; j < TILE; j++)                                                         \
                row[j] += value * (VALUE)draws[j];                                                 \
        }                                                                                          \
    }

DEFINE_PROJECT_TILE(project_tile_f32, float)
DEFINE_PROJECT_TILE(project_tile_f64, double)

#endif
