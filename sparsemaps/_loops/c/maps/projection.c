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
     .bits = bits_##TYPE,                                                                          \
     .values = values_##TYPE}
const projection_loops TABLE(projection)[] = OF_EACH_VALUE(LOOPS);
