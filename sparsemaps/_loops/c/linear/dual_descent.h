/* Linear models on packed codes, by dual coordinate descent: LIBLINEAR's algorithms (Hsieh, Chang,
 * Lin, Keerthi & Sundararajan 2008; Yu, Huang & Lin 2011; Ho & Lin 2012), on one-hot features that
 * are read directly from the codes.
 *
 * Row i has the features z_i: 1 / sqrt(k) in the columns of its k codes, and one more feature with
 * the value `bias`. A model minimises
 *
 *     |w|^2 / 2 + sum_i C_i loss(y_i, <w, z_i>)
 *
 * over w = sum_i beta_i z_i. The solver stores v = sqrt(k) w, so that v consists of sums of beta.
 *
 * Several models, each one-vs-rest or on a subset of the rows, are trained together. Their entries
 * of v for a column are adjacent, so that they share a cache line. All models visit rows in the
 * same order, and each skips the rows that have left its active set or do not belong to it. A model
 * is therefore the same, bit for bit, whatever other models are trained with it.
 *
 * Rows are visited in small blocks. Yu, Hsieh, Chang & Lin 2010 do so for blocks that are read from
 * a disk; it also pays for codes and weights that are read from a cache. */
#ifndef SPARSEMAPS_DUAL_DESCENT_H
#define SPARSEMAPS_DUAL_DESCENT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "one_hot.h"

/* Stopping rules: the range of the projected gradients and 0, the largest of them, or the sum of the
 * violations relative to the first pass. LIBLINEAR's range is without 0, so that it ends if all
 * gradients are equally far from 0, as those of two rows with other labels often are. */
enum { END_BY_RANGE, END_BY_LARGEST, END_BY_SUM };

/* Most models that can be trained together, with float64 weights and with float32 weights. Either
 * way, a column's weights take half a cache line. With a whole line, twice as much memory is in
 * use, and the time per model stays the same within 10 %. */
enum { MODELS_OF_FLOAT64 = 4, MOST_MODELS = 8 };

/* Rows per block, and the most sweeps over a block. Only the first sweep reads codes. Blocks of 4
 * or 16 rows take the same time within 10 %; 16 sweeps are slower if C is large and rows are
 * few. */
enum { BLOCK_ROWS = 8, MOST_SWEEPS = 8 };

/* A model extrapolates ("jumps") after every JUMP_PASSES passes of a turn, from FIRST_JUMP on. If C
 * is small, few passes are needed; with fewer passes between jumps, training takes as long. */
enum { JUMP_PASSES = 5, FIRST_JUMP = 15 };

/* Rows of the scratch matrix that hold vectors and flags of equations. */
enum { ROWS_BEHIND = 4 };

typedef struct {
    coded_rows rows;
    ptrdiff_t n_rows;
    ptrdiff_t n_models;
    int loss;       /* index in `losses` of the loops */
    int end;        /* stopping rule */
    double epsilon; /* of regression losses */
    double bias;
    double tol;
    double cost;            /* C */
    const double *weights;  /* per row: C_i is C times the weight; NULL if all weights are 1 */
    const uint8_t *sides;   /* classification, per row: bit m is set if y of model m is 1, clear if
                            * it is -1 */
    const uint8_t *members; /* per row: bit m is set if model m is trained on it; NULL if all models
                             * use all rows */
    double factors[MOST_MODELS][2]; /* of C_i, per model and side: -1, then 1 */
    const double *targets;          /* regression; the same for all models */
    uint64_t key;                   /* of the random orders */
} dual_problem;

typedef struct {
    double intercept;                        /* weight of the bias feature */
    double intercept_before, intercept_step; /* like v_before and v_step */
    int n_jumps;                             /* in this turn; 0 before the first recorded point */
    int solved_at;                           /* passes of this turn before its last solution */
    int is_solved;                           /* by a jump to the solution, for this C; before the
                                              * first pass, for the last one */
    double n_expected;                       /* passes expected for this C, without a solution */
    int64_t n_passes_before;                 /* for the last C without a solution */
    int64_t n_passes;                        /* over rows, in all turns */
    ptrdiff_t n_active;                      /* rows in the active set */
    double highest, lowest;                  /* projected gradients in this pass */
    double bound_above, bound_below;         /* beyond these, rows at a bound leave the active
                                              * set */
    double violation, first_violation; /* sums of violations: in this pass, and in the first */
    double kept_violation;             /* replaces first_violation, unless 0 */
    double turn_violation, turn_highest, turn_lowest; /* in the first pass of this turn */
    double inner_tol;                                 /* of Newton's method */
    int64_t n_newton;
} dual_model;

typedef struct {
    /* `stride` numbers per column, of which n_models are in use; float32 if the stride is eight. */
    double *v;
    /* Per row and model: alpha_i, or beta_i for regression. For LOG_LOSS, the distance to the
     * nearer of 0 and C_i, negative for the latter. */
    double *dual;
    /* Both as of the last jump, and their changes between the last two jumps. NULL if the models do
     * not jump. */
    double *v_before, *v_step, *dual_before, *dual_step;
    double *dual_tried; /* scratch: the variables after a jump */
    double *matrix; /* scratch for most_equations equations, and ROWS_BEHIND more rows, or NULL if
                     * models do not jump to their solutions */
    ptrdiff_t most_equations;
    uint32_t *order;     /* of the rows in this pass */
    uint8_t *active;     /* per row: bitmask of models in whose active set it is */
    uint32_t *columns;   /* scratch: columns of 2 BLOCK_ROWS rows */
    ptrdiff_t stride;    /* 1 or MODELS_OF_FLOAT64; MOST_MODELS if v is float32 */
    unsigned going;      /* bitmask: models that have not converged in this turn */
    ptrdiff_t n_weighed; /* rows with C_i > 0 */
    double per_code;     /* 1 / k */
    ptrdiff_t position;  /* of the next row, in `order` */
    int64_t n_turns;     /* determines the order, together with the key and n_here */
    int n_here;          /* passes in this turn */
    dual_model models[MOST_MODELS];
} dual_state;

typedef struct {
    const char *const *losses; /* their names, terminated by NULL */
    int first_of_numbers;      /* index of the first regression loss */
    /* Set the initial dual variables of these rows, which must be 0 before. */
    void (*add_first)(const dual_problem *problem, dual_state *state);
    /* Recompute v from the dual variables of these rows, which must be all rows. */
    void (*add_up)(const dual_problem *problem, dual_state *state);
    /* Begin a turn of the models in `going` on these rows, with every row in the active sets. */
    void (*begin)(const dual_problem *problem, dual_state *state, unsigned going);
    /* Visit rows until `max_passes` passes, convergence, or about `max_visits` visits. Return 1 if
     * all models have converged, -1 after `max_passes`, 0 if it must be called again. */
    int (*descend)(const dual_problem *problem, dual_state *state, int max_passes,
                   int64_t max_visits);
    /* Compute the squared norm of the weights of each model. */
    void (*squares)(const dual_problem *problem, const dual_state *state, double *squares);
    /* Multiply the weights of each model by a factor. */
    void (*multiply)(const dual_problem *problem, dual_state *state, const double *factors);
} dual_descent_loops;

DECLARE_TABLES(dual_descent)

#endif
