/* Rows of a matrix as CSR, whose types are told by the sizes of their items. */
#ifndef SPARSEMAPS_CSR_BLOCK_H
#define SPARSEMAPS_CSR_BLOCK_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const void *values;    /* float or double */
    const void *indices;   /* int32_t or int64_t */
    const int64_t *indptr; /* n_rows + 1, which delimit the rows */
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

/* The column that an entry of column `index` is sampled as. Values of both signs make two of a column,
 * of which the even one holds what is positive. */
static inline uint64_t signed_column(uint64_t index, int is_negative, int is_signed)
{
    return is_signed ? 2 * index + (uint64_t)is_negative : index;
}

static inline uint64_t column_at(const csr_block *rows, int64_t entry, int is_signed)
{
    return signed_column((uint64_t)index_at(rows, entry), value_at(rows, entry) < 0, is_signed);
}

/* Write the values of a row at their columns in a dense row; columns from `width` on are left out. */
static inline void spread_row(const csr_block *rows, ptrdiff_t row, uint64_t width, void *out)
{
    /* Of a copy, the compiler knows that writing changes no sizes: it chooses the loop for them once. */
    const csr_block own = *rows;
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

#endif
