/* Random projections: entries as functions of (key, column, component), and sums of them.
 *
 * A tile of components of a few columns is made at once. All draws are float32, in float64 sums
 * too, by single IEEE operations in a written order. */
#ifndef SPARSEMAPS_PROJECTION_H
#define SPARSEMAPS_PROJECTION_H

#include <math.h>

#include "groups.h"
#include "trigonometry.h"

enum { NORMAL, CAUCHY, LAPLACE, RADEMACHER };

/* Word w of a column gives two components: number w % RUN of those from 2 RUN (w / RUN) on, and the
 * one RUN above it. What RUN words give is a tile: two runs of components. */
enum { RUN = 32, TILE = 2 * RUN };

/* A uniform in (0, 1], of 31 bits and rounded to float32. */
INLINE float long_uniform(uint32_t half)
{
    return (float)(int32_t)(half >> 1 | 1) * 0x1p-31f;
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

typedef struct {
    _Alignas(64) float first[BATCH * RUN], second[BATCH * RUN]; /* a run of each column */
} projection_draws;

/* The halves of the RUN words of each of n columns' tile. */
INLINE void tile_halves(const uint64_t *restrict starts, int n, uint64_t tile,
                        uint32_t *restrict high, uint32_t *restrict low)
{
    for (int c = 0; c < n; c++) {
        for (int w = 0; w < RUN; w++) {
            uint64_t bits = word(starts[c], RUN * tile + (uint64_t)w);
            high[RUN * c + w] = (uint32_t)(bits >> 32);
            low[RUN * c + w] = (uint32_t)bits;
        }
    }
}

/* The tangent of a uniform angle; an odd one, whose sine and cosine are not 0. */
INLINE float cauchy(uint32_t half)
{
    float sine, cosine;
    sin_cos_of_word(half | 1, &sine, &cosine);
    return sine / cosine;
}

/* An exponential of random sign, which is the bit that the uniform leaves out. */
INLINE float laplace(uint32_t half)
{
    uint32_t exponential = float_to_bits(-log_f32(long_uniform(half)));
    return bits_to_float(exponential ^ (half & 1) << 31);
}

INLINE void draw_tile(int distribution, const uint64_t *starts, int n, uint64_t tile,
                      projection_draws *restrict draws)
{
    _Alignas(64) uint32_t high[BATCH * RUN], low[BATCH * RUN];
    tile_halves(starts, n, tile, high, low);
    switch (distribution) {
    case NORMAL: /* Box & Muller: of a radius and an angle two independent normals */
        for (int i = 0; i < RUN * n; i++) {
            float radius = sqrtf(-2.0f * log_f32(long_uniform(high[i])));
            float sine, cosine;
            sin_cos_of_word(low[i], &sine, &cosine);
            draws->first[i] = radius * cosine;
            draws->second[i] = radius * sine;
        }
        break;
    case CAUCHY:
        for (int i = 0; i < RUN * n; i++) {
            draws->first[i] = cauchy(high[i]);
            draws->second[i] = cauchy(low[i]);
        }
        break;
    default:
        for (int i = 0; i < RUN * n; i++) {
            draws->first[i] = laplace(high[i]);
            draws->second[i] = laplace(low[i]);
        }
    }
}

/* Signs are the bits of words, TILE of them each: 0 for +1. */
static const uint32_t one_f32 = UINT32_C(0x3f800000);

/* The components of one column, whole tiles of them. */
CLONES static void draw_column(int distribution, uint64_t start, ptrdiff_t n, float *out)
{
    projection_draws draws;
    if (distribution == RADEMACHER) {
        for (ptrdiff_t j = 0; j < n; j++) {
            uint64_t bits = word(start, (uint64_t)(j / TILE));
            out[j] = bits_to_float(one_f32 ^ (uint32_t)(bits >> j % TILE & 1) << 31);
        }
        return;
    }
    for (ptrdiff_t tile = 0; TILE * tile < n; tile++) {
        draw_tile(distribution, &start, 1, (uint64_t)tile, &draws);
        memcpy(out + TILE * tile, draws.first, RUN * sizeof(float));
        memcpy(out + TILE * tile + RUN, draws.second, RUN * sizeof(float));
    }
}

/* Add value * draw of each entry to the sums of its row: the first run's, then the second's. */
#define DEFINE_PROJECT_TILE(NAME, VALUE, LANES)                                                    \
    CLONES static void NAME(int distribution, uint64_t tile, const group_t *group)                 \
    {                                                                                              \
        enum { N = RUN * sizeof(VALUE) / sizeof(LANES) };                                          \
        const VALUE *values = (const VALUE *)group->values;                                        \
        const uint32_t *places = group->places, *ends = group->ends;                               \
        projection_draws draws;                                                                    \
        _Alignas(64) VALUE columns[TILE * BATCH];                                                  \
        uint32_t i = 0;                                                                            \
        for (ptrdiff_t first = 0; first < group->n_columns; first += BATCH) {                      \
            int n = group->n_columns - first < BATCH ? (int)(group->n_columns - first) : BATCH;    \
            const uint32_t end = *ends++;                                                          \
            draw_tile(distribution, group->starts + first, n, tile, &draws);                       \
            for (int c = 0; c < n; c++) {                                                          \
                for (int j = 0; j < RUN; j++) {                                                    \
                    columns[TILE * c + j] = (VALUE)draws.first[RUN * c + j];                       \
                    columns[TILE * c + RUN + j] = (VALUE)draws.second[RUN * c + j];                \
                }                                                                                  \
            }                                                                                      \
            while (i < end) {                                                                      \
                const uint32_t row = places[i] / BATCH;                                            \
                LANES *sums = (LANES *)((VALUE *)group->sums + TILE * (ptrdiff_t)row);             \
                LANES here[2 * N];                                                                 \
                for (int v = 0; v < 2 * N; v++)                                                    \
                    here[v] = sums[v];                                                             \
                do {                                                                               \
                    const LANES *column = (const LANES *)(columns + TILE * (places[i] % BATCH));   \
                    for (int v = 0; v < 2 * N; v++)                                                \
                        here[v] += values[i] * column[v];                                          \
                    i++;                                                                           \
                } while (i < end && places[i] / BATCH == row);                                     \
                for (int v = 0; v < 2 * N; v++)                                                    \
                    sums[v] = here[v];                                                             \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_PROJECT_TILE(project_tile_f32, float, lanes_f32)
DEFINE_PROJECT_TILE(project_tile_f64, double, lanes_f64)

/* Signs are so cheap that each row makes its own: the words of the columns' first TILE components,
 * then those of the next. Entries are taken SIGN_RUN at a time. */
enum { SIGN_RUN = 256 };

#define DEFINE_SIGN_STARTS(NAME, INDEX)                                                            \
    CLONES static void NAME(uint64_t key, const INDEX *indices, ptrdiff_t n, uint64_t *starts)     \
    {                                                                                              \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            starts[i] = column_start(key, (uint64_t)indices[i]);                                   \
    }

DEFINE_SIGN_STARTS(sign_starts_i32, int32_t)
DEFINE_SIGN_STARTS(sign_starts_i64, int64_t)

/* How far to shift a word, or its half, so that the bit of each component becomes the sign. */
#define DOWN_FROM_31 \
    31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8,  \
    7, 6, 5, 4, 3, 2, 1, 0
_Alignas(64) static const uint32_t shifts_f32[TILE] = {DOWN_FROM_31, DOWN_FROM_31};
_Alignas(64) static const uint64_t shifts_f64[TILE] = {
    63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48,
    47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, DOWN_FROM_31};
#define HALF_OF_WORD(word, component) ((uint32_t)((word) >> 32 * ((component) / 32)))
#define WHOLE_WORD(word, component) (word)

/* Add n entries, at most SIGN_RUN, of a row to the TILE sums of word `counter`. */
#define DEFINE_PROJECT_SIGNS(NAME, VALUE, LANES, BITS, SHIFTS, BITS_OF_WORD, BITS_OF_VALUE,       \
                             OF_BITS)                                                              \
    CLONES static void NAME(const uint64_t *starts, ptrdiff_t n, uint64_t counter,                 \
                            const VALUE *values, VALUE *sums)                                      \
    {                                                                                              \
        enum { L = sizeof(LANES) / sizeof(VALUE), N = TILE / L };                                  \
        const BITS zeros = {0};                                                                    \
        uint64_t words[SIGN_RUN];                                                                  \
        LANES here[N];                                                                             \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            words[i] = word(starts[i], counter);                                                   \
        for (int v = 0; v < N; v++)                                                                \
            here[v] = ((const LANES *)sums)[v];                                                    \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            for (int v = 0; v < N; v++) {                                                          \
                BITS bits = (zeros | BITS_OF_WORD(words[i], L * v))                                \
                            << *(const BITS *)(SHIFTS + L * v);                                    \
                bits = (bits & BITS_OF_VALUE(-(VALUE)0.0)) ^ BITS_OF_VALUE(values[i]);             \
                here[v] += OF_BITS(bits);                                             \
            }                                                                                      \
        }                                                                                          \
        for (int v = 0; v < N; v++)                                                                \
            ((LANES *)sums)[v] = here[v];                                                          \
    }

DEFINE_PROJECT_SIGNS(project_signs_f32, float, lanes_f32, lanes_u32, shifts_f32, HALF_OF_WORD,
                     float_to_bits, lanes_f32_of_u32)
DEFINE_PROJECT_SIGNS(project_signs_f64, double, lanes_f64, lanes_u64, shifts_f64, WHOLE_WORD,
                     double_to_bits, lanes_f64_of_u64)

/* Codes of n projections, at most TILE: bit j is 1 where number j is not negative. */
#define DEFINE_SIGN_BITS(NAME, VALUE)                                                              \
    CLONES static uint64_t NAME(const VALUE *projections, ptrdiff_t n)                             \
    {                                                                                              \
        uint64_t bits = 0;                                                                         \
        for (ptrdiff_t j = 0; j < n; j++)                                                          \
            bits |= (uint64_t)(projections[j] >= 0) << j;                                          \
        return bits;                                                                               \
    }

DEFINE_SIGN_BITS(sign_bits_f32, float)
DEFINE_SIGN_BITS(sign_bits_f64, double)

/* The same as values, one or -one. */
#define DEFINE_SIGN_VALUES(NAME, VALUE)                                                            \
    CLONES static void NAME(const VALUE *restrict projections, ptrdiff_t n, VALUE one,             \
                            VALUE *restrict out)                                                   \
    {                                                                                              \
        for (ptrdiff_t j = 0; j < n; j++)                                                          \
            out[j] = projections[j] >= 0 ? one : -one;                                             \
    }

DEFINE_SIGN_VALUES(sign_values_f32, float)
DEFINE_SIGN_VALUES(sign_values_f64, double)

#endif
