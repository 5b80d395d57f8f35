/* Entries of rows as LIBSVM text. */
#ifndef SPARSEMAPS_ENTRIES_H
#define SPARSEMAPS_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "powers_of_ten.h"

typedef struct {
    /* Write "index:value " for n entries, `first_index` added to each index; returns the end. */
    char *(*write_f32_i32)(const float *values, const int32_t *indices, ptrdiff_t n,
                           uint64_t first_index, const wide_t *powers, char *out);
    char *(*write_f32_i64)(const float *values, const int64_t *indices, ptrdiff_t n,
                           uint64_t first_index, const wide_t *powers, char *out);
    char *(*write_f64_i32)(const double *values, const int32_t *indices, ptrdiff_t n,
                           uint64_t first_index, const wide_t *powers, char *out);
    char *(*write_f64_i64)(const double *values, const int64_t *indices, ptrdiff_t n,
                           uint64_t first_index, const wide_t *powers, char *out);
    char *(*write_i64_i32)(const int64_t *values, const int32_t *indices, ptrdiff_t n,
                           uint64_t first_index, const wide_t *powers, char *out);
    char *(*write_i64_i64)(const int64_t *values, const int64_t *indices, ptrdiff_t n,
                           uint64_t first_index, const wide_t *powers, char *out);
} entries_loops;

DECLARE_TABLES(entries)

#endif
