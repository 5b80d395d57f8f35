#include "dual_descent.h"

#include <math.h>
#include <string.h>

#include "cholesky.h"
#include "losses.h"
#include "models.h"
#include "random.h"
#include "simd.h"
#include "vectors.h"

/* ---- features ------------------------------------------------------------------------------ */

/* The features of a row: its codes in one byte each if they have up to 8 bits, else a list of
 * columns. Both pointers are NULL for a row without samples. */
typedef struct {
    const uint8_t *bytes;
    const uint32_t *columns;
} features;

/* Return the column of feature j. `width` is the number of columns per code, or 0 for a list of
 * columns. */
INLINE size_t column_of(features row, ptrdiff_t j, ptrdiff_t width)
{
    return width == 0 ? row.columns[j] : (size_t)(j * width) + row.bytes[j];
}

INLINE int has_features(features row)
{
    return row.bytes != NULL || row.columns != NULL;
}

/* Return the features of a row. `columns` is scratch for the list or the bytes. */
INLINE features features_of(const coded_rows *rows, uint32_t row, uint32_t *columns)
{
    if (!rows->sampled[row])
        return (features){.bytes = NULL};
    if (rows->bits == 8)
        return (features){.bytes = rows->codes + row * rows->n_bytes};
    if (rows->bits < 8) {
        codes_in_bytes(rows, row, 0, rows->n_codes, (uint8_t *)columns);
        return (features){.bytes = (const uint8_t *)columns};
    }
    columns_of_codes(rows, row, 0, rows->n_codes, columns);
    return (features){.columns = columns};
}

/* Several rows, with one number per model for each row. */
typedef struct {
    ptrdiff_t n;
    features rows[BLOCK_ROWS];
    double numbers[BLOCK_ROWS * MOST_MODELS];
} row_numbers;

/* Scatter: add the numbers of a row to v at its features `first` to `stop`. */
INLINE void add_some(double *v, features row, ptrdiff_t first, ptrdiff_t stop,
                     const double *numbers, ptrdiff_t width, ptrdiff_t stride)
{
    if (stride == 1) {
        for (ptrdiff_t j = first; j < stop; j++)
            v[column_of(row, j, width)] += numbers[0];
    } else if (stride == 4) {
        const four_f64 all = four_of(numbers);
        for (ptrdiff_t j = first; j < stop; j++)
            ((four_f64 *)v)[column_of(row, j, width)] += all;
    } else {
        const eight_f32 all = eight_of_f64(numbers);
#pragma GCC unroll 8
        for (ptrdiff_t j = first; j < stop; j++)
            ((eight_f32 *)v)[column_of(row, j, width)] += all;
    }
}

/* Sums have SUM_LANES lanes: lane l holds the codes l, l + 8, ... The bits are the same for one
 * model as for several. For one model each lane is a scalar, because gathers are slower than
 * separate loads on many machines. */
#define LANES_SUM(x) (((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])))

#define MODELS four_f64
#define NAME sum_of_four
#include "sum_of_models.template.h"

#define MODELS eight_f32
#define NAME sum_of_eight
#include "sum_of_models.template.h"

/* Gather: add v at the features `first` to `stop` of a row to the row's numbers. */
INLINE void sum_some(const double *v, features row, ptrdiff_t first, ptrdiff_t stop,
                     double *numbers, ptrdiff_t width, ptrdiff_t stride)
{
    if (stride == 1) {
        double lanes[SUM_LANES] = {0.0};
        ptrdiff_t j = first;
        for (; j + SUM_LANES <= stop; j += SUM_LANES)
#pragma GCC unroll 8
            for (int l = 0; l < SUM_LANES; l++)
                lanes[l] += v[column_of(row, j + l, width)];
        for (int l = 0; l < stop - j; l++)
            lanes[l] += v[column_of(row, j + l, width)];
        numbers[0] += LANES_SUM(lanes);
    } else if (stride == 4) {
        add_four(numbers, sum_of_four((const four_f64 *)v, row, first, stop, width));
    } else {
        add_eight(numbers, sum_of_eight((const eight_f32 *)v, row, first, stop, width));
    }
}

/* Scatter the numbers of some rows to v, then gather v for other rows. This is done for TILE_CODES
 * codes of all rows at a time, so that their part of v stays in the cache. */
INLINE void move_by(double *v, ptrdiff_t k, const row_numbers *from, row_numbers *to,
                    ptrdiff_t width, ptrdiff_t stride)
{
    enum { TILE_CODES = 64 };
    for (ptrdiff_t first = 0; first < k; first += TILE_CODES) {
        const ptrdiff_t stop = k - first < TILE_CODES ? k : first + TILE_CODES;
        for (ptrdiff_t r = 0; r < from->n; r++)
            if (has_features(from->rows[r]))
                add_some(v, from->rows[r], first, stop, from->numbers + r * stride, width, stride);
        for (ptrdiff_t r = 0; r < to->n; r++)
            if (has_features(to->rows[r]))
                sum_some(v, to->rows[r], first, stop, to->numbers + r * stride, width, stride);
    }
}

INLINE void move_of(double *v, ptrdiff_t k, const row_numbers *from, row_numbers *to,
                    ptrdiff_t width, ptrdiff_t stride)
{
    if (width == 256) /* 10 % faster as a constant */
        move_by(v, k, from, to, 256, stride);
    else if (width > 0)
        move_by(v, k, from, to, width, stride);
    else
        move_by(v, k, from, to, 0, stride);
}

/* Scatter and gather for any width and stride. Not inlined: a call costs nothing compared with the
 * loops, and compilation takes half the time, since the loops are not instantiated for each
 * loss. */
static NOT_INLINE void move(double *v, const coded_rows *rows, const row_numbers *from,
                            row_numbers *to, ptrdiff_t stride)
{
    const ptrdiff_t k = rows->n_codes;
    const ptrdiff_t width = rows->bits > 8 ? 0 : (ptrdiff_t)1 << rows->bits;
    if (stride == 1)
        move_of(v, k, from, to, width, 1);
    else if (stride == 4)
        move_of(v, k, from, to, width, 4);
    else
        move_of(v, k, from, to, width, 8);
}

/* Return the number of features that two rows share. */
static NOT_INLINE double shared(features a, features b, ptrdiff_t n)
{
    uint32_t equal = 0;
    ptrdiff_t j = 0;
    if (!has_features(a) || !has_features(b))
        return 0.0;
    if (a.bytes == NULL) {
        for (; j < n; j++)
            equal += a.columns[j] == b.columns[j];
        return equal;
    }
    for (; j + REGISTER_BYTES <= n; j += REGISTER_BYTES)
        equal += register_equal_u8(a.bytes + j, b.bytes + j);
    for (; j < n; j++)
        equal += a.bytes[j] == b.bytes[j];
    return equal;
}

INLINE double square_norm(const dual_problem *p, uint32_t row)
{
    return (p->rows.sampled[row] ? 1.0 : 0.0) + p->bias * p->bias;
}

INLINE double cost(const dual_problem *p, uint32_t row)
{
    return p->weights == NULL ? p->cost : p->cost * p->weights[row];
}

/* Return a bitmask of the models that are trained on a row. */
INLINE unsigned members(const dual_problem *p, ptrdiff_t row)
{
    return p->members == NULL ? (1u << MOST_MODELS) - 1 : p->members[row];
}

/* ---- a block of rows ------------------------------------------------------------------------- */

/* Rows that are visited together. v is read once for all of them, their dual variables are then
 * updated in several sweeps, and v is written once. Sweeps need no codes, since an update at one
 * row changes the sum of another by the number of features that they share. */
typedef struct {
    uint32_t rows[BLOCK_ROWS];
    row_numbers sums;                         /* of v at each row */
    double changes[BLOCK_ROWS * MOST_MODELS]; /* of beta, in all sweeps */
    double shared[BLOCK_ROWS][BLOCK_ROWS];    /* number of features shared by two rows */
    double costs[BLOCK_ROWS], squares[BLOCK_ROWS];
    double duals[BLOCK_ROWS * MOST_MODELS];
    double targets[BLOCK_ROWS];
    unsigned sides[BLOCK_ROWS];
} block;

/* Load the next rows in the order, except those that have left the active sets of all models. Block
 * boundaries do not depend on these exceptions; otherwise models would depend on one another.
 * Return the number of rows. */
static ptrdiff_t begin_block(const dual_problem *p, dual_state *s, block *b, uint32_t *columns)
{
    const ptrdiff_t k = p->rows.n_codes, stride = s->stride, rest = s->n_weighed - s->position;
    const uint32_t *order = s->order + s->position;
    memset(b, 0, sizeof *b);
    for (ptrdiff_t i = 0; i < 2 * BLOCK_ROWS && i < rest; i++) {
        const uint32_t row = order[i];
        if (!(s->active[row] & s->going))
            continue;
        if (i < BLOCK_ROWS)
            b->rows[b->sums.n++] = row;
        else /* prefetch for the next block */
            prefetch_row(p->rows.codes + row * p->rows.n_bytes, p->rows.n_bytes);
    }
    for (ptrdiff_t r = 0; r < b->sums.n; r++) {
        const uint32_t row = b->rows[r];
        b->costs[r] = cost(p, row);
        b->squares[r] = square_norm(p, row);
        if (p->sides == NULL)
            b->targets[r] = p->targets[row];
        else
            b->sides[r] = p->sides[row];
        for (ptrdiff_t m = 0; m < p->n_models; m++)
            b->duals[r * stride + m] = s->dual[row * p->n_models + m];
        b->sums.rows[r] = features_of(&p->rows, row, columns + r * k);
        b->shared[r][r] = has_features(b->sums.rows[r]) ? (double)k : 0.0;
        for (ptrdiff_t other = 0; other < r; other++)
            b->shared[r][other] = b->shared[other][r] =
                shared(b->sums.rows[r], b->sums.rows[other], k);
    }
    return b->sums.n;
}

/* Visit row r of a block for some models. Return a bitmask of the models whose dual variable
 * changed. */
INLINE unsigned visit(const dual_problem *p, dual_state *s, block *b, ptrdiff_t r, unsigned models,
                      int first, int loss, ptrdiff_t stride, double *changes)
{
    unsigned changed = 0;
    for (ptrdiff_t m = 0; models >> m; m++) {
        dual_model *model = &s->models[m];
        const unsigned side = b->sides[r] >> m & 1;
        visited at = {.score = b->sums.numbers[r * stride + m] * s->per_code
                               + model->intercept * p->bias,
                      .cost = b->costs[r] * p->factors[m][side],
                      .square = b->squares[r],
                      .dual = b->duals + r * stride + m,
                      .first = first};
        if (!(models >> m & 1))
            continue;
        at.y = loss >= FIRST_OF_NUMBERS ? b->targets[r] : side ? 1.0 : -1.0;
        changes[m] = visit_loss(loss, model, &at, p->epsilon);
        if (at.leaves) {
            s->active[b->rows[r]] &= (uint8_t)~(1u << m);
            model->n_active--;
        }
        model->intercept += changes[m] * p->bias;
        changed |= (unsigned)(changes[m] != 0.0) << m;
    }
    return changed;
}

/* Load the fields of models m to m + 3 that visits read and change. */
INLINE four_models take_four(const dual_problem *p, const dual_state *s, ptrdiff_t m)
{
    four_models all = {.intercept = {0.0}};
    for (ptrdiff_t l = 0; l < 4; l++) {
        const dual_model *model = &s->models[m + l];
        all.intercept[l] = model->intercept;
        all.highest[l] = model->highest;
        all.lowest[l] = model->lowest;
        all.bound_above[l] = model->bound_above;
        all.bound_below[l] = model->bound_below;
        all.factors[0][l] = p->factors[m + l][0];
        all.factors[1][l] = p->factors[m + l][1];
    }
    return all;
}

INLINE void put_four(dual_state *s, ptrdiff_t m, const four_models *all)
{
    for (ptrdiff_t l = 0; l < 4; l++) {
        s->models[m + l].intercept = all->intercept[l];
        s->models[m + l].highest = all->highest[l];
        s->models[m + l].lowest = all->lowest[l];
    }
}

/* Do the same as `visit` for models m to m + 3, with a hinge loss. */
INLINE unsigned visit_four(const dual_problem *p, dual_state *s, block *b, ptrdiff_t r,
                           unsigned models, int first, int loss, ptrdiff_t m, ptrdiff_t stride,
                           four_models *all, double *changes)
{
    const four_i64 side = mask_of_four(b->sides[r] >> m);
    const four_f64 ones = {1.0, 1.0, 1.0, 1.0}, sums = four_of(b->sums.numbers + r * stride + m);
    four_visited at = {.y = chosen(side, ones, -ones),
                       .score = sums * s->per_code + all->intercept * p->bias,
                       .cost = b->costs[r] * chosen(side, all->factors[1], all->factors[0]),
                       .square = b->squares[r],
                       .dual = four_of(b->duals + r * stride + m),
                       .first = first,
                       .models = mask_of_four(models >> m)};
    const four_f64 change = visit_four_hinges(all, &at, loss);
    const unsigned leaving = bits_of(at.leave);
    all->intercept += change * p->bias;
    *(four_f64_anywhere *)(b->duals + r * stride + m) = at.dual;
    *(four_f64_anywhere *)(changes + m) = change;
    if (leaving != 0) {
        s->active[b->rows[r]] &= (uint8_t)~(leaving << m);
        for (ptrdiff_t l = 0; l < 4; l++)
            s->models[m + l].n_active -= leaving >> l & 1;
    }
    return bits_of(change != 0.0) << m;
}

/* Propagate the changes at row r of a block to the sums of all its rows. */
INLINE void spread(block *b, ptrdiff_t r, const double *changes, ptrdiff_t stride)
{
    if (stride == 1)
        for (ptrdiff_t other = 0; other < BLOCK_ROWS; other++)
            b->sums.numbers[other] += changes[0] * b->shared[r][other];
    for (ptrdiff_t m = 0; stride > 1 && m < stride; m += 4) {
        const four_f64 some = four_of(changes + m);
        for (ptrdiff_t other = 0; other < b->sums.n; other++)
            add_four(b->sums.numbers + other * stride + m, some * b->shared[r][other]);
    }
}

/* Count the changes at a row, and track the largest. */
INLINE void count_changes(const double *changes, ptrdiff_t stride, double *largest,
                          int64_t *n_changed)
{
    if (stride == 1) {
        largest[0] = fabs(changes[0]) > largest[0] ? fabs(changes[0]) : largest[0];
        n_changed[0] += changes[0] != 0.0;
    }
    for (ptrdiff_t m = 0; stride > 1 && m < stride; m += 4) {
        const four_f64 size = size_of_four(four_of(changes + m)), most = four_of(largest + m);
        *(four_f64_anywhere *)(largest + m) = chosen(size > most, size, most);
        *(four_i64_anywhere *)(n_changed + m) -= size != 0.0;
    }
}

/* Sweep over a block; each sweep visits the rows that the previous one changed. A model stops once
 * its largest change is a fifth of that in the first sweep: more sweeps gain little, since other
 * blocks change the sums, too. */
INLINE void sweep_by(const dual_problem *p, dual_state *s, block *b, int loss, ptrdiff_t stride)
{
    enum { FOURS = MOST_MODELS / 4 };
    const int by_four = IS_HINGE(loss) && stride > 1;
    double first[MOST_MODELS] = {0.0};
    unsigned models = s->going, changed[BLOCK_ROWS];
    four_models fours[FOURS];
    for (ptrdiff_t m = 0; by_four && m < stride; m += 4)
        fours[m / 4] = take_four(p, s, m);
    for (ptrdiff_t r = 0; r < b->sums.n; r++)
        changed[r] = s->active[b->rows[r]];
    for (int number = 0; number < MOST_SWEEPS && models; number++) {
        double largest[MOST_MODELS] = {0.0};
        int64_t n_changed[MOST_MODELS] = {0};
        for (ptrdiff_t r = 0; r < b->sums.n; r++) {
            double changes[MOST_MODELS] = {0.0};
            const unsigned some = changed[r] & models;
            changed[r] = 0;
            if (!by_four)
                changed[r] = visit(p, s, b, r, some, number == 0, loss, stride, changes);
            for (ptrdiff_t m = 0; by_four && m < stride; m += 4)
                if (some >> m & 15)
                    changed[r] |= visit_four(p, s, b, r, some, number == 0, loss, m, stride,
                                             &fours[m / 4], changes);
            if (!changed[r])
                continue;
            for (ptrdiff_t m = 0; m < stride; m++)
                b->changes[r * stride + m] += changes[m];
            count_changes(changes, stride, largest, n_changed);
            spread(b, r, changes, stride);
        }
        for (ptrdiff_t m = 0; m < p->n_models; m++) {
            first[m] = number == 0 ? largest[m] : first[m];
            if (n_changed[m] < 2 || largest[m] <= 0.2 * first[m])
                models &= ~(1u << m);
        }
    }
    for (ptrdiff_t m = 0; by_four && m < stride; m += 4)
        put_four(s, m, &fours[m / 4]);
}

INLINE void sweep_of(const dual_problem *p, dual_state *s, block *b, int loss)
{
    if (s->stride == 1)
        sweep_by(p, s, b, loss, 1);
    else if (s->stride == 4)
        sweep_by(p, s, b, loss, 4);
    else
        sweep_by(p, s, b, loss, 8);
}

/* Only sweeps are compiled per loss. The code around them is independent of the loss. */
#define SWEEP_OF(LOSS, NAME, PART, VISIT)                                                          \
    case LOSS:                                                                                     \
        sweep_of(p, s, b, LOSS);                                                                   \
        break;

static void sweep(const dual_problem *p, dual_state *s, block *b)
{
    switch (p->loss) {
        LOSSES_OF_CLASSES(SWEEP_OF)
        LOSSES_OF_NUMBERS(SWEEP_OF)
    }
}

/* Write back the dual variables of a block. `changed` receives the changed rows with their
 * changes. */
static void end_block(const dual_problem *p, dual_state *s, const block *b, row_numbers *changed)
{
    const ptrdiff_t stride = s->stride;
    changed->n = 0;
    for (ptrdiff_t r = 0; r < b->sums.n; r++) {
        const uint32_t row = b->rows[r];
        int some = 0;
        for (ptrdiff_t m = 0; m < p->n_models; m++) {
            s->dual[row * p->n_models + m] = b->duals[r * stride + m];
            some |= b->changes[r * stride + m] != 0.0;
        }
        if (!some)
            continue;
        changed->rows[changed->n] = b->sums.rows[r];
        for (ptrdiff_t m = 0; m < stride; m++)
            changed->numbers[changed->n * stride + m] = b->changes[r * stride + m];
        changed->n++;
    }
}

/* Put all rows of a model back into its active set. */
static void let_all_back(const dual_problem *p, dual_state *s, ptrdiff_t m)
{
    for (ptrdiff_t row = 0; row < p->n_rows; row++)
        s->active[row] |= (uint8_t)(1u << m & members(p, row));
    s->models[m].n_active = s->n_weighed;
    s->models[m].bound_above = INFINITY;
    s->models[m].bound_below = -INFINITY;
}

/* Return whether a model has converged on the current rows, after a pass over its active set or a
 * jump to its solution. */
static int is_within(const dual_problem *p, dual_state *s, ptrdiff_t m)
{
    dual_model *model = &s->models[m];
    int within;
    if (s->n_here == 1) {
        model->turn_violation = model->violation;
        model->turn_highest = model->highest;
        model->turn_lowest = model->lowest;
    }
    if (p->end == END_BY_LARGEST) {
        const double least = p->tol < 1e-8 ? p->tol : 1e-8;
        if (model->n_newton <= s->n_weighed / 10)
            model->inner_tol = 0.1 * model->inner_tol > least ? 0.1 * model->inner_tol : least;
        return model->highest < p->tol;
    }
    if (p->end == END_BY_RANGE) {
        within = model->highest - model->lowest <= p->tol;
        model->bound_above = model->highest > 0.0 ? model->highest : INFINITY;
        model->bound_below = model->lowest < 0.0 ? model->lowest : -INFINITY;
    } else {
        if (model->first_violation < 0.0)
            model->first_violation =
                model->kept_violation > 0.0 ? model->kept_violation : model->violation;
        within = model->violation <= p->tol * model->first_violation;
        model->bound_above = model->highest;
    }
    if (within && model->n_active < s->n_weighed) { /* check again with all rows */
        let_all_back(p, s, m);
        return 0;
    }
    return within;
}

INLINE void forget_violations(dual_model *model)
{
    model->highest = 0.0;
    model->lowest = 0.0;
    model->violation = 0.0;
}

/* ---- jumps --------------------------------------------------------------------------------- */

/* Extrapolation ("jumps"). With large C, passes converge slowly: the remaining error shrinks along
 * the same few directions again and again. A jump goes to the best point in the plane of two
 * directions: the change by the passes since the last jump, and the step between the last two
 * jumps. Passes are thus to jumps what the preconditioner is to conjugate gradients, in the form of
 * Knyazev 2001. Dual variables are clipped to their bounds. If the clipped point is not an
 * improvement, half the distance is tried, then a quarter. */

/* How many distances are tried, and the number of jumps after which inactive rows become active
 * again. */
enum { MOST_TRIES = 3, RETURN_JUMPS = 4 };

#define LEAST_GAIN 1e-12 /* relative to the dual objective */
#define FARTHEST 100.0   /* changes or steps */

/* Inner products of the current point ("here"), the change and the step. */
enum { HERE_HERE, HERE_CHANGE, HERE_STEP, CHANGE_CHANGE, CHANGE_STEP, STEP_STEP, N_PRODUCTS };

typedef struct {
    double products[N_PRODUCTS];     /* of v */
    double value;                    /* dual objective at the current point */
    double along_change, along_step; /* coordinates of the best point */
    double rest;                     /* dual objective at the trial point, except for |w|^2 / 2 */
} jump;

/* Accumulate the first n products, for some columns of v. */
INLINE void add_products(four_f64 *sums, int n, const four_f64 *of)
{
    const four_f64 here = of[0], change = here - of[1], step = of[2];
    sums[HERE_HERE] += here * here;
    if (n == 1)
        return;
    sums[HERE_CHANGE] += here * change;
    sums[HERE_STEP] += here * step;
    sums[CHANGE_CHANGE] += change * change;
    sums[CHANGE_STEP] += change * step;
    sums[STEP_STEP] += step * step;
}

/* Compute the first n products of v. Sums have four lanes: lane l holds the columns l, l + 4, ...
 * The bits are therefore the same for one model as for several. A vector holds several columns of
 * one model, or one column of several. */
INLINE void products_by(const dual_state *s, ptrdiff_t n_columns, ptrdiff_t stride, int n,
                        jump *jumps)
{
    four_f64 lanes[4][N_PRODUCTS] = {{{0.0}}};
    const double *const v[3] = {s->v, s->v_before, s->v_step};
    ptrdiff_t i = 0;
    for (; i + 4 <= n_columns; i += 4)
#pragma GCC unroll 4
        for (ptrdiff_t l = 0; l < stride; l++) {
            const ptrdiff_t at = i * stride + 4 * l;
            add_products(lanes[l], n,
                         (four_f64[]){four_of(v[0] + at), four_of(v[1] + at), four_of(v[2] + at)});
        }
    for (ptrdiff_t l = 0; l < n_columns - i; l++) {
        four_f64 last[3] = {{0.0}};
        for (int number = 0; number < 3; number++)
            if (stride == 4)
                last[number] = four_of(v[number] + 4 * (i + l));
            else
                last[number][l] = v[number][i + l];
        add_products(lanes[stride == 4 ? l : 0], n, last);
    }
    for (ptrdiff_t m = 0; m < stride; m++)
        for (int number = 0; number < n; number++) {
            double sums[4];
            for (int l = 0; l < 4; l++)
                sums[l] = stride == 1 ? lanes[0][number][l] : lanes[l][number][m];
            jumps[m].products[number] = (sums[0] + sums[2]) + (sums[1] + sums[3]);
        }
}

/* Compute the same products for eight models with float32 weights. */
INLINE void products_of_eight(const dual_state *s, ptrdiff_t n_columns, int n, jump *jumps)
{
    const float *const v[3] = {(float *)s->v, (float *)s->v_before, (float *)s->v_step};
    four_f64 sums[2][N_PRODUCTS] = {{{0.0}}};
    for (ptrdiff_t i = 0; i < n_columns; i++)
#pragma GCC unroll 2
        for (ptrdiff_t half = 0; half < 2; half++) {
            const ptrdiff_t at = 8 * i + 4 * half;
            add_products(sums[half], n,
                         (four_f64[]){four_of_f32(v[0] + at), four_of_f32(v[1] + at),
                                      four_of_f32(v[2] + at)});
        }
    for (ptrdiff_t m = 0; m < 8; m++)
        for (int number = 0; number < n; number++)
            jumps[m].products[number] = sums[m / 4][number][m % 4];
}

/* The dual variable of a row and a model, its sign in beta, and its term in the dual problem. */
typedef struct {
    double here, change, step, sign, cost;
    double goal; /* linear coefficient in the dual problem, up to the variable's sign */
    double least, most, diagonal;
} variable;

INLINE variable variable_of(const dual_problem *p, const dual_state *s, ptrdiff_t row, ptrdiff_t m)
{
    const ptrdiff_t i = row * p->n_models + m;
    const unsigned side = p->sides == NULL ? 0 : p->sides[row] >> m & 1;
    const double c = cost(p, (uint32_t)row) * p->factors[m][side];
    const dual_part part = part_of(p->loss, c);
    variable x = {.here = s->dual[i],
                  .cost = c,
                  .change = s->dual[i] - s->dual_before[i],
                  .step = s->dual_step[i],
                  .sign = side ? 1.0 : -1.0,
                  .goal = 1.0,
                  .most = part.most,
                  .diagonal = part.diagonal};
    if (p->loss >= FIRST_OF_NUMBERS) { /* beta does not cross 0 */
        x.sign = 1.0;
        x.goal = x.here < 0.0 ? p->targets[row] + p->epsilon : p->targets[row] - p->epsilon;
        x.least = x.here < 0.0 ? -part.most : 0.0;
        x.most = x.here > 0.0 ? part.most : 0.0;
    }
    return x;
}

/* Return whether a row's variable has been 0 since the last two jumps, so that jumps do not move
 * it. */
INLINE int is_still(const dual_problem *p, const dual_state *s, ptrdiff_t row, ptrdiff_t m)
{
    const ptrdiff_t i = row * p->n_models + m;
    return s->dual[i] == 0.0 && s->dual_before[i] == 0.0 && s->dual_step[i] == 0.0;
}

/* Return the point reached by going the fraction `way` along the directions, before and after
 * clipping. */
INLINE double led_to(const variable *x, const jump *j, double way)
{
    return x->here + way * (j->along_change * x->change + j->along_step * x->step);
}

INLINE double stopped(const variable *x, double led)
{
    const double above = led > x->least ? led : x->least;
    return above < x->most ? above : x->most;
}

/* Find the best point in the plane. Return whether it is worth a try. */
static int begin_jump(const dual_problem *p, const dual_state *s, ptrdiff_t m, jump *j)
{
    const dual_model *model = &s->models[m];
    const double change = model->intercept - model->intercept_before, step = model->intercept_step;
    double all[N_PRODUCTS], goals[3] = {0.0}, slope, slope_of_step, determinant, gain;
    const double of_intercept[N_PRODUCTS] = {model->intercept * model->intercept,
                                             model->intercept * change,
                                             model->intercept * step,
                                             change * change,
                                             change * step,
                                             step * step};
    for (int number = 0; number < N_PRODUCTS; number++)
        all[number] = j->products[number] * s->per_code + of_intercept[number];
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        if (is_still(p, s, row, m))
            continue;
        const variable x = variable_of(p, s, row, m);
        goals[0] += x.goal * x.here;
        goals[1] += x.goal * x.change;
        goals[2] += x.goal * x.step;
        all[HERE_HERE] += x.diagonal * (x.here * x.here);
        all[HERE_CHANGE] += x.diagonal * (x.here * x.change);
        all[HERE_STEP] += x.diagonal * (x.here * x.step);
        all[CHANGE_CHANGE] += x.diagonal * (x.change * x.change);
        all[CHANGE_STEP] += x.diagonal * (x.change * x.step);
        all[STEP_STEP] += x.diagonal * (x.step * x.step);
    }
    j->value = goals[0] - 0.5 * all[HERE_HERE];
    slope = goals[1] - all[HERE_CHANGE];
    slope_of_step = goals[2] - all[HERE_STEP];
    determinant = all[CHANGE_CHANGE] * all[STEP_STEP] - all[CHANGE_STEP] * all[CHANGE_STEP];
    if (model->n_jumps < 2 || !(determinant > 1e-12 * all[CHANGE_CHANGE] * all[STEP_STEP])) {
        j->along_change = slope / all[CHANGE_CHANGE];
        j->along_step = 0.0;
    } else {
        j->along_change = (slope * all[STEP_STEP] - slope_of_step * all[CHANGE_STEP]) / determinant;
        j->along_step =
            (slope_of_step * all[CHANGE_CHANGE] - slope * all[CHANGE_STEP]) / determinant;
    }
    /* With little to gain, or with the point far away, the directions consist of rounding errors.
     * Going back towards the last jump does not help. */
    gain = 0.5 * (slope * j->along_change + slope_of_step * j->along_step);
    return gain > LEAST_GAIN * fabs(j->value) && j->along_change > -0.5
           && j->along_change < FARTHEST && fabs(j->along_step) < FARTHEST;
}

/* Select weights of some models in a vector: NEW where the mask is set, else OLD. */
#define ONLY(TYPE, BITS, MASK, NEW, OLD) (TYPE)(((BITS)(NEW) & (MASK)) | ((BITS)(OLD) & ~(MASK)))

/* Set the weights of some models to 0, in vectors of TYPE. */
#define CLEAR_BY(TYPE, BITS, MASK)                                                                 \
    for (ptrdiff_t i = 0; i < n; i++)                                                              \
    ((TYPE *)s->v)[i] = (TYPE)((BITS)((TYPE *)s->v)[i] & ~(MASK))

static void clear(const dual_problem *p, dual_state *s, unsigned models)
{
    const ptrdiff_t n = p->rows.n_codes << p->rows.bits;
    const four_i64 of_four = mask_of_four(models);
    const eight_i32 of_eight = mask_of_eight(models);
    if (s->stride == 8)
        CLEAR_BY(eight_f32, eight_i32, of_eight);
    else if (s->stride == 4)
        CLEAR_BY(four_f64, four_i64, of_four);
    else
        memset(s->v, 0, (size_t)n * sizeof *s->v);
}

/* For some models, set the step to the difference between the weights and those before, then store
 * the weights as those before. */
#define REMEMBER_BY(TYPE, BITS, MASK)                                                              \
    for (ptrdiff_t i = 0; i < n; i++) {                                                            \
        const TYPE here = ((const TYPE *)s->v)[i];                                                 \
        TYPE *const before = (TYPE *)s->v_before + i, *const step = (TYPE *)s->v_step + i;         \
        *step = ONLY(TYPE, BITS, MASK, here - *before, *step);                                     \
        *before = ONLY(TYPE, BITS, MASK, here, *before);                                           \
    }

static void remember_weights(const dual_problem *p, dual_state *s, unsigned models)
{
    const ptrdiff_t n = p->rows.n_codes << p->rows.bits;
    const four_i64 of_four = mask_of_four(models);
    const eight_i32 of_eight = mask_of_eight(models);
    if (s->stride == 8)
        REMEMBER_BY(eight_f32_anywhere, eight_i32, of_eight)
    else if (s->stride == 4)
        REMEMBER_BY(four_f64_anywhere, four_i64, of_four)
    else
        for (ptrdiff_t i = 0; i < n; i++) {
            s->v_step[i] = s->v[i] - s->v_before[i];
            s->v_before[i] = s->v[i];
        }
}

/* Recompute v from dual variables, for some models. The turn must cover all rows; turns on blocks
 * of rows have too few passes for a jump. */
static void add_up(const dual_problem *p, dual_state *s, unsigned models, const double *dual)
{
    row_numbers all = {.n = 1}, none = {.n = 0};
    for (ptrdiff_t m = 0; models >> m; m++)
        if (models >> m & 1)
            s->models[m].intercept = 0.0;
    if (models != 0)
        clear(p, s, models);
    for (ptrdiff_t row = 0; row < p->n_rows && models != 0; row++) {
        int some = 0;
        for (ptrdiff_t m = 0; models >> m; m++) {
            const double stored = dual[row * p->n_models + m];
            variable x;
            all.numbers[m] = 0.0;
            if (!(models >> m & 1) || stored == 0.0)
                continue;
            x = variable_of(p, s, row, m);
            all.numbers[m] = x.sign * stored_variable(p->loss, stored, x.cost);
            s->models[m].intercept += all.numbers[m] * p->bias;
            some = 1;
        }
        if (!some)
            continue;
        all.rows[0] = features_of(&p->rows, (uint32_t)row, s->columns);
        move(s->v, &p->rows, &all, &none, s->stride);
    }
}

INLINE void some_products(const dual_problem *p, const dual_state *s, int n, jump *jumps)
{
    const ptrdiff_t n_columns = p->rows.n_codes << p->rows.bits;
    if (s->stride == 1)
        products_by(s, n_columns, 1, n, jumps);
    else if (s->stride == 4)
        products_by(s, n_columns, 4, n, jumps);
    else
        products_of_eight(s, n_columns, n, jumps);
}

static NOT_INLINE void squares_of(const dual_problem *p, const dual_state *s, jump *jumps)
{
    some_products(p, s, HERE_HERE + 1, jumps);
}

static NOT_INLINE void products_of(const dual_problem *p, const dual_state *s, jump *jumps)
{
    some_products(p, s, N_PRODUCTS, jumps);
}

static void squares_of_all(const dual_problem *p, const dual_state *s, double *squares)
{
    jump jumps[MOST_MODELS];
    dual_state here = *s;
    here.v_before = here.v_step = here.v; /* not used for squares */
    squares_of(p, &here, jumps);
    for (ptrdiff_t m = 0; m < p->n_models; m++) {
        const double intercept = s->models[m].intercept;
        squares[m] = jumps[m].products[HERE_HERE] / (double)p->rows.n_codes + intercept * intercept;
    }
}

/* Multiply weights by the factors of the models, in vectors of TYPE. */
#define MULTIPLY_BY(TYPE, ALL)                                                                     \
    for (ptrdiff_t i = 0; i < n; i++)                                                              \
    ((TYPE *)s->v)[i] *= (ALL)

static void multiply(const dual_problem *p, dual_state *s, const double *factors)
{
    const ptrdiff_t n = p->rows.n_codes << p->rows.bits;
    double every[MOST_MODELS] = {0.0};
    for (ptrdiff_t m = 0; m < p->n_models; m++) {
        every[m] = factors[m];
        s->models[m].intercept *= factors[m];
    }
    const eight_f32 of_eight = eight_of_f64(every);
    const four_f64 of_four = four_of(every);
    if (s->stride == 8)
        MULTIPLY_BY(eight_f32, of_eight);
    else if (s->stride == 4)
        MULTIPLY_BY(four_f64, of_four);
    else
        MULTIPLY_BY(double, every[0]);
}

/* Go the fraction `way` towards the best points of some models. Return a bitmask of the models that
 * improve; v of the others is left at the rejected point. v is recomputed each time: if it were
 * moved along the directions, rounding errors would be amplified. */
static unsigned try_way(const dual_problem *p, dual_state *s, unsigned models, jump *jumps,
                        double way)
{
    jump there[MOST_MODELS];
    unsigned better = 0;
    for (ptrdiff_t m = 0; models >> m; m++) {
        jumps[m].rest = 0.0;
        for (ptrdiff_t row = 0; models >> m & 1 && row < p->n_rows; row++) {
            double *const next = s->dual_tried + row * p->n_models + m;
            *next = 0.0;
            if (is_still(p, s, row, m))
                continue;
            const variable x = variable_of(p, s, row, m);
            *next = stopped(&x, led_to(&x, &jumps[m], way));
            jumps[m].rest += x.goal * *next - 0.5 * x.diagonal * (*next * *next);
        }
    }
    add_up(p, s, models, s->dual_tried);
    squares_of(p, s, there);
    for (ptrdiff_t m = 0; models >> m; m++) {
        const double intercept = s->models[m].intercept;
        const double square = there[m].products[HERE_HERE] * s->per_code + intercept * intercept;
        if (!(models >> m & 1) || !(jumps[m].rest - 0.5 * square > jumps[m].value))
            continue;
        better |= 1u << m;
        for (ptrdiff_t i = m; i < p->n_rows * p->n_models; i += p->n_models)
            s->dual[i] = s->dual_tried[i];
    }
    return better;
}

/* Record the current point of some models for their next jumps. */
static void remember(const dual_problem *p, dual_state *s, unsigned models)
{
    remember_weights(p, s, models);
    for (ptrdiff_t m = 0; models >> m; m++) {
        dual_model *model = &s->models[m];
        if (!(models >> m & 1))
            continue;
        for (ptrdiff_t i = m; i < p->n_rows * p->n_models; i += p->n_models) {
            s->dual_step[i] = s->dual[i] - s->dual_before[i];
            s->dual_before[i] = s->dual[i];
        }
        model->intercept_step = model->intercept - model->intercept_before;
        model->intercept_before = model->intercept;
        model->n_jumps++;
    }
}

/* Let some models jump after a pass. Models without an earlier point only record the current
 * one. */
static void jump_once(const dual_problem *p, dual_state *s, unsigned models)
{
    jump jumps[MOST_MODELS] = {{.value = 0.0}};
    unsigned trying = 0;
    double way = 1.0;
    products_of(p, s, jumps);
    for (ptrdiff_t m = 0; models >> m; m++)
        if (models >> m & 1 && s->models[m].n_jumps > 0)
            trying |= (unsigned)begin_jump(p, s, m, &jumps[m]) << m;
    for (int number = 0; number < MOST_TRIES && trying != 0; number++, way *= 0.5)
        trying &= ~try_way(p, s, trying, jumps, way);
    add_up(p, s, trying, s->dual);
    remember(p, s, models);
    for (ptrdiff_t m = 0; models >> m; m++)
        if (models >> m & 1 && s->models[m].n_jumps % RETURN_JUMPS == 0)
            let_all_back(p, s, m);
}

/* ---- solutions for the free rows -------------------------------------------------------------
 *
 * If the dual problem is strictly convex and has no upper bounds, the best variables of the free
 * rows, whose variables are not 0, solve a system of linear equations. Along a path of C, models
 * with few free rows jump to the solution of the whole problem, by block pivoting (Portugal, Judice
 * & Vicente 1994): rows whose variables cross 0 leave the free rows, rows with a violation enter
 * them, and the system is solved again, until no row does either. Its matrix is factorised only
 * once, as it grows at its end: by rows that enter, and by the conditions that the variables of
 * rows that leave are 0. */

/* Times, relative to the visit of a row by one of several models with float64 weights, per code: to
 * compare two codes of a pair of rows, of a factorisation, divided by the third power of the number
 * of rows, and of a visit with float32 weights. */
#define PAIR_TIME 0.02
#define CUBE_TIME 0.008
#define FLOAT32_TIME 0.4

/* Models jump at once if this takes less time than a part of the expected passes, and otherwise
 * after passes of a multiple of this time. */
#define EXPECTED_PART 0.6
#define FIRST_TIMES 4.0

/* The number of rows to leave or enter may fail to decrease MOST_FAILURES times. Then rows change one
 * at a time until it does, up to MOST_SINGLE of them. */
enum { MOST_FAILURES = 3, MOST_SINGLE = 100 };

/* The part of the equations beyond which it is better to begin anew, and the part by which their
 * number may grow. */
enum { MOST_CHANGED = 8, MOST_ADDED = 4 };

/* Most numbers in the matrices of models that jump together, unless a single one has more. To touch
 * more memory for the first time would take longer than shared visits save. */
enum { MOST_TOGETHER = 1 << 21 };

#define NO_ROW UINT32_MAX

/* The equations of a model: one per row that is or was free, and one per condition. */
typedef struct {
    growing_system a;
    ptrdiff_t most;
    double *solution;    /* variables, in the signs of beta, and multipliers */
    uint32_t *rows;      /* NO_ROW for a condition */
    uint32_t *held;      /* of a condition, the equation whose variable is 0 */
    int8_t *sides;       /* of a row, the sign of its variable */
    uint8_t *is_free;    /* 0 for conditions */
    int is_full;         /* whether an equation could not be added */
    ptrdiff_t n_changes; /* rows to leave or enter in this round */
    ptrdiff_t fewest, n_failures;
    uint32_t last; /* last row to enter, or NO_ROW */
    int last_side;
} equations;

/* Return how many numbers the scratch of up to `most` equations has. */
INLINE ptrdiff_t size_of_scratch(ptrdiff_t most)
{
    return (most + ROWS_BEHIND) * stride_of_order(most);
}

static equations no_equations(double *scratch, ptrdiff_t most)
{
    const ptrdiff_t stride = stride_of_order(most);
    double *const behind = scratch + most * stride;
    int8_t *const bytes = (int8_t *)(behind + 3 * stride);
    return (equations){.a = {.numbers = scratch, .stride = stride, .right = behind, .signs = bytes},
                       .most = most,
                       .solution = behind + stride,
                       .rows = (uint32_t *)(behind + 2 * stride),
                       .held = (uint32_t *)(behind + 2 * stride) + stride,
                       .sides = bytes + stride,
                       .is_free = (uint8_t *)bytes + 2 * stride,
                       .fewest = PTRDIFF_MAX};
}

/* Add an equation unless there are too many. */
static void add_equation(equations *e, uint32_t row, uint32_t held, int sign, double right)
{
    const ptrdiff_t n = e->a.n;
    if (n == e->most) {
        e->is_full = 1;
        return;
    }
    e->rows[n] = row;
    e->held[n] = held;
    e->is_free[n] = row != NO_ROW;
    e->a.signs[n] = (int8_t)sign;
    e->a.right[n] = right;
    e->a.n++;
}

/* Let a row enter, with the sign of its variable. If it was free before, this is its second
 * equation. */
static void let_in(const dual_problem *p, equations *e, uint32_t row, int side)
{
    const ptrdiff_t n = e->a.n;
    const double goal = p->loss < FIRST_OF_NUMBERS ? side : p->targets[row] - side * p->epsilon;
    add_equation(e, row, 0, 1, goal);
    if (!e->is_full)
        e->sides[n] = (int8_t)side;
}

/* Begin anew with the free rows only. */
static void without_conditions(const dual_problem *p, equations *e)
{
    const ptrdiff_t n = e->a.n;
    e->a.n = e->a.n_done = e->is_full = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        if (e->is_free[i])
            let_in(p, e, e->rows[i], e->sides[i]);
}

/* Store the new columns of the matrix. */
static void fill_columns(const dual_problem *p, const dual_state *s, ptrdiff_t m, equations *e)
{
    const ptrdiff_t k = p->rows.n_codes, n = e->a.n, n_done = e->a.n_done;
    uint32_t *const of_other = s->columns + BLOCK_ROWS * k;
    for (ptrdiff_t first = 0; first < n; first += BLOCK_ROWS) {
        const ptrdiff_t stop = n - first < BLOCK_ROWS ? n : first + BLOCK_ROWS;
        features some[BLOCK_ROWS];
        for (ptrdiff_t i = first; i < stop; i++)
            if (e->rows[i] != NO_ROW)
                some[i - first] = features_of(&p->rows, e->rows[i], s->columns + (i - first) * k);
        for (ptrdiff_t j = first > n_done ? first : n_done; j < n; j++) {
            double *const column = e->a.numbers + j;
            const int is_row = e->rows[j] != NO_ROW;
            const features other =
                is_row ? features_of(&p->rows, e->rows[j], of_other) : (features){.bytes = NULL};
            for (ptrdiff_t i = first; i < stop && i <= j; i++)
                column[i * e->a.stride] =
                    is_row && e->rows[i] != NO_ROW
                        ? shared(some[i - first], other, k) * s->per_code + p->bias * p->bias
                        : 0.0;
        }
    }
    for (ptrdiff_t j = n_done; j < n; j++)
        if (e->rows[j] == NO_ROW)
            e->a.numbers[e->held[j] * e->a.stride + j] = 1.0;
        else
            e->a.numbers[j * e->a.stride + j] += variable_of(p, s, e->rows[j], m).diagonal;
}

/* Solve the equations, and store the next variables of a model. Return 0 if the matrix is singular
 * up to rounding. */
static int solve_equations(const dual_problem *p, dual_state *s, ptrdiff_t m, equations *e)
{
    double *const next = s->dual_step + m;
    fill_columns(p, s, m, e);
    if (!factorise(&e->a))
        return 0;
    solve_factorised(&e->a, e->solution);
    e->n_changes = 0;
    e->last = NO_ROW;
    for (ptrdiff_t row = 0; row < p->n_rows; row++)
        next[row * p->n_models] = 0.0;
    for (ptrdiff_t i = 0; i < e->a.n; i++)
        if (e->is_free[i])
            next[e->rows[i] * p->n_models] = e->solution[i] * variable_of(p, s, e->rows[i], m).sign;
    return 1;
}

/* Move the variables tried by some models to the next ones, and their weights with them. */
static void move_to_next(const dual_problem *p, dual_state *s, unsigned models)
{
    row_numbers changed = {.n = 0}, none = {.n = 0};
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        double changes[MOST_MODELS] = {0.0};
        int some = 0;
        for (ptrdiff_t m = 0; models >> m; m++) {
            const ptrdiff_t i = row * p->n_models + m;
            if (!(models >> m & 1) || s->dual_step[i] == s->dual_tried[i])
                continue;
            changes[m] = variable_of(p, s, row, m).sign * (s->dual_step[i] - s->dual_tried[i]);
            s->models[m].intercept += changes[m] * p->bias;
            s->dual_tried[i] = s->dual_step[i];
            some = 1;
        }
        if (some) {
            changed.rows[changed.n] =
                features_of(&p->rows, (uint32_t)row, s->columns + changed.n * p->rows.n_codes);
            memcpy(changed.numbers + changed.n * s->stride, changes,
                   (size_t)s->stride * sizeof *changes);
            changed.n++;
        }
        if (changed.n == BLOCK_ROWS || row + 1 == p->n_rows) {
            move(s->v, &p->rows, &changed, &none, s->stride);
            changed.n = 0;
        }
    }
}

/* Return whether a row is free whose variable has crossed 0. */
INLINE int has_crossed(const equations *e, ptrdiff_t i)
{
    return e->is_free[i] && !(e->solution[i] * e->sides[i] > 0.0);
}

static void let_out(equations *e, ptrdiff_t i)
{
    e->is_free[i] = 0;
    add_equation(e, NO_ROW, (uint32_t)i, -1, 0.0);
}

INLINE int changes_one(const equations *e)
{
    return e->n_failures >= MOST_FAILURES;
}

/* Let rows leave whose variables have crossed 0 or, if rows change one at a time, let only the row
 * with the highest number leave or enter, which always leads to the solution (Murty 1974). */
static void let_some_out(const dual_problem *p, equations *e)
{
    ptrdiff_t highest = -1;
    for (ptrdiff_t i = 0, n = e->a.n_done; i < n; i++) {
        if (!has_crossed(e, i))
            continue;
        e->n_changes++;
        if (!changes_one(e))
            let_out(e, i);
        else if (highest < 0 || e->rows[i] > e->rows[highest])
            highest = i;
    }
    if (e->last != NO_ROW && (highest < 0 || e->last > e->rows[highest]))
        let_in(p, e, e->last, e->last_side);
    else if (highest >= 0)
        let_out(e, highest);
}

/* Compare a row of a model with its optimality condition. If its variable is 0 and there is a
 * violation, it enters. Violations are recorded for the stopping rule, as in a pass. */
INLINE void check_row(const dual_problem *p, dual_state *s, uint32_t row, ptrdiff_t m, double score,
                      equations *e)
{
    const double least = p->tol / 4.0; /* enough for passes to end */
    const double tried = s->dual_tried[row * p->n_models + m];
    const variable x = variable_of(p, s, row, m);
    dual_model *model = &s->models[m];
    double y = x.sign, margin = 1.0, size = tried, gradient, violation;
    if (p->loss >= FIRST_OF_NUMBERS) {
        y = (tried != 0.0 ? tried > 0.0 : p->targets[row] > score) ? 1.0 : -1.0;
        margin = y * p->targets[row] - p->epsilon;
        size = fabs(tried);
    }
    gradient = y * score - margin + x.diagonal * size;
    if (tried == 0.0 && gradient > 0.0)
        return;
    if (tried == 0.0 && gradient < -least) {
        e->n_changes++;
        if (changes_one(e)) {
            e->last = row;
            e->last_side = (int)y;
        } else {
            let_in(p, e, row, (int)y);
        }
    }
    violation = p->end == END_BY_RANGE ? gradient : fabs(gradient);
    model->highest = violation > model->highest ? violation : model->highest;
    model->lowest = violation < model->lowest ? violation : model->lowest;
    model->violation += fabs(gradient);
}

/* Check all rows of some models. */
static void check_rows(const dual_problem *p, dual_state *s, unsigned models, equations *e)
{
    uint32_t rows[BLOCK_ROWS];
    for (ptrdiff_t m = 0; models >> m; m++)
        if (models >> m & 1)
            forget_violations(&s->models[m]);
    for (ptrdiff_t row = 0; row < p->n_rows;) {
        row_numbers none = {.n = 0}, sums = {.n = 0};
        for (; row < p->n_rows && sums.n < BLOCK_ROWS; row++) {
            if (!(members(p, row) & models) || !(cost(p, (uint32_t)row) > 0.0))
                continue;
            rows[sums.n] = (uint32_t)row;
            sums.rows[sums.n] =
                features_of(&p->rows, (uint32_t)row, s->columns + sums.n * p->rows.n_codes);
            sums.n++;
        }
        move(s->v, &p->rows, &none, &sums, s->stride);
        for (ptrdiff_t r = 0; r < sums.n; r++)
            for (ptrdiff_t m = 0; models >> m; m++)
                if (models & members(p, rows[r]) & 1u << m)
                    check_row(p, s, rows[r], m,
                              sums.numbers[r * s->stride + m] * s->per_code
                                  + s->models[m].intercept * p->bias,
                              &e[m]);
    }
}

/* Begin the equations of a model with its free rows. */
static void begin_equations(const dual_problem *p, dual_state *s, ptrdiff_t m, equations *e)
{
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        const double here = s->dual[row * p->n_models + m];
        s->dual_tried[row * p->n_models + m] = here;
        if (here != 0.0)
            let_in(p, e, (uint32_t)row, variable_of(p, s, row, m).sign * here > 0.0 ? 1 : -1);
    }
}

/* Prepare the next round. Return 0 if too many rounds have failed. */
static int prepare_round(const dual_problem *p, equations *e)
{
    if (e->is_full || (!changes_one(e) && e->n_changes > e->a.n / MOST_CHANGED))
        without_conditions(p, e);
    e->n_failures = e->n_changes < e->fewest ? 0 : e->n_failures + 1;
    e->fewest = e->n_changes < e->fewest ? e->n_changes : e->fewest;
    return e->n_failures <= MOST_FAILURES + MOST_SINGLE;
}

/* Move some models to their solutions, and return a bitmask of those that have one; the others stay
 * where they are, up to rounding. They share readings of the codes, but do not depend on one
 * another. At the end, v is added up anew, because the steps to it multiply errors of rounding. */
static unsigned solve_some(const dual_problem *p, dual_state *s, unsigned models, equations *e)
{
    unsigned going = models, found = 0;
    while (going) {
        for (ptrdiff_t m = 0; models >> m; m++)
            if (going >> m & 1 && !solve_equations(p, s, m, &e[m]))
                going &= ~(1u << m);
        move_to_next(p, s, going);
        check_rows(p, s, going, e);
        for (ptrdiff_t m = 0; models >> m; m++) {
            if (!(going >> m & 1))
                continue;
            let_some_out(p, &e[m]);
            found |= (unsigned)(e[m].n_changes == 0) << m;
            if (e[m].n_changes == 0 || !prepare_round(p, &e[m]))
                going &= ~(1u << m);
        }
    }
    for (ptrdiff_t m = 0; found >> m; m++)
        for (ptrdiff_t i = m; found >> m & 1 && i < p->n_rows * p->n_models; i += p->n_models)
            s->dual[i] = s->dual_tried[i];
    add_up(p, s, models, s->dual);
    return found;
}

static ptrdiff_t n_free(const dual_problem *p, const dual_state *s, ptrdiff_t m)
{
    ptrdiff_t n = 0;
    for (ptrdiff_t i = m; i < p->n_rows * p->n_models; i += p->n_models)
        n += s->dual[i] != 0.0;
    return n;
}

/* Return for how many passes the time of a jump is worth it. A model that jumped for the last C
 * jumps before the first pass. After the first time, its jumps take about as long as its passes at
 * most. */
static double passes_for_jump(const dual_state *s, const dual_model *model)
{
    const double n = s->n_here - model->solved_at, part = EXPECTED_PART * model->n_expected;
    if (s->n_here == 0)
        return model->is_solved ? part : -1.0;
    return model->solved_at > 0 ? n : fmax(n / FIRST_TIMES, part - n);
}

/* Return the models that jump to their solutions. */
static unsigned solvable(const dual_problem *p, const dual_state *s)
{
    const double k = (double)p->rows.n_codes;
    unsigned found = 0;
    if (s->matrix == NULL || s->n_here % JUMP_PASSES != 0
        || !(part_of(p->loss, 1.0).diagonal > 0.0))
        return 0;
    for (ptrdiff_t m = 0; s->going >> m; m++) {
        const dual_model *model = &s->models[m];
        double n, time, visit = s->stride == 8 ? FLOAT32_TIME : 1.0;
        if (!(s->going >> m & 1))
            continue;
        n = (double)n_free(p, s, m);
        time = n * n * (PAIR_TIME * k + CUBE_TIME * n);
        visit *= (double)model->n_active * k;
        if (n <= (double)s->most_equations && time <= visit * passes_for_jump(s, model))
            found |= 1u << m;
    }
    return found;
}

/* Let models jump to their solutions: as many together as their equations have space. */
static void solve_models(const dual_problem *p, dual_state *s, unsigned models)
{
    const ptrdiff_t all = size_of_scratch(s->most_equations);
    const ptrdiff_t space = all < MOST_TOGETHER ? all : MOST_TOGETHER;
    unsigned left = models, found = 0;
    while (left) {
        equations e[MOST_MODELS];
        ptrdiff_t used = 0;
        unsigned some = 0;
        for (ptrdiff_t m = 0; left >> m; m++) {
            ptrdiff_t most;
            if (!(left >> m & 1))
                continue;
            most = n_free(p, s, m);
            most += most / MOST_ADDED + 8;
            most = most < s->most_equations ? most : s->most_equations;
            if (used > 0 && used + size_of_scratch(most) > space)
                continue;
            e[m] = no_equations(s->matrix + used, most);
            begin_equations(p, s, m, &e[m]);
            used += size_of_scratch(most);
            some |= 1u << m;
        }
        found |= solve_some(p, s, some, e);
        left &= ~some;
    }
    for (ptrdiff_t m = 0; models >> m; m++) {
        dual_model *model = &s->models[m];
        if (!(models >> m & 1))
            continue;
        let_all_back(p, s, m);
        model->n_jumps = 0;
        model->solved_at = s->n_here;
        model->is_solved = found >> m & 1 && is_within(p, s, m);
        if (model->is_solved)
            s->going &= ~(1u << m);
        else
            let_all_back(p, s, m);
    }
    if (s->going & models)
        remember(p, s, s->going & models);
}

/* ---- passes -------------------------------------------------------------------------------- */

static void add_first(const dual_problem *p, dual_state *s)
{
    if (first_variable(p->loss, 1.0) == 0.0)
        return;
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        row_numbers changed = {.n = 1}, none = {.n = 0};
        if (!(cost(p, (uint32_t)row) > 0.0))
            continue;
        for (ptrdiff_t m = 0; m < p->n_models; m++) {
            const unsigned side = p->sides[row] >> m & 1;
            const double c = cost(p, (uint32_t)row) * p->factors[m][side];
            const double first = first_variable(p->loss, c);
            if (!(members(p, row) >> m & 1))
                continue;
            changed.numbers[m] = side ? first : -first;
            s->dual[row * p->n_models + m] = first;
            s->models[m].intercept += changed.numbers[m] * p->bias;
        }
        changed.rows[0] = features_of(&p->rows, (uint32_t)row, s->columns);
        move(s->v, &p->rows, &changed, &none, s->stride);
    }
}

static void add_up_all(const dual_problem *p, dual_state *s)
{
    add_up(p, s, (1u << p->n_models) - 1, s->dual);
}

static void begin(const dual_problem *p, dual_state *s, unsigned going)
{
    s->n_weighed = 0;
    for (ptrdiff_t row = 0; row < p->n_rows; row++) {
        s->active[row] = 0;
        s->n_weighed += cost(p, (uint32_t)row) > 0.0;
    }
    s->going = going;
    s->position = 0;
    s->per_code = 1.0 / (double)p->rows.n_codes;
    s->n_here = 0;
    s->n_turns++;
    for (ptrdiff_t m = 0; m < p->n_models; m++) {
        let_all_back(p, s, m);
        s->models[m].first_violation = -1.0;
        s->models[m].n_jumps = 0;
        s->models[m].solved_at = 0;
    }
}

/* Draw the order of a pass: all rows with non-zero weight, in a random order that depends only on
 * the key, the turn and the pass. */
static void begin_pass(const dual_problem *p, dual_state *s)
{
    const uint64_t pass = (uint64_t)s->n_turns << 32 | (uint64_t)s->n_here;
    const uint64_t start = column_start(p->key, pass);
    ptrdiff_t n = 0;
    for (ptrdiff_t row = 0; row < p->n_rows; row++)
        if (cost(p, (uint32_t)row) > 0.0)
            s->order[n++] = (uint32_t)row;
    for (ptrdiff_t i = 0; i < n; i++) {
        const ptrdiff_t j = i + hash_bucket(word(start, (uint64_t)i), (uint64_t)(n - i));
        const uint32_t row = s->order[j];
        s->order[j] = s->order[i];
        s->order[i] = row;
    }
    for (ptrdiff_t m = 0; m < p->n_models; m++) {
        forget_violations(&s->models[m]);
        s->models[m].n_newton = 0;
    }
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

/* Return whether models jump after this pass. They never do if the dual problem is not
 * quadratic. */
static int is_jump_due(const dual_problem *p, const dual_state *s)
{
    return s->v_before != NULL && part_of(p->loss, 1.0).is_quadratic
           && s->n_here >= FIRST_JUMP - JUMP_PASSES && s->n_here % JUMP_PASSES == 0;
}

/* Let models jump between passes, to their solutions or along the changes by passes. `changed` holds
 * the changes that have not been added to v, and is emptied. */
static void jump_between(const dual_problem *p, dual_state *s, row_numbers *changed)
{
    row_numbers none = {.n = 0};
    const unsigned solving = solvable(p, s);
    const unsigned jumping = is_jump_due(p, s) ? s->going & ~solving : 0;
    for (ptrdiff_t m = 0; m < p->n_models && s->n_here == 0; m++)
        s->models[m].is_solved = 0;
    if ((solving | jumping) == 0)
        return;
    move(s->v, &p->rows, changed, &none, s->stride);
    changed->n = 0;
    if (solving != 0)
        solve_models(p, s, solving);
    if (jumping != 0)
        jump_once(p, s, jumping);
}

static int descend(const dual_problem *p, dual_state *s, int max_passes, int64_t visits)
{
    /* The changes of a block are added to v when the next block is read. */
    row_numbers changed = {.n = 0}, none = {.n = 0};
    uint32_t *columns = s->columns, *columns_of_changed = columns + BLOCK_ROWS * p->rows.n_codes;
    while (visits > 0 || s->position == 0) {
        block b;
        if (s->position == 0) {
            if (s->n_here < max_passes)
                jump_between(p, s, &changed);
            if (s->going == 0 || s->n_here >= max_passes)
                break;
            begin_pass(p, s);
        }
        if (begin_block(p, s, &b, columns) > 0) {
            uint32_t *const of_block = columns;
            move(s->v, &p->rows, &changed, &b.sums, s->stride);
            sweep(p, s, &b);
            end_block(p, s, &b, &changed);
            columns = columns_of_changed;
            columns_of_changed = of_block;
            visits -= b.sums.n;
        }
        s->position += BLOCK_ROWS;
        if (s->position >= s->n_weighed)
            end_pass(p, s);
    }
    move(s->v, &p->rows, &changed, &none, s->stride);
    if (s->going == 0)
        return 1;
    return s->position == 0 && s->n_here >= max_passes ? -1 : 0;
}

static const char *const names_of_losses[] = {LOSSES_OF_CLASSES(NAME_OF_LOSS)
                                                  LOSSES_OF_NUMBERS(NAME_OF_LOSS) NULL};

const dual_descent_loops TABLE(dual_descent)[] = {{
    .losses = names_of_losses,
    .first_of_numbers = FIRST_OF_NUMBERS,
    .add_first = add_first,
    .add_up = add_up_all,
    .begin = begin,
    .descend = descend,
    .squares = squares_of_all,
    .multiply = multiply,
}};
