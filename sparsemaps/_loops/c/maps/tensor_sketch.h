/* Tensor sketch of one row: sums over tuples of entries, and convolutions with entries.
 *
 * A row has n entries in each of n_factors factors. Entry i of factor k is (buckets[k * width + i],
 * values[k * width + i]). Each factor must be readable for TUPLE_STEP entries beyond the last, with
 * any contents. A tuple takes one entry of each factor: its bucket is the sum of theirs modulo
 * n_buckets, its value their product. */
#ifndef SPARSEMAPS_TENSOR_SKETCH_H
#define SPARSEMAPS_TENSOR_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum { TUPLE_STEP = 16 };

typedef struct {
    /* Add all tuples to the sums of their buckets, in lexicographic order. */
    void (*add_tuples)(const uint32_t *buckets, const void *values, ptrdiff_t width, ptrdiff_t n,
                       int n_factors, uint32_t n_buckets, void *sums);
    /* List all tuples in lexicographic order, into arrays of n ** n_factors + TUPLE_STEP. */
    void (*list_tuples)(const uint32_t *buckets, const void *values, ptrdiff_t width, ptrdiff_t n,
                        int n_factors, uint32_t n_buckets, uint32_t *out_buckets, void *out_values);
    /* Convolve a sketch circularly with n entries: add up copies of the sketch, each rotated by an
     * entry's bucket and multiplied by its value, in order of the entries. `repeated` is the sketch
     * twice in a row, so that every rotation is contiguous. */
    void (*convolve)(const uint32_t *buckets, const void *values, ptrdiff_t n, const void *repeated,
                     ptrdiff_t n_buckets, void *out);
} tensor_sketch_loops;

DECLARE_TABLES_OF_VALUES(tensor_sketch)

#endif
