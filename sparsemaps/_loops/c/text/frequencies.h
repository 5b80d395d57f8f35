/* Tables of document frequencies of columns, by a hash of the column, and weights computed from
 * them.
 *
 * A table has one or more rows of 2^n_bits counts. In each row, a column has one bucket, which
 * counts the records that have any column in the bucket. The least of a column's counts is
 * therefore at least the number of records that have the column. */
#ifndef SPARSEMAPS_FREQUENCIES_H
#define SPARSEMAPS_FREQUENCIES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    const void *counts;
    size_t count_size; /* per count: 1, 2 or 4 bytes */
    ptrdiff_t n_rows;
    int n_bits;
    uint64_t key;
} frequency_table;

enum { IDF_SIZES = 256 }; /* number of sizes that are looked up */

/* A value x becomes levels * (ln((N + 1) / (df + 1)) / ln((N + 1) / 2))^power * f(x). */
typedef struct {
    double n_records; /* N */
    double power;
    double levels;
    int sublinear;         /* f(x) = 1 + ln x for x >= 1; else f(x) = x */
    const double *weights; /* of the n_weights lowest df */
    int64_t n_weights;
    const double *sizes; /* f(0), f(1), ..., f(IDF_SIZES - 1) */
} idf_weighting;

typedef struct {
    /* List the distinct buckets of n columns in a row of the table, in order of the columns. Return
     * their number. `slots` must have room for slots_for(n) words. */
    ptrdiff_t (*buckets)(const frequency_table *table, ptrdiff_t row, const void *columns,
                         size_t itemsize, ptrdiff_t n, uint64_t *slots, uint64_t *buckets);
    /* Increment the counts of n buckets. Counts saturate. */
    void (*add)(void *counts, size_t count_size, int n_bits, const uint64_t *buckets, ptrdiff_t n);
    /* Add n counts to others. Counts saturate. */
    void (*merge)(void *counts, const void *others, size_t count_size, ptrdiff_t n);
    /* Look up the least count of each of n columns. */
    void (*look_up)(const frequency_table *table, const void *columns, size_t itemsize, ptrdiff_t n,
                    uint32_t *frequencies);
    /* Copy the entries of a record with frequencies of at most `most`, or all n entries if that
     * leaves fewer than `least`. Return how many were copied. Columns and values have 4 or 8 bytes;
     * `values` may be NULL. The output may be the input, or precede the input in the same array. */
    ptrdiff_t (*take_rare)(const uint32_t *frequencies, uint32_t most, ptrdiff_t least, ptrdiff_t n,
                           const void *columns, size_t column_size, const void *values,
                           size_t value_size, void *out_columns, void *out_values);
    /* Fill the tables: the first n weights, and all sizes. */
    void (*tabulate)(const idf_weighting *idf, ptrdiff_t n, double *weights, double *sizes);
    /* Weight the values of n entries, of 4 or 8 bytes each, by the frequencies of their columns.
     * `out` may be `values`. */
    void (*weigh)(const idf_weighting *idf, const frequency_table *table, const void *columns,
                  size_t itemsize, const void *values, size_t value_size, ptrdiff_t n, void *out);
} frequencies_loops;

/* Return a power of two that is at least 2 n and 16. */
static inline ptrdiff_t slots_for(ptrdiff_t n)
{
    ptrdiff_t n_slots = 16;
    while (n_slots < 2 * n)
        n_slots *= 2;
    return n_slots;
}

DECLARE_TABLES(frequencies)

#endif
