/* Tensor sketch of one row: sums over tuples of entries, and convolutions with entries.
 *
 * A row has n entries in each of n_factors factors: those of factor k are (buckets[k * width + i],
 * values[k * width + i]). TUPLE_STEP more can be read, whatever they are. A tuple takes one entry of
 * each factor: its bucket is the sum of theirs modulo n_buckets, its value their product. */
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
    /* All tuples in lexicographic order, into arrays of n ** n_factors + TUPLE_STEP. */
    void (*list_tuples)(const uint32_t *buckets, const void *values, ptrdiff_t width, ptrdiff_t n,
                        int n_factors, uint32_t n_buckets, uint32_t *out_buckets, void *out_values);
    /* Circular convolution of a sketch with n entries: the sum of the sketch's copies, each rotated
     * by an entry's bucket and times its value, in the entries' order. `repeated` is the sketch
     * two times over, so that every rotation of it is consecutive. */
    void (*convolve)(const uint32_t *buckets, const void *values, ptrdiff_t n, const void *repeated,
                     ptrdiff_t n_buckets, void *out);
} tensor_sketch_loops;

DECLARE_TABLES_OF_VALUES(tensor_sketch)

#endif
