/* Loss functions: how each updates a row's dual variable. To add a loss, add an entry to a list
 * here and a value in linear/_losses.py (docs/add_a_loss.md). */
#ifndef SPARSEMAPS_LOSSES_H
#define SPARSEMAPS_LOSSES_H

#include <math.h>

#include "dual_descent.h"
#include "models.h"
#include "random.h"

/* For each loss: its number, its name in Python, its term in the dual problem, and an expression
 * that visits a row and yields the change of beta. `c` is C_i, `s` the model, `at` the row,
 * `epsilon` half the width of the zone without loss. */
#define LOSSES_OF_CLASSES(DO)                                                                      \
    DO(SQUARED_HINGE, "squared_hinge", QUADRATIC(INFINITY, 0.5 / c), visit_hinge(s, at, part))     \
    DO(HINGE, "hinge", QUADRATIC(c, 0.0), visit_hinge(s, at, part))                                \
    DO(LOG_LOSS, "log_loss", NOT_QUADRATIC, visit_log_loss(s, at))
#define LOSSES_OF_NUMBERS(DO)                                                                      \
    DO(SQUARED_EPSILON_INSENSITIVE, "squared_epsilon_insensitive", QUADRATIC(INFINITY, 0.5 / c),   \
       visit_regression(s, at, epsilon, part))                                                     \
    DO(EPSILON_INSENSITIVE, "epsilon_insensitive", QUADRATIC(c, 0.0),                              \
       visit_regression(s, at, epsilon, part))

#define NUMBER_OF_LOSS(LOSS, NAME, PART, VISIT) LOSS,
#define NAME_OF_LOSS(LOSS, NAME, PART, VISIT) NAME,
#define AND_ONE(LOSS, NAME, PART, VISIT) +1

enum { LOSSES_OF_CLASSES(NUMBER_OF_LOSS) LOSSES_OF_NUMBERS(NUMBER_OF_LOSS) };
enum { FIRST_OF_NUMBERS = 0 LOSSES_OF_CLASSES(AND_ONE) };

/* The term of a row's variable in the dual problem: its magnitude is at most `most`, and it
 * contributes a linear term and, if quadratic, diagonal / 2 times its square. */
typedef struct {
    int is_quadratic;
    double most, diagonal;
} dual_part;

#define QUADRATIC(MOST, DIAGONAL)                                                                  \
    (dual_part)                                                                                    \
    {                                                                                              \
        .is_quadratic = 1, .most = (MOST), .diagonal = (DIAGONAL)                                  \
    }
#define NOT_QUADRATIC (dual_part){.is_quadratic = 0}

/* State of a visit: y or the target, the score <w, z>, C_i, and the squared norm of the row. The
 * visit updates the dual variable and returns the change of beta. */
typedef struct {
    double y, score, cost, square;
    double *dual;
    int first;  /* the row's first visit in this pass; first visits decide when passes end */
    int leaves; /* set to 1 if the row leaves the model's active set */
} visited;

/* Visit for a loss of the margin y <w, z>, with a variable alpha >= 0. */
INLINE double visit_hinge(dual_model *s, visited *at, dual_part part)
{
    const double y = at->y, alpha = *at->dual, most = part.most, diagonal = part.diagonal;
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
    if (at->first) {
        s->highest = projected > s->highest ? projected : s->highest;
        s->lowest = projected < s->lowest ? projected : s->lowest;
    }
    if (fabs(projected) <= 1e-12)
        return 0.0;
    next = alpha - gradient / (at->square + diagonal);
    next = next > 0.0 ? next : 0.0;
    next = next < most ? next : most;
    *at->dual = next;
    return (next - alpha) * y;
}

/* The fields of four models that visits read and change. */
typedef struct {
    four_f64 intercept, highest, lowest, bound_above, bound_below;
    four_f64 factors[2];
} four_models;

typedef struct {
    four_f64 y, score, cost;
    double square;
    four_f64 dual;
    int first;
    four_i64 models; /* mask: models that visit the row */
    four_i64 leave;  /* result mask: models whose active set the row leaves */
} four_visited;

#define IS_HINGE(LOSS) ((LOSS) == HINGE || (LOSS) == SQUARED_HINGE)

/* Do the same as visit_hinge for four models. The operations, and hence the bits, are the same. */
INLINE four_f64 visit_four_hinges(four_models *s, four_visited *at, int loss)
{
    const four_f64 zero = {0.0}, y = at->y, alpha = at->dual;
    const four_f64 most = loss == HINGE ? at->cost + zero : zero + INFINITY;
    const four_f64 diagonal = loss == HINGE ? zero + 0.0 : 0.5 / at->cost;
    const four_f64 gradient = y * at->score - 1.0 + alpha * diagonal;
    const four_i64 at_zero = alpha == zero, at_most = ~at_zero & (alpha >= most);
    const four_i64 is_still =
        (at_zero & ~(gradient < zero)) | (at_most & ~(gradient > zero)); /* cannot move */
    const four_f64 projected = chosen(is_still, zero, gradient);
    four_f64 next = alpha - gradient / (at->square + diagonal);
    four_i64 stay;
    at->leave =
        at->models
        & ((at_zero & (gradient > s->bound_above)) | (at_most & (gradient < s->bound_below)));
    stay = at->models & ~at->leave;
    if (at->first) {
        s->highest = chosen(stay & (projected > s->highest), projected, s->highest);
        s->lowest = chosen(stay & (projected < s->lowest), projected, s->lowest);
    }
    next = chosen(next > zero, next, zero);
    next = chosen(next < most, next, most);
    at->dual = chosen(stay & (size_of_four(projected) > 1e-12), next, alpha);
    return (at->dual - alpha) * y;
}

/* Visit for LOG_LOSS, by Newton's method. z is the distance to the bound nearer to the minimum, so
 * that no digits are lost close to that bound. */
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
    if (at->first && fabs(gradient) > s->highest)
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

/* Visit for a loss of |<w, z> - y| beyond epsilon, with the variable beta. */
INLINE double visit_regression(dual_model *s, visited *at, double epsilon, dual_part part)
{
    const double beta = *at->dual, most = part.most, diagonal = part.diagonal;
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
    if (at->first) {
        s->highest = violation > s->highest ? violation : s->highest;
        s->violation += violation;
    }
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

/* Return the initial value of a row's variable. For LOG_LOSS it is always strictly inside the
 * bounds. */
INLINE double first_variable(int loss, double c)
{
    if (loss == LOG_LOSS)
        return 0.001 * c < 1e-8 ? 0.001 * c : 1e-8;
    return 0.0;
}

/* Return the variable of a row from its stored form (dual_descent.h). */
INLINE double stored_variable(int loss, double stored, double c)
{
    return loss == LOG_LOSS && stored < 0.0 ? c + stored : stored;
}

#define PART_OF_LOSS(LOSS, NAME, PART, VISIT)                                                      \
    case LOSS:                                                                                     \
        return PART;

INLINE dual_part part_of(int loss, double c)
{
    switch (loss) {
        LOSSES_OF_CLASSES(PART_OF_LOSS)
        LOSSES_OF_NUMBERS(PART_OF_LOSS)
    }
    return NOT_QUADRATIC;
}

#define VISIT_LOSS(LOSS, NAME, PART, VISIT)                                                        \
    case LOSS:                                                                                     \
        return VISIT;

INLINE double visit_loss(int loss, dual_model *s, visited *at, double epsilon)
{
    const dual_part part = part_of(loss, at->cost);
    switch (loss) {
        LOSSES_OF_CLASSES(VISIT_LOSS)
        LOSSES_OF_NUMBERS(VISIT_LOSS)
    }
    return 0.0;
}

#endif
