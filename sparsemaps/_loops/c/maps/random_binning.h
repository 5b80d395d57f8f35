/* Random binning: hashes of bin numbers, for one tile of grids.
 *
 * The bin of a value x is floor(x / pitch - shift), with a pitch and a shift in (0, 1) that are
 * functions of (key, column, grid). The bin of 0 is -1 in every grid. A column adds to its row's
 * sum the hash of its bin minus the hash of bin -1, modulo 2^64, so that zeros add nothing. All
 * arithmetic is float64, by single IEEE operations. Bin numbers are exact up to 2^51; values beyond
 * are distinguished by their scaled bits. */
#ifndef SPARSEMAPS_RANDOM_BINNING_H
#define SPARSEMAPS_RANDOM_BINNING_H

#include "groups.h"

enum { BINNING_TILE = 16, BINNING_PITCH_BITS = 16 };

typedef struct {
    /* Add the hashes of each entry of a group to the BINNING_TILE sums of its row.
     * `inverse_pitches` has 2^BINNING_PITCH_BITS equally likely values, or is NULL for pitches from
     * Gamma(2, 1). */
    void (*add)(uint64_t first_grid, double gamma, const double *inverse_pitches,
                const group_t *group, uint64_t *sums);
    /* Compute the code of each grid of a tile: `bits` bits of a hash of the sum and a word of the
     * grid. */
    void (*codes)(uint64_t first_grid, uint64_t grid_words, int bits, const uint64_t *sums,
                  int64_t *codes);
} random_binning_loops;

DECLARE_TABLES_OF_VALUES(random_binning)

#endif
