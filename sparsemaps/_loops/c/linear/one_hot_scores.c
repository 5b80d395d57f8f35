#include "one_hot_scores.h"

#include "vectors.h"

enum { MODELS = LANE_BYTES / sizeof(double) }; /* of a vector */

/* Vectors at a time: two where they stay in registers. */
enum { MOST_VECTORS = REGISTER_BYTES == LANE_BYTES ? 2 : 1 };

typedef double lanes_anywhere __attribute__((vector_size(LANE_BYTES), aligned(8), may_alias));

/* Add the weights at n columns to sums, of `vectors` times MODELS models. Each sum has four parts:
 * those of the codes 0, 4, ...; 1, 5, ...; and so on. */
INLINE void add_of_models(const double *weights, const uint32_t *columns, ptrdiff_t n,
                          ptrdiff_t n_models, int vectors, lanes_f64 *sums)
{
    lanes_f64 parts[MOST_VECTORS][4] = {{{0}}};
    ptrdiff_t j = 0;
    for (; j + 4 <= n; j += 4)
#pragma GCC unroll 4
        for (int part = 0; part < 4; part++)
#pragma GCC unroll 2
            for (int i = 0; i < vectors; i++)
                parts[i][part] +=
                    ((const lanes_anywhere *)(weights
                                              + (size_t)columns[j + part] * (size_t)n_models))[i];
#pragma GCC unroll 4
    for (int part = 0; part < 3; part++)
        if (part < n - j)
#pragma GCC unroll 2
            for (int i = 0; i < vectors; i++)
                parts[i][part] +=
                    ((const lanes_anywhere *)(weights
                                              + (size_t)columns[j + part] * (size_t)n_models))[i];
#pragma GCC unroll 2
    for (int i = 0; i < vectors; i++)
        sums[i] = (parts[i][0] + parts[i][1]) + (parts[i][2] + parts[i][3]);
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
        ptrdiff_t m = 0;
        lanes_f64 more[MOST_VECTORS];
        for (; m + MOST_VECTORS * MODELS <= n_models; m += MOST_VECTORS * MODELS) {
            add_of_models(weights + m, columns, n, n_models, MOST_VECTORS, more);
            for (int i = 0; i < MOST_VECTORS; i++)
                ((lanes_anywhere *)(sums + m))[i] += more[i];
        }
        for (; m < n_models; m += MODELS) {
            const ptrdiff_t here = m + MODELS <= n_models ? m : n_models - MODELS;
            add_of_models(weights + here, columns, n, n_models, 1, more);
            for (ptrdiff_t model = m; model < n_models && model < m + MODELS; model++)
                sums[model] += more[0][model - here]; /* those before m have been added */
        }
    }
}

const one_hot_scores_loops TABLE(one_hot_scores)[] = {{
    .add = add,
}};
