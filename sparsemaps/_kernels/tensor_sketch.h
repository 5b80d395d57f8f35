/* Vector parts of the tensor sketch. */
#ifndef SPARSEMAPS_TENSOR_SKETCH_H
#define SPARSEMAPS_TENSOR_SKETCH_H

#include "hashing.h"

/* The entries of a factor joined to one tuple of the factors before it, in whole groups as they are
 * hashed: what comes of the surplus is not used. The bucket of a tuple is the sum of its entries' buckets modulo n_buckets: of the sum and the sum
 * less n_buckets, the smaller as an unsigned number (n_buckets < 2^31). Its value is the product. */
#define DEFINE_JOIN(NAME, VALUE)                                                                   \
    CLONES static void NAME(uint32_t bucket, VALUE value, const uint32_t *restrict buckets,        \
                            const VALUE *restrict values, ptrdiff_t n, uint32_t n_buckets,         \
                            uint32_t *restrict out_buckets, VALUE *restrict out_values)            \
    {                                                                                              \
        for (ptrdiff_t first = 0; first < n; first += HASH_GROUP) {                                  \
            for (ptrdiff_t i = first; i < first + HASH_GROUP; i++) {                                 \
                uint32_t sum = bucket + buckets[i];                                                \
                uint32_t wrapped = sum - n_buckets;                                                \
                out_buckets[i] = sum < wrapped ? sum : wrapped;                                    \
                out_values[i] = value * values[i];                                                 \
            }                                                                                      \
        }                                                                                          \
    }

DEFINE_JOIN(join_f32, float)
DEFINE_JOIN(join_f64, double)

#if defined(__GNUC__)
/* Compilers that know vectors of this size split them where the machine's are shorter. */
typedef float sums_f32_t __attribute__((vector_size(64), aligned(sizeof(float)), may_alias));
typedef double sums_f64_t __attribute__((vector_size(64), aligned(sizeof(double)), may_alias));
#else
typedef float sums_f32_t;
typedef double sums_f64_t;
#endif

/* Circular convolution of a sketch with n entries: the sum of the sketch's copies, each turned by
 * an entry's bucket and times its value, in the entries' order. `twice` is the sketch two times
 * over, so that every turn of it lies in one piece. Sums are as many at a time as stay in
 * registers. */
#define DEFINE_CONVOLVE(NAME, VALUE, SUMS)                                                         \
    CLONES static void NAME(const uint32_t *restrict buckets, const VALUE *restrict values,        \
                            ptrdiff_t n, const VALUE *restrict twice, ptrdiff_t n_buckets,         \
                            VALUE *restrict out)                                                   \
    {                                                                                              \
        const ptrdiff_t lanes = (ptrdiff_t)(sizeof(SUMS) / sizeof(VALUE));                         \
        ptrdiff_t first = 0;                                                                       \
        for (; first + 4 * lanes <= n_buckets; first += 4 * lanes) {                               \
            SUMS a = {0}, b = {0}, c = {0}, d = {0};                                               \
            for (ptrdiff_t i = 0; i < n; i++) {                                                    \
                const SUMS *turned = (const SUMS *)(twice + n_buckets - buckets[i] + first);       \
                a += values[i] * turned[0];                                                        \
                b += values[i] * turned[1];                                                        \
                c += values[i] * turned[2];                                                        \
                d += values[i] * turned[3];                                                        \
            }                                                                                      \
            SUMS *sums = (SUMS *)(out + first);                                                    \
            sums[0] = a;                                                                           \
            sums[1] = b;                                                                           \
            sums[2] = c;                                                                           \
            sums[3] = d;                                                                           \
        }                                                                                          \
        for (; first < n_buckets; first++) {                                                       \
            VALUE sum = 0;                                                                         \
            for (ptrdiff_t i = 0; i < n; i++)                                                      \
                sum += values[i] * twice[n_buckets - buckets[i] + first];                          \
            out[first] = sum;                                                                      \
        }                                                                                          \
    }

DEFINE_CONVOLVE(convolve_f32, float, sums_f32_t)
DEFINE_CONVOLVE(convolve_f64, double, sums_f64_t)

#endif
