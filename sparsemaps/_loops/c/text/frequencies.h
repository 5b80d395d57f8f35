/* Tables of how many records have a column, by a hash of the column, and weights made of them.
 *
 * A table has one or more rows of 2^n_bits counts. In each row a column has one bucket, whose count
 * is that of the records which have any column in it. So the least of a column's counts is at least
 * the number of records that have the column. */
#ifndef SPARSEMAPS_FREQUENCIES_H
#define SPARSEMAPS_FREQUENCIES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

typedef struct {
    const void *counts;
    size_t count_size; /* of a count: 1, 2 or 4 bytes */
    ptrdiff_t n_rows;
    int n_bits;
    uint64_t key;
} frequency_table;

enum { IDF_SIZES = 256 }; /* counts that are looked up */

/* What a value x becomes: levels * (ln((N + 1) / (df + 1)) / ln((N + 1) / 2))^power * f(x). */
typedef struct {
    double n_records; /* N */
    double power;
    double levels;
    int sublinear;         /* f(x) = 1 + ln x from x = 1 on; else f(x) = x */
    const double *weights; /* of the n_weights lowest df */
    int64_t n_weights;
    const double *sizes; /* f(0), f(1), ..., IDF_SIZES of them */
} idf_weighting;

typedef struct {
    /* The different buckets of n columns in a row of the table, in the order of the columns; returns
     * how many. `slots` has room for as many words as `slots_for(n)` says. */
    ptrdiff_t (*buckets)(const frequency_table *table, ptrdiff_t row, const void *columns,
                         size_t itemsize, ptrdiff_t n, uint64_t *slots, uint64_t *buckets);
    /* Add 1 to the counts of n buckets; the largest counts stay. */
    void (*add)(void *counts, size_t count_size, int n_bits, const uint64_t *buckets, ptrdiff_t n);
    /* Add n counts to others; sums beyond the largest count are that. */
    void (*merge)(void *counts, const void *others, size_t count_size, ptrdiff_t n);
    /* The least count of each of n columns. */
    void (*look_up)(const frequency_table *table, const void *columns, size_t itemsize, ptrdiff_t n,
                    uint32_t *frequencies);
    /* Copy those of a record's n entries whose frequencies are at most `most`; all of them, if these
     * are fewer than `least`. Returns how many. Columns and values of 4 or 8 bytes; `values` may be
     * NULL. The copies may be in place, or in front of the entries in one array. */
    ptrdiff_t (*take_rare)(const uint32_t *frequencies, uint32_t most, ptrdiff_t least, ptrdiff_t n,
                           const void *columns, size_t column_size, const void *values,
                           size_t value_size, void *out_columns, void *out_values);
    /* Write what `weights` and `sizes` hold: the first n weights, and all sizes. */
    void (*tabulate)(const idf_weighting *idf, ptrdiff_t n, double *weights, double *sizes);
    /* The values of n entries, weighted by the frequencies of their columns; values of 4 or 8 bytes.
     * `out` may be `values`. */
    void (*weigh)(const idf_weighting *idf, const frequency_table *table, const void *columns,
                  size_t itemsize, const void *values, size_t value_size, ptrdiff_t n, void *out);
} frequencies_loops;

/* A power of two, at least twice n. */
static inline ptrdiff_t slots_for(ptrdiff_t n)
{
    ptrdiff_t n_slots = 16;
    while (n_slots < 2 * n)
        n_slots *= 2;
    return n_slots;
}

DECLARE_TABLES(frequencies)

#endif
