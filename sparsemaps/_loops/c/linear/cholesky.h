/* Cholesky's factorisation, and the solution of symmetric positive definite systems.
 *
 * All numbers are computed by the same operations in the same order at any width of vectors. */
#ifndef SPARSEMAPS_CHOLESKY_H
#define SPARSEMAPS_CHOLESKY_H

#include <math.h>
#include <stddef.h>

#include "vectors.h"

/* Rows that are eliminated together, and the size of a tile of the matrix that fits in
 * registers. */
enum {
    PANEL_ROWS = 32,
    TILE_ROWS = 4,
    TILE_VECTORS = 3,
    VECTOR_LANES = REGISTER_BYTES / (int)sizeof(double),
    TILE_COLUMNS = TILE_VECTORS * VECTOR_LANES
};

/* Return the distance between the rows of a matrix of order n. A tile may reach beyond the last
 * column. An odd number of cache lines is better for the cache than a power of two. */
INLINE ptrdiff_t stride_of_order(ptrdiff_t n)
{
    return (n + 24 + 7) / 16 * 16 + 8;
}

INLINE register_f64 vector_at(const double *numbers)
{
    return *(const register_f64_anywhere *)numbers;
}

/* Subtract u_t[i] u_t[j] for the rows t of a panel from some rows i, in the columns j of a tile. */
INLINE void subtract_from_tile(double *matrix, ptrdiff_t stride, ptrdiff_t first, ptrdiff_t stop,
                               ptrdiff_t row, ptrdiff_t column, ptrdiff_t n_rows)
{
    double *const tile = matrix + row * stride + column;
    register_f64 left[TILE_ROWS][TILE_VECTORS];
#pragma GCC unroll 4
    for (ptrdiff_t r = 0; r < n_rows; r++)
#pragma GCC unroll 3
        for (ptrdiff_t l = 0; l < TILE_VECTORS; l++)
            left[r][l] = vector_at(tile + r * stride + l * VECTOR_LANES);
    for (ptrdiff_t t = first; t < stop; t++) {
        const double *const u = matrix + t * stride;
#pragma GCC unroll 4
        for (ptrdiff_t r = 0; r < n_rows; r++)
#pragma GCC unroll 3
            for (ptrdiff_t l = 0; l < TILE_VECTORS; l++)
                left[r][l] -= u[row + r] * vector_at(u + column + l * VECTOR_LANES);
    }
#pragma GCC unroll 4
    for (ptrdiff_t r = 0; r < n_rows; r++)
#pragma GCC unroll 3
        for (ptrdiff_t l = 0; l < TILE_VECTORS; l++)
            *(register_f64_anywhere *)(tile + r * stride + l * VECTOR_LANES) = left[r][l];
}

/* Eliminate the rows of a panel from one another. Return 0 if the matrix is not positive
 * definite. */
INLINE int factorise_panel(double *matrix, ptrdiff_t n, ptrdiff_t stride, ptrdiff_t first,
                           ptrdiff_t stop)
{
    for (ptrdiff_t t = first; t < stop; t++) {
        double *const u = matrix + t * stride;
        const double scale = 1.0 / sqrt(u[t]);
        if (!(u[t] > 0.0))
            return 0;
        for (ptrdiff_t j = t / VECTOR_LANES * VECTOR_LANES; j < n; j += VECTOR_LANES)
            *(register_f64_anywhere *)(u + j) *= scale;
        for (ptrdiff_t row = t + 1; row < stop; row++) {
            double *const below = matrix + row * stride;
            for (ptrdiff_t j = row / VECTOR_LANES * VECTOR_LANES; j < n; j += VECTOR_LANES)
                *(register_f64_anywhere *)(below + j) -= u[row] * vector_at(u + j);
        }
    }
    return 1;
}

/* Replace the upper triangle of a matrix A of order n by U with U^T U = A. Numbers below the
 * diagonal, and beyond the last column, are not used, but overwritten. Return 0 if A is not
 * positive definite. */
static NOT_INLINE int factorise(double *matrix, ptrdiff_t n)
{
    const ptrdiff_t stride = stride_of_order(n);
    for (ptrdiff_t first = 0; first < n; first += PANEL_ROWS) {
        const ptrdiff_t stop = n - first < PANEL_ROWS ? n : first + PANEL_ROWS;
        if (!factorise_panel(matrix, n, stride, first, stop))
            return 0;
        for (ptrdiff_t j = stop / TILE_COLUMNS * TILE_COLUMNS; j < n; j += TILE_COLUMNS) {
            const ptrdiff_t last = n - j < TILE_COLUMNS ? n : j + TILE_COLUMNS;
            ptrdiff_t i = stop;
            for (; i + TILE_ROWS <= last; i += TILE_ROWS)
                subtract_from_tile(matrix, stride, first, stop, i, j, TILE_ROWS);
            for (; i < last; i++)
                subtract_from_tile(matrix, stride, first, stop, i, j, 1);
        }
    }
    return 1;
}

/* Replace b by the solution x of U^T U x = b. */
static NOT_INLINE void solve_factorised(const double *matrix, ptrdiff_t n, double *b)
{
    const ptrdiff_t stride = stride_of_order(n);
    for (ptrdiff_t t = 0; t < n; t++) {
        const double *const u = matrix + t * stride;
        b[t] /= u[t];
        for (ptrdiff_t j = t + 1; j < n; j++)
            b[j] -= u[j] * b[t];
    }
    for (ptrdiff_t t = n - 1; t >= 0; t--) {
        const double *const u = matrix + t * stride;
        for (ptrdiff_t j = t + 1; j < n; j++)
            b[t] -= u[j] * b[j];
        b[t] /= u[t];
    }
}

#endif
