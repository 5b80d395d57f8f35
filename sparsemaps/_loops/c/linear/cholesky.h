/* Cholesky's factorisation of symmetric matrices that grow, and the solution of their systems.
 *
 * U with U^T D U = A is found without pivots. D has the signs of the pivots, 1 or -1, which must be
 * known: A is positive definite for rows of one sign, and the rest that they leave is negative
 * definite for the following rows of the other, and so on. Rows that are added to A at the end do
 * not change the part of U that is there.
 *
 * All numbers are computed by the same operations in the same order at any width of vectors. */
#ifndef SPARSEMAPS_CHOLESKY_H
#define SPARSEMAPS_CHOLESKY_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

/* Rows that are eliminated together, and the size of a tile of the matrix that fits in
 * registers. */
enum {
    PANEL_ROWS = 32,
    TILE_ROWS = 4,
    TILE_VECTORS = 3,
    VECTOR_LANES = REGISTER_BYTES / (int)sizeof(double),
    TILE_COLUMNS = TILE_VECTORS * VECTOR_LANES,
    SOLVE_LANES = 8
};

/* The system A x = b of order n. Of the matrix, only the upper triangle is used. The first n_done
 * rows hold U, up to column n_done, and U^-T b; everything else holds A and b. */
typedef struct {
    double *numbers;
    ptrdiff_t stride; /* distance between rows */
    double *right;    /* b */
    int8_t *signs;    /* of the pivots */
    ptrdiff_t n, n_done;
} growing_system;

/* Return the distance between the rows of a matrix of order up to n. A tile may reach beyond the
 * last column. An odd number of cache lines is better for the cache than a power of two. */
INLINE ptrdiff_t stride_of_order(ptrdiff_t n)
{
    return (n + 24 + 7) / 16 * 16 + 8;
}

INLINE register_f64 vector_at(const double *numbers)
{
    return *(const register_f64_anywhere *)numbers;
}

/* Subtract u_t[i] u_t[j] sign for the rows t of a panel from some rows i, in the columns j of a
 * tile. */
INLINE void subtract_from_tile(const growing_system *a, ptrdiff_t first, ptrdiff_t stop,
                               double sign, ptrdiff_t row, ptrdiff_t column, ptrdiff_t n_rows)
{
    double *const tile = a->numbers + row * a->stride + column;
    register_f64 left[TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 4
    for (ptrdiff_t r = 0; r < n_rows; r++)
#pragma GCC unroll 3
        for (ptrdiff_t l = 0; l < TILE_VECTORS; l++)
            left[r][l] = vector_at(tile + r * a->stride + l * VECTOR_LANES);
    for (ptrdiff_t t = first; t < stop; t++) {
        const double *const u = a->numbers + t * a->stride;
#pragma GCC unroll 4
        for (ptrdiff_t r = 0; r < n_rows; r++)
#pragma GCC unroll 3
            for (ptrdiff_t l = 0; l < TILE_VECTORS; l++)
                left[r][l] -= sign * u[row + r] * vector_at(u + column + l * VECTOR_LANES);
    }
#pragma GCC unroll 4
    for (ptrdiff_t r = 0; r < n_rows; r++)
#pragma GCC unroll 3
        for (ptrdiff_t l = 0; l < TILE_VECTORS; l++)
            *(register_f64_anywhere *)(tile + r * a->stride + l * VECTOR_LANES) = left[r][l];
}

/* Eliminate the rows of a panel from all later rows, in the columns from `column` on. */
INLINE void subtract_panel(const growing_system *a, ptrdiff_t first, ptrdiff_t stop, double sign,
                           ptrdiff_t column)
{
    for (ptrdiff_t j = column; j < a->n; j += TILE_COLUMNS) {
        const ptrdiff_t last = a->n - j < TILE_COLUMNS ? a->n : j + TILE_COLUMNS;
        ptrdiff_t i = stop;
        for (; i + TILE_ROWS <= last; i += TILE_ROWS)
            subtract_from_tile(a, first, stop, sign, i, j, TILE_ROWS);
        for (; i < last; i++)
            subtract_from_tile(a, first, stop, sign, i, j, 1);
    }
}

/* Eliminate the rows of a panel from one another. Of rows that are done, only the new columns
 * change. Return 0 if a pivot has the wrong sign. */
INLINE int factorise_panel(const growing_system *a, ptrdiff_t first, ptrdiff_t stop, double sign)
{
    for (ptrdiff_t t = first; t < stop; t++) {
        const int is_done = t < a->n_done;
        double *const u = a->numbers + t * a->stride;
        const double scale = is_done ? sign / u[t] : sign / sqrt(sign * u[t]);
        if (!(is_done || sign * u[t] > 0.0))
            return 0;
        for (ptrdiff_t j = is_done ? a->n_done : t / VECTOR_LANES * VECTOR_LANES; j < a->n;
             j += VECTOR_LANES)
            *(register_f64_anywhere *)(u + j) *= scale;
        for (ptrdiff_t row = t + 1; row < stop; row++) {
            double *const below = a->numbers + row * a->stride;
            for (ptrdiff_t j = is_done ? a->n_done : row / VECTOR_LANES * VECTOR_LANES; j < a->n;
                 j += VECTOR_LANES)
                *(register_f64_anywhere *)(below + j) -= sign * u[row] * vector_at(u + j);
        }
    }
    return 1;
}

/* Replace A by U, and b by U^-T b. Numbers below the diagonal, and beyond the last column, are not
 * used, but overwritten. Return 0 if a pivot has the wrong sign. */
static NOT_INLINE int factorise(growing_system *a)
{
    for (ptrdiff_t first = 0, stop; first < a->n; first = stop) {
        const int is_done = first < a->n_done;
        const ptrdiff_t end = is_done ? a->n_done : a->n;
        for (stop = first + 1;
             stop < end && stop < first + PANEL_ROWS && a->signs[stop] == a->signs[first];)
            stop++;
        if (!factorise_panel(a, first, stop, a->signs[first]))
            return 0;
        const ptrdiff_t column = is_done ? a->n_done : stop / TILE_COLUMNS * TILE_COLUMNS;
        if (a->signs[first] > 0)
            subtract_panel(a, first, stop, 1.0, column);
        else
            subtract_panel(a, first, stop, -1.0, column);
    }
    for (ptrdiff_t t = 0; t < a->n; t++) {
        const double *const u = a->numbers + t * a->stride;
        const int is_done = t < a->n_done;
        if (!is_done)
            a->right[t] /= u[t];
        for (ptrdiff_t j = is_done ? a->n_done : t + 1; j < a->n; j++)
            a->right[j] -= u[j] * a->right[t];
    }
    a->n_done = a->n;
    return 1;
}

/* Solve a system after its factorisation. */
static NOT_INLINE void solve_factorised(const growing_system *a, double *x)
{
    for (ptrdiff_t t = a->n - 1; t >= 0; t--) {
        const double *const u = a->numbers + t * a->stride;
        double lanes[SOLVE_LANES] = {0.0}, sum = 0.0;
        ptrdiff_t j = t + 1;
        for (; j + SOLVE_LANES <= a->n; j += SOLVE_LANES)
            for (int l = 0; l < SOLVE_LANES; l++)
                lanes[l] += u[j + l] * x[j + l];
        for (; j < a->n; j++)
            sum += u[j] * x[j];
        for (int l = 0; l < SOLVE_LANES; l++)
            sum += lanes[l];
        x[t] = (a->signs[t] * a->right[t] - sum) / u[t];
    }
}

#endif
