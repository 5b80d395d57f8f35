/* Scores of linear models for rows of packed codes: sums of the models' weights at the one-hot
 * features of each row. */
#ifndef SPARSEMAPS_ONE_HOT_SCORES_H
#define SPARSEMAPS_ONE_HOT_SCORES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "one_hot.h"

/* Number of codes whose weights are added for all rows before the next codes. A multiple of 8, so
 * that every chunk of codes begins at a byte. */
enum { SCORE_CODES = 16 };

typedef struct {
    /* Add the weights of codes `first` to `stop`, at most SCORE_CODES, to the sums of some rows.
     * `weights` has n_models numbers per column, `sums` n_models per row. */
    void (*add)(const coded_rows *rows, ptrdiff_t first_row, ptrdiff_t stop_row, ptrdiff_t first,
                ptrdiff_t stop, const double *weights, ptrdiff_t n_models, double *sums);
} one_hot_scores_loops;

DECLARE_TABLES(one_hot_scores)

#endif
