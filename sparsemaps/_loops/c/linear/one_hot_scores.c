#include "one_hot_scores.h"

#include "vectors.h"

enum { MODELS = LANE_BYTES / sizeof(double) }; /* at a time */

typedef double lanes_anywhere __attribute__((vector_size(LANE_BYTES), aligned(8), may_alias));

/* The weights at n columns, of MODELS models. Each sum has four parts: those of the codes 0, 4, ...;
 * 1, 5, ...; and so on. */
INLINE lanes_f64 sum_of_models(const double *weights, const uint32_t *columns, ptrdiff_t n,
                               ptrdiff_t n_models)
{
    lanes_f64 parts[4] = {{0}, {0}, {0}, {0}};
    ptrdiff_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int part = 0; part < 4; part++)
            parts[part] +=
                *(const lanes_anywhere *)(weights + (size_t)columns[j + part] * (size_t)n_models);
    for (int part = 0; j < n; j++, part++)
        parts[part] += *(const lanes_anywhere *)(weights + (size_t)columns[j] * (size_t)n_models);
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

INLINE double sum_of_model(const double *weights, const uint32_t *columns, ptrdiff_t n,
                           ptrdiff_t n_models)
{
    double parts[4] = {0.0, 0.0, 0.0, 0.0};
    ptrdiff_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int part = 0; part < 4; part++)
            parts[part] += weights[(size_t)columns[j + part] * (size_t)n_models];
    for (int part = 0; j < n; j++, part++)
        parts[part] += weights[(size_t)columns[j] * (size_t)n_models];
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

static void add(const coded_rows *rows, ptrdiff_t first_row, ptrdiff_t stop_row, ptrdiff_t first,
                ptrdiff_t stop, const double *weights, ptrdiff_t n_models, double *sums)
{
    uint32_t columns[SCORE_CODES];
    const ptrdiff_t n = stop - first;
    for (ptrdiff_t row = first_row; row < stop_row; row++, sums += n_models) {
        if (!rows->sampled[row])
            continue;
        one_hot_columns(rows, row, first, stop, columns);
        if (n_models < MODELS) {
            for (ptrdiff_t m = 0; m < n_models; m++)
                sums[m] += sum_of_model(weights + m, columns, n, n_models);
            continue;
        }
        for (ptrdiff_t m = 0; m < n_models; m += MODELS) {
            const ptrdiff_t here = m + MODELS <= n_models ? m : n_models - MODELS;
            const lanes_f64 more = sum_of_models(weights + here, columns, n, n_models);
            if (here == m)
                *(lanes_anywhere *)(sums + m) += more;
            else /* some of these have been added before */
                for (ptrdiff_t model = m; model < n_models; model++)
                    sums[model] += more[model - here];
        }
    }
}

const one_hot_scores_loops TABLE(one_hot_scores)[] = {{
    .add = add,
}};
