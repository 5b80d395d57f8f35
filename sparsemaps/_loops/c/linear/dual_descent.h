/* Linear models on packed codes, by coordinate descent in the dual: LIBLINEAR's algorithms (Hsieh,
 * Chang, Lin, Keerthi & Sundararajan 2008; Yu, Huang & Lin 2011; Ho & Lin 2012), on one-hot features
 * that are read from the codes.
 *
 * Row i has the features z_i: 1 / sqrt(k) in the columns of its k codes, and one more feature of the
 * value `bias`. The model minimises
 *
 *     |w|^2 / 2 + sum_i C_i loss(y_i, <w, z_i>)
 *
 * over w = sum_i beta_i z_i. The solver keeps v = sqrt(k) w, that is, sums of beta. */
#ifndef SPARSEMAPS_DUAL_DESCENT_H
#define SPARSEMAPS_DUAL_DESCENT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "one_hot.h"

enum { SQUARED_HINGE, HINGE, LOG_LOSS, SQUARED_EPSILON_INSENSITIVE, EPSILON_INSENSITIVE };

typedef struct {
    coded_rows rows;
    ptrdiff_t n_rows;
    int loss;
    double epsilon; /* of the losses of regression */
    double bias;
    double tol;
    double cost;           /* C */
    const double *weights; /* of each row: C_i is C times that; NULL where all are 1 */
    const int32_t *labels; /* classification: y is 1 where the label is `positive`, else -1 */
    int32_t positive;
    const double *targets; /* regression */
    uint64_t key;          /* of the random order */
} dual_problem;

typedef struct {
    double *v;         /* n_codes << bits, and one more that is 0 */
    double intercept;  /* the weight of the last feature */
    double *dual;      /* of each row: alpha_i; of regression beta_i. Of LOG_LOSS the nearer of the
                         * distances to 0 and to C_i, as a negative number for the latter. */
    uint32_t *order;   /* of the rows; those that are active come first */
    uint32_t *columns; /* scratch: padded_columns(n_codes) */
    ptrdiff_t n_weighed; /* rows whose C_i is not 0 */
    ptrdiff_t n_active;
    ptrdiff_t position;                /* in the order, of the row that is next */
    int64_t n_passes;                  /* over rows; with the key, they decide the order */
    int n_here;                        /* passes over these rows in this turn */
    double highest, lowest;            /* projected gradients of this pass */
    double bound_above, bound_below;   /* those beyond which rows at a bound leave */
    double violation, first_violation; /* sums of violations: of this pass, and of the first here */
    double turn_violation, turn_highest, turn_lowest; /* of the first pass of this turn */
    double inner_tol;                                 /* of Newton's steps, for LOG_LOSS */
    int64_t n_newton;
} dual_state;

typedef struct {
    /* The first values of the dual variables of these rows, which are 0 before. */
    void (*add_first)(const dual_problem *problem, dual_state *state);
    /* Begin a turn with these rows: the order, and no row has left. */
    void (*begin)(const dual_problem *problem, dual_state *state);
    /* Visit rows until `max_passes` passes, convergence, or about `max_visits` visits. Returns 1 if
     * the passes have converged, -1 if there were `max_passes`, 0 if it is to be called again. */
    int (*descend)(const dual_problem *problem, dual_state *state, int max_passes,
                   int64_t max_visits);
} dual_descent_loops;

DECLARE_TABLES(dual_descent)

#endif
