/* Entries of rows as LIBSVM text. */
#ifndef SPARSEMAPS_ENTRIES_H
#define SPARSEMAPS_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "powers_of_ten.h"

/* Types of values; those of indices are int32_t and int64_t. */
enum { WRITE_F32, WRITE_F64, WRITE_I64 };

/* Write "index:value " for n entries, `first_index` added to each index; returns the end. */
typedef char *(*write_entries)(const void *values, const void *indices, ptrdiff_t n,
                               uint64_t first_index, const wide_t *powers, char *out);

typedef struct {
    write_entries write[3][2]; /* for each type of values, and of indices */
} entries_loops;

DECLARE_TABLES(entries)

#endif
