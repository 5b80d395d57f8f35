#include "one_hot_scores.h"

#include "vectors.h"

/* Process two registers of models at a time, then one, then the tail in shorter vectors. */
#define NAME(function) function##_two_registers
#define VECTOR register_f64
#define VECTOR_ANYWHERE register_f64_anywhere
#define VECTORS 2
#include "score_sums.template.h"

#define NAME(function) function##_register
#define VECTOR register_f64
#define VECTOR_ANYWHERE register_f64_anywhere
#define VECTORS 1
#include "score_sums.template.h"

#if REGISTER_BYTES > 32
#define NAME(function) function##_four
#define VECTOR four_f64
#define VECTOR_ANYWHERE four_f64_anywhere
#define VECTORS 1
#include "score_sums.template.h"
#endif

#if REGISTER_BYTES > 16
typedef double two_f64 __attribute__((vector_size(16), may_alias));
typedef double two_f64_anywhere __attribute__((vector_size(16), aligned(8), may_alias));
#define NAME(function) function##_two
#define VECTOR two_f64
#define VECTOR_ANYWHERE two_f64_anywhere
#define VECTORS 1
#include "score_sums.template.h"
#endif

#define NAME(function) function##_one
#define VECTOR double
#define VECTOR_ANYWHERE double
#define VECTORS 1
#include "score_sums.template.h"

/* Implement `add` for n codes. */
INLINE void add_codes(const coded_rows *rows, ptrdiff_t first_row, ptrdiff_t stop_row,
                      ptrdiff_t first, ptrdiff_t n, const double *weights, ptrdiff_t n_models,
                      double *sums)
{
    uint32_t columns[SCORE_CODES];
    uint8_t bytes[SCORE_CODES];
    for (ptrdiff_t row = first_row; row < stop_row; row++, sums += n_models) {
        if (!rows->sampled[row])
            continue;
        if (rows->bits > 8) {
            columns_of_codes(rows, row, first, first + n, columns);
        } else {
            codes_in_bytes(rows, row, first, first + n, bytes);
            for (ptrdiff_t j = 0; j < n; j++)
                columns[j] = (uint32_t)(first + j) << rows->bits | bytes[j];
        }
        ptrdiff_t m = add_two_registers(weights, columns, n, n_models, 0, sums);
        m = add_register(weights, columns, n, n_models, m, sums);
#if REGISTER_BYTES > 32
        m = add_four(weights, columns, n, n_models, m, sums);
#endif
#if REGISTER_BYTES > 16
        m = add_two(weights, columns, n, n_models, m, sums);
#endif
        add_one(weights, columns, n, n_models, m, sums);
    }
}

static void add(const coded_rows *rows, ptrdiff_t first_row, ptrdiff_t stop_row, ptrdiff_t first,
                ptrdiff_t stop, const double *weights, ptrdiff_t n_models, double *sums)
{
    const ptrdiff_t n = stop - first;
    /* Common numbers of codes and models are passed as constants. A row with 16 models then takes
     * 0.8 times as long. */
    if (n == SCORE_CODES && n_models == 1)
        add_codes(rows, first_row, stop_row, first, SCORE_CODES, weights, 1, sums);
    else if (n == SCORE_CODES)
        add_codes(rows, first_row, stop_row, first, SCORE_CODES, weights, n_models, sums);
    else if (n == SCORE_CODES / 2 && n_models == 16)
        add_codes(rows, first_row, stop_row, first, SCORE_CODES / 2, weights, 16, sums);
    else if (n == SCORE_CODES / 2)
        add_codes(rows, first_row, stop_row, first, SCORE_CODES / 2, weights, n_models, sums);
    else
        add_codes(rows, first_row, stop_row, first, n, weights, n_models, sums);
}

const one_hot_scores_loops TABLE(one_hot_scores)[] = {{
    .add = add,
}};
