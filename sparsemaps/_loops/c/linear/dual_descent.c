#include "dual_descent.h"

#include <math.h>

#include "random.h"
#include "vectors.h"

#define NOT_INLINE __attribute__((noinline))

/* The numbers of a column of several models. */
typedef double models_f64 __attribute__((vector_size(MOST_MODELS * sizeof(double)), may_alias));
typedef double models_f64_anywhere
    __attribute__((vector_size(MOST_MODELS * sizeof(double)), aligned(8), may_alias));

/* ---- features ------------------------------------------------------------------------------ */

/* Where the features of a row are: its codes if they are bytes, else a list of columns. */
typedef struct {
    const uint8_t *bytes;
    const uint32_t *columns;
} features;

INLINE size_t column_of(features row, ptrdiff_t j, int of_bytes)
{
    return of_bytes ? (size_t)j << 8 | row.bytes[j] : row.columns[j];
}

/* The features of a row. `columns` is for a list of them. */
INLINE features features_of(const coded_rows *rows, uint32_t row, uint32_t *columns)
{
    if (rows->bits == 8)
        return (features){.bytes = rows->codes + row * rows->n_bytes};
    one_hot_columns(rows, row, 0, rows->n_codes, columns);
    return (features){.columns = columns};
}

/* Sums have SUM_LANES lanes: lane l has the codes l, l + 8, ... They are the same, bit for bit, for
 * one model and for several. Each lane of one model is a number of its own, as gathers take longer
 * than loads one by one on many machines. */
INLINE double sum_of_lanes(const double *lanes)
{
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
           + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* The sum of v at a row, after a change at another row if `changes`. Both are in one loop, as writing
 * and reading wait for different things. */
INLINE double sum_by(double *v, ptrdiff_t n, features row, features changed, double change,
                     int changes, int of_bytes)
{
    double lanes[SUM_LANES] = {0.0};
    ptrdiff_t j = 0;
    for (; j + SUM_LANES <= n; j += SUM_LANES)
#pragma GCC unroll 8
        for (int l = 0; l < SUM_LANES; l++) {
            if (changes)
                v[column_of(changed, j + l, of_bytes)] += change;
            lanes[l] += v[column_of(row, j + l, of_bytes)];
        }
    for (int l = 0; l < n - j; l++) {
        if (changes)
            v[column_of(changed, j + l, of_bytes)] += change;
        lanes[l] += v[column_of(row, j + l, of_bytes)];
    }
    return sum_of_lanes(lanes);
}

/* The loops over codes are functions of their own: a call costs nothing beside them, and the compiler
 * takes half the time, as there is one of each instead of one for each loss. */
static NOT_INLINE double sum_at(double *v, ptrdiff_t n, features row, features changed,
                                double change)
{
    if (row.bytes != NULL)
        return change == 0.0 ? sum_by(v, n, row, row, 0.0, 0, 1)
                             : sum_by(v, n, row, changed, change, 1, 1);
    return change == 0.0 ? sum_by(v, n, row, row, 0.0, 0, 0)
                         : sum_by(v, n, row, changed, change, 1, 0);
}

/* The sums of several models. */
INLINE void sums_by(const double *v, ptrdiff_t n, features row, int of_bytes, double *sums)
{
    models_f64 lanes[SUM_LANES] = {{0.0}};
    ptrdiff_t j = 0;
    for (; j + SUM_LANES <= n; j += SUM_LANES)
#pragma GCC unroll 8
        for (int l = 0; l < SUM_LANES; l++)
            lanes[l] += *(const models_f64 *)(v + column_of(row, j + l, of_bytes) * MOST_MODELS);
#pragma GCC unroll 8
    for (int l = 0; l < SUM_LANES - 1; l++)
        if (l < n - j)
            lanes[l] += *(const models_f64 *)(v + column_of(row, j + l, of_bytes) * MOST_MODELS);
    *(models_f64_anywhere *)sums = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
                                   + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

static NOT_INLINE void sums_at(const double *v, ptrdiff_t n, features row, double *sums)
{
    if (row.bytes != NULL)
        sums_by(v, n, row, 1, sums);
    else
        sums_by(v, n, row, 0, sums);
}

/* Add changes of the models to v at a row. */
INLINE void add_by(double *v, ptrdiff_t n, features row, const double *changes, ptrdiff_t stride,
                   int of_bytes)
{
    if (stride == 1) {
        for (ptrdiff_t j = 0; j < n; j++)
            v[column_of(row, j, of_bytes)] += changes[0];
    } else {
        const models_f64 all = *(const models_f64_anywhere *)changes;
        for (ptrdiff_t j = 0; j < n; j++)
            *(models_f64 *)(v + column_of(row, j, of_bytes) * MOST_MODELS) += all;
    }
}

static NOT_INLINE void add_at(double *v, ptrdiff_t n, features row, const double *changes,
                              ptrdiff_t stride)
{
    if (row.bytes != NULL)
        add_by(v, n, row, changes, stride, 1);
    else
        add_by(v, n, row, changes, stride, 0);
}

INLINE double square_norm(const dual_problem *p, uint32_t row)
{
    return (p->rows.sampled[row] ? 1.0 : 0.0) + p->bias * p->bias;
}

INLINE double cost(const dual_problem *p, uint32_t row)
{
    return p->weights == NULL ? p->cost : p->cost * p->weights[row];
}

/* ---- one row and one model ------------------------------------------------------------------ */

/* What a visit looks at: y or the target, the score <w, z>, C_i, and the square of the row's length.
 * It changes the dual variable, and returns the change of beta. */
typedef struct {
    double y, score, cost, square;
    double *dual;
    int leaves; /* set to 1 if the row leaves the model */
} visited;

INLINE double visit_hinge(dual_model *s, visited *at, int squared)
{
    const double y = at->y;
    const double alpha = *at->dual, most = squared ? INFINITY : at->cost;
    const double diagonal = squared ? 0.5 / at->cost : 0.0;
    const double gradient = y * at->score - 1.0 + alpha * diagonal;
    double projected = gradient, next;
    if (alpha == 0.0) {
        if (gradient > s->bound_above) {
            at->leaves = 1;
            return 0.0;
        }
        projected = gradient < 0.0 ? gradient : 0.0;
    } else if (alpha >= most) {
        if (gradient < s->bound_below) {
            at->leaves = 1;
            return 0.0;
        }
        projected = gradient > 0.0 ? gradient : 0.0;
    }
    s->highest = projected > s->highest ? projected : s->highest;
    s->lowest = projected < s->lowest ? projected : s->lowest;
    if (fabs(projected) <= 1e-12)
        return 0.0;
    next = alpha - gradient / (at->square + diagonal);
    next = next > 0.0 ? next : 0.0;
    next = next < most ? next : most;
    *at->dual = next;
    return (next - alpha) * y;
}

/* Newton's method for the variable of one row: z is the distance to the bound that the minimum is
 * nearer to, so that no digits are lost there. */
INLINE double visit_log_loss(dual_model *s, visited *at)
{
    enum { MAX_STEPS = 100 };
    const double y = at->y, c = at->cost, square = at->square, slope = y * at->score;
    const double kept = *at->dual;
    const double alpha = kept < 0.0 ? c + kept : kept, rest = kept < 0.0 ? -kept : c - kept;
    const int at_top = 0.5 * square * (rest - alpha) + slope < 0.0;
    const double sign = at_top ? -1.0 : 1.0, old = at_top ? rest : alpha;
    double z = c - old < 0.5 * c ? 0.1 * old : old;
    double gradient = square * (z - old) + sign * slope + log_f64(z / (c - z));
    int step = 0;
    if (fabs(gradient) > s->highest)
        s->highest = fabs(gradient);
    for (; step <= MAX_STEPS && !(fabs(gradient) < s->inner_tol); step++) {
        const double next = z - gradient / (square + c / (c - z) / z);
        z = next <= 0.0 ? 0.1 * z : next;
        gradient = square * (z - old) + sign * slope + log_f64(z / (c - z));
    }
    s->n_newton += step;
    if (step == 0)
        return 0.0;
    *at->dual = at_top ? -z : z;
    return sign * (z - old) * y;
}

INLINE double visit_regression(dual_model *s, visited *at, double epsilon, int squared)
{
    const double beta = *at->dual, most = squared ? INFINITY : at->cost;
    const double diagonal = squared ? 0.5 / at->cost : 0.0;
    const double gradient = at->score - at->y + diagonal * beta;
    const double curvature = at->square + diagonal;
    const double above = gradient + epsilon, below = gradient - epsilon;
    double violation = 0.0, step, next;
    if (beta == 0.0) {
        if (above < 0.0)
            violation = -above;
        else if (below > 0.0)
            violation = below;
        else if (above > s->bound_above && below < -s->bound_above)
            at->leaves = 1;
    } else if (beta >= most) {
        if (above > 0.0)
            violation = above;
        else if (above < -s->bound_above)
            at->leaves = 1;
    } else if (beta <= -most) {
        if (below < 0.0)
            violation = -below;
        else if (below > s->bound_above)
            at->leaves = 1;
    } else {
        violation = fabs(beta > 0.0 ? above : below);
    }
    if (at->leaves)
        return 0.0;
    s->highest = violation > s->highest ? violation : s->highest;
    s->violation += violation;
    if (above < curvature * beta)
        step = -above / curvature;
    else if (below > curvature * beta)
        step = -below / curvature;
    else
        step = -beta;
    if (fabs(step) < 1e-12)
        return 0.0;
    next = beta + step;
    next = next > -most ? next : -most;
    next = next < most ? next : most;
    *at->dual = next;
    return next - beta;
}

/* ---- one row -------------------------------------------------------------------------------- */

/* The row that was visited last, and its change of one model: v does not have it yet, the next visit
 * adds it while it reads. */
typedef struct {
    features row;
    double change;   /* 0 if there is none */
    uint32_t *free;  /* for the columns of the next row */
    uint32_t *taken; /* has the columns of this row */
} visited_last;

INLINE void add_last(const dual_problem *p, dual_state *s, visited_last *last)
{
    if (last->change != 0.0)
        add_at(s->v, p->rows.n_codes, last->row, &last->change, 1);
    last->change = 0.0;
}

/* The scores <w, z> of a row by all models. */
INLINE void scores_of(const dual_problem *p, dual_state *s, uint32_t row, visited_last *last,
                      ptrdiff_t stride, double *scores)
{
    const ptrdiff_t k = p->rows.n_codes;
    double sums[MOST_MODELS] = {0.0};
    if (p->rows.sampled[row]) {
        uint32_t *columns = last->free;
        const features here = features_of(&p->rows, row, columns);
        if (stride > 1)
            sums_at(s->v, k, here, sums);
        else
            sums[0] = sum_at(s->v, k, here, last->row, last->change);
        *last = (visited_last){.row = here, .free = last->taken, .taken = columns};
    }
    for (ptrdiff_t m = 0; m < p->n_models; m++)
        scores[m] = sums[m] / (double)k + s->models[m].intercept * p->bias;
}

/* Visit a row for the models that it has not left. */
INLINE void visit(const dual_problem *p, dual_state *s, uint32_t row, visited_last *last, int loss,
                  ptrdiff_t stride)
{
    double scores[MOST_MODELS], changes[MOST_MODELS] = {0.0};
    int n_changes = 0;
    unsigned some = s->active[row] & s->going;
    scores_of(p, s, row, last, stride, scores);
    for (ptrdiff_t m = 0; some >> m; m++) {
        dual_model *model = &s->models[m];
        visited at = {.score = scores[m],
                      .cost = cost(p, row),
                      .square = square_norm(p, row),
                      .dual = s->dual + (size_t)row * (size_t)p->n_models + m};
        if (!(some >> m & 1))
            continue;
        if (loss == SQUARED_EPSILON_INSENSITIVE || loss == EPSILON_INSENSITIVE)
            at.y = p->targets[row];
        else
            at.y = p->labels[row] - p->first == m ? 1.0 : -1.0;
        if (loss == LOG_LOSS)
            changes[m] = visit_log_loss(model, &at);
        else if (loss == SQUARED_HINGE || loss == HINGE)
            changes[m] = visit_hinge(model, &at, loss == SQUARED_HINGE);
        else
            changes[m] = visit_regression(model, &at, p->epsilon, loss != EPSILON_INSENSITIVE);
        if (at.leaves) {
            s->active[row] &= (uint8_t)~(1u << m);
            model->n_active--;
        }
        model->intercept += changes[m] * p->bias;
        n_changes += changes[m] != 0.0;
    }
    if (n_changes == 0 || !p->rows.sampled[row])
        return;
    if (stride == 1)
        last->change = changes[0];
    else
        add_at(s->v, p->rows.n_codes, last->row, changes, stride);
}

/* ---- passes -------------------------------------------------------------------------------- */

/* Before the first pass over rows: LOG_LOSS begins inside the bounds. */
static void add_first(const dual_problem *p, dual_state *s)
{
    if (p->loss != LOG_LOSS)
        return;
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        const double c = cost(p, (uint32_t)row);
        const double first = 0.001 * c < 1e-8 ? 0.001 * c : 1e-8;
        double changes[MOST_MODELS] = {0.0};
        if (!(c > 0.0))
            continue;
        for (ptrdiff_t m = 0; m < p->n_models; m++) {
            changes[m] = p->labels[row] - p->first == m ? first : -first;
            s->dual[row * p->n_models + m] = first;
            s->models[m].intercept += changes[m] * p->bias;
        }
        if (!p->rows.sampled[row])
            continue;
        add_at(s->v, p->rows.n_codes, features_of(&p->rows, (uint32_t)row, s->columns), changes,
               s->stride);
    }
}

/* All rows count again for a model. */
static void let_all_back(const dual_problem *p, dual_state *s, ptrdiff_t m)
{
    for (ptrdiff_t row = 0; row < p->n_rows; row++)
        s->active[row] |= (uint8_t)(1u << m);
    s->models[m].n_active = s->n_weighed;
    s->models[m].bound_above = INFINITY;
    s->models[m].bound_below = -INFINITY;
}

static void begin(const dual_problem *p, dual_state *s, unsigned going)
{
    s->n_weighed = 0;
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        s->active[row] = 0;
        s->n_weighed += cost(p, (uint32_t)row) > 0.0;
    }
    s->going = going;
    s->position = s->n_order = 0;
    s->n_here = 0;
    s->n_turns++;
    for (ptrdiff_t m = 0; m < p->n_models; m++) {
        let_all_back(p, s, m);
        s->models[m].first_violation = -1.0;
    }
}

/* The order of a pass: all rows, whose weight is not 0, in a random order, which depends on nothing
 * but the key, the turn and the pass; then without those that have left all models. */
static void begin_pass(const dual_problem *p, dual_state *s)
{
    const uint64_t pass = (uint64_t)s->n_turns << 32 | (uint64_t)s->n_here;
    const uint64_t start = column_start(p->key, pass);
    ptrdiff_t n = 0, n_order = 0;
    for (ptrdiff_t row = 0; row < p->n_rows; row++)
        if (cost(p, (uint32_t)row) > 0.0)
            s->order[n++] = (uint32_t)row;
    for (ptrdiff_t i = 0; i < n; i++) {
        const ptrdiff_t j = i + hash_bucket(word(start, (uint64_t)i), (uint64_t)(n - i));
        const uint32_t row = s->order[j];
        s->order[j] = s->order[i];
        if (s->active[row] & s->going)
            s->order[n_order++] = row;
    }
    s->n_order = n_order;
    for (ptrdiff_t m = 0; m < p->n_models; m++) {
        s->models[m].highest = p->loss == SQUARED_HINGE || p->loss == HINGE ? -INFINITY : 0.0;
        s->models[m].lowest = INFINITY;
        s->models[m].violation = 0.0;
        s->models[m].n_newton = 0;
    }
}

/* Whether a model has converged on the rows at hand, after a pass over those that are active. */
static int is_within(const dual_problem *p, dual_state *s, ptrdiff_t m)
{
    dual_model *model = &s->models[m];
    int within;
    if (s->n_here == 1) {
        model->turn_violation = model->violation;
        model->turn_highest = model->highest;
        model->turn_lowest = model->lowest;
    }
    if (p->loss == LOG_LOSS) {
        const double least = p->tol < 1e-8 ? p->tol : 1e-8;
        if (model->n_newton <= s->n_weighed / 10)
            model->inner_tol = 0.1 * model->inner_tol > least ? 0.1 * model->inner_tol : least;
        return model->highest < p->tol;
    }
    if (p->loss == SQUARED_HINGE || p->loss == HINGE) {
        within = model->highest - model->lowest <= p->tol;
        model->bound_above = model->highest > 0.0 ? model->highest : INFINITY;
        model->bound_below = model->lowest < 0.0 ? model->lowest : -INFINITY;
    } else {
        if (model->first_violation < 0.0)
            model->first_violation = model->violation;
        within = model->violation <= p->tol * model->first_violation;
        model->bound_above = model->highest;
    }
    if (within && model->n_active < s->n_weighed) { /* those that have left may have to come back */
        let_all_back(p, s, m);
        return 0;
    }
    return within;
}

static void end_pass(const dual_problem *p, dual_state *s)
{
    s->position = 0;
    s->n_here++;
    for (ptrdiff_t m = 0; m < p->n_models; m++)
        if (s->going >> m & 1) {
            s->models[m].n_passes++;
            if (is_within(p, s, m))
                s->going &= ~(1u << m);
        }
}

INLINE int descend_by(const dual_problem *p, dual_state *s, int max_passes, int64_t visits,
                      int loss, ptrdiff_t stride)
{
    enum { AHEAD = 3 }; /* a row is fetched from memory meanwhile */
    visited_last last = {.free = s->columns, .taken = s->columns + p->rows.n_codes};
    for (;;) {
        if (s->position == 0)
            begin_pass(p, s);
        for (; s->position < s->n_order; s->position++, visits--) {
            const ptrdiff_t i = s->position;
            if (visits <= 0 && i > 0) {
                add_last(p, s, &last);
                return 0;
            }
            if (i + AHEAD < s->n_order)
                prefetch_row(p->rows.codes + s->order[i + AHEAD] * p->rows.n_bytes,
                             p->rows.n_bytes);
            visit(p, s, s->order[i], &last, loss, stride);
        }
        end_pass(p, s);
        if (s->going == 0 || s->n_here >= max_passes) {
            add_last(p, s, &last);
            return s->going == 0 ? 1 : -1;
        }
    }
}

INLINE int descend_of(const dual_problem *p, dual_state *s, int max_passes, int64_t max_visits,
                      int loss)
{
    if (s->stride == 1)
        return descend_by(p, s, max_passes, max_visits, loss, 1);
    return descend_by(p, s, max_passes, max_visits, loss, MOST_MODELS);
}

static int descend(const dual_problem *problem, dual_state *state, int max_passes,
                   int64_t max_visits)
{
    switch (problem->loss) {
    case SQUARED_HINGE:
        return descend_of(problem, state, max_passes, max_visits, SQUARED_HINGE);
    case HINGE:
        return descend_of(problem, state, max_passes, max_visits, HINGE);
    case LOG_LOSS:
        return descend_of(problem, state, max_passes, max_visits, LOG_LOSS);
    case SQUARED_EPSILON_INSENSITIVE:
        return descend_by(problem, state, max_passes, max_visits, SQUARED_EPSILON_INSENSITIVE, 1);
    default:
        return descend_by(problem, state, max_passes, max_visits, EPSILON_INSENSITIVE, 1);
    }
}

const dual_descent_loops TABLE(dual_descent)[] = {{
    .add_first = add_first,
    .begin = begin,
    .descend = descend,
}};
