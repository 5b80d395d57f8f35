/* Passes over the entries of a block, one for each question; without branches, so vectorised. */
#ifndef SPARSEMAPS_ROWS_H
#define SPARSEMAPS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "simd.h"

#define DEFINE_VALUE_CHECKS(TYPE, NAME)                                                            \
    CLONES static int any_infinite_##NAME(const TYPE *values, ptrdiff_t n)                         \
    {                                                                                              \
        int found = 0;                                                                             \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            found |= values[i] - values[i] != 0; /* NaN - NaN and inf - inf are NaN */             \
        return found;                                                                              \
    }                                                                                              \
    CLONES static int any_negative_##NAME(const TYPE *values, ptrdiff_t n)                         \
    {                                                                                              \
        int found = 0;                                                                             \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            found |= values[i] < 0;                                                                \
        return found;                                                                              \
    }

#define DEFINE_INDEX_CHECKS(TYPE, UNSIGNED, NAME)                                                  \
    /* As unsigned numbers, in which negative ones are the largest. */                             \
    CLONES static uint64_t largest_##NAME(const TYPE *indices, ptrdiff_t n)                        \
    {                                                                                              \
        UNSIGNED largest = 0;                                                                      \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            largest = (UNSIGNED)indices[i] > largest ? (UNSIGNED)indices[i] : largest;             \
        return largest;                                                                            \
    }                                                                                              \
    /* How many entries are not above the one before. */                                           \
    CLONES static ptrdiff_t descents_##NAME(const TYPE *indices, ptrdiff_t n)                      \
    {                                                                                              \
        ptrdiff_t total = 0;                                                                       \
        for (ptrdiff_t i = 1; i < n; i++)                                                          \
            total += indices[i] <= indices[i - 1];                                                 \
        return total;                                                                              \
    }

DEFINE_VALUE_CHECKS(float, f32)
DEFINE_VALUE_CHECKS(double, f64)
DEFINE_INDEX_CHECKS(int32_t, uint32_t, i32)
DEFINE_INDEX_CHECKS(int64_t, uint64_t, i64)

#endif
