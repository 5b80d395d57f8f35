#include "dual_descent.h"

#include <math.h>

#include "random.h"
#include "simd.h"

/* ---- features ------------------------------------------------------------------------------ */

/* Sums have SUM_LANES lanes at every level: lane l has the codes l, l + 16, ... Each is a number of
 * its own, as gathers take longer than loads one by one on many machines. */
INLINE double sum_of_lanes(double *lanes)
{
#pragma GCC unroll 8
    for (int l = 0; l < SUM_LANES / 2; l++)
        lanes[l] += lanes[l + SUM_LANES / 2];
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
           + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

/* The sum of v at the columns, of which there are a multiple of SUM_LANES. */
INLINE double sum_at(const double *v, const uint32_t *columns, ptrdiff_t n)
{
    double lanes[SUM_LANES] = {0.0};
    for (ptrdiff_t j = 0; j < n; j += SUM_LANES)
#pragma GCC unroll 16
        for (int l = 0; l < SUM_LANES; l++)
            lanes[l] += v[columns[j + l]];
    return sum_of_lanes(lanes);
}

/* The same for codes of a byte, which need no list of columns. */
INLINE double sum_at_bytes(const double *v, const uint8_t *codes, ptrdiff_t n)
{
    double lanes[SUM_LANES] = {0.0};
    ptrdiff_t j = 0;
    for (; j + SUM_LANES <= n; j += SUM_LANES, v += SUM_LANES << 8)
#pragma GCC unroll 16
        for (int l = 0; l < SUM_LANES; l++)
            lanes[l] += v[l << 8 | codes[j + l]];
    for (int l = 0; l < n - j; l++)
        lanes[l] += v[l << 8 | codes[j + l]];
    return sum_of_lanes(lanes);
}

/* <w, z> of a row. The columns of codes that are no bytes are left in state->columns. */
INLINE double score(const dual_problem *p, dual_state *s, uint32_t row)
{
    const ptrdiff_t k = p->rows.n_codes;
    double sum = 0.0;
    if (p->rows.sampled[row]) {
        if (p->rows.bits == 8) {
            sum = sum_at_bytes(s->v, p->rows.codes + row * p->rows.n_bytes, k);
        } else {
            one_hot_columns(&p->rows, row, 0, k, s->columns);
            sum = sum_at(s->v, s->columns, padded_columns(k));
        }
    }
    return sum / (double)k + s->intercept * p->bias;
}

/* Add `change` times the row's features, after `score` of the row. */
INLINE void add_row(const dual_problem *p, dual_state *s, uint32_t row, double change)
{
    const ptrdiff_t k = p->rows.n_codes;
    double *v = s->v;
    s->intercept += change * p->bias;
    if (!p->rows.sampled[row])
        return;
    if (p->rows.bits == 8) {
        const uint8_t *codes = p->rows.codes + row * p->rows.n_bytes;
        for (ptrdiff_t j = 0; j < k; j++, v += 256)
            v[codes[j]] += change;
    } else {
        for (ptrdiff_t j = 0; j < k; j++)
            v[s->columns[j]] += change;
    }
}

INLINE double square_norm(const dual_problem *p, uint32_t row)
{
    return (p->rows.sampled[row] ? 1.0 : 0.0) + p->bias * p->bias;
}

INLINE int is_positive(const dual_problem *p, uint32_t row)
{
    return p->labels == NULL || p->labels[row] == p->positive;
}

INLINE double cost(const dual_problem *p, uint32_t row)
{
    return p->weights == NULL ? p->cost : p->cost * p->weights[row];
}

/* ---- one row ------------------------------------------------------------------------------- */

/* A visit changes the dual variable of a row, and v with it. It returns 1 if the row leaves. */

INLINE int visit_hinge(const dual_problem *p, dual_state *s, uint32_t row, int squared)
{
    const double y = is_positive(p, row) ? 1.0 : -1.0;
    const double alpha = s->dual[row], most = squared ? INFINITY : cost(p, row);
    const double diagonal = squared ? 0.5 / cost(p, row) : 0.0;
    const double gradient = y * score(p, s, row) - 1.0 + alpha * diagonal;
    double projected = gradient;
    if (alpha == 0.0) {
        if (gradient > s->bound_above)
            return 1;
        projected = gradient < 0.0 ? gradient : 0.0;
    } else if (alpha >= most) {
        if (gradient < s->bound_below)
            return 1;
        projected = gradient > 0.0 ? gradient : 0.0;
    }
    s->highest = projected > s->highest ? projected : s->highest;
    s->lowest = projected < s->lowest ? projected : s->lowest;
    if (fabs(projected) > 1e-12) {
        double next = alpha - gradient / (square_norm(p, row) + diagonal);
        next = next > 0.0 ? next : 0.0;
        next = next < most ? next : most;
        s->dual[row] = next;
        add_row(p, s, row, (next - alpha) * y);
    }
    return 0;
}

/* Newton's method for the variable of one row: z is the distance to the bound that the minimum is
 * nearer to, so that no digits are lost there. */
INLINE int visit_log_loss(const dual_problem *p, dual_state *s, uint32_t row)
{
    enum { MAX_STEPS = 100 };
    const double y = is_positive(p, row) ? 1.0 : -1.0, c = cost(p, row);
    const double square = square_norm(p, row), slope = y * score(p, s, row);
    const double kept = s->dual[row];
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
    if (step > 0) {
        s->dual[row] = at_top ? -z : z;
        add_row(p, s, row, sign * (z - old) * y);
    }
    return 0;
}

INLINE int visit_regression(const dual_problem *p, dual_state *s, uint32_t row, int squared)
{
    const double beta = s->dual[row], most = squared ? INFINITY : cost(p, row);
    const double diagonal = squared ? 0.5 / cost(p, row) : 0.0;
    const double gradient = score(p, s, row) - p->targets[row] + diagonal * beta;
    const double curvature = square_norm(p, row) + diagonal;
    const double above = gradient + p->epsilon, below = gradient - p->epsilon;
    double violation = 0.0, step, next;
    if (beta == 0.0) {
        if (above < 0.0)
            violation = -above;
        else if (below > 0.0)
            violation = below;
        else if (above > s->bound_above && below < -s->bound_above)
            return 1;
    } else if (beta >= most) {
        if (above > 0.0)
            violation = above;
        else if (above < -s->bound_above)
            return 1;
    } else if (beta <= -most) {
        if (below < 0.0)
            violation = -below;
        else if (below > s->bound_above)
            return 1;
    } else {
        violation = fabs(beta > 0.0 ? above : below);
    }
    s->highest = violation > s->highest ? violation : s->highest;
    s->violation += violation;
    if (above < curvature * beta)
        step = -above / curvature;
    else if (below > curvature * beta)
        step = -below / curvature;
    else
        step = -beta;
    if (fabs(step) < 1e-12)
        return 0;
    next = beta + step;
    next = next > -most ? next : -most;
    next = next < most ? next : most;
    s->dual[row] = next;
    if (next != beta)
        add_row(p, s, row, next - beta);
    return 0;
}

/* ---- passes -------------------------------------------------------------------------------- */

/* Before the first pass over rows: LOG_LOSS begins inside the bounds. */
static void add_first(const dual_problem *p, dual_state *s)
{
    if (p->loss != LOG_LOSS)
        return;
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        const double c = cost(p, (uint32_t)row);
        if (c > 0.0) {
            s->dual[row] = 0.001 * c < 1e-8 ? 0.001 * c : 1e-8;
            score(p, s, (uint32_t)row);
            add_row(p, s, (uint32_t)row,
                    is_positive(p, (uint32_t)row) ? s->dual[row] : -s->dual[row]);
        }
    }
}

static void begin(const dual_problem *p, dual_state *s)
{
    s->n_weighed = 0;
    for (ptrdiff_t row = 0; row < p->n_rows; row++)
        if (cost(p, (uint32_t)row) > 0.0)
            s->order[s->n_weighed++] = (uint32_t)row;
    s->n_active = s->n_weighed;
    s->position = 0;
    s->n_here = 0;
    s->bound_above = INFINITY;
    s->bound_below = -INFINITY;
    s->first_violation = -1.0;
}

static void begin_pass(const dual_problem *p, dual_state *s)
{
    const uint64_t start = column_start(p->key, (uint64_t)s->n_passes);
    for (ptrdiff_t i = 0; i < s->n_active; i++) {
        const ptrdiff_t j = i + hash_bucket(word(start, (uint64_t)i), (uint64_t)(s->n_active - i));
        const uint32_t row = s->order[i];
        s->order[i] = s->order[j];
        s->order[j] = row;
    }
    s->highest = p->loss == SQUARED_HINGE || p->loss == HINGE ? -INFINITY : 0.0;
    s->lowest = INFINITY;
    s->violation = 0.0;
    s->n_newton = 0;
}

/* Whether the rows at hand have converged, after a pass over those that are active. */
static int end_pass(const dual_problem *p, dual_state *s)
{
    int within;
    s->position = 0;
    s->n_passes++;
    s->n_here++;
    if (s->n_here == 1) {
        s->turn_violation = s->violation;
        s->turn_highest = s->highest;
        s->turn_lowest = s->lowest;
    }
    if (p->loss == LOG_LOSS) {
        const double least = p->tol < 1e-8 ? p->tol : 1e-8;
        if (s->n_newton <= s->n_weighed / 10)
            s->inner_tol = 0.1 * s->inner_tol > least ? 0.1 * s->inner_tol : least;
        return s->highest < p->tol;
    }
    if (p->loss == SQUARED_HINGE || p->loss == HINGE) {
        within = s->highest - s->lowest <= p->tol;
        s->bound_above = s->highest > 0.0 ? s->highest : INFINITY;
        s->bound_below = s->lowest < 0.0 ? s->lowest : -INFINITY;
    } else {
        if (s->first_violation < 0.0)
            s->first_violation = s->violation;
        within = s->violation <= p->tol * s->first_violation;
        s->bound_above = s->highest;
    }
    if (within && s->n_active < s->n_weighed) { /* those that have left may have to come back */
        s->n_active = s->n_weighed;
        s->bound_above = INFINITY;
        s->bound_below = -INFINITY;
        return 0;
    }
    return within;
}

INLINE int descend_by(const dual_problem *p, dual_state *s, int max_passes, int64_t visits,
                      int loss)
{
    enum { AHEAD = 3 }; /* a row is fetched from memory meanwhile */
    for (;;) {
        if (s->position == 0)
            begin_pass(p, s);
        for (; s->position < s->n_active; visits--) {
            const ptrdiff_t i = s->position;
            const uint32_t row = s->order[i];
            int leaves;
            if (visits <= 0 && i > 0)
                return 0;
            if (i + AHEAD < s->n_active)
                prefetch_row(p->rows.codes + s->order[i + AHEAD] * p->rows.n_bytes,
                             p->rows.n_bytes);
            if (loss == LOG_LOSS)
                leaves = visit_log_loss(p, s, row);
            else if (loss == SQUARED_HINGE || loss == HINGE)
                leaves = visit_hinge(p, s, row, loss == SQUARED_HINGE);
            else
                leaves = visit_regression(p, s, row, loss == SQUARED_EPSILON_INSENSITIVE);
            if (leaves) { /* the last row that is active takes its place */
                s->n_active--;
                s->order[i] = s->order[s->n_active];
                s->order[s->n_active] = row;
            } else {
                s->position++;
            }
        }
        if (end_pass(p, s))
            return 1;
        if (s->n_here >= max_passes)
            return -1;
    }
}

static int descend(const dual_problem *problem, dual_state *state, int max_passes,
                   int64_t max_visits)
{
    switch (problem->loss) {
    case SQUARED_HINGE:
        return descend_by(problem, state, max_passes, max_visits, SQUARED_HINGE);
    case HINGE:
        return descend_by(problem, state, max_passes, max_visits, HINGE);
    case LOG_LOSS:
        return descend_by(problem, state, max_passes, max_visits, LOG_LOSS);
    case SQUARED_EPSILON_INSENSITIVE:
        return descend_by(problem, state, max_passes, max_visits, SQUARED_EPSILON_INSENSITIVE);
    default:
        return descend_by(problem, state, max_passes, max_visits, EPSILON_INSENSITIVE);
    }
}

const dual_descent_loops TABLE(dual_descent)[] = {{
    .add_first = add_first,
    .begin = begin,
    .descend = descend,
}};
