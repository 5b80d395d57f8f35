/* Random binning: hashes of bin numbers, for one tile of grids.
 *
 * The bin of a value x is floor(x / pitch - shift), with a pitch and a shift in (0, 1) that are
 * functions of (key, column, grid); that of 0 is -1 in every grid. A column adds to its row's sum
 * the hash of its bin less the hash of bin -1, modulo 2^64, so that columns of zeros add nothing.
 * All in float64, by single IEEE operations: numbers of bins are exact up to 2^51, and what lies
 * beyond is in the last bin. */
#ifndef SPARSEMAPS_RANDOM_BINNING_H
#define SPARSEMAPS_RANDOM_BINNING_H

#include "groups.h"

enum { TILE = 16, PITCH_BITS = 16 };

typedef struct {
    double inverse_pitch[TILE], shift[TILE];
    uint64_t salt[TILE], at_zero[TILE];
} binning_parameters;

/* `inverse_pitches` has 2^PITCH_BITS of them, equally likely; NULL stands for Gamma(2, 1). */
INLINE void binning_draw(uint64_t start, uint64_t first_grid, double gamma,
                         const double *inverse_pitches, binning_parameters *restrict p)
{
    uint64_t first[TILE];
    for (int j = 0; j < TILE; j++) {
        uint64_t counter = 3 * (first_grid + (uint64_t)j);
        uint64_t second = word(start, counter + 1);
        first[j] = word(start, counter);
        p->salt[j] = word(start, counter + 2);
        p->at_zero[j] = mix64(p->salt[j] - 1);
        p->shift[j] = ((double)(int32_t)(second >> 33) + 0.5) * 0x1p-31;
    }
    if (inverse_pitches) {
        for (int j = 0; j < TILE; j++)
            p->inverse_pitch[j] = gamma * inverse_pitches[first[j] >> (64 - PITCH_BITS)];
        return;
    }
    for (int j = 0; j < TILE; j++) {
        float u = open_uniform((uint32_t)(first[j] >> 32)), v = open_uniform((uint32_t)first[j]);
        p->inverse_pitch[j] = gamma / (double)-log_f32(u * v);
    }
}

INLINE void binning_add(const binning_parameters *restrict p, double x, uint64_t *restrict sums)
{
    const double largest = 0x1p51, to_integer = 0x1.8p52;
    for (int j = 0; j < TILE; j++) {
        double z = x * p->inverse_pitch[j] - p->shift[j];
        z = z > largest ? largest : z;
        z = z < -largest ? -largest : z;
        double bin = (z + to_integer) - to_integer; /* the nearest integer */
        bin -= bin > z ? 1.0 : 0.0;
        uint64_t number = double_to_bits(bin + to_integer) - UINT64_C(0x4338000000000000);
        sums[j] += mix64(p->salt[j] + number) - p->at_zero[j];
    }
}

/* Add each entry of a group to the TILE sums of its row. */
#define DEFINE_BINNING_TILE(NAME, VALUE)                                                           \
    CLONES static void NAME(uint64_t first_grid, double gamma, const double *inverse_pitches,      \
                            const group_t *group)                                                  \
    {                                                                                              \
        const VALUE *values = (const VALUE *)group->values;                                        \
        const uint32_t *places = group->places, *ends = group->ends;                               \
        uint64_t *sums = (uint64_t *)group->sums;                                                  \
        binning_parameters columns[BATCH];                                                         \
        uint32_t i = 0;                                                                            \
        for (ptrdiff_t first = 0; first < group->n_columns; first += BATCH) {                      \
            for (ptrdiff_t c = first; c < first + BATCH && c < group->n_columns; c++)              \
                binning_draw(group->starts[c], first_grid, gamma, inverse_pitches,                 \
                             &columns[c - first]);                                                 \
            for (const uint32_t end = *ends++; i < end; i++)                                       \
                binning_add(&columns[places[i] % BATCH], (double)values[i],                        \
                            sums + TILE * (ptrdiff_t)(places[i] / BATCH));                         \
        }                                                                                          \
    }

DEFINE_BINNING_TILE(binning_tile_f32, float)
DEFINE_BINNING_TILE(binning_tile_f64, double)

#endif
