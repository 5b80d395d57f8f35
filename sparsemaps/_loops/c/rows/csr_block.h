/* A block of CSR rows. Item sizes identify the types of values and indices. */
#ifndef SPARSEMAPS_CSR_BLOCK_H
#define SPARSEMAPS_CSR_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "vectors.h"

typedef struct {
    const void *values;    /* float or double */
    const void *indices;   /* int32_t or int64_t */
    const int64_t *indptr; /* n_rows + 1 offsets of rows */
    ptrdiff_t n_rows;
    size_t value_size;
    size_t index_size;
} csr_block;

static inline const void *values_from(const csr_block *rows, int64_t entry)
{
    return (const char *)rows->values + (size_t)entry * rows->value_size;
}

static inline const void *indices_from(const csr_block *rows, int64_t entry)
{
    return (const char *)rows->indices + (size_t)entry * rows->index_size;
}

static inline double value_at(const csr_block *rows, int64_t entry)
{
    return rows->value_size == sizeof(double) ? ((const double *)rows->values)[entry]
                                              : (double)((const float *)rows->values)[entry];
}

static inline int64_t index_at(const csr_block *rows, int64_t entry)
{
    return rows->index_size == sizeof(int64_t) ? ((const int64_t *)rows->indices)[entry]
                                               : ((const int32_t *)rows->indices)[entry];
}

/* Return the column under which an entry is sampled. If values have both signs, each column is
 * split into two: even for positive values, odd for negative ones. */
static inline uint64_t signed_column(uint64_t index, int is_negative, int is_signed)
{
    return is_signed ? 2 * index + (uint64_t)is_negative : index;
}

static inline uint64_t column_at(const csr_block *rows, int64_t entry, int is_signed)
{
    return signed_column((uint64_t)index_at(rows, entry), value_at(rows, entry) < 0, is_signed);
}

/* Implement `spread_row` for item sizes that are compile-time constants in the caller. */
INLINE void spread_typed(const csr_block *rows, ptrdiff_t row, uint64_t width, void *out,
                         size_t value_size, size_t index_size)
{
    csr_block own = *rows; /* a local copy, which stores to `out` cannot alias */
    own.value_size = value_size;
    own.index_size = index_size;
    for (int64_t i = own.indptr[row]; i < own.indptr[row + 1]; i++) {
        uint64_t column = (uint64_t)index_at(&own, i);
        if (column >= width)
            continue;
        if (own.value_size == sizeof(double))
            ((double *)out)[column] = ((const double *)own.values)[i];
        else
            ((float *)out)[column] = ((const float *)own.values)[i];
    }
}

/* Scatter a row's values into a dense row. Columns from `width` on are skipped. */
static inline void spread_row(const csr_block *rows, ptrdiff_t row, uint64_t width, void *out)
{
    const int is_wide = rows->index_size == sizeof(int64_t);
    if (rows->value_size == sizeof(double) && is_wide)
        spread_typed(rows, row, width, out, sizeof(double), sizeof(int64_t));
    else if (rows->value_size == sizeof(double))
        spread_typed(rows, row, width, out, sizeof(double), sizeof(int32_t));
    else if (is_wide)
        spread_typed(rows, row, width, out, sizeof(float), sizeof(int64_t));
    else
        spread_typed(rows, row, width, out, sizeof(float), sizeof(int32_t));
}

#endif
