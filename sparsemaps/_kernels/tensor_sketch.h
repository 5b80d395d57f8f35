/* Vector part of the tensor sketch: the last factor's entries joined to one tuple of the others. */
#ifndef SPARSEMAPS_TENSOR_SKETCH_H
#define SPARSEMAPS_TENSOR_SKETCH_H

#include "hashing.h"

/* Entries are joined in runs of JOIN_RUN, whole ones, so that a short row has no scalar remainder:
 * the factors' arrays are that much longer, and what comes of the surplus is not used. */
enum { JOIN_RUN = 16 };

/* The bucket of a tuple is the sum of its entries' buckets modulo n_buckets: of the sum and the sum
 * less n_buckets, the smaller as an unsigned number (n_buckets < 2^31). Its value is the product. */
#define DEFINE_JOIN(NAME, VALUE)                                                                   \
    CLONES static void NAME(uint32_t bucket, VALUE value, const uint32_t *restrict buckets,        \
                            const VALUE *restrict values, ptrdiff_t n, uint32_t n_buckets,         \
                            uint32_t *restrict out_buckets, VALUE *restrict out_values)            \
    {                                                                                              \
        for (ptrdiff_t first = 0; first < n; first += JOIN_RUN) {                                  \
            for (ptrdiff_t i = first; i < first + JOIN_RUN; i++) {                                 \
                uint32_t sum = bucket + buckets[i];                                                \
                uint32_t wrapped = sum - n_buckets;                                                \
                out_buckets[i] = sum < wrapped ? sum : wrapped;                                    \
                out_values[i] = value * values[i];                                                 \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_JOIN(join_f32, float)
DEFINE_JOIN(join_f64, double)

#endif
