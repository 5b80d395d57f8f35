/* Linear models on packed codes, by coordinate descent in the dual: LIBLINEAR's algorithms (Hsieh,
 * Chang, Lin, Keerthi & Sundararajan 2008; Yu, Huang & Lin 2011; Ho & Lin 2012), on one-hot features
 * that are read from the codes.
 *
 * Row i has the features z_i: 1 / sqrt(k) in the columns of its k codes, and one more feature of the
 * value `bias`. A model minimises
 *
 *     |w|^2 / 2 + sum_i C_i loss(y_i, <w, z_i>)
 *
 * over w = sum_i beta_i z_i. The solver keeps v = sqrt(k) w, that is, sums of beta.
 *
 * Several models, each of one class or label against the rest, or of some of the rows, are trained
 * together: their numbers v of one column stand side by side, so that one line of the cache has those
 * of all. They visit rows in the same order, and each skips the rows that have left it, or are not its
 * own. So a model is the same, bit for bit, whatever other models are trained with it.
 *
 * Rows are visited in blocks of a few rows: what Yu, Hsieh, Chang & Lin 2010 do with blocks of rows
 * that are read from a disk is worth it for codes and weights that are read from a cache. */
#ifndef SPARSEMAPS_DUAL_DESCENT_H
#define SPARSEMAPS_DUAL_DESCENT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "one_hot.h"

/* What ends the passes: the range of the projected gradients, the largest of them, or the sum of the
 * violations against that of the first pass. */
enum { END_BY_RANGE, END_BY_LARGEST, END_BY_SUM };

/* Models that are trained together at most: with weights of float64, and of float32, a column of each
 * takes half a line of the cache. If it takes a whole line, twice as many columns are in use, and a
 * model takes as long, within a tenth. */
enum { MODELS_OF_FLOAT64 = 4, MOST_MODELS = 8 };

/* Rows that are visited together, and sweeps over them at most. Visits but the first read no codes.
 * Blocks of 4 or 16 rows take as long, within a tenth; 16 sweeps are slower where C is large and rows
 * are few. */
enum { BLOCK_ROWS = 8, MOST_SWEEPS = 8 };

/* A model jumps after every JUMP_PASSES passes of a turn, from FIRST_JUMP on. Few passes are needed
 * where C is small, and fewer passes between jumps take as long. */
enum { JUMP_PASSES = 5, FIRST_JUMP = 15 };

typedef struct {
    coded_rows rows;
    ptrdiff_t n_rows;
    ptrdiff_t n_models;
    int loss;       /* its place in `losses` of the loops */
    int end;        /* the rule that ends its passes */
    double epsilon; /* of the losses of regression */
    double bias;
    double tol;
    double cost;           /* C */
    const double *weights; /* of each row: C_i is C times that; NULL where all are 1 */
    const uint8_t *sides;  /* classification, of each row: bit m is set where y of model m is 1, and
                            * not where it is -1 */
    const uint8_t *members; /* of each row: bit m is set where model m is trained on it; NULL where
                             * all models are trained on all rows */
    double factors[MOST_MODELS][2]; /* of C_i, for each model and side: that of -1, that of 1 */
    const double *targets;          /* regression, the same for all models */
    uint64_t key;                   /* of the random orders */
} dual_problem;

typedef struct {
    double intercept;                        /* the weight of the last feature */
    double intercept_before, intercept_step; /* as v_before and v_step */
    int n_jumps;                             /* of this turn; 0 if there is no point before */
    int64_t n_passes;                        /* over rows, in all turns */
    ptrdiff_t n_active;                      /* rows that have not left, or are not its own */
    double highest, lowest;                  /* projected gradients of this pass */
    double bound_above, bound_below;         /* those beyond which rows at a bound leave */
    double violation, first_violation; /* sums of violations: of this pass, and of the first here */
    double kept_violation;             /* that takes the place of the first here, unless it is 0 */
    double turn_violation, turn_highest, turn_lowest; /* of the first pass of this turn */
    double inner_tol;                                 /* of Newton's steps */
    int64_t n_newton;
} dual_model;

typedef struct {
    /* Of each column `stride` numbers, of which n_models count. They are float32 if there are eight. */
    double *v;
    /* Of each row and model: alpha_i; of regression beta_i. Of LOG_LOSS the nearer of the distances to
     * 0 and to C_i, as a negative number for the latter. */
    double *dual;
    /* Both at the last jump, and their changes from the jump before until then. NULL if the models do
     * not jump. */
    double *v_before, *v_step, *dual_before, *dual_step;
    double *dual_tried;  /* scratch: the variables after a jump */
    uint32_t *order;     /* of the rows that this pass visits */
    uint8_t *active;     /* of each row: the models which it has not left */
    uint32_t *columns;   /* scratch: those of 2 BLOCK_ROWS rows */
    ptrdiff_t stride;    /* 1 or MODELS_OF_FLOAT64; MOST_MODELS if v is float32 */
    unsigned going;      /* models that have not converged in this turn */
    ptrdiff_t n_weighed; /* rows whose C_i is not 0 */
    double per_code;     /* 1 / k */
    ptrdiff_t position;  /* in the order, of the row that is next */
    int64_t n_turns;     /* with the key and n_here, they decide the order */
    int n_here;          /* passes of this turn */
    dual_model models[MOST_MODELS];
} dual_state;

typedef struct {
    const char *const *losses; /* their names; NULL is behind the last */
    int first_of_numbers;      /* the place of the first loss of regression */
    /* The first values of the dual variables of these rows, which are 0 before. */
    void (*add_first)(const dual_problem *problem, dual_state *state);
    /* Begin a turn of the models `going` with these rows: no row has left. */
    void (*begin)(const dual_problem *problem, dual_state *state, unsigned going);
    /* Visit rows until `max_passes` passes, convergence, or about `max_visits` visits. Returns 1 if
     * all models have converged, -1 if there were `max_passes`, 0 if it is to be called again. */
    int (*descend)(const dual_problem *problem, dual_state *state, int max_passes,
                   int64_t max_visits);
} dual_descent_loops;

DECLARE_TABLES(dual_descent)

#endif
