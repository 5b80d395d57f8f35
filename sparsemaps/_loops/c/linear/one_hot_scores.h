/* Scores of rows of packed codes by linear models: the sums of the models' weights at the one-hot
 * features of each row. */
#ifndef SPARSEMAPS_ONE_HOT_SCORES_H
#define SPARSEMAPS_ONE_HOT_SCORES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "one_hot.h"

/* Codes whose weights are added up before those of the next are looked at, for all rows. A multiple
 * of 8, so that the first of them begins a byte. */
enum { SCORE_CODES = 16 };

typedef struct {
    /* Add the weights of the codes first to stop, at most SCORE_CODES, of some rows. `weights` has
     * n_models numbers for each column, and sums as many for each row. */
    void (*add)(const coded_rows *rows, ptrdiff_t first_row, ptrdiff_t stop_row, ptrdiff_t first,
                ptrdiff_t stop, const double *weights, ptrdiff_t n_models, double *sums);
} one_hot_scores_loops;

DECLARE_TABLES(one_hot_scores)

#endif
